//! Writes files. Threads encode blocks and get places for them in a fixed order; then come the
//! footer and the commit.

mod bundle;
mod check;
mod coalesce;
pub(crate) mod footer;
pub(crate) mod input;
mod nested;
pub(crate) mod placement;
mod run_order;
mod tiers;

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use entasis_encodings::{Encoder, Profile};
use entasis_format::{
    Error, HEADER_LEN, Layout, MAX_BLOCK_VALUES, Operation, Physical, Result, SLOT_PAGES_END, Slot, Value,
    fallible,
};
use entasis_io::{Durable, Replacement, Sink};

use crate::blocks::block_values;
use crate::file::File;
use crate::frame::pre_encoded::BLOCK;
use crate::frame::{Array, Chunk, Column, Document, Frame, HostValues};
use crate::monitor::{Control, Monitor};
use crate::refused::catch_refusal;
use crate::threads;
use bundle::{Bundle, bundles};
use footer::Footer;
pub(crate) use footer::{Base, Ground, write_root};
pub(crate) use input::have_equal_values;
use input::{Scratch, StringBlocks};
use nested::{ChildOffsets, Nested};
use placement::{ENCODED, Placed, Placement};
use run_order::{TextLen, longest_texts_first};

/// Consecutive blocks of a column that one thread encodes, each with hints from the one before.
const RUN: u64 = 16;
/// A short file is cut into about this many runs, so that several threads have work.
const RUNS: u64 = 4;
/// Decoded bytes of a run, about. Runs of long values have fewer blocks, because threads wait for
/// the runs before their own.
const RUN_LEN: u64 = 8 << 20;
/// A thread whose turn it is writes when it has this many encoded bytes.
pub(crate) const WRITE: usize = 1 << 20;
/// A thread waits for its turn when it has this many encoded bytes.
pub(crate) const BUFFER: usize = 8 << 20;
/// Runs with at most this many values and bytes are short. Where there are many, a thread takes
/// several at once.
const SHORT: u64 = 1 << 16;
const SHORT_LEN: u64 = 1 << 20;
/// The most short runs that a thread takes at once, and the fewest groups of them.
const NEIGHBOURS: usize = 8;
const GROUPS: usize = 12;
/// Files whose values have at least this many decoded bytes, about, get slot pages, so that they
/// can change in place. The others are written anew by their first change.
pub(crate) const GROWS: u64 = 1 << 20;
/// Less work than this, in values, is done on the caller's thread alone.
const PARALLEL: u64 = 1 << 17;

/// How to write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// 0 (raw) to 100 (smallest). None: that of the last values of a file that changes,
    /// [`Profile::DEFAULT`] for a new file.
    pub compression: Option<u8>,
    /// Columns with a compression of their own, by name.
    pub column_compression: Vec<(String, u8)>,
    /// The number of threads; none: [`default_threads`](crate::default_threads).
    pub threads: Option<usize>,
    /// Whether to wait until the bytes are on the disk.
    pub durable: Durable,
    /// How long to wait for another writer of the same file before the error *io* of kind
    /// `WouldBlock`.
    pub wait: Duration,
    /// Whether changes in place are refused where the file system has no locks.
    pub needs_lock: bool,
    /// Whether a file that exists is an error (*io* of kind `AlreadyExists`), and not replaced.
    pub must_be_new: bool,
}

/// The default time to wait for another writer.
const WAIT: Duration = Duration::from_secs(10);
/// The first and the longest pause between two checks whether the other writer is done.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            compression: None,
            column_compression: Vec::new(),
            threads: None,
            durable: Durable::default(),
            wait: WAIT,
            needs_lock: true,
            must_be_new: false,
        }
    }
}

/// Writes a frame to `path`. Replaces the file there if, and only if, all goes well.
///
/// Costs one pass over the frame's memory (two over the validity of bundled columns) and a few
/// blocks of memory per thread. The bytes do not depend on the number of threads.
///
/// # Errors
/// Any kind but *corrupt*. The old file is then unchanged, and no other file is left.
pub fn write(path: &Path, frame: &Frame, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
    replace(path, Plan::new(Parts::of_frame(frame)?, options), options, monitor)
}

