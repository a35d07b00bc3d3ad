//! Finds which blocks a column has, in all tiers (`docs/format/columns.md`).

use std::ops::Range;

use entasis_format::{BlockRange, Error, Result, SectionKind, fallible};

use super::File;

/// This many ranges are read together when one column is looked up.
const NEAR: u64 = 1 << 10;
/// The use of the memory, in messages.
const RANGES: &str = "the ranges of blocks";

impl File {
    /// The ranges of the blocks of a column of this view, in the order of its values.
    pub(crate) fn block_ranges(&self, column: u64) -> Result<Vec<BlockRange>> {
        let column = column.saturating_add(self.table.first_column);
        self.ranges_of(column..column.saturating_add(1))
    }

    /// The ranges of columns, by their numbers in the file.
    pub(super) fn ranges_of(&self, columns: Range<u64>) -> Result<Vec<BlockRange>> {
        let n = self.n_records(SectionKind::Ranges);
        let first = self.first_range(0..n, columns.start)?;
        let mut found: Vec<BlockRange> = Vec::new();
        let mut at = first;
        let mut step = (columns.end - columns.start).clamp(4, NEAR);
        while at < n {
            let to = n.min(at.saturating_add(step));
            let ranges = self.parse_ranges(at..to)?;
            let inside = ranges.partition_point(|range| range.column < columns.end);
            let wanted = ranges.get(..inside).unwrap_or_default();
            fallible::extend(&mut found, wanted.iter().copied(), RANGES)?;
            if inside < ranges.len() {
                break;
            }
            (at, step) = (to, NEAR);
        }
        if found.is_sorted_by_key(|range| range.column)
            && found.first().is_none_or(|r| r.column >= columns.start)
        {
            Ok(found)
        } else {
            Err(self.out_of_order())
        }
    }

    /// The first range of this column or of a later column, by binary search.
    fn first_range(&self, mut within: Range<u64>, column: u64) -> Result<u64> {
        // Often each column has one range, and range and column have the same number.
        if within.contains(&column) {
            let near = self.parse_ranges(column.saturating_sub(1)..column + 1)?;
            match near[..] {
                [only] if only.column == column => return Ok(column),
                [before, here] if before.column < column && here.column == column => return Ok(column),
                _ => {}
            }
        }
        while within.end - within.start > NEAR {
            let middle = within.start.midpoint(within.end);
            let ranges = self.parse_ranges(middle..middle + 1)?;
            if ranges.iter().any(|range| range.column < column) {
                within.start = middle + 1;
            } else {
                within.end = middle;
            }
        }
        let ranges = self.parse_ranges(within.clone())?;
        Ok(within.start + ranges.partition_point(|range| range.column < column) as u64)
    }

    fn parse_ranges(&self, at: Range<u64>) -> Result<Vec<BlockRange>> {
        let bytes = self.records(SectionKind::Ranges, at)?;
        let placed = |e: Error| e.in_section("ranges").in_file(self.path());
        BlockRange::parse_all(&bytes).map_err(placed)
    }

    fn out_of_order(&self) -> Error {
        Error::corrupt("the columns of the ranges do not ascend").in_section("ranges").in_file(self.path())
    }

    /// The records of blocks or statistics in these ranges.
    pub(crate) fn range_records(&self, kind: SectionKind, ranges: &[BlockRange]) -> Result<Vec<u8>> {
        let read = |range: &BlockRange| {
            self.opened.tier_records(kind, range.tier, range.first_block..range.end_block())
        };
        let [first, rest @ ..] = ranges else { return Ok(Vec::new()) };
        let mut records = read(first)?;
        for range in rest {
            fallible::extend(&mut records, read(range)?.into_iter(), RANGES)?;
        }
        Ok(records)
    }
}
