//! Finds which blocks a column has, in all tiers (`docs/format/columns.md`).

use std::ops::Range;

use entasis_format::{BlockRange, ColumnRecord, Error, Result, SectionKind, Version, fallible};

use super::{ColumnInfo, File, lock};

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
        let column = index.saturating_add(self.table.first_column);
        match record.first_range {
            _ if self.has_sorted_ranges() => self.sorted_ranges(column..column.saturating_add(1)),
            Some(first) => self.ranges_from(first, column),
            None => Ok(Vec::new()),
        }
    }

    /// Whether the file is of version 0.2, whose ranges ascend by column. Later, the record of a
    /// column names its first range.
    pub(super) fn has_sorted_ranges(&self) -> bool {
        self.root().version() == Version::OLDEST
    }

    /// The ranges to read first for the column with this record.
    pub(super) fn near_ranges(&self, index: u64, record: &ColumnRecord) -> Range<u64> {
        let n = self.n_records(SectionKind::Ranges);
        let from = match record.first_range {
            _ if self.has_sorted_ranges() => index.saturating_add(self.table.first_column).saturating_sub(1),
            first => first.unwrap_or(n),
        };
        from.min(n)..from.saturating_add(NEXT).min(n)
    }

    /// The ranges of a column from its first one on.
    fn ranges_from(&self, first: u64, column: u64) -> Result<Vec<BlockRange>> {
        let found = self.ranges_while(first, NEXT, |range| range.column == column)?;
        if found.is_empty() {
            let message = "the record of a column names a wrong first range";
            return Err(Error::corrupt(message).in_section("columns").in_file(self.path()));
        }
        Ok(found)
    }

    /// The ranges of those columns in the view that have one range each, if they are near each other
    /// and the records of the columns are known.
    pub(super) fn single_ranges(&self, columns: Range<u64>) -> Result<Vec<BlockRange>> {
        let mut firsts: Vec<(u64, u64)> = Vec::new();
        let known = lock(&self.columns);
        for column in columns {
            if let Some(first) = known.get(&column).and_then(|info| info.record.first_range) {
                fallible::push(&mut firsts, (column.saturating_add(self.table.first_column), first), RANGES)?;
            }
        }
        drop(known);
        let n = self.n_records(SectionKind::Ranges);
        let start = firsts.iter().map(|(_, first)| *first).min().unwrap_or(n).min(n);
        let last = firsts.iter().map(|(_, first)| *first).max().unwrap_or(n);
        let end = last.saturating_add(NEXT).min(n);
        if (end - start) / 4 > firsts.len() as u64 + NEXT {
            return Ok(Vec::new());
        }
        let ranges = self.parse_ranges(start..end)?;
        let mut single = fallible::with_capacity(firsts.len(), RANGES)?;
        for (column, first) in firsts {
            let rest = ranges.get((first.saturating_sub(start) as usize)..).unwrap_or_default();
            // A range at the end of those that were read may not be the only one.
            let is_single = rest.get(1).map_or(end == n, |next| next.column != column);
            single.extend(rest.first().filter(|range| range.column == column && is_single));
        }
        Ok(single)
    }

    /// The ranges of columns in a file whose ranges are sorted, by the numbers of the columns in the
    /// file.
    pub(super) fn sorted_ranges(&self, columns: Range<u64>) -> Result<Vec<BlockRange>> {
        let first = self.first_range(0..self.n_records(SectionKind::Ranges), columns.start)?;
        let n = columns.end - columns.start;
        let found = self.ranges_while(first, n, |range| range.column < columns.end)?;
        if found.is_sorted_by_key(|range| range.column)
            && found.first().is_none_or(|range| range.column >= columns.start)
        {
            Ok(found)
        } else {
            Err(self.out_of_order())
        }
    }

    /// The ranges from number `first` on for which `is_wanted` holds. Reads about `n` of them at
    /// first.
    fn ranges_while(
        &self,
        first: u64,
        n: u64,
        is_wanted: impl Fn(&BlockRange) -> bool,
    ) -> Result<Vec<BlockRange>> {
        let n_ranges = self.n_records(SectionKind::Ranges);
        let mut found: Vec<BlockRange> = Vec::new();
        let mut at = first;
        let mut step = n.clamp(NEXT, NEAR);
        while at < n_ranges {
            let to = n_ranges.min(at.saturating_add(step));
            let ranges = self.parse_ranges(at..to)?;
            let inside = ranges.iter().take_while(|range| is_wanted(range)).count();
            let wanted = ranges.get(..inside).unwrap_or_default();
            fallible::extend(&mut found, wanted.iter().copied(), RANGES)?;
            if inside < ranges.len() {
                break;
            }
            (at, step) = (to, NEAR);
        }
        Ok(found)
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
