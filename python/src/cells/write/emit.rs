//! Adds the cell of one object, by its type.

use std::collections::hash_map::Entry;

use entasis::{CellClass, CellKind};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use super::atoms::{put, references};
use super::known::put_known;
use super::{At, CellBuilder, MAX_DEPTH, Pending, Seen};
use crate::cells::containers::{container, parts_of};
use crate::cells::path::{self, ROOT};

impl CellBuilder {
    /// Adds the cell of an object. An object with children is pushed to `pending`. Returns false if
    /// the object is left out.
    pub(super) fn emit<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        if put(object.as_borrowed(), &mut self.writer) {
            return Ok(true);
        }
        if let Ok(text) = object.cast_exact::<PyString>() {
            if let Ok(text) = text.to_str() {
                if self.is_reference(object, at)? {
                    return Ok(true);
                }
                self.writer.text(CellKind::Str, text);
            } else {
                let bytes = object.call_method1("encode", ("utf-8", "surrogatepass"))?;
                self.writer.bytes(CellKind::Surrogates, bytes.cast::<PyBytes>()?.as_bytes());
            }
        } else if object.cast_exact::<PyInt>().is_ok() {
            self.big_int(object)?;
        } else if let Some((kind, len)) = container(object) {
            return self.emit_parent(object.clone(), kind, len, 0, at, pending);
        } else if self.types.is_array(object) {
            return self.emit_array(object, at, pending);
        } else if let Some(kind) = self.types.kind(object) {
            return self.emit_known(object, kind, at, pending);
        } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            if !self.is_reference(object, at)? {
                self.writer.bytes(CellKind::Bytes, bytes.as_bytes());
            }
        } else if let Ok(bytes) = object.cast_exact::<PyByteArray>() {
            if self.is_reference(object, at)? {
                return Ok(true);
            }
            self.writer.bytes(CellKind::ByteArray, &bytes.to_vec());
        } else if let Some(parts) = parts_of(object)? {
            return self.emit_parts(parts.1, parts.0, at, pending);
        } else {
            return self.emit_other(object, at, pending);
        }
        Ok(true)
    }

    fn big_int(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let bits: u64 = object.call_method0("bit_length")?.extract()?;
        let kwargs = PyDict::new(py);
        kwargs.set_item("signed", true)?;
        let mut bytes = object
            .call_method("to_bytes", (bits / 8 + 1, "little"), Some(&kwargs))?
            .cast_into::<PyBytes>()?
            .as_bytes()
            .to_vec();
        // `bit_length` asks for one byte more than -2^(8n - 1) needs.
        if let [.., last, 0xFF] = bytes[..]
            && last & 0x80 != 0
        {
            bytes.pop();
        }
        self.writer.bytes(CellKind::BigInt, &bytes);
        Ok(())
    }

    /// Adds a cell with children, or a reference if the object has a cell. An object with other
    /// references to it is remembered.
    fn emit_parent<'py>(
        &mut self,
        object: Bound<'py, PyAny>,
        kind: CellKind,
        len: usize,
        keys: u64,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = object.py();
        // The container and our `Bound` hold one reference each.
        let can_change = matches!(kind, CellKind::List | CellKind::Map | CellKind::Set);
        let is_shared = (len > 0 || can_change) && references(object.as_borrowed()) > 2;
        let number = self.writer.n_cells();
        if is_shared {
            match self.seen.entry(object.as_ptr().addr() as u64) {
                Entry::Occupied(seen) => {
                    let seen = *seen.get();
                    return self.reference(py, seen, at).map(|()| true);
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(Seen { number, parent: Some(self.writer.n_parents()) });
                    self.keep_alive.push(object.clone().unbind());
                }
            }
        }
        let parent = self.writer.parent(kind);
        if keys != 0 {
            self.writer.set_keys(parent, keys);
        }
        if len > 0 {
            if at.depth >= MAX_DEPTH {
                let what = format!("nested deeper than {MAX_DEPTH}");
                return Err(self.refuse(py, at, &what));
            }
            pending.push(Pending { object, kind, number, parent, position: at.position, keys });
        }
        Ok(true)
    }

    /// Adds a reference to the cell of an object.
    fn reference(&mut self, py: Python<'_>, seen: Seen, at: At) -> PyResult<()> {
        let mut up = at.up;
        while up != ROOT {
            if self.expanded[up].number == seen.number {
                return Err(self.refuse(py, at, "a value that contains itself can't be kept"));
            }
            up = self.expanded[up].up;
        }
        self.references.push((self.writer.n_cells(), seen, at));
        self.writer.int(CellKind::Reference, seen.number as i64);
        Ok(())
    }

    /// Adds a value of a type in [`Types`](crate::cells::types::Types).
    fn emit_known<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        kind: CellKind,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        if put_known(&self.types, object, kind, &mut self.writer)? {
            return Ok(true);
        }
        if kind == CellKind::Fraction {
            let parts = (object.getattr("numerator")?, object.getattr("denominator")?);
            return self.emit_parts(parts.into_pyobject(object.py())?, kind, at, pending);
        }
        if kind.class() == CellClass::Str {
            return Err(self.refuse(object.py(), at, "a text with lone surrogates can't be kept"));
        }
        self.emit_other(object, at, pending)
    }

    /// Adds a cell whose children are the items of a new tuple.
    fn emit_parts<'py>(
        &mut self,
        parts: Bound<'py, PyTuple>,
        kind: CellKind,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let len = parts.len();
        self.emit_parent(parts.into_any(), kind, len, 0, at, pending)
    }

    /// Adds a reference if the object has a cell. Otherwise records the next cell as the object's,
    /// and returns false.
    fn is_reference(&mut self, object: &Bound<'_, PyAny>, at: At) -> PyResult<bool> {
        if let Some(seen) = self.seen(object) {
            return self.reference(object.py(), seen, at).map(|()| true);
        }
        self.remember(object, self.writer.n_cells(), None);
        Ok(false)
    }

    /// Adds an array, whose values become part of a column.
    fn emit_array<'py>(
        &mut self,
        array: &Bound<'py, PyAny>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = array.py();
        let shape: Vec<u64> = array.getattr(pyo3::intern!(py, "shape"))?.extract()?;
        let dtype = array.getattr(pyo3::intern!(py, "dtype"))?;
        let is_known = self.pools.know(&dtype);
        let is_plain = is_known
            || (!dtype.getattr("hasobject")?.is_truthy()?
                && dtype.getattr("metadata")?.is_none()
                && dtype.getattr("names")?.is_none());
        if shape.len() != 1 || !is_plain {
            return self.emit_other(array, at, pending);
        }
        if self.is_reference(array, at)? {
            return Ok(true);
        }
        self.put_array(array, &dtype, &shape, CellKind::Array)?;
        Ok(true)
    }

    /// The cell of an object, if it is shared and has one.
    fn seen(&self, object: &Bound<'_, PyAny>) -> Option<Seen> {
        if references(object.as_borrowed()) > 2 {
            self.seen.get(&(object.as_ptr().addr() as u64)).copied()
        } else {
            None
        }
    }

    fn remember(&mut self, object: &Bound<'_, PyAny>, number: u64, parent: Option<usize>) {
        if references(object.as_borrowed()) > 2 {
            self.seen.insert(object.as_ptr().addr() as u64, Seen { number, parent });
            self.keep_alive.push(object.clone().unbind());
        }
    }

    /// Adds a one-dimensional array with the values of an array of this shape.
    fn put_array(
        &mut self,
        array: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        shape: &[u64],
        kind: CellKind,
    ) -> PyResult<()> {
        let n = if let [n] = *shape { n as usize } else { array.len()? };
        let (pool, at) = self.pools.add(array, dtype, n)?;
        let index = self.writer.array(kind, pool as u64, at, n as u64);
        if shape.len() != 1 {
            self.shapes.entry(shape.to_vec()).or_default().push((false, index));
        }
        Ok(())
    }

    /// Adds an object of another type. The Python hook takes it apart.
    fn emit_other<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = object.py();
        if let Some(seen) = self.seen(object) {
            return self.reference(py, seen, at).map(|()| true);
        }
        let answer = match self.hook.bind(py).call1((object,)) {
            Ok(answer) => answer,
            Err(error) => return self.put_replacement(object, Some(error), at, pending),
        };
        let answer = answer.cast_into::<PyTuple>()?;
        let code: String = answer.get_item(0)?.extract()?;
        let number = self.writer.n_cells();
        let kind = |i: usize| -> PyResult<CellKind> {
            let code: u8 = answer.get_item(i)?.extract()?;
            CellKind::from_code(code).ok_or_else(|| pyo3::exceptions::PyValueError::new_err("a kind of cell"))
        };
        match code.as_str() {
            "unsupported" => return self.put_replacement(object, None, at, pending),
            "unit" => self.writer.unit(kind(1)?),
            "table" => {
                self.remember(object, number, None);
                self.writer.int(CellKind::Table, answer.get_item(1)?.extract()?);
            }
            "parts" => {
                let kind = kind(1)?;
                let parts = answer.get_item(2)?.cast_into::<PyTuple>()?;
                self.remember(object, number, Some(self.writer.n_parents()));
                return self.emit_parts(parts, kind, at, pending);
            }
            "array" => {
                let array = answer.get_item(1)?;
                let shape: Vec<u64> = answer.get_item(2)?.extract()?;
                let kind =
                    if answer.get_item(3)?.is_truthy()? { CellKind::FortranArray } else { CellKind::Array };
                let dtype = array.getattr("dtype")?;
                self.remember(object, number, None);
                self.put_array(&array, &dtype, &shape, kind)?;
            }
            "objects" => {
                let cells = answer.get_item(1)?.cast_into::<PyList>()?;
                let shape: Vec<u64> = answer.get_item(2)?.extract()?;
                let parent = self.writer.n_parents();
                self.remember(object, number, Some(parent));
                self.shapes.entry(shape).or_default().push((true, parent));
                let len = cells.len();
                return self.emit_parent(cells.into_any(), CellKind::ObjectArray, len, 0, at, pending);
            }
            _ => return Err(pyo3::exceptions::PyValueError::new_err("no such answer")),
        }
        Ok(true)
    }

    /// Handles a value that cannot be stored: raises, leaves it out, or adds the replacement that
    /// the caller gives.
    fn put_replacement<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        error: Option<PyErr>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = object.py();
        let path = path::path(py, &self.root, &self.expanded, at.up, at.position);
        let (holder, is_inside) = path::holder(py, &self.expanded, at.up, at.position);
        let asked = (object, &path, error, self.replaced > 0, holder, is_inside);
        let answer = self.unsupported.bind(py).call1(asked)?;
        let answer = answer.cast_into::<PyTuple>()?;
        if answer.is_empty() {
            return Ok(false);
        }
        let instead = answer.get_item(0)?;
        self.keep_alive.push(instead.clone().unbind());
        self.replaced += 1;
        let done = self.emit(&instead, at, pending);
        self.replaced -= 1;
        done
    }
}
