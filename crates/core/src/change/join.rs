//! The tables of several files as one table in memory.
//!
//! A file whose columns have the form of those before gives its block records alone: its blocks
//! stay in their file. Of other files, the rows are appended by value, as
//! [`Change::append_file`](crate::Change::append_file) appends them, to a tail in memory. So the
//! joined table is a file like any other for readers, filters and scans.

mod form;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use entasis_format::{BlockRecord, Error, Limits, Operation, Result, SLOT_PAGES_END, Slot, Value, fallible};

use super::keep::Keeper;
use super::{
    AppendOptions, ColumnSource, Content, NewColumns, append_file, columns, joined_host, kept, rows_of_file,
};
use crate::file::File;
use crate::frame::{Column, Frame};
use crate::monitor::{Monitor, Quiet};
use crate::rebuild::{Changed, ChangedTable, Rebuild};
use crate::rows::Rows;
use crate::segments::{Segments, Tail};
use crate::write::placement::{Placed, Placement};
use crate::write::{Base, Ground, Plan, WRITE, Workers, WriteOptions};
use form::Form;

/// The files begin at multiples of this.
const ALIGN: u64 = 64;
/// The use of memory, in messages.
const BLOCKS: &str = "the block records of the joined files";

/// More files than this are opened again for each read, because a process may have few open files.
const MOST_OPEN: usize = 128;

/// The tables of several files as one table.
#[derive(Debug)]
pub struct Join {
    name: PathBuf,
    limits: Limits,
    segments: Segments,
    file: File,
}

impl Join {
    /// Joins the rows of files in their order. The files are opened one after the other. Errors
    /// show `name` as the path of the whole. Columns are matched by name, as
    /// [`Change::append_file`](crate::Change::append_file) does.
    ///
    /// Reads the footer of each file. Rows of files with other types or categories, or of few rows,
    /// are read into memory.
    ///
    /// # Errors
    /// *Argument* without files, and when the rows of a file don't fit those before; *corrupt*;
    /// *io*; *interrupted*. Each with the file that it is about.
    pub fn new(
        files: impl ExactSizeIterator<Item = Result<File>>,
        name: &Path,
        options: &AppendOptions<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let stays_open = files.len() <= MOST_OPEN;
        let mut rest = Rest { files: &mut files.into_iter(), next: None };
        let first = rest.take()?.ok_or_else(|| Error::argument("there are no files").in_file(name))?;
        let joined = Self::begin(&first, &mut rest, name, stays_open, monitor)?;
        let Self { name: _, limits, mut segments, mut file } = joined;
        let joining = Joining { name, limits: &limits, stays_open, monitor };
        while let Some(next) = rest.take()? {
            file = joining.append(&mut segments, &file, &next, options)?;
            let form = Form::of(&file)?;
            if form.takes_blocks() && rest.peek()?.is_some() {
                file = joining.refer(&mut segments, (&form, 0), &mut rest)?;
            }
        }
        Ok(Self { name: name.to_path_buf(), limits, segments, file })
    }

    /// As [`new`](Self::new), if no rows are read into memory: all files have columns of the same
    /// form. Else `None`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn by_reference(
        files: impl ExactSizeIterator<Item = Result<File>>,
        name: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Option<Self>> {
        let stays_open = files.len() <= MOST_OPEN;
        let mut rest = Rest { files: &mut files.into_iter(), next: None };
        let first = rest.take()?.ok_or_else(|| Error::argument("there are no files").in_file(name))?;
        let joined = Self::begin(&first, &mut rest, name, stays_open, monitor)?;
        Ok(if rest.peek()?.is_none() { Some(joined) } else { None })
    }

    /// Joins the first file with those of the next ones that give their block records alone.
    fn begin(
        first: &File,
        rest: &mut Rest<'_>,
        name: &Path,
        stays_open: bool,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        super::check_change(first, true).map_err(|e| e.in_file(first.path()))?;
        let limits = first.limits().clone();
        let mut segments = Segments::default();
        // The head of a file with slot pages, whose slots are empty.
        segments.push_memory(0, vec![0; SLOT_PAGES_END as usize]);
        let joining = Joining { name, limits: &limits, stays_open, monitor };
        let at = joining.push_file(&mut segments, first);
        let form = Form::of(first).map_err(|e| e.in_file(first.path()))?;
        let file = joining.refer(&mut segments, (&form, at), rest)?;
        Ok(Self { name: name.to_path_buf(), limits, segments, file })
    }

