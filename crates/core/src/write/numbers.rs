//! The numbers of the columns of a new generation.

mod plan;

use super::{Parts, Plan};
use crate::file::File;
use entasis_format::Result;

/// The numbers of the columns that each record stands for. Records are the columns of frames, then
/// columns of no table, then children, then bundles.
pub(super) enum Numbers {
    /// The columns are numbered in the order of their records.
    InOrder {
        /// The number of each record's first column; empty if each record is one column.
        firsts: Vec<u64>,
    },
    /// Columns of the changed file keep their numbers. Each record is one column.
    Kept {
        /// The number of each record's column.
        of_records: Vec<u64>,
        /// For each column number, its record; `None` for a free column.
        records: Vec<Option<usize>>,
    },
}

/// The meaning of a column record of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The record with this index.
    Record(usize),
    /// The free column with this number.
    Free(u64),
}

impl Numbers {
    /// The numbers of a file that is written whole.
    pub(super) fn in_order(parts: &Parts<'_>) -> Self {
        let mut firsts = Vec::new();
        if parts.columns().any(|of| of.column.run.is_some()) {
            let mut next = 0;
            for of in parts.columns() {
                firsts.push(next);
                next += of.column.n_columns() as u64;
            }
            firsts.push(next);
        }
        Self::InOrder { firsts }
    }

    /// The numbers of a change in place in which columns of `file` keep theirs. `None` if the
    /// columns have to be numbered anew.
    ///
    /// # Errors
    /// As for reading.
    pub(super) fn kept(plan: &Plan<'_>, file: &File) -> Result<Option<Self>> {
        plan::plan(plan, file)
    }

    /// The number of a record's first column.
    pub(super) fn of_record(&self, record: usize) -> u64 {
        match self {
            Self::Kept { of_records, .. } => of_records[record],
            Self::InOrder { firsts } => match (firsts.get(record), firsts.last()) {
                (Some(&number), _) => number,
                // Children and bundles come after the columns, with one record each.
                (None, Some(&last)) => last + (record + 1 - firsts.len()) as u64,
                (None, None) => record as u64,
            },
        }
    }

    /// The number of column `column` of the columns from record `first` on.
    pub(super) fn of_column(&self, first: usize, column: u64) -> u64 {
        match self {
            Self::InOrder { .. } => self.of_record(first).saturating_add(column),
            Self::Kept { of_records, .. } => {
                let record = usize::try_from(column).ok().and_then(|column| first.checked_add(column));
                record.and_then(|record| of_records.get(record)).copied().unwrap_or(u64::MAX)
            }
        }
    }

    /// The records of all columns, ascending by number. `n_records` counts those without free
    /// columns.
    pub(super) fn slots(&self, n_records: usize) -> Box<dyn Iterator<Item = Slot> + '_> {
        match self {
            Self::InOrder { .. } => Box::new((0..n_records).map(Slot::Record)),
            Self::Kept { records, .. } => {
                let slot = |(number, record): (u64, &Option<usize>)| match record {
                    Some(record) => Slot::Record(*record),
                    None => Slot::Free(number),
                };
                Box::new((0..).zip(records).map(slot))
            }
        }
    }
}
