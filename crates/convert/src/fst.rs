//! Data frames in the format of the R package fst, from version 0.8 on.
//!
//! A file has a header, the positions of its columns, and columns in blocks of 16 KiB. Structures
//! have hashes, values do not. Only the blocks that hold the requested rows are decoded.

mod bits;
mod blocks;
mod columns;
mod decoder;
mod header;
mod jobs;
mod text;

use std::ops::Range;

use entasis::{Error, Monitor, Result, Source};

use self::columns::{Column, Values};
use self::header::Header;
pub(crate) use self::header::{LEGACY, MAGIC, MAGIC_AT};
use crate::bytes::Bytes;
use crate::r::{Data, Strings, Value};

/// The most bytes of factors without levels, whose values take no bytes in the file.
const MOST_EXPANDED: u64 = 1 << 30;

/// A data frame in fst format.
///
/// ```no_run
/// use entasis_convert::fst::{Selection, Table};
///
/// # fn main() -> entasis::Result<()> {
/// let bytes = std::fs::read("prices.fst").unwrap();
/// let table = Table::open(&bytes)?;
/// println!("{} rows", table.n_rows());
/// let selection = Selection { rows: Some(0..10), ..Selection::default() };
/// let frame = table.read(&selection, 2, &entasis::Silent)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Table<'a> {
    bytes: Bytes<'a>,
    header: Header,
}

/// Parts of a table.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The columns by name, in this order; `None` for all.
    pub columns: Option<Vec<String>>,
    /// The rows, from 0; `None` for all.
    pub rows: Option<Range<u64>>,
    /// The most bytes of the values.
    pub max_bytes: Option<u64>,
}

impl<'a> Table<'a> {
    /// Reads and checks the header, and the positions of columns.
    ///
    /// # Errors
    /// *Damaged* for hashes that do not match, *not supported* for other versions of the format.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        Self::of_bytes(Bytes::Memory(bytes))
    }

    /// As [`open`](Self::open), for a file whose bytes are read when they are needed.
    ///
    /// # Errors
    /// As [`open`](Self::open), and *io*.
    pub fn of_source(source: &'a dyn Source) -> Result<Self> {
        Self::of_bytes(Bytes::Source(source))
    }

    pub(crate) fn of_bytes(bytes: Bytes<'a>) -> Result<Self> {
        Ok(Self { bytes, header: header::read(bytes)? })
    }

    /// The names of the columns.
    pub fn names(&self) -> &Strings {
        &self.header.names
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.header.n_rows
    }

    /// The numbers of the columns, from 0, by which a data.table was sorted. The frame does not
    /// record them, like the one of `fst::read_fst`.
    pub fn keys(&self) -> &[usize] {
        &self.header.keys
    }

    /// Reads columns and rows as a `data.frame`, whose attributes are `names`, `class` and
    /// `row.names`. Its columns have the classes that `fst::read_fst` gives.
    ///
    /// # Errors
    /// *No column*, *argument* for rows that the table does not have, *limit* for values longer
    /// than `max_bytes`, and *damaged*.
    pub fn read(&self, selection: &Selection, threads: usize, monitor: &dyn Monitor) -> Result<Value> {
        let rows = selection.rows.clone().unwrap_or(0..self.n_rows());
        let chosen = self.chosen(selection.columns.as_deref())?;
        self.part(Some(&chosen), rows, selection.max_bytes, threads, monitor)
    }

    /// As [`read`](Self::read), for columns by number.
    pub(crate) fn part(
        &self,
        columns: Option<&[usize]>,
        rows: Range<u64>,
        max_bytes: Option<u64>,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Value> {
        if rows.start > rows.end || rows.end > self.n_rows() {
            let (n, Range { start, end }) = (self.n_rows(), rows);
            return Err(Error::argument(format!("rows {start}..{end} are not in a table of {n} rows")));
        }
        let n_rows = rows.end - rows.start;
        let mut columns = self.columns(columns, n_rows)?;
        columns.check_len(n_rows, max_bytes)?;
        columns.limit_text(max_bytes);
        columns.read(rows, &mut vec![false; columns.n()], threads, monitor)
    }

    /// Opens columns by number, to read `n_rows` rows; `None` for all columns.
    pub(crate) fn columns(&self, columns: Option<&[usize]>, n_rows: u64) -> Result<Columns<'_>> {
        if i32::try_from(n_rows).is_err() {
            return Err(
                Error::unsupported("a data frame of R with 2^31 rows").advise("read fewer rows at once")
            );
        }
        let chosen = columns.map_or_else(|| (0..self.names().len()).collect(), <[usize]>::to_vec);
        if chosen.iter().any(|&i| i >= self.names().len()) {
            return Err(Error::argument("the table has no column with this number"));
        }
        let columns: Result<Vec<Column<'_>>> =
            chosen.iter().map(|&i| Column::open(self.bytes, &self.header, i)).collect();
        Ok(Columns { header: &self.header, chosen, columns: columns?, max_text: None })
    }

    /// The numbers of the chosen columns.
    fn chosen(&self, columns: Option<&[String]>) -> Result<Vec<usize>> {
        let Some(columns) = columns else { return Ok((0..self.names().len()).collect()) };
        let number = |name: &String| {
            let found = self.names().iter().position(|of| of == Some(name));
            found.ok_or_else(|| Error::no_column(format!("there is no column '{name}'")))
        };
        columns.iter().map(number).collect()
    }
}

