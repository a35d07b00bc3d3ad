//! Tables as text files.

use std::path::PathBuf;

use entasis::{ColumnInfo, Error, default_threads};
use entasis_csv::write::{Compression, Format, Quoting, Selected, Source, WriteOptions, write, write_file};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::or_raised;
use super::reader::Raised;
use crate::handle::Handle;
use crate::write::builder::Builder;
use crate::{monitor, options};

/// The form of a text, from a dict that Python has checked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Form {
    sep: u8,
    quote: String,
    na: String,
    decimal: u8,
    header: bool,
    has_returns: bool,
    bom: bool,
    is_short: bool,
    disarms: bool,
    /// Empty for none, and the level.
    compression: (String, i32),
    threads: Option<usize>,
}

impl Form {
    fn options(self) -> WriteOptions {
        let (compression, level) = self.compression;
        WriteOptions {
            format: Format {
                separator: self.sep,
                quoting: match self.quote.as_str() {
                    "all" => Quoting::All,
                    "non_numeric" => Quoting::NonNumeric,
                    "never" => Quoting::Never,
                    _ => Quoting::Auto,
                },
                missing: self.na,
                decimal: self.decimal,
                has_header: self.header,
                has_returns: self.has_returns,
                has_mark: self.bom,
                is_short: self.is_short,
                disarms: self.disarms,
                ..Format::default()
            },
            compression: match compression.as_str() {
                "gzip" => Compression::Gzip(level.unsigned_abs()),
                "zstd" => Compression::Zstd(level),
                _ => Compression::None,
            },
            threads: self.threads.unwrap_or_else(default_threads),
        }
    }
}

/// The destination of a text.
#[derive(FromPyObject)]
pub enum To {
    Path(PathBuf),
    Object(Py<PyAny>),
}

/// Writes rows of columns of a file as text. The columns have their numbers and names. With a
/// builder, the values are its own, and the file has the same columns; the builder is empty
/// afterwards.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn write_csv(
    py: Python<'_>,
    handle: &Handle,
    columns: Vec<(u64, String)>,
    rows: (u64, u64),
    form: Form,
    to: To,
    appends: bool,
    durable: Option<bool>,
    progress: Option<Bound<'_, PyAny>>,
    builder: Option<Bound<'_, Builder>>,
) -> PyResult<()> {
    let numbers: Vec<u64> = columns.iter().map(|&(number, _)| number).collect();
    let infos = handle.select(py, Some(&numbers))?;
    let nan_is_null = handle.nan_is_null_among(py, &infos)?;
    let selected: Vec<_> = infos
        .into_iter()
        .zip(columns)
        .map(|(info, (_, name))| {
            let nan_is_missing = nan_is_null.holds(&info);
            Selected { info: ColumnInfo { name, ..info }, nan_is_missing }
        })
        .collect();
    let options = form.options();
    let frame = builder.as_ref().map(|builder| builder.borrow_mut().table()).transpose()?;
    let source = frame.as_ref().map_or(Source::File(&handle.file), Source::Frame);
    let rows = rows.0..rows.1;
    let raised = Raised::default();
    let durable = options::durable(durable);
    let written = monitor::run_watched(py, progress, |monitor| match to {
        To::Path(path) => write_file(source, &selected, rows, &options, &path, durable, appends, monitor),
        To::Object(object) => {
            let mut sink = |bytes: &[u8]| {
                let written = Python::attach(|py| {
                    object.call_method1(py, "write", (PyBytes::new(py, bytes),)).map(drop)
                });
                written.map_err(|error| {
                    let text = error.to_string();
                    super::keep(&raised, error);
                    Error::io(std::io::Error::other(text), "write")
                })
            };
            write(source, &selected, rows, &options, &mut sink, monitor)
        }
    });
    drop(frame);
    if let Some(builder) = builder {
        builder.borrow_mut().clear();
    }
    or_raised(written, &raised)
}
