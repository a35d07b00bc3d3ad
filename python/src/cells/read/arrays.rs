//! Arrays of cells: views of what is read together.

use std::ops::Range;

use entasis::CellKind;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use super::Maker;
use crate::cells::loaded::Loaded;

/// Bytes of an array that does not share the memory of all small ones, at least: an array keeps all memory that it is a view of.
const LARGE: u64 = 64 << 10;
/// Bytes of such arrays that are read together, and share memory, at most: so much is on huge pages, and work for several threads.
const TOGETHER: u64 = 8 << 20;

/// The values of arrays in one pool, as far as they are wanted.
pub struct Pool<'py> {
    /// The range that has the small arrays, and how many values these have.
    start: u64,
    end: u64,
    n: u64,
    /// The values of an array that is large, at least.
    large: u64,
    /// Those that are read together, at most; none where the values are not of one width, or some are missing.
    together: Option<u64>,
    /// The large arrays, in order.
    larges: Vec<Range<u64>>,
    /// The values of the small ones.
    values: Option<Bound<'py, PyAny>>,
    /// Values of some of the large ones.
    window: Option<(Range<u64>, Bound<'py, PyAny>)>,
}

impl<'py> Pool<'py> {
    /// A pool of which nothing is wanted yet.
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

    /// An array will be asked for.
    pub fn want(&mut self, values: Range<u64>) {
        let len = values.end - values.start;
        if len >= self.large {
            self.larges.push(values);
        } else {
            (self.start, self.end) = (self.start.min(values.start), self.end.max(values.end));
            self.n = self.n.saturating_add(len);
        }
    }

    /// All that will be asked for is known.
    pub fn plan(&mut self) {
        self.larges.sort_unstable_by_key(|range| (range.start, range.end));
    }

    /// The values that are read with those of a large array: of the large ones right behind it.
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
    /// An array: all of its pool, or a view of what was read of it.
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

    /// The values of an array, with one dimension.
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
            return Err(self.corrupt("an array without values"));
        };
        if values.end - values.start >= pool.large {
            let is_there =
                |(range, _): &&(Range<u64>, _)| range.start <= values.start && values.end <= range.end;
            if pool.window.as_ref().filter(is_there).is_none() {
                let range = pool.window(&values);
                if range == values {
                    return read(&values);
                }
                // The one before goes first.
                pool.window = None;
                pool.window = Some((range.clone(), read(&range)?));
            }
            return match &pool.window {
                Some((range, all)) => part(all, range.start),
                None => Err(self.corrupt("an array without values")),
            };
        }
        // Those that lie far apart are read one by one.
        if (pool.end - pool.start) / 2 > pool.n || (pool.start, pool.end) == (values.start, values.end) {
            return read(&values);
        }
        if pool.values.is_none() {
            pool.values = Some(read(&(pool.start..pool.end))?);
        }
        match &pool.values {
            Some(all) => part(all, pool.start),
            None => Err(self.corrupt("an array without values")),
        }
    }
}
