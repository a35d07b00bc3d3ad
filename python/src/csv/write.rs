//! Tables as text files.

use std::path::PathBuf;
use std::sync::Arc;

use entasis::{ColumnInfo, Error, Quiet, default_threads};
use entasis_cli::NestedAsJson;
use entasis_csv::Outcome;
use entasis_csv::values::formats::Own;
use entasis_csv::write::{
    Compression, Format, Old, Part, Quoting, Selected, Source, WriteOptions, write, write_file, write_parts,
    write_parts_file,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::or_raised;
use super::reader::Raised;
use super::scan::CsvBatches;
use crate::handle::Handle;
use crate::write::builder::Builder;
use crate::{errors, monitor, options};

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
    /// Whether nested values are written as JSON.
    nested: bool,
    /// Formats of dates for columns by their names, and for all.
    dates: Vec<(Option<String>, String)>,
    /// None: by the end of the path.
    compression: Option<String>,
    threads: Option<usize>,
}

impl Form {
    fn options(self, to: &To) -> entasis::Result<WriteOptions> {
        let dates = self.dates.into_iter().map(|(name, text)| Ok((name, Own::parse(&text)?)));
        Ok(WriteOptions {
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
                dates: dates.collect::<entasis::Result<_>>()?,
                ..Format::default()
            },
            compression: match (self.compression, to) {
                (Some(name), _) => Compression::named(&name),
                (None, To::Path(path)) => Compression::of_path(path),
                (None, To::Object(_)) => Compression::None,
            },
            nested: if self.nested { Some(Arc::new(NestedAsJson)) } else { None },
            threads: self.threads.unwrap_or_else(default_threads),
        })
    }
}

/// The destination of a text.
#[derive(FromPyObject)]
pub enum To {
    Path(PathBuf),
    Object(Py<PyAny>),
}

/// The rule for a file at the path, by its name in Python.
fn old(name: &str) -> Old {
    match name {
        "append" => Old::Extended,
        "refuse" => Old::Refused,
        _ => Old::Replaced,
    }
}

/// Writes the rows of a scan as text. `progress` is called with the bytes that were read.
#[pyfunction]
pub fn write_csv_batches(
    py: Python<'_>,
    batches: &CsvBatches,
    form: Form,
    to: To,
    old: &str,
    durable: Option<bool>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let options = form.options(&to).map_err(|e| errors::raise(py, &e))?;
    let raised = Raised::default();
    let (durable, old) = (options::durable(durable), self::old(old));
    let written = batches.run(py, progress, |scan, monitor| {
        if let To::Path(path) = &to {
            scan.check_target(path)?;
        }
        let mut refused = None;
        let mut is_first = true;
        let mut parts = || {
            let table = match scan.next(None, monitor)? {
                Some(Outcome::Table(table)) => table,
                Some(Outcome::Refused(found)) => {
                    refused = Some(found);
                    return Err(entasis::Error::interrupted());
                }
                // The header is written even without rows.
                None if is_first => match scan.read(monitor)? {
                    Outcome::Table(table) => table,
                    Outcome::Refused(_) => return Ok(None),
                },
                None => return Ok(None),
            };
            is_first = false;
            Part::of(batches.file(&table, options.threads)?).map(Some)
        };
        let written = match to {
            To::Path(path) => write_parts_file(&mut parts, &options, &path, durable, old, &Quiet(monitor)),
            To::Object(object) => {
                write_parts(&mut parts, &options, &mut sink(&object, &raised), &Quiet(monitor))
            }
        };
        match refused {
            Some(refused) => Ok(Some(refused)),
            None => written.map(|()| None),
        }
    });
    match or_raised(written, &raised)? {
        Some(refused) => Err(batches.refused(py, refused)),
        None => Ok(()),
    }
}

/// A sink that calls `write` of an object.
fn sink<'a>(
    object: &'a Py<PyAny>,
    raised: &'a Raised,
) -> impl FnMut(&[u8]) -> entasis::Result<()> + Send + 'a {
    move |bytes| {
        let written =
            Python::attach(|py| object.call_method1(py, "write", (PyBytes::new(py, bytes),)).map(drop));
        written.map_err(|error| {
            let text = error.to_string();
            super::keep(raised, error);
            Error::io(std::io::Error::other(text), "write")
        })
    }
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
    old: &str,
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
    let options = form.options(&to).map_err(|e| errors::raise(py, &e))?;
    let frame = builder.as_ref().map(|builder| builder.borrow_mut().table()).transpose()?;
    let file = handle.file(py)?;
    let source = frame.as_ref().map_or(Source::File(&file), Source::Frame);
    let rows = rows.0..rows.1;
    let raised = Raised::default();
    let (durable, old) = (options::durable(durable), self::old(old));
    let written = monitor::run_watched(py, progress, |monitor| match to {
        To::Path(path) => write_file(source, &selected, rows, &options, &path, durable, old, monitor),
        To::Object(object) => write(source, &selected, rows, &options, &mut sink(&object, &raised), monitor),
    });
    drop(frame);
    if let Some(builder) = builder {
        builder.borrow_mut().clear();
    }
    or_raised(written, &raised)
}
