//! Objects of neighbouring scalar cells.

use std::ffi::c_long;

use entasis::CellKind;
use entasis::cells::{Run, Slice};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};

use super::Maker;
use super::items::Items;
use super::strings::{HitRate, Use};

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

/// Whether `unit` makes values of this kind.
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
