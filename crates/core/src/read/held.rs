//! A table that stays in the memory where it was made, and is read as if it had been written.
//!
//! A file in memory would cost a copy of all values on the way in, and another one on the way out.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis_encodings::{BLOCK, Validity, Values};
use entasis_format::{BUNDLE_ROWS, Error, Layout, Limits, Result, fallible};
use entasis_io::{MemorySink, MemorySource};
use entasis_kernels::{Word, bits};
use entasis_platform::memory::Prefault;
use entasis_platform::{Buffer, Buffers, HostRead};

use super::alloc::{COLUMNS, STRINGS};
use super::fixed::{put_missing, split_missing, split_output};
use super::layout::{TextLayout, views};
use super::request::{MissingTo, Output, Request, unaligned};
use crate::file::{ColumnInfo, File};
use crate::frame::{Array, Chunk, Column, Frame, HostValidity, HostValues};
use crate::monitor::{Control, Monitor};
use crate::rows::Rows;
use crate::threads;
use crate::write::input::{MAX_STRING, Scratch, bytes_of, too_short};
use crate::write::{WriteOptions, write_to};

/// Bytes of memory that a task fills: a huge page.
const TASK: usize = 2 << 20;
/// The most bytes that views refer to in one buffer.
const VIEWED: usize = i32::MAX as usize;

/// A table in memory of its own.
///
/// Whole columns of numbers and strings are shared with their reader or copied into its memory.
/// [`file`](Self::file) gives all other uses of the table.
pub struct Held {
    frame: Frame,
    /// The memory of all values, by address. Nothing changes it.
    memory: Vec<Arc<Buffer>>,
    /// The table without rows, with labels and dictionaries.
    schema: Arc<File>,
    /// The numbers of missing values.
    n_missing: Vec<u64>,
    limits: Limits,
}

/// Buffers with all values of a column, in the layout of Arrow.
#[derive(Debug)]
pub struct Shared {
    /// Words; or offsets and bytes; or views and bytes.
    pub buffers: Vec<Arc<Buffer>>,
    /// One bit for each value, 1 for a present one, if one is missing.
    pub validity: Option<Buffer>,
}

impl Held {
    /// Whether a table can be held: its columns are words, booleans, codes or strings, each in one
    /// chunk. A short table is read faster from a file, where its columns are bundled.
    pub fn takes(frame: &Frame) -> bool {
        frame.n_rows >= BUNDLE_ROWS
            && frame.columns.iter().all(|column| {
                column.run.is_none()
                    && column.children.is_empty()
                    && column.array.n_values() == frame.n_rows
                    && is_plain(column)
            })
            && frame.extra.iter().all(|column| column.array.chunks.is_empty() || is_plain(column))
    }

    /// Holds a table whose values are in `memory`. Errors show `name` as the path.
    ///
    /// # Errors
    /// *Argument* for values elsewhere, or a table that [`takes`](Self::takes) refuses; *corrupt*
    /// and *unsupported* for values that do not fit their type; *interrupted*.
    pub fn new(
        mut frame: Frame,
        mut memory: Vec<Arc<Buffer>>,
        name: &Path,
        limits: Limits,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        memory.retain(|buffer| !buffer.is_empty());
        memory.sort_by_key(|buffer| buffer.as_ptr().addr());
        let mut is_used = vec![false; memory.len()];
        let mut parts = frame.columns.iter().chain(&frame.extra).flat_map(memory_of);
        let is_here = parts.all(|part| {
            let place = place(&memory, &part);
            place.into_iter().for_each(|at| is_used[at] = true);
            part.is_empty() || place.is_some()
        });
        if !is_here || !Self::takes(&frame) {
            return Err(Error::argument("the values of a table are elsewhere"));
        }
        let mut is_used = is_used.into_iter();
        memory.retain(|_| is_used.next() == Some(true));
        let without_rows = frame.without_rows();
        let extra = std::mem::take(&mut frame.extra);
        let without_rows = Frame { extra, ..without_rows };
        let schema = Arc::new(in_memory(&without_rows, name, limits.clone(), monitor)?);
        frame.extra = without_rows.extra;
        let n_missing = n_missing(&frame, monitor)?;
        Ok(Self { frame, memory, schema, n_missing, limits })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.frame.n_rows
    }

