//! Arrays from cells. Neighbouring arrays are read together, and are views of one array.

use std::ops::Range;

use entasis::CellKind;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use super::Maker;
use crate::cells::loaded::Loaded;

/// Arrays of fewer bytes share memory with all small ones. A view keeps all this memory alive.
const LARGE: u64 = 64 << 10;
/// The most bytes of large arrays that are read together, and share memory. A read of this length
/// uses huge pages and several threads.
const TOGETHER: u64 = 8 << 20;

/// The requested arrays of one pool.
pub struct Pool<'py> {
    /// The range that contains all small arrays, and their number of values.
    start: u64,
    end: u64,
    n: u64,
    /// An array of this many values or more is large.
    large: u64,
    /// The most values that are read together. None if values have no fixed width, or some are
    /// missing.
    together: Option<u64>,
    /// The large arrays in ascending order.
    larges: Vec<Range<u64>>,
    /// The values of the small arrays, once they are read.
    values: Option<Bound<'py, PyAny>>,
    /// The values of the large arrays that were read last.
    window: Option<(Range<u64>, Bound<'py, PyAny>)>,
}

impl<'py> Pool<'py> {
    /// A pool without requests.
    pub fn of(loaded: &Loaded, pool: u64) -> entasis::Result<Self> {
        let record = loaded.cells().file().column(loaded.cells().pool(pool)?)?.record;
        let width = record.column_type.layout().width().map(|width| width.max(1) as u64);
        Ok(Self {
            start: u64::MAX,
            end: 0,
            n: 0,
            large: LARGE / width.unwrap_or(16),
            together: width.filter(|_| record.n_missing == 0).map(|width| TOGETHER / width),
            larges: Vec::new(),
            values: None,
            window: None,
        })
    }

    /// Adds a request for an array.
    pub fn want(&mut self, values: Range<u64>) {
        let len = values.end - values.start;
        if len >= self.large {
            self.larges.push(values);
        } else {
            (self.start, self.end) = (self.start.min(values.start), self.end.max(values.end));
            self.n = self.n.saturating_add(len);
        }
    }

    /// Ends the requests.
    pub fn plan(&mut self) {
        self.larges.sort_unstable_by_key(|range| (range.start, range.end));
    }

    /// The range that is read for a large array: it and the requested large arrays that follow
    /// directly.
    fn window(&self, values: &Range<u64>) -> Range<u64> {
        let Some(most) = self.together else { return values.clone() };
        let mut end = values.end;
        let behind = self.larges.partition_point(|range| range.start < end);
        for range in &self.larges[behind..] {
            if range.start != end || range.end - values.start > most {
                break;
            }
            end = range.end;
        }
        values.start..end
    }
}

impl<'py> Maker<'_, 'py> {
    /// An array of a pool.
    pub(super) fn array(
        &mut self,
        kind: CellKind,
        number: u64,
        values: Range<u64>,
        shape: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let shape = if shape == 0 { None } else { Some(self.shape(shape, values.end - values.start)?) };
        let flat = self.flat(number, values)?;
        let Some(mut shape) = shape else { return Ok(flat) };
        if kind == CellKind::Array {
            return flat.call_method1("reshape", (PyTuple::new(py, shape)?,));
        }
        shape.reverse();
        flat.call_method1("reshape", (PyTuple::new(py, shape)?,))?.getattr("T")
    }

    /// The values of an array as a one-dimensional array.
    fn flat(&mut self, number: u64, values: Range<u64>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let column = self.check(self.loaded.cells().pool(number))?;
        let read = |range: &Range<u64>| {
            self.hook.call_method1(pyo3::intern!(py, "pool"), (column, range.start, range.end))
        };
        let part = |all: &Bound<'py, PyAny>, start: u64| {
            let (from, to) = ((values.start - start) as isize, (values.end - start) as isize);
            all.get_item(PySlice::new(py, from, to, 1))
        };
        let Some(pool) = self.pools.get_mut(&number) else {
            return Err(self.corrupt("an array has no values"));
        };
        if values.end - values.start >= pool.large {
            let is_there =
                |(range, _): &&(Range<u64>, _)| range.start <= values.start && values.end <= range.end;
            if pool.window.as_ref().filter(is_there).is_none() {
                let range = pool.window(&values);
                if range == values {
                    return read(&values);
                }
                // Frees the previous window before it reads the next one.
                pool.window = None;
                pool.window = Some((range.clone(), read(&range)?));
            }
            return match &pool.window {
                Some((range, all)) => part(all, range.start),
                None => Err(self.corrupt("an array has no values")),
            };
        }
        // If small arrays are far apart, each is read by itself.
        if (pool.end - pool.start) / 2 > pool.n || (pool.start, pool.end) == (values.start, values.end) {
            return read(&values);
        }
        if pool.values.is_none() {
            pool.values = Some(read(&(pool.start..pool.end))?);
        }
        match &pool.values {
            Some(all) => part(all, pool.start),
            None => Err(self.corrupt("an array has no values")),
        }
    }
}
