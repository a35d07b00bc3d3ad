//! The values of ints and floats of Python.

use std::ffi::c_int;

use pyo3::ffi;

/// The value of an int, if it fits into 64 bits.
///
/// # Safety
/// The object is alive, and has exactly the type `int`.
#[inline]
pub unsafe fn int(object: *mut ffi::PyObject) -> Option<i64> {
    let mut overflow: c_int = 0;
    // SAFETY: the object is an int, for which the call cannot fail.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow) };
    (overflow == 0).then_some(value)
}

/// The value of a float.
///
/// # Safety
/// The object is alive, and has exactly the type `float`.
#[inline]
pub unsafe fn float(object: *mut ffi::PyObject) -> f64 {
    // SAFETY: the object is a float, for which the call cannot fail.
    unsafe { ffi::PyFloat_AsDouble(object) }
}
