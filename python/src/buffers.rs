//! Compresses, decompresses and hashes the bytes of Python objects.

use entasis::buffers::{self, Container, Input, Options};
use entasis::{Codec, Error, HostRead};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{errors, monitor};

/// The memory that an object lends by the buffer protocol, released on drop. The object may change
/// the bytes meanwhile, but not move them.
struct Lease(Box<ffi::Py_buffer>);

impl Lease {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        let flags = ffi::PyBUF_ANY_CONTIGUOUS | ffi::PyBUF_FORMAT;
        // SAFETY: we hold the GIL, the object is alive, and `view` is ours to fill.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) } != 0 {
            return Err(refused(object, &PyErr::fetch(object.py())));
        }
        let lease = Self(view);
        if lease.has_objects() {
            let message = "an array of objects holds addresses, not values";
            return Err(errors::unsupported(object.py(), message));
        }
        Ok(lease)
    }

    /// Whether some element is a pointer to an object: the format has an `O` outside of names
    /// (`:name:`).
    fn has_objects(&self) -> bool {
        if self.0.format.is_null() {
            return false;
        }
        // SAFETY: the format of a buffer is a C string that lives as long as the buffer.
        let format = unsafe { std::ffi::CStr::from_ptr(self.0.format) };
        format.to_bytes().split(|&byte| byte == b':').step_by(2).any(|outside| outside.contains(&b'O'))
    }

    /// The memory. It may be used as long as the lease lives.
    fn memory(&self) -> HostRead {
        // SAFETY: the exporter keeps the memory in place until the buffer is released, and only our
        // drop releases it. A contiguous buffer has `len` bytes in a row, which is at most
        // `isize::MAX`.
        unsafe { HostRead::new(self.0.buf.cast(), usize::try_from(self.0.len).unwrap_or(0)) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // SAFETY: `new` filled the view. The functions below hold the GIL when they drop a lease.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.0) };
    }
}

/// The exception for an object that does not lend its memory in one piece.
#[cold]
fn refused(object: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let py = object.py();
    let name = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    if error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) {
        let instead =
            if name == "str" { "encode it first" } else { "of other values take entasis.to_bytes(value)" };
        let message = format!(
            "{name} is not supported, only what has the buffer protocol: bytes, bytearray, memoryview, \
             NumPy arrays, mmap; {instead}"
        );
        return errors::unsupported(py, message);
    }
    let message = format!(
        "{name} does not lend its memory: {error}; numpy.ascontiguousarray makes an array contiguous"
    );
    errors::new(py, "ArgumentError", message)
}

/// Runs `work` on the bytes of an object.
fn with_input<T>(object: &Bound<'_, PyAny>, work: impl FnOnce(Input<'_>) -> PyResult<T>) -> PyResult<T> {
    // A `bytes` object is immutable, so its memory may be a slice.
    match object.cast_exact::<PyBytes>() {
        Ok(bytes) => work(Input::Slice(bytes.as_bytes())),
        Err(_) => {
            let lease = Lease::new(object)?;
            work(Input::Host(lease.memory()))
        }
    }
}

/// A new `bytes` object of `len` bytes. `fill` writes all of them, or returns an error.
fn new_bytes<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyBytes>> {
    if len == 0 {
        fill(&mut [])?;
        return Ok(PyBytes::new(py, b""));
    }
    let too_large = || {
        let error = Error::out_of_memory(len, "the bytes").advise("free some memory");
        errors::raise(py, &error)
    };
    let size = ffi::Py_ssize_t::try_from(len).map_err(|_| too_large())?;
    // SAFETY: we hold the GIL. Without a source, the bytes of the object are undefined until we
    // fill them.
    let object = unsafe { ffi::PyBytes_FromStringAndSize(std::ptr::null(), size) };
    // SAFETY: the function returns a new reference, or null with an exception set.
    let Ok(object) = (unsafe { Bound::from_owned_ptr_or_err(py, object) }) else { return Err(too_large()) };
    // SAFETY: it is a `bytes` object.
    let memory =
        unsafe { std::slice::from_raw_parts_mut(ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>(), len) };
    // The slice is sound: the object has `len` bytes, and nothing else knows it yet. Its memory
    // comes from another allocator, so the compiler must assume that its bytes are initialised. If
    // `fill` fails, the object is dropped before anybody reads it.
    buffers::ask_for_huge_pages(memory);
    fill(memory)?;
    Ok(object.cast_into::<PyBytes>()?)
}

/// Compresses the bytes of an object.
#[pyfunction]
#[pyo3(signature = (data, codec, level, threads))]
pub fn compress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    codec: &str,
    level: Option<i32>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let codec = Codec::ALL.iter().copied().find(|known| *known != Codec::None && known.name() == codec);
    let codec = codec.ok_or_else(|| errors::new(py, "ArgumentError", "codec is \"lz4\" or \"zstd\""))?;
    let options = Options { level, ..Options::new(codec) };
    let compressed = with_input(data, |input| {
        monitor::run(py, |monitor| buffers::compress(input, &options, threads, monitor))
    })?;
    new_bytes(py, compressed.len(), |out| monitor::run(py, |monitor| compressed.write(out, threads, monitor)))
}

/// Decompresses the bytes of an object.
#[pyfunction]
#[pyo3(signature = (data, threads, max_len))]
pub fn decompress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    threads: Option<usize>,
    max_len: Option<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    with_input(data, |input| {
        let container = Container::open(input, max_len).map_err(|error| errors::raise(py, &error))?;
        new_bytes(py, container.decoded_len(), |out| {
            monitor::run(py, |monitor| container.read(out, threads, monitor))
        })
    })
}

/// The hash of the bytes of an object.
#[pyfunction]
#[pyo3(signature = (data, seed, threads))]
pub fn hash(py: Python<'_>, data: &Bound<'_, PyAny>, seed: u64, threads: Option<usize>) -> PyResult<u64> {
    with_input(data, |input| monitor::run(py, |monitor| buffers::hash(input, seed, threads, monitor)))
}
