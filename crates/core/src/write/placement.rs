//! Gives encoded blocks their offsets in the file, in the order of the runs, whichever thread
//! encoded them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use entasis_encodings::Encoded;
use entasis_format::{
    BlockRecord, Codec, Directory, Error, HEADER_LEN, KEY_PAGES_END, Packing, Result, SLOT_PAGES_END,
    Statistics, Transform, checksum, fallible,
};
use entasis_io::{Sink, WRITE_UNIT};

use super::coalesce::{Coalescer, Due};
use crate::monitor::Control;

/// The use of the memory, in messages.
pub(crate) const ENCODED: &str = "encoded blocks";
/// Raw columns begin at multiples of this, so they can be mapped.
const ALIGNMENT: u64 = 64;

/// A block with its offset in the file.
#[derive(Debug)]
pub(crate) struct Placed {
    pub record: BlockRecord,
    pub statistics: Statistics,
    /// For a block of a contiguous array: the directory, written after all segments.
    directory: Option<Vec<u8>>,
}

impl Placed {
    /// A block that stays where it is.
    pub(crate) fn kept(record: BlockRecord, statistics: Statistics) -> Self {
        Self { record, statistics, directory: None }
    }
}

/// The sink, and the run whose turn it is to get offsets.
pub(crate) struct Placement<'a> {
    sink: &'a dyn Sink,
    /// The offset of the first byte.
    start: u64,
    /// Bytes of memory to reserve for a run.
    room: usize,
    /// The values of all runs.
    n_values: u64,
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Default)]
struct Turn {
    run: usize,
    at: u64,
    /// The values of the placed blocks.
    n_placed: u64,
    /// The last bytes before `at`, not written yet.
    coalescer: Coalescer,
    /// Threads that wait for their turn.
    n_waiting: usize,
    /// Runs that finished before their turn, and the total of their bytes.
    ready: BTreeMap<usize, Blocks>,
    ready_len: usize,
    /// The blocks of the placed runs.
    placed: BTreeMap<usize, Vec<Placed>>,
    /// Pending writes, which have an offset, in the order of their offsets.
    due: VecDeque<(Due, Vec<u8>)>,
    due_len: usize,
    /// Whether a thread is writing. It also does the writes that others add in the meantime.
    is_writing: bool,
    /// Memory of finished writes, for reuse.
    spare: Vec<Vec<u8>>,
}

impl Turn {
    /// A lower estimate of the end of all blocks, if later values take as many bytes as placed
    /// ones.
    fn foreseen(&self, n_values: u64) -> u64 {
        let all = u128::from(self.at) * u128::from(n_values) / u128::from(self.n_placed.max(1));
        u64::try_from(all / 32 * 31).unwrap_or(u64::MAX)
    }
}

/// The most bytes of runs that finished before their turn. A thread that would exceed it waits for
/// its turn.
pub(super) const READY: usize = 32 << 20;
/// With more pending bytes than this, threads wait for the writing thread.
const DUE: usize = 8 << 20;

impl<'a> Placement<'a> {
    /// A placement for runs of `n_values` values, from offset `start` on.
    pub(crate) fn new(sink: &'a dyn Sink, start: u64, room: usize, n_values: u64) -> Self {
        Self {
            sink,
            start,
            room,
            n_values,
            turn: Mutex::new(Turn { at: start, ..Turn::default() }),
            changed: Condvar::new(),
        }
    }

    /// Where the room of a new file begins whose bytes it writes.
    pub(crate) fn room_start(&self) -> u64 {
        match self.start {
            ..SLOT_PAGES_END => HEADER_LEN as u64,
            _ if self.sink.is_mappable() => SLOT_PAGES_END,
            _ => KEY_PAGES_END,
        }
    }