    /// A file with the columns of the table, without their rows, and with labels and dictionaries.
    pub fn schema(&self) -> &Arc<File> {
        &self.schema
    }

    /// Corrects the facts of a column that [`schema`](Self::schema) gave: it has rows.
    pub fn correct(&self, info: &mut ColumnInfo) {
        if let Some(&n_missing) = usize::try_from(info.index).ok().and_then(|i| self.n_missing.get(i)) {
            (info.record.n_values, info.record.n_missing) = (self.n_rows(), n_missing);
        }
    }

    /// Checks that one read may ask for this much memory.
    ///
    /// # Errors
    /// *Limit*, as for [`File::check_decoded_len`].
    pub fn check_decoded_len(&self, len: u64) -> Result<()> {
        let held = self.memory.iter().map(|buffer| buffer.len() as u64).sum();
        if len <= self.limits.decoded_len_of(held) { Ok(()) } else { self.schema.check_decoded_len(len) }
    }

    /// Takes the memory of a column of words without missing values, if no other column is in it.
    /// The column can't be read any more.
    pub fn take(&mut self, column: u64) -> Option<Buffer> {
        let at = usize::try_from(column).ok()?;
        let of = self.frame.columns.get(at)?;
        if self.n_missing.get(at) != Some(&0) || of.column_type.physical.is_var() {
            return None;
        }
        let words = self.buffers(column, TextLayout::Large)?.pop()?;
        let ends = words.as_ptr().addr()..words.as_ptr().addr() + words.len();
        let is_inside = |part: &HostRead| ends.contains(&part.addr());
        if self.frame.columns.iter().flat_map(memory_of).filter(is_inside).count() != 1 {
            return None;
        }
        drop(words);
        let place = self.memory.iter().position(|buffer| buffer.as_ptr().addr() == ends.start)?;
        let buffer = match Arc::try_unwrap(self.memory.remove(place)) {
            Ok(buffer) => buffer,
            Err(shared) => {
                self.memory.insert(place, shared);
                return None;
            }
        };
        self.frame.columns[at].array.chunks.clear();
        Some(buffer)
    }

    /// A file in memory with the table.
    ///
    /// # Errors
    /// As for writing and opening; *argument* if columns were [taken](Self::take).
    pub fn file(&self, monitor: &dyn Monitor) -> Result<File> {
        if let Some(column) = self.frame.columns.iter().find(|column| self.is_taken(column)) {
            return Err(taken().in_column(&column.name));
        }
        in_memory(&self.frame, self.schema.path(), self.limits.clone(), monitor)
    }

    fn is_taken(&self, column: &Column) -> bool {
        column.array.n_values() != self.frame.n_rows
    }

    /// The buffers with the values of a column, if they have this layout: words, or the offsets and
    /// bytes of strings.
    fn buffers(&self, column: u64, layout: TextLayout) -> Option<Vec<Arc<Buffer>>> {
        let Column { array, column_type, .. } = self.frame.columns.get(usize::try_from(column).ok()?)?;
        let find = |part: &HostRead| {
            if part.is_empty() {
                return Some(Arc::default());
            }
            let buffer = &self.memory[place(&self.memory, part)?];
            let is_whole = (buffer.as_ptr().addr(), buffer.len()) == (part.addr(), part.len());
            is_whole.then(|| Arc::clone(buffer))
        };
        match &array.chunks.first()?.values {
            HostValues::Words { memory, stride } => {
                let is_dense = column_type.layout().width() == usize::try_from(*stride).ok();
                find(memory).filter(|_| is_dense).map(|words| vec![words])
            }
            HostValues::Offsets64 { offsets, bytes } => match layout {
                TextLayout::Small => None,
                TextLayout::Views if bytes.len() > VIEWED => None,
                _ => Some(vec![find(offsets)?, find(bytes)?]),
            },
            _ => None,
        }
    }

