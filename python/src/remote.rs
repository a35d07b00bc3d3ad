//! Files behind objects of Python that give ranges of bytes: `entasis._stores.remote.Remote`.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use entasis::{Ranges, RemoteSource};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyFileNotFoundError, PyPermissionError};
use pyo3::intern;
use pyo3::prelude::*;

/// Calls the object's `read_at`.
pub struct PyRanges {
    object: Py<PyAny>,
    n_parallel: usize,
}

/// The source of an object, and its name in messages.
pub fn source(object: &Bound<'_, PyAny>) -> PyResult<(RemoteSource<PyRanges>, PathBuf)> {
    let py = object.py();
    let len: u64 = object.getattr(intern!(py, "size"))?.extract()?;
    let name: String = object.getattr(intern!(py, "name"))?.extract()?;
    let n_parallel = object.getattr(intern!(py, "parallel"))?.extract()?;
    let bytes = |name| -> PyResult<Vec<u8>> {
        let buffer = PyBuffer::<u8>::get(&object.getattr(name)?)?;
        buffer.to_vec(py)
    };
    let (head, tail) = (bytes("head")?, bytes("tail")?);
    let tail_at = len.saturating_sub(tail.len() as u64);
    let ranges = PyRanges { object: object.clone().unbind(), n_parallel };
    let source = RemoteSource::new(ranges, len, vec![(0, head), (tail_at, tail)])?;
    Ok((source, PathBuf::from(name)))
}

impl PyRanges {
    fn fetch_into(&self, py: Python<'_>, at: u64, out: &mut [u8]) -> PyResult<()> {
        let found = self.object.bind(py).call_method1(intern!(py, "read_at"), (at, out.len()))?;
        let buffer = PyBuffer::<u8>::get(&found)?;
        if buffer.item_count() == out.len() {
            return buffer.copy_to_slice(py, out);
        }
        let message = format!("{} bytes were read where {} exist", buffer.item_count(), out.len());
        Err(io::Error::new(ErrorKind::InvalidData, message).into())
    }
}

impl Ranges for PyRanges {
    fn fetch(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let done = Python::try_attach(|py| self.fetch_into(py, at, out).map_err(|error| to_io(py, error)));
        done.unwrap_or_else(|| Err(io::Error::other("the interpreter ends")))
    }

    fn n_parallel(&self) -> usize {
        self.n_parallel
    }

    fn while_waiting(&self, work: &mut (dyn FnMut() + Send)) {
        // Releases the GIL if this thread has it.
        match Python::try_attach(|py| py.detach(&mut *work)) {
            Some(()) => {}
            None => work(),
        }
    }
}

/// An exception as an error that `errors::raise` raises again.
fn to_io(py: Python<'_>, error: PyErr) -> io::Error {
    let kind = if error.is_instance_of::<PyFileNotFoundError>(py) {
        ErrorKind::NotFound
    } else if error.is_instance_of::<PyPermissionError>(py) {
        ErrorKind::PermissionDenied
    } else {
        ErrorKind::Other
    };
    io::Error::new(kind, error)
}
