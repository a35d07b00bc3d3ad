//! Streams of the C stream interface whose arrays a Python iterator makes when the consumer asks.
//!
//! Consumers call a stream from any thread, with or without the GIL, and may keep it until the
//! interpreter has ended.

use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCFunction, PyIterator};

use super::export::{self, Data, Kind};
use super::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};

/// Numbers of errors, which are the same on all platforms.
const EINTR: c_int = 4;
const EIO: c_int = 5;
const ENOMEM: c_int = 12;
const EINVAL: c_int = 22;

/// The thread that shuts the interpreter down, once the shutdown has begun. After that, CPython
/// ends or hangs any other thread that attaches.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// The type and the values of an item of the iterator.
pub type Parts = fn(&Bound<'_, PyAny>) -> PyResult<(Arc<Kind>, Data)>;

struct Owner {
    kind: Arc<Kind>,
    /// None after the end. Locked with the GIL released, as the iterator releases the GIL too.
    items: Mutex<Option<Py<PyIterator>>>,
    parts: Parts,
    /// The number and the message of the error that ended the stream.
    failure: OnceLock<(c_int, CString)>,
}

impl Owner {
    /// The next array, or a released one at the end. `Err` has the errno.
    fn next(&self) -> Result<ArrowArray, c_int> {
        if let Some(&(code, _)) = self.failure.get() {
            return Err(code);
        }
        match catch_unwind(AssertUnwindSafe(|| attached(|py| self.next_of(py)))) {
            Ok(Some(Ok(next))) => Ok(next.map_or_else(ArrowArray::empty, |data| export::array(&data))),
            Ok(Some(Err((code, message)))) => Err(self.fail(code, message)),
            Ok(None) => Err(self.fail(EIO, "Python is shutting down".to_owned())),
            Err(_) => Err(self.fail(EIO, "a defect of Entasis: reading panicked".to_owned())),
        }
    }

    fn next_of(&self, py: Python<'_>) -> Result<Option<Data>, (c_int, String)> {
        let mut items = self.items.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let Some(iterator) = items.as_ref() else { return Ok(None) };
        let next = iterator.bind(py).clone().next();
        let next = next.transpose().and_then(|item| item.map(|item| (self.parts)(&item)).transpose());
        let failed = match next {
            Ok(Some((kind, data))) if kind == self.kind => return Ok(Some(data)),
            Ok(Some(_)) => (EINVAL, "the next rows have another type than the stream".to_owned()),
            Ok(None) => {
                *items = None;
                return Ok(None);
            }
            Err(error) => described(py, &error),
        };
        *items = None;
        if failed.0 == EINTR {
            // The consumer gets only a number, so the signal is set again and the main thread
            // raises the exception. A call of Python before that would consume the signal.
            // SAFETY: the call needs only an initialised interpreter, which `py` proves.
            unsafe { ffi::PyErr_SetInterrupt() };
        }
        Err(failed)
    }

    fn fail(&self, code: c_int, message: String) -> c_int {
        let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        self.failure.get_or_init(|| (code, message)).0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let items = self.items.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Without an interpreter to attach to, pyo3 only records that a reference is gone.
        _ = catch_unwind(AssertUnwindSafe(|| items.map(|items| attached(|_| drop(items)))));
    }
}

/// Holds the GIL while it lives.
struct Gil(ffi::PyGILState_STATE);

impl Gil {
    /// None if the interpreter is shutting down.
    fn take() -> Option<Self> {
        let is_late = ENDING.get().is_some_and(|&ending| ending != thread::current().id());
        // SAFETY: `Py_IsInitialized` can be called at any time.
        if is_late || unsafe { ffi::Py_IsInitialized() } == 0 {
            return None;
        }
        // SAFETY: the interpreter is initialised and does not end this thread, as checked above.
        Some(Self(unsafe { ffi::PyGILState_Ensure() }))
    }
}

impl Drop for Gil {
    fn drop(&mut self) {
        // SAFETY: only `take` makes this value, so the state is that of `PyGILState_Ensure` in this
        // thread, and values inside one another are dropped in reverse order.
        unsafe { ffi::PyGILState_Release(self.0) };
    }
}

/// Calls a function with the GIL. Returns None, and does not call it, if the interpreter is
/// shutting down.
///
/// pyo3 alone is not enough. It assumes that a thread still holds the GIL that it took there, but a
/// consumer that Python called in between may have released it.
fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let _gil = Gil::take()?;
    Python::try_attach(work)
}

