//! Objects of neighbouring scalar cells, and the containers that they are put into.

use std::ffi::c_long;

use entasis::CellKind;
use entasis::cells::{Run, Slice};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyTuple};

use super::Maker;
use super::strings::{HitRate, Use};

/// A list of this many items or more gets new pages from the system.
const LONG: usize = 16 << 10;

#[inline]
pub fn int(py: Python<'_>, value: i64) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: both functions return a new reference, or null with an exception set.
    unsafe {
        // `PyLong_FromLong` is faster for small numbers.
        let made = match c_long::try_from(value) {
            Ok(value) => ffi::PyLong_FromLong(value),
            Err(_) => ffi::PyLong_FromLongLong(value),
        };
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// `None`, `False` and `True`.
pub fn unit(py: Python<'_>, kind: CellKind) -> Bound<'_, PyAny> {
    match kind {
        CellKind::Null => py.None().into_bound(py),
        kind => PyBool::new(py, kind == CellKind::True).to_owned().into_any(),
    }
}

/// Whether the kind is one that `unit` makes.
#[inline]
pub fn is_unit(kind: CellKind) -> bool {
    matches!(kind, CellKind::Null | CellKind::False | CellKind::True)
}

/// An iterator over the objects of neighbouring scalar cells.
pub struct Objects<'a> {
    slice: &'a Slice,
    next: u64,
    end: u64,
    run: Run<'a>,
    at: usize,
    len: usize,
    hit_rate: HitRate,
    of_strings: Use,
}

impl<'a> Objects<'a> {
    /// The objects of the cells `from..end`, which must be in the slice.
    pub fn new(slice: &'a Slice, from: u64, end: u64) -> Self {
        let (hit_rate, of_strings) = (HitRate::default(), Use::Any);
        Self { slice, next: from, end, run: Run::Other, at: 0, len: 0, hit_rate, of_strings }
    }

    /// The objects of the cells `from..end` as keys of a dict.
    pub fn keys(slice: &'a Slice, from: u64, end: u64) -> Self {
        Self { of_strings: Use::Keys, ..Self::new(slice, from, end) }
    }

    /// The next object. The caller makes sure that there is one.
    #[inline]
    pub fn next<'py>(&mut self, maker: &mut Maker<'a, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = maker.py;
        if self.at == self.len {
            self.run = maker.check(self.slice.run(self.next, self.end))?;
            self.at = 0;
            self.len = match self.run {
                Run::Ints(_, values) => values.len(),
                Run::Floats(_, values) => values.len(),
                Run::Texts(_, texts) => texts.len(),
                Run::Units(kinds) => kinds.len(),
                Run::Other => 1,
            };
        }
        let (at, number) = (self.at, self.next);
        self.at += 1;
        self.next += 1;
        match self.run {
            Run::Ints(CellKind::Int, values) => int(py, values[at]),
            Run::Floats(CellKind::Float, values) => Ok(PyFloat::new(py, values[at]).into_any()),
            Run::Texts(CellKind::Str, texts) if !maker.are_texts_named => {
                let made = maker.strings.get(py, &mut self.hit_rate, texts.get(at));
                made.map(Bound::into_any).map_err(|e| maker.loaded.not_text(py, e))
            }
            Run::Units(kinds) if is_unit(kinds[at]) => Ok(unit(py, kinds[at])),
            _ => maker.named_scalar(number),
        }
    }

    /// Adds the next `n` objects to `items`. The caller makes sure that there are as many.
    pub fn fill<'py>(&mut self, maker: &mut Maker<'a, 'py>, items: &mut Items<'py>, n: u64) -> PyResult<()> {
        let py = maker.py;
        let end = self.next + n;
        while self.next < end {
            items.push(self.next(maker)?)?;
            // The rest of the run is made in one loop.
            let at = self.at;
            let n = (self.len - at).min((end - self.next) as usize);
            let n = match self.run {
                Run::Ints(CellKind::Int, values) => {
                    items.extend(n, |i| int(py, values[at + i]))?;
                    n
                }
                Run::Floats(CellKind::Float, values) => {
                    items.extend(n, |i| Ok(PyFloat::new(py, values[at + i]).into_any()))?;
                    n
                }
                Run::Texts(CellKind::Str, texts) if !maker.are_texts_named => {
                    let texts = texts.part(at..at + n);
                    let made = maker.strings.fill(py, &mut self.hit_rate, texts, self.of_strings, items);
                    made.map_err(|e| maker.loaded.not_text(py, e))?;
                    n
                }
                Run::Units(kinds) => {
                    let kinds = &kinds[at..at + n];
                    let n = kinds.iter().take_while(|&&kind| is_unit(kind)).count();
                    items.extend(n, |i| Ok(unit(py, kinds[i])))?;
                    n
                }
                _ => 0,
            };
            self.at += n;
            self.next += n as u64;
        }
        Ok(())
    }
}

/// The container that the objects of a frame are put into.
pub enum Items<'py> {
    /// A list of the final length, filled from the start. The number is the next index.
    List(Bound<'py, PyList>, isize),
    /// A tuple, likewise.
    Tuple(Bound<'py, PyTuple>, isize),
    /// Objects from which another container or object is made.
    Parts(Vec<Bound<'py, PyAny>>),
}

impl<'py> Items<'py> {
    /// A container for `n` objects. As many cells are in memory, so `n` is not a number that only
    /// the file claims.
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

/// A list of `n` places. The caller puts an item into each.
pub fn new_list(py: Python<'_>, n: usize) -> PyResult<Bound<'_, PyList>> {
    if n >= LONG {
        // `put` reads a place before it writes it. On new pages that takes two page faults, so each
        // place is written beforehand.
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
    // the list lacks the place.
    if unsafe { ffi::PyList_SetItem(list.as_ptr(), i, object.into_ptr()) } != 0 {
        return Err(PyErr::fetch(list.py()));
    }
    Ok(())
}
