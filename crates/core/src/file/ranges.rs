//! Finds which blocks a column has, in all tiers (`docs/format/columns.md`).

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{BlockRange, ColumnRecord, Error, Result, SectionKind, Version, fallible};

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
        self.ranges_of_record(info.index, &info.record)
    }

    /// The ranges of the column with this record.
    pub(super) fn ranges_of_record(&self, index: u64, record: &ColumnRecord) -> Result<Vec<BlockRange>> {
        let column = self.numbering.in_file(index);
        if self.has_sorted_ranges() {
            self.ranges_of(column..column.saturating_add(1))
        } else {
            record.first_range.map_or(Ok(Vec::new()), |first| self.ranges_from(first, column))
        }
    }

    /// Whether ranges are found by the number of their column, as in version 0.2.
    pub(super) fn has_sorted_ranges(&self) -> bool {
        self.root().version() == Version::OLDEST
    }

    /// The ranges to read first for the column with this record.
    pub(super) fn near_ranges(&self, index: u64, record: &ColumnRecord) -> Range<u64> {
        let n = self.n_records(SectionKind::Ranges);
        let (from, first) = if self.has_sorted_ranges() {
            let first = self.numbering.in_file(index);
            (first.saturating_sub(1), first)
        } else {
            let Some(first) = record.first_range else { return 0..0 };
            (first, first)
        };
        from.min(n)..first.saturating_add(NEXT).min(n)
    }

    /// The ranges of a column whose record names the first one.
    fn ranges_from(&self, first: u64, column: u64) -> Result<Vec<BlockRange>> {
        let n_ranges = self.n_records(SectionKind::Ranges);
        let mut found: Vec<BlockRange> = Vec::new();
        let (mut at, mut step) = (first, NEXT);
        while at < n_ranges {
            let to = n_ranges.min(at.saturating_add(step));
            let ranges = self.parse_ranges(at..to)?;
            let own = own_ranges(&ranges, column);
            fallible::extend(&mut found, own.iter().copied(), RANGES)?;
            if own.len() < ranges.len() {
                break;
            }
            (at, step) = (to, NEAR);
        }
        if found.is_empty() { Err(self.wrong_first_range()) } else { Ok(found) }
    }

    /// The ranges of many columns, one column after the other. Reads them together if they are near
    /// each other.
    pub(super) fn ranges_of_all(&self, infos: &[Arc<ColumnInfo>]) -> Result<Vec<BlockRange>> {
        let firsts = || infos.iter().filter_map(|info| info.record.first_range);
        let (Some(first), Some(last)) = (firsts().min(), firsts().max()) else { return Ok(Vec::new()) };
        let n_ranges = self.n_records(SectionKind::Ranges);
        let is_near = (last - first) / 8 <= infos.len() as u64;
        let near = if is_near { first.min(n_ranges)..last.saturating_add(NEXT).min(n_ranges) } else { 0..0 };
        let ranges = self.parse_ranges(near.clone())?;
        let mut found = Vec::new();
        for info in infos {
            let Some(own) = info.record.first_range else { continue };
            let at = own.checked_sub(near.start).and_then(|at| usize::try_from(at).ok());
            let rest = at.and_then(|at| ranges.get(at..)).unwrap_or_default();
            let column = self.numbering.in_file(info.index);
            let own = own_ranges(rest, column);
            if own.is_empty() || own.len() == rest.len() {
                fallible::extend(&mut found, self.block_ranges(info)?.into_iter(), RANGES)?;
            } else {
                fallible::extend(&mut found, own.iter().copied(), RANGES)?;
            }
        }
        Ok(found)
    }

    fn wrong_first_range(&self) -> Error {
        let message = "the record of a column names a wrong first range";
        Error::corrupt(message).in_section("columns").in_file(self.path())
    }

    /// The ranges of columns of a file of 0.2, by their numbers in the file.
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
        let ranges = BlockRange::parse_all(&bytes).map_err(placed)?;
        if self.has_sorted_ranges() && !ranges.is_sorted_by_key(|range| range.column) {
            return Err(self.out_of_order());
        }
        Ok(ranges)
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

/// The ranges of a column at the start of these.
fn own_ranges(ranges: &[BlockRange], column: u64) -> &[BlockRange] {
    let n = ranges.iter().take_while(|range| range.column == column).count();
    ranges.get(..n).unwrap_or_default()
}
