//! Nested columns in memory, in the layout of Arrow.

use std::sync::Arc;

use entasis_kernels::Buffer;

use crate::file::ColumnInfo;
use crate::read::layout::{Text, TextLayout};

/// A column decoded with all that is in it, in the layout of Arrow.
#[derive(Debug)]
pub struct Nested {
    /// What the file says of it.
    pub info: Arc<ColumnInfo>,
    /// Values.
    pub n: usize,
    /// A bit for each value, least significant first, 1 = valid; none when all are.
    pub validity: Option<Buffer>,
    /// The values, or where they are in the children.
    pub values: NestedValues,
    /// The children that have values: all but the begins.
    pub children: Vec<Nested>,
}

/// The values of a column, or where they are in its children.
#[derive(Debug)]
pub enum NestedValues {
    /// Nothing: of the type null, of structs and of fixed-size lists.
    None,
    /// Words or fixed bytes, one after the other.
    Words(Buffer),
    /// Booleans, a bit each, least significant first.
    Bits(Buffer),
    /// Strings.
    Text(Text),
    /// `n + 1` offsets into the one child.
    Offsets {
        /// They, i32 or i64.
        offsets: Buffer,
        /// Whether they have 64 bits.
        is_large: bool,
    },
    /// The child that each value is in, a byte each; in a value column 255 where one is missing. Where it stands there, i32 each (0 for
    /// a missing one); not in a sparse union, where that is its own number.
    Types {
        /// The numbers of the children.
        types: Buffer,
        /// The places in them.
        offsets: Option<Buffer>,
    },
    /// Where each run ends, i64; the one child has a value for each.
    Ends(Buffer),
}

/// What a host wants of a column that the file leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// The layout of strings.
    pub text: TextLayout,
    /// Bytes of a decimal, when more than the file has.
    pub width: Option<usize>,
    /// Whether offsets of lists have 32 bits, as long as they can.
    pub is_small: bool,
}