    /// Adds columns after those of the table. `labels` is a host map with the labels of all
    /// columns, as for [`Change::with_columns`](crate::Change::with_columns).
    ///
    /// # Errors
    /// *Argument* for another number of rows; otherwise as for writing.
    pub fn add_columns(&mut self, new: Vec<Column>, labels: Value, monitor: &dyn Monitor) -> Result<()> {
        let joining = Joining { name: &self.name, limits: &self.limits, stays_open: true, monitor };
        let mut content = kept::kept(&self.file)?;
        let frame = content.table()?;
        let names = frame.columns.iter().chain(&new).map(|column| column.name.clone()).collect();
        let sources: Vec<_> = (0..frame.columns.len())
            .map(ColumnSource::Kept)
            .chain((0..new.len()).map(ColumnSource::New))
            .collect();
        let new = Frame { n_rows: frame.n_rows, columns: new, extra: Vec::new(), host: labels };
        columns::change(&self.file, frame, new, NewColumns { sources: &sources, names, levels: Vec::new() })?;
        self.file = joining.write(&mut self.segments, &self.file, content)?;
        Ok(())
    }

    /// The table, with all values in memory, as a frame to write.
    ///
    /// # Errors
    /// *Argument* for nested columns and objects; *unsupported* for tables of R; otherwise as for
    /// reading.
    pub fn into_frame(self, monitor: &dyn Monitor) -> Result<Frame> {
        let n_rows = self.file.n_rows();
        let positions: Vec<usize> = (0..self.file.n_columns() as usize).collect();
        let (rows, all) = (Rows::All, 0..n_rows);
        Ok(rows_of_file::read(&self.file, &positions, &rows, Some(&all), None, monitor)?.frame)
    }

    /// The table so far.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The table.
    pub fn into_file(self) -> File {
        self.file
    }
}

/// The files that are not joined yet.
struct Rest<'a> {
    files: &'a mut dyn Iterator<Item = Result<File>>,
    next: Option<File>,
}

impl Rest<'_> {
    /// The next file, which stays.
    fn peek(&mut self) -> Result<Option<&File>> {
        if self.next.is_none() {
            self.next = self.files.next().transpose()?;
        }
        Ok(self.next.as_ref())
    }

    fn take(&mut self) -> Result<Option<File>> {
        self.peek()?;
        Ok(self.next.take())
    }
}

/// The settings for all files.
struct Joining<'a> {
    name: &'a Path,
    limits: &'a Limits,
    /// Whether files stay open.
    stays_open: bool,
    monitor: &'a dyn Monitor,
}

