//! A scan: the rows of a table that a predicate keeps.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use entasis::{Announced, Error, File, Monitor, Result};

use crate::bind::Binder;
use crate::evaluate::{TASK, by_statistics, restrict};
use crate::node::Node;
use crate::ones::{ones, room_for};
use crate::predicate::Predicate;
use crate::row_bits::RowBits;
use crate::selection::Selection;
use crate::test::Answers;

/// The bytes that are fetched in about the time of a round of requests.
const ROUND: u64 = 4 << 20;

/// A predicate bound to the table of a file.
///
/// Binding checks columns and types, and reads statistics and categories. Rows are read when they
/// are asked for.
#[derive(Debug)]
pub struct Scan<'f> {
    file: &'f File,
    rows: Range<u64>,
    node: Arc<Node>,
}

/// The decision of statistics, before any value is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Rows of the scan.
    pub n_rows: u64,
    /// Rows that cannot pass.
    pub n_pruned: u64,
    /// Rows that all pass.
    pub n_passed: u64,
    /// Rows whose values are tested.
    pub n_tested: u64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_rows, n_pruned, n_passed, n_tested } = self;
        write!(f, "{n_rows} rows: {n_pruned} pruned, {n_passed} passed by statistics, {n_tested} tested")
    }
}

impl<'f> Scan<'f> {
    /// A scan of all rows of the file's table.
    ///
    /// # Errors
    /// *Argument* for unknown columns and for values that do not compare; *unsupported* for columns
    /// that have no filters; *corrupt*, *io*, *limit*.
    pub fn new(file: &'f File, predicate: &Predicate) -> Result<Self> {
        Self::of_rows(file, predicate, 0..file.n_rows())
    }

    /// A scan of some rows.
    ///
    /// # Errors
    /// As [`new`](Self::new), and *argument* for rows that do not exist.
    pub fn of_rows(file: &'f File, predicate: &Predicate, rows: Range<u64>) -> Result<Self> {
        if !file.is_table() {
            return Err(Error::argument("only a table has rows to filter").in_file(file.path()));
        }
        check(file, &rows)?;
        let node = Binder::new(file).bind(predicate, false).map_err(|e| e.in_file(file.path()))?;
        Ok(Self { file, rows, node: Arc::new(node) })
    }

    /// The same scan of other rows. Reads nothing.
    ///
    /// # Errors
    /// *Argument* for rows that do not exist.
    pub fn with_rows(&self, rows: Range<u64>) -> Result<Self> {
        check(self.file, &rows)?;
        Ok(Self { file: self.file, rows, node: Arc::clone(&self.node) })
    }

