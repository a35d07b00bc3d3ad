//! Writes files. Threads encode blocks, which get offsets in a fixed order. The footer and the
//! commit follow.

mod block_records;
mod bundle;
mod check;
mod coalesce;
mod column_ranges;
mod column_records;
mod contents;
pub(crate) mod footer;
mod ground;
mod ids;
pub(crate) mod input;
pub(crate) mod loader;
mod name_indexes;
mod named;
mod names;
mod nested;
mod numbers;
pub(crate) mod placement;
mod range_records;
mod reuse;
mod run_order;
mod sections;
mod table_of_column;
mod table_records;
mod tails;
mod tasks;
pub(crate) mod tiers;
mod type_counts;
pub(crate) mod unknown;
mod values;
mod waste;
mod worker;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use entasis_encodings::Profile;
use entasis_format::{
    EDITION, Error, HEADER_LEN, Keep, Layout, Limits, Operation, Pieces, Result, SLOT_PAGES_END, Slot, Value,
};
use entasis_io::{Durable, Replacement, Sink};
use entasis_seal::{Secret, Suite, Unlocked};

use crate::file::File;
use crate::file_sink::FileSink;
use crate::frame::{Array, Chunk, Column, Document, Frame, HostValues};
use crate::monitor::{Control, Monitor};
use crate::refused::catch_refusal;
use crate::threads;
pub(crate) use bundle::bundled_groups;
use bundle::{Bundle, bundles};
use footer::Footer;
pub(crate) use footer::write_root;
pub(crate) use ground::{Base, Ground};
use input::{Scratch, StringBlocks};
pub(crate) use input::{have_equal_values, owned};
use nested::{ChildOffsets, Nested};
use placement::{Placed, Placement};
use run_order::longest_strings_first;
use tasks::{Task, decoded_len, groups, room, string_len, tasks};
pub(crate) use worker::{LONG_BLOCK, Workers};

/// A thread whose turn it is writes once it has this many encoded bytes.
pub(crate) const WRITE: usize = 1 << 20;
/// A thread waits for its turn once it has this many encoded bytes.
pub(crate) const BUFFER: usize = 8 << 20;
/// Files with at least about this many decoded bytes get slot pages, so that they can change in
/// place. The first change of a smaller file rewrites it.
pub(crate) const GROWS: u64 = 1 << 20;
/// Work on fewer values than this uses only the caller's thread.
const PARALLEL: u64 = 1 << 17;

/// How to write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// 0 (raw) to 100 (smallest). `None`: a change uses the file's last setting, and a new file
    /// uses [`Profile::DEFAULT`].
    pub compression: Option<u8>,
    /// Columns with a compression of their own, by name.
    pub column_compression: Vec<(String, u8)>,
    /// The newest edition whose codes may be stored. `None`: the newest that this release writes.
    pub edition: Option<u8>,
    /// How many earlier generations this change and later ones keep. `None`: as the file says.
    pub keep: Option<Keep>,
    /// The number of threads; none: [`default_threads`](crate::default_threads).
    pub threads: Option<usize>,
    /// Whether to wait until the bytes are on disk.
    pub durable: Durable,
    /// How long to wait for another writer of the same file before the error *io* of kind
    /// `WouldBlock`.
    pub wait: Duration,
    /// Whether to refuse in-place changes where the file system has no locks.
    pub needs_lock: bool,
    /// Whether an existing file is an error (*io* of kind `AlreadyExists`) instead of being
    /// replaced.
    pub must_be_new: bool,
    /// The key or password of an encrypted file: a new file is encrypted with it, and a change
    /// opens the file with it.
    pub secret: Option<Secret>,
    /// The cipher of a new encrypted file. `None`: the fastest one on this machine.
    pub cipher: Option<Suite>,
}

/// The default time to wait for another writer.
const WAIT: Duration = Duration::from_secs(10);
/// The first and the longest pause between two checks whether the other writer has finished.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            compression: None,
            column_compression: Vec::new(),
            edition: None,
            keep: None,
            threads: None,
            durable: Durable::default(),
            wait: WAIT,
            needs_lock: true,
            must_be_new: false,
            secret: None,
            cipher: None,
        }
    }
}

