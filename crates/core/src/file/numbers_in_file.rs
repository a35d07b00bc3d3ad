//! Converts the numbers of columns in a view to those in the file, and back.

use std::ops::Range;

use entasis_format::Value;

use super::File;

impl File {
    /// The numbers of the table's columns in the file.
    pub(crate) fn columns_in_file(&self) -> Vec<Range<u64>> {
        self.numbering.ranges(self.table.n_columns)
    }

    /// The number in the file of a column of this view.
    pub(crate) fn number_in_file(&self, column: u64) -> u64 {
        self.numbering.in_file(column)
    }

    /// The numbers in the file of the columns that a value of this view names.
    pub(crate) fn named_in_file(&self, value: &Value) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut copy = value.clone();
        copy.visit_mut(&mut |scalar| {
            if let Value::Column(column) = scalar {
                numbers.push(self.numbering.in_file(*column));
            }
        });
        numbers
    }

    /// A value of this view with the column numbers of the file.
    pub(crate) fn value_in_file(&self, mut value: Value) -> Value {
        value.visit_mut(&mut |scalar| {
            if let Value::Column(column) = scalar {
                *column = self.numbering.in_file(*column);
            }
        });
        value
    }

    /// The number in the table of this column of the file, if the table has it.
    pub(crate) fn position(&self, column: u64) -> Option<u64> {
        self.numbering.in_view(column).ok().filter(|&number| number < self.table.n_columns)
    }
}
