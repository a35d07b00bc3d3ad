//! All columns of a new generation, with the blocks that were stored for them.

use std::borrow::Cow;
use std::ops::Range;

use entasis_format::{BlockRange, Value};

use super::column_ranges::column_ranges;
use super::numbers::{Numbers, Slot};
use super::placement::Placed;
use super::{Plan, Stored};

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
    pub(super) fn new(
        plan: &'a Plan<'_>,
        stored: &[Stored<'a>],
        placed: &'a [Vec<Placed>],
        numbers: Numbers,
    ) -> Self {
        let n = plan.parts.n_columns + plan.nested.children.len() + plan.bundles.len();
        let mut contents = Self { plan, new_blocks: vec![&[]; n], kept_blocks: vec![&[]; n], numbers };
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

    /// A value whose column numbers count the columns from record `first` on, converted to column
    /// numbers of the file.
    pub(super) fn in_file<'v>(&self, value: &'v Value, first: usize) -> Cow<'v, Value> {
        let is_in_file = matches!(self.numbers, Numbers::InOrder { .. }) && self.number(first) == 0;
        if is_in_file {
            return Cow::Borrowed(value);
        }
        let mut value = value.clone();
        value.visit_mut(&mut |scalar| {
            if let Value::Column(number) = scalar {
                *number = self.numbers.of_column(first, *number);
            }
        });
        Cow::Owned(value)
    }

    /// The meanings of the column records, ascending by number.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.numbers.slots(self.n_records())
    }

    /// A lower bound of the numbers of all columns that the table of frame `number` has or names.
    pub(super) fn first_number(&self, number: usize) -> u64 {
        let (first, frame) = self.plan.parts.frames[number];
        let own = first..first + frame.columns.len() + frame.extra.len();
        // Bundles ascend by frame.
        let bundle = |frame| self.plan.bundles.partition_point(|bundle| bundle.frame < frame);
        let bundles = (bundle(number)..bundle(number + 1)).map(|bundle| self.first_bundle() + bundle);
        match self.numbers {
            // Columns of tables come before all others, and tables before later ones.
            Numbers::InOrder { .. } => self.number(first),
            // A child has a greater number than its parent.
            Numbers::Kept { .. } => own.chain(bundles).map(|record| self.number(record)).min().unwrap_or(0),
        }
    }

    /// The numbers of the columns of frame `number`, as ranges in their order.
    pub(super) fn column_ranges(&self, number: usize) -> Vec<Range<u64>> {
        let (first, frame) = self.plan.parts.frames[number];
        if let Numbers::InOrder { .. } = self.numbers {
            let first = self.number(first);
            return Vec::from_iter(Some(first..first + frame.n_columns() as u64));
        }
        column_ranges((first..first + frame.columns.len()).map(|record| self.number(record)))
    }
}