impl WriteOptions {
    /// Checks edition and *keep*.
    pub(crate) fn check(&self) -> Result<()> {
        match self.edition {
            Some(edition) if edition != EDITION => Err(Error::argument(format!(
                "edition {edition} is not known: this release writes edition {EDITION}"
            ))),
            _ if self.keep.is_some_and(|keep| keep.kind != Keep::NONE && keep.value == 0) => {
                Err(Error::argument("keep is 0: it is a number of generations, or a time"))
            }
            _ => Ok(()),
        }
    }
}

/// Writes a frame to `path`. Replaces an existing file only if everything succeeds.
///
/// Costs one pass over the frame's memory (two over the validity of bundled columns) and a few
/// blocks of memory per thread. The bytes do not depend on the number of threads.
///
/// # Errors
/// Any kind but *corrupt*. After an error the old file is unchanged, and no other file is left.
pub fn write(path: &Path, frame: &Frame, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
    replace(path, Plan::new(Parts::of_frame(frame)?, options), options, monitor)
}

/// Writes a document to `path`, as [`write`](write()) does for a frame.
///
/// # Errors
/// As [`write`](write()).
pub fn write_document(
    path: &Path,
    document: &Document,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    replace(path, Plan::new(Parts::of_document(document)?, options), options, monitor)
}

fn replace(path: &Path, plan: Result<Plan<'_>>, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
    let plan = plan.map_err(|e| e.in_file(path))?;
    let on_disk = |doing| move |source| Error::io(source, doing).in_file(path);
    let unlocked = unlocked(options).map_err(|e| e.in_file(path))?;
    let replacement = create(path, options, monitor)?.map_err(on_disk("create"))?;
    let sink = FileSink::new(replacement, unlocked).map_err(|e| e.in_file(path))?;
    plan.execute(&sink, |start| sink.start(start), monitor).map_err(|e| e.in_file(path))?;
    sink.commit().map_err(on_disk("replace"))
}

/// Keys of a new file with these options; `None` for a plain one.
pub(crate) fn unlocked(options: &WriteOptions) -> Result<Option<Unlocked>> {
    let cipher = options.cipher.unwrap_or_else(Suite::fastest);
    let secret = options.secret.as_ref();
    secret.map(|secret| Unlocked::new(secret, cipher, &Limits::default())).transpose()
}

/// Returns an error if the file at `path` must be new and exists: a check before long work. Writing
/// checks again, at its beginning and at its end.
///
/// # Errors
/// *Io*, of kind `AlreadyExists` or as for writing.
pub fn check_target(path: &Path, options: &WriteOptions) -> Result<()> {
    if !options.must_be_new {
        return Ok(());
    }
    entasis_io::check_new(path).map_err(|source| Error::io(source, "create").in_file(path))
}