    /// Whether all columns of strings among these can be [shared](Self::shared), without which they
    /// are not read.
    pub fn has_text(&self, columns: impl IntoIterator<Item = u64>, layout: TextLayout) -> bool {
        columns.into_iter().all(|column| {
            let of = usize::try_from(column).ok().and_then(|i| self.frame.columns.get(i));
            of.is_none_or(|of| !of.column_type.physical.is_var()) || self.buffers(column, layout).is_some()
        })
    }

    /// The values of a column, shared; `None` if they have another layout in memory.
    ///
    /// # Errors
    /// *Out of memory*, *interrupted*.
    pub fn shared(
        &self,
        column: u64,
        layout: TextLayout,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Shared>> {
        let Some(mut buffers) = self.buffers(column, layout) else { return Ok(None) };
        if let [offsets, bytes] = &mut buffers[..]
            && layout == TextLayout::Views
        {
            *offsets = Arc::new(views_of(offsets, bytes, threads, monitor)?);
        }
        let mut validity = None;
        if usize::try_from(column).ok().and_then(|i| self.n_missing.get(i)).is_some_and(|&n| n > 0) {
            let n = usize::try_from(self.n_rows()).unwrap_or(usize::MAX);
            let bits = validity.insert(zeroed(n.div_ceil(8))?);
            // Without memory for the values, only the bits are put.
            let (output, missing) = (Output::Bools(&mut []), MissingTo::Bits(bits));
            let mut tasks = Vec::new();
            self.plan(Request { column, rows: Rows::All, output, missing }, &mut tasks)?;
            run(tasks, threads, monitor)?;
        }
        Ok(Some(Shared { buffers, validity }))
    }

    /// Reads all rows of columns into memory of the caller. Strings are [shared](Self::shared).
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read(
        &self,
        requests: Vec<Request<'_>>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let is_held = |request: &Request<'_>| request.column < self.frame.columns.len() as u64;
        let (held, others): (Vec<_>, Vec<_>) = requests.into_iter().partition(is_held);
        let mut tasks = Vec::new();
        held.into_iter().try_for_each(|request| self.plan(request, &mut tasks))?;
        run(tasks, threads, monitor)?;
        self.schema.read(others, threads, monitor)
    }

    /// Adds the tasks of a request.
    fn plan<'a>(&'a self, request: Request<'a>, tasks: &mut Vec<Task<'a>>) -> Result<()> {
        let Request { column, rows, mut output, mut missing } = request;
        let n_rows = self.n_rows();
        let column = usize::try_from(column).ok().and_then(|column| self.frame.columns.get(column));
        let is_whole = match rows {
            Rows::All => true,
            Rows::Range(rows) => rows == (0..n_rows),
            _ => false,
        };
        let Some(column) = column.filter(|_| is_whole) else {
            return Err(Error::argument("a part of a held table"));
        };
        if self.is_taken(column) {
            return Err(taken().in_column(&column.name));
        }
        let of = column.column_type.layout();
        let width = of.width().unwrap_or(1);
        let fits = match &output {
            Output::Words(out) => of.width().is_some() && out.len() as u64 == n_rows * width as u64,
            Output::Bools(out) => out.is_empty() || (of.width().is_none() && out.len() as u64 == n_rows),
            Output::Bits(out) => of.width().is_none() && out.len() as u64 == n_rows.div_ceil(8),
            _ => false,
        };
        if !fits || matches!(missing, MissingTo::BitsWithNan(_)) {
            return Err(Error::argument("the memory does not fit the values of a held table"));
        }
        let step = (TASK / width / BLOCK).max(1) * BLOCK;
        let mut start = 0;
        while start < n_rows {
            let n = step.min((n_rows - start) as usize);
            let (output_part, rest) = split_output(output, n, width);
            let (missing_part, missing_rest) = split_missing(missing, n);
            (output, missing) = (rest, missing_rest);
            let rows = start..start + n as u64;
            let task = Task { column, of, rows, output: output_part, missing: missing_part };
            fallible::push(tasks, task, COLUMNS)?;
            start += n as u64;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("n_rows", &self.n_rows()).finish_non_exhaustive()
    }
}

/// A file in memory with a table, not compressed.
fn in_memory(frame: &Frame, name: &Path, limits: Limits, monitor: &dyn Monitor) -> Result<File> {
    let sink = MemorySink::new();
    let raw = WriteOptions { compression: Some(0), ..WriteOptions::default() };
    write_to(&sink, frame, &raw, monitor).map_err(|error| error.in_file(name))?;
    File::from_source(Box::new(MemorySource::new(sink.into_bytes())), name, limits)
}

fn taken() -> Error {
    Error::argument("the values of the column were taken by an earlier read")
}

/// Whether the values of a column are words, booleans, codes or strings in one chunk.
fn is_plain(column: &Column) -> bool {
    let [Chunk { values, validity, .. }] = &column.array.chunks[..] else { return false };
    let is_known =
        matches!(validity, HostValidity::AllValid | HostValidity::Sentinel(_) | HostValidity::Bits { .. });
    let is_text = column.column_type.physical.is_var();
    is_known
        && match values {
            HostValues::Words { .. } | HostValues::Int32 { .. } => !is_text,
            HostValues::Offsets64 { .. } => is_text,
            _ => false,
        }
}

/// All memory that a plain column refers to.
fn memory_of(column: &Column) -> Vec<HostRead> {
    let mut all = Vec::new();
    for Chunk { values, validity, .. } in &column.array.chunks {
        match values {
            HostValues::Words { memory, .. } | HostValues::Int32 { memory, .. } => all.push(*memory),
            HostValues::Offsets64 { offsets, bytes } => all.extend([*offsets, *bytes]),
            _ => {}
        }
        if let HostValidity::Bits { memory, .. } = validity {
            all.push(*memory);
        }
    }
    all
}

/// The buffer that has all bytes of a part. Buffers are sorted by address.
fn place(memory: &[Arc<Buffer>], part: &HostRead) -> Option<usize> {
    let at = memory.partition_point(|buffer| buffer.as_ptr().addr() <= part.addr()).checked_sub(1)?;
    let skip = part.addr() - memory[at].as_ptr().addr();
    memory[at].len().checked_sub(skip).filter(|&left| part.len() <= left).map(|_| at)
}

fn zeroed(len: usize) -> Result<Buffer> {
    Buffers::default().zeroed(len).ok_or_else(|| Error::out_of_memory(len, COLUMNS))
}

/// The numbers of missing values of the columns. Also checks all values that are narrowed.
fn n_missing(frame: &Frame, monitor: &dyn Monitor) -> Result<Vec<u64>> {
    let counts: Vec<AtomicU64> = frame.columns.iter().map(|_| AtomicU64::new(0)).collect();
    let mut tasks = Vec::new();
    for (column, count) in frame.columns.iter().zip(&counts) {
        let [Chunk { n, values, validity }] = &column.array.chunks[..] else { continue };
        if let HostValues::Offsets64 { offsets, bytes } = values
            && bytes.len() as u64 > MAX_STRING
            && has_too_long(offsets)
        {
            return Err(Error::argument("a string is too long for a held table"));
        }
        match validity {
            HostValidity::Bits { memory, first_bit } => {
                let mut copy = fallible::defaults(memory.len(), COLUMNS)?;
                let n_present = if memory.copy_to(0, &mut copy) && (first_bit + n).div_ceil(8) <= copy.len() {
                    bits::count_ones(&copy, *first_bit, *n)
                } else {
                    return Err(too_short());
                };
                count.store((n - n_present) as u64, Ordering::Relaxed);
            }
            HostValidity::AllValid if !matches!(values, HostValues::Int32 { .. }) => {}
            _ => {
                for start in (0..*n as u64).step_by(TASK / 8) {
                    let rows = start..(*n as u64).min(start + TASK as u64 / 8);
                    fallible::push(&mut tasks, (column, count, rows), COLUMNS)?;
                }
            }
        }
    }
    let control = Control::new(monitor, 0);
    let threads = threads::default_threads();
    threads::run_in_ranges(tasks, threads, &control, Scratch::default, |scratch, (column, count, rows)| {
        let of = column.column_type.layout();
        let mut at = rows.start;
        while at < rows.end {
            control.check()?;
            let loaded = scratch.load(&column.array, of, at..rows.end);
            let n = loaded.map_err(|error| error.in_column(&column.name))?;
            if let (_, Some(valid)) = scratch.values(of, n) {
                count.fetch_add((n - bits::count_ones(valid, 0, n)) as u64, Ordering::Relaxed);
            }
            at += n as u64;
        }
        Ok(())
    })?;
    Ok(counts.into_iter().map(AtomicU64::into_inner).collect())
}

/// Whether a string is longer than a file allows.
fn has_too_long(offsets: &HostRead) -> bool {
    let end = |i: usize| offsets.read::<i64>(8 * i).unwrap_or_default();
    (1..offsets.len() / 8).any(|i| end(i).wrapping_sub(end(i - 1)).cast_unsigned() > MAX_STRING)
}

/// Some rows of a column, and the memory for them.
struct Task<'a> {
    column: &'a Column,
    of: Layout,
    rows: Range<u64>,
    output: Output<'a>,
    missing: MissingTo<'a>,
}

