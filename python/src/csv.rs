//! Text files as Python sees them.

mod condition;
mod reader;
mod scan;
mod table;
mod write;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use entasis_csv::condition::Condition;
use entasis_csv::piece::TextLayout;
use entasis_csv::problems::OnError;
use entasis_csv::source::Origin;
use entasis_csv::{Blanks, Dialect, Given, Job, Options, Outcome, Refused, Selection, Spec, Type};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::write::destination::Destination;
use crate::{errors, monitor};
use condition::PyCondition;
use reader::{PyReader, Raised};
pub use scan::{CsvBatches, CsvText, scan_csv};
pub use table::CsvTable;
pub use write::{write_csv, write_csv_batches};

/// The argument that a text is read from.
#[derive(FromPyObject)]
pub enum From {
    Bytes(PyBackedBytes),
    Path(PathBuf),
    Object(Py<PyAny>),
}

impl From {
    fn origin(self, name: String, raised: &Raised) -> Origin {
        match self {
            Self::Bytes(bytes) => Origin::Bytes(Arc::new(bytes)),
            Self::Path(path) => Origin::Path(path),
            Self::Object(object) => {
                Origin::Stream { name, reader: Box::new(PyReader::new(object, Raised::clone(raised))) }
            }
        }
    }
}

/// The options of a reading, from a dict. An absent byte stands for "to be sniffed", an empty text
/// for "none".
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Arguments {
    spec: Option<String>,
    sep: Option<String>,
    quote: Option<String>,
    escape: Option<String>,
    comment: Option<String>,
    skip: Option<usize>,
    header: Option<bool>,
    decimal: Option<String>,
    thousands: Option<String>,
    dates: Vec<(Option<String>, Vec<String>)>,
    id: Option<String>,
    names: Option<Vec<String>>,
    first_is_unnamed: bool,
    columns: Option<Vec<String>>,
    drop: Option<Vec<String>>,
    dtypes: Vec<(String, String)>,
    na: Option<Vec<String>>,
    fill: bool,
    on_error: String,
    rows: Option<(u64, u64)>,
    /// The names of the columns of a filter, and a function from a handle to the filter for it.
    filter: Option<(Vec<String>, Py<PyAny>)>,
    encoding: Option<String>,
    views: bool,
    as_categories: bool,
    max_field: usize,
    spill_limit: u64,
    max_bytes: Option<u64>,
    threads: Option<usize>,
    chunk_len: Option<usize>,
    window_len: Option<usize>,
}

impl Arguments {
    fn options(self) -> entasis::Result<Options> {
        let optional = |text: &Option<String>, what: &str| -> entasis::Result<Option<Option<u8>>> {
            text.as_deref()
                .map(|text| if text.is_empty() { Ok(None) } else { byte(text, what).map(Some) })
                .transpose()
        };
        let separator = self.sep.as_deref().map(separator).transpose()?;
        let mut options = Options {
            spec: self.spec.as_deref().map(Spec::from_json).transpose()?,
            given: Given {
                separator: separator.map(|(byte, _)| byte),
                blanks: separator.map(|(_, blanks)| blanks),
                quote: optional(&self.quote, "quote")?,
                escape: optional(&self.escape, "escape")?,
                comment: optional(&self.comment, "comment")?,
                skip: self.skip,
                header: self.header,
                decimal: self.decimal.as_deref().map(|text| byte(text, "decimal")).transpose()?,
            },
            names: self.names,
            first_is_unnamed: self.first_is_unnamed,
            columns: match (self.columns, self.drop) {
                (Some(columns), _) => Selection::Names(columns),
                (None, Some(columns)) => Selection::Without(columns),
                (None, None) => Selection::All,
            },
            dates: self.dates,
            id: self.id,
            missing: self.na,
            thousands: self.thousands.as_deref().map(|text| byte(text, "thousands")).transpose()?,
            fill: self.fill,
            on_error: match self.on_error.as_str() {
                "missing" => OnError::Missing,
                "skip" => OnError::Skip,
                _ => OnError::Error,
            },
            rows: self.rows.map(|(start, end)| start..end),
            as_categories: self.as_categories,
            layout: if self.views { TextLayout::Views } else { TextLayout::Offsets },
            max_field: self.max_field,
            chunk_len: self.chunk_len,
            window_len: self.window_len,
            threads: self.threads,
            ..Options::default()
        };
        for (name, of) in self.dtypes {
            let found = Type::of_name(&of).ok_or_else(|| {
                entasis::Error::argument(format!("column '{name}': '{of}' is not a type of a text file"))
                    .advise(
                        "use for example \"int64\", \"float64\", \"string\", \"bool\", \"date\", \
                         \"datetime[us]\", \"decimal(10, 2)\"",
                    )
            })?;
            options.types.push((name, found));
        }
        options.source.encoding = self.encoding;
        options.source.max_bytes = self.max_bytes;
        options.source.spill_limit = self.spill_limit;
        Ok(options)
    }
}

/// The separator, and the meaning of blanks.
fn separator(text: &str) -> entasis::Result<(u8, Blanks)> {
    Dialect::parse_separator(text).ok_or_else(|| {
        let what = "one ASCII character, one and a blank, or 'blanks'";
        entasis::Error::argument(format!("sep must be {what}, not {text:?}"))
    })
}

