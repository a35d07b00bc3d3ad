//! The rows that a call reads.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{Error, Result, fallible};

/// A selection of rows.
#[derive(Clone, Debug)]
pub enum Rows {
    /// All rows.
    All,
    /// Consecutive rows.
    Range(Range<u64>),
    /// Every `step`-th row, `n` in total; backwards for a negative step.
    Step {
        /// The first row.
        start: u64,
        /// The number of rows.
        n: u64,
        /// The distance from one row to the next.
        step: i64,
    },
    /// Any rows in any order, repeated or not.
    Indices(Arc<Vec<u64>>),
}

impl Rows {
    /// The number of selected rows in a table of `n_rows`.
    pub fn n(&self, n_rows: u64) -> u64 {
        match self {
            Self::All => n_rows,
            Self::Range(range) => range.end.saturating_sub(range.start),
            Self::Step { n, .. } => *n,
            Self::Indices(indices) => indices.len() as u64,
        }
    }

    /// Every `step`-th row from `start` up to, but without, `stop`, as a Python slice with resolved
    /// indices. `stop` is `u64::MAX` for a stop before row 0. A step of 0 selects nothing.
    pub fn step(start: u64, stop: u64, step: i64) -> Self {
        let width = step.unsigned_abs();
        let span = if step > 0 {
            stop.saturating_sub(start)
        } else if stop == u64::MAX {
            start.saturating_add(1)
        } else {
            start.saturating_sub(stop)
        };
        match step {
            1 => Self::Range(start..start.saturating_add(span)),
            0 => Self::Range(start..start),
            _ => Self::Step { start, n: span.div_ceil(width), step },
        }
    }

    /// The numbers of the rows of a [`Step`](Self::Step).
    pub(crate) fn numbers(start: u64, n: u64, step: i64) -> Result<Arc<Vec<u64>>> {
        let n_rows = usize::try_from(n).unwrap_or(usize::MAX);
        let mut numbers = fallible::with_capacity(n_rows, "the numbers of the rows")?;
        let mut row = start;
        for _ in 0..n {
            numbers.push(row);
            row = row.wrapping_add_signed(step);
        }
        Ok(Arc::new(numbers))
    }

    /// The rows where `mask` (one byte per row) is not zero.
    pub fn mask(mask: &[u8]) -> Self {
        let rows = mask.iter().enumerate().filter(|(_, m)| **m != 0).map(|(i, _)| i as u64);
        Self::Indices(Arc::new(rows.collect()))
    }

    /// Checks that every row exists.
    ///
    /// # Errors
    /// *Argument*, with the first row that does not exist.
    pub fn check(&self, n_rows: u64) -> Result<()> {
        match self {
            Self::All => Ok(()),
            Self::Range(range) if range.start <= range.end && range.end <= n_rows => Ok(()),
            Self::Range(range) => Err(Error::argument(format!(
                "rows {} to {} are out of range: the table has {n_rows} rows",
                range.start, range.end
            ))),
            Self::Step { n: 0, .. } => Ok(()),
            Self::Step { start, n, step } => {
                let last = i128::from(*start) + i128::from(*n - 1) * i128::from(*step);
                let outside =
                    [i128::from(*start), last].into_iter().find(|row| !(0..i128::from(n_rows)).contains(row));
                outside.map_or(Ok(()), |row| {
                    Err(Error::argument(format!("row {row} is out of range: the table has {n_rows} rows")))
                })
            }
            Self::Indices(indices) => match indices.iter().find(|&&row| row >= n_rows) {
                None => Ok(()),
                Some(row) => {
                    Err(Error::argument(format!("row {row} is out of range: the table has {n_rows} rows")))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_a_slice() {
        let numbers = |start, stop, step| match Rows::step(start, stop, step) {
            Rows::Range(range) => range.collect::<Vec<_>>(),
            Rows::Step { start, n, step } => Rows::numbers(start, n, step).unwrap().to_vec(),
            _ => unreachable!(),
        };
        assert_eq!(numbers(2, 5, 1), [2, 3, 4]);
        assert_eq!(numbers(2, 9, 3), [2, 5, 8]);
        assert_eq!(numbers(9, 2, -3), [9, 6, 3]);
        assert_eq!(numbers(4, u64::MAX, -2), [4, 2, 0]);
        assert_eq!(numbers(5, u64::MAX, -2), [5, 3, 1]);
        assert_eq!(numbers(5, 5, 2), []);
        assert_eq!(numbers(5, 2, 2), []);
        assert_eq!(numbers(2, 5, -1), []);
        assert!(Rows::step(0, 10, 3).check(10).is_ok());
        assert!(Rows::step(0, 10, 3).check(9).is_err());
        assert!(Rows::step(10, 0, -3).check(10).is_err());
        assert!(Rows::step(0, 1 << 40, 2).check(1 << 40).is_ok());
    }
}
