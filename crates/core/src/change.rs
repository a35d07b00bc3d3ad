//! Changes of a file in place (`docs/format/container.md`).
//!
//! A change describes the new value of the whole file. Kept columns stay where they are:
//! [`Array::kept`](crate::Array::kept). New blocks and a new footer are appended, and one small
//! write makes them current. A file without slot pages is replaced by a new file instead.

mod append;
mod append_file;
mod arrange;
mod categories;
mod columns;
mod columns_of_file;
mod fit;
mod fit_column;
mod host_map;
mod join;
mod joined_host;
mod keep;
mod kept;
mod kept_values;
mod pieces;
mod recode;
mod row_copy;
mod rows_of_file;
mod stream;
mod tail;
mod to;

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use entasis_format::{Error, Keep, Operation, Result, Root, SLOT_OFFSETS, Slot, SlotState, Value, Version};
use entasis_io::{Disk, Durable, InPlace, NativeDisk};

use crate::file::File;
use crate::file_sink::{FileSink, rewrite_slot};
use crate::frame::{Document, Frame};
use crate::monitor::Monitor;
use crate::opening::Opening;
use crate::retain::kept_generations;
use crate::write::unknown::{check_record_lens, check_writer};
use crate::write::{Base, Ground, Parts, Plan, Workers, WriteOptions, when_free, write_root};
pub use append_file::Appended;
pub use columns::{ColumnSource, NewColumns};
pub use fit_column::{AppendOptions, Labels};
pub use join::Join;
use keep::Keeper;
pub use row_copy::RowCopy;
pub use stream::Stream;
pub(crate) use to::To;

/// A file to change, with its lock. If it is dropped, the file stays unchanged.
///
/// ```
/// use entasis::{Array, Change, Operation, Silent, WriteOptions};
/// # fn add(path: &std::path::Path, frame: entasis::Frame) -> entasis::Result<()> {
/// let options = WriteOptions::default();
/// let change = Change::begin(path, &options, &Silent)?;
/// let appended = change.append(frame, &[])?;
/// change.commit(appended, Operation::Append, &options, &Silent)?;
/// # Ok(())
/// # }
/// ```
pub struct Change {
    in_place: InPlace,
    file: File,
}

/// The new value of a file that changes.
#[derive(Debug)]
pub enum Content {
    /// A table.
    Frame(Frame),
    /// Several tables and other columns.
    Document(Document),
}

impl Content {
    /// The table that is the value.
    fn table(&mut self) -> Result<&mut Frame> {
        let frame = match self {
            Self::Frame(frame) => Some(frame),
            Self::Document(document) => kept::table_of(&document.value)
                .and_then(|number| document.frames.get_mut(usize::try_from(number).ok()?)),
        };
        frame.ok_or_else(|| Error::unsupported("the file does not hold a table"))
    }

    /// The checked parts to write.
    fn parts(&self) -> Result<Parts<'_>> {
        match self {
            Self::Frame(frame) => Parts::of_frame(frame),
            Self::Document(document) => Parts::of_document(document),
        }
    }
}

impl From<Frame> for Content {
    fn from(frame: Frame) -> Self {
        Self::Frame(frame)
    }
}

impl From<Document> for Content {
    fn from(document: Document) -> Self {
        Self::Document(document)
    }
}

impl Change {
    /// Takes the lock of the file at `path` and opens its current state.
    ///
    /// # Errors
    /// *Io*: *not found*; *would block* when another writer holds the lock longer than
    /// [`WriteOptions::wait`]; *unsupported* when the file system has no locks. Otherwise as
    /// [`File::open`].
    pub fn begin(path: &Path, options: &WriteOptions, monitor: &dyn Monitor) -> Result<Self> {
        Self::begin_with(path, Opening::default(), options, monitor)
    }

