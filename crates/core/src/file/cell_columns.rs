//! The columns that hold the cells of a file (`docs/format/values.md`).

use entasis_format::{Error, Result, Value};

/// The names of the columns of cells. Code refers to them by their indices here.
pub(crate) const NAMES: [&str; 17] = [
    "kinds", "ranks", "ints", "floats", "strings", "bytes", "first", "end", "count", "keys", "pool", "at",
    "len", "shape", "indexed", "buckets", "places",
];
/// The numbers of the columns that hold the cells: the map `cells` of the file's value.
#[derive(Clone, Debug)]
pub(crate) struct CellColumns {
    pub(crate) numbers: [Option<u64>; NAMES.len()],
    /// The first pool of arrays, and the number of pools.
    pub(crate) pools: (u64, u64),
}

impl CellColumns {
    /// Parses the map `cells` of a file's value; `None` if the value has no such map.
    pub(crate) fn of(value: &Value) -> Result<Option<Self>> {
        let damage =
            || Error::corrupt("the file's value names impossible columns of cells").in_section("nodes");
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

    /// Whether a column holds a part of the cells. Pools of arrays do not count.
    pub(crate) fn contain(&self, column: u64) -> bool {
        self.numbers.contains(&Some(column))
    }

    /// Whether a column is a pool of arrays.
    pub(crate) fn is_pool(&self, column: u64) -> bool {
        column.checked_sub(self.pools.0).is_some_and(|pool| pool < self.pools.1)
    }
}
