//! Columns of a row-major matrix that are loaded one after the other: eight are copied when the second is, as each of their rows is one cache line.

use entasis_kernels::HostRead;

/// Columns that are copied together: words of 8 bytes in a cache line.
const LINE: usize = 8;
/// More rows are copied column by column: what is copied ahead is to stay in the second-level cache.
const MOST_ROWS: usize = 16 << 10;

/// Columns copied ahead, all but their last row, which may lie outside of the memory that was lent with the first of them.
#[derive(Default)]
pub(super) struct Beside {
    values: Vec<u64>,
    /// Where the first of them is in memory, bytes from row to row, and rows.
    first: (usize, usize, usize),
    n_columns: usize,
    /// The column that was copied last.
    last: (usize, usize, usize),
}

impl Beside {
    /// Copies a column of words whose first one is at the beginning of `memory`; none where that is not done here.
    pub fn copy(&mut self, memory: &HostRead, stride: isize, out: &mut [u64]) -> Option<bool> {
        let (stride, n) = (usize::try_from(stride).ok()?, out.len());
        if stride < LINE * 8 || !(LINE + 1..=MOST_ROWS).contains(&n) {
            return None;
        }
        let column = (memory.place(), stride, n);
        let last = std::mem::replace(&mut self.last, column);
        let mut at = self.number(column);
        if at.is_none() && last == (column.0.wrapping_sub(8), stride, n) {
            self.values.resize(LINE * n, 0);
            if memory.copy_columns(0, stride, (n - 1, LINE), &mut self.values, n) {
                (self.first, self.n_columns) = (column, LINE);
                at = Some(0);
            }
        }
        let ahead = &self.values[at? * n..][..n];
        out.copy_from_slice(ahead);
        let end = memory.read((n - 1) * stride);
        out[n - 1] = end.unwrap_or_default();
        Some(end.is_some())
    }

    /// Which of the columns copied ahead this is.
    fn number(&self, column: (usize, usize, usize)) -> Option<usize> {
        let away = column.0.checked_sub(self.first.0)?;
        let is_one = away % 8 == 0
            && away / 8 < self.n_columns
            && (column.1, column.2) == (self.first.1, self.first.2);
        is_one.then_some(away / 8)
    }
}
