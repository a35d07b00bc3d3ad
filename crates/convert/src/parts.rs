//! Parts of a table of fst.

use std::ops::Range;
use std::path::{Path, PathBuf};

use entasis::{Error, File, FileSource, HostRead, Limits, Monitor, Result, Source, default_threads};

use crate::fst::Table;
use crate::open::{Opened, file_of_plan, hold_values, is_fst};
use crate::r::{Data, Facts, Plan, PlanOptions, Strings, Value, Values};

/// Rows whose times are looked at together.
const WINDOW: u64 = 1 << 22;

/// An open file of fst. Only its header was read.
pub struct Parts {
    source: Box<dyn Source>,
    path: PathBuf,
    limits: Limits,
    names: Strings,
    n_rows: u64,
}

impl Parts {
    /// Opens the file at a path; `None` if it is not of fst.
    ///
    /// # Errors
    /// *Damaged* for a header that no writer writes, *not supported* for other versions of the
    /// format.
    pub fn open(path: &Path, limits: Limits) -> Result<Option<Self>> {
        if !is_fst(path) {
            return Ok(None);
        }
        let source = FileSource::open(path).map_err(|error| Error::io(error, "open").in_file(path))?;
        Self::of_source(Box::new(source), path, limits).map(Some)
    }

    /// Opens the bytes of a source. Errors show `name` as the path.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_source(source: Box<dyn Source>, name: &Path, limits: Limits) -> Result<Self> {
        let (names, n_rows) = {
            let table = Table::of_source(&*source).map_err(|error| error.in_file(name))?;
            (table.names().clone(), table.n_rows())
        };
        Ok(Self { source, path: name.to_path_buf(), limits, names, n_rows })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The names of the columns.
    pub fn names(&self) -> &Strings {
        &self.names
    }

    /// Bytes of the file.
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// A file in memory with the columns, their types and their levels, and without rows.
    ///
    /// The unit of times that are doubles depends on all values. These columns are decoded, and no
    /// others.
    ///
    /// # Errors
    /// As for reading.
    pub fn schema(&self, lend: &dyn Fn(&[u8]) -> HostRead, monitor: &dyn Monitor) -> Result<File> {
        let work = || {
            let table = Table::of_source(&*self.source)?;
            let value = table.columns(None, 0)?.read(0..0, &mut [], 1, monitor)?;
            let Data::List(columns) = &value.data else { return Err(Error::argument("a table has columns")) };
            let mut facts = Vec::with_capacity(columns.len());
            for (i, column) in columns.iter().enumerate() {
                let has_values = Facts::decide_type(column);
                facts.push(if has_values { self.facts(&table, i, monitor)? } else { Facts::default() });
            }
            self.file(value, facts, lend, monitor)
        };
        work().map_err(|error| error.in_file(&self.path))
    }

    /// The facts of all values of a column.
    fn facts(&self, table: &Table<'_>, column: usize, monitor: &dyn Monitor) -> Result<Facts> {
        let pass = |mut facts: Facts| {
            let columns = table.columns(Some(&[column]), self.n_rows)?;
            for start in (0..self.n_rows).step_by(WINDOW as usize) {
                let rows = start..self.n_rows.min(start + WINDOW);
                let value = columns.read(rows, &mut [false], default_threads(), monitor)?;
                if let Data::List(columns) = &value.data {
                    facts = columns.iter().fold(facts, Facts::with);
                }
            }
            Ok::<Facts, Error>(facts)
        };
        let found = pass(Facts::default())?;
        // A unit that became finer may not hold earlier values.
        if self.n_rows > WINDOW { pass(found) } else { Ok(found) }
    }

    /// A file in memory with some columns, by number and in this order, and some rows. The unit of
    /// times that are doubles is the coarsest one that is exact for these rows.
    ///
    /// # Errors
    /// *Argument* for rows and columns that the table does not have; as for reading.
    pub fn part(
        &self,
        columns: Option<&[usize]>,
        rows: Range<u64>,
        lend: &dyn Fn(&[u8]) -> HostRead,
        monitor: &dyn Monitor,
    ) -> Result<File> {
        let work = || self.file(self.value(columns, rows, monitor)?, Vec::new(), lend, monitor);
        work().map_err(|error| error.in_file(&self.path))
    }

    /// As [`part`](Self::part), in the memory where it was decoded if it is long.
    ///
    /// # Errors
    /// As [`part`](Self::part).
    pub fn hold(
        &self,
        columns: Option<&[usize]>,
        rows: Range<u64>,
        lend: &dyn Fn(&[u8]) -> HostRead,
        monitor: &dyn Monitor,
    ) -> Result<Opened> {
        let work = || {
            let values = labelled(self.value(columns, rows, monitor)?);
            hold_values(values, &self.path, self.limits.clone(), lend, monitor)
        };
        work().map_err(|error| error.in_file(&self.path))
    }

    fn value(&self, columns: Option<&[usize]>, rows: Range<u64>, monitor: &dyn Monitor) -> Result<Value> {
        let table = Table::of_source(&*self.source)?;
        let most = self.limits.decoded_len_of(self.source.len());
        table.part(columns, rows, Some(most), default_threads(), monitor)
    }

    fn file(
        &self,
        value: Value,
        facts: Vec<Facts>,
        lend: &dyn Fn(&[u8]) -> HostRead,
        monitor: &dyn Monitor,
    ) -> Result<File> {
        let values = labelled(value);
        let plan = Plan::of_part(&values, PlanOptions::default(), facts)?;
        file_of_plan(&plan, &self.path, self.limits.clone(), lend, monitor)
    }
}

/// The values of a part. Rows that are absent have no labels, like those that are there.
fn labelled(mut value: Value) -> Values {
    if let Some(names) =
        value.attributes.iter_mut().flat_map(|all| all.iter_mut()).find(|(name, _)| name == "row.names")
        && names.1.is_empty()
    {
        names.1 = Data::Integer(vec![i32::MIN, 0]).into();
    }
    Values { value, environments: Vec::new() }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("path", &self.path)
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}
