//! An open file and its columns, as Python sees them.

mod column_infos;
mod content;
pub mod open;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use entasis::{Announced, ColumnInfo, Error, Groups, Quiet, Rows};
use entasis_query::NanIsNull;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::arrow::column::ArrowTable;
use crate::arrow::export::Dictionaries;
use crate::arrow::metadata::is_whole;
use crate::cells::lazy::CellReader;
use crate::column::{Column, type_of};
use crate::query;
use crate::read::columns::{Reader, Selected};
use crate::read::plan::{Host, Narrow};
use crate::read::{columns, results, row_selection};
use crate::row_sets::{KeptRows, RowBits, RowNumbers};
use crate::secrets::Secret;
use crate::{errors, monitor, statistics, value};
use content::Content;
use open::FileSource;

/// A file that is open for reading. Later commits to the file do not change what it reads.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct Handle {
    content: Arc<Mutex<Content>>,
    infos: OnceLock<Arc<Vec<ColumnInfo>>>,
    groups: OnceLock<Groups>,
    /// The classes for records, by their names in files.
    classes: Option<Py<PyDict>>,
    /// Whether NaN of floats is null for Arrow and Polars; by default as in the library that wrote
    /// the file.
    nan_to_null: Option<bool>,
    nan_is_null: OnceLock<NanIsNull>,
    /// The narrow types that Arrow gets.
    narrow: Narrow,
}

/// A generation of a file: number, time, operation, rows, bytes.
type Generation = (u64, i64, &'static str, Option<u64>, u64);

/// Rows that are fetched ahead from a store.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct Announcement {
    _announced: Announced,
}

#[pymethods]
impl Handle {
    /// Opens a file by its path, a file whose content is in memory, or an object that gives ranges.
    /// Bytes are not copied. With `whole`, the newest whole generation is opened if the current one
    /// cannot be.
    #[new]
    #[pyo3(signature = (source, limits=None, whole=false, secret=None))]
    fn new(
        py: Python<'_>,
        source: FileSource,
        limits: Option<HashMap<String, u64>>,
        whole: bool,
        secret: Option<Secret>,
    ) -> PyResult<Self> {
        Ok(Self::from(open::open(py, source, limits, whole, secret.as_ref())?))
    }

    /// The file at an earlier generation.
    fn at_generation(&self, py: Python<'_>, number: u64) -> PyResult<Self> {
        let file = self.file(py)?;
        let found = py.detach(|| file.at_generation(number)).map_err(|e| errors::raise(py, &e))?;
        Ok(self.with(py, found))
    }

