//! Which rows are read.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{Error, Result};

/// A selection of rows.
#[derive(Clone, Debug)]
pub enum Rows {
    /// All.
    All,
    /// Neighbours.
    Range(Range<u64>),
    /// Any rows in any order, also repeated.
    Indices(Arc<[u64]>),
}

impl Rows {
    /// The number of rows selected of `n_rows`.
    pub fn n(&self, n_rows: u64) -> u64 {
        match self {
            Self::All => n_rows,
            Self::Range(range) => range.end.saturating_sub(range.start),
            Self::Indices(indices) => indices.len() as u64,
        }
    }

    /// Every `step`-th row from `start` on while it is on the near side of `stop`, as in a Python slice with its numbers resolved.
    pub fn step(start: u64, stop: u64, step: i64) -> Self {
        if step == 1 {
            return Self::Range(start..stop.max(start));
        }
        let width = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
        let indices: Arc<[u64]> = if step > 0 {
            (start..stop.max(start)).step_by(width).collect()
        } else {
            // `stop` is exclusive; a stop before row 0 is told by `u64::MAX`.
            let low = if stop == u64::MAX { 0 } else { stop.saturating_add(1) };
            (low..start.saturating_add(1)).rev().step_by(width).collect()
        };
        Self::Indices(indices)
    }

    /// The rows where `mask` (a byte per row) is not zero.
    pub fn mask(mask: &[u8]) -> Self {
        Self::Indices(mask.iter().enumerate().filter(|(_, m)| **m != 0).map(|(i, _)| i as u64).collect())
    }

    /// Checks that every row exists.
    ///
    /// # Errors
    /// *Argument*, naming the first row that doesn't.
    pub fn check(&self, n_rows: u64) -> Result<()> {
        match self {
            Self::All => Ok(()),
            Self::Range(range) if range.start <= range.end && range.end <= n_rows => Ok(()),
            Self::Range(range) => Err(Error::argument(format!(
                "rows {} to {} are out of range: the table has {n_rows} rows",
                range.start, range.end
            ))),
            Self::Indices(indices) => match indices.iter().find(|&&row| row >= n_rows) {
                None => Ok(()),
                Some(row) => {
                    Err(Error::argument(format!("row {row} is out of range: the table has {n_rows} rows")))
                }
            },
        }
    }
}