    /// As [`begin`](Self::begin), with another [`Opening`] for the file. If it has no secret, that
    /// of the options opens the file.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_with(
        path: &Path,
        opening: impl Into<Opening>,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        Self::take(Arc::new(NativeDisk), path, opening.into(), options, monitor)
    }

    /// As [`begin`](Self::begin), on the given file system.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        Self::take(disk, path, Opening::default(), options, monitor)
    }

    fn take(
        disk: Arc<dyn Disk>,
        path: &Path,
        mut opening: Opening,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let take = || InPlace::open_on(Arc::clone(&disk), path, options.needs_lock);
        let in_place =
            when_free(options.wait, monitor, take)?.map_err(|e| Error::io(e, "change").in_file(path))?;
        opening.secret = opening.secret.or_else(|| options.secret.clone());
        let file = File::open_with(in_place.target(), opening)?;
        Ok(Self { in_place, file })
    }

    /// The file before the change.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The lock and the file.
    pub(crate) fn into_parts(self) -> (InPlace, File) {
        (self.in_place, self.file)
    }

    /// Whether the file's value is a table without cells.
    pub fn is_single_table(&self) -> bool {
        self.file.value() == &Value::Table(0) && self.file.n_tables() == 1
    }

    /// The file's value, with all its columns kept.
    ///
    /// # Errors
    /// *Unsupported* when the file has columns of unknown types, or stores its columns in another
    /// order than this writer; otherwise as for reading.
    pub fn kept(&self) -> Result<Content> {
        kept::kept(&self.file).map_err(|e| e.in_file(self.file.path()))
    }

    /// The file's value with the rows of `part` appended to its table. Columns are matched by
    /// position and must have equal names and types. The result has the host map of `part`.
    ///
    /// `labels` are indices in [`Frame::extra`] of columns with one value per row; their rows are
    /// appended too. A dictionary may have other values than the file's, or another order: its new
    /// values are added to the file's dictionary. All other extra columns must have equal values.
    /// The order of the extra columns may differ.
    ///
    /// # Errors
    /// *Argument* when `part` does not fit; *unsupported* when the file's value is not a table, or
    /// has columns of objects; otherwise as [`kept`](Self::kept).
    pub fn append(&self, part: Frame, labels: &[usize]) -> Result<Content> {
        self.edit(|frame| append::append(&self.file, frame, part, labels))
    }

    /// The file's value with the rows of another file's table appended. Columns are matched by
    /// name, in any order. Values of other types are converted if the types of the file hold them
    /// exactly. Unordered categories become the union of both. The file keeps its host map, with a
    /// longer range as its index.
    ///
    /// Reads the rows into memory, and the columns that get another type.
    ///
    /// # Errors
    /// *Argument* when names or hosts differ, when a type does not hold a value, for nested
    /// columns, for columns of objects, and for an index other than a range from 0; otherwise as
    /// [`kept`](Self::kept), and as for reading.
    pub fn append_file(
        &self,
        rows: &File,
        options: &AppendOptions<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Appended> {
        let mut content = self.kept()?;
        let work =
            content.table().and_then(|frame| append_file::append(&self.file, frame, rows, options, monitor));
        let (operation, anew) = work.map_err(|error| error.in_file(self.file.path()))?;
        Ok(Appended { content, operation, anew })
    }

    /// The value with other columns in the file's table: columns of the file and of `new`, in any
    /// order, with these names. For hosts with labels of columns, the host map of `new` has the
    /// labels of all columns (`columns`; in R `names`). It may also have R attributes of the frame.
    /// Unused extra columns are dropped.
    ///
    /// # Errors
    /// *Argument* when `new` has another number of rows or a column is taken twice; *unsupported*
    /// when the file's value is not a table; otherwise as [`kept`](Self::kept).
    pub fn with_columns(&self, new: Frame, sources: &[ColumnSource], names: Vec<String>) -> Result<Content> {
        self.with_columns_and_levels(new, NewColumns { sources, names, levels: Vec::new() })
    }

    /// Like [`with_columns`](Self::with_columns), but also replaces the index. The new index is the
    /// entry `index` in the host map of `new`. If that entry lacks the key `kind`, its fields
    /// replace the same fields of the file's index or are added to it, and the other fields stay.
    ///
    /// # Errors
    /// As [`with_columns`](Self::with_columns).
    pub fn with_columns_and_levels(&self, new: Frame, columns: NewColumns<'_>) -> Result<Content> {
        self.edit(|frame| columns::change(&self.file, frame, new, columns))
    }

    /// The columns of another file's table at these positions, for
    /// [`with_columns`](Self::with_columns). The host map has the entries of these columns, without
    /// labels: columns are labelled by their names.
    ///
    /// Reads the columns into memory.
    ///
    /// # Errors
    /// *Argument* when the numbers of rows or the hosts differ, for nested columns, for columns or
    /// attributes that are objects, and for an index other than the file's index or a range from 0;
    /// otherwise as [`kept`](Self::kept), and as for reading.
    pub fn columns_of(&self, other: &File, positions: &[usize], monitor: &dyn Monitor) -> Result<Frame> {
        let host = self.file.host().map_err(|e| e.in_file(self.file.path()))?;
        columns_of_file::read((&host, self.file.n_rows()), other, positions, monitor)
    }

    /// The value with new metadata: the cells of `document`, whose value has the key `metadata`.
    /// `None` removes the metadata.
    ///
    /// # Errors
    /// *Unsupported* when the file's value is not a table, or has other cells (objects, `attrs`),
    /// which would have to be rewritten; otherwise as [`kept`](Self::kept).
    pub fn with_metadata(&self, document: Option<Document>) -> Result<Content> {
        let refused = || Error::unsupported("the file has other values than its table and metadata");
        let frame = match self.kept()? {
            Content::Frame(frame) => frame,
            Content::Document(Document { mut frames, value, .. }) => {
                let is_only = frames.len() == 1 && kept::table_of(&value) == Some(0);
                frames.pop().filter(|_| is_only).ok_or_else(refused)?
            }
        };
        if !kept::is_without_cells(&frame) {
            return Err(refused());
        }
        let Some(Document { frames: none, columns, value }) = document else { return Ok(frame.into()) };
        let Value::Map(mut pairs) = value else { return Err(refused()) };
        if !none.is_empty() {
            return Err(Error::unsupported("metadata with frames have to be written with the whole file"));
        }
        pairs.retain(|(key, _)| key.as_str() != Some("value"));
        pairs.insert(0, (Value::from("value"), Value::Table(0)));
        Ok(Document { frames: vec![frame], columns, value: Value::Map(pairs) }.into())
    }

    /// Changes the table that is the file's value.
    fn edit(&self, change: impl FnOnce(&mut Frame) -> Result<()>) -> Result<Content> {
        let in_file = |error: Error| error.in_file(self.file.path());
        let mut content = self.kept()?;
        content.table().and_then(change).map_err(in_file)?;
        Ok(content)
    }

    /// Makes `content` the value of the file. Writes a new file, with the generations that have to
    /// be kept, if this one has no slot pages, or is short and mostly dead.
    ///
    /// # Errors
    /// As [`write`](crate::write()). The file then has its old state.
    pub fn commit(
        self,
        content: impl Into<Content>,
        operation: Operation,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let path = self.file.path().to_path_buf();
        self.commit_after(content.into(), operation, options, monitor).map_err(|e| e.in_file(&path))
    }

    /// Makes `content`, which has no kept columns, the value of the file. It replaces the file if
    /// no generation has to be kept: that is when it has all rows of the value before. Otherwise it
    /// becomes a new generation.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn replace(
        self,
        content: impl Into<Content>,
        operation: Operation,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let path = self.file.path().to_path_buf();
        let work = || {
            if self.must_keep(operation, options)? {
                self.commit_after(content.into(), operation, options, monitor)
            } else {
                self.commit_anew(&content.into(), operation, options, monitor)
            }
        };
        work().map_err(|e: Error| e.in_file(&path))
    }

    /// Whether a generation has to be kept when a whole value follows.
    fn must_keep(&self, operation: Operation, options: &WriteOptions) -> Result<bool> {
        if self.file.root().version() == Version::OLDEST {
            return Ok(false);
        }
        Ok(match operation {
            Operation::Write | Operation::Update | Operation::Unknown => false,
            Operation::Append => {
                let keep = options.keep.unwrap_or(self.file.root().keep);
                keep != Keep::default() || !kept_generations(&self.file, keep, now())?.is_empty()
            }
            _ => true,
        })
    }

    /// Goes back to an earlier generation by adding a new generation with its value. Writes no
    /// values and keeps the newer generations. Verifies the earlier generation first.
    ///
    /// Costs about as much as reading all values.
    ///
    /// # Errors
    /// *Argument* when the file lacks the generation; *corrupt* when it is damaged; *io*. After an
    /// error the file has its old state.
    pub fn rollback(self, generation: u64, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
        let path = self.file.path().to_path_buf();
        let Self { in_place, file } = self;
        let work = || {
            options.check()?;
            check_change(&file, true)?;
            let earlier = file.at_generation(generation)?;
            if generation == file.generation() && options.keep.is_none() {
                return Ok(());
            }
            earlier.survey_generation(options.threads, monitor)?.into_result()?;
            let to = To::after(in_place, &file)?;
            let slot = write_again(&file, earlier.root(), &to, Operation::Rollback, options)?;
            to.commit(Some(file), slot, options.durable != Durable::Never)
        };
        work().map_err(|e: Error| e.in_file(&path))
    }

    /// States how many earlier generations later changes keep, by adding a generation with the
    /// same value.
    ///
    /// # Errors
    /// *Argument* when the number is 0; otherwise as [`commit`](Self::commit).
    pub fn keep(self, keep: Keep, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
        let path = self.file.path().to_path_buf();
        let options = WriteOptions { keep: Some(keep), ..options.clone() };
        let work = || {
            options.check()?;
            let (to, file) = To::prepare(self.in_place, self.file, &options, monitor)?;
            let slot = write_again(&file, file.root(), &to, Operation::Metadata, &options)?;
            to.commit(Some(file), slot, options.durable != Durable::Never)
        };
        work().map_err(|e: Error| e.in_file(&path))
    }

    fn commit_after(
        self,
        mut content: Content,
        operation: Operation,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let Self { in_place, file } = self;
        kept::check_keys(file.value(), &content)?;
        let (to, file) = To::prepare(in_place, file, options, monitor)?;
        let slot = {
            let file = file.whole();
            Keeper { file: &file, own_compression: &options.column_compression }.find(&mut content)?;
            let plan = Plan::after(Some(&file), content.parts()?, options)?;
            let compression = Some(plan.compression());
            let ground = Ground { compression, ..ground(&file, operation, options) };
            plan.execute_change(to.sink(), file.next_start(), &ground, &Workers::default(), monitor)?
        };
        to.commit(Some(file), slot, options.durable != Durable::Never)
    }

    fn commit_anew(
        self,
        content: &Content,
        operation: Operation,
        options: &WriteOptions,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let Self { in_place, file } = self;
        check_change(&file, false)?;
        let file = file.whole();
        kept::check_keys(file.value(), content)?;
        let plan = Plan::after(Some(&file), content.parts()?, options)?;
        let ground = Ground {
            is_in_place: false,
            is_linked: false,
            compression: Some(plan.compression()),
            ..ground(&file, operation, options)
        };
        let replacement = in_place.replace(options.durable).map_err(|e| Error::io(e, "change"))?;
        let sink = FileSink::instead_of(replacement, &file)?;
        plan.execute_anew(&sink, sink.first_start(), &ground, monitor)?;
        sink.commit().map_err(|e| Error::io(e, "replace"))
    }
}