    /// The decision of statistics.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan { n_rows: self.rows.end - self.rows.start, ..Plan::default() };
        self.decide(self.rows.clone(), &mut |rows, answers| {
            *match answers {
                Answers::None => &mut plan.n_pruned,
                Answers::All => &mut plan.n_passed,
                Answers::Some => &mut plan.n_tested,
            } += rows.end - rows.start;
        });
        plan
    }

    /// Announces columns of the rows that may pass, if the file is remote: they are fetched while
    /// the rows are tested, until the returned value is dropped. Nothing is announced if that would
    /// take more time than another round of requests.
    ///
    /// # Errors
    /// As for reading.
    pub fn announce(&self, columns: &[u64]) -> Result<Option<Announced>> {
        if !self.file.is_remote() {
            return Ok(None);
        }
        let Left { mut tested, passed } = self.left();
        tested.extend(passed);
        tested.sort_unstable_by_key(|rows| rows.start);
        self.file.announce_rows(columns, &tested, ROUND)
    }

    /// The number of rows that pass. Reads no values of rows that statistics decide.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*, *interrupted*.
    pub fn count(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<u64> {
        let count = Mutex::new(0u64);
        let passed = self.run(threads, monitor, |_, selection| {
            *lock(&count) += selection.count() as u64;
        })?;
        let passed: u64 = passed.iter().map(|rows| rows.end - rows.start).sum();
        Ok(passed + *lock(&count))
    }

    /// The numbers of the rows that pass, ascending. Takes 8 bytes for each.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn row_numbers(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Vec<u64>> {
        let found: Mutex<Vec<Found>> = Mutex::default();
        let passed = self.run(threads, monitor, |rows, selection| {
            let n = selection.count() as u64;
            if n > 0 {
                lock(&found).push(Found { first: rows.start, n, selection: Some(selection) });
            }
        })?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.extend(passed.into_iter().map(|rows| Found {
            first: rows.start,
            n: rows.end - rows.start,
            selection: None,
        }));
        found.sort_unstable_by_key(|found| found.first);
        let n = found.iter().map(|found| found.n).fold(0, u64::saturating_add);
        self.file.check_decoded_len(n.saturating_mul(8))?;
        let mut rows = room_for(n)?;
        for Found { first, n, selection } in found {
            match selection {
                Some(selection) => rows.extend(ones(selection.words()).map(|row| first + row)),
                None => rows.extend(first..first + n),
            }
        }
        Ok(rows)
    }

    /// One bit per row: whether it passes. The bits cover the range from the first to the last row
    /// that statistics did not rule out.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn bits(&self, threads: Option<usize>, monitor: &dyn Monitor) -> Result<RowBits> {
        let left = self.left();
        let ranges = || left.tested.iter().chain(&left.passed);
        let first = ranges().map(|rows| rows.start).min().unwrap_or(self.rows.start);
        let end = ranges().map(|rows| rows.end).max().unwrap_or(first);
        self.file.check_decoded_len((end - first).div_ceil(8))?;
        let mut bits = RowBits::none(first..end)?;
        left.passed.iter().for_each(|rows| bits.add_all(rows.clone()));
        let bits = Mutex::new(bits);
        self.test(left.tested, threads, monitor, |rows, selection| {
            lock(&bits).add(rows.start, selection.words());
        })?;
        Ok(bits.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tests the rows that statistics do not decide. Returns the ranges in which all rows pass.
    fn run(
        &self,
        threads: Option<usize>,
        monitor: &dyn Monitor,
        take: impl Fn(&Range<u64>, Selection) + Sync,
    ) -> Result<Vec<Range<u64>>> {
        let Left { tested, passed } = self.left();
        self.test(tested, threads, monitor, take)?;
        Ok(passed)
    }

    /// Tests these rows.
    fn test(
        &self,
        tasks: Vec<Range<u64>>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
        take: impl Fn(&Range<u64>, Selection) + Sync,
    ) -> Result<()> {
        if tasks.is_empty() {
            return Ok(());
        }
        let _announced = if self.file.is_remote() {
            let mut columns = Vec::new();
            self.node.add_columns(&mut columns);
            self.file.announce_blocks(columns, &tasks)?
        } else {
            None
        };
        self.file.for_each_task(tasks, threads, monitor, |reader, rows| {
            let mut selection = Selection::all((rows.end - rows.start) as usize);
            restrict(&self.node, &rows, &mut selection, reader)?;
            take(&rows, selection);
            Ok(())
        })
    }

    /// The rows that statistics leave.
    fn left(&self) -> Left {
        let mut found = Left::default();
        self.decide(self.rows.clone(), &mut |rows, answers| match answers {
            Answers::None => {}
            Answers::All => found.passed.push(rows),
            Answers::Some => found.tested.push(rows),
        });
        found
    }

    /// Splits rows until statistics decide them or they fit a task. Tasks end at the block
    /// boundaries of values of fixed width.
    fn decide(&self, rows: Range<u64>, decided: &mut dyn FnMut(Range<u64>, Answers)) {
        if rows.is_empty() {
            return;
        }
        let answers = by_statistics(&self.node, rows.clone());
        let (first, last) = (rows.start / TASK, (rows.end - 1) / TASK);
        if answers != Answers::Some || first == last {
            return decided(rows, answers);
        }
        let middle = (first + (last - first).div_ceil(2)) * TASK;
        self.decide(rows.start..middle, decided);
        self.decide(middle..rows.end, decided);
    }
}

/// Rows that statistics did not rule out. Rows in `tested` may pass, and all rows in `passed` do.
#[derive(Default)]
struct Left {
    tested: Vec<Range<u64>>,
    passed: Vec<Range<u64>>,
}

/// Rows that pass: the selected ones from `first` on, or `n` consecutive ones.
struct Found {
    first: u64,
    n: u64,
    selection: Option<Selection>,
}

fn check(file: &File, rows: &Range<u64>) -> Result<()> {
    let n = file.n_rows();
    if rows.start <= rows.end && rows.end <= n {
        return Ok(());
    }
    let message = format!("rows {} to {} are not among the {n} rows", rows.start, rows.end);
    Err(Error::argument(message).in_file(file.path()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