/// Begins to replace a file, after other writers have finished or the time to wait is over.
///
/// # Errors
/// *Interrupted*, if the caller stops the wait.
pub(crate) fn create(
    path: &Path,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<io::Result<Replacement>> {
    when_free(options.wait, monitor, || match options.must_be_new {
        true => Replacement::create_new(path, options.durable),
        false => Replacement::create(path, options.durable),
    })
}

/// Takes the lock of a file by `take`, after other writers have finished or the time to wait is
/// over.
///
/// # Errors
/// *Interrupted*, if the caller stops the wait.
pub(crate) fn when_free<T>(
    wait: Duration,
    monitor: &dyn Monitor,
    mut take: impl FnMut() -> io::Result<T>,
) -> Result<io::Result<T>> {
    let started = Instant::now();
    let [mut pause, longest] = PAUSES;
    loop {
        let result = take();
        let left = wait.saturating_sub(started.elapsed());
        let is_busy = matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        if !is_busy || left.is_zero() {
            return Ok(result);
        }
        if monitor.interrupted() {
            return Err(Error::interrupted());
        }
        std::thread::sleep(pause.min(left));
        pause = (2 * pause).min(longest);
    }
}

/// Writes a frame to a sink, from byte 0 on. Returns the number of bytes.
///
/// # Errors
/// As [`write`](write()). After an error the contents of the sink are unspecified.
pub fn write_to(
    sink: &dyn Sink,
    frame: &Frame,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<u64> {
    write_parts_to(sink, Parts::of_frame(frame)?, options, monitor)
}

/// Writes a document to a sink, as [`write_to`] does for a frame.
///
/// # Errors
/// As [`write`](write()).
pub fn write_document_to(
    sink: &dyn Sink,
    document: &Document,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<u64> {
    write_parts_to(sink, Parts::of_document(document)?, options, monitor)
}

fn write_parts_to(
    sink: &dyn Sink,
    parts: Parts<'_>,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<u64> {
    let plan = Plan::new(parts, options)?;
    let sink = FileSink::new(sink, unlocked(options)?)?;
    let len = plan.execute(&sink, |start| sink.start(start), monitor)?;
    sink.flush().map_err(|source| Error::io(source, "write"))?;
    Ok(sink.stored_len(len))
}

/// The checked parts of a file, in its order. The columns of a frame come first, then its labels
/// and dictionaries.
///
/// A column run counts as one column here, because the file has one record for it.
pub(crate) struct Parts<'a> {
    /// Each frame, with the number of its first column.
    frames: Vec<(usize, &'a Frame)>,
    /// Columns of no frame, after those of all frames.
    loose: &'a [Column],
    /// The number of columns, without children and bundles.
    n_columns: usize,
    value: Option<&'a Value>,
}

impl<'a> Parts<'a> {
    pub(crate) fn of_frame(frame: &'a Frame) -> Result<Self> {
        frame.check()?;
        let n_columns = frame.columns.len() + frame.extra.len();
        Ok(Self { frames: vec![(0, frame)], loose: &[], n_columns, value: None })
    }

    pub(crate) fn of_document(document: &'a Document) -> Result<Self> {
        document.check()?;
        let mut frames = Vec::with_capacity(document.frames.len());
        let mut n_columns = 0;
        for frame in &document.frames {
            frames.push((n_columns, frame));
            n_columns += frame.columns.len() + frame.extra.len();
        }
        let loose = document.columns.as_slice();
        Ok(Self { frames, loose, n_columns: n_columns + loose.len(), value: Some(&document.value) })
    }

    /// All columns by number.
    fn columns(&self) -> impl Iterator<Item = PartColumn<'a>> {
        let of_frame = |&(first, frame): &(usize, &'a Frame)| {
            let first_extra = first + frame.columns.len();
            let as_part = move |is_of_table| move |column| PartColumn { column, first_extra, is_of_table };
            frame.columns.iter().map(as_part(true)).chain(frame.extra.iter().map(as_part(false)))
        };
        let as_loose = |column| PartColumn { column, first_extra: 0, is_of_table: false };
        self.frames.iter().flat_map(of_frame).chain(self.loose.iter().map(as_loose))
    }
}

/// A column, and its role in its frame.
#[derive(Clone, Copy)]
struct PartColumn<'a> {
    column: &'a Column,
    /// The number of the first column after the frame's table; 0 without a frame.
    first_extra: usize,
    /// Whether it belongs to the table.
    is_of_table: bool,
}

/// Everything to write, checked.
pub(crate) struct Plan<'a> {
    parts: Parts<'a>,
    nested: Nested<'a>,
    bundles: Vec<Bundle>,
    profile: Profile,
    /// Columns with a profile of their own, by name.
    own: HashMap<&'a str, Profile>,
    threads: usize,
    /// How many earlier generations the file keeps.
    keep: Option<Keep>,
}

/// A column that has blocks of its own.
pub(crate) struct Stored<'a> {
    /// Its number in the file.
    pub column: usize,
    pub name: &'a str,
    pub of: Layout,
    pub array: &'a Array,
    profile: &'a Profile,
    /// Where its blocks begin in its children.
    child_offsets: Option<&'a ChildOffsets>,
    strings: StringBlocks,
}

impl<'a> Plan<'a> {
    /// Plans the writing of a new file.
    pub(crate) fn new(parts: Parts<'a>, options: &'a WriteOptions) -> Result<Self> {
        Self::after(None, parts, options)
    }