/// Writes the root of a generation with the sections of another one.
fn write_again(
    file: &File,
    sections_of: &Root,
    to: &To,
    operation: Operation,
    options: &WriteOptions,
) -> Result<Slot> {
    write_root(sections_of, &ground(file, operation, options), to.sink(), file.next_start())
}

/// The ground of a change in place.
pub(crate) fn ground<'a>(file: &'a File, operation: Operation, options: &WriteOptions) -> Ground<'a> {
    Ground {
        file: Some(file),
        base: Some(Base::of(file)),
        is_in_place: true,
        is_linked: true,
        operation: operation.code(),
        compression: None,
        keep: options.keep,
        time: now(),
        not_synced: options.durable == Durable::Never,
    }
}

/// Checks that this release can change a file. It adds no generation to a file of 0.2: programs
/// that know 0.2 alone could not read it.
pub(crate) fn check_change(file: &File, is_in_place: bool) -> Result<()> {
    let version = file.root().version();
    if is_in_place && version == Version::OLDEST {
        let message = format!("a file of format version {version} cannot be changed in place");
        return Err(
            Error::unsupported(message).advise("compact it first, which stores it in the current version")
        );
    }
    check_writer(file.root())?;
    check_record_lens(file.root())
}

/// Writes the current state into a slot, if no slot has it: after the change, the trailer that
/// names it is no longer at the end of the file.
fn secure(file: &File, in_place: &InPlace) -> Result<()> {
    let current = *file.slot();
    let [a, b] = file.slots();
    let has =
        |state: SlotState| matches!(state, SlotState::Valid(slot) if slot.generation == current.generation);
    if has(file.header().first) || has(a) || has(b) {
        return Ok(());
    }
    let [at_a, at_b] = SLOT_OFFSETS;
    let at = if matches!(a, SlotState::Valid(_)) { at_b } else { at_a };
    let slot = Slot { not_synced: false, ..current };
    rewrite_slot(in_place, file, at, &slot)
}

/// The offset of the slot for the next generation, which is not the current slot.
fn next_slot_at(file: &File) -> u64 {
    let [at_a, at_b] = SLOT_OFFSETS;
    let generation = file.slot().generation;
    let is_current =
        |state: SlotState| matches!(state, SlotState::Valid(slot) if slot.generation == generation);
    let [a, b] = file.slots();
    let secured_in_a =
        !is_current(b) && !is_current(file.header().first) && !matches!(a, SlotState::Valid(_));
    if is_current(a) || secured_in_a { at_b } else { at_a }
}

/// Nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

impl std::fmt::Debug for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Change").field("file", &self.file).finish_non_exhaustive()
    }
}
