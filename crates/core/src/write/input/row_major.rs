//! Copies adjacent columns of a row-major matrix together, because a cache line holds eight words
//! of a row.
//!
//! Eight columns are copied when the first one is loaded, if the next one is known to be adjacent.
//! Otherwise they are copied when the second one is loaded.

use entasis_format::Result;
use entasis_kernels::transpose::copy_columns;
use entasis_platform::HostRead;

use super::too_short;
use crate::frame::{Array, Chunk, HostValues};

/// Columns that are copied together: a cache line has this many words of 8 bytes.
const LINE: usize = 8;
/// The most rows. The copied columns must stay in the L2 cache.
const MOST_ROWS: usize = 16 << 10;

/// A column of 8-byte words in the memory of a host.
#[derive(Clone, Copy, Default, PartialEq)]
struct MatrixColumn {
    addr: usize,
    /// Bytes from row to row.
    stride: usize,
    n_rows: usize,
}

/// Copied columns without their last row, which may lie outside of the memory lent with the first
/// column. Each column copies its last value by itself.
#[derive(Default)]
pub(super) struct RowMajorColumns {
    values: Vec<u64>,
    /// The first copied column.
    first: MatrixColumn,
    n_columns: usize,
    /// The first copied column that was not used yet.
    next: usize,
    /// The column that was asked for last.
    last: MatrixColumn,
}

impl RowMajorColumns {
    /// The index in [`words`](Self::words) of a copy of the column whose `n` words begin at
    /// `memory`; `None` if it was not copied. `follows` is true if the adjacent column is loaded
    /// next.
    ///
    /// # Errors
    /// *Argument* if the memory is too short.
    pub fn find(
        &mut self,
        memory: &HostRead,
        stride: isize,
        n: usize,
        follows: bool,
    ) -> Result<Option<usize>> {
        let Ok(stride) = usize::try_from(stride) else { return Ok(None) };
        if stride < LINE * 8 || !(LINE + 1..=MOST_ROWS).contains(&n) {
            return Ok(None);
        }
        let column = MatrixColumn { addr: memory.addr(), stride, n_rows: n };
        let before = MatrixColumn { addr: column.addr.wrapping_sub(8), ..column };
        let last = std::mem::replace(&mut self.last, column);
        let mut index = self.take_copied(column);
        if index.is_none() && (follows || last == before) {
            if self.values.len() < LINE * n {
                self.values.resize(LINE * n, 0);
            }
            if copy_columns(*memory, 0, stride, (n - 1, LINE), &mut self.values, n) {
                (self.first, self.n_columns, self.next) = (column, LINE, 1);
                index = Some(0);
            }
        }
        let Some(index) = index else { return Ok(None) };
        let at = index * n;
        self.values[at + n - 1] = memory.read((n - 1) * stride).ok_or_else(too_short)?;
        Ok(Some(at))
    }

    /// The copied words. [`find`](Self::find) returns each column once, so its user may change the
    /// words.
    pub fn words(&mut self) -> &mut [u64] {
        &mut self.values
    }

    /// The index of a column among the copied ones, if it is still unused. Marks it as used.
    fn take_copied(&mut self, column: MatrixColumn) -> Option<usize> {
        let distance = column.addr.checked_sub(self.first.addr)?;
        let index = distance / 8;
        let is_one = distance.is_multiple_of(8)
            && (self.next..self.n_columns).contains(&index)
            && (column.stride, column.n_rows) == (self.first.stride, self.first.n_rows);
        is_one.then(|| {
            self.next = index + 1;
            index
        })
    }
}

/// Whether the words of `other` directly follow those of `one` in each row of a matrix.
pub(crate) fn are_adjacent(one: &Array, other: &Array) -> bool {
    let words = |array: &Array| match array.chunks.as_slice() {
        [Chunk { values: HostValues::Words { memory, stride }, n, .. }] => Some((memory.addr(), *stride, *n)),
        _ => None,
    };
    let next = words(one).map(|(addr, stride, n)| (addr.wrapping_add(8), stride, n));
    next.is_some() && next == words(other)
}
