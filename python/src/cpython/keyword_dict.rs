//! Dicts that have room for all their keys from the start.
//!
//! The stable interface fills a dict key by key, and CPython allocates its table anew each time
//! that it is full. That takes half the time of making a large dict. CPython also makes a dict from
//! the keywords of a call, and knows their number beforehand. So a large dict is the keywords of a
//! call to a function that returns them.
//!
//! `PyObject_Vectorcall` makes a dict of the keywords if the callee implements `tp_call` alone.
//! Nobody else has a reference to that dict.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::feature::Feature;
use super::symbols;

/// Smaller dicts are filled key by key just as quickly.
const MIN_KEYS: usize = 16;
/// CPython reserves room for at most this many keys: two thirds of 2^17. For exactly this many it
/// takes 2^18 slots.
const MAX_KEYS: usize = (1 << 18) / 3;

type Vectorcall = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    usize,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Whether this interpreter has what keyword dicts need.
pub fn is_available() -> bool {
    vectorcall().is_some()
}

/// How many keys of a dict of `n` strings are passed to [`from_names`]; zero if none should be. The
/// others are added afterwards.
pub fn n_names(n: usize) -> usize {
    if n < MIN_KEYS || !Feature::KeywordDicts.is_enabled() || !is_available() {
        0
    } else if n > MAX_KEYS {
        MAX_KEYS
    } else {
        // With all of `MAX_KEYS` keys the table would be twice as large as it has to be.
        n.min(MAX_KEYS - 1)
    }
}

/// A dict of these keys, which are strings, and as many values. It has fewer items if keys are
/// equal.
///
/// # Panics
/// If there are not as many values as keys.
pub fn from_names<'py>(
    names: &Bound<'py, PyTuple>,
    values: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyDict>> {
    let py = names.py();
    assert_eq!(names.len(), values.len(), "a value for each key");
    let Some(vectorcall) = vectorcall() else {
        let dict = PyDict::new(py);
        for (name, value) in names.iter_borrowed().zip(values) {
            dict.set_item(name, value)?;
        }
        return Ok(dict);
    };
    let callee = callee(py)?;
    // SAFETY: there are as many values as names, by the assertion, and a `Bound` is a pointer to a
    // live object. The function returns a new reference, or null with an exception set.
    let made = unsafe {
        let made = vectorcall(callee.as_ptr(), values.as_ptr().cast(), 0, names.as_ptr());
        Bound::from_owned_ptr_or_err(py, made)?
    };
    Ok(made.cast_into_exact::<PyDict>()?)
}

/// The `tp_call` of the callee: returns the keywords.
///
/// # Safety
/// `keywords` must be null or a dict. CPython calls this function, with its lock held.
unsafe extern "C" fn keywords(
    _: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes null, or a dict that lives until this function returns.
    unsafe { if keywords.is_null() { ffi::PyDict_New() } else { ffi::Py_NewRef(keywords) } }
}

/// An object that implements `tp_call` and no vectorcall.
fn callee(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CALLEE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let callee = CALLEE.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        let mut slots = [
            ffi::PyType_Slot { slot: ffi::Py_tp_call, pfunc: keywords as *mut c_void },
            ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() },
        ];
        let mut spec = ffi::PyType_Spec {
            name: c"entasis._entasis.Keywords".as_ptr(),
            basicsize: size_of::<ffi::PyObject>() as c_int,
            itemsize: 0,
            flags: ffi::Py_TPFLAGS_DEFAULT as u32,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: the type has the layout of `object`, and its one slot holds a function of the
        // type that the slot needs. The name is static; CPython copies the rest.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
        Ok(class.call0()?.unbind())
    })?;
    Ok(callee.bind(py))
}

/// `PyObject_Vectorcall`: documented since CPython 3.9, in the stable interface since 3.12.
fn vectorcall() -> Option<Vectorcall> {
    static FOUND: OnceLock<Option<Vectorcall>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = symbols::find(c"PyObject_Vectorcall")?;
        // SAFETY: CPython documents the function with this signature.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, Vectorcall>(found) })
    })
}