/// The byte of an argument.
fn byte(text: &str, what: &str) -> entasis::Result<u8> {
    match *text.as_bytes() {
        [byte] if byte.is_ascii() => Ok(byte),
        _ => Err(entasis::Error::argument(format!("{what} must be one ASCII character, not {text:?}"))),
    }
}

/// Texts with their names.
type Sources = Vec<(From, String)>;

fn origins(sources: Sources, raised: &Raised) -> Vec<(String, Origin)> {
    sources.into_iter().map(|(from, name)| (name.clone(), from.origin(name, raised))).collect()
}

/// The result of a reading. An exception such as `KeyboardInterrupt` goes before the error that it
/// caused.
fn or_raised<T>(result: PyResult<T>, raised: &Raised) -> PyResult<T> {
    result.map_err(|error| raised.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error))
}

/// Keeps an exception.
fn keep(raised: &Raised, error: PyErr) {
    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
}

/// Reads texts into a table. `progress` is called with the bytes that were read, and all if known.
#[pyfunction]
pub fn read_csv(
    py: Python<'_>,
    sources: Sources,
    mut arguments: Arguments,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CsvTable> {
    let filter = arguments.filter.take();
    let condition = filter.map(|(columns, bind)| Arc::new(PyCondition::new(columns, bind)));
    let mut options = arguments.options().map_err(|e| errors::raise(py, &e))?;
    options.condition = condition.clone().map(|condition| condition as Arc<dyn Condition>);
    let layout = options.layout;
    let raised = Raised::default();
    let read = monitor::run_watched(py, progress, |monitor| {
        let mut job = Job::open_all(origins(sources, &raised), &options)?;
        let is_filtered = condition.is_some() && job.plan.takes_condition();
        if !is_filtered && condition.is_some() {
            // The caller filters the rows.
            job.plan.condition = None;
            job.plan.columns = Selection::All;
        }
        let found = job.read(monitor).inspect_err(|error| {
            if let Some(exception) = condition.as_ref().and_then(|condition| condition.exception(error)) {
                keep(&raised, exception);
            }
        });
        Ok(match found? {
            Outcome::Table(table) => {
                let spec = job.spec(&table).to_json();
                Ok(CsvTable::new(table, layout, spec, is_filtered))
            }
            Outcome::Refused(refused) => Err((job.error(&refused), refused)),
        })
    });
    or_raised(read, &raised)?.map_err(|(error, refused)| refusal(py, &error, &refused))
}

/// Writes texts into a file. The table that is returned has no values.
#[pyfunction]
pub fn convert_csv(
    py: Python<'_>,
    sources: Sources,
    arguments: Arguments,
    to: Destination,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CsvTable> {
    let options = arguments.options().map_err(|e| errors::raise(py, &e))?;
    let (layout, write) = (options.layout, to.options());
    let (path, _) = to.into_path()?;
    let raised = Raised::default();
    let stored = monitor::run_watched(py, progress, |monitor| {
        let mut job = Job::open_all(origins(sources, &raised), &options)?;
        Ok(match table::store(&mut job, &path, &write, monitor)? {
            Outcome::Table(table) => {
                let spec = job.spec(&table).to_json();
                Ok(CsvTable::new(table, layout, spec, false))
            }
            Outcome::Refused(refused) => Err((job.error(&refused), refused)),
        })
    });
    or_raised(stored, &raised)?.map_err(|(error, refused)| refusal(py, &error, &refused))
}

/// The exception for a text with places that do not fit. Its attributes list them.
fn refusal(py: Python<'_>, error: &entasis::Error, refused: &Refused) -> PyErr {
    let exception = errors::raise(py, error);
    let (n, problems) = table::problems(&refused.problems, &refused.names);
    let value = exception.value(py);
    let set = || value.setattr("_problems", (n, problems));
    set().err().unwrap_or(exception)
}

/// The names in the spec of a text whose header has these names.
#[pyfunction]
pub fn names_of_spec(names: Vec<String>) -> Vec<String> {
    entasis_csv::names_of_spec(names)
}

/// The findings in a text: the spec as JSON, and a reason for each part of it.
#[pyfunction]
pub fn sniff_csv(
    py: Python<'_>,
    source: (From, String),
    arguments: Arguments,
    whole: bool,
) -> PyResult<Sniff> {
    let (from, name) = source;
    let mut options = arguments.options().map_err(|e| errors::raise(py, &e))?;
    options.on_error = OnError::Missing;
    let raised = Raised::default();
    let sniffed = monitor::run(py, |monitor| {
        let mut job = Job::open(from.origin(name, &raised), &options)?;
        job.plan.has_header = job.sniffed.header.is_header;
        if !whole {
            job.plan.rows = Some(0..SNIFFED_ROWS);
        }
        let Outcome::Table(table) = job.read(monitor)? else { unreachable!("problems are collected") };
        let reasons = job.sniffed.reasons.iter();
        Ok((
            job.spec(&table).to_json(),
            reasons.map(|of| (of.what, of.value.clone(), of.reason.clone(), of.confidence)).collect(),
        ))
    });
    or_raised(sniffed, &raised)
}

/// The rows whose types are sniffed.
const SNIFFED_ROWS: u64 = 10_000;
/// The spec, and for each part its name, its value, the reason, the confidence.
type Sniff = (String, Vec<(&'static str, String, String, f64)>);
