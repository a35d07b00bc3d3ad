//! Adds the cells of all children of one object.

use entasis::CellKind;
use entasis::cells::Scalars;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::atoms::{item, put, put_items};
use super::rows::next_item;
use super::{At, CellBuilder, Keys, Level, Pending, SAMPLE, SHARED_KEYS};
use crate::cells::containers::ordered;
use crate::cells::path::Expanded;

impl CellBuilder {
    /// Adds the cells of an object's children. Children with children of their own are left
    /// pending.
    pub(super) fn expand<'py>(
        &mut self,
        next: Pending<'py>,
        up: usize,
        depth: usize,
    ) -> PyResult<Level<'py>> {
        let Pending { object, kind, number, parent, position, keys } = next;
        let me = self.expanded.len();
        let n_references = self.references.len();
        let is_object = kind == CellKind::Object;
        self.expanded.push(Expanded { object: object.clone().unbind(), up, position, number, is_object });
        let at = |position| At { up: me, position, depth: depth + 1 };
        let mut pending = Vec::new();
        let first = self.writer.n_cells();
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            self.expand_dict(dict, parent, at, &mut pending)?;
        } else if let Ok(list) = object.cast_exact::<PyList>()
            && kind == CellKind::List
            && let Some(rows) = self.row_values(list, depth)?
        {
            self.add_rows(rows, (number, parent), at, &mut pending)?;
        } else {
            let count = self.expand_items(&object, kind, at, &mut pending)?;
            let is_whole = kind.n_children().is_some() || kind == CellKind::Object;
            if is_whole && count != object.len()? as u64 {
                return Err(self.refuse(object.py(), at(0), "a part of it can't be left out"));
            }
            self.writer.set_children(parent, first, count, keys);
        }
        Ok(Level { parent: Some(parent), me, n_references, depth: depth + 1, pending: pending.into_iter() })
    }

    /// Adds the items of a list, tuple or set. Returns the number of cells.
    fn expand_items<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        kind: CellKind,
        at: impl Fn(usize) -> At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<u64> {
        let mut count = 0;
        if let Ok(list) = object.cast_exact::<PyList>() {
            let mut i = 0;
            let compression = self.compression;
            loop {
                let next = put_items(list, i, compression, &mut self.writer)?;
                count += (next - i) as u64;
                let Some(other) = item(list, next) else { return Ok(count) };
                let mut is_added = self.emit(&other.to_owned(), at(next), pending)?;
                if !is_added && kind == CellKind::ObjectArray {
                    // Every element of an array needs a cell.
                    self.writer.unit(CellKind::Null);
                    is_added = true;
                }
                count += u64::from(is_added);
                i = next + 1;
            }
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            for (i, item) in tuple.iter_borrowed().enumerate() {
                let is_added = put(item, &mut self.writer) || self.emit(&item.to_owned(), at(i), pending)?;
                count += u64::from(is_added);
            }
            return Ok(count);
        }
        for (i, item) in ordered(object)?.iter().enumerate() {
            count += u64::from(self.emit(&item, at(i), pending)?);
        }
        Ok(count)
    }

    fn expand_dict<'py>(
        &mut self,
        dict: &Bound<'py, PyDict>,
        parent: usize,
        at: impl Fn(usize) -> At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<()> {
        let first = self.writer.n_cells();
        let n = dict.len();
        let (mut position, mut done) = (0, 0);
        // Cells of keys follow the cells of values. Iteration returns both together, so the keys of
        // a large dict are collected meanwhile.
        let mut keys = Scalars::new();
        let mut are_collected = n > SHARED_KEYS;
        while let Some((key, value)) = next_item(dict, &mut position) {
            if !put(value, &mut self.writer) {
                break;
            }
            are_collected = are_collected && put(key, &mut keys);
            done += 1;
            if done == SAMPLE {
                self.writer.expect(n - done, SAMPLE);
                keys.expect(n - done, SAMPLE);
            }
        }
        // No Python code ran so far, so the dict is unchanged.
        if done == n && n > SHARED_KEYS {
            let first_key = self.writer.n_cells();
            if are_collected {
                self.writer.take(keys);
                self.writer.index_keys(n);
            } else {
                self.add_many_keys(dict, at, pending)?;
            }
            self.writer.set_children(parent, first, n as u64, first_key);
            return Ok(());
        }
        let mut keys: Vec<Bound<'py, PyAny>> = Vec::with_capacity(n);
        if done == n {
            keys.extend(dict.iter().map(|(key, _)| key));
        } else {
            for (i, (key, value)) in dict.iter().collect::<Vec<_>>().into_iter().enumerate() {
                if i < done || self.emit(&value, at(i), pending)? {
                    keys.push(key);
                }
            }
        }
        let count = keys.len() as u64;
        let keys = self.add_keys(&keys, first + count, |i| at(n + i), pending)?;
        self.writer.set_children(parent, first, count, keys);
        Ok(())
    }

    /// Adds the keys of a large dict with non-scalar keys.
    fn add_many_keys<'py>(
        &mut self,
        dict: &Bound<'py, PyDict>,
        at: impl Fn(usize) -> At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<()> {
        let n = dict.len();
        let keys: Vec<_> = dict.iter().map(|(key, _)| key).collect();
        for (i, key) in keys.iter().enumerate() {
            self.add_key(key, at(n + i), pending)?;
        }
        self.writer.index_keys(n);
        Ok(())
    }

    fn add_key<'py>(
        &mut self,
        key: &Bound<'py, PyAny>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<()> {
        if self.emit(key, at, pending)? {
            return Ok(());
        }
        Err(self.refuse(key.py(), at, "a key can't be left out"))
    }

    /// Adds the keys of a map, or finds equal keys of an earlier map. Returns the cell of the first
    /// key.
    pub(super) fn add_keys<'py>(
        &mut self,
        keys: &[Bound<'py, PyAny>],
        first: u64,
        at: impl Fn(usize) -> At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<u64> {
        if keys.is_empty() {
            return Ok(0);
        }
        let mut hash = None;
        if keys.len() <= SHARED_KEYS {
            let are_same = |known: &Keys| {
                let same = |(a, b): (&Bound<'_, PyAny>, &Py<PyAny>)| a.is(b);
                known.keys.len() == keys.len() && keys.iter().zip(&known.keys).all(same)
            };
            // Fast path: the previous map has the same keys.
            if let Some(known) = self.last_keys.as_ref().filter(|known| are_same(known)) {
                return Ok(known.first);
            }
            let is_text = |key: &Bound<'_, PyAny>| key.cast_exact::<PyString>().is_ok();
            if keys.iter().all(is_text) {
                let mixed = mix(keys)?;
                if let Some(known) = self.known_keys(mixed, keys) {
                    return Ok(known);
                }
                hash = Some(mixed);
            }
        }
        for (i, key) in keys.iter().enumerate() {
            self.add_key(key, at(i), pending)?;
        }
        self.writer.index_keys(keys.len());
        // Maps share keys if all of them are plain strings, without references or lone surrogates.
        if let Some(hash) = hash
            && self.writer.are_all(CellKind::Str, keys.len())
        {
            let keys = || keys.iter().map(|key| key.clone().unbind()).collect();
            self.shared.entry(hash).or_default().push(Keys { first, keys: keys() });
            self.last_keys = Some(Keys { first, keys: keys() });
        }
        Ok(first)
    }

    /// The cell of the first key of an earlier map with equal keys.
    fn known_keys(&mut self, hash: u64, keys: &[Bound<'_, PyAny>]) -> Option<u64> {
        let same = |(a, b): (&Bound<'_, PyAny>, &Py<PyAny>)| a.is(b) || a.eq(b).unwrap_or(false);
        let are_same =
            |known: &&Keys| known.keys.len() == keys.len() && keys.iter().zip(&known.keys).all(same);
        let first = self.shared.get(&hash)?.iter().find(are_same)?.first;
        let keys = keys.iter().map(|key| key.clone().unbind()).collect();
        self.last_keys = Some(Keys { first, keys });
        Some(first)
    }
}

/// A hash of keys in their order.
fn mix(keys: &[Bound<'_, PyAny>]) -> PyResult<u64> {
    let mut mixed = keys.len() as u64;
    for key in keys {
        mixed = (mixed.rotate_left(5) ^ key.hash()? as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    Ok(mixed)
}
