//! Objects that are whole by themselves, put where they belong without taking hold of them: the way of most objects of a tree.

use std::ffi::c_int;

use entasis::CellKind;
use entasis::cells::{CellWriter, Scalars};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use pyo3::{Borrowed, ffi};

use super::SAMPLE;
use super::numbers::put_numbers;

/// Strings and bytes of that many bytes and more are stored once, however often they are met.
pub const SHARED_LEN: usize = 256;

/// What values without parts are put into.
pub trait Sink {
    fn unit(&mut self, kind: CellKind);
    fn int(&mut self, kind: CellKind, value: i64);
    fn float(&mut self, kind: CellKind, value: f64);
    fn text(&mut self, kind: CellKind, value: &str);
    fn bytes(&mut self, kind: CellKind, value: &[u8]);
}

macro_rules! sink {
    ($($of:ty),*) => {$(
        impl Sink for $of {
            #[inline]
            fn unit(&mut self, kind: CellKind) {
                Self::unit(self, kind)
            }
            #[inline]
            fn int(&mut self, kind: CellKind, value: i64) {
                Self::int(self, kind, value)
            }
            #[inline]
            fn float(&mut self, kind: CellKind, value: f64) {
                Self::float(self, kind, value)
            }
            #[inline]
            fn text(&mut self, kind: CellKind, value: &str) {
                Self::text(self, kind, value)
            }
            #[inline]
            fn bytes(&mut self, kind: CellKind, value: &[u8]) {
                Self::bytes(self, kind, value)
            }
        }
    )*};
}
sink!(CellWriter, Scalars);

/// What an object is, by its exact type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Atom {
    Str,
    Int,
    Float,
    None,
    Bool,
    Bytes,
    Other,
}

#[inline]
pub fn atom(object: Borrowed<'_, '_, PyAny>) -> Atom {
    let of = object.get_type_ptr();
    // The addresses of static types, which are not looked into.
    if of == &raw mut ffi::PyUnicode_Type {
        Atom::Str
    } else if of == &raw mut ffi::PyLong_Type {
        Atom::Int
    } else if of == &raw mut ffi::PyFloat_Type {
        Atom::Float
    } else if object.is_none() {
        Atom::None
    } else if of == &raw mut ffi::PyBool_Type {
        Atom::Bool
    } else if of == &raw mut ffi::PyBytes_Type {
        Atom::Bytes
    } else {
        Atom::Other
    }
}

/// The value of an exact int, if it has 64 bits.
///
/// # Safety
/// The object is live, and an int.
#[inline]
pub unsafe fn int(object: *mut ffi::PyObject) -> Option<i64> {
    let mut overflow: c_int = 0;
    // SAFETY: an int, which this call can always be made of.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow) };
    (overflow == 0).then_some(value)
}

/// The value of an exact float.
///
/// # Safety
/// The object is live, and a float.
#[inline]
pub unsafe fn float(object: *mut ffi::PyObject) -> f64 {
    // SAFETY: a float, which this call can always be made of.
    unsafe { ffi::PyFloat_AsDouble(object) }
}

/// How many references there are to an object.
#[inline]
pub fn references(object: Borrowed<'_, '_, PyAny>) -> isize {
    // SAFETY: the pointer is that of a live object, and we hold the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// Puts an object where it belongs; false when it is none of those that are dealt with here, or one that may be met again. No code of Python is run.
#[inline]
pub fn put<S: Sink>(object: Borrowed<'_, '_, PyAny>, out: &mut S) -> bool {
    match atom(object) {
        Atom::Str => {
            // SAFETY: its exact type is that of strings.
            let text = unsafe { object.cast_unchecked::<PyString>() };
            let Ok(text) = text.to_str() else { return false };
            if text.len() >= SHARED_LEN && references(object) > 1 {
                return false;
            }
            out.text(CellKind::Str, text);
        }
        // SAFETY: its exact type is that of ints.
        Atom::Int => match unsafe { int(object.as_ptr()) } {
            Some(value) => out.int(CellKind::Int, value),
            None => return false,
        },
        // SAFETY: its exact type is that of floats.
        Atom::Float => out.float(CellKind::Float, unsafe { float(object.as_ptr()) }),
        Atom::None => out.unit(CellKind::Null),
        Atom::Bool => {
            // SAFETY: `True` is one object.
            let is_true = object.as_ptr() == unsafe { ffi::Py_True() };
            out.unit(if is_true { CellKind::True } else { CellKind::False });
        }
        Atom::Bytes => {
            // SAFETY: its exact type is that of bytes.
            let bytes = unsafe { object.cast_unchecked::<PyBytes>() };
            if bytes.as_bytes().len() >= SHARED_LEN && references(object) > 1 {
                return false;
            }
            out.bytes(CellKind::Bytes, bytes.as_bytes());
        }
        Atom::Other => return false,
    }
    true
}

/// An item of a list, as long as the list has it.
#[inline]
pub fn item<'a, 'py>(list: &'a Bound<'py, PyList>, i: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: the list is live; its item is borrowed, and null behind the end. It stays while no code of Python is run.
    unsafe {
        let item = ffi::PyList_GetItem(list.as_ptr(), i as isize);
        if item.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(Borrowed::from_ptr(list.py(), item))
    }
}

/// Puts the items of a list from `from` on, as many as can be put. Returns the first that can't, or the end.
pub fn put_items(
    list: &Bound<'_, PyList>,
    from: usize,
    compression: u8,
    out: &mut CellWriter,
) -> PyResult<usize> {
    let n = list.len();
    let mut i = from;
    // A place that the list has not is looked for at the price of an exception.
    while i < n
        && let Some(object) = item(list, i)
    {
        if !put(object, out) {
            return Ok(i);
        }
        i += 1;
        // Numbers have neighbours like them.
        let kind = atom(object);
        let is_number = matches!(kind, Atom::Int | Atom::Float);
        if is_number && i < n && item(list, i).is_some_and(|next| atom(next) == kind) {
            i = match kind {
                Atom::Int => put_numbers::<i64>(list, i, n, compression, out)?,
                _ => put_numbers::<f64>(list, i, n, compression, out)?,
            };
        } else if i == from + SAMPLE {
            out.expect(n - i, SAMPLE);
        }
    }
    Ok(i)
}
