//! Names and formats as C strings.

use std::ffi::CString;

use pyo3::prelude::*;

use crate::errors;

/// A name or format as a C string, which cannot contain a zero.
pub fn c_string(py: Python<'_>, text: &str, column: &str) -> PyResult<CString> {
    let zero = |_| errors::unsupported(py, format!("column {column:?}: Arrow can't hold a name with a zero"));
    CString::new(text).map_err(zero)
}
