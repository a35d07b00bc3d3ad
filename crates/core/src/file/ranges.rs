//! Finds which blocks a column has, in all tiers (`docs/format/columns.md`).

use std::ops::Range;

use entasis_format::{BlockRange, ColumnRecord, Error, Physical, Result, SectionKind, Version, fallible};

use super::{ColumnInfo, File};

/// This many ranges are read together when one column is looked up.
const NEAR: u64 = 1 << 10;
/// This many ranges are read together at first, because most columns have few.
const NEXT: u64 = 4;
/// The use of the memory, in messages.
const RANGES: &str = "the ranges of blocks";

impl File {
    /// The ranges of the blocks of a column of this view, in the order of its values.
    pub(crate) fn block_ranges(&self, info: &ColumnInfo) -> Result<Vec<BlockRange>> {
        match info.unknown {
            None => self.ranges_of_record(info.index, &info.record),
            // Only some fields of such a record are known.
            Some(_) => self.ranges_of(self.in_file(&(info.index..info.index.saturating_add(1)))),
        }
    }

    /// The ranges of the column with this record.
    pub(super) fn ranges_of_record(&self, index: u64, record: &ColumnRecord) -> Result<Vec<BlockRange>> {
        let column = index.saturating_add(self.table.first_column);
        match record.first_range {
            Some(first) => self.ranges_from(first, column),
            None if self.has_no_range(record) => Ok(Vec::new()),
            None => self.ranges_of(column..column.saturating_add(1)),
        }
    }

    /// Whether the record says that its column has no range. Records of version 0.2 do not say it,
    /// and a column of type null with a range is damage.
    fn has_no_range(&self, record: &ColumnRecord) -> bool {
        let is_null = record.column_type.physical == Physical::Null;
        record.first_range.is_none() && self.root().version() > Version::OLDEST && !is_null
    }

    /// The ranges to read first for the column with this record.
    pub(super) fn near_ranges(&self, index: u64, record: &ColumnRecord) -> Range<u64> {
        if self.has_no_range(record) {
            return 0..0;
        }
        let n = self.n_records(SectionKind::Ranges);
        let first = record.first_range.unwrap_or(index.saturating_add(self.table.first_column));
        first.saturating_sub(1).min(n)..first.saturating_add(NEXT).min(n)
    }

    /// The ranges of a column whose record names the first one.
    fn ranges_from(&self, first: u64, column: u64) -> Result<Vec<BlockRange>> {
        let n_before = first.min(1);
        let mut found = self.ranges_before(column.saturating_add(1), first - n_before, NEXT)?;
        let (before, own) = found.split_at((n_before as usize).min(found.len()));
        let is_of_column = |range: &BlockRange| range.column == column;
        if before.iter().any(is_of_column) || !own.first().is_some_and(is_of_column) {
            let message = "the record of a column names a wrong first range";
            return Err(Error::corrupt(message).in_section("columns").in_file(self.path()));
        }
        found.drain(..n_before as usize);
        Ok(found)
    }

    /// The ranges of columns, by their numbers in the file.
    pub(super) fn ranges_of(&self, columns: Range<u64>) -> Result<Vec<BlockRange>> {
        let first = self.first_range(0..self.n_records(SectionKind::Ranges), columns.start)?;
        let found = self.ranges_before(columns.end, first, columns.end - columns.start)?;
        if found.first().is_none_or(|range| range.column >= columns.start) {
            Ok(found)
        } else {
            Err(self.out_of_order())
        }
    }

    /// The ranges from number `first` on that belong to columns before `end`. Reads about `n` of
    /// them at first.
    fn ranges_before(&self, end: u64, first: u64, n: u64) -> Result<Vec<BlockRange>> {
        let n_ranges = self.n_records(SectionKind::Ranges);
        let mut found: Vec<BlockRange> = Vec::new();
        let mut at = first;
        let mut step = n.clamp(NEXT, NEAR);
        while at < n_ranges {
            let to = n_ranges.min(at.saturating_add(step));
            let ranges = self.parse_ranges(at..to)?;
            let inside = ranges.partition_point(|range| range.column < end);
            let wanted = ranges.get(..inside).unwrap_or_default();
            fallible::extend(&mut found, wanted.iter().copied(), RANGES)?;
            if inside < ranges.len() {
                break;
            }
            (at, step) = (to, NEAR);
        }
        if found.is_sorted_by_key(|range| range.column) { Ok(found) } else { Err(self.out_of_order()) }
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
        let wanted = |range: &BlockRange| (kind, range.tier, range.first_block..range.end_block());
        if !rest.is_empty() && !self.opened.has(&wanted(first)) {
            self.opened.prefetch(&fallible::collect(ranges.iter().map(wanted), RANGES)?);
        }
        let mut records = read(first)?;
        for range in rest {
            fallible::extend(&mut records, read(range)?.into_iter(), RANGES)?;
        }
        Ok(records)
    }
}
