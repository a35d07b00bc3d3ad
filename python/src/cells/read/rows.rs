//! Lists of rows: dicts with equal keys, or tuples of one length.

use std::ops::Range;
use std::vec::IntoIter;

use entasis::CellKind;
use entasis::cells::{Cell, Children, Slice};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::Maker;
use super::items::{Items, new_list, put};
use super::objects::Objects;
use crate::cpython::shared_keys::sharing;
use crate::monitor;

/// Rows whose values are made together, column by column.
const TOGETHER: u64 = 64;
/// Fewer rows do not share their keys.
const MIN_SHARING: u64 = 1024;

/// The next value of each column.
fn next_of<'py>(columns: &mut [IntoIter<Bound<'py, PyAny>>]) -> impl Iterator<Item = Bound<'py, PyAny>> {
    columns.iter_mut().filter_map(Iterator::next)
}

impl<'a, 'py> Maker<'a, 'py> {
    /// A list of rows, whose children the caller checked.
    pub(super) fn all_rows(
        &mut self,
        slice: &'a Slice,
        kind: CellKind,
        children: &Children,
    ) -> PyResult<Bound<'py, PyList>> {
        let n = self.check(slice.n_rows(children))?;
        let lists = (children.first..children.first + children.count)
            .map(|number| match self.check(slice.cell(number))? {
                Cell::Parent(CellKind::List, of) if of.count == n => Ok((slice, of.first..of.first + n)),
                _ => Err(self.corrupt("the lists of a list of rows differ in length")),
            })
            .collect::<PyResult<_>>()?;
        self.rows(kind, children, lists, n)
    }

    /// `n` rows from the cells in `lists`, a range for each key or position.
    pub fn rows(
        &mut self,
        kind: CellKind,
        children: &Children,
        lists: Vec<(&'a Slice, Range<u64>)>,
        n: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = self.py;
        let mut columns: Vec<Objects<'a>> =
            lists.into_iter().map(|(slice, range)| Objects::new(slice, range.start, range.end)).collect();
        let list = new_list(py, n as usize)?;
        if kind == CellKind::Rows {
            let n_values = columns.len() as u64;
            self.by_rows(&mut columns, n, |i, values| {
                let mut row = Items::new(py, CellKind::Tuple, n_values)?;
                next_of(values).try_for_each(|value| row.push(value))?;
                let Items::Tuple(row, _) = row else { return Ok(()) };
                put(&list, i, row.into_any())
            })?;
            return Ok(list);
        }
        self.shared_keys(children)?;
        let keys = self.keys[&children.keys].clone();
        // Each row is a copy of a dict with all keys, so it does not have to grow.
        let first = PyDict::new(py);
        for key in &keys {
            first.set_item(key, py.None())?;
        }
        self.check_distinct(first.len() == keys.len() && keys.len() == columns.len())?;
        let first = if n >= MIN_SHARING { sharing(&first).unwrap_or(first) } else { first };
        self.by_rows(&mut columns, n, |i, values| {
            let row = first.copy()?;
            for (key, value) in keys.iter().zip(next_of(values)) {
                // The copy has `None` already.
                if !value.is_none() {
                    row.set_item(key, value)?;
                }
            }
            put(&list, i, row.into_any())
        })?;
        Ok(list)
    }

    /// Calls `put` for each of `n` rows, with an iterator over the values of each column. Values
    /// are made for `TOGETHER` rows at a time, so that one loop makes the values of a column.
    fn by_rows(
        &mut self,
        columns: &mut [Objects<'a>],
        n: u64,
        mut put: impl FnMut(isize, &mut [IntoIter<Bound<'py, PyAny>>]) -> PyResult<()>,
    ) -> PyResult<()> {
        for begin in (0..n).step_by(TOGETHER as usize) {
            let end = n.min(begin + TOGETHER);
            let values = columns.iter_mut().map(|column| {
                let mut values = Items::Parts(Vec::with_capacity(TOGETHER as usize));
                column.fill(self, &mut values, end - begin)?;
                let Items::Parts(values) = values else { return Err(self.corrupt("a cell has no object")) };
                Ok(values.into_iter())
            });
            let mut values = values.collect::<PyResult<Vec<_>>>()?;
            for i in begin..end {
                put(i as isize, &mut values)?;
                self.check_signals_at(i)?;
            }
        }
        Ok(())
    }

    /// Checks for signals once every 65,536 rows.
    #[inline]
    pub(super) fn check_signals_at(&self, i: u64) -> PyResult<()> {
        if i % 65_536 == 65_535 { monitor::check(self.py) } else { Ok(()) }
    }

    /// Makes the keys of a map, which other maps may share.
    pub(super) fn shared_keys(&mut self, children: &Children) -> PyResult<()> {
        if self.keys.get(&children.keys).is_some_and(|keys| keys.len() as u64 == children.count) {
            return Ok(());
        }
        let mut keys = Vec::new();
        for i in 0..children.count {
            let number = children.keys.saturating_add(i);
            let Cell::Str(CellKind::Str, text) = self.check(self.loaded.cell(number))? else {
                return Err(self.corrupt("shared keys of maps are not strings"));
            };
            // Literals in programs are interned as well, so looking them up compares addresses.
            keys.push(PyString::intern(self.py, text).into_any());
        }
        self.keys.insert(children.keys, keys);
        Ok(())
    }
}
