//! Row selections from Python: all rows, a slice, or row numbers.

use std::sync::Arc;

use entasis::Rows;
use pyo3::prelude::*;

use crate::array::NumpyArray;
use crate::errors;
use crate::row_sets::{KeptRows, RowNumbers};

/// Converts `None`, a tuple `(start, stop, step)` of resolved indices, an array of non-negative
/// `int64`, or [`KeptRows`]. A negative `stop` means a stop before row 0.
pub fn from_python(rows: Option<&Bound<'_, PyAny>>) -> PyResult<Rows> {
    let Some(rows) = rows.filter(|rows| !rows.is_none()) else { return Ok(Rows::All) };
    if let Ok((start, stop, step)) = rows.extract::<(u64, i64, i64)>() {
        let stop = u64::try_from(stop).unwrap_or(u64::MAX);
        return Ok(Rows::step(start, stop, step));
    }
    if let Ok(kept) = rows.cast::<KeptRows>() {
        let numbers = kept.get().numbers().map_err(|e| errors::raise(rows.py(), &e))?;
        return Ok(Rows::Indices(numbers));
    }
    if let Some(numbers) = whole_filter(rows) {
        return Ok(Rows::Indices(numbers));
    }
    let array = NumpyArray::new(rows)?;
    // SAFETY: the caller keeps `rows` alive, and the memory is used in this function alone.
    let values = unsafe { array.column(0) };
    let first = if array.stride() < 0 { values.len().saturating_sub(8) } else { 0 };
    let mut numbers = vec![0u64; array.n()];
    if array.typestr != "<i8" || !values.copy_strided(first, array.stride(), &mut numbers) {
        return Err(pyo3::exceptions::PyTypeError::new_err("rows are an array of int64"));
    }
    Ok(Rows::Indices(Arc::from(numbers)))
}

/// The row numbers of a filter, if the array is an unchanged view of all of them.
fn whole_filter(rows: &Bound<'_, PyAny>) -> Option<Arc<Vec<u64>>> {
    let base = rows.getattr("base").ok()?;
    let numbers = &base.cast::<RowNumbers>().ok()?.get().0;
    // An array with the length and the strides of its base has all its values, in their order.
    let shape: (usize,) = rows.getattr("shape").ok()?.extract().ok()?;
    let strides: (isize,) = rows.getattr("strides").ok()?.extract().ok()?;
    let typestr: String = rows.getattr("dtype").ok()?.getattr("str").ok()?.extract().ok()?;
    let is_whole = shape == (numbers.len(),) && strides == (8,) && typestr == "<i8";
    is_whole.then(|| Arc::clone(numbers))
}
