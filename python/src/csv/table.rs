//! The columns of a text, for Arrow and as a file in memory.

use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

use entasis::{Buffer, File, HostRead, Limits, MemorySink, MemorySource, Monitor, Unit, WriteOptions};
use entasis_csv::frame::{Lent, Values, frame};
use entasis_csv::piece::{Piece, TextLayout};
use entasis_csv::problems::Problems;
use entasis_csv::{Job, Outcome, Table, Type};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrow::c_string::c_string;
use crate::arrow::column::ArrowTable;
use crate::arrow::export::{Data, Kind};
use crate::handle::Handle;
use crate::monitor;

/// The columns of a text.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct CsvTable {
    columns: Vec<Column>,
    n_rows: u64,
    /// The names of all columns of the text.
    names: Vec<String>,
    problems: Problems,
    warnings: Vec<String>,
    layout: TextLayout,
    spec: String,
}

/// A column in pieces.
struct Column {
    name: String,
    of: Type,
    pieces: Vec<Shared>,
    categories: Option<Piece>,
}

/// Values that Arrow may share.
struct Shared {
    n: usize,
    values: Arc<Buffer>,
    bytes: Arc<Buffer>,
    validity: Option<Arc<Buffer>>,
}

impl From<Piece> for Shared {
    fn from(piece: Piece) -> Self {
        let Piece { n, values, bytes, validity, .. } = piece;
        Self { n, values: Arc::new(values), bytes: Arc::new(bytes), validity: validity.map(Arc::new) }
    }
}

/// A place that did not fit: row, line, byte, column, text, what was expected, the file.
pub type Problem<'t> = (u64, u64, u64, Option<&'t str>, &'t str, &'t str, Option<&'t str>);

impl CsvTable {
    pub fn new(table: Table, layout: TextLayout, spec: String) -> Self {
        let Table { columns, n_rows, names, problems, warnings } = table;
        let columns = columns.into_iter().map(|column| Column {
            name: column.name,
            of: column.of,
            pieces: column.pieces.into_iter().map(Shared::from).collect(),
            categories: column.categories,
        });
        Self { columns: columns.collect(), n_rows, names, problems, warnings, layout, spec }
    }
}

#[pymethods]
impl CsvTable {
    /// The names of the columns that were read.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Whether the columns are laid out as in Arrow. Codes of categories are not.
    #[getter]
    fn is_arrow(&self) -> bool {
        self.columns.iter().all(|column| column.of != Type::Categorical)
    }

    /// The number of rows.
    #[getter]
    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The spec as JSON.
    #[getter]
    fn spec(&self) -> &str {
        &self.spec
    }

    /// Facts that a user should know.
    #[getter]
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The number of places that did not fit, and the first of them.
    #[getter]
    fn problems(&self) -> (u64, Vec<Problem<'_>>) {
        problems(&self.problems, &self.names)
    }

    /// The columns as Arrow tables of one type, one after the other.
    fn arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let table = slf.get();
        let kind = table.kind(py)?;
        let n_parts = table.columns.first().map_or(0, |column| column.pieces.len());
        let parts = (0..n_parts.max(1)).map(|part| table.part(&kind, part));
        PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The table as a file in memory.
    fn file(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Handle> {
        let file = monitor::run(py, |monitor| {
            let sink = MemorySink::new();
            let options = WriteOptions { compression: Some(0), threads, ..WriteOptions::default() };
            let lent: Vec<_> = self.columns.iter().map(Column::lent).collect();
            let frame = frame(&lent, self.n_rows, self.layout, &lend);
            entasis::write_to(&sink, &frame, &options, monitor)?;
            File::from_source(
                Box::new(MemorySource::new(sink.into_bytes())),
                std::path::Path::new("<csv>"),
                Limits::default(),
            )
        })?;
        Ok(Handle::of(Arc::new(file)))
    }
}

/// The number of problems, and those that were kept.
pub fn problems<'p>(problems: &'p Problems, names: &'p [String]) -> (u64, Vec<Problem<'p>>) {
    let kept = problems.kept.iter().map(|problem| {
        let column = problem.column.and_then(|column| names.get(column));
        let (text, expected) = (problem.text.as_str(), problem.expected.as_str());
        let (column, file) = (column.map(String::as_str), problem.file.as_deref());
        (problem.row, problem.line, problem.byte, column, text, expected, file)
    });
    (problems.n, kept.collect())
}

