//! Values that a changed file has already.

use std::sync::Arc;

use entasis_format::BlockRange;

use super::Chunk;

/// Values before those of an array's chunks.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// All values of this column of the file.
    Column(u64),
    /// All values of the column, after the decision which blocks stay.
    Found(Box<Keep>),
}

/// The kept blocks of a column. The array's first chunk has the values of replaced blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keep {
    /// The number of the column in the file that changes.
    pub number: u64,
    /// The blocks.
    pub ranges: Vec<BlockRange>,
    /// The number of their values.
    pub n_values: u64,
    /// How many of these are missing.
    pub n_missing: u64,
    /// How many values of each child come before the first replaced block.
    pub child_counts: Vec<u64>,
    /// The child offsets of the kept blocks of a union or value column.
    pub child_offsets: Vec<u64>,
    /// The children, without child offsets.
    pub children: Vec<KeptChild>,
    /// For a bundled column: the part of its bundle that stays.
    pub bundle: Option<Arc<KeptBundle>>,
}

/// The part of a bundle that stays.
#[derive(Clone, Debug)]
pub(crate) struct KeptBundle {
    /// That of the storage column.
    pub keep: Keep,
    /// The numbers of rows of the pieces that stay.
    pub pieces: Vec<u64>,
}

/// The part that stays of a child.
#[derive(Clone, Debug)]
pub(crate) struct KeptChild {
    pub keep: Keep,
    /// The values of blocks that are replaced.
    pub replaced: Option<Chunk>,
}
