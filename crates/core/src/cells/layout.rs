//! The columns of cells: their places, types, and how cells are counted in them.

use entasis_format::{CellClass, Physical};

/// Cells of which `ranks` tells once.
pub(super) const RANK: u64 = 4096;
/// Numbers of a rank: one for each class but the first.
pub(super) const CLASSES: usize = 6;

/// The places of the columns of the key index.
pub(super) const INDEXED: usize = 14;
pub(super) const BUCKETS: usize = 15;
pub(super) const PLACES: usize = 16;

/// The physical types of the columns of the index.
pub(super) const INDEX_TYPES: [(usize, Physical); 3] =
    [(INDEXED, Physical::U64), (BUCKETS, Physical::U32), (PLACES, Physical::U32)];

/// The columns of a class: where their names are, and their type.
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
