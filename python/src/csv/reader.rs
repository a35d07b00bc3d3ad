//! Reads objects of Python.

use std::io::{Error, Read, Result};

use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

/// An object with a method `read`, which returns bytes or text.
pub struct PyReader {
    object: Py<PyAny>,
    /// Bytes that were returned and not taken yet.
    rest: Vec<u8>,
    at: usize,
}

impl PyReader {
    pub fn new(object: Py<PyAny>) -> Self {
        Self { object, rest: Vec::new(), at: 0 }
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
            self.rest = read.map_err(|error| Error::other(error.to_string()))?;
            self.at = 0;
        }
        let rest = &self.rest[self.at..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}
