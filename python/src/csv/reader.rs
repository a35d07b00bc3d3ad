//! Reads objects of Python.

use std::io::{Error, Read, Result};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

/// An object with a method `read`, which returns bytes or text.
pub struct PyReader {
    object: Py<PyAny>,
    /// Bytes that were returned and not taken yet.
    rest: Vec<u8>,
    at: usize,
    raised: Raised,
}

/// The exception that ended a reading and is not an error, such as `KeyboardInterrupt`.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

impl PyReader {
    pub fn new(object: Py<PyAny>, raised: Raised) -> Self {
        Self { object, rest: Vec::new(), at: 0, raised }
    }
}

impl Read for PyReader {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.at == self.rest.len() {
            let read = Python::attach(|py| -> PyResult<Vec<u8>> {
                let found = self.object.bind(py).call_method1("read", (into.len().max(1 << 16),))?;
                if let Ok(bytes) = found.extract::<PyBackedBytes>() {
                    return Ok(bytes.to_vec());
                }
                Ok(found.extract::<PyBackedStr>()?.as_bytes().to_vec())
            });
            self.rest = read.map_err(|error| {
                let text = error.to_string();
                if Python::attach(|py| !error.is_instance_of::<PyException>(py)) {
                    *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Error::other(text)
            })?;
            self.at = 0;
        }
        let rest = &self.rest[self.at..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}
