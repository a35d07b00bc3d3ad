//! Columns of a row-major matrix that are loaded one after the other: eight are copied when the first is whose neighbour is known to follow, else the
//! second, as each of their rows is one cache line.

use entasis_kernels::HostRead;

use crate::frame::{Array, Chunk, HostValues};

/// Columns that are copied together: words of 8 bytes in a cache line.
const LINE: usize = 8;
/// More rows are copied column by column: what is copied ahead is to stay in the second-level cache.
const MOST_ROWS: usize = 16 << 10;

/// Columns copied ahead, all but their last row, which may lie outside of the memory that was lent with the first of them.
#[derive(Default)]
pub(super) struct RowMajorColumns {
    values: Vec<u64>,
    /// Where the first of them is in memory, bytes from row to row, and rows.
    first: (usize, usize, usize),
    n_columns: usize,
    /// The first of them that is not given away.
    next: usize,
    /// The column that was copied last.
    last: (usize, usize, usize),
}

impl RowMajorColumns {
    /// The place among [`words`](Self::words) of a copy of the column of `n` words whose first one is at the beginning of `memory`; none
    /// where that is not done here, none within when it doesn't lie in its memory. `follows` tells that the column beside it is loaded next.
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
        let column = (memory.place(), stride, n);
        let last = std::mem::replace(&mut self.last, column);
        let mut at = self.number(column);
        if at.is_none() && (follows || last == (column.0.wrapping_sub(8), stride, n)) {
            if self.values.len() < LINE * n {
                self.values.resize(LINE * n, 0);
            }
            if memory.copy_columns(0, stride, (n - 1, LINE), &mut self.values, n) {
                (self.first, self.n_columns, self.next) = (column, LINE, 1);
                at = Some(0);
            }
        }
        let at = at? * n;
        let end = memory.read((n - 1) * stride);
        self.values[at + n - 1] = end.unwrap_or_default();
        Some(end.map(|_: u64| at))
    }

    /// What was copied. A column is found once: whoever has it may change it.
    pub fn words(&mut self) -> &mut [u64] {
        &mut self.values
    }

    /// Which of the columns copied ahead this is, which is given away with that.
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

/// Whether the words of one column are right behind those of another in each row of a matrix.
pub(crate) fn are_adjacent(one: &Array, other: &Array) -> bool {
    let words = |array: &Array| match array.chunks.as_slice() {
        [Chunk { values: HostValues::Words { memory, stride }, n, .. }] => {
            Some((memory.place(), *stride, *n))
        }
        _ => None,
    };
    let next = words(one).map(|(place, stride, n)| (place.wrapping_add(8), stride, n));
    next.is_some() && next == words(other)
}
