//! Writes a table part by part. All parts become the file's value at the end.
//!
//! Each part is appended like an in-place change, but no slot names it. A last root makes all parts
//! one state. So only one part needs memory at a time.

use std::path::Path;

use entasis_format::{Error, Operation, Result, Slot};
use entasis_io::Durable;

use super::keep::Keeper;
use super::to::To;
use super::{Change, Content, NewColumns, append, columns, kept, now};
use crate::file::File;
use crate::file_sink::FileSink;
use crate::frame::Frame;
use crate::monitor::{Monitor, Silent};
use crate::write::{Base, Ground, Plan, Workers, WriteOptions, create, unlocked, write_root};

/// A table that is written part by part. If the stream is dropped before the end, the file at its
/// path stays as it was.
///
/// ```
/// use entasis::{Frame, Silent, Stream, WriteOptions};
/// # fn write(path: &std::path::Path, parts: Vec<Frame>) -> entasis::Result<()> {
/// let options = WriteOptions::default();
/// let mut stream = Stream::create(path, &options, &Silent)?;
/// for part in parts {
///     stream.append(part, &[], &options, &Silent)?;
/// }
/// stream.finish()
/// # }
/// ```
pub struct Stream {
    to: To,
    /// The table so far.
    file: Option<File>,
    /// The committed file that gets more rows.
    old: Option<File>,
    durable: bool,
    /// The operation that the last root records.
    operation: Operation,
    /// Memory and hints of the threads that wrote the last part.
    workers: Workers,
}

impl Stream {
    /// Begins a new file, which replaces one at `path`. [`WriteOptions::must_be_new`] refuses that.
    ///
    /// # Errors
    /// As [`write`](crate::write()).
    pub fn create(path: &Path, options: &WriteOptions, monitor: &dyn Monitor) -> Result<Self> {
        options.check()?;
        let replacement =
            create(path, options, monitor)?.map_err(|e| Error::io(e, "create").in_file(path))?;
        let sink = unlocked(options).and_then(|unlocked| FileSink::new(replacement, unlocked));
        let sink = sink.map_err(|e| e.in_file(path))?;
        Ok(Self {
            to: To::New(Box::new(sink)),
            file: None,
            old: None,
            durable: false,
            operation: Operation::Write,
            workers: Workers::of_stream(),
        })
    }

    /// Adds rows to the table of a file.
    ///
    /// # Errors
    /// *Argument* for an unknown edition; *io*.
    pub fn extend(change: Change, options: &WriteOptions) -> Result<Self> {
        options.check()?;
        let Change { in_place, file } = change;
        let path = file.path().to_path_buf();
        let prepared = To::prepare(in_place, file, options, &Silent);
        let (to, file) = prepared.map_err(|e| e.in_file(&path))?;
        let old = file.view_at(*file.slot())?;
        Ok(Self {
            to,
            file: Some(file),
            old: Some(old),
            durable: options.durable != Durable::Never,
            operation: Operation::Append,
            workers: Workers::of_stream(),
        })
    }

    /// Returns an error in a forked child of the process that began the stream. A child can neither
    /// continue nor finish it.
    ///
    /// # Errors
    /// *Io*, with a message that names the process.
    pub fn check_process(&self) -> Result<()> {
        self.to.check_process()
    }

    /// A view of the table so far; `None` before the first part. Drop the view before you finish
    /// the stream.
    ///
    /// # Errors
    /// As for reading.
    pub fn view(&self) -> Result<Option<File>> {
        self.file.as_ref().map(|file| file.view_at(*file.slot())).transpose()
    }

    /// Adds the rows of `part`, as [`Change::append`] does. The first part of a new file defines
    /// the columns; none may be a column run.
    ///
    /// # Errors
    /// As [`Change::append`], and as for writing. After an error of writing the stream cannot
    /// continue.
    pub fn append(
        &mut self,
        part: Frame,
        labels: &[usize],
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let path = self.path().to_path_buf();
        self.append_part(part, labels, options, monitor).map_err(|e| e.in_file(&path))
    }

