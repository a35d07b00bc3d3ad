//! Numbers of columns in the view of a table, and in the file (`docs/format/columns.md`).

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{Error, Result, SectionKind, TableRecord, fallible};

use super::footer::OpenFile;

/// The use of memory, in messages.
const RANGES: &str = "the column ranges of a table";

/// How a view numbers the columns of the file.
#[derive(Clone, Debug)]
pub(super) enum Numbering {
    /// The view's column 0 has this number in the file, and the others follow it.
    From(u64),
    /// The view's first columns are those of the ranges. All columns of the file follow them.
    Ranges {
        /// The numbers in the file, in the order of the view.
        ranges: Arc<[Range<u64>]>,
        /// The number of columns of all ranges.
        n: u64,
    },
}

impl Numbering {
    /// The numbering of a table.
    ///
    /// # Errors
    /// *Corrupt* when the table has columns that are not in the file, or a column twice.
    pub(super) fn of(file: &OpenFile, table: &TableRecord) -> Result<Self> {
        let outside = || Error::corrupt("the table has columns that are not in the file");
        let n_columns = file.n_columns();
        if table.n_column_ranges == 0 {
            let end = table.first_column.checked_add(table.n_columns);
            let is_inside = end.is_some_and(|end| end <= n_columns);
            return if is_inside { Ok(Self::From(table.first_column)) } else { Err(outside()) };
        }
        let first = table.first_column_range;
        let records = file
            .records(SectionKind::ColumnRanges, first..first.saturating_add(table.n_column_ranges.into()))?;
        let mut ranges = Vec::new();
        let mut n = 0u64;
        for record in records.as_chunks::<16>().0 {
            let (first, len) = record.split_at(8);
            let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let (first, len) = (number(first), number(len));
            let end =
                first.checked_add(len).filter(|&end| len > 0 && end <= n_columns).ok_or_else(outside)?;
            fallible::push(&mut ranges, first..end, RANGES)?;
            // The ranges are in the file, and do not overlap, so nothing overflows.
            n = n.saturating_add(len);
        }
        let mut sorted = fallible::collect(ranges.iter().cloned(), RANGES)?;
        sorted.sort_unstable_by_key(|range| range.start);
        if sorted.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err(Error::corrupt("a table has a column twice"));
        }
        if n != table.n_columns || table.first_column != 0 {
            return Err(Error::corrupt("the column ranges of a table do not match its record"));
        }
        Ok(Self::Ranges { ranges: ranges.into(), n })
    }

    /// Whether numbers of the view are those of the file.
    pub(super) fn is_of_file(&self) -> bool {
        matches!(self, Self::From(0))
    }

    /// The number of a column in the file.
    pub(super) fn in_file(&self, column: u64) -> u64 {
        match self {
            Self::From(first) => column.saturating_add(*first),
            Self::Ranges { ranges, n } => {
                let mut left = column;
                for range in ranges.iter() {
                    let len = range.end - range.start;
                    if left < len {
                        return range.start + left;
                    }
                    left -= len;
                }
                column - n
            }
        }
    }

    /// The number of a column in the view.
    ///
    /// # Errors
    /// *Corrupt* for a column before those of the view.
    pub(super) fn in_view(&self, column: u64) -> Result<u64> {
        match self {
            Self::From(first) => column
                .checked_sub(*first)
                .ok_or_else(|| Error::corrupt("a table names a column before its first one")),
            Self::Ranges { ranges, n } => {
                let mut before = 0;
                for range in ranges.iter() {
                    if range.contains(&column) {
                        return Ok(before + (column - range.start));
                    }
                    before += range.end - range.start;
                }
                Ok(column.saturating_add(*n))
            }
        }
    }

    /// The number of columns of a view of a file with `n_columns`.
    pub(super) fn n_columns(&self, n_columns: u64) -> u64 {
        match self {
            Self::From(first) => n_columns.saturating_sub(*first),
            Self::Ranges { n, .. } => n_columns.saturating_add(*n),
        }
    }

    /// Visits consecutive columns of the view in groups of consecutive columns of the file: their
    /// numbers in the view, and the number of the first one in the file.
    pub(super) fn visit(
        &self,
        columns: Range<u64>,
        visit: &mut dyn FnMut(Range<u64>, u64) -> Result<()>,
    ) -> Result<()> {
        let Self::Ranges { ranges, n } = self else {
            let first = self.in_file(columns.start);
            return if columns.is_empty() { Ok(()) } else { visit(columns, first) };
        };
        let mut before = 0;
        let groups = ranges.iter().map(|range| range.end - range.start).chain([u64::MAX - n]);
        for len in groups {
            let group = before.max(columns.start)..(before + len).min(columns.end);
            before += len;
            if !group.is_empty() {
                let first = self.in_file(group.start);
                visit(group, first)?;
            }
        }
        Ok(())
    }

    /// The numbers in the file of the first `n_columns` columns.
    pub(super) fn ranges(&self, n_columns: u64) -> Vec<Range<u64>> {
        match self {
            Self::From(first) => Vec::from_iter(Some(*first..first.saturating_add(n_columns))),
            Self::Ranges { ranges, .. } => ranges.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(numbering: &Numbering, columns: Range<u64>) -> Vec<(Range<u64>, u64)> {
        let mut groups = Vec::new();
        numbering
            .visit(columns, &mut |group, first| {
                groups.push((group, first));
                Ok(())
            })
            .unwrap();
        groups
    }

    #[test]
    fn consecutive_columns() {
        let numbering = Numbering::From(10);
        assert_eq!((numbering.in_file(3), numbering.in_view(13).unwrap()), (13, 3));
        assert!(numbering.in_view(9).is_err());
        assert_eq!(numbering.n_columns(15), 5);
        assert_eq!(groups(&numbering, 1..4), [(1..4, 11)]);
        assert_eq!(groups(&numbering, 4..4), []);
        assert!(Numbering::From(0).is_of_file() && !numbering.is_of_file());
    }

    #[test]
    fn columns_of_ranges() {
        let numbering = Numbering::Ranges { ranges: [5..7, 2..3, 9..10].into(), n: 4 };
        let all: Vec<u64> = (0..14).map(|column| numbering.in_file(column)).collect();
        assert_eq!(all, [5, 6, 2, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let back: Vec<u64> = (0..10).map(|column| numbering.in_view(column).unwrap()).collect();
        assert_eq!(back, [4, 5, 2, 7, 8, 0, 1, 11, 12, 3]);
        assert_eq!(numbering.n_columns(10), 14);
        assert_eq!(groups(&numbering, 1..6), [(1..2, 6), (2..3, 2), (3..4, 9), (4..6, 0)]);
        assert_eq!(groups(&numbering, 6..14), [(6..14, 2)]);
        assert_eq!(numbering.ranges(4), [5..7, 2..3, 9..10]);
    }
}
