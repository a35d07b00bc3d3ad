//! Objects to cells.
//!
//! Children of one object are looked at together, then what is below each of them, in order, on a stack of our own. An object that others hold
//! too is remembered, and a second time only named.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use entasis::cells::{CellWriter, MAX_DEPTH, Reference, find_cycle};
use entasis::{CellClass, CellKind};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::containers::{container, ordered, parts_of};
use super::path::{self, Expanded, ROOT};
use super::pools::Pools;
use super::types::{Types, references};
use crate::errors;

/// Keys of maps that are compared with those of other maps, at most.
const SHARED_KEYS: usize = 256;
/// What is to be looked at next.
enum Step<'py> {
    /// The children of an object.
    Expand(Pending<'py>),
    /// All below the parent in this place is there.
    End(usize),
}

/// An object whose cell is there, and whose children are not.
struct Pending<'py> {
    object: Bound<'py, PyAny>,
    kind: CellKind,
    number: u64,
    place: usize,
    up: usize,
    position: usize,
    depth: usize,
    keys: u64,
}

/// Where a child stands.
#[derive(Clone, Copy)]
struct At {
    up: usize,
    position: usize,
    depth: usize,
}

/// An object that was met.
#[derive(Clone, Copy)]
struct Met {
    number: u64,
    /// Its place among the parents, if it is one.
    place: Option<usize>,
}

/// Keys that other maps may have too.
struct Keys {
    first: u64,
    keys: Vec<Py<PyAny>>,
}

/// Collects trees of objects for a file.
#[pyclass(module = "entasis._entasis")]
pub struct CellBuilder {
    pub writer: CellWriter,
    types: Types,
    /// Takes a value that is not known here apart: `(code, ...)`; see `hook`.
    hook: Py<PyAny>,
    /// What becomes of a value that can't be kept: raises, or returns what stands for it.
    unsupported: Py<PyAny>,
    pools: Pools,
    /// Shapes of arrays, with the arrays that have them: place among arrays.
    shapes: HashMap<Vec<u64>, Vec<(bool, usize)>>,
    /// What has to stay alive so that its address stays its own.
    kept: Vec<Py<PyAny>>,
    // Of the tree that is being added:
    expanded: Vec<Expanded>,
    met: HashMap<usize, Met>,
    references: Vec<(u64, Met, At)>,
    shared: HashMap<u64, Vec<Keys>>,
    root: String,
    replaced: usize,
}

#[pymethods]
impl CellBuilder {
    #[new]
    fn new(py: Python<'_>, hook: Py<PyAny>, unsupported: Py<PyAny>) -> PyResult<Self> {
        Ok(Self {
            writer: CellWriter::new(),
            types: Types::new(py, false)?,
            hook,
            unsupported,
            pools: Pools::new(py),
            shapes: HashMap::new(),
            kept: Vec::new(),
            expanded: Vec::new(),
            met: HashMap::new(),
            references: Vec::new(),
            shared: HashMap::new(),
            root: String::new(),
            replaced: 0,
        })
    }

    /// Adds a tree, and returns the number of its cell. `root` is what its path begins with.
    fn add(&mut self, value: Bound<'_, PyAny>, root: &str) -> PyResult<u64> {
        let number = self.writer.n_cells();
        root.clone_into(&mut self.root);
        let done = self.add_tree(&value);
        // Addresses mean nothing once the objects may be gone.
        self.met.clear();
        self.expanded.clear();
        self.references.clear();
        self.shared.clear();
        done.map(|()| number)
    }

    /// Ends with the shapes of arrays. Returns for each pool a list of its arrays, which then follow one another in its column.
    fn finish(&mut self, py: Python<'_>) -> Vec<Py<PyList>> {
        for (shape, users) in
            std::mem::take(&mut self.shapes).into_iter().collect::<std::collections::BTreeMap<_, _>>()
        {
            let number = self.writer.n_cells();
            let place = self.writer.parent(CellKind::Tuple);
            shape.iter().for_each(|&n| self.writer.int(CellKind::Int, n as i64));
            self.writer.set_children(place, number + 1, shape.len() as u64, 0);
            self.writer.end(place);
            for (is_parent, user) in users {
                if is_parent {
                    self.writer.set_keys(user, number)
                } else {
                    self.writer.set_shape(user, number)
                }
            }
        }
        self.pools.arrays(py)
    }

    /// The number of cells.
    fn __len__(&self) -> usize {
        self.writer.n_cells() as usize
    }
}

