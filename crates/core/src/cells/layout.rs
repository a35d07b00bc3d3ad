//! The layout of the columns of cells: the index of each in [`NAMES`], their types, and the ranks.
//!
//! [`NAMES`]: crate::file::cell_columns::NAMES

use entasis_format::{CellClass, Physical};

/// The use of memory for cells, in messages.
pub(super) const CELLS: &str = "the cells";

/// The column `ranks` has one entry for each of this many cells.
pub(super) const RANK: u64 = 4096;
/// The numbers in an entry: one for each class but the first. Each is the number of earlier cells
/// of the class.
pub(super) const CLASSES: usize = 6;

/// The columns of the key index.
pub(super) const INDEXED: usize = 14;
pub(super) const BUCKETS: usize = 15;
pub(super) const PLACES: usize = 16;

/// Their physical types.
pub(super) const INDEX_TYPES: [(usize, Physical); 3] =
    [(INDEXED, Physical::U64), (BUCKETS, Physical::U32), (PLACES, Physical::U32)];

/// The columns of a class, and their type.
pub(super) const fn columns_of(class: CellClass) -> (std::ops::Range<usize>, Physical) {
    match class {
        CellClass::Unit => (0..0, Physical::Null),
        CellClass::Int => (2..3, Physical::I64),
        CellClass::Float => (3..4, Physical::F64),
        CellClass::Str => (4..5, Physical::Utf8),
        CellClass::Bytes => (5..6, Physical::Binary),
        CellClass::Parent => (6..10, Physical::U64),
        CellClass::Array => (10..14, Physical::U64),
    }
}
