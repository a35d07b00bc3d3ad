//! Arranges the ranges of all columns: by column, or, in a change of a long footer, where they
//! were, with new ranges after them. Then the records of other columns stay as they are.

use std::collections::HashMap;
use std::ops::Range;

use entasis_format::{BlockRange, Result, SectionKind, fallible};

use crate::file::File;

/// The use of memory, in messages.
const RANGES: &str = "the ranges of blocks";

/// Ranges of a shorter section are arranged by column.
const LONG: usize = 4 << 10;

/// The ranges of all columns.
#[derive(Default)]
pub(super) struct RangeRecords {
    /// The section.
    pub bytes: Vec<u8>,
    /// For each column record, the number of its first range.
    pub first_ranges: Vec<Option<u64>>,
}

impl RangeRecords {
    /// Arranges the ranges. `ends` has the number of ranges up to each column record. `file` is the
    /// file that changes in place.
    ///
    /// # Errors
    /// As for reading.
    pub(super) fn of(ranges: &[BlockRange], ends: &[usize], file: Option<&File>) -> Result<Self> {
        let section = match file.filter(|_| ranges.len() > LONG) {
            Some(file) => BlockRange::parse_all(&file.section_bytes(SectionKind::Ranges)?)?,
            None => Vec::new(),
        };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let own = |(start, &end): (usize, &usize)| ranges.get(start..end).unwrap_or_default();
        let columns = || starts.clone().zip(ends).map(own);
        let old = OldRanges::of(&section)?;
        let n_kept: usize = columns().filter(|own| old.find(own).is_some()).map(<[_]>::len).sum();
        // Dead ranges take at most as many bytes as live ones.
        let keeps_old = n_kept > 0 && section.len() - n_kept <= ranges.len();
        let mut records = Self::default();
        if keeps_old {
            section.iter().for_each(|range| range.emit(&mut records.bytes));
        }
        for own in columns() {
            let first_old = if keeps_old { old.find(own) } else { None };
            let next = (records.bytes.len() / BlockRange::LEN) as u64;
            if first_old.is_none() {
                own.iter().for_each(|range| range.emit(&mut records.bytes));
            }
            records.first_ranges.push(if own.is_empty() { None } else { first_old.or(Some(next)) });
        }
        Ok(records)
    }
}

/// The ranges of the file that changes.
struct OldRanges<'a> {
    section: &'a [BlockRange],
    /// The last ranges of each column that follow one another.
    of_column: HashMap<u64, Range<usize>>,
}

impl<'a> OldRanges<'a> {
    fn of(section: &'a [BlockRange]) -> Result<Self> {
        let mut of_column: HashMap<u64, Range<usize>> = HashMap::new();
        let mut at = 0;
        for run in section.chunk_by(|a, b| a.column == b.column) {
            let range = at..at + run.len();
            at = range.end;
            if let Some(first) = run.first() {
                fallible::insert(&mut of_column, first.column, range, RANGES)?;
            }
        }
        Ok(Self { section, of_column })
    }

    /// The number of the first of these ranges of a column, if they follow one another in the old
    /// section, and none of the column follows them.
    fn find(&self, own: &[BlockRange]) -> Option<u64> {
        let range = self.of_column.get(&own.first()?.column)?;
        (self.section.get(range.clone())? == own).then_some(range.start as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(column: u64, first_block: u64) -> BlockRange {
        BlockRange { column, first_block, n_blocks: 1, tier: 0 }
    }

    #[test]
    fn ranges_that_stay() {
        let old = [range(3, 0), range(3, 5), range(4, 1), range(3, 9)];
        let ranges = OldRanges::of(&old).unwrap();
        assert_eq!(ranges.find(&[range(4, 1)]), Some(2));
        assert_eq!(ranges.find(&[range(3, 9)]), Some(3));
        // Ranges of an earlier generation, changed ones, and a part of them.
        for own in [&old[..2], &[range(4, 2)], &[range(3, 0)], &[], &[range(7, 0)]] {
            assert_eq!(ranges.find(own), None);
        }
    }

    #[test]
    fn new_files_have_ranges_by_column() {
        let ranges = [range(0, 0), range(0, 7), range(2, 1)];
        let records = RangeRecords::of(&ranges, &[2, 2, 3], None).unwrap();
        assert_eq!(BlockRange::parse_all(&records.bytes).unwrap(), ranges);
        assert_eq!(records.first_ranges, [Some(0), None, Some(2)]);
    }
}
