//! Files of Entasis as values of R: what `read_entasis()` of the R package returns
//! (`docs/format/hosts/r.md`, and `docs/fidelity.md` for files of other hosts).
//!
//! Nothing of a file is evaluated. Functions and environments with values are refused.

mod cells;
mod columns;
mod factors;
mod kinds;
mod labels;
mod losses;
mod make;
mod missing;
mod nested;
mod nodes;
mod objects;
mod pools;
mod python;
mod table;
mod zones;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use entasis::{Error, File, Monitor, Result};

pub use self::losses::Loss;
use self::table::Table;
use super::{Attributes, Data, Value};

/// The greatest depth of tables in tables.
const DEEPEST_TABLE: usize = 40;

/// Reads the value of a file.
pub struct Reading<'a> {
    file: &'a File,
    /// All columns of the file.
    whole: File,
    threads: Option<usize>,
    monitor: &'a dyn Monitor,
    losses: RefCell<Vec<Loss>>,
    /// Pools of arrays that were read.
    pools: RefCell<HashMap<u64, Rc<Value>>>,
    /// The tables that are being read.
    open_tables: RefCell<Vec<u64>>,
    /// The number of cells that values were made of.
    n_made: Cell<u64>,
}

/// The value of a file.
pub enum Root {
    /// A data frame, whose columns are read one by one.
    Frame(Box<Frame>),
    /// Another value.
    Value(Value),
}

/// A data frame whose columns are not read yet.
pub struct Frame {
    table: Table,
    attributes: Attributes,
    n_labels: usize,
    labels: Vec<Value>,
}

impl<'a> Reading<'a> {
    /// Begins to read a file.
    pub fn new(file: &'a File, threads: Option<usize>, monitor: &'a dyn Monitor) -> Self {
        Self {
            file,
            whole: file.whole(),
            threads,
            monitor,
            losses: RefCell::default(),
            pools: RefCell::default(),
            open_tables: RefCell::default(),
            n_made: Cell::new(0),
        }
    }

    /// The value of the file, without the columns of a data frame.
    ///
    /// # Errors
    /// *Unsupported* with the path of a value that plain data of R can't be, *corrupt*, *limit*,
    /// and as [`File::read`].
    pub fn root(&self) -> Result<Root> {
        self.begun().map_err(|error| error.in_file(self.file.path()))
    }

    fn begun(&self) -> Result<Root> {
        self.note_metadata();
        let node = self.file.value();
        let node = node.get("value").unwrap_or(node);
        if let Some(cell) = node.as_cell() {
            return Ok(Root::Value(self.cell(cell)?));
        }
        let number = node.as_table().ok_or_else(|| damage("the file has no value"))?;
        let table = Table::new(self.file.table(number)?)?;
        if table.is_vector() {
            self.lone(&table).map(Root::Value)
        } else {
            self.frame(table).map(|frame| Root::Frame(Box::new(frame)))
        }
    }

    /// The value of the file, with all columns of a data frame.
    ///
    /// # Errors
    /// As [`root`](Self::root).
    pub fn whole(&self) -> Result<Value> {
        match self.root()? {
            Root::Value(value) => Ok(value),
            Root::Frame(frame) => self.all_columns(*frame),
        }
    }

    /// The next column of a data frame.
    ///
    /// # Errors
    /// As [`root`](Self::root).
    pub fn column(&self, frame: &mut Frame, i: usize) -> Result<Value> {
        let value = match frame.labels.get_mut(i) {
            Some(label) => Ok(std::mem::take(label)),
            None => self.column_of(&frame.table, i - frame.n_labels),
        };
        value.map_err(|error| error.in_file(self.file.path()))
    }

    /// The properties that the values lack. The list is complete when all columns were read.
    pub fn losses(self) -> Vec<Loss> {
        self.losses.into_inner()
    }

    /// The value of a table of the file.
    fn table(&self, number: u64) -> Result<Value> {
        {
            let mut open = self.open_tables.borrow_mut();
            if open.contains(&number) {
                return Err(damage("a table contains itself"));
            }
            if open.len() >= DEEPEST_TABLE {
                return Err(damage("tables are nested too deeply"));
            }
            if number >= self.file.n_tables() {
                return Err(damage("a reference to a table that does not exist"));
            }
            open.push(number);
        }
        let table = Table::new(self.file.table(number)?)?;
        let value = if table.is_vector() {
            self.lone(&table)
        } else {
            self.frame(table).and_then(|frame| self.all_columns(frame))
        };
        self.open_tables.borrow_mut().pop();
        value
    }

    fn all_columns(&self, mut frame: Frame) -> Result<Value> {
        let columns = (0..frame.n_columns()).map(|i| self.column(&mut frame, i)).collect::<Result<_>>()?;
        Ok(Value { data: Data::List(columns), attributes: frame.attributes, is_s4: false })
    }

    /// The vector of a table.
    fn lone(&self, table: &Table) -> Result<Value> {
        if table.columns.len() != 1 {
            return Err(damage("a vector of several columns"));
        }
        self.column_of(table, 0)
    }

    fn frame(&self, table: Table) -> Result<Frame> {
        let n_rows = i32::try_from(table.file.n_rows()).map_err(|_| {
            Error::unsupported("a data frame has at most 2^31 - 1 rows").advise("choose rows")
        })?;
        if table.is_own {
            let attributes = self.own_attributes(&table, n_rows)?;
            return Ok(Frame { table, attributes, n_labels: 0, labels: Vec::new() });
        }
        let mut table = table;
        self.leave_out(&mut table)?;
        let labels = self.labels(&table)?;
        self.note_labels(&table, &labels);
        let names = labels.names.iter().map(String::as_str);
        let names = make::texts(names.chain(table.names()));
        let row_names = labels.row_names.map_or_else(|| make::compact_rows(-n_rows), make::row_names);
        let value = make::named_list(Vec::new(), names).with("class", make::text("data.frame"));
        let attributes = value.with("row.names", row_names).attributes;
        Ok(Frame { table, attributes, n_labels: labels.names.len(), labels: labels.columns })
    }

    /// Stops if the caller asks for it.
    fn check(&self) -> Result<()> {
        if self.monitor.interrupted() { Err(Error::interrupted()) } else { Ok(()) }
    }
}

impl Frame {
    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_labels + self.table.columns.len()
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.table.file.n_rows()
    }

    /// The attributes: names, class, row names and others.
    pub fn attributes(&self) -> &[(String, Value)] {
        self.attributes.as_ref().map_or(&[], |attributes| attributes)
    }
}

/// The contents make no sense, although their checksums hold.
#[cold]
fn damage(problem: &'static str) -> Error {
    Error::corrupt(problem).advise("restore the file from a copy")
}