impl CellBuilder {
    fn add_tree(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let mut pending = Vec::new();
        if !self.emit(value, At { up: ROOT, position: 0, depth: 1 }, &mut pending)? {
            let message = format!("{}: nothing is left of the value", self.root);
            return Err(errors::unsupported(py, message));
        }
        let mut stack: Vec<Step<'_>> = pending.drain(..).map(Step::Expand).collect();
        let mut count = 0u32;
        while let Some(step) = stack.pop() {
            match step {
                Step::End(place) => self.writer.end(place),
                Step::Expand(next) => {
                    stack.push(Step::End(next.place));
                    self.expand(next, &mut pending)?;
                    stack.extend(pending.drain(..).rev().map(Step::Expand));
                }
            }
            count += 1;
            if count.is_multiple_of(65_536) {
                py.check_signals()?;
            }
        }
        self.check_references(py)
    }

    fn check_references(&self, py: Python<'_>) -> PyResult<()> {
        let all: Vec<Reference> = self
            .references
            .iter()
            .map(|&(number, met, _)| {
                let below = met.place.map_or(0..0, |place| self.writer.below(place));
                Reference { number, target: met.number, below }
            })
            .collect();
        match find_cycle(&all) {
            None => Ok(()),
            Some(i) => {
                Err(self.refuse(py, self.references[i].2, "a value that contains itself can't be kept"))
            }
        }
    }

    fn refuse(&self, py: Python<'_>, at: At, what: &str) -> PyErr {
        let path = path::path(py, &self.root, &self.expanded, at.up, at.position);
        errors::unsupported(py, format!("{path}: {what}"))
    }

