//! The columns of a text, for each library and as a file in memory.

use std::collections::HashMap;
use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

use entasis::{
    Buffer, File, HostRead, Limits, MemorySink, MemorySource, Monitor, Rows, Unit, WriteOptions,
    default_threads,
};
use entasis_csv::fill::{fill, n_missing};
use entasis_csv::frame::{Lent, Values, frame};
use entasis_csv::piece::{Piece, TextLayout};
use entasis_csv::problems::Problems;
use entasis_csv::{Job, Outcome, Scan, Table, Type};
use entasis_query::NanIsNull;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arrow::c_string::c_string;
use crate::arrow::column::ArrowTable;
use crate::arrow::export::{Data, Dictionaries, Kind};
use crate::handle::Handle;
use crate::monitor;
use crate::read::columns::{Reader, Selected, read_from};
use crate::read::plan::{Host, Narrow};
use crate::read::results;

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
    is_filtered: bool,
}

/// A column in pieces.
struct Column {
    name: String,
    of: Type,
    pieces: Vec<Shared>,
    categories: Option<Piece>,
    /// Whether a value is missing, maybe in a row that the filter left out.
    has_missing: bool,
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
    /// `is_filtered`: whether the rows are those that pass the filter.
    pub fn new(table: Table, layout: TextLayout, spec: String, is_filtered: bool) -> Self {
        let Table { columns, n_rows, names, problems, warnings } = table;
        let columns = columns.into_iter().map(|column| Column {
            name: column.name,
            of: column.of,
            pieces: column.pieces.into_iter().map(Shared::from).collect(),
            categories: column.categories,
            has_missing: column.facts.has_missing,
        });
        Self { columns: columns.collect(), n_rows, names, problems, warnings, layout, spec, is_filtered }
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

    /// Whether the rows are those that pass the filter.
    #[getter]
    fn is_filtered(&self) -> bool {
        self.is_filtered
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
        let lent: Vec<_> = self.columns.iter().map(Column::lent).collect();
        self.in_memory(py, &lent, self.n_rows, threads)
    }

    /// A file in memory with the columns of the table, and without rows.
    fn schema(&self, py: Python<'_>) -> PyResult<Handle> {
        let lent = self.columns.iter().map(|column| Lent { pieces: Vec::new(), ..column.lent() });
        self.in_memory(py, &lent.collect::<Vec<_>>(), 0, Some(1))
    }

    /// All rows of columns, as `Handle.read` returns them. `schema` is the file of `schema`.
    fn read<'py>(
        &self,
        py: Python<'py>,
        schema: &Handle,
        columns: Option<Vec<u64>>,
        host: &str,
        n_shared: usize,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let host = if host == "pandas" { Host::Pandas } else { Host::Numpy };
        let by = Reader { host, own: false, nan_is_null: NanIsNull::Nowhere, narrow: Narrow::default() };
        let lent: Vec<_> = self.columns.iter().map(Column::lent).collect();
        let mut infos = schema.select(py, columns.as_deref())?;
        for info in &mut infos {
            info.record.n_values = self.n_rows;
            let column = usize::try_from(info.index).ok();
            if let Some((column, lent)) = column.and_then(|i| self.columns.get(i).zip(lent.get(i))) {
                info.record.n_missing = n_missing(lent).max(u64::from(column.has_missing));
            }
        }
        let (rows, none) = (Rows::Range(0..self.n_rows), Dictionaries::new());
        let file = &schema.file(py)?;
        let n_values = self.n_rows;
        let taken = HashMap::new();
        let selected =
            Selected { file, held: None, taken, infos, n_values, rows: &rows, n_shared, known: &none };
        let decoded = read_from(py, selected, by, threads, |requests, monitor| {
            let is_own = |column: u64| column < lent.len() as u64;
            let (own, of_file) = requests.into_iter().partition(|request| is_own(request.column));
            fill(&lent, own, threads.unwrap_or_else(default_threads), monitor)?;
            file.read(of_file, threads, monitor)
        })?;
        results::entries(py, decoded, false)
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

/// Writes the rows of a scan into a file.
pub fn store_scan(
    scan: &mut Scan,
    path: &Path,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> entasis::Result<Outcome> {
    scan.store(path, options, &lend, monitor)
}

/// A file in memory with columns.
pub fn in_memory(
    columns: &[Lent<'_>],
    n_rows: u64,
    layout: TextLayout,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> entasis::Result<File> {
    let sink = MemorySink::new();
    let options = WriteOptions { compression: Some(0), threads, ..WriteOptions::default() };
    entasis::write_to(&sink, &frame(columns, n_rows, layout, &lend), &options, monitor)?;
    let source = Box::new(MemorySource::new(sink.into_bytes()));
    File::from_source(source, Path::new("<csv>"), Limits::default())
}

/// Memory for a frame that ends before it: of a file in memory, or of a window of `store`.
fn lend(memory: &[u8]) -> HostRead {
    // SAFETY: the bytes are initialised, no longer than isize::MAX, and never written to. The frame
    // ends within `in_memory`, or within the call of `Job::store` or `Scan::store`, which keeps the
    // columns of a window longer than their frame.
    unsafe { HostRead::new(memory.as_ptr(), memory.len()) }
}

impl CsvTable {
    /// A file in memory with rows of columns.
    fn in_memory(
        &self,
        py: Python<'_>,
        columns: &[Lent<'_>],
        n_rows: u64,
        threads: Option<usize>,
    ) -> PyResult<Handle> {
        let file = monitor::run(py, |monitor| in_memory(columns, n_rows, self.layout, threads, monitor))?;
        Ok(Handle::of(Arc::new(file)))
    }

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
