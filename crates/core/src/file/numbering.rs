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
    Ranges(Arc<ColumnRanges>),
}

/// The ranges of a table, for searches: a file may have millions.
#[derive(Debug)]
pub(super) struct ColumnRanges {
    /// The ranges, in the order of the view.
    in_order: Vec<Placed>,
    /// The same ranges, ascending by number in the file.
    by_number: Vec<Placed>,
    /// The number of columns of all ranges.
    n: u64,
}

/// A range of numbers in the file, and the number of its first column in the view.
#[derive(Clone, Debug)]
struct Placed {
    in_file: Range<u64>,
    in_view: u64,
}

impl ColumnRanges {
    /// The ranges, in the order of the view. They lie in the file.
    ///
    /// # Errors
    /// *Corrupt* when two overlap.
    fn of(ranges: impl ExactSizeIterator<Item = Range<u64>>) -> Result<Self> {
        let mut n = 0u64;
        let placed = |in_file: Range<u64>| {
            let in_view = n;
            // Ranges that lie in the file and do not overlap have few columns: nothing overflows.
            n = n.saturating_add(in_file.end - in_file.start);
            Placed { in_file, in_view }
        };
        let in_order = fallible::collect(ranges.map(placed), RANGES)?;
        let mut by_number = fallible::collect(in_order.iter().cloned(), RANGES)?;
        by_number.sort_unstable_by_key(|range| range.in_file.start);
        if by_number.windows(2).any(|pair| pair[0].in_file.end > pair[1].in_file.start) {
            return Err(Error::corrupt("a table has a column twice"));
        }
        Ok(Self { in_order, by_number, n })
    }

    /// The index of the range with a column of the view. The column is in one.
    fn index_of(&self, column: u64) -> usize {
        self.in_order.partition_point(|range| range.in_view <= column).saturating_sub(1)
    }

    fn in_file(&self, column: u64) -> u64 {
        match self.in_order.get(self.index_of(column)).filter(|_| column < self.n) {
            Some(range) => range.in_file.start + (column - range.in_view),
            None => column - self.n,
        }
    }

    fn in_view(&self, column: u64) -> u64 {
        let after = self.by_number.partition_point(|range| range.in_file.start <= column);
        let found = after.checked_sub(1).and_then(|i| self.by_number.get(i));
        match found.filter(|range| range.in_file.contains(&column)) {
            Some(range) => range.in_view + (column - range.in_file.start),
            None => column.saturating_add(self.n),
        }
    }
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
        for record in records.as_chunks::<16>().0 {
            let (first, len) = record.split_at(8);
            let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let (first, len) = (number(first), number(len));
            let end =
                first.checked_add(len).filter(|&end| len > 0 && end <= n_columns).ok_or_else(outside)?;
            fallible::push(&mut ranges, first..end, RANGES)?;
        }
        let ranges = ColumnRanges::of(ranges.into_iter())?;
        if ranges.n != table.n_columns || table.first_column != 0 {
            return Err(Error::corrupt("the column ranges of a table do not match its record"));
        }
        Ok(Self::Ranges(Arc::new(ranges)))
    }

    /// Whether numbers of the view are those of the file.
    pub(super) fn is_of_file(&self) -> bool {
        matches!(self, Self::From(0))
    }

    /// The number of a column in the file.
    pub(super) fn in_file(&self, column: u64) -> u64 {
        match self {
            Self::From(first) => column.saturating_add(*first),
            Self::Ranges(ranges) => ranges.in_file(column),
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
            Self::Ranges(ranges) => Ok(ranges.in_view(column)),
        }
    }

    /// The number of columns of a view of a file with `n_columns`.
    pub(super) fn n_columns(&self, n_columns: u64) -> u64 {
        match self {
            Self::From(first) => n_columns.saturating_sub(*first),
            Self::Ranges(ranges) => n_columns.saturating_add(ranges.n),
        }
    }

    /// Visits consecutive columns of the view in groups of consecutive columns of the file: their
    /// numbers in the view, and the number of the first one in the file.
    pub(super) fn visit(
        &self,
        columns: Range<u64>,
        visit: &mut dyn FnMut(Range<u64>, u64) -> Result<()>,
    ) -> Result<()> {
        let Self::Ranges(ranges) = self else {
            let first = self.in_file(columns.start);
            return if columns.is_empty() { Ok(()) } else { visit(columns, first) };
        };
        let mut next = columns.start;
        let own = ranges.in_order.get(ranges.index_of(next)..).unwrap_or_default();
        for range in own.iter().take_while(|range| range.in_view < columns.end) {
            let end = range.in_view + (range.in_file.end - range.in_file.start);
            let group = next..end.min(columns.end);
            if !group.is_empty() {
                let first = range.in_file.start + (next - range.in_view);
                next = group.end;
                visit(group, first)?;
            }
        }
        if next < columns.end { visit(next..columns.end, next - ranges.n) } else { Ok(()) }
    }

    /// The numbers in the file of the first `n_columns` columns.
    pub(super) fn ranges(&self, n_columns: u64) -> Vec<Range<u64>> {
        match self {
            Self::From(first) => Vec::from_iter(Some(*first..first.saturating_add(n_columns))),
            Self::Ranges(ranges) => ranges.in_order.iter().map(|range| range.in_file.clone()).collect(),
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
        let ranges = ColumnRanges::of([5..7, 2..3, 9..10].into_iter()).unwrap();
        let numbering = Numbering::Ranges(Arc::new(ranges));
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
