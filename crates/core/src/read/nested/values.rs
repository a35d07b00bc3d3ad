//! Nested columns in memory, in the layout of Arrow.

use std::sync::Arc;

use entasis_platform::Buffer;

use crate::file::ColumnInfo;
use crate::read::layout::{Text, TextLayout};

/// A decoded column with its children, in the layout of Arrow.
#[derive(Debug)]
pub struct Nested {
    /// The column's record, name and detail.
    pub info: Arc<ColumnInfo>,
    /// The number of values.
    pub n: usize,
    /// One bit per value, least significant first, 1 = valid; `None` if all are valid.
    pub validity: Option<Buffer>,
    /// The values, or where they are in the children.
    pub values: NestedValues,
    /// The children that hold values, without the child offsets of a dense union.
    pub children: Vec<Nested>,
}

/// The values of a column, or where they are in its children.
#[derive(Debug)]
pub enum NestedValues {
    /// No buffer: the type null, structs and fixed-size lists.
    None,
    /// Words or rows of bytes, contiguous.
    Words(Buffer),
    /// Booleans, one bit each, least significant first.
    Bits(Buffer),
    /// Strings.
    Text(Text),
    /// Lists and maps: `n + 1` offsets into the only child.
    Offsets {
        /// The offsets, i32 or i64.
        offsets: Buffer,
        /// Whether they have 64 bits.
        is_large: bool,
    },
    /// Unions and value columns.
    Types {
        /// For each value, the number of its child, one byte; 255 for a missing value of a value
        /// column.
        types: Buffer,
        /// The index of each value in its child, i32; 0 for missing values. `None` for a sparse
        /// union: value `i` has index `i`.
        offsets: Option<Buffer>,
    },
    /// The end of each run, i64; the only child has one value per run.
    Ends(Buffer),
}

/// The layout that a host wants for a column where it has a choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// The layout of strings.
    pub text: TextLayout,
    /// Bytes of a decimal, if more than the file has.
    pub width: Option<usize>,
    /// Whether list offsets have 32 bits if they fit.
    pub is_small: bool,
}
