//! Dicts from cells.

use entasis::CellKind;
use entasis::cells::{Children, Slice};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::Maker;
use super::items::Items;
use super::objects::Objects;
use crate::cpython::keyword_dict::{from_names, n_names};

/// Keys and values that are made before they are added: few enough to stay in the caches.
const TOGETHER: u64 = 512;

impl<'a, 'py> Maker<'a, 'py> {
    /// A dict whose keys and values are all scalars, and whose keys are not shared. None for any
    /// other dict.
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
                _ => return Err(self.corrupt("a cell has no object")),
            }
        } else {
            PyDict::new(self.py)
        };
        for from in (n_names..n).step_by(TOGETHER as usize) {
            let [some_keys, some_values] = self.together(&mut keys, &mut values, TOGETHER.min(n - from))?;
            for (i, (key, value)) in (from..).zip(some_keys.into_iter().zip(some_values)) {
                dict.set_item(key, value)?;
                self.check_signals_at(i)?;
            }
        }
        self.check_distinct(dict.len() as u64 == n)?;
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
            _ => Err(self.corrupt("a cell has no object")),
        }
    }
}

/// A dict of these keys and values. It has fewer items if keys are equal.
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
