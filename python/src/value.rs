//! Values that a host stores next to the columns: Python objects to [`Value`] and back.

use entasis::Value;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors;

const MAX_DEPTH: usize = 60;

/// A reference to a column of the same file, inside a value. In a frame that is being built, the
/// index counts only extra columns. In a frame that was read, it counts all columns.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct ColumnRef {
    /// The number of the column.
    #[pyo3(get)]
    pub index: u64,
}

#[pymethods]
impl ColumnRef {
    #[new]
    fn new(index: u64) -> Self {
        Self { index }
    }

    fn __repr__(&self) -> String {
        format!("ColumnRef({})", self.index)
    }
}

/// A reference to a cell, inside a value. In a frame that is being built it is the number of a
/// tree.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct CellRef {
    /// The number of the cell.
    #[pyo3(get)]
    pub number: u64,
}

#[pymethods]
impl CellRef {
    fn __repr__(&self) -> String {
        format!("CellRef({})", self.number)
    }
}

/// The value of a tree of None, bool, int, float, str, bytes, list and dict.
///
/// # Errors
/// *Unsupported*, with the path, for an object of any other type, subclasses included.
pub fn from_python(object: &Bound<'_, PyAny>, path: &str, n_columns: u64, depth: usize) -> PyResult<Value> {
    let py = object.py();
    if depth > MAX_DEPTH {
        return Err(errors::unsupported(py, format!("{path}: nested deeper than {MAX_DEPTH}")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(value) = object.cast_exact::<PyString>() {
        let text = value.to_str().map_err(|_| {
            errors::unsupported(py, format!("{path}: a string with lone surrogates is not supported"))
        })?;
        return Ok(Value::Str(text.to_owned()));
    }
    if object.cast_exact::<PyInt>().is_ok() {
        if let Ok(value) = object.extract::<i64>() {
            return Ok(Value::Int(value));
        }
        return object.extract::<u64>().map(Value::UInt).map_err(|_| {
            errors::unsupported(py, format!("{path}: an integer beyond 64 bits is not supported yet"))
        });
    }
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Value::Float(value.value()));
    }
    if let Ok(value) = object.cast_exact::<PyBytes>() {
        return Ok(Value::Bytes(value.as_bytes().to_vec()));
    }
    if let Ok(list) = object.cast_exact::<PyList>() {
        let items = list.iter().enumerate();
        let items = items.map(|(i, item)| from_python(&item, &format!("{path}[{i}]"), n_columns, depth + 1));
        return items.collect::<PyResult<Vec<_>>>().map(Value::List);
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        let mut pairs = Vec::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            if key.cast_exact::<PyString>().is_err() {
                let kind = key.get_type().name()?;
                let message = format!("{path}: a key of type {kind} is not supported yet, only str");
                return Err(errors::unsupported(py, message));
            }
            let path = format!("{path}[{}]", key.repr()?);
            pairs.push((
                from_python(&key, &path, n_columns, depth + 1)?,
                from_python(&value, &path, n_columns, depth + 1)?,
            ));
        }
        return Ok(Value::Map(pairs));
    }
    if let Ok(column) = object.cast::<ColumnRef>() {
        return Ok(Value::Column(n_columns + column.get().index));
    }
    if let Ok(cell) = object.cast::<CellRef>() {
        return Ok(Value::Cell(cell.get().number));
    }
    let kind = object.get_type();
    let message = format!("{path}: a value of type {} is not supported yet", kind.fully_qualified_name()?);
    Err(errors::unsupported(py, message))
}

/// The object of a value. References become [`ColumnRef`] and [`CellRef`].
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::UInt(value) | Value::Table(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => PyFloat::new(py, *value).into_any(),
        Value::Str(value) => PyString::new(py, value).into_any(),
        Value::Bytes(value) => PyBytes::new(py, value).into_any(),
        Value::List(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(to_python(py, value)?)?;
            }
            list.into_any()
        }
        Value::Map(pairs) => {
            let dict = PyDict::new(py);
            for (key, value) in pairs {
                // Python cannot hash lists and dicts, so such a key becomes its text.
                let key = match key {
                    Value::List(_) | Value::Map(_) => PyString::new(py, &format!("{key:?}")).into_any(),
                    key => to_python(py, key)?,
                };
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Column(index) => Bound::new(py, ColumnRef { index: *index })?.into_any(),
        Value::Cell(number) => Bound::new(py, CellRef { number: *number })?.into_any(),
    })
}