/// The number and the message of an exception.
fn described(py: Python<'_>, error: &PyErr) -> (c_int, String) {
    let code = if error.is_instance_of::<PyMemoryError>(py) {
        ENOMEM
    } else if error.is_instance_of::<PyOSError>(py) {
        EIO
    } else if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        EINTR
    } else {
        EINVAL
    };
    let of_class = error.get_type(py);
    let name = of_class.name().map(|name| name.to_string()).unwrap_or_default();
    let message = error.value(py).str().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    (code, if message.is_empty() { name } else { format!("{name}: {message}") })
}

/// Makes `attached` refuse in other threads once the interpreter runs the functions of `atexit`.
fn watch_exit(py: Python<'_>) -> PyResult<()> {
    static WATCHED: Once = Once::new();
    if WATCHED.is_completed() {
        return Ok(());
    }
    let ending = PyCFunction::new_closure(py, None, None, |_, _| _ = ENDING.set(thread::current().id()))?;
    py.import("atexit")?.call_method1("register", (ending,))?;
    WATCHED.call_once(|| ());
    Ok(())
}

/// A stream of arrays of one type. `parts` takes the items of the iterator apart.
pub fn stream(
    py: Python<'_>,
    kind: Arc<Kind>,
    items: Bound<'_, PyIterator>,
    parts: Parts,
) -> PyResult<ArrowArrayStream> {
    watch_exit(py)?;
    let owner = Owner { kind, items: Mutex::new(Some(items.unbind())), parts, failure: OnceLock::new() };
    Ok(ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(owner)).cast(),
    })
}

/// The owner of a stream.
///
/// # Safety
/// `stream` must be a structure that [`stream`] made and that was not released. The owner must not
/// be used after its release.
unsafe fn owner<'s>(stream: *mut ArrowArrayStream) -> &'s Owner {
    // SAFETY: the private data of such a stream is our box, which `release` alone drops.
    unsafe { &*(*stream).private_data.cast::<Owner>() }
}

/// Writes the schema of the stream.
///
/// # Safety
/// `stream` must be a structure that [`stream`] made and that was not released; `out` must be
/// writable.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the interface requires of the importer what this function requires of its arguments.
    unsafe { ptr::write(out, export::schema(&owner(stream).kind)) };
    0
}

/// Writes the next array of the stream.
///
/// # Safety
/// As for [`get_schema`].
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`. Other threads may use the owner too, as it is only shared.
    match unsafe { owner(stream) }.next() {
        Ok(array) => {
            // SAFETY: as in `get_schema`.
            unsafe { ptr::write(out, array) };
            0
        }
        Err(code) => code,
    }
}

/// The message of the error that ended the stream. It lives as long as the stream.
///
/// # Safety
/// `stream` must be a structure that [`stream`] made and that was not released.
unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: the interface requires of the importer what this function requires of its argument.
    unsafe { owner(stream) }.failure.get().map_or(ptr::null(), |(_, message)| message.as_ptr())
}

/// Frees what [`stream`] made.
///
/// # Safety
/// `stream` must be a structure that [`stream`] made and that was not released.
unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: the importer calls this once, with a structure that `stream` made, and no longer uses
    // the owner in other threads. The private data is our box.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Owner>()));
        (*stream).release = None;
    }
}
