//! Decoded columns as Python objects that other libraries import by Arrow's PyCapsule interface.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use entasis::{Buffer, Physical};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyString, PyTuple};

use super::c_string::c_string;
use super::export::{self, Data, Dictionaries, Kind};
use super::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use super::{metadata, stream};
use crate::array::{self, NumpyArray};
use crate::fixed_width;

/// Defines a function that makes a capsule which owns a structure of the interface.
macro_rules! capsule {
    ($function:ident, $destructor:ident, $structure:ty, $name:literal) => {
        fn $function(py: Python<'_>, structure: $structure) -> PyResult<Bound<'_, PyCapsule>> {
            let pointer = Box::into_raw(Box::new(structure));
            let Some(pointer) = NonNull::new(pointer.cast::<c_void>()) else {
                unreachable!("boxes are somewhere")
            };
            // SAFETY: the pointer comes from a box, which the destructor drops.
            unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, $name, Some($destructor)) }
        }

        unsafe extern "C" fn $destructor(capsule: *mut ffi::PyObject) {
            let name: &CStr = $name;
            // SAFETY: Python calls this once, for a capsule that the function above made. Dropping
            // the box releases the structure, unless the importer took it.
            unsafe {
                let pointer = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
                if !pointer.is_null() {
                    drop(Box::from_raw(pointer.cast::<$structure>()));
                }
            }
        }
    };
}

capsule!(schema_capsule, drop_schema, ArrowSchema, c"arrow_schema");
capsule!(array_capsule, drop_array, ArrowArray, c"arrow_array");
capsule!(stream_capsule, drop_stream, ArrowArrayStream, c"arrow_array_stream");

/// A decoded column, or several columns of one type one after the other.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct ArrowColumn {
    pub kind: Arc<Kind>,
    pub data: Data,
    pub physical: Physical,
}

#[pymethods]
impl ArrowColumn {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        Ok((schema_capsule(py, export::schema(&self.kind))?, array_capsule(py, export::array(&self.data))?))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, export::schema(&self.kind))
    }

    fn __len__(&self) -> usize {
        self.data.n
    }

    /// Whether any value is missing.
    #[getter]
    fn has_missing(&self) -> bool {
        let validity = self.data.buffers.first().and_then(Option::as_ref);
        validity.is_some_and(|bits| {
            let bits: &[u8] = bits;
            let is_valid = |i: usize| bits.get(i / 8).is_none_or(|byte| byte >> (i % 8) & 1 == 1);
            !(self.data.offset..self.data.offset + self.data.n).all(is_valid)
        })
    }

    /// `n` values from `start` on.
    fn slice(&self, start: usize, n: usize) -> PyResult<Self> {
        if start.checked_add(n).is_none_or(|end| end > self.data.n) {
            return Err(pyo3::exceptions::PyIndexError::new_err("a slice beyond the end"));
        }
        let data = Data { offset: self.data.offset + start, n, ..self.data.clone() };
        Ok(Self { kind: Arc::clone(&self.kind), data, physical: self.physical })
    }

    /// The strings or bytes as a list of objects. `missing` replaces missing values.
    fn to_objects<'py>(&self, py: Python<'py>, missing: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let Some(offsets) =
            self.data.buffers.get(1).and_then(Option::as_ref).filter(|_| self.physical.is_var())
        else {
            return Err(pyo3::exceptions::PyTypeError::new_err("the column has no strings"));
        };
        let bytes = self.data.buffers.get(2).and_then(Option::as_ref);
        let bytes: &[u8] = bytes.map_or(&[], |buffer| buffer);
        let validity = self.data.buffers[0].as_ref();
        let offset = |i: usize| offset_at(offsets, i);
        for i in self.data.offset..self.data.offset + self.data.n {
            if validity.is_some_and(|bits| bits[i / 8] >> (i % 8) & 1 == 0) {
                list.append(&missing)?;
                continue;
            }
            let value = bytes.get(offset(i)..offset(i + 1)).unwrap_or(&[]);
            if self.physical == Physical::Binary {
                list.append(PyBytes::new(py, value))?;
            } else {
                list.append(PyString::from_bytes(py, value)?)?;
            }
        }
        Ok(list)
    }

    /// Writes the strings or bytes into a new array of dtype `U` or `S` with as many elements.
    /// Returns false if one is too long. Missing values become empty strings.
    fn to_fixed(&self, array: &Bound<'_, PyAny>) -> PyResult<bool> {
        let view = NumpyArray::new(array)?;
        // SAFETY: nothing else uses the new array.
        let memory = unsafe { array::memory(array) }?;
        let Some(offsets) =
            self.data.buffers.get(1).and_then(Option::as_ref).filter(|_| self.physical.is_var())
        else {
            return Err(pyo3::exceptions::PyTypeError::new_err("the column has no strings"));
        };
        if view.shape.iter().product::<usize>() != self.data.n {
            return Err(pyo3::exceptions::PyValueError::new_err("the array doesn't fit the strings"));
        }
        let bytes = self.data.buffers.get(2).and_then(Option::as_ref);
        let bytes: &[u8] = bytes.map_or(&[], |buffer| buffer);
        let is_text = self.physical == Physical::Utf8;
        Ok((0..self.data.n).all(|k| {
            let i = self.data.offset + k;
            let value = bytes.get(offset_at(offsets, i)..offset_at(offsets, i + 1)).unwrap_or(&[]);
            fixed_width::put(value, is_text, &mut memory[k * view.width..][..view.width])
        }))
    }
}

