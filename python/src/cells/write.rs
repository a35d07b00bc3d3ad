//! Objects to cells.
//!
//! Children of one object are looked at together, then what is below each of them, in order, on a stack of our own. An object that others hold
//! too is remembered, and a second time only named.

mod atoms;
mod emit;
mod expand;
mod known;
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

/// Keys of maps that are compared with those of other maps, at most.
const SHARED_KEYS: usize = 256;

/// Values after which those that follow are expected to be like them.
const SAMPLE: usize = 256;

/// An object whose cell is there, and whose children are not.
struct Pending<'py> {
    object: Bound<'py, PyAny>,
    kind: CellKind,
    number: u64,
    place: usize,
    position: usize,
    keys: u64,
}

/// An object whose children are there, and what is below them is not.
struct Frame<'py> {
    /// Its place among the parents; none of what has no cell.
    place: Option<usize>,
    /// Its place among what was expanded.
    me: usize,
    /// How many references there were before it.
    n_references: usize,
    /// How deep its children are.
    depth: usize,
    pending: std::vec::IntoIter<Pending<'py>>,
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
    compression: u8,
    types: Types,
    /// Takes a value that is not known here apart: `(code, ...)`. Held while a tree is added, as it holds this builder.
    hook: Py<PyAny>,
    /// What becomes of a value that can't be kept: raises, or returns what stands for it. As `hook`.
    unsupported: Py<PyAny>,
    pools: Pools,
    /// Shapes of arrays, with the arrays that have them: place among arrays.
    shapes: HashMap<Vec<u64>, Vec<(bool, usize)>>,
    /// What has to stay alive so that its address stays its own.
    kept: Vec<Py<PyAny>>,
    // Of the tree that is being added:
    expanded: Vec<Expanded>,
    met: Addresses<Met>,
    references: Vec<(u64, Met, At)>,
    shared: Addresses<Vec<Keys>>,
    last_keys: Option<Keys>,
    root: String,
    replaced: usize,
    /// What was met in the trees that share their objects.
    lasting: Addresses<Met>,
}

/// A map by what is as good as random, or an address.
type Addresses<T> = HashMap<u64, T, BuildHasherDefault<AddressHasher>>;

#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // The map takes its places from the low bits, which of addresses are zero.
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
            kept: Vec::new(),
            expanded: Vec::new(),
            met: Addresses::default(),
            references: Vec::new(),
            shared: Addresses::default(),
            last_keys: None,
            root: String::new(),
            replaced: 0,
            lasting: Addresses::default(),
        })
    }

    /// Adds a tree, and returns the number of its cell. `root` is what its path begins with. Objects that stand in several of the trees
    /// that share are stored once.
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
            self.met = std::mem::take(&mut self.lasting);
        }
        let done = self.add_tree(&value);
        (self.hook, self.unsupported) = (value.py().None(), value.py().None());
        let met = std::mem::take(&mut self.met);
        if shares {
            self.lasting = met;
        }
        self.expanded.clear();
        self.references.clear();
        self.shared.clear();
        self.last_keys = None;
        done.map(|()| number)
    }

    /// Ends with the shapes of arrays. Returns for each pool a list of its arrays, which then follow one another in its column, and how many
    /// values they have.
    fn finish(&mut self, py: Python<'_>) -> Vec<(Py<PyList>, u64)> {
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
        let pending = pending.into_iter();
        let mut stack = vec![Frame { place: None, me: ROOT, n_references: 0, depth: 1, pending }];
        let mut count = 0u32;
        while let Some(frame) = stack.last_mut() {
            if let Some(next) = frame.pending.next() {
                let (up, depth) = (frame.me, frame.depth);
                stack.push(self.expand(next, up, depth)?);
            } else if let Some(Frame { place: Some(place), me, n_references, .. }) = stack.pop() {
                self.writer.end(place);
                // References tell where they stand, should they lead nowhere; of others that is forgotten.
                if self.references.len() == n_references {
                    self.expanded.truncate(me);
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
}
