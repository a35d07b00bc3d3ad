//! Encodes and writes the runs of one thread.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use entasis_encodings::{Encoder, Learned};
use entasis_format::{Layout, MAX_BLOCK_VALUES, Result, fallible};

use super::input::{LoadOptions, Scratch};
use super::placement::{ENCODED, Placement};
use super::tasks::Task;
use super::{BUFFER, Stored, WRITE};
use crate::frame::pre_encoded::BLOCK;
use crate::monitor::Control;

/// A block with this many decoded bytes may exceed the memory of a run when encoded.
pub(crate) const LONG_BLOCK: usize = 1 << 20;

/// The memory and the encoder of one thread.
#[derive(Default)]
pub(super) struct Worker {
    scratch: Scratch,
    encoder: Option<Encoder>,
    /// Memory for encoded bytes, reused by the next run.
    bytes: Option<Vec<u8>>,
    /// The layout of the previous run of the group.
    before: Option<Layout>,
}

/// Memory of ended threads and hints of columns, for the threads of the next part of a stream.
#[derive(Default)]
pub(crate) struct Workers {
    idle: Mutex<Vec<Worker>>,
    /// None for a file of one part.
    learned: Option<LearnedOfParts>,
}

/// Hints of columns, by their index and layout.
#[derive(Default)]
struct LearnedOfParts {
    /// In the part before.
    before: Mutex<HashMap<(usize, Layout), Learned>>,
    /// In this part. Its last run of a column may end before the first one begins.
    now: Mutex<HashMap<(usize, Layout), Learned>>,
}

/// Hints of a column may take 100 kB, so only the first columns keep theirs.
const LEARNED: usize = 256;

impl Workers {
    /// Workers of several parts.
    pub(crate) fn of_stream() -> Self {
        Self { learned: Some(LearnedOfParts::default()), ..Self::default() }
    }

    /// Begins a part.
    pub(super) fn begin(&self) {
        if let Some(LearnedOfParts { before, now }) = &self.learned {
            *lock(before) = std::mem::take(&mut lock(now));
        }
    }

    pub(super) fn lend(&self) -> Lent<'_> {
        Lent { worker: lock(&self.idle).pop().unwrap_or_default(), to: self }
    }

    /// The hints of a column from the part before.
    fn learned(&self, column: (usize, Layout)) -> Option<Learned> {
        lock(&self.learned.as_ref()?.before).remove(&column)
    }

    /// Keeps what the last run of a column has learned.
    fn keep(&self, column: (usize, Layout), encoder: &mut Encoder) {
        if let Some(learned) = &self.learned
            && column.0 < LEARNED
        {
            lock(&learned.now).insert(column, encoder.take_learned());
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker that goes back at the end.
pub(super) struct Lent<'a> {
    pub worker: Worker,
    to: &'a Workers,
}

impl Lent<'_> {
    /// As [`Worker::run`]. The first run of a column goes on with what the part before has learned.
    pub fn run(
        &mut self,
        column: &Stored<'_>,
        task: &Task,
        next_is_adjacent: bool,
        placement: &Placement<'_>,
        control: &Control<'_>,
    ) -> Result<()> {
        let is_first = task.values.start == 0;
        let learned = if is_first { self.to.learned((column.column, column.of)) } else { None };
        self.worker.run(column, task, learned, next_is_adjacent, placement, control)?;
        if task.values.end == column.array.n_values()
            && let Some(encoder) = &mut self.worker.encoder
        {
            self.to.keep((column.column, column.of), encoder);
        }
        Ok(())
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        lock(&self.to.idle).push(std::mem::take(&mut self.worker));
    }
}

impl Worker {
    /// Begins a group. Encoding depends only on earlier runs of the same group.
    pub fn begin(&mut self) {
        self.before = None;
    }

    /// Encodes and writes the blocks of a run. `next_is_adjacent` is true if the next run's column
    /// follows this one in a row-major matrix.
    pub fn run(
        &mut self,
        column: &Stored<'_>,
        task: &Task,
        learned: Option<Learned>,
        next_is_adjacent: bool,
        placement: &Placement<'_>,
        control: &Control<'_>,
    ) -> Result<()> {
        let encoder = self.encoder.get_or_insert_with(|| Encoder::new(column.profile.clone()));
        let is_similar = self.before.replace(column.of) == Some(column.of);
        if let Some(learned) = learned {
            encoder.resume(column.profile, learned);
        } else if is_similar {
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
        let options = LoadOptions { string_block_len: column.strings.most, next_is_adjacent };
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
                let n = self.scratch.load_with(column.array, column.of, at..task.values.end, options)?;
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
