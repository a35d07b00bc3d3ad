//! Copies adjacent columns of a row-major matrix together, because one cache line holds eight words
//! of each row.
//!
//! Eight columns are copied with the first one if the next column is known to be adjacent,
//! otherwise with the second one.

use entasis_kernels::transpose::copy_columns;
use entasis_platform::HostRead;

use crate::frame::{Array, Chunk, HostValues};

/// Columns that are copied together: words of 8 bytes in a cache line.
const LINE: usize = 8;
/// The most rows: the copied columns must stay in the L2 cache.
const MOST_ROWS: usize = 16 << 10;

/// Copied columns, without their last row. That one may lie outside of the memory that was lent
/// with the first column, so each column copies it by itself.
#[derive(Default)]
pub(super) struct RowMajorColumns {
    values: Vec<u64>,
    /// Of the first copied column: its place in memory, bytes from row to row, and rows.
    first: (usize, usize, usize),
    n_columns: usize,
    /// The first copied column that was not used yet.
    next: usize,
    /// The column that was asked for last, described as in `first`.
    last: (usize, usize, usize),
}

impl RowMajorColumns {
    /// The index in [`words`](Self::words) of a copy of the column whose `n` words begin at
    /// `memory`. `None` means that it was not copied, `Some(None)` that its memory is too short.
    /// `follows` is set if the adjacent column is loaded next.
    pub fn find(
        &mut self,
        memory: &HostRead,
        stride: isize,
        n: usize,
        follows: bool,
    ) -> Option<Option<usize>> {
        let stride = usize::try_from(stride).ok()?;
        if stride < LINE * 8 || !(LINE + 1..=MOST_ROWS).contains(&n) {
            return None;
        }
        let column = (memory.addr(), stride, n);
        let last = std::mem::replace(&mut self.last, column);
        let mut at = self.number(column);
        if at.is_none() && (follows || last == (column.0.wrapping_sub(8), stride, n)) {
            if self.values.len() < LINE * n {
                self.values.resize(LINE * n, 0);
            }
            if copy_columns(*memory, 0, stride, (n - 1, LINE), &mut self.values, n) {
                (self.first, self.n_columns, self.next) = (column, LINE, 1);
                at = Some(0);
            }
        }
        let at = at? * n;
        let end = memory.read((n - 1) * stride);
        self.values[at + n - 1] = end.unwrap_or_default();
        Some(end.map(|_: u64| at))
    }

    /// The copied words. Each column is returned by [`find`](Self::find) once, so its user may
    /// change them.
    pub fn words(&mut self) -> &mut [u64] {
        &mut self.values
    }

    /// The index of a column among the copied ones, if it was not used yet. Marks it as used.
    fn number(&mut self, column: (usize, usize, usize)) -> Option<usize> {
        let away = column.0.checked_sub(self.first.0)?;
        let is_one = away % 8 == 0
            && (self.next..self.n_columns).contains(&(away / 8))
            && (column.1, column.2) == (self.first.1, self.first.2);
        is_one.then(|| {
            self.next = away / 8 + 1;
            away / 8
        })
    }
}

/// Whether the words of `other` come right after those of `one` in each row of a matrix.
pub(crate) fn are_adjacent(one: &Array, other: &Array) -> bool {
    let words = |array: &Array| match array.chunks.as_slice() {
        [Chunk { values: HostValues::Words { memory, stride }, n, .. }] => Some((memory.addr(), *stride, *n)),
        _ => None,
    };
    let next = words(one).map(|(place, stride, n)| (place.wrapping_add(8), stride, n));
    next.is_some() && next == words(other)
}
