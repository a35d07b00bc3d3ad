//! The rows for which a condition is true, found as they are asked for.

use entasis::{File, Monitor, Result};
use entasis_query::{Predicate, Scan, parse_where};

use crate::labels::{self, Source};
use crate::progress::Step;
use crate::row_set::RowSet;

/// The rows of one window, tested together. Their numbers take at most 8 bytes each.
const WINDOW: u64 = 1 << 20;

/// Finds rows in windows of the table, so that memory does not depend on its length. A window may
/// have no rows.
pub(crate) struct Found<'f> {
    scan: Option<Scan<'f>>,
    n_rows: u64,
    /// The first row that was not tested yet.
    next: u64,
    /// How many rows are still wanted.
    n_left: u64,
    /// How many rows of the last window pass but are beyond the limit.
    n_cut: u64,
    threads: Option<usize>,
}

impl<'f> Found<'f> {
    /// The first `limit` rows for which the condition is true, or of all rows if there is none.
    ///
    /// # Errors
    /// *Argument* for a condition that does not fit the table; otherwise as for reading.
    pub(crate) fn new(
        file: &'f File,
        condition: Option<&str>,
        limit: u64,
        threads: Option<usize>,
    ) -> Result<Self> {
        let scan = match condition {
            Some(condition) => Some(Scan::new(file, &predicate(file, condition)?)?),
            None => None,
        };
        Ok(Self { scan, n_rows: file.n_rows(), next: 0, n_left: limit, n_cut: 0, threads })
    }

    /// How many rows were tested.
    pub(crate) fn n_tested(&self) -> u64 {
        self.next
    }

    /// How many rows of the limit are left.
    pub(crate) fn n_left(&self) -> u64 {
        self.n_left
    }

    /// How many more rows pass after the rows of the limit were found.
    ///
    /// # Errors
    /// As for reading.
    pub(crate) fn n_beyond(&self, monitor: &dyn Monitor) -> Result<u64> {
        let rest = self.next..self.n_rows;
        let n = match &self.scan {
            None => rest.end - rest.start,
            Some(scan) => scan.with_rows(rest)?.count(self.threads, monitor)?,
        };
        Ok(self.n_cut + n)
    }
}

impl Iterator for Found<'_> {
    type Item = Result<RowSet>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.n_left == 0 || self.next == self.n_rows {
            return None;
        }
        let window = self.next..self.n_rows.min(self.next + WINDOW);
        self.next = window.end;
        let found = match &self.scan {
            None => Ok(RowSet::from(window)),
            Some(scan) => scan
                .with_rows(window)
                .and_then(|scan| scan.row_numbers(self.threads, &Step))
                .map(|rows| rows.into_iter().collect()),
        };
        Some(found.map(|mut rows: RowSet| {
            let wanted = rows.take(self.n_left).unwrap_or_default();
            self.n_left -= wanted.n();
            self.n_cut = rows.n();
            wanted
        }))
    }
}

/// The condition on the columns of a file, as [`condition`], with the file in errors.
pub(crate) fn predicate(file: &File, text: &str) -> Result<Predicate> {
    condition(file, text).map_err(|e| e.in_file(file.path()))
}

/// The condition on the columns of the table and on the labels of its rows, as `--where` has it.
///
/// # Errors
/// *Argument* for a condition that does not fit the table; otherwise as for reading.
pub fn condition(file: &File, text: &str) -> Result<Predicate> {
    let labels = labels::of(file)?.into_iter().filter_map(|label| match label.source {
        Source::Column(info) => Some((label.name, info.index)),
        Source::Range { .. } => None,
    });
    parse_where(file, text, &labels.collect::<Vec<_>>())
}