    /// Plans a change of `file`.
    pub(crate) fn after(file: Option<&File>, parts: Parts<'a>, options: &'a WriteOptions) -> Result<Self> {
        options.check()?;
        let of_file = || file.and_then(|file| file.compression());
        let profile = Profile::new(options.compression.or_else(of_file).unwrap_or(Profile::DEFAULT))?;
        let mut own = HashMap::new();
        for (name, compression) in &options.column_compression {
            let (mut is_there, mut is_in_run) = (false, false);
            for PartColumn { column, is_of_table, .. } in parts.columns() {
                let is_named = is_of_table && column.names().any(|other| other == name);
                is_there |= is_named;
                is_in_run |= is_named && column.run.is_some();
            }
            if is_in_run {
                let message = "columns of a column run cannot have a compression of their own";
                return Err(Error::argument(message).in_column(name));
            }
            if !is_there {
                return Err(
                    Error::argument("compression is set for a column that does not exist").in_column(name)
                );
            }
            own.insert(name.as_str(), Profile::new(*compression).map_err(|e| e.in_column(name))?);
        }
        // A bundle has one setting, so columns with a setting of their own are not bundled.
        let mut found = Vec::new();
        for (number, &(first, frame)) in parts.frames.iter().enumerate() {
            found.extend(bundles(number, first, frame, |column| own.contains_key(column.name.as_str())));
        }
        // Check values that may not fit their type now. A bundle could not name the column in the
        // error.
        let mut scratch = Scratch::default();
        let members = found.iter().flat_map(|bundle| {
            let frame = parts.frames[bundle.frame].1;
            bundle.members.iter().map(move |&i| &frame.columns[i])
        });
        for column in members {
            let is_checked =
                |chunk: &Chunk| matches!(chunk.values, HostValues::Wide { .. } | HostValues::Int32 { .. });
            if column.array.chunks.iter().any(is_checked) {
                scratch
                    .load(&column.array, column.column_type.layout(), 0..column.array.n_values())
                    .map_err(|e| e.in_column(&column.name))?;
            }
        }
        let nested = Nested::of(parts.columns().map(|of| of.column))?;
        let of_children = nested.children.iter().map(|child| child.array.n_values());
        let of_columns = parts.columns().map(|of| of.column.array.n_values());
        let n_values = of_columns.chain(of_children).fold(0, u64::saturating_add);
        let is_short = n_values < PARALLEL;
        let threads = if is_short { 1 } else { options.threads.unwrap_or_else(threads::default_threads) };
        Ok(Self { parts, nested, bundles: found, profile, own, threads, keep: options.keep })
    }

    /// The pieces of a frame, if it has several.
    fn pieces(&self, frame: usize) -> Result<Option<Pieces>> {
        // Bundles ascend by frame.
        let first = self.bundles.partition_point(|bundle| bundle.frame < frame);
        let Some(bundle) = self.bundles.get(first).filter(|bundle| bundle.frame == frame) else {
            return Ok(None);
        };
        let Some(kept) = &bundle.kept else { return Ok(None) };
        let n_new = self.parts.frames[frame].1.n_rows.saturating_sub(kept.pieces.iter().sum());
        let new = (n_new > 0).then_some(n_new);
        let lens: Vec<u64> = kept.pieces.iter().copied().chain(new).collect();
        if lens.len() > 1 { Pieces::new(&lens).map(Some) } else { Ok(None) }
    }

    /// The compression of columns without one of their own.
    pub(crate) fn compression(&self) -> u8 {
        self.profile.compression
    }

