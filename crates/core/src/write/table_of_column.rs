//! Finds the tables of the columns of a file that changes.

use std::ops::Range;

use entasis_format::{Result, fallible};

use crate::file::File;

/// The use of memory, in messages.
const TABLES: &str = "the tables of the file";

/// The tables of columns, by number.
#[derive(Default)]
pub(super) struct TableOfColumn {
    /// The columns of the tables, ascending, and the numbers of the tables.
    ranges: Vec<(Range<u64>, u64)>,
    /// The first column of each table; `None` for one without columns.
    first_columns: Vec<Option<u64>>,
}

impl TableOfColumn {
    /// # Errors
    /// As for reading.
    pub(super) fn of(file: &File) -> Result<Self> {
        let mut found = Self::default();
        for table in 0..file.n_tables() {
            let columns = file.table(table)?.columns_in_file();
            let first = columns.iter().find(|columns| !columns.is_empty()).map(|columns| columns.start);
            fallible::push(&mut found.first_columns, first, TABLES)?;
            for columns in columns.into_iter().filter(|columns| !columns.is_empty()) {
                fallible::push(&mut found.ranges, (columns, table), TABLES)?;
            }
        }
        found.ranges.sort_unstable_by_key(|(columns, _)| columns.start);
        Ok(found)
    }

    /// The table of a column, if it belongs to one.
    pub(super) fn get(&self, column: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|(columns, _)| columns.start <= column);
        let found = after.checked_sub(1).and_then(|i| self.ranges.get(i));
        found.filter(|(columns, _)| columns.contains(&column)).map(|(_, table)| *table)
    }

    /// The first column of a table.
    pub(super) fn first_column(&self, table: u64) -> Option<u64> {
        self.first_columns.get(usize::try_from(table).ok()?).copied().flatten()
    }
}