fn run(tasks: Vec<Task<'_>>, threads: Option<usize>, monitor: &dyn Monitor) -> Result<()> {
    let control = Control::new(monitor, tasks.iter().map(|task| task.rows.end - task.rows.start).sum());
    let threads = threads.unwrap_or_else(threads::default_threads);
    threads::run_in_ranges(tasks, threads, &control, Scratch::default, |scratch, task| {
        let name = &task.column.name;
        task.run(scratch, &control).map_err(|error| error.in_column(name))
    })
}

impl Task<'_> {
    fn run(mut self, scratch: &mut Scratch, control: &Control<'_>) -> Result<()> {
        if let Output::Words(memory) | Output::Bools(memory) = &mut self.output {
            Prefault::of(memory).0.populate();
        }
        let mut at = 0;
        while self.rows.start + (at as u64) < self.rows.end {
            control.check()?;
            let rows = self.rows.start + at as u64..self.rows.end;
            let n = self.put(scratch, rows, at)?;
            control.advance(n as u64);
            at += n;
        }
        Ok(())
    }

    /// Puts the first of some rows from index `at` on. Returns their number.
    fn put(&mut self, scratch: &mut Scratch, rows: Range<u64>, at: usize) -> Result<usize> {
        let Self { column, of, output, missing, .. } = self;
        let plain = plain_words(&column.array, *of).filter(|_| matches!(output, Output::Words(_)));
        if let (Some(from), Output::Words(out)) = (plain, &mut *output) {
            let (width, n) = (of.width().unwrap_or(1), (rows.end - rows.start) as usize);
            if !from.copy_to(rows.start as usize * width, &mut out[at * width..(at + n) * width]) {
                return Err(too_short());
            }
            put_missing(Validity::AllValid, 0..n, at, missing)?;
            return Ok(n);
        }
        if let [Chunk { validity: HostValidity::Bits { memory, first_bit }, .. }] = &column.array.chunks[..]
            && of.physical.is_var()
            && let MissingTo::Bits(out) = missing
        {
            let (first, n) = (first_bit + rows.start as usize, (rows.end - rows.start) as usize);
            let mut copy = vec![0; (first + n).div_ceil(8) - first / 8];
            let copied =
                memory.copy_to(first / 8, &mut copy) && bits::copy_bits(&copy, first % 8, out, at, n);
            return if copied { Ok(n) } else { Err(too_short()) };
        }
        let n = scratch.load(&column.array, *of, rows)?;
        let (values, valid) = scratch.values(*of, n);
        let validity = valid.map_or(Validity::AllValid, Validity::Bits);
        match output {
            Output::Words(out) => {
                let width = of.width().unwrap_or(1);
                let out = &mut out[at * width..(at + n) * width];
                out.copy_from_slice(bytes_of(&values));
                if let MissingTo::Sentinel(sentinel) = missing {
                    match width {
                        1 => mark::<u8>(validity, *sentinel, out)?,
                        2 => mark::<u16>(validity, *sentinel, out)?,
                        4 => mark::<u32>(validity, *sentinel, out)?,
                        8 => mark::<u64>(validity, *sentinel, out)?,
                        _ => {}
                    }
                }
            }
            Output::Bools([]) => {}
            Output::Bools(out) => {
                let out = &mut out[at..at + n];
                out.copy_from_slice(bytes_of(&values));
                if let MissingTo::Sentinel(sentinel) = missing {
                    mark::<u8>(validity, *sentinel, out)?;
                }
            }
            Output::Bits(out) => {
                let mut packed = Vec::with_capacity(n.div_ceil(8));
                if let Values::Bool(bytes) = &values {
                    bits::pack_bytes(bytes, &mut packed);
                }
                if !bits::copy_bits(&packed, 0, out, at, n) {
                    return Err(too_short());
                }
            }
            _ => return Err(Error::argument("a held table has no such values")),
        }
        put_missing(validity, 0..n, at, missing)?;
        Ok(n)
    }
}

