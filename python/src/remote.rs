//! Objects of Python that give ranges of bytes: `entasis._stores.remote.Remote`.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use entasis::{Ranges, RemoteSource};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyFileNotFoundError, PyPermissionError};
use pyo3::intern;
use pyo3::prelude::*;

/// The objects that may still be open, by their names in messages, as weak references.
static OPENED: Mutex<Vec<(String, Py<PyAny>)>> = Mutex::new(Vec::new());

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
    remember(py, &name, object)?;
    let ranges = PyRanges { object: object.clone().unbind(), n_parallel };
    let source = RemoteSource::new(ranges, len, vec![(0, head), (tail_at, tail)])?;
    Ok((source, PathBuf::from(name)))
}

/// Remembers an object while it lives.
fn remember(py: Python<'_>, name: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let reference = py.import("weakref")?.getattr("ref")?.call1((object,))?.unbind();
    let mut dead = known();
    dead.retain(|(_, reference)| reference.bind(py).call0().is_ok_and(|object| object.is_none()));
    let mut opened = lock();
    opened.retain(|(_, reference)| !dead.iter().any(|(_, other)| other.is(reference)));
    opened.push((name.to_owned(), reference));
    Ok(())
}

/// The error for an object of this name that was replaced since it was opened. A checksum that does
/// not match may be due to that.
pub fn replaced(py: Python<'_>, name: &str) -> Option<PyErr> {
    let found = known().into_iter().filter(|(known, _)| known == name);
    found.into_iter().find_map(|(_, reference)| {
        let object = reference.bind(py).call0().ok().filter(|object| !object.is_none())?;
        let error = object.call_method0(intern!(py, "replaced")).ok()?;
        (!error.is_none()).then(|| PyErr::from_value(error))
    })
}

/// A copy of the list. Code of Python runs without the lock.
fn known() -> Vec<(String, Py<PyAny>)> {
    Python::attach(|py| {
        lock().iter().map(|(name, reference)| (name.clone(), reference.clone_ref(py))).collect()
    })
}

fn lock() -> MutexGuard<'static, Vec<(String, Py<PyAny>)>> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
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

/// An exception in an error. Its text has no name of a class, for the command.
#[derive(Debug)]
pub struct Raised {
    pub exception: PyErr,
    message: String,
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Raised {}

/// An exception as an error that `errors::raise` raises again.
pub fn to_io(py: Python<'_>, error: PyErr) -> io::Error {
    let message = if is_own(py, &error) { error.value(py).to_string() } else { error.to_string() };
    io::Error::new(kind_of(py, &error), Raised { exception: error, message })
}

/// Whether an exception is one of `entasis.errors`, whose texts are sentences.
fn is_own(py: Python<'_>, error: &PyErr) -> bool {
    let class = py.import("entasis.errors").and_then(|errors| errors.getattr("EntasisError"));
    class.is_ok_and(|class| error.matches(py, class).unwrap_or(false))
}

fn kind_of(py: Python<'_>, error: &PyErr) -> ErrorKind {
    if error.is_instance_of::<PyFileNotFoundError>(py) {
        ErrorKind::NotFound
    } else if error.is_instance_of::<PyPermissionError>(py) {
        ErrorKind::PermissionDenied
    } else {
        ErrorKind::Other
    }
}
