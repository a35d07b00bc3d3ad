//! Lists of rows, and dicts of values without parts: made at once.

use std::ops::Range;
use std::vec::IntoIter;

use entasis::CellKind;
use entasis::cells::{Cell, Children, Slice};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::Maker;
use super::objects::{Items, Objects, new_list, put};
use crate::cpython::shared_keys::sharing;

/// Rows whose values are made together.
const TOGETHER: u64 = 64;
/// As many rows as are worth a dict whose copies share their keys.
const MANY: u64 = 1024;

/// The next value of each column.
fn next_of<'py>(columns: &mut [IntoIter<Bound<'py, PyAny>>]) -> impl Iterator<Item = Bound<'py, PyAny>> {
    columns.iter_mut().filter_map(Iterator::next)
}

impl<'a, 'py> Maker<'a, 'py> {
    /// A list of rows; its children were checked.
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

    /// `n` rows, of values that stand in these places, a range for each key or place.
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
        // Copies of a dict that has the keys need not grow, nor look for places.
        let first = PyDict::new(py);
        for key in &keys {
            first.set_item(key, py.None())?;
        }
        self.whole(first.len() == keys.len() && keys.len() == columns.len())?;
        let first = if n >= MANY { sharing(&first).unwrap_or(first) } else { first };
        self.by_rows(&mut columns, n, |i, values| {
            let row = first.copy()?;
            for (key, value) in keys.iter().zip(next_of(values)) {
                // It has `None` already.
                if !value.is_none() {
                    row.set_item(key, value)?;
                }
            }
            put(&list, i, row.into_any())
        })?;
        Ok(list)
    }

    /// Has the values of `n` rows put together, one row after the other. They are made by some rows at once, so that those of a column come from one loop.
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
                let Items::Parts(values) = values else { return Err(self.corrupt("nothing is made")) };
                Ok(values.into_iter())
            });
            let mut values = values.collect::<PyResult<Vec<_>>>()?;
            for i in begin..end {
                put(i as isize, &mut values)?;
                self.look_up(i)?;
            }
        }
        Ok(())
    }

    /// Ends what takes long, when that is wanted.
    #[inline]
    pub(super) fn look_up(&self, i: u64) -> PyResult<()> {
        if i % 65_536 == 65_535 { self.py.check_signals() } else { Ok(()) }
    }

    /// Makes the keys of a map that others may have too.
    pub(super) fn shared_keys(&mut self, children: &Children) -> PyResult<()> {
        if self.keys.get(&children.keys).is_some_and(|keys| keys.len() as u64 == children.count) {
            return Ok(());
        }
        let mut keys = Vec::new();
        for i in 0..children.count {
            let number = children.keys.saturating_add(i);
            let Cell::Str(CellKind::Str, text) = self.check(self.loaded.cell(number))? else {
                return Err(self.corrupt("keys that several maps have are not strings"));
            };
            // As the names in programs are, which makes looking them up quick.
            keys.push(PyString::intern(self.py, text).into_any());
        }
        self.keys.insert(children.keys, keys);
        Ok(())
    }
}
