//! Dicts with room for all of their keys from the beginning.
//!
//! Python's interface fills a dict key by key, and its table is made anew each time that it is full: half of the time of a large dict. The
//! keywords of a call are a dict too, which Python makes at once from their names and values: with room for all of them, as long as these are no more than two thirds of 2^17.
//! So a dict is had from a call whose callee gives its keywords back. Python makes that dict where the callee has no quicker way to
//! be called (`PyObject_Vectorcall`, which calls `tp_call`), and keeps no hold of it.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use entasis::CellKind;
use entasis::cells::{Children, Slice};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::Maker;
use super::objects::{Items, Objects};
use crate::cpython::symbols;

/// Fewer keys are put in as quickly.
const LEAST: usize = 16;
/// As many keys Python makes room for at once: two thirds of 2^17.
const MOST: usize = (1 << 18) / 3;
/// Keys and values that are made before they are put in.
const TOGETHER: u64 = 512;

type Vectorcall = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    usize,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

impl<'a, 'py> Maker<'a, 'py> {
    /// A dict of values without parts, and of such keys of its own; none when it is another.
    pub(super) fn plain_dict(
        &mut self,
        slice: &'a Slice,
        children: &Children,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let (first, n) = (children.first, children.count);
        if !slice.are_all(first..first + 2 * n, CellKind::is_scalar) {
            return Ok(None);
        }
        let mut values = Objects::new(slice, first, first + n);
        let mut keys = Objects::keys(slice, first + n, first + 2 * n);
        let are_names = slice.are_all(first + n..first + 2 * n, |kind| kind == CellKind::Str);
        let n_names = if are_names { n_names(n as usize) as u64 } else { 0 };
        let dict = if n_names > 0 {
            let mut names = Items::new(self.py, CellKind::Tuple, n_names)?;
            let mut named = Items::Parts(Vec::with_capacity(n_names as usize));
            keys.fill(self, &mut names, n_names)?;
            values.fill(self, &mut named, n_names)?;
            match (names, named) {
                (Items::Tuple(names, _), Items::Parts(named)) => from_names(&names, &named)?,
                _ => return Err(self.corrupt("nothing is made")),
            }
        } else {
            PyDict::new(self.py)
        };
        for from in (n_names..n).step_by(TOGETHER as usize) {
            let [some_keys, some_values] = self.together(&mut keys, &mut values, TOGETHER.min(n - from))?;
            for (i, (key, value)) in (from..).zip(some_keys.into_iter().zip(some_values)) {
                dict.set_item(key, value)?;
                self.look_up(i)?;
            }
        }
        self.whole(dict.len() as u64 == n)?;
        Ok(Some(dict))
    }

    /// The next `n` keys and values.
    fn together(
        &mut self,
        keys: &mut Objects<'a>,
        values: &mut Objects<'a>,
        n: u64,
    ) -> PyResult<[Vec<Bound<'py, PyAny>>; 2]> {
        let [mut some_keys, mut some_values] = [(); 2].map(|()| Items::Parts(Vec::with_capacity(n as usize)));
        keys.fill(self, &mut some_keys, n)?;
        values.fill(self, &mut some_values, n)?;
        match (some_keys, some_values) {
            (Items::Parts(keys), Items::Parts(values)) => Ok([keys, values]),
            _ => Err(self.corrupt("nothing is made")),
        }
    }
}

/// A dict of these keys and as many values. It has fewer where keys are equal.
pub fn of<'py>(
    py: Python<'py>,
    keys: &[Bound<'py, PyAny>],
    values: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyDict>> {
    let n_names = n_names(keys.len().min(values.len()));
    let are_names = n_names > 0 && keys.iter().all(|key| key.cast_exact::<PyString>().is_ok());
    let n_names = if are_names { n_names } else { 0 };
    let dict = if are_names {
        from_names(&PyTuple::new(py, &keys[..n_names])?, &values[..n_names])?
    } else {
        PyDict::new(py)
    };
    for (key, value) in keys.iter().zip(values).skip(n_names) {
        dict.set_item(key, value)?;
    }
    Ok(dict)
}

/// The first keys of a dict of `n`: as many as a call can have for names. Zero where it is to be filled key by key.
fn n_names(n: usize) -> usize {
    if n < LEAST || vectorcall().is_none() { 0 } else { n.min(MOST) }
}

/// A dict of these keys, which are strings, and as many values. It has fewer where keys are equal.
fn from_names<'py>(
    names: &Bound<'py, PyTuple>,
    values: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyDict>> {
    let py = names.py();
    assert_eq!(names.len(), values.len(), "a name for each value");
    let Some(vectorcall) = vectorcall() else {
        let dict = PyDict::new(py);
        for (name, value) in names.iter_borrowed().zip(values) {
            dict.set_item(name, value)?;
        }
        return Ok(dict);
    };
    let callee = callee(py)?;
    // SAFETY: as many values as there are names, by the assertion; a `Bound` is a pointer to a live object. Gives a new reference, or null
    // with an error set.
    let made = unsafe {
        let made = vectorcall(callee.as_ptr(), values.as_ptr().cast(), 0, names.as_ptr());
        Bound::from_owned_ptr_or_err(py, made)?
    };
    Ok(made.cast_into_exact::<PyDict>()?)
}

/// What Python calls: gives the keywords back.
unsafe extern "C" fn keywords(
    _: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: null, where there are none, or a dict that lives until this returns.
    unsafe { if keywords.is_null() { ffi::PyDict_New() } else { ffi::Py_NewRef(keywords) } }
}

/// An object that can be called, and in no other way than by `tp_call`.
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
        // SAFETY: a type as `object`, with a function of the type that the slot has. Its name is static, the rest is copied.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
        Ok(class.call0()?.unbind())
    })?;
    Ok(callee.bind(py))
}

/// `PyObject_Vectorcall`, which all versions from 3.11 on have, and the stable interface from 3.12 on.
fn vectorcall() -> Option<Vectorcall> {
    static FOUND: OnceLock<Option<Vectorcall>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = symbols::find(c"PyObject_Vectorcall")?;
        // SAFETY: a function of that type.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, Vectorcall>(found) })
    })
}
