//! Which columns of a file hold its cells (format, section 5.2).

use entasis_format::{Error, Result, Value};

/// The columns of cells, by the places of their names in [`NAMES`].
pub(crate) const NAMES: [&str; 17] = [
    "kinds", "ranks", "ints", "floats", "strings", "bytes", "first", "end", "count", "keys", "pool", "at",
    "len", "shape", "indexed", "buckets", "places",
];
/// Where the cells of a file are: the map `cells` of its value.
#[derive(Clone, Debug)]
pub(crate) struct CellColumns {
    pub(crate) numbers: [Option<u64>; NAMES.len()],
    /// The first pool of arrays, and how many.
    pub(crate) pools: (u64, u64),
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
