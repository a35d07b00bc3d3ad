//! One cell, and where its children are.

use entasis_format::{CellKind, Error};

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// The kind says all.
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
        /// Which order its elements have.
        kind: CellKind,
        /// The column of its values, among the pools.
        pool: u64,
        /// The first of them.
        at: u64,
        /// How many.
        len: u64,
        /// The cell with its shape; 0 for one dimension.
        shape: u64,
    },
}

/// Where the children of a cell are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// The first.
    pub first: u64,
    /// Behind all that is below.
    pub end: u64,
    /// How many.
    pub count: u64,
    /// The first of the keys of a map; the shape of an array of objects; else 0.
    pub keys: u64,
}

#[cold]
pub(super) fn damage(problem: &'static str) -> Error {
    Error::corrupt(problem).in_section("cells")
}
