//! Functions that need no frame.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::NumpyArray;
use crate::{monitor, text};

/// Whether all characters of an array of dtype `U` are Unicode's: else they can't be kept as text.
#[pyfunction]
pub fn is_unicode(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let view = NumpyArray::new(array)?;
    Ok(py.detach(|| text::is_unicode(&view)))
}

/// Sets the number of threads for calls that don't name one; 0: as many as there are processors.
#[pyfunction]
pub fn set_threads(n: usize) {
    entasis::set_threads(n);
}

/// The number of threads for calls that don't name one.
#[pyfunction]
pub fn default_threads() -> usize {
    entasis::default_threads()
}

/// Checks every byte of a file.
#[pyfunction]
pub fn verify<'py>(py: Python<'py>, path: PathBuf, threads: Option<usize>) -> PyResult<Bound<'py, PyDict>> {
    let report = monitor::run(py, |monitor| entasis::verify(&path, threads, monitor))?;
    let dict = PyDict::new(py);
    dict.set_item("n_columns", report.n_columns)?;
    dict.set_item("n_blocks", report.n_blocks)?;
    dict.set_item("n_values", report.n_values)?;
    dict.set_item("checked_len", report.checked_len)?;
    Ok(dict)
}

/// The command line; returns the exit code.
#[pyfunction]
pub fn cli_main(py: Python<'_>, args: Vec<std::ffi::OsString>) -> i32 {
    py.detach(|| entasis_cli::run(args))
}