    /// The columns with blocks, in the file's order: unbundled columns, children, bundles.
    fn stored(&self) -> Vec<Stored<'_>> {
        let mut is_bundled = vec![false; self.parts.n_columns];
        for bundle in &self.bundles {
            bundle.members.iter().for_each(|&i| is_bundled[bundle.first + i] = true);
        }
        let columns: Vec<_> = self.parts.columns().collect();
        // The profile of a column and its children.
        let profile = |i: usize| {
            let PartColumn { column, is_of_table, .. } = columns[i];
            self.own.get(column.name.as_str()).filter(|_| is_of_table).unwrap_or(&self.profile)
        };
        let tops = &self.nested.tops;
        let child_offsets = |i: usize| {
            let top = tops.binary_search_by_key(&i, |(top, _)| *top).ok()?;
            tops[top].1.child_offsets.as_ref()
        };
        let single = columns.iter().enumerate().filter(|(i, _)| !is_bundled[*i]);
        let single = single.map(|(i, &PartColumn { column, .. })| Stored {
            column: i,
            name: &column.name,
            of: column.column_type.layout(),
            array: &column.array,
            profile: profile(i),
            child_offsets: child_offsets(i),
            strings: StringBlocks::of(&column.array, column.column_type.layout()),
        });
        let children = self.nested.children.iter().enumerate().map(|(i, child)| Stored {
            column: is_bundled.len() + i,
            name: &child.path,
            of: child.column_type.layout(),
            array: &child.array,
            profile: profile(child.top),
            child_offsets: child.child_columns.child_offsets.as_ref(),
            strings: StringBlocks::of(&child.array, child.column_type.layout()),
        });
        let bundled = self.bundles.iter().enumerate().map(|(i, bundle)| Stored {
            column: is_bundled.len() + self.nested.children.len() + i,
            name: "",
            of: bundle.column_type.layout(),
            array: &bundle.array,
            profile: &self.profile,
            child_offsets: None,
            strings: StringBlocks::of(&bundle.array, bundle.column_type.layout()),
        });
        single.chain(children).chain(bundled).collect()
    }

    /// Writes a whole file. `start` says where its blocks begin, from the place in a plain file.
    fn execute(&self, sink: &dyn Sink, start: impl Fn(u64) -> u64, monitor: &dyn Monitor) -> Result<u64> {
        catch_refusal(|| self.write_all(sink, start, monitor))
    }

    fn write_all(&self, sink: &dyn Sink, start: impl Fn(u64) -> u64, monitor: &dyn Monitor) -> Result<u64> {
        let stored = self.stored();
        let tasks = tasks(&stored);
        let start = start(if decoded_len(&tasks) >= GROWS { SLOT_PAGES_END } else { HEADER_LEN as u64 });
        let operation = Operation::Write.code();
        let (compression, keep) = (Some(self.compression()), self.keep);
        let ground = Ground { operation, compression, keep, ..Ground::default() };
        let workers = Workers::default();
        let written = self.write((sink, start), &stored, tasks, &ground, &workers, monitor)?;
        written.commit(start)
    }

    /// Writes what a change adds to a file, from `start` on. Returns the slot of the new
    /// generation.
    pub(crate) fn execute_change(
        &self,
        sink: &dyn Sink,
        start: u64,
        ground: &Ground<'_>,
        workers: &Workers,
        monitor: &dyn Monitor,
    ) -> Result<Slot> {
        catch_refusal(|| {
            let stored = self.stored();
            self.write((sink, start), &stored, tasks(&stored), ground, workers, monitor)?.append()
        })
    }

    /// Writes a new file for a change that replaces the old one. The new file has slot pages.
    pub(crate) fn execute_anew(
        &self,
        sink: &dyn Sink,
        start: u64,
        ground: &Ground<'_>,
        monitor: &dyn Monitor,
    ) -> Result<u64> {
        catch_refusal(|| {
            let stored = self.stored();
            let (to, workers) = ((sink, start), Workers::default());
            self.write(to, &stored, tasks(&stored), ground, &workers, monitor)?.commit(start)
        })
    }

    fn write<'s>(
        &self,
        (sink, start): (&'s dyn Sink, u64),
        stored: &[Stored<'_>],
        tasks: Vec<Task>,
        ground: &Ground<'_>,
        workers: &Workers,
        monitor: &dyn Monitor,
    ) -> Result<Footer<'s>> {
        let control = Control::new(monitor, stored.iter().map(|c| c.array.n_values()).sum());
        let placement = Placement::new(sink, start, room(&tasks), tasks.iter().map(Task::n_values).sum());
        let columns: Vec<usize> = tasks.iter().map(|task| task.column).collect();
        let tasks = longest_strings_first(tasks, |task| string_len(&stored[task.column], task));
        workers.begin();
        let lend = || workers.lend();
        threads::run(groups(tasks), self.threads, &control, lend, |lent, group: Vec<Task>| {
            lent.worker.begin();
            group.iter().enumerate().try_for_each(|(i, task)| {
                let column = &stored[task.column];
                let next = group.get(i + 1).map(|next| stored[next.column].array);
                let next_is_adjacent = next.is_some_and(|next| input::are_adjacent(column.array, next));
                control.check()?;
                lent.run(column, task, next_is_adjacent, &placement, &control)
                    .map_err(|e| self.named(column, e))
            })
        })?;
        let mut blocks: Vec<Vec<Placed>> = stored.iter().map(|_| Vec::new()).collect();
        for (task, of_task) in placement.placed() {
            blocks[columns[task]].extend(of_task);
        }
        placement.write_directories(&mut blocks)?;
        control.finish()?;
        footer::make(self, stored, &blocks, ground, placement)
    }
}
