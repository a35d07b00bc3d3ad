//! Row selections from Python: all rows, a slice, or row numbers.

use std::sync::Arc;

use entasis::Rows;
use pyo3::prelude::*;

use crate::array::NumpyArray;

/// Converts `None`, a tuple `(start, stop, step)` without negative places, or an array of
/// non-negative `int64`.
pub fn from_python(rows: Option<&Bound<'_, PyAny>>) -> PyResult<Rows> {
    let Some(rows) = rows.filter(|rows| !rows.is_none()) else { return Ok(Rows::All) };
    if let Ok((start, stop, step)) = rows.extract::<(u64, i64, i64)>() {
        let stop = u64::try_from(stop).unwrap_or(u64::MAX);
        return Ok(Rows::step(start, stop, step));
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
