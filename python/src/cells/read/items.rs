//! The containers that objects are put into.

use entasis::CellKind;
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A list of this many items or more gets new pages from the system.
const LONG: usize = 16 << 10;

/// The container that the children of a cell are put into.
pub enum Items<'py> {
    /// A list of the final length, filled from the start. The number is the next index.
    List(Bound<'py, PyList>, isize),
    /// A tuple, likewise.
    Tuple(Bound<'py, PyTuple>, isize),
    /// Objects from which another container or object is made.
    Parts(Vec<Bound<'py, PyAny>>),
}

impl<'py> Items<'py> {
    /// A container for `n` objects. Their cells must be in memory, so that a false number in a file
    /// cannot cause a large allocation.
    pub fn new(py: Python<'py>, kind: CellKind, n: u64) -> PyResult<Self> {
        let n = usize::try_from(n).ok().filter(|&n| isize::try_from(n).is_ok());
        let n = n.ok_or_else(|| PyMemoryError::new_err("a value of too many parts"))?;
        Ok(match kind {
            CellKind::List => Self::List(new_list(py, n)?, 0),
            CellKind::Tuple => {
                // SAFETY: returns a new reference to a tuple, or null with an exception set.
                let tuple = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(n as isize))? };
                Self::Tuple(tuple.cast_into()?, 0)
            }
            _ => Self::Parts(Vec::with_capacity(n)),
        })
    }

    /// Adds an object.
    #[inline]
    pub fn push(&mut self, object: Bound<'py, PyAny>) -> PyResult<()> {
        match self {
            Self::List(list, next) => {
                put(list, *next, object)?;
                *next += 1;
            }
            Self::Tuple(tuple, next) => {
                // SAFETY: the function takes over the reference, even if it fails. Nothing else
                // refers to the new tuple.
                let failed = unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), *next, object.into_ptr()) };
                if failed != 0 {
                    return Err(PyErr::fetch(tuple.py()));
                }
                *next += 1;
            }
            Self::Parts(parts) => parts.push(object),
        }
        Ok(())
    }

    /// Adds `n` objects.
    #[inline]
    pub fn extend(
        &mut self,
        n: usize,
        mut make: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        match self {
            Self::List(list, next) => {
                for i in 0..n {
                    put(list, *next, make(i)?)?;
                    *next += 1;
                }
            }
            Self::Tuple(..) => (0..n).try_for_each(|i| self.push(make(i)?))?,
            Self::Parts(parts) => {
                for i in 0..n {
                    parts.push(make(i)?);
                }
            }
        }
        Ok(())
    }
}

/// A list of `n` slots. The caller puts an item into each.
pub fn new_list(py: Python<'_>, n: usize) -> PyResult<Bound<'_, PyList>> {
    if n >= LONG {
        // `put` reads a slot before it writes it. On new pages that takes two page faults, so each
        // slot is written beforehand.
        let one = PyList::new(py, [py.None()])?;
        // SAFETY: returns a new reference to a list, or null with an exception set.
        let list =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PySequence_Repeat(one.as_ptr(), n as isize))? };
        return Ok(list.cast_into()?);
    }
    // SAFETY: returns a new reference to a list, or null with an exception set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(n as isize))? };
    Ok(list.cast_into()?)
}

/// Puts an item into a new list.
#[inline]
pub fn put<'py>(list: &Bound<'py, PyList>, i: isize, object: Bound<'py, PyAny>) -> PyResult<()> {
    // SAFETY: the function takes over the reference, even if it fails because
    // the list is shorter.
    if unsafe { ffi::PyList_SetItem(list.as_ptr(), i, object.into_ptr()) } != 0 {
        return Err(PyErr::fetch(list.py()));
    }
    Ok(())
}
