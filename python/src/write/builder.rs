//! Collects the columns of a frame. Their arrays are borrowed until the file is written.

mod put;
mod take;
mod words;

use entasis::{
    Array, Chunk, Column, ColumnType, HostValidity, HostValues, Logical, Missing, NameList, Physical, Value,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::array::{self, NumpyArray};
use crate::arrow::import::Stream;
use crate::value::CellRef;
use crate::write::destination::Destination;
use crate::write::runs;
use crate::write::text::{self, OwnText};
use crate::{errors, value};
use put::{Target, Variant};
use words::WordsOptions;

/// A frame to write. It borrows its arrays, and keeps them alive.
#[pyclass(subclass, module = "entasis._entasis")]
pub struct Builder {
    pub n_rows: u64,
    pub names: NameList,
    /// Columns and column runs, each with its first position.
    pub columns: Vec<(usize, Column)>,
    extra: Vec<Column>,
    pub arrays: Vec<Py<PyAny>>,
    /// Trees next to the columns, with their names in errors. They have no cells yet.
    trees: Vec<(Py<PyAny>, String)>,
    texts: Vec<OwnText>,
    streams: Vec<Stream>,
}

/// The metadata of a schema, and of fields by their position.
type Metadata<'py> = (Option<Bound<'py, PyBytes>>, Vec<(usize, Bound<'py, PyBytes>)>);

fn missing_of(name: &str) -> PyResult<Missing> {
    let found = Missing::ALL.iter().find(|missing| missing.name() == name);
    found.copied().ok_or_else(|| pyo3::exceptions::PyValueError::new_err("no such kind of missing values"))
}

#[pymethods]
impl Builder {
    #[new]
    fn new(n_rows: u64, names: &Bound<'_, PyAny>) -> PyResult<Self> {
        let names = runs::names(names)?;
        let (columns, extra, arrays, trees, texts, streams) = Default::default();
        Ok(Self { n_rows, names, columns, extra, arrays, trees, texts, streams })
    }

    /// The names of the columns.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.names.iter())
    }

    /// The number of rows of the table.
    #[getter]
    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The number of columns of the table.
    #[getter]
    fn n_columns(&self) -> usize {
        self.names.len()
    }

    /// The name of the column at a position.
    fn name(&self, position: usize) -> PyResult<&str> {
        self.names.get(position).ok_or_else(|| pyo3::exceptions::PyIndexError::new_err("no such column"))
    }

    /// Appends the values of more arrays to an extra column. They must have the dtype of its first
    /// array.
    fn extend(&mut self, number: usize, arrays: Bound<'_, PyList>) -> PyResult<()> {
        let wrong = || pyo3::exceptions::PyValueError::new_err("an array of another dtype than its column");
        for array in arrays.iter() {
            let view = NumpyArray::new(&array)?;
            let column = self.extra.get_mut(number).ok_or_else(wrong)?;
            let found = array::column_type(&view.typestr).ok_or_else(wrong)?;
            if found.physical != column.column_type.physical || found.unit != column.column_type.unit {
                return Err(wrong());
            }
            // SAFETY: the builder keeps the array alive until the file is written.
            let values = unsafe { words::values(&view, 0, found.physical) };
            let validity = match column.array.chunks.first().map(|chunk| &chunk.validity) {
                Some(&HostValidity::Sentinel(sentinel)) => HostValidity::Sentinel(sentinel),
                _ => HostValidity::AllValid,
            };
            column.array.chunks.push(Chunk { n: view.n(), values, validity });
            self.arrays.push(array.unbind());
        }
        Ok(())
    }

    /// Adds the column of a NumPy array, or the rows of a two-dimensional array as columns. Without
    /// a position it is an extra column, whose number is returned. [`WordsOptions`] lists the
    /// keyword arguments.
    #[pyo3(signature = (array, position=None, **options))]
    fn words(
        &mut self,
        array: Bound<'_, PyAny>,
        position: Option<Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<u64>> {
        self.put_words(array, position.as_ref(), WordsOptions::from_keywords(options)?)
    }

    /// Adds a column for each of many arrays of numbers or booleans. Costs a fraction of
    /// [`words`](Self::words).
    fn rows(
        &mut self,
        py: Python<'_>,
        arrays: Vec<Bound<'_, PyAny>>,
        positions: Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let Target::Table(positions) = self.target(Some(&positions), arrays.len())? else { return Ok(()) };
        for (array, position) in arrays.into_iter().zip(positions) {
            let Some((column_type, chunk)) = array::row(&array)? else {
                let number = position.into_pyobject(py)?.into_any();
                self.put_words(array, Some(&number), WordsOptions::default())?;
                continue;
            };
            let column = Column {
                run: None,
                name: self.names.get(position).unwrap_or_default().to_owned(),
                column_type,
                detail: None,
                host_detail: None,
                dictionary: None,
                children: Vec::new(),
                array: Array::new(chunk),
            };
            self.columns.push((position, column));
            self.arrays.push(array.unbind());
        }
        Ok(())
    }

    /// Adds the strings of a NumPy array of objects or of fixed width. Dtype `U` becomes UTF-8,
    /// dtype `S` bytes.
    ///
    /// Returns the number of the column if it is an extra one. If cells are missing in several
    /// ways, an extra column holds the kind of each, and its number is returned as well.
    #[pyo3(signature = (array, position=None, *, name="", missing=None, host_variant=0, binary=false, host_detail=None))]
    #[allow(clippy::too_many_arguments)]
    fn text(
        &mut self,
        array: Bound<'_, PyAny>,
        position: Option<Bound<'_, PyAny>>,
        name: &str,
        missing: Option<&str>,
        host_variant: u8,
        binary: bool,
        host_detail: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Option<u64>, Option<u64>)> {
        let view = NumpyArray::new(&array)?;
        let what = self.called(position.as_ref(), name);
        let is_object = view.typestr.get(1..2) == Some("O");
        if !is_object {
            return self.padded(&view, array, position, name, host_variant).map(|put| (put, None));
        }
        let own = text::from_objects(&array, &what, binary)?;
        // SAFETY: the builder keeps the strings unchanged until the file is written.
        let (values, validity) = unsafe { own.lend() };
        let physical = if binary { Physical::Binary } else { Physical::Utf8 };
        let found = own.missing();
        let kind = match missing {
            Some(missing) => missing_of(missing)?,
            None => found.unwrap_or(Missing::Unspecified),
        };
        let column_type = ColumnType { missing: kind, host_variant, ..ColumnType::plain(physical) };
        let column = Column {
            run: None,
            name: String::new(),
            column_type,
            detail: None,
            host_detail: host_detail.map(|detail| value::from_python(&detail, &what, 0, 0)).transpose()?,
            dictionary: None,
            children: Vec::new(),
            array: Array::new(Chunk { n: own.n(), values, validity }),
        };
        let target = self.target(position.as_ref(), 1)?;
        let put = self.put(&target, 0, name, column);
        let kinds = if found.is_none() {
            // SAFETY: as above.
            let values = HostValues::Words { memory: unsafe { own.lend_kinds() }, stride: 1 };
            let column = Column {
                run: None,
                name: String::new(),
                column_type: ColumnType::plain(Physical::U8),
                detail: None,
                host_detail: None,
                dictionary: None,
                children: Vec::new(),
                array: Array::new(Chunk { n: own.n(), values, validity: HostValidity::AllValid }),
            };
            self.put(&Target::Extra, 0, "", column)
        } else {
            None
        };
        self.texts.push(own);
        Ok((put, kinds))
    }

    /// Adds one column from an object with `__arrow_c_stream__`.
    #[pyo3(signature = (data, position=None, *, name="", missing="null", host_variant=0, only=false))]
    #[allow(clippy::too_many_arguments)]
    fn arrow(
        &mut self,
        data: Bound<'_, PyAny>,
        position: Option<Bound<'_, PyAny>>,
        name: &str,
        missing: &str,
        host_variant: u8,
        only: bool,
    ) -> PyResult<Option<u64>> {
        let what = self.called(position.as_ref(), name);
        let mut stream = Stream::new(&data)?;
        let field = stream.array(data.py(), &what)?;
        if field.is_bare {
            let message = format!("{what}: an extension type on such a storage is not supported yet");
            return Err(errors::unsupported(data.py(), message));
        }
        let target = self.target(position.as_ref(), 1)?;
        let put = self.put_field(
            &target,
            name,
            field,
            if only { Variant::Only(host_variant) } else { Variant::Plus(host_variant) },
            missing_of(missing)?,
        );
        self.streams.push(stream);
        Ok(put)
    }

    /// Adds all columns from an object with `__arrow_c_stream__` that streams a table. Returns the
    /// metadata of the schema, and of the fields that have metadata.
    fn arrow_table<'py>(&mut self, py: Python<'py>, data: Bound<'py, PyAny>) -> PyResult<Metadata<'py>> {
        let mut stream = Stream::new(&data)?;
        let (fields, n_rows) = stream.table(py)?;
        if fields.len() != self.names.len() || n_rows != self.n_rows {
            return Err(pyo3::exceptions::PyValueError::new_err("the stream does not fit its table"));
        }
        let mut metadata = Vec::new();
        for (position, mut field) in fields.into_iter().enumerate() {
            if let Some(bytes) = field.metadata.take() {
                metadata.push((position, PyBytes::new(py, &bytes)));
            }
            self.put_field(&Target::Table(vec![position]), "", field, Variant::Plus(0), Missing::Null);
        }
        let schema = stream.metadata().map(|bytes| PyBytes::new(py, &bytes));
        self.streams.push(stream);
        Ok((schema, metadata))
    }

    /// Adds a tree of values next to the columns. `what` is its name in errors. Returns its
    /// reference in a host map.
    fn tree(&mut self, value: Bound<'_, PyAny>, what: &str) -> CellRef {
        self.trees.push((value.unbind(), what.to_owned()));
        CellRef { number: self.trees.len() as u64 - 1 }
    }

    /// Adds a column of objects of any type, from a list or an array of objects. `what` is its name
    /// in errors.
    #[pyo3(signature = (values, position=None, *, name="", host_variant=0, what=None))]
    fn objects(
        &mut self,
        values: Bound<'_, PyAny>,
        position: Option<Bound<'_, PyAny>>,
        name: &str,
        host_variant: u8,
        what: Option<String>,
    ) -> PyResult<Option<u64>> {
        let target = self.target(position.as_ref(), 1)?;
        let list = values.call_method0("tolist").or_else(|_| PyResult::Ok(values.clone()))?;
        let n = list.len()?;
        let what = what.unwrap_or_else(|| self.called(position.as_ref(), name));
        let cell = self.tree(list, &what);
        let column = Column {
            run: None,
            name: String::new(),
            column_type: ColumnType {
                logical: Logical::Object,
                host_variant,
                ..ColumnType::plain(Physical::Null)
            },
            detail: Some(Value::Cell(cell.number)),
            host_detail: None,
            dictionary: None,
            children: Vec::new(),
            array: Array::new(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid }),
        };
        Ok(self.put(&target, 0, name, column))
    }

    /// Whether there are trees next to the columns.
    #[getter]
    fn has_trees(&self) -> bool {
        !self.trees.is_empty()
    }

    /// The trees next to the columns, and their names in errors.
    #[getter]
    fn trees(&self, py: Python<'_>) -> Vec<(Py<PyAny>, String)> {
        self.trees.iter().map(|(tree, what)| (tree.clone_ref(py), what.clone())).collect()
    }

    /// The content of a file with the same columns and without rows. The builder has single columns
    /// afterwards.
    fn schema<'py>(
        &mut self,
        py: Python<'py>,
        host: &Bound<'py, PyAny>,
        to: Destination,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut frame = self.frame(host, &[])?;
        frame.columns = runs::split(frame.columns);
        let empty = frame.without_rows();
        self.columns = frame.columns.into_iter().enumerate().collect();
        self.extra = frame.extra;
        to.write(py, empty.into())
    }

    /// Writes the file. The builder is empty afterwards.
    fn write<'py>(
        &mut self,
        py: Python<'py>,
        host: &Bound<'py, PyAny>,
        to: Destination,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut frame = if to.keeps_cells(py) { self.frame_of_change(host)? } else { self.frame(host, &[])? };
        if to.needs_single_columns(py) {
            frame.columns = runs::split(frame.columns);
        }
        let result = to.write(py, frame.into());
        self.clear();
        result
    }
}