/// Writes a text into a file.
pub fn store(
    job: &mut Job,
    path: &Path,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> entasis::Result<Outcome> {
    job.store(path, options, &lend, monitor)
}

/// Memory for a frame that ends before it: of `CsvTable::file`, or of a window of `store`.
fn lend(memory: &[u8]) -> HostRead {
    // SAFETY: the bytes are initialised, no longer than isize::MAX, and never written to. The frame
    // ends within `CsvTable::file`, or within the call of `Job::store`, which keeps the columns of
    // a window longer than their frame.
    unsafe { HostRead::new(memory.as_ptr(), memory.len()) }
}

impl CsvTable {
    fn kind(&self, py: Python<'_>) -> PyResult<Arc<Kind>> {
        let mut children = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let format = format(column.of, self.layout);
            let name = c_string(py, &column.name, &column.name)?;
            children.push(Kind { name, ..Kind::new(format) });
        }
        Ok(Arc::new(Kind { children, required: true, ..Kind::new(c"+s".to_owned()) }))
    }

    fn part(&self, kind: &Arc<Kind>, part: usize) -> PyResult<ArrowTable> {
        let columns = self.columns.iter().map(|column| column.data(part, self.layout));
        let children = columns.collect::<PyResult<Vec<Data>>>()?;
        let n = children.first().map_or(0, |child| child.n);
        let data = Data { n, buffers: vec![None], children, ..Data::default() };
        Ok(ArrowTable { kind: Arc::clone(kind), data, dictionaries: Arc::default() })
    }
}

/// Arrow's name of a type.
fn format(of: Type, layout: TextLayout) -> CString {
    let format = match of {
        Type::Null => "n",
        Type::Bool => "b",
        Type::Int { bytes: 1, is_signed: true } => "c",
        Type::Int { bytes: 2, is_signed: true } => "s",
        Type::Int { bytes: 4, is_signed: true } | Type::Categorical => "i",
        Type::Int { is_signed: true, .. } => "l",
        Type::Int { bytes: 1, .. } => "C",
        Type::Int { bytes: 2, .. } => "S",
        Type::Int { bytes: 4, .. } => "I",
        Type::Int { .. } => "L",
        Type::Float { bytes: 4 } => "f",
        Type::Float { .. } => "g",
        Type::Decimal { precision, scale } => {
            return CString::new(format!("d:{precision},{scale}")).unwrap_or_default();
        }
        Type::Date => "tdD",
        Type::Datetime { unit, is_utc } => {
            let unit = match unit {
                Unit::Second => 's',
                Unit::Millisecond => 'm',
                Unit::Nanosecond => 'n',
                _ => 'u',
            };
            let text = format!("ts{unit}:{}", if is_utc { "UTC" } else { "" });
            return CString::new(text).unwrap_or_default();
        }
        Type::Text if layout == TextLayout::Views => "vu",
        Type::Text => "U",
    };
    CString::new(format).unwrap_or_default()
}

impl Column {
    fn lent(&self) -> Lent<'_> {
        let pieces = self.pieces.iter().map(|piece| Values {
            n: piece.n,
            values: &piece.values,
            bytes: &piece.bytes,
            validity: piece.validity.as_ref().map(|bits| &bits[..]),
        });
        let categories = self.categories.iter().map(Values::from).collect();
        Lent { name: &self.name, of: self.of, pieces: pieces.collect(), categories }
    }

    /// The values of a piece, for Arrow.
    fn data(&self, part: usize, layout: TextLayout) -> PyResult<Data> {
        let Some(piece) = self.pieces.get(part) else { return Ok(Data::default()) };
        let mut buffers = match self.of {
            Type::Null => Vec::new(),
            _ => vec![piece.validity.clone(), Some(Arc::clone(&piece.values))],
        };
        if self.of == Type::Text {
            buffers.push(Some(Arc::clone(&piece.bytes)));
            if layout == TextLayout::Views {
                let mut len = Buffer::zeroed(8).ok_or_else(|| PyMemoryError::new_err("no memory"))?;
                len.copy_from_slice(&(piece.bytes.len() as i64).to_le_bytes());
                buffers.push(Some(Arc::new(len)));
            }
        }
        Ok(Data { n: piece.n, buffers, ..Data::default() })
    }
}
