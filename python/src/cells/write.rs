//! Objects to cells.
//!
//! All children of an object get their cells first, then the children of each child, in order. An
//! explicit stack is used, so that nesting cannot overflow the call stack. An object with more than
//! one reference is remembered, and becomes a reference when it is found again.

mod atoms;
mod emit;
mod expand;
mod known;
mod number_values;
mod numbers;
mod rows;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use entasis::CellKind;
use entasis::cells::{CellWriter, MAX_DEPTH, Reference, find_cycle};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::path::{self, Expanded, ROOT};
use super::pools::Pools;
use super::types::Types;
use crate::errors;
use crate::monitor;

/// The most keys of a map that are compared with those of other maps.
const SHARED_KEYS: usize = 256;

/// After this many values, reserve memory for the rest, assumed to be similar.
const SAMPLE: usize = 256;

/// An object that has a cell, but whose children have none yet.
struct Pending<'py> {
    object: Bound<'py, PyAny>,
    kind: CellKind,
    number: u64,
    /// Its index among the parents.
    parent: usize,
    position: usize,
    keys: u64,
}

/// A stack entry: an object whose children have cells, but whose grandchildren have none yet.
struct Level<'py> {
    /// Its index among the parents. None for the root of the stack, which has no cell.
    parent: Option<usize>,
    /// Its index among the expanded objects.
    me: usize,
    /// The number of references before it.
    n_references: usize,
    /// The depth of its children.
    depth: usize,
    pending: std::vec::IntoIter<Pending<'py>>,
}

/// Where a child is: the index of its parent among the expanded objects, its position there, and
/// its depth.
#[derive(Clone, Copy)]
struct At {
    up: usize,
    position: usize,
    depth: usize,
}

/// The cell of an object that was found before.
#[derive(Clone, Copy)]
struct Seen {
    number: u64,
    /// Its index among the parents, if it has children.
    parent: Option<usize>,
}

/// Keys of a map, which later maps may share.
struct Keys {
    first: u64,
    keys: Vec<Py<PyAny>>,
}

/// Collects trees of objects for a file.
#[pyclass(module = "entasis._entasis")]
pub struct CellBuilder {
    pub writer: CellWriter,
    compression: u8,
    types: Types,
    /// The Python function that takes a value of another type apart, and returns `(code, ...)`. Set
    /// only while a tree is added, as it refers to this builder.
    hook: Py<PyAny>,
    /// The Python function for a value that cannot be stored. It raises, or returns a replacement.
    /// Set as long as `hook` is.
    unsupported: Py<PyAny>,
    pools: Pools,
    /// The shapes of arrays, each with the arrays that have it. The flag says whether the index
    /// counts parents or arrays.
    shapes: HashMap<Vec<u64>, Vec<(bool, usize)>>,
    /// Objects that must stay alive, as their addresses identify them.
    keep_alive: Vec<Py<PyAny>>,
    // The fields from here on belong to the tree that is being added.
    expanded: Vec<Expanded>,
    seen: Addresses<Seen>,
    references: Vec<(u64, Seen, At)>,
    shared: Addresses<Vec<Keys>>,
    last_keys: Option<Keys>,
    root: String,
    replaced: usize,
    /// The objects found in all trees that share objects.
    seen_by_all: Addresses<Seen>,
}

/// A hash map whose keys are hashes or addresses.
type Addresses<T> = HashMap<u64, T, BuildHasherDefault<AddressHasher>>;

#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // The map uses the low bits, which are zero in addresses.
        self.0 = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[pymethods]
impl CellBuilder {
    /// Collects trees for a file of this compression setting.
    #[new]
    fn new(py: Python<'_>, compression: u8) -> PyResult<Self> {
        Ok(Self {
            writer: CellWriter::new(),
            compression,
            types: Types::new(py, false)?,
            hook: py.None(),
            unsupported: py.None(),
            pools: Pools::new(py),
            shapes: HashMap::new(),
            keep_alive: Vec::new(),
            expanded: Vec::new(),
            seen: Addresses::default(),
            references: Vec::new(),
            shared: Addresses::default(),
            last_keys: None,
            root: String::new(),
            replaced: 0,
            seen_by_all: Addresses::default(),
        })
    }

    /// Adds a tree, and returns the number of its cell. Its path in errors begins with `root`. An
    /// object in several trees with `shares` is stored once.
    fn add(
        &mut self,
        value: Bound<'_, PyAny>,
        root: &str,
        shares: bool,
        hook: Py<PyAny>,
        unsupported: Py<PyAny>,
    ) -> PyResult<u64> {
        let number = self.writer.n_cells();
        (self.hook, self.unsupported) = (hook, unsupported);
        root.clone_into(&mut self.root);
        if shares {
            self.seen = std::mem::take(&mut self.seen_by_all);
        }
        let done = errors::catch_refusal(value.py(), || self.add_tree(&value));
        (self.hook, self.unsupported) = (value.py().None(), value.py().None());
        let seen = std::mem::take(&mut self.seen);
        if shares {
            self.seen_by_all = seen;
        }
        self.expanded.clear();
        self.references.clear();
        self.shared.clear();
        self.last_keys = None;
        done.map(|()| number)
    }

    /// Adds the shapes of arrays. Returns the arrays of each pool, which form its column, and the
    /// number of their values.
    fn finish(&mut self, py: Python<'_>) -> Vec<(Py<PyList>, u64)> {
        for (shape, users) in
            std::mem::take(&mut self.shapes).into_iter().collect::<std::collections::BTreeMap<_, _>>()
        {
            let number = self.writer.n_cells();
            let parent = self.writer.parent(CellKind::Tuple);
            shape.iter().for_each(|&n| self.writer.int(CellKind::Int, n as i64));
            self.writer.set_children(parent, number + 1, shape.len() as u64, 0);
            self.writer.end(parent);
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
        let pending = pending.into_iter();
        let mut stack = vec![Level { parent: None, me: ROOT, n_references: 0, depth: 1, pending }];
        let mut count = 0u32;
        while let Some(level) = stack.last_mut() {
            if let Some(next) = level.pending.next() {
                let (up, depth) = (level.me, level.depth);
                stack.push(self.expand(next, up, depth)?);
            } else if let Some(Level { parent: Some(parent), me, n_references, .. }) = stack.pop() {
                self.writer.end(parent);
                // Keep the objects above references, because errors show the paths of references.
                // Forget all others.
                if self.references.len() == n_references {
                    self.expanded.truncate(me);
                }
            }
            count += 1;
            if count.is_multiple_of(65_536) {
                monitor::check(py)?;
            }
        }
        self.check_references(py)
    }

    fn check_references(&self, py: Python<'_>) -> PyResult<()> {
        let all: Vec<Reference> = self
            .references
            .iter()
            .map(|&(number, seen, _)| {
                let below = seen.parent.map_or(0..0, |parent| self.writer.below(parent));
                Reference { number, target: seen.number, below }
            })
            .collect();
        match find_cycle(&all).map_err(|error| errors::raise(py, &error))? {
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
}
