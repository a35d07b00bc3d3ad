//! One cell, and where its children are.

use entasis_format::{CellKind, Error};

/// A cell: its kind and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A kind without a value, for example null.
    Unit(CellKind),
    /// An integer.
    Int(CellKind, i64),
    /// A float.
    Float(CellKind, f64),
    /// Text.
    Str(CellKind, &'a str),
    /// Bytes.
    Bytes(CellKind, &'a [u8]),
    /// A cell that may have children.
    Parent(CellKind, Children),
    /// An array.
    Array {
        /// The order of its elements.
        kind: CellKind,
        /// The pool that holds its values.
        pool: u64,
        /// The first value in the pool.
        at: u64,
        /// The number of values.
        len: u64,
        /// The number of the cell that holds the array's shape; 0 for one dimension.
        shape: u64,
    },
}

/// The children of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// The number of the first child.
    pub first: u64,
    /// The first cell after all descendants.
    pub end: u64,
    /// The number of children.
    pub count: u64,
    /// The first key of a map, or the shape of an array of objects; otherwise 0.
    pub keys: u64,
}

#[cold]
pub(super) fn damage(problem: &'static str) -> Error {
    Error::corrupt(problem).in_section("cells")
}