    fn append_part(
        &mut self,
        part: Frame,
        labels: &[usize],
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let content = match &self.file {
            None => Content::Frame(part),
            Some(file) => {
                let mut content = kept::kept(file)?;
                append::append(file, content.table()?, part, labels)?;
                content
            }
        };
        self.write(content, options, monitor)
    }

    /// Changes the columns of the table so far, as [`Change::with_columns_and_levels`] does. `new`
    /// has as many rows as the table so far. A file that was there then records `operation`.
    ///
    /// # Errors
    /// *Argument* before the first part; otherwise as [`Change::with_columns_and_levels`], and as
    /// for writing. After an error of writing the stream cannot continue.
    pub fn set_columns(
        &mut self,
        new: Frame,
        columns: NewColumns<'_>,
        operation: Operation,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let path = self.path().to_path_buf();
        let work = || {
            let file = self.file.as_ref().ok_or_else(|| Error::argument("nothing was written"))?;
            let mut content = kept::kept(file)?;
            columns::change(file, content.table()?, new, columns)?;
            self.write(content, options, monitor)
        };
        work().map_err(|e| e.in_file(&path))?;
        if self.old.is_some() {
            self.operation = operation;
        }
        Ok(())
    }

    /// Writes a part. `content` is the whole value after it.
    fn write(&mut self, mut content: Content, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
        self.check_process()?;
        let whole = self.file.as_ref().map(File::whole);
        if let Some(file) = &whole {
            Keeper { file, own_compression: &options.column_compression }.find(&mut content)?;
        }
        let plan = Plan::after(whole.as_ref(), content.parts()?, options)?;
        let ground = Ground {
            file: whole.as_ref(),
            base: whole.as_ref().map(Base::of),
            is_in_place: whole.is_some(),
            is_linked: whole.is_some(),
            operation: Operation::Part.code(),
            compression: Some(plan.compression()),
            keep: options.keep,
            time: 0,
            not_synced: false,
        };
        let start = whole.as_ref().map_or_else(|| self.to.first_start(), File::next_start);
        let slot = plan.execute_change(self.to.sink(), start, &ground, &self.workers, monitor)?;
        self.file = Some(self.to.open(slot)?);
        Ok(())
    }

    /// Makes the parts the value of the file.
    ///
    /// # Errors
    /// *Argument* when there was no part; *io*. After an error the file at the path has its old
    /// state.
    pub fn finish(self) -> Result<()> {
        self.check_process()?;
        let path = self.path().to_path_buf();
        if self.file.is_none() {
            return Err(Error::argument("nothing was written").in_file(&path));
        }
        if !self.is_staged() {
            return Ok(());
        }
        let slot = self.write_last_root().map_err(|e| e.in_file(&path))?;
        let Self { to, file, old, durable, .. } = self;
        // Windows renames no open file.
        drop(file);
        to.commit(old, slot, durable).map_err(|e| e.in_file(&path))
    }

    /// Writes the root that makes all parts one state.
    fn write_last_root(&self) -> Result<Slot> {
        let Some(file) = &self.file else { return Err(Error::argument("nothing was written")) };
        let ground = Ground {
            file: Some(file),
            base: Some(Base::of(file)),
            is_in_place: true,
            is_linked: true,
            operation: self.operation.code(),
            compression: None,
            keep: None,
            time: if self.old.is_some() { now() } else { 0 },
            not_synced: matches!(self.to, To::InPlace(_)) && !self.durable,
        };
        write_root(file.root(), &ground, self.to.sink(), file.next_start())
    }

    /// Whether a part was written.
    fn is_staged(&self) -> bool {
        match (&self.file, &self.old) {
            (Some(file), Some(old)) => file.slot() != old.slot(),
            (file, _) => file.is_some(),
        }
    }

    fn path(&self) -> &Path {
        self.to.path()
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("path", &self.path()).finish_non_exhaustive()
    }
}