/// The memory of a column of words without missing values, which need no look.
fn plain_words(array: &Array, of: Layout) -> Option<HostRead> {
    match &array.chunks[..] {
        [Chunk { values: HostValues::Words { memory, stride }, validity: HostValidity::AllValid, .. }]
            if usize::try_from(*stride).ok() == of.width() =>
        {
            Some(*memory)
        }
        _ => None,
    }
}

/// Puts a sentinel where a value is missing.
fn mark<T: Word>(validity: Validity<'_>, sentinel: u64, out: &mut [u8]) -> Result<()> {
    let out: &mut [T] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    validity.write_sentinel(0..out.len(), T::from_u64(sentinel), out);
    Ok(())
}

/// The views of strings in one buffer.
fn views_of(
    offsets: &Buffer,
    bytes: &Buffer,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Buffer> {
    let offsets: &[i64] = bytemuck::try_cast_slice(offsets).map_err(unaligned)?;
    let n = offsets.len().saturating_sub(1);
    let len = n.saturating_mul(16);
    let mut out = Buffer::zeroed(len).ok_or_else(|| Error::out_of_memory(len, STRINGS))?;
    let wrong = || Error::argument("the offsets of strings do not ascend");
    let out_views: &mut [u128] = bytemuck::try_cast_slice_mut(&mut out).map_err(unaligned)?;
    let tasks: Vec<_> = out_views.chunks_mut(TASK / 16).enumerate().collect();
    let control = Control::new(monitor, n as u64);
    let threads = threads.unwrap_or_else(threads::default_threads);
    threads::run_in_ranges(tasks, threads, &control, Vec::new, |lens: &mut Vec<u32>, (i, out)| {
        control.check()?;
        Prefault::of(bytemuck::cast_slice_mut(out)).0.populate();
        let first = i * (TASK / 16);
        let ends = offsets.get(first..=first + out.len()).ok_or_else(wrong)?;
        lens.clear();
        for pair in ends.windows(2) {
            lens.push(u32::try_from(pair[1].wrapping_sub(pair[0])).map_err(|_| wrong())?);
        }
        let (start, end) = (ends[0] as usize, ends[ends.len() - 1] as usize);
        let bytes = bytes.get(start..end).ok_or_else(wrong)?;
        views(bytes, lens, 0, start as u32, out);
        Ok(())
    })?;
    Ok(out)
}
