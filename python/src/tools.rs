//! Functions that need no frame.

use pyo3::prelude::*;

use crate::array::NumpyArray;
use crate::cpython::features::off;
use crate::write::text;

/// Whether all characters of an array of dtype `U` are valid Unicode, so that UTF-8 can store them.
#[pyfunction]
pub fn is_unicode(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let view = NumpyArray::new(array)?;
    Ok(py.detach(|| text::is_unicode(&view)))
}

/// Sets the number of threads for calls that do not specify it. 0 stands for one per processor.
#[pyfunction]
pub fn set_threads(n: usize) {
    entasis::set_threads(n);
}

/// The number of threads for calls that do not specify it.
#[pyfunction]
pub fn default_threads() -> usize {
    entasis::default_threads()
}

/// The name and state of each feature of the core that an environment variable switches off.
#[pyfunction]
pub fn platform_features() -> Vec<(&'static str, String)> {
    let state = |is_on: bool, variable: &str| if is_on { "on".to_owned() } else { off(variable) };
    entasis::switches().map(|(name, variable, is_on)| (name, state(is_on, variable))).to_vec()
}