fn too_long() -> Error {
    Error::limit("the values are longer than max_bytes allows")
        .advise("raise max_bytes if you trust the file, or read fewer rows or columns")
}

/// Open columns of a table.
pub(crate) struct Columns<'t> {
    header: &'t Header,
    chosen: Vec<usize>,
    columns: Vec<Column<'t>>,
    /// The most bytes of strings that are read at once.
    max_text: Option<u64>,
}

impl Columns<'_> {
    /// The number of columns.
    pub(crate) fn n(&self) -> usize {
        self.columns.len()
    }

    /// The number of columns of strings.
    pub(crate) fn n_text(&self) -> usize {
        self.columns.iter().filter(|column| matches!(column.values, Values::Text(_))).count()
    }

    /// Limits the bytes of strings that are read at once.
    pub(crate) fn limit_text(&mut self, most: Option<u64>) {
        self.max_text = most;
    }

    /// Bytes of the stored blocks of strings that have these rows.
    pub(crate) fn stored_text_len(&self, rows: &Range<u64>) -> Result<u64> {
        let mut sum = 0u64;
        for column in &self.columns {
            sum = sum.saturating_add(column.stored_text_len(rows)?);
        }
        Ok(sum)
    }

    /// Checks the memory of `n_rows` rows, without that of strings.
    fn check_len(&self, n_rows: u64, max_bytes: Option<u64>) -> Result<()> {
        if n_rows.saturating_mul(self.width()) > max_bytes.unwrap_or(u64::MAX) {
            return Err(too_long());
        }
        self.check_free(n_rows, max_bytes)
    }

    /// Checks the memory of values that take no bytes in the file.
    pub(crate) fn check_free(&self, n_rows: u64, max_bytes: Option<u64>) -> Result<()> {
        let n = self.columns.iter().filter(|column| column.is_free()).count() as u64;
        let len = n_rows.saturating_mul(4 * n);
        if len <= max_bytes.unwrap_or(u64::MAX).min(MOST_EXPANDED) { Ok(()) } else { Err(too_long()) }
    }

    /// The bytes of a row in memory, without those of strings.
    pub(crate) fn width(&self) -> u64 {
        self.columns.iter().map(Column::width).fold(0, u64::saturating_add)
    }

    /// Reads rows that the table has, as [`Table::read`]. `by_string` has a flag for each column:
    /// strings are looked at one by one where it is set, and it is set where they had to be. It may
    /// be empty without rows.
    pub(crate) fn read(
        &self,
        rows: Range<u64>,
        by_string: &mut [bool],
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Value> {
        let n_rows = i32::try_from(rows.end - rows.start).unwrap_or(i32::MAX);
        let values = jobs::run(&self.columns, rows, by_string, self.max_text, threads, monitor)?;
        let mut names = Strings::with_room(self.chosen.len())?;
        for &i in &self.chosen {
            self.header.push_name(i, &mut names);
        }
        let row_names = if n_rows == 0 { Vec::new() } else { vec![i32::MIN, -n_rows] };
        let class: Strings = ["data.frame"].into_iter().collect();
        Ok(Value::from(Data::List(values))
            .with("names", Data::Strings(Box::new(names)))
            .with("class", Data::Strings(Box::new(class)))
            .with("row.names", Data::Integer(row_names)))
    }
}