    /// Begins run number `index`, in `memory` if given.
    pub(crate) fn begin(&self, index: usize, align: bool, memory: Option<Vec<u8>>) -> Result<BlockRun<'_>> {
        let bytes = self.memory(memory)?;
        Ok(BlockRun {
            placement: self,
            index,
            inner: Blocks { align: align && self.sink.is_mappable(), bytes, blocks: Vec::new(), n_placed: 0 },
        })
    }

    /// Writes `bytes` after everything that has an offset so far. Returns their offset.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<u64> {
        if bytes.is_empty() {
            return Ok(self.end());
        }
        let mut turn = self.lock();
        let at = turn.at;
        turn.at += bytes.len() as u64;
        let mut pending = turn.coalescer.release();
        drop(turn);
        if pending.is_empty() {
            self.write(at, bytes)?;
        } else {
            let from = at - pending.len() as u64;
            pending.extend_from_slice(bytes);
            self.write(from, &pending)?;
        }
        Ok(at)
    }

    /// Appends the footer and writes the header. A small file takes one write.
    pub(crate) fn finish(&self, footer: &[u8], header: &[u8]) -> Result<()> {
        let mut turn = self.lock();
        let is_all = turn.at - turn.coalescer.len() as u64 == header.len() as u64;
        if !is_all || footer.len() > WRITE_UNIT {
            drop(turn);
            self.append(footer)?;
            return self.write(0, header);
        }
        turn.at += footer.len() as u64;
        let pending = turn.coalescer.release();
        drop(turn);
        self.write(0, &[header, &pending, footer].concat())
    }

    /// The blocks of every run, once all are finished.
    pub(crate) fn placed(&self) -> BTreeMap<usize, Vec<Placed>> {
        std::mem::take(&mut self.lock().placed)
    }

    /// The end of all bytes that have an offset so far.
    pub(crate) fn end(&self) -> u64 {
        self.lock().at
    }

    /// Does a write that is due.
    fn write_due(&self, due: &Due, bytes: &[u8]) -> Result<()> {
        if !due.front.is_empty() {
            self.write(due.at, &due.front)?;
        }
        match &bytes[due.direct.clone()] {
            [] => Ok(()),
            direct => self.write(due.at + due.front.len() as u64, direct),
        }
    }

    pub(crate) fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        self.sink.write_all_at(at, bytes).map_err(|source| Error::io(source, "write"))
    }

    /// Writes the directories that were held back.
    pub(crate) fn write_directories(&self, columns: &mut [Vec<Placed>]) -> Result<()> {
        let mut at = self.end();
        let mut bytes = Vec::new();
        for block in columns.iter_mut().flatten() {
            if let Some(directory) = block.directory.take() {
                block.record.directory_at = at + bytes.len() as u64;
                bytes.extend_from_slice(&directory);
                if bytes.len() >= 1 << 20 {
                    at += bytes.len() as u64;
                    self.append(&bytes)?;
                    bytes.clear();
                }
            }
        }
        self.append(&bytes).map(|_| ())
    }

    /// Empty memory for a run: reused, or new.
    fn memory(&self, there: Option<Vec<u8>>) -> Result<Vec<u8>> {
        let mut bytes = match there {
            Some(bytes) => bytes,
            None => fallible::with_capacity(self.room, ENCODED)?,
        };
        bytes.clear();
        Ok(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_fit` holds.
    fn wait<'t>(
        &'t self,
        mut turn: MutexGuard<'t, Turn>,
        control: &Control<'_>,
        is_fit: impl Fn(&Turn) -> bool,
    ) -> Result<MutexGuard<'t, Turn>> {
        while !is_fit(&turn) {
            // The monitor runs host code, so it is not called under the lock.
            drop(turn);
            control.check()?;
            turn = self.lock();
            if is_fit(&turn) {
                break;
            }
            turn.n_waiting += 1;
            (turn, _) = self
                .changed
                .wait_timeout(turn, Duration::from_millis(20))
                .unwrap_or_else(PoisonError::into_inner);
            turn.n_waiting -= 1;
        }
        Ok(turn)
    }

    /// Does the pending writes, or leaves them to the thread that is writing. File systems let one
    /// thread at a time write to a file, and other threads that try waste processor time. Returns
    /// memory for reuse.
    fn settle<'t>(
        &'t self,
        mut turn: MutexGuard<'t, Turn>,
        control: &Control<'_>,
    ) -> Result<Option<Vec<u8>>> {
        if turn.n_waiting > 0 {
            self.changed.notify_all();
        }
        if turn.is_writing {
            turn = self.wait(turn, control, |turn| turn.due_len <= DUE)?;
            return Ok(turn.spare.pop());
        }
        // Stays set after an error, so nothing more is written and all threads stop.
        turn.is_writing = true;
        self.sink.expect(turn.foreseen(self.n_values));
        while let Some((due, bytes)) = turn.due.pop_front() {
            drop(turn);
            control.check()?;
            self.write_due(&due, &bytes)?;
            turn = self.lock();
            turn.due_len -= bytes.len();
            turn.spare.push(bytes);
            if turn.n_waiting > 0 && turn.due_len <= DUE {
                self.changed.notify_all();
            }
        }
        turn.is_writing = false;
        Ok(turn.spare.pop())
    }
}

/// The encoded blocks of an unfinished run.
pub(crate) struct BlockRun<'a> {
    placement: &'a Placement<'a>,
    index: usize,
    inner: Blocks,
}

/// Encoded blocks.
struct Blocks {
    align: bool,
    /// Bytes without an offset.
    bytes: Vec<u8>,
    blocks: Vec<Placed>,
    /// The number of blocks with an offset. Offsets of later blocks count from the start of
    /// `bytes`.
    n_placed: usize,
}

impl Blocks {
    /// Gives `bytes` their offset. Their write is then pending.
    fn assign_offset(&mut self, turn: &mut Turn) {
        if std::mem::take(&mut self.align) {
            let at = turn.at.next_multiple_of(ALIGNMENT);
            turn.coalescer.skip((at - turn.at) as usize);
            turn.at = at;
        }
        let at = turn.at;
        turn.at += self.bytes.len() as u64;
        for block in &mut self.blocks[self.n_placed..] {
            block.record.pages_at += at;
            block.record.directory_at += at;
            turn.n_placed += u64::from(block.record.n_values);
        }
        self.n_placed = self.blocks.len();
        let bytes = std::mem::take(&mut self.bytes);
        match turn.coalescer.take(at, &bytes) {
            Some(due) => {
                turn.due_len += bytes.len();
                turn.due.push_back((due, bytes));
            }
            None => turn.spare.push(bytes),
        }
    }

    /// Gives the last bytes of the current run their offset, and ends its turn.
    fn finish(mut self, turn: &mut Turn) {
        self.assign_offset(turn);
        turn.placed.insert(turn.run, self.blocks);
        turn.run += 1;
    }
}

impl BlockRun<'_> {
    /// Encoded bytes without an offset.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.inner.bytes
    }

    /// Adds a block whose pages are in `bytes`, from `pages_at` to the end. Appends its directory
    /// to `bytes`. With `is_raw`, the directory of a plain block is kept apart instead, and written
    /// after all segments.
    pub(crate) fn add(
        &mut self,
        values: Range<u64>,
        pages_at: usize,
        encoded: &Encoded,
        is_raw: bool,
        first_child: u64,
    ) -> Result<()> {
        let &Encoded { ref directory, decoded_len, statistics } = encoded;
        let pages_len = self.inner.bytes.len() - pages_at;
        let too_large = || Error::unsupported("a block of 4 GiB or more").advise("split the values");
        let mut bytes = Vec::with_capacity(Directory::len(directory.pages.len()));
        directory.emit(&mut bytes);
        let e = directory.encoding;
        let is_plain = is_raw
            && !directory.validity
            && (e.packing, e.transform, e.codec) == (Packing::Raw, Transform::None, Codec::None);
        let record = BlockRecord {
            first_value: values.start,
            n_values: u32::try_from(values.end - values.start).map_err(|_| too_large())?,
            encoding: e,
            directory_at: self.inner.bytes.len() as u64,
            pages_at: pages_at as u64,
            directory_len: u32::try_from(bytes.len()).map_err(|_| too_large())?,
            pages_len: u32::try_from(pages_len).map_err(|_| too_large())?,
            decoded_len,
            directory_checksum: checksum(&bytes),
            first_child,
        };
        let directory = if is_plain {
            Some(bytes)
        } else {
            self.inner.bytes.extend_from_slice(&bytes);
            None
        };
        self.inner.blocks.push(Placed { record, statistics, directory });
        Ok(())
    }

    /// Adds a block of another file. Its pages are in `bytes`, from `pages_at` to the end. Appends
    /// `directory` to `bytes`. With `is_apart`, it is kept apart instead, and written after all
    /// segments.
    pub(crate) fn add_copy(
        &mut self,
        block: BlockRecord,
        statistics: Statistics,
        pages_at: usize,
        directory: Vec<u8>,
        is_apart: bool,
    ) {
        let directory_at = self.inner.bytes.len() as u64;
        let record = BlockRecord { directory_at, pages_at: pages_at as u64, ..block };
        if !is_apart {
            self.inner.bytes.extend_from_slice(&directory);
        }
        let directory = is_apart.then_some(directory);
        self.inner.blocks.push(Placed { record, statistics, directory });
    }

    /// Whether it is this run's turn.
    pub(crate) fn is_next(&self) -> bool {
        self.placement.lock().run == self.index
    }

    /// Waits for this run's turn, then writes the encoded bytes or leaves them to the writing
    /// thread.
    pub(crate) fn flush(&mut self, control: &Control<'_>) -> Result<()> {
        let (placement, index) = (self.placement, self.index);
        let mut turn = placement.wait(placement.lock(), control, |turn| turn.run == index)?;
        self.inner.assign_offset(&mut turn);
        self.inner.bytes = placement.memory(placement.settle(turn, control)?)?;
        Ok(())
    }

    /// Writes the rest or leaves it to another thread. Returns memory for the next run.
    pub(crate) fn finish(self, control: &Control<'_>) -> Result<Option<Vec<u8>>> {
        let Self { placement, index, inner } = self;
        let mut turn = placement.lock();
        if turn.run != index {
            if turn.ready_len + inner.bytes.len() <= READY {
                turn.ready_len += inner.bytes.len();
                turn.ready.insert(index, inner);
                return Ok(turn.spare.pop());
            }
            turn = placement.wait(turn, control, |turn| turn.run == index)?;
        }
        inner.finish(&mut turn);
        loop {
            let next = turn.run;
            let Some(ready) = turn.ready.remove(&next) else { break };
            turn.ready_len -= ready.bytes.len();
            ready.finish(&mut turn);
        }
        placement.settle(turn, control)
    }
}
