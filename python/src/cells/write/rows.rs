//! Lists of rows: dicts with equal keys or tuples of one length. Their values are stored column by
//! column.

use entasis::CellKind;
use entasis::cells::{MAX_DEPTH, Scalars};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{Borrowed, ffi};

use super::atoms::{Atom, SHARED_LEN, atom, item, put, references};
use super::known::put_known;
use super::{At, CellBuilder, Pending, SAMPLE, SHARED_KEYS};
use crate::monitor;

/// Fewer rows are stored as a plain list.
const LEAST: usize = 8;
/// After so many rows, signals are looked at.
const CHECKED: usize = 1 << 16;

/// The values of rows, by key or position.
pub struct RowValues<'py> {
    kind: CellKind,
    keys: Vec<Bound<'py, PyAny>>,
    columns: Vec<Scalars>,
}

/// The next key and value of a dict, borrowed. They stay alive as long as no Python code runs.
pub fn next_item<'a, 'py>(
    dict: &'a Bound<'py, PyDict>,
    at: &mut isize,
) -> Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)> {
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the dict is alive, and the out pointers are ours. Key and value are borrowed
    // references of the dict.
    unsafe {
        if ffi::PyDict_Next(dict.as_ptr(), at, &raw mut key, &raw mut value) == 0 {
            return None;
        }
        Some((Borrowed::from_ptr(dict.py(), key), Borrowed::from_ptr(dict.py(), value)))
    }
}

impl CellBuilder {
    /// The values of a list, by key or position, if the items are rows. Rows have equal types and
    /// keys, other objects do not share them, and their values are scalars.
    pub(super) fn row_values<'py>(
        &self,
        list: &Bound<'py, PyList>,
        depth: usize,
    ) -> PyResult<Option<RowValues<'py>>> {
        let (py, n) = (list.py(), list.len());
        let Some(first) = item(list, 0).filter(|_| n >= LEAST && depth + 2 <= MAX_DEPTH) else {
            return Ok(None);
        };
        let mut keys = Vec::new();
        let (kind, k) = if let Ok(dict) = first.cast_exact::<PyDict>() {
            keys.extend(dict.iter().map(|(key, _)| key));
            // Shared keys have no lone surrogates.
            if !keys.iter().all(is_short_text) {
                return Ok(None);
            }
            (CellKind::Records, keys.len())
        } else if let Ok(tuple) = first.cast_exact::<PyTuple>() {
            (CellKind::Rows, tuple.len())
        } else {
            return Ok(None);
        };
        if k == 0 || k > SHARED_KEYS {
            return Ok(None);
        }
        let mut columns: Vec<Scalars> = (0..k).map(|_| Scalars::new()).collect();
        for i in 0..n {
            let Some(row) = item(list, i).filter(|&row| references(row) == 1) else { return Ok(None) };
            // Python code may run for a value, and change the list.
            let row = row.to_owned();
            let are_put = match kind {
                CellKind::Records => self.put_record(&row, &keys, &mut columns)?,
                _ => self.put_tuple(&row, &mut columns)?,
            };
            if !are_put {
                return Ok(None);
            }
            if i + 1 == SAMPLE {
                columns.iter_mut().for_each(|column| column.expect(n - SAMPLE, SAMPLE));
            }
            if i % CHECKED == CHECKED - 1 {
                monitor::check(py)?;
            }
        }
        let is_whole = list.len() == n && columns.iter().all(|column| column.len() == n);
        Ok(is_whole.then_some(RowValues { kind, keys, columns }))
    }

    fn put_record(
        &self,
        row: &Bound<'_, PyAny>,
        keys: &[Bound<'_, PyAny>],
        columns: &mut [Scalars],
    ) -> PyResult<bool> {
        let Ok(dict) = row.cast_exact::<PyDict>() else { return Ok(false) };
        if dict.len() != keys.len() {
            return Ok(false);
        }
        let mut at = 0;
        for (wanted, column) in keys.iter().zip(columns) {
            let Some((key, value)) = next_item(dict, &mut at) else { return Ok(false) };
            if key.as_ptr() != wanted.as_ptr() && (atom(key) != Atom::Str || !key.eq(wanted)?) {
                return Ok(false);
            }
            if !self.put_value(value, column)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn put_tuple(&self, row: &Bound<'_, PyAny>, columns: &mut [Scalars]) -> PyResult<bool> {
        let Ok(tuple) = row.cast_exact::<PyTuple>() else { return Ok(false) };
        if tuple.len() != columns.len() {
            return Ok(false);
        }
        for (i, column) in columns.iter_mut().enumerate() {
            if !self.put_value(tuple.get_borrowed_item(i)?, column)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline]
    fn put_value(&self, value: Borrowed<'_, '_, PyAny>, column: &mut Scalars) -> PyResult<bool> {
        if put(value, column) {
            return Ok(true);
        }
        match self.types.kind(&value) {
            Some(kind) => put_known(&self.types, &value.to_owned(), kind, column),
            None => Ok(false),
        }
    }

    /// Adds the cells of rows: a list for each key or position, below the cell with this number,
    /// which is this parent of the writer.
    pub(super) fn add_rows<'py>(
        &mut self,
        rows: RowValues<'py>,
        (number, parent): (u64, usize),
        at: impl Fn(usize) -> At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<()> {
        let RowValues { kind, keys, columns } = rows;
        self.writer.set_kind(number, kind);
        let first = self.writer.n_cells();
        let k = columns.len();
        let lists: Vec<usize> = columns.iter().map(|_| self.writer.parent(CellKind::List)).collect();
        let keys = self.add_keys(&keys, first + k as u64, at, pending)?;
        self.writer.reserve(&columns);
        for (list, column) in lists.into_iter().zip(columns) {
            self.writer.set_children(list, self.writer.n_cells(), column.len() as u64, 0);
            self.writer.scalars(&column);
            self.writer.end(list);
        }
        self.writer.set_children(parent, first, k as u64, keys);
        Ok(())
    }
}

/// Whether maps can share a key: a string without lone surrogates that is too short to be a shared
/// object.
fn is_short_text(key: &Bound<'_, PyAny>) -> bool {
    let text = key.cast_exact::<PyString>().ok().and_then(|key| key.to_str().ok());
    text.is_some_and(|text| text.len() < SHARED_LEN)
}
