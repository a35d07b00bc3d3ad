//! A change of a file in place, as Python sees it.

use std::path::PathBuf;

use entasis::WriteOptions;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::destination;
use crate::monitor;

/// A file that is going to change, with its lock.
#[pyclass(module = "entasis._entasis")]
pub struct Change {
    change: Option<entasis::Change>,
}

impl Change {
    /// The change, which can be committed once.
    pub fn take(&mut self) -> PyResult<entasis::Change> {
        self.change.take().ok_or_else(|| PyRuntimeError::new_err("the change is over"))
    }
}

#[pymethods]
impl Change {
    /// Takes the lock of the file at `path`. Waits for another writer for at most `wait` seconds.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, wait: f64) -> PyResult<Self> {
        let options = WriteOptions { wait: destination::wait(wait), ..WriteOptions::default() };
        let change = monitor::run(py, |monitor| entasis::Change::begin(&path, &options, monitor))?;
        Ok(Self { change: Some(change) })
    }

    /// Whether the file's value is a single table without cells, to which rows can be appended in
    /// place.
    fn is_single_table(&self) -> bool {
        self.change.as_ref().is_some_and(|change| change.is_single_table())
    }

    /// Stores the value of the file anew, without what earlier changes left.
    fn compact(&mut self, py: Python<'_>, durable: Option<bool>) -> PyResult<()> {
        let change = self.take()?;
        let options = WriteOptions { durable: destination::durable(durable), ..WriteOptions::default() };
        monitor::run(py, |monitor| change.compact(&options, monitor))
    }

    /// Gives the lock back. The file stays as it is.
    fn end(&mut self) {
        self.change = None;
    }
}