impl Joining<'_> {
    /// Adds the bytes of a file. Returns their offset.
    fn push_file(&self, segments: &mut Segments, file: &File) -> u64 {
        let at = segments.end().next_multiple_of(ALIGN);
        if self.stays_open {
            segments.push_file(at, file.whole(), 0..file.slot().end);
        } else {
            segments.push_path(at, file);
        }
        at
    }

    /// Takes those of the next files that give their block records alone. The bytes of `form` begin
    /// at an offset.
    fn refer(&self, segments: &mut Segments, (form, at): (&Form, u64), rest: &mut Rest<'_>) -> Result<File> {
        let mut blocks = Vec::new();
        for info in &form.columns {
            let mut of_column = Vec::new();
            let move_to = |block| moved(block, (at, 0), 0);
            put_blocks(form, info.index, move_to, &mut of_column).map_err(|e| e.in_file(form.file.path()))?;
            fallible::push(&mut blocks, of_column, BLOCKS)?;
        }
        let mut totals: HashMap<u64, Changed> = HashMap::new();
        for &number in &form.of_rows {
            let record = &form.column(number)?.record;
            let now = Changed { n_values: record.n_values, n_missing: record.n_missing };
            fallible::insert(&mut totals, number, now, BLOCKS)?;
        }
        let (mut host, mut n_rows) = (form.host.clone(), form.table.n_rows());
        let positions: Vec<usize> = (0..form.table.n_columns() as usize).collect();
        while form.takes_blocks()
            && let Some(next) = rest.peek()?
        {
            if self.monitor.interrupted() {
                return Err(Error::interrupted());
            }
            let named = |e: Error| e.in_file(next.path());
            let other = Form::of(next).map_err(named)?;
            if !form.takes(&other).map_err(named)? {
                break;
            }
            let hosts = ((&host, n_rows), (&other.host, other.table.n_rows()));
            // The error comes when the rows are appended.
            let Ok(joined) = joined_host::join(hosts.0, hosts.1, &positions, &|_| false) else { break };
            let end =
                n_rows.checked_add(other.table.n_rows()).ok_or_else(|| Error::argument("too many rows"))?;
            let at = self.push_file(segments, next);
            self.put(form, &other, at, &mut totals, &mut blocks).map_err(named)?;
            (host, n_rows) = (joined, end);
            rest.take()?;
        }
        self.describe(
            segments,
            form,
            &blocks,
            totals,
            ChangedTable { number: form.number, n_rows, host: (host != form.host).then_some(host) },
        )
    }

    /// Adds the blocks of a file whose bytes begin at `at`.
    fn put(
        &self,
        form: &Form,
        other: &Form,
        at: u64,
        totals: &mut HashMap<u64, Changed>,
        blocks: &mut [Vec<Placed>],
    ) -> Result<()> {
        let before = totals.clone();
        let values_before = |number: u64| before.get(&number).map_or(0, |total| total.n_values);
        for &number in &form.of_rows {
            let info = other.column(number)?;
            let first_child = match form.child_with_offsets(number)? {
                Some(child) => values_before(child),
                None => 0,
            };
            let first_value = values_before(number);
            let Some(of_column) = usize::try_from(number).ok().and_then(|number| blocks.get_mut(number))
            else {
                continue;
            };
            let move_to = |block| moved(block, (at, first_value), first_child);
            put_blocks(other, number, move_to, of_column).map_err(|e| e.in_column(&info.name))?;
            if let Some(total) = totals.get_mut(&number) {
                let sum = |a: u64, b: u64| a.checked_add(b).ok_or_else(|| Error::argument("too many rows"));
                total.n_values = sum(total.n_values, info.record.n_values)?;
                total.n_missing = sum(total.n_missing, info.record.n_missing)?;
            }
        }
        Ok(())
    }

    /// Makes a footer for the blocks.
    fn describe(
        &self,
        segments: &mut Segments,
        form: &Form,
        blocks: &[Vec<Placed>],
        changed: HashMap<u64, Changed>,
        table: ChangedTable,
    ) -> Result<File> {
        let rebuild = Rebuild {
            changed,
            table: Some(table),
            ..Rebuild::new(&form.file, &form.columns, Vec::new(), None)
        };
        let ground = Ground {
            file: Some(&form.file),
            base: Some(Base::of(&form.file)),
            operation: Operation::Part.code(),
            ..Ground::default()
        };
        self.open(segments, |tail, start| {
            rebuild.footer(blocks, &ground, Placement::new(tail, start, WRITE, 0))?.append()
        })
    }

    /// Appends the rows of a file by value.
    fn append(
        &self,
        segments: &mut Segments,
        file: &File,
        rows: &File,
        options: &AppendOptions<'_>,
    ) -> Result<File> {
        if self.monitor.interrupted() {
            return Err(Error::interrupted());
        }
        let mut work = || {
            let mut content = kept::kept(file)?;
            append_file::append(file, content.table()?, rows, options, &Quiet(self.monitor))?;
            self.write(segments, file, content)
        };
        work().map_err(|e| e.in_file(rows.path()))
    }

    /// Writes a new value of the table after all bytes so far.
    fn write(&self, segments: &mut Segments, file: &File, mut content: Content) -> Result<File> {
        let file = file.whole();
        Keeper { file: &file, own_compression: &[] }.find(&mut content)?;
        let options = WriteOptions::default();
        let plan = Plan::after(Some(&file), content.parts()?, &options)?;
        let ground = Ground {
            file: Some(&file),
            base: Some(Base::of(&file)),
            is_in_place: true,
            operation: Operation::Part.code(),
            compression: Some(plan.compression()),
            ..Ground::default()
        };
        self.open(segments, |tail, start| {
            plan.execute_change(tail, start, &ground, &Workers::default(), &Quiet(self.monitor))
        })
    }

    /// Adds the bytes that `write` makes, and opens the state of its slot.
    fn open(&self, segments: &mut Segments, write: impl FnOnce(&Tail, u64) -> Result<Slot>) -> Result<File> {
        let start = segments.end().next_multiple_of(ALIGN);
        let tail = Tail::new(start);
        let slot = write(&tail, start)?;
        segments.push_memory(start, tail.into_bytes());
        let unlocked = segments.unlocked();
        File::joined_at(Box::new(segments.clone()), unlocked, self.name, self.limits.clone(), slot)
    }
}

/// Adds the blocks of a column, moved to their places.
fn put_blocks(
    form: &Form,
    number: u64,
    move_to: impl Fn(BlockRecord) -> Option<BlockRecord>,
    blocks: &mut Vec<Placed>,
) -> Result<()> {
    let records = form.file.blocks(number)?;
    let statistics = form.file.statistics(number)?;
    if records.len() != statistics.len() {
        return Err(Error::corrupt("the statistics of a column are not those of its blocks"));
    }
    fallible::reserve(blocks, records.len(), BLOCKS)?;
    for (record, statistics) in records.iter().zip(statistics) {
        let record = move_to(*record).ok_or_else(|| Error::argument("too many rows"))?;
        blocks.push(Placed::kept(record, statistics));
    }
    Ok(())
}

/// A block whose file begins at `at`, after some values, and after some values of its child.
fn moved(block: BlockRecord, (at, first_value): (u64, u64), first_child: u64) -> Option<BlockRecord> {
    Some(BlockRecord {
        first_value: block.first_value.checked_add(first_value)?,
        pages_at: block.pages_at.checked_add(at)?,
        directory_at: block.directory_at.checked_add(at)?,
        first_child: block.first_child.checked_add(first_child)?,
        ..block
    })
}