    /// Adds the cell of an object; what has children is put into `pending`. False when it is left out.
    fn emit<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        if let Ok(text) = object.cast_exact::<PyString>() {
            match text.to_str() {
                Ok(text) => self.writer.text(CellKind::Str, text),
                Err(_) => {
                    let bytes = object.call_method1("encode", ("utf-8", "surrogatepass"))?;
                    self.writer.bytes(CellKind::Surrogates, bytes.cast::<PyBytes>()?.as_bytes());
                }
            }
        } else if let Ok(float) = object.cast_exact::<PyFloat>() {
            self.writer.float(CellKind::Float, float.value());
        } else if object.cast_exact::<PyInt>().is_ok() {
            match object.extract::<i64>() {
                Ok(value) => self.writer.int(CellKind::Int, value),
                Err(_) => self.big_int(object)?,
            }
        } else if object.is_none() {
            self.writer.unit(CellKind::Null);
        } else if let Ok(value) = object.cast_exact::<PyBool>() {
            self.writer.unit(if value.is_true() { CellKind::True } else { CellKind::False });
        } else if let Some((kind, len)) = container(object) {
            return self.emit_parent(object.clone(), kind, len, 0, at, pending);
        } else if self.types.is_array(object) {
            return self.emit_array(object, at, pending);
        } else if let Some(kind) = self.types.kind(object) {
            return self.emit_known(object, kind, at, pending);
        } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            self.writer.bytes(CellKind::Bytes, bytes.as_bytes());
        } else if let Ok(bytes) = object.cast_exact::<PyByteArray>() {
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
        // -2^(8n - 1) needs a byte less than its length says.
        if let [.., last, 0xFF] = bytes[..]
            && last & 0x80 != 0
        {
            bytes.pop();
        }
        self.writer.bytes(CellKind::BigInt, &bytes);
        Ok(())
    }

    /// A cell with children. An object that others hold too is remembered, and named when it is met again.
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
        // One reference is the container's, one is ours.
        let can_change = matches!(kind, CellKind::List | CellKind::Map | CellKind::Set);
        let is_shared = (len > 0 || can_change) && references(&object) > 2;
        let number = self.writer.n_cells();
        if is_shared {
            match self.met.entry(object.as_ptr() as usize) {
                Entry::Occupied(met) => {
                    let met = *met.get();
                    return self.reference(py, met, at).map(|()| true);
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(Met { number, place: Some(self.writer.n_parents()) });
                    self.kept.push(object.clone().unbind());
                }
            }
        }
        let place = self.writer.parent(kind);
        if keys != 0 {
            self.writer.set_keys(place, keys);
        }
        if len > 0 {
            if at.depth >= MAX_DEPTH {
                let what = format!("nested deeper than {MAX_DEPTH}");
                return Err(self.refuse(py, at, &what));
            }
            let At { up, position, depth } = at;
            pending.push(Pending { object, kind, number, place, up, position, depth, keys });
        }
        Ok(true)
    }

    /// Names an object that was met before.
    fn reference(&mut self, py: Python<'_>, met: Met, at: At) -> PyResult<()> {
        let mut up = at.up;
        while up != ROOT {
            if self.expanded[up].number == met.number {
                return Err(self.refuse(py, at, "a value that contains itself can't be kept"));
            }
            up = self.expanded[up].up;
        }
        self.references.push((self.writer.n_cells(), met, at));
        self.writer.int(CellKind::Reference, met.number as i64);
        Ok(())
    }

    fn expand<'py>(&mut self, next: Pending<'py>, pending: &mut Vec<Pending<'py>>) -> PyResult<()> {
        let Pending { object, kind, number, place, up, position, depth, keys } = next;
        let me = self.expanded.len();
        self.expanded.push(Expanded {
            object: object.clone().unbind(),
            up,
            position,
            number,
            is_object: kind == CellKind::Object,
        });
        let at = |position| At { up: me, position, depth: depth + 1 };
        let first = self.writer.n_cells();
        let mut count = 0;
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            let n = dict.len();
            let mut kept = Vec::with_capacity(n);
            for (i, (key, value)) in dict.iter().enumerate() {
                if self.emit(&value, at(i), pending)? {
                    kept.push(key);
                }
            }
            let keys = self.emit_keys(&kept, first + kept.len() as u64, |i| at(n + i), pending)?;
            self.writer.set_children(place, first, kept.len() as u64, keys);
            return Ok(());
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            for (i, item) in list.iter().enumerate() {
                count += u64::from(self.emit(&item, at(i), pending)?);
            }
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            for (i, item) in tuple.iter().enumerate() {
                count += u64::from(self.emit(&item, at(i), pending)?);
            }
        } else {
            for (i, item) in ordered(&object)?.iter().enumerate() {
                count += u64::from(self.emit(&item, at(i), pending)?);
            }
        }
        let is_whole =
            kind.n_children().is_some() || matches!(kind, CellKind::ObjectArray | CellKind::Object);
        if is_whole && count != object.len()? as u64 {
            return Err(self.refuse(object.py(), at(0), "a part of it can't be left out"));
        }
        self.writer.set_children(place, first, count, keys);
        Ok(())
    }

    /// Adds the keys of a map, or finds those of another map that are the same.
    fn emit_keys<'py>(
        &mut self,
        keys: &[Bound<'py, PyAny>],
        first: u64,
        at: impl Fn(usize) -> At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<u64> {
        let is_text = |key: &Bound<'_, PyAny>| key.cast_exact::<PyString>().is_ok();
        let mut hash = None;
        if !keys.is_empty() && keys.len() <= SHARED_KEYS && keys.iter().all(is_text) {
            let mut mixed = keys.len() as u64;
            for key in keys {
                mixed = (mixed.rotate_left(5) ^ key.hash()? as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
            let same = |(a, b): (&Bound<'_, PyAny>, &Py<PyAny>)| a.is(b) || a.eq(b).unwrap_or(false);
            let found = self.shared.get(&mixed).into_iter().flatten();
            for known in found {
                if known.keys.len() == keys.len() && keys.iter().zip(&known.keys).all(same) {
                    return Ok(known.first);
                }
            }
            hash = Some(mixed);
        }
        for (i, key) in keys.iter().enumerate() {
            let here = at(i);
            if !self.emit(key, here, pending)? {
                return Err(self.refuse(key.py(), here, "a key can't be left out"));
            }
        }
        // A string with halves of pairs is no cell that maps share.
        if let Some(hash) = hash
            && keys.iter().all(|key| key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok()))
        {
            let keys = keys.iter().map(|key| key.clone().unbind()).collect();
            self.shared.entry(hash).or_default().push(Keys { first, keys });
        }
        Ok(if keys.is_empty() { 0 } else { first })
    }

    /// A value of a type that has a kind of its own.
    fn emit_known<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        kind: CellKind,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = object.py();
        match kind {
            CellKind::Date => {
                let days: i64 = object.call_method0(pyo3::intern!(py, "toordinal"))?.extract()?;
                self.writer.int(kind, days - 719_163);
            }
            CellKind::Time | CellKind::Datetime => {
                let is_plain = object.getattr(pyo3::intern!(py, "tzinfo"))?.is_none()
                    && object.getattr(pyo3::intern!(py, "fold"))?.extract::<u8>()? == 0;
                if !is_plain {
                    return self.emit_other(object, at, pending);
                }
                let value = if kind == CellKind::Datetime {
                    self.types.since_epoch(object)?
                } else {
                    let part = |name| object.getattr(name)?.extract::<i64>();
                    let minutes = part("hour")? * 60 + part("minute")?;
                    (minutes * 60 + part("second")?) * 1_000_000 + part("microsecond")?
                };
                self.writer.int(kind, value);
            }
            CellKind::Timedelta => match self.types.microseconds(object)? {
                Some(value) => self.writer.int(kind, value),
                None => return self.emit_other(object, at, pending),
            },
            CellKind::Fraction => {
                let parts = (object.getattr("numerator")?, object.getattr("denominator")?);
                return self.emit_parts(parts.into_pyobject(py)?, kind, at, pending);
            }
            CellKind::UInt64 => {
                let value: u64 = object.call_method0("__index__")?.extract()?;
                self.writer.int(kind, value.cast_signed());
            }
            CellKind::NumpyTrue => {
                let is_true = object.is_truthy()?;
                self.writer.unit(if is_true { CellKind::NumpyTrue } else { CellKind::NumpyFalse });
            }
            _ if kind.class() == CellClass::Int => {
                let value: i64 = object.call_method0("__index__")?.extract()?;
                self.writer.int(kind, value);
            }
            CellKind::Float64 => self.writer.float(kind, object.cast::<PyFloat>()?.value()),
            CellKind::Float32 | CellKind::Float16 => {
                let value: f64 = object.call_method0("__float__")?.extract()?;
                if value.is_nan() {
                    // A float of another width has other bits.
                    return self.emit_other(object, at, pending);
                }
                self.writer.float(kind, value);
            }
            CellKind::Uuid => {
                let bytes = object.getattr("bytes")?.cast_into::<PyBytes>()?;
                self.writer.bytes(kind, bytes.as_bytes());
            }
            CellKind::NumpyBytes => self.writer.bytes(kind, object.cast::<PyBytes>()?.as_bytes()),
            _ => {
                let text = object.str()?;
                let Ok(text) = text.to_str() else {
                    return Err(self.refuse(py, at, "a text with lone surrogates can't be kept"));
                };
                self.writer.text(kind, text);
            }
        }
        Ok(true)
    }

    /// A cell whose children are the parts of a tuple that was just made.
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

    /// An array: its values become part of a column.
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
        if shape.len() != 1 || (!is_known && dtype.getattr("hasobject")?.is_truthy()?) {
            return self.emit_other(array, at, pending);
        }
        if let Some(met) = self.met(array) {
            return self.reference(py, met, at).map(|()| true);
        }
        self.remember(array, self.writer.n_cells(), None);
        self.put_array(array, &dtype, &shape, CellKind::Array)?;
        Ok(true)
    }

    /// The cell of an object that others hold too, if it was met.
    fn met(&self, object: &Bound<'_, PyAny>) -> Option<Met> {
        if references(object) > 2 { self.met.get(&(object.as_ptr() as usize)).copied() } else { None }
    }

    fn remember(&mut self, object: &Bound<'_, PyAny>, number: u64, place: Option<usize>) {
        if references(object) > 2 {
            self.met.insert(object.as_ptr() as usize, Met { number, place });
            self.kept.push(object.clone().unbind());
        }
    }

    /// Adds an array of one dimension, that stands for one of this shape.
    fn put_array(
        &mut self,
        array: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        shape: &[u64],
        kind: CellKind,
    ) -> PyResult<()> {
        let n = array.len()?;
        let (pool, at) = self.pools.add(array, dtype, n)?;
        let place = self.writer.array(kind, pool as u64, at, n as u64);
        if shape.len() != 1 {
            self.shapes.entry(shape.to_vec()).or_default().push((false, place));
        }
        Ok(())
    }

    /// Asks Python for what is not known here.
    fn emit_other<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = object.py();
        if let Some(met) = self.met(object) {
            return self.reference(py, met, at).map(|()| true);
        }
        let answer = match self.hook.bind(py).call1((object,)) {
            Ok(answer) => answer,
            Err(error) => return self.left_over(object, Some(error), at, pending),
        };
        let answer = answer.cast_into::<PyTuple>()?;
        let code: String = answer.get_item(0)?.extract()?;
        let number = self.writer.n_cells();
        let kind = |i: usize| -> PyResult<CellKind> {
            let code: u8 = answer.get_item(i)?.extract()?;
            CellKind::from_code(code).ok_or_else(|| pyo3::exceptions::PyValueError::new_err("a kind of cell"))
        };
        match code.as_str() {
            "unsupported" => return self.left_over(object, None, at, pending),
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
                let place = self.writer.n_parents();
                self.remember(object, number, Some(place));
                self.shapes.entry(shape).or_default().push((true, place));
                let len = cells.len();
                return self.emit_parent(cells.into_any(), CellKind::ObjectArray, len, 0, at, pending);
            }
            _ => return Err(pyo3::exceptions::PyValueError::new_err("no such answer")),
        }
        Ok(true)
    }

    /// What can't be kept: an error, nothing, or what the caller gives instead.
    fn left_over<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        error: Option<PyErr>,
        at: At,
        pending: &mut Vec<Pending<'py>>,
    ) -> PyResult<bool> {
        let py = object.py();
        let path = path::path(py, &self.root, &self.expanded, at.up, at.position);
        let answer = self.unsupported.bind(py).call1((object, &path, error, self.replaced > 0))?;
        let answer = answer.cast_into::<PyTuple>()?;
        if answer.is_empty() {
            return Ok(false);
        }
        let instead = answer.get_item(0)?;
        self.kept.push(instead.clone().unbind());
        self.replaced += 1;
        let done = self.emit(&instead, at, pending);
        self.replaced -= 1;
        done
    }
}
