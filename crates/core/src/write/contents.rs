//! All columns of a new generation, with the blocks that were stored for them.

use std::borrow::Cow;

use entasis_format::{BlockRange, Value};

use super::placement::Placed;
use super::{Parts, Plan, Stored};

/// All columns of a new generation, by the index of their record: the columns of frames, then
/// columns of no table, then children, then bundles.
pub(super) struct Contents<'a> {
    pub plan: &'a Plan<'a>,
    /// The new blocks of each column.
    pub new_blocks: Vec<&'a [Placed]>,
    /// For each column, the blocks that stay in a file that changes.
    pub kept_blocks: Vec<&'a [BlockRange]>,
    numbers: Numbers,
}

impl<'a> Contents<'a> {
    /// `placed` has the new blocks of each stored column.
    pub(super) fn new(plan: &'a Plan<'_>, stored: &[Stored<'a>], placed: &'a [Vec<Placed>]) -> Self {
        let n = plan.parts.n_columns + plan.nested.children.len() + plan.bundles.len();
        let mut contents = Self {
            plan,
            new_blocks: vec![&[]; n],
            kept_blocks: vec![&[]; n],
            numbers: Numbers::of(&plan.parts),
        };
        for (column, placed) in stored.iter().zip(placed) {
            contents.new_blocks[column.column] = placed;
            contents.kept_blocks[column.column] = column.array.keep().map_or(&[], |keep| &keep.ranges);
        }
        contents
    }

    /// The number of records.
    pub(super) fn n_records(&self) -> usize {
        self.new_blocks.len()
    }

    /// The index of the first child's record.
    pub(super) fn first_child(&self) -> usize {
        self.plan.parts.n_columns
    }

    /// The index of the first bundle's record.
    pub(super) fn first_bundle(&self) -> usize {
        self.first_child() + self.plan.nested.children.len()
    }

    /// The number of a record's first column in the file.
    pub(super) fn number(&self, record: usize) -> u64 {
        self.numbers.of_record(record)
    }

    /// The number of missing values in the new blocks of a column.
    pub(super) fn n_missing(&self, record: usize) -> u64 {
        self.new_blocks[record].iter().map(|block| u64::from(block.statistics.n_missing)).sum()
    }

    /// A value whose column numbers count from the column of record `first`, converted to column
    /// numbers of the file.
    pub(super) fn in_file<'v>(&self, value: &'v Value, first: usize) -> Cow<'v, Value> {
        let first = self.number(first);
        if first == 0 {
            return Cow::Borrowed(value);
        }
        let mut value = value.clone();
        value.visit_mut(&mut |scalar| {
            if let Value::Column(number) = scalar {
                *number += first;
            }
        });
        Cow::Owned(value)
    }

    /// The section of column runs. `n_joined` has a number for each record of a column of a frame or of
    /// no table that is written: how many of the next columns share it.
    pub(super) fn emit_runs(&self, n_joined: &[usize]) -> Vec<u8> {
        let n_top = self.plan.parts.n_columns;
        let has_runs = n_joined.len() < n_top || !self.numbers.0.is_empty();
        let mut out = Vec::new();
        let mut record = 0;
        for n in if has_runs { n_joined } else { &[] } {
            out.extend_from_slice(&self.number(record).to_le_bytes());
            record += n + 1;
        }
        for record in if has_runs { n_top..self.n_records() + 1 } else { 0..0 } {
            out.extend_from_slice(&self.number(record).to_le_bytes());
        }
        out
    }
}

/// The number of each record's first column; empty if each record is one column.
struct Numbers(Vec<u64>);

impl Numbers {
    fn of(parts: &Parts<'_>) -> Self {
        let mut numbers = Vec::new();
        if parts.columns().any(|of| of.column.run.is_some()) {
            let mut next = 0;
            for of in parts.columns() {
                numbers.push(next);
                next += of.column.n_columns() as u64;
            }
            numbers.push(next);
        }
        Self(numbers)
    }

    fn of_record(&self, record: usize) -> u64 {
        match (self.0.get(record), self.0.last()) {
            (Some(&number), _) => number,
            // Children and bundles come after the columns, with one record each.
            (None, Some(&last)) => last + (record + 1 - self.0.len()) as u64,
            (None, None) => record as u64,
        }
    }
}