/// Writes a document to `path`, as [`write`](write()) writes a frame.
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
    let mut replacement = create(path, options, monitor)?.map_err(on_disk("create"))?;
    if options.must_be_new {
        if replacement.replaces() {
            return Err(on_disk("create")(io::ErrorKind::AlreadyExists.into()));
        }
        replacement.must_be_new();
    }
    plan.execute(&replacement, monitor).map_err(|e| e.in_file(path))?;
    replacement.commit().map_err(on_disk("replace"))
}

/// Begins to replace a file, once no other writer works on it or the time to wait is over.
///
/// # Errors
/// *Interrupted*, if the caller stops the wait.
pub(crate) fn create(
    path: &Path,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<io::Result<Replacement>> {
    when_free(options.wait, monitor, || Replacement::create(path, options.durable))
}

/// Takes the lock of a file by `take`, once no other writer works on it or the time to wait is
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

/// Writes a frame to a sink, from byte 0 on, and returns the number of bytes.
///
/// # Errors
/// As [`write`](write()). The contents of the sink are then unspecified.
pub fn write_to(
    sink: &dyn Sink,
    frame: &Frame,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<u64> {
    Plan::new(Parts::of_frame(frame)?, options)?.execute(sink, monitor)
}

/// Writes a document to a sink, as [`write_to`] writes a frame.
///
/// # Errors
/// As [`write`](write()).
pub fn write_document_to(
    sink: &dyn Sink,
    document: &Document,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<u64> {
    Plan::new(Parts::of_document(document)?, options)?.execute(sink, monitor)
}

/// The checked parts of a file, in its order. The columns of a frame come first, then its labels
/// and dictionaries.
///
/// A column run counts as one column here, because it is one record of the file.
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

    /// All columns by number. Each comes with the number of the first column after its frame's
    /// table, and whether it belongs to the table.
    fn columns(&self) -> impl Iterator<Item = (&'a Column, usize, bool)> {
        let of_frame = |&(first, frame): &(usize, &'a Frame)| {
            let first_extra = first + frame.columns.len();
            let table = frame.columns.iter().map(move |column| (column, first_extra, true));
            table.chain(frame.extra.iter().map(move |column| (column, first_extra, false)))
        };
        self.frames.iter().flat_map(of_frame).chain(self.loose.iter().map(|column| (column, 0, false)))
    }
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
        let of_file = || file.and_then(|file| file.compression());
        let profile = Profile::new(options.compression.or_else(of_file).unwrap_or(Profile::DEFAULT))?;
        let mut own = HashMap::new();
        for (name, compression) in &options.column_compression {
            let (mut is_there, mut is_in_run) = (false, false);
            for (column, _, is_of_table) in parts.columns() {
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
        // A bundle has one setting, so columns with their own stay out.
        let mut found = Vec::new();
        for (number, &(first, frame)) in parts.frames.iter().enumerate() {
            found.extend(bundles(number, first, frame, |column| own.contains_key(column.name.as_str())));
        }
        // Check values that may not fit their type now, because a bundle does not know their
        // column's name.
        let mut scratch = Scratch::default();
        let members = found.iter().flat_map(|bundle| {
            let frame = parts.frames[bundle.frame].1;
            bundle.members.iter().map(move |&i| (frame, &frame.columns[i]))
        });
        for (frame, column) in members {
            let is_checked =
                |chunk: &Chunk| matches!(chunk.values, HostValues::Wide { .. } | HostValues::Int32 { .. });
            if column.array.chunks.iter().any(is_checked) {
                scratch
                    .load(&column.array, column.column_type.layout(), 0..frame.n_rows)
                    .map_err(|e| e.in_column(&column.name))?;
            }
        }
        let nested = Nested::of(parts.columns().map(|(column, ..)| column))?;
        let of_children = nested.children.iter().map(|child| child.array.n_values());
        let of_columns = parts.columns().map(|(column, ..)| column.array.n_values());
        let n_values = of_columns.chain(of_children).fold(0, u64::saturating_add);
        let is_short = n_values < PARALLEL;
        let threads = if is_short { 1 } else { options.threads.unwrap_or_else(threads::default_threads) };
        Ok(Self { parts, nested, bundles: found, profile, own, threads })
    }

    /// The compression of columns without one of their own.
    pub(crate) fn compression(&self) -> u8 {
        self.profile.compression
    }

    /// The columns that have blocks, in the order of the file: unbundled columns, children,
    /// bundles.
    fn stored(&self) -> Vec<Stored<'_>> {
        let mut is_bundled = vec![false; self.parts.n_columns];
        for bundle in &self.bundles {
            bundle.members.iter().for_each(|&i| is_bundled[bundle.first + i] = true);
        }
        let columns: Vec<_> = self.parts.columns().collect();
        // The profile of a column and its children.
        let profile = |i: usize| {
            let (column, _, is_of_table) = columns[i];
            self.own.get(column.name.as_str()).filter(|_| is_of_table).unwrap_or(&self.profile)
        };
        let tops = &self.nested.tops;
        let child_offsets = |i: usize| {
            let top = tops.binary_search_by_key(&i, |(top, _)| *top).ok()?;
            tops[top].1.child_offsets.as_ref()
        };
        let single = columns.iter().enumerate().filter(|(i, _)| !is_bundled[*i]);
        let single = single.map(|(i, &(column, ..))| Stored {
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

    /// Writes a whole file.
    fn execute(&self, sink: &dyn Sink, monitor: &dyn Monitor) -> Result<u64> {
        catch_refusal(|| self.write_all(sink, monitor))
    }

    fn write_all(&self, sink: &dyn Sink, monitor: &dyn Monitor) -> Result<u64> {
        let stored = self.stored();
        let tasks = tasks(&stored);
        let start = if decoded_len(&tasks) >= GROWS { SLOT_PAGES_END } else { HEADER_LEN as u64 };
        let operation = Operation::Write.code();
        let ground = Ground { operation, compression: Some(self.compression()), ..Ground::default() };
        let workers = Workers::default();
        let written = self.write((sink, start), &stored, tasks, &ground, &workers, monitor)?;
        written.commit(start)
    }

    /// Writes what a change of a file adds to it, from `start` on. Returns the slot of the new
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

    /// Writes a whole file that a change needs in place of the one that it changes. It has slot
    /// pages.
    pub(crate) fn execute_anew(
        &self,
        sink: &dyn Sink,
        ground: &Ground<'_>,
        monitor: &dyn Monitor,
    ) -> Result<u64> {
        catch_refusal(|| {
            let stored = self.stored();
            let (to, workers) = ((sink, SLOT_PAGES_END), Workers::default());
            self.write(to, &stored, tasks(&stored), ground, &workers, monitor)?.commit(SLOT_PAGES_END)
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
        let tasks = longest_texts_first(tasks, |task| text_of(&stored[task.column], task));
        let lend = || workers.lend();
        threads::run(groups(tasks), self.threads, &control, lend, |lent, group: Vec<Task>| {
            let worker = &mut lent.worker;
            worker.begin();
            group.iter().enumerate().try_for_each(|(i, task)| {
                let column = &stored[task.column];
                let next = group.get(i + 1).map(|next| stored[next.column].array);
                worker.scratch.next_is_adjacent =
                    next.is_some_and(|next| input::are_adjacent(column.array, next));
                let named = |e: Error| if column.name.is_empty() { e } else { e.in_column(column.name) };
                control.check()?;
                worker.run(column, task, &placement, &control).map_err(named)
            })
        })?;
        let mut blocks: Vec<Vec<Placed>> = stored.iter().map(|_| Vec::new()).collect();
        for (task, of_task) in placement.placed() {
            blocks[columns[task]].extend(of_task);
        }
        placement.place_directories(&mut blocks)?;
        footer::make((&self.parts, &self.nested, &self.bundles), stored, &blocks, ground, placement)
    }
}

/// A run of blocks of one column.
struct Task {
    index: usize,
    /// The index among the stored columns.
    column: usize,
    values: Range<u64>,
    /// Bytes of a value, about.
    value_len: u64,
}

impl Task {
    fn n_values(&self) -> u64 {
        self.values.end - self.values.start
    }
}

fn tasks(stored: &[Stored<'_>]) -> Vec<Task> {
    let mut tasks = Vec::new();
    let blocks_of = |of: &Stored<'_>| of.array.n_values().div_ceil(block_values(of.of) as u64);
    let longest = (stored.iter().map(blocks_of).sum::<u64>() / RUNS).clamp(1, RUN);
    for (column, of) in stored.iter().enumerate() {
        if of.of.physical == Physical::Null {
            continue;
        }
        let value_len = of.of.width().map_or_else(|| input::mean_text_len(of.array), |width| width as u64);
        let block = block_values(of.of) as u64;
        let n_blocks = (RUN_LEN / (value_len.max(1) * block)).clamp(1, longest);
        let n_values = of.array.n_values();
        let of_texts = of.strings.run(value_len).filter(|_| of.array.encoded(0).is_none());
        let run = of_texts.map_or(n_blocks * block, |n| n.min(block));
        // Runs in the second half of a short file are shorter, so that threads end at about the
        // same time.
        let last = if longest < RUN { (n_blocks / 2).max(1) * block } else { run };
        for values in cut(n_values, run, last.min(run)) {
            tasks.push(Task { index: tasks.len(), column, values, value_len });
        }
    }
    tasks
}

/// The memory to reserve for the encoded bytes of a run: the longest one, about. Unused memory
/// costs nothing, but memory that grows is copied and gets new pages.
fn room(tasks: &[Task]) -> usize {
    let len = |task: &Task| task.n_values().saturating_mul(task.value_len);
    let longest = tasks.iter().map(len).max().unwrap_or(0).min(BUFFER as u64) as usize;
    longest + longest / 8
}

/// The length of all decoded values, about.
fn decoded_len(tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| task.n_values().saturating_mul(task.value_len)).fold(0, u64::saturating_add)
}

/// Pieces of `run` values in the first half and of `last` values in the second half. Neither is 0.
fn cut(n_values: u64, run: u64, last: u64) -> impl Iterator<Item = Range<u64>> {
    assert!(run > 0 && last > 0, "pieces of nothing");
    let mut start = 0;
    std::iter::from_fn(move || {
        let n = if start < n_values / 2 { run } else { last };
        let piece = start..(start + n).min(n_values);
        start = piece.end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Groups the runs that a thread takes at once: short neighbouring columns may be adjacent in
/// memory and similar. Groups do not depend on the number of threads, because the bytes must not.
fn groups(tasks: Vec<Task>) -> Vec<Vec<Task>> {
    let is_short =
        |task: &Task| task.n_values() <= SHORT && task.n_values().saturating_mul(task.value_len) <= SHORT_LEN;
    let n_short = tasks.iter().filter(|task| is_short(task)).count();
    let together = (n_short / GROUPS).clamp(1, NEIGHBOURS);
    let mut groups: Vec<Vec<Task>> = Vec::new();
    let (mut n_left, mut most) = (tasks.len(), 0);
    for task in tasks {
        match groups.last_mut() {
            Some(group) if group.len() < most && is_short(&group[0]) && is_short(&task) => group.push(task),
            _ => {
                // The last groups are smaller, so that threads end at about the same time.
                most = together.min(n_left.div_ceil(2));
                groups.push(vec![task]);
            }
        }
        n_left -= 1;
    }
    groups
}

/// The length of the text in a run; none unless it is known without a look at each string.
fn text_of(of: &Stored<'_>, task: &Task) -> Option<TextLen> {
    let most = input::max_text_len(of.array).filter(|_| of.of.width().is_none())?;
    Some(TextLen { most, len: input::mean_text_len(of.array).saturating_mul(task.n_values()) })
}

/// Decoded bytes of a block whose encoded form may exceed the memory of a run.
pub(crate) const LONG_BLOCK: usize = 1 << 20;

/// The memory and the encoder of one thread.
#[derive(Default)]
struct Worker {
    scratch: Scratch,
    encoder: Option<Encoder>,
    /// Memory for encoded bytes, reused by the next run.
    bytes: Option<Vec<u8>>,
    /// The layout of the previous run of the group.
    before: Option<Layout>,
}

/// The memory of threads that have ended, for those of the next part of a stream.
#[derive(Default)]
pub(crate) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    fn lend(&self) -> Lent<'_> {
        Lent { worker: self.lock().pop().unwrap_or_default(), to: self }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that goes back at the end.
struct Lent<'a> {
    worker: Worker,
    to: &'a Workers,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.to.lock().push(std::mem::take(&mut self.worker));
    }
}

impl Worker {
    /// Begins a group. Encoding depends on earlier runs of the same group only.
    fn begin(&mut self) {
        self.before = None;
    }

    /// Encodes and writes the blocks of a run.
    fn run(
        &mut self,
        column: &Stored<'_>,
        task: &Task,
        placement: &Placement<'_>,
        control: &Control<'_>,
    ) -> Result<()> {
        let encoder = self.encoder.get_or_insert_with(|| Encoder::new(column.profile.clone()));
        if self.before.replace(column.of) == Some(column.of) {
            encoder.begin_similar_column(column.profile);
        } else {
            encoder.begin_run(column.profile);
        }
        if let Some(symbols) = &column.strings.symbols {
            encoder.share(symbols);
        }
        let align = task.values.start == 0 && column.profile.is_raw();
        let mut run = placement.begin(task.index, align, self.bytes.take())?;
        let first_value = column.array.keep().map_or(0, |keep| keep.n_values);
        let mut at = task.values.start;
        while at < task.values.end {
            control.check()?;
            let pages_at = run.bytes().len();
            let is_raw = column.profile.is_raw();
            let n = if let Some(block) = column.array.encoded(at) {
                fallible::reserve(run.bytes(), block.bytes().len(), ENCODED)?;
                run.bytes().extend_from_slice(block.bytes());
                let values = first_value + at..first_value + at + BLOCK as u64;
                run.add(values, pages_at, block.encoded(), is_raw, 0)?;
                BLOCK
            } else {
                self.scratch.string_block_len = column.strings.most;
                let n = self.scratch.load(column.array, column.of, at..task.values.end)?;
                let (values, validity) = self.scratch.values(column.of, n);
                let block = at / u64::from(MAX_BLOCK_VALUES);
                if let Some(child_offsets) = column.child_offsets {
                    let is_valid = |i: usize| validity.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
                    child_offsets.check(block, &values, is_valid)?;
                }
                let first_child =
                    column.child_offsets.map_or(0, |child_offsets| child_offsets.first_child(block));
                let len = values.bytes_len();
                if len >= LONG_BLOCK {
                    // The encoder appends without a check for memory.
                    fallible::reserve(run.bytes(), len + len / 8, ENCODED)?;
                }
                let check = || control.check();
                let encoded = encoder.encode(column.of, values, validity, &check, run.bytes())?;
                let values = first_value + at..first_value + at + n as u64;
                run.add(values, pages_at, &encoded, is_raw, first_child)?;
                n
            };
            at += n as u64;
            control.advance(n as u64);
            if run.bytes().len() >= BUFFER || (run.bytes().len() >= WRITE && run.is_next()) {
                run.flush(control)?;
            }
        }
        self.bytes = run.finish(control)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_taken_together_and_long_ones_alone() {
        let tasks = |runs: &[(u64, u64)]| -> Vec<Task> {
            let task = |(index, &(n_values, value_len)): (usize, &(u64, u64))| Task {
                index,
                column: index,
                values: 0..n_values,
                value_len,
            };
            runs.iter().enumerate().map(task).collect()
        };
        let lens = |runs: &[(u64, u64)]| groups(tasks(runs)).iter().map(Vec::len).collect::<Vec<_>>();
        let (short, many, wide) = ((1000, 8), (SHORT + 1, 1), (SHORT, 300));
        assert_eq!(lens(&[]), []);
        assert_eq!(lens(&[short; 20]), [1; 20]);
        let smaller_in_the_end: Vec<usize> = [[3; 12].as_slice(), &[2, 1, 1]].concat();
        assert_eq!(lens(&[short; 40]), smaller_in_the_end);
        let mut runs = vec![short; 8 * GROUPS];
        runs.splice(9..9, [many, wide]);
        assert_eq!(lens(&runs)[..6], [8, 1, 1, 1, 8, 8]);
        assert_eq!(lens(&runs).iter().sum::<usize>(), runs.len());
    }

    #[test]
    fn pieces_are_smaller_from_the_middle_on() {
        for (n_values, run, last) in [(0, 4, 2), (1, 4, 2), (16, 4, 2), (15, 4, 1), (17, 5, 5), (3, 1, 1)] {
            let pieces: Vec<_> = cut(n_values, run, last).collect();
            let mut end = 0;
            for piece in &pieces {
                assert_eq!(piece.start, end);
                end = piece.end;
                let n = if piece.start < n_values / 2 { run } else { last };
                assert!(piece.end == n_values || piece.end - piece.start == n, "{n_values} {run} {last}");
            }
            assert_eq!(end, n_values);
        }
        assert_eq!(cut(16, 4, 2).map(|piece| piece.end).collect::<Vec<_>>(), [4, 8, 10, 12, 14, 16]);
    }
}
