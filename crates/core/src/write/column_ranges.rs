//! Joins the column numbers of a table to ranges (`docs/format/columns.md`).

use std::ops::Range;

/// Bytes of a record in the section *column ranges*.
const RECORD_LEN: usize = 16;

/// The ranges of these numbers, in the same order.
pub(super) fn column_ranges(numbers: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

/// The section *column ranges*.
#[derive(Default)]
pub(super) struct ColumnRanges {
    pub bytes: Vec<u8>,
}

impl ColumnRanges {
    /// Adds the ranges of a table. Returns the number of the first one.
    pub(super) fn add(&mut self, ranges: &[Range<u64>]) -> u64 {
        let first = self.bytes.len() / RECORD_LEN;
        for number in ranges.iter().flat_map(|range| [range.start, range.end - range.start]) {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        first as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_range() {
        let ranges = |numbers: &[u64]| column_ranges(numbers.iter().copied());
        assert_eq!(ranges(&[]), []);
        assert_eq!(ranges(&[3, 4, 5, 9, 6]), [3..6, 9..10, 6..7]);
        assert_eq!(ranges(&[1, 0]), [1..2, 0..1]);
    }
}
