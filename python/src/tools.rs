//! Functions that need no frame.

use pyo3::prelude::*;

use crate::array::NumpyArray;
use crate::write::text;

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

/// The command line; returns the exit code.
#[pyfunction]
pub fn cli_main(py: Python<'_>, args: Vec<std::ffi::OsString>) -> i32 {
    py.detach(|| entasis_cli::run(args))
}
