//! Cells: trees of values of any size, whose parts are columns (`docs/format/values.md`).

mod check;
mod index;
mod loaded;
mod read;
mod scalars;
mod slice;
mod write;

use entasis_format::{CellClass, Error, Physical, Result, Value};

use crate::file::File;

pub use crate::write::pre_encoded::{BLOCK, EncodedBlock, NumberEncoder};
pub use entasis_kernels::memory::BriefVec;

pub use check::{MAX_DEPTH, Reference, find_cycle, shape};
pub use index::{Found, INDEXED_FROM, Key};
pub use loaded::Loaded;
pub use read::{Cell, Cells, Children, threads_for};
pub use scalars::Scalars;
pub use slice::{Run, Slice, Texts};
pub use write::CellWriter;

/// Cells of which `ranks` tells once.
pub(crate) const RANK: u64 = 4096;
/// Numbers of a rank: one for each class but the first.
pub(crate) const CLASSES: usize = 6;

/// The columns of cells, by the places of their names in [`NAMES`].
pub(crate) const NAMES: [&str; 17] = [
    "kinds", "ranks", "ints", "floats", "strings", "bytes", "first", "end", "count", "keys", "pool", "at",
    "len", "shape", "indexed", "buckets", "places",
];
/// The places of the columns of the key index.
pub(crate) const INDEXED: usize = 14;
pub(crate) const BUCKETS: usize = 15;
pub(crate) const PLACES: usize = 16;

/// Where the cells of a file are: the map `cells` of its value.
#[derive(Clone, Debug)]
pub(crate) struct CellColumns {
    numbers: [Option<u64>; NAMES.len()],
    /// The first pool of arrays, and how many.
    pools: (u64, u64),
}

impl CellColumns {
    /// What a file's value says of its cells.
    pub(crate) fn of(value: &Value) -> Result<Option<Self>> {
        let damage = || Error::corrupt("the file's value tells of cells that can't be").in_section("nodes");
        let Some(map) = value.get("cells") else { return Ok(None) };
        let mut numbers = [None; NAMES.len()];
        for (number, name) in numbers.iter_mut().zip(NAMES) {
            *number = map.get(name).map(|column| column.as_column().ok_or_else(damage)).transpose()?;
        }
        let pools = match (map.get("pools"), map.get("n_pools")) {
            (None, None) => (0, 0),
            (Some(first), Some(n)) => {
                (first.as_column().ok_or_else(damage)?, n.as_uint().ok_or_else(damage)?)
            }
            _ => return Err(damage()),
        };
        Ok(Some(Self { numbers, pools }))
    }

    /// Whether a column of the file holds a part of the cells. Pools of arrays don't.
    pub(crate) fn contain(&self, column: u64) -> bool {
        self.numbers.contains(&Some(column))
    }

    /// Whether a column of the file is a pool of arrays.
    pub(crate) fn is_pool(&self, column: u64) -> bool {
        column.checked_sub(self.pools.0).is_some_and(|place| place < self.pools.1)
    }
}

/// The columns of a class: where their names are, and their type.
const fn columns_of(class: CellClass) -> (std::ops::Range<usize>, Physical) {
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

impl File {
    /// The cells of the file; none when it has none.
    ///
    /// # Errors
    /// *Corrupt* when their columns are not what they have to be; *io*, *unsupported*.
    pub fn cells(&self) -> Result<Option<Cells>> {
        let Some(columns) = self.cell_columns() else { return Ok(None) };
        Cells::new(self.whole(), columns).map(Some).map_err(|e| e.in_file(self.path()))
    }
}
