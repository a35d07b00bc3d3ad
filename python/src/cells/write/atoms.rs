//! Builtin scalars. They are borrowed, and no Python code runs: the fast path for most objects of a
//! tree.

use entasis::CellKind;
use entasis::cells::{CellWriter, Scalars};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use pyo3::{Borrowed, ffi};

use super::SAMPLE;
use super::number_values::{float, int};
use super::numbers::put_numbers;

/// Strings and bytes objects of this many bytes or more are stored once if they are shared.
pub const SHARED_LEN: usize = 256;

/// The destination of scalars: cells, or the values of a column of rows.
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

/// The type of a builtin scalar, subclasses excluded.
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
    // Only the addresses of these static types are used.
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

/// The number of references to an object.
#[inline]
pub fn references(object: Borrowed<'_, '_, PyAny>) -> isize {
    // SAFETY: the object is alive, and we hold the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// Adds a scalar. Returns false for any other object, and for a long string or bytes object that
/// may be shared. No Python code runs.
#[inline]
pub fn put<S: Sink>(object: Borrowed<'_, '_, PyAny>, out: &mut S) -> bool {
    match atom(object) {
        Atom::Str => {
            // SAFETY: its type is exactly `str`.
            let text = unsafe { object.cast_unchecked::<PyString>() };
            let Ok(text) = text.to_str() else { return false };
            if text.len() >= SHARED_LEN && references(object) > 1 {
                return false;
            }
            out.text(CellKind::Str, text);
        }
        // SAFETY: its type is exactly `int`.
        Atom::Int => match unsafe { int(object.as_ptr()) } {
            Some(value) => out.int(CellKind::Int, value),
            None => return false,
        },
        // SAFETY: its type is exactly `float`.
        Atom::Float => out.float(CellKind::Float, unsafe { float(object.as_ptr()) }),
        Atom::None => out.unit(CellKind::Null),
        Atom::Bool => {
            // SAFETY: `Py_True` returns the address of a static object.
            let is_true = object.as_ptr() == unsafe { ffi::Py_True() };
            out.unit(if is_true { CellKind::True } else { CellKind::False });
        }
        Atom::Bytes => {
            // SAFETY: its type is exactly `bytes`.
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

/// An item of a list, borrowed. None after the end of the list.
#[inline]
pub fn item<'a, 'py>(list: &'a Bound<'py, PyList>, i: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: the list is alive. Its item is a borrowed reference, or null after the end of the
    // list. It stays alive while no Python code runs, as we hold the GIL.
    unsafe {
        let item = ffi::PyList_GetItem(list.as_ptr(), i as isize);
        if item.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(Borrowed::from_ptr(list.py(), item))
    }
}

/// Adds the items of a list from `from` on, up to the first that is not a scalar. Returns the
/// index where it stopped.
pub fn put_items(
    list: &Bound<'_, PyList>,
    from: usize,
    compression: u8,
    out: &mut CellWriter,
) -> PyResult<usize> {
    let n = list.len();
    let mut i = from;
    // `item` raises and clears an exception after the end of the list, so the length is checked
    // first.
    while i < n
        && let Some(object) = item(list, i)
    {
        if !put(object, out) {
            return Ok(i);
        }
        i += 1;
        // A number is likely to have a neighbour of its type.
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