    /// The current generation's damage, if an earlier one was opened instead.
    fn lost<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.schema_file().lost().map(|error| errors::lost(py, &error)).transpose()
    }

    /// The number of the generation.
    #[getter]
    fn generation(&self) -> u64 {
        self.schema_file().generation()
    }

    /// The generations of the file, from the oldest on.
    fn generations(&self, py: Python<'_>) -> PyResult<Vec<Generation>> {
        let file = self.file(py)?;
        let found = py.detach(|| file.generations()).map_err(|e| errors::raise(py, &e))?;
        let of = |g: entasis::Generation| (g.number, g.time, g.operation.name(), g.n_rows, g.file_len);
        Ok(found.into_iter().map(of).collect())
    }

    /// Whether `compact` would free most of a long file.
    fn is_worth_compacting(&self, py: Python<'_>) -> PyResult<bool> {
        let file = self.file(py)?;
        py.detach(|| file.is_worth_compacting()).map_err(|e| errors::raise(py, &e))
    }

    /// Whether the file's value is a table, and not a tree.
    #[getter]
    fn is_table(&self) -> bool {
        self.schema_file().is_table()
    }

    /// Whether the file has cells.
    #[getter]
    fn has_cells(&self) -> bool {
        self.schema_file().value().get("cells").is_some()
    }

    /// Whether it is of a table in memory that no file was made of.
    #[getter]
    fn is_held(&self) -> bool {
        self.held().is_some()
    }

    /// Lets the next read of all columns take their memory, so that they can't be read again.
    fn give(&self) {
        if let Content::Held { is_given, .. } = &mut *self.content() {
            *is_given = true;
        }
    }

    /// A table of the file, as a handle of its own.
    fn table(&self, py: Python<'_>, number: u64) -> PyResult<Self> {
        let file = self.file(py)?;
        let file = py.detach(|| file.table(number)).map_err(|e| errors::raise(py, &e))?;
        Ok(self.with(py, file))
    }

    /// A handle of all columns of the file, outside of any table: for arrays in trees.
    fn whole(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(self.with(py, self.file(py)?.whole()))
    }

    /// This handle with classes for records: a dict from the names in the file to classes.
    fn with_classes(&self, classes: Bound<'_, PyDict>) -> Self {
        let (nan_to_null, narrow) = (self.nan_to_null, self.narrow);
        let classes = Some(classes.unbind());
        Self { classes, nan_to_null, narrow, ..Self::new_of(Arc::clone(&self.content)) }
    }

    /// This handle with another option for NaN.
    fn with_nan_to_null(&self, py: Python<'_>, nan_to_null: Option<bool>) -> Self {
        self.with_options(py, nan_to_null, self.narrow)
    }

    /// This handle with narrow types for Arrow: strings that repeat have a dictionary, and with
    /// `decimals` those of up to 18 digits have 64 bits.
    fn narrowed(&self, py: Python<'_>, decimals: bool) -> Self {
        self.with_options(py, self.nan_to_null, Narrow { strings: true, decimals })
    }

    /// The option for NaN.
    #[getter]
    fn nan_to_null(&self) -> Option<bool> {
        self.nan_to_null
    }

    /// The classes for records.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.classes.as_ref().map_or_else(|| PyDict::new(py), |classes| classes.bind(py).clone())
    }

    /// The cells of the file, or None if it has no cells.
    fn cells(&self, py: Python<'_>) -> PyResult<Option<CellReader>> {
        let file = self.schema_file();
        let cells = py.detach(|| file.cells()).map_err(|e| errors::raise(py, &e))?;
        Ok(cells.map(|cells| CellReader { cells: Arc::new(cells) }))
    }

    /// The number of values of all columns of the file, with those of trees and labels.
    fn n_values(&self, py: Python<'_>) -> PyResult<u64> {
        if let Some(held) = self.held() {
            return Ok(held.n_rows().saturating_mul(self.infos(py)?.len() as u64));
        }
        let file = self.file(py)?;
        let columns = py.detach(|| file.all_columns(0..file.n_columns_total()));
        let columns = columns.map_err(|e| errors::raise(py, &e))?;
        let alone = columns.iter().filter(|column| !column.record.is_bundled);
        Ok(alone.map(|column| column.record.n_values).fold(0, u64::saturating_add))
    }

    /// The number of rows. *Limit* above `isize::MAX`, the greatest length in Python.
    #[getter]
    fn n_rows(&self, py: Python<'_>) -> PyResult<u64> {
        let n = self.n_rows_of();
        if isize::try_from(n).is_err() {
            return Err(errors::new(
                py,
                "LimitError",
                format!("a table of {n} rows is more than Python can count"),
            ));
        }
        Ok(n)
    }

    #[getter]
    fn n_columns(&self) -> u64 {
        self.schema_file().n_columns()
    }

    #[getter]
    fn file_len(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.file(py)?.file_len())
    }

    /// The numbers of the rows from `start` up to `stop` that pass a condition, as the bytes of
    /// 64-bit integers.
    fn filtered_rows(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyTuple>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
    ) -> PyResult<RowNumbers> {
        self.filter(&*self.file(py)?, condition, start..stop)?.rows(py, threads)
    }

    /// A bit for each row from `start` up to `stop`: whether it passes a condition.
    fn filtered_bits(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyTuple>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
    ) -> PyResult<RowBits> {
        let file = self.file(py)?;
        let bits = self.filter(&file, condition, start..stop)?.bits(py, threads)?;
        Ok(RowBits { bits, file })
    }

    /// Begins to fetch columns of the rows from a store that may pass a condition, unless they are
    /// long. The bytes are kept while the returned value lives.
    fn announce_filtered(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyTuple>,
        columns: Vec<u64>,
        start: u64,
        stop: u64,
    ) -> PyResult<Option<Announcement>> {
        let found = self.filter(&*self.file(py)?, condition, start..stop)?.announce(py, &columns)?;
        Ok(found.map(|announced| Announcement { _announced: announced }))
    }

    /// Whether the file is on a store.
    #[getter]
    fn is_remote(&self) -> bool {
        matches!(&*self.content(), Content::File(file) if file.is_remote())
    }

    /// Begins to fetch some rows of columns from a store. The bytes are kept while the returned
    /// value lives.
    fn announce(
        &self,
        py: Python<'_>,
        columns: Vec<u64>,
        start: u64,
        stop: u64,
    ) -> PyResult<Option<Announcement>> {
        let (file, rows) = (self.file(py)?, start..stop);
        let rows = std::slice::from_ref(&rows);
        let found = py.detach(|| file.announce_rows(&columns, rows, u64::MAX));
        Ok(found.map_err(|e| errors::raise(py, &e))?.map(|announced| Announcement { _announced: announced }))
    }

    /// The number of rows from `start` up to `stop` that pass a condition.
    fn count_filtered(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyTuple>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
    ) -> PyResult<u64> {
        self.filter(&*self.file(py)?, condition, start..stop)?.count(py, threads)
    }

    /// The number of the column that is a field of a struct column.
    fn field(&self, py: Python<'_>, column: u64, name: &str) -> PyResult<u64> {
        query::field(py, &*self.file(py)?, column, name)
    }

    /// The decision of statistics about a condition, as text.
    fn explain_filter(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyTuple>,
        start: u64,
        stop: u64,
    ) -> PyResult<String> {
        self.filter(&*self.file(py)?, condition, start..stop)?.explain(py)
    }

    /// The statistics of the blocks of a column, as bytes: see `statistics::records`.
    fn block_statistics<'py>(&self, py: Python<'py>, column: u64) -> PyResult<Bound<'py, PyBytes>> {
        let file = &self.file(py)?;
        let records = py.detach(|| statistics::records(file, column));
        Ok(PyBytes::new(py, &records.map_err(|e| errors::raise(py, &e))?))
    }

    /// The bytes of the strings in a range of rows of some columns, without decoding them.
    fn text_len(&self, py: Python<'_>, columns: Vec<u64>, start: u64, stop: u64) -> PyResult<u64> {
        let file = &self.file(py)?;
        let lens = py.detach(|| {
            let lens = columns.into_iter().map(|column| file.text_len(column, start..stop));
            lens.collect::<entasis::Result<Vec<u64>>>()
        });
        let lens = lens.map_err(|e| errors::raise(py, &e))?;
        Ok(lens.into_iter().fold(0, u64::saturating_add))
    }

    /// The values that the host stores next to the columns.
    fn host<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let host = self.schema_file().host().map_err(|e| errors::raise(py, &e))?;
        value::to_python(py, &host)
    }

    /// The names of all columns of the table.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if self.infos.get().is_some() || self.held().is_some() {
            return PyList::new(py, self.infos(py)?.iter().map(|info| info.name.as_str()));
        }
        self.names_at(py, &self.groups(py)?.names)
    }

    /// The names of all columns of the table, and their types.
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let schema = py.detach(|| self.schema_file().schema(&type_of)).map_err(|e| errors::raise(py, &e))?;
        let types: Vec<_> = schema.types.iter().map(|name| PyString::new(py, name)).collect();
        let types = PyList::new(py, schema.type_of.iter().map(|&i| &types[i as usize]))?;
        Ok((self.names_at(py, &schema.names)?, types))
    }

    /// All names of columns as Arrow stores strings: n + 1 offsets of 64 bits, then the UTF-8.
    fn joined_names<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (ends, text) = self.joined(py)?;
        Ok((PyBytes::new(py, &ends), PyBytes::new(py, &text)))
    }

    /// The columns with these numbers, or all columns of the table.
    #[pyo3(signature = (columns=None))]
    fn columns(&self, py: Python<'_>, columns: Option<Vec<u64>>) -> PyResult<Vec<Column>> {
        let infos = self.select(py, columns.as_deref())?;
        infos.iter().map(|info| Column::of(py, &self.schema_file(), info)).collect()
    }

    /// The numbers of all columns with this name.
    fn find(&self, py: Python<'_>, name: &str) -> PyResult<Vec<u64>> {
        self.schema_file().find_all(name).map_err(|e| errors::raise(py, &e))
    }

    /// Decodes columns for NumPy or pandas; see `results::entries`. The first `n_shared` columns
    /// may share arrays. Each column has `n_values` values, by default as many as the table has
    /// rows.
    #[pyo3(signature = (columns, rows, host, own, n_shared, threads, n_values=None))]
    #[allow(clippy::too_many_arguments)]
    fn read<'py>(
        &self,
        py: Python<'py>,
        columns: Option<Vec<u64>>,
        rows: Option<Bound<'py, PyAny>>,
        host: &str,
        own: bool,
        n_shared: usize,
        threads: Option<usize>,
        n_values: Option<u64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let rows = row_selection::from_python(rows.as_ref())?;
        let n_values = n_values.unwrap_or(self.n_rows_of());
        let host = if host == "pandas" { Host::Pandas } else { Host::Numpy };
        let by = Reader { host, own, nan_is_null: NanIsNull::Nowhere, narrow: Narrow::default() };
        let infos = self.select(py, columns.as_deref())?;
        let none = Dictionaries::new();
        let mut held = self.held_for(&rows, &infos, by);
        let file = &match &held {
            Some(held) => Arc::clone(held.schema()),
            None => self.file(py)?,
        };
        let mut taken = HashMap::new();
        if held.is_some() && self.is_given() && self.are_all(&infos) {
            let (held_now, infos) = (held.as_deref(), infos.clone());
            let wanted = Selected {
                file,
                held: held_now,
                taken,
                infos,
                n_values,
                rows: &rows,
                n_shared,
                known: &none,
            };
            let alone = wanted.alone(py, by)?;
            drop(held);
            taken = self.take(&alone);
            held = self.held();
        }
        let held = held.as_deref();
        let selected = Selected { file, held, taken, infos, n_values, rows: &rows, n_shared, known: &none };
        let decoded = columns::read(py, selected, by, threads)?;
        results::entries(py, decoded, own)
    }

    /// Decodes columns for Arrow.
    ///
    /// With `own`, the types are exactly those of the Arrow table that was written. Otherwise
    /// strings have layout 1 (large) or 2 (views). `metadata` keeps the metadata of fields in
    /// nested columns. `polars` refuses types that Polars does not have. `like` is a table of these
    /// columns, returned by a call with otherwise equal arguments. Reuses the dictionaries of
    /// `like`.
    #[pyo3(signature = (
        columns, rows, layout, own, threads, field_metadata, schema_metadata, metadata, polars=false, like=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn read_arrow(
        &self,
        py: Python<'_>,
        columns: Option<Vec<u64>>,
        rows: Option<Bound<'_, PyAny>>,
        layout: u8,
        own: bool,
        threads: Option<usize>,
        field_metadata: HashMap<usize, Vec<u8>>,
        schema_metadata: Option<Vec<u8>>,
        metadata: bool,
        polars: bool,
        like: Option<Bound<'_, ArrowTable>>,
    ) -> PyResult<ArrowTable> {
        let infos = self.select(py, columns.as_deref())?;
        // Values of nested columns are not dropped in place.
        let is_flat = !infos.iter().any(|info| info.record.column_type.physical.is_nested());
        let kept = rows.as_ref().and_then(|rows| rows.cast::<KeptRows>().ok()).filter(|_| is_flat);
        let rows = match kept {
            Some(kept) => Rows::Range(kept.get().rows.clone()),
            None => row_selection::from_python(rows.as_ref())?,
        };
        for info in infos.iter().filter(|_| polars) {
            self.check_polars(py, info)?;
        }
        if !field_metadata.values().chain(&schema_metadata).all(|bytes| is_whole(bytes)) {
            let error = Error::corrupt("the metadata of an Arrow field are incomplete")
                .in_file(self.schema_file().path());
            return Err(errors::raise(py, &error));
        }
        let n_values = self.n_rows_of();
        let none = Dictionaries::new();
        let known = like.as_ref().map_or(&none, |table| &table.get().dictionaries);
        let (host, nan_is_null) = (Host::Arrow(layout), self.nan_is_null_among(py, &infos)?);
        let by = Reader { host, own, nan_is_null, narrow: self.narrow };
        let held = self.held_for(&rows, &infos, by);
        let file = &match &held {
            Some(held) => Arc::clone(held.schema()),
            None => self.file(py)?,
        };
        let held = held.as_deref();
        let taken = HashMap::new();
        let selected = Selected { file, held, taken, infos, n_values, rows: &rows, n_shared: 0, known };
        let mut decoded = columns::read(py, selected, by, threads)?;
        if let Some(kept) = kept {
            decoded.keep(py, kept.get())?;
        }
        results::table(py, decoded, own, metadata, field_metadata, schema_metadata, known)
    }

    /// Whether NaN of each column is null for Arrow and Polars.
    #[pyo3(signature = (columns=None))]
    fn nan_is_null(&self, py: Python<'_>, columns: Option<Vec<u64>>) -> PyResult<Vec<bool>> {
        let infos = self.select(py, columns.as_deref())?;
        let nan_is_null = self.nan_is_null_among(py, &infos)?;
        Ok(infos.iter().map(|info| nan_is_null.holds(info)).collect())
    }

    /// Where the values of some columns are in the file, for a range of rows: offset and length in
    /// bytes, and the bit of the first boolean.
    fn extents(
        &self,
        py: Python<'_>,
        columns: Vec<u64>,
        start: u64,
        stop: u64,
    ) -> PyResult<Vec<(u64, u64, u8)>> {
        let file = self.file(py)?;
        let extents = py.detach(|| file.extents(&columns, start..stop));
        let extents = extents.map_err(|e| errors::raise_map(py, &e))?;
        Ok(extents.iter().map(|extent| (extent.at, extent.len, extent.first_bit)).collect())
    }

    /// Checks that a read may ask for this many bytes of memory.
    fn check_decoded_len(&self, py: Python<'_>, n: u64, width: u64) -> PyResult<()> {
        let len = n.saturating_mul(width);
        let checked = match self.held() {
            Some(held) => held.check_decoded_len(len),
            None => self.file(py)?.check_decoded_len(len),
        };
        checked.map_err(|e| errors::raise(py, &e))
    }

    /// Bytes that differ between commits of a file, and their offset in it.
    fn fingerprint<'py>(&self, py: Python<'py>) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        let (at, bytes) = self.file(py)?.fingerprint();
        Ok((at, PyBytes::new(py, &bytes)))
    }

    /// Checks every byte of the file, or only the bytes of this generation.
    fn verify<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
        alone: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let file = self.file(py)?;
        let mut survey = monitor::run_watched(py, progress, |monitor| match alone {
            true => file.survey_generation(threads, monitor),
            false => file.survey(threads, monitor),
        })?;
        if let Some(error) = survey.take_error() {
            return Err(errors::raise_damages(py, &error, &survey));
        }
        let report = survey.report;
        let dict = PyDict::new(py);
        dict.set_item("n_columns", report.n_columns)?;
        dict.set_item("n_blocks", report.n_blocks)?;
        dict.set_item("n_values", report.n_values)?;
        dict.set_item("checked_len", report.checked_len)?;
        dict.set_item("n_generations", report.n_generations)?;
        dict.set_item("leftover_len", report.leftover_len)?;
        Ok(dict)
    }

    /// The file with the values of damaged blocks missing, with the damaged places and their
    /// number. None if no damage is found.
    fn without_damage<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
    ) -> PyResult<Option<(Self, Bound<'py, PyList>, u64)>> {
        let file = self.file(py)?;
        let (file, survey) = monitor::run(py, |monitor| file.without_damage(threads, &Quiet(monitor)))?;
        if survey.n_damages == 0 {
            return Ok(None);
        }
        Ok(Some((self.with(py, file), errors::damages(py, &survey.damages)?, survey.n_damages)))
    }

    /// How the file is stored, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        let file = &self.file(py)?;
        let info = py.detach(|| file.info()).map_err(|e| errors::raise(py, &e))?;
        Ok(info.to_json())
    }
}