/// Offset `i` in a buffer of 64-bit offsets.
pub fn offset_at(offsets: &Buffer, i: usize) -> usize {
    let bytes = offsets.get(8 * i..8 * i + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, |bytes| i64::from_le_bytes(bytes) as usize)
}

fn has_map(kind: &Kind) -> bool {
    kind.format.as_c_str() == c"+m" || kind.children.iter().any(has_map)
}

/// A field with its child fields, as `ArrowTable.map_fields` returns them.
fn fields<'py>(py: Python<'py>, kind: &Kind) -> PyResult<Bound<'py, PyTuple>> {
    let pairs = kind.metadata.as_deref().map(metadata::pairs).unwrap_or_default();
    let pairs: Vec<_> =
        pairs.into_iter().map(|(key, value)| (PyBytes::new(py, key), PyBytes::new(py, value))).collect();
    let children = kind.children.iter().map(|child| fields(py, child)).collect::<PyResult<Vec<_>>>()?;
    (kind.name.to_string_lossy(), pairs, children).into_pyobject(py)
}

/// Decoded columns of one length.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct ArrowTable {
    pub kind: Arc<Kind>,
    pub data: Data,
    /// All dictionaries of the columns.
    pub dictionaries: Arc<Dictionaries>,
}

/// The type and the values of an item of a stream.
fn parts(table: &Bound<'_, PyAny>) -> PyResult<(Arc<Kind>, Data)> {
    let table = table.cast::<ArrowTable>()?.get();
    Ok((Arc::clone(&table.kind), table.data.clone()))
}

#[pymethods]
impl ArrowTable {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        Self::stream(slf, PyList::new(slf.py(), [slf])?.try_iter()?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, export::schema(&self.kind))
    }

    /// A stream of this table's type. An iterator provides its tables. A table of another type
    /// gives the consumer an error.
    fn stream<'py>(
        slf: &Bound<'py, Self>,
        tables: Bound<'py, PyIterator>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let stream = stream::stream(slf.py(), Arc::clone(&slf.get().kind), tables, parts)?;
        stream_capsule(slf.py(), stream)
    }

    /// Whether another table has the same names and types.
    fn is_like(&self, other: &Bound<'_, Self>) -> bool {
        self.kind == other.get().kind
    }

    /// The memory of the columns in bytes, without dictionaries.
    #[getter]
    fn memory_len(&self) -> usize {
        self.data.memory_len()
    }

    /// The number of values in the longest dictionary.
    #[getter]
    fn dictionary_len(&self) -> usize {
        self.dictionaries.values().map(|(_, values)| values.n).max().unwrap_or(0)
    }

    /// The fields of columns with maps, by position: name, keys and values of the metadata, and
    /// child fields. pyarrow renames the fields of maps.
    fn map_fields<'py>(&self, py: Python<'py>) -> PyResult<HashMap<usize, Bound<'py, PyTuple>>> {
        let columns = self.kind.children.iter().enumerate().filter(|(_, kind)| has_map(kind));
        columns.map(|(position, kind)| Ok((position, fields(py, kind)?))).collect()
    }

    /// The same columns with other names for some positions.
    fn renamed(&self, py: Python<'_>, names: HashMap<usize, String>) -> PyResult<Self> {
        let mut kind = (*self.kind).clone();
        for (position, name) in names {
            if let Some(child) = kind.children.get_mut(position) {
                child.name = c_string(py, &name, &name)?;
            }
        }
        let dictionaries = Arc::clone(&self.dictionaries);
        Ok(Self { kind: Arc::new(kind), data: self.data.clone(), dictionaries })
    }
}
