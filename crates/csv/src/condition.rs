//! Conditions on rows, which are tested chunk by chunk.

use std::fmt::Debug;

use entasis::Result;

use crate::frame::Lent;
use crate::piece::TextLayout;

/// A condition on the values of a row.
pub trait Condition: Debug + Send + Sync {
    /// The names of the columns with these values.
    fn columns(&self) -> &[String];

    /// One bit for each of `n` rows, the lowest bits first: whether it passes. `columns` are those
    /// of [`Condition::columns`].
    ///
    /// # Errors
    /// As for a filter of a file with these columns.
    fn test(&self, columns: &[Lent<'_>], n: usize, layout: TextLayout) -> Result<Vec<u64>>;
}
