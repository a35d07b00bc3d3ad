//! Rewrites blocks: copies them after verifying checksums, or encodes their values again.

use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::{Encoder, Profile};
use entasis_format::{
    BlockRecord, Codec, Directory, Error, Packing, Pieces, Result, Statistics, Transform, checksum, fallible,
};

use super::BlockPlan;
use crate::file::{ColumnInfo, File, Member};
use crate::frame::{Array, Chunk, HostValidity, HostValues};
use crate::monitor::{Control, Silent};
use crate::read::{missing_chunk, read_chunk, read_rows};
use crate::rows::Rows;
use crate::write::input::{LoadOptions, Scratch, StringBlocks};
use crate::write::placement::{BlockRun, ENCODED, Placement};
use crate::write::{BUFFER, LONG_BLOCK, WRITE};

/// Consecutive plans of a column, whose blocks one thread stores.
pub(super) struct Task<'c> {
    pub index: usize,
    pub column: &'c ColumnInfo,
    /// Whether it is the first of its column.
    pub is_first: bool,
    pub plans: &'c [BlockPlan],
    /// The old blocks of the column.
    pub blocks: Arc<Vec<BlockRecord>>,
    pub statistics: Arc<Vec<Statistics>>,
}

impl Task<'_> {
    /// The number of values to store.
    pub(super) fn n_values(&self) -> u64 {
        self.plans.iter().map(|plan| self.n_values_of(plan)).sum()
    }

    fn n_values_of(&self, plan: &BlockPlan) -> u64 {
        let of_block = |i: &usize| self.blocks.get(*i).map_or(0, |block| u64::from(block.n_values));
        match plan {
            BlockPlan::Copied(i) | BlockPlan::Missing(i) => of_block(i),
            BlockPlan::Merged(blocks) => blocks.clone().map(|i| of_block(&i)).sum(),
            BlockPlan::Numbers(numbers) => numbers.len() as u64,
            BlockPlan::Joined { values, .. } => values.end - values.start,
        }
    }

    fn block(&self, i: usize) -> Result<&BlockRecord> {
        self.blocks.get(i).ok_or_else(|| Error::corrupt("a column has fewer blocks than before"))
    }
}

/// Where the values of a plan begin.
#[derive(Clone, Copy, Default)]
struct Start {
    /// The number of the first value.
    value: u64,
    /// Its child offset.
    child: u64,
}

/// The memory and the encoder of one thread.
#[derive(Default)]
pub(super) struct Worker {
    scratch: Scratch,
    encoder: Option<Encoder>,
    /// Memory for encoded bytes, reused by the next task.
    bytes: Option<Vec<u8>>,
}

impl Worker {
    /// Makes and stores the blocks of a task.
    pub(super) fn run(
        &mut self,
        file: &File,
        task: &Task<'_>,
        placement: &Placement<'_>,
        control: &Control<'_>,
    ) -> Result<()> {
        let align = task.is_first && task.blocks.first().is_some_and(is_plain);
        let mut run = placement.begin(task.index, align, self.bytes.take())?;
        for plan in task.plans {
            control.check()?;
            match plan {
                &BlockPlan::Copied(i) => copy(file, task, i, &mut run).map_err(|e| e.in_block(i as u64))?,
                BlockPlan::Merged(blocks) => {
                    let (first, last) = (task.block(blocks.start)?, task.block(blocks.end - 1)?);
                    let values = first.first_value..last.end_value();
                    let (chunk, _) = read_chunk(file, task.column, values, Some(1), &Silent)?;
                    let profile = profile(file, &task.blocks[blocks.clone()])?;
                    let start = Start { value: first.first_value, child: first.first_child };
                    self.store(task.column, chunk, start, &profile, &mut run, control)?;
                }
                &BlockPlan::Missing(i) => {
                    let block = task.block(i)?;
                    let chunk = missing_chunk(task.column, block.n_values as usize)?;
                    let start = Start { value: block.first_value, child: block.first_child };
                    self.store(task.column, chunk, start, &profile(file, &[])?, &mut run, control)?;
                }
                BlockPlan::Joined { pieces, values } => {
                    let stored = joined(pieces, values, task.column.record.n_values)?;
                    let rows = Rows::Indices(Arc::new(stored));
                    let (chunk, _) = read_rows(file, task.column, rows, Some(1), &Silent)?;
                    let start = Start { value: values.start, child: 0 };
                    let profile = profile(file, &task.blocks)?;
                    self.store(task.column, chunk, start, &profile, &mut run, control)?;
                }
                BlockPlan::Numbers(numbers) => {
                    let values = HostValues::Counted(Arc::clone(numbers));
                    let chunk = Chunk { n: numbers.len(), values, validity: HostValidity::AllValid };
                    self.store(
                        task.column,
                        chunk,
                        Start::default(),
                        &profile(file, &[])?,
                        &mut run,
                        control,
                    )?;
                }
            }
            control.advance(task.n_values_of(plan));
            if run.bytes().len() >= BUFFER || (run.bytes().len() >= WRITE && run.is_next()) {
                run.flush(control)?;
            }
        }
        self.bytes = run.finish(control)?;
        Ok(())
    }

    /// Encodes values that begin at `start`.
    fn store(
        &mut self,
        column: &ColumnInfo,
        chunk: Chunk,
        start: Start,
        profile: &Profile,
        run: &mut BlockRun<'_>,
        control: &Control<'_>,
    ) -> Result<()> {
        let of = column.record.column_type.layout();
        let array = Array::new(chunk);
        let strings = StringBlocks::of(&array, of);
        let encoder = self.encoder.get_or_insert_with(|| Encoder::new(profile.clone()));
        encoder.begin_run(profile);
        if let Some(symbols) = &strings.symbols {
            encoder.share(symbols);
        }
        let options = LoadOptions { string_block_len: strings.most, ..LoadOptions::default() };
        let (mut at, end) = (0, array.n_values());
        while at < end {
            control.check()?;
            let pages_at = run.bytes().len();
            let n = self.scratch.load_with(&array, of, at..end, options)?;
            let (values, validity) = self.scratch.values(of, n);
            let len = values.bytes_len();
            if len >= LONG_BLOCK {
                // The encoder appends without a check for memory.
                fallible::reserve(run.bytes(), len + len / 8, ENCODED)?;
            }
            let encoded = encoder.encode(of, values, validity, &|| control.check(), run.bytes())?;
            let numbers = start.value + at..start.value + at + n as u64;
            run.add(numbers, pages_at, &encoded, profile.is_raw(), start.child)?;
            at += n as u64;
        }
        Ok(())
    }
}

/// The positions in a storage column of `n_stored` values that its values have once its rows are
/// one piece.
fn joined(pieces: &Arc<Pieces>, values: &Range<u64>, n_stored: u64) -> Result<Vec<u64>> {
    let n_rows = pieces.n_rows();
    let mut found = fallible::with_capacity((values.end - values.start) as usize, ENCODED)?;
    let mut at = values.start;
    while at < values.end {
        let first = at - at % n_rows;
        let end = values.end.min(first + n_rows);
        let member = Member::new(Arc::clone(pieces), first, n_rows, n_stored)?;
        for stretch in member.stretches(at - first..end - first) {
            found.extend(stretch.values());
        }
        at = end;
    }
    Ok(found)
}

/// Copies a block, and verifies its checksums.
fn copy(file: &File, task: &Task<'_>, i: usize, run: &mut BlockRun<'_>) -> Result<()> {
    let block = task.block(i)?;
    let statistics = task.statistics.get(i).ok_or_else(|| Error::corrupt("a block has no statistics"))?;
    let mut bytes = Vec::new();
    file.read_bytes(block.directory_at, block.directory_len as usize, &mut bytes)?;
    let of = task.column.record.column_type.layout();
    let directory = Directory::parse(&bytes, block, of, file.limits())?;
    let pages_at = run.bytes().len();
    let len = block.pages_len as usize;
    fallible::resize(run.bytes(), pages_at + len, 0, ENCODED)?;
    file.read_into(block.pages_at, &mut run.bytes()[pages_at..])?;
    let mut offset = 0;
    let mut verify = |stored_len: u32, sum: u64| {
        let part = run.bytes().get(pages_at + offset..pages_at + offset + stored_len as usize);
        if part.is_none_or(|part| checksum(part) != sum) {
            let at = block.pages_at + offset as u64;
            return Err(Error::corrupt("the checksum of a page does not match").at(at));
        }
        offset += stored_len as usize;
        Ok(())
    };
    if directory.dictionary.stored_len > 0 {
        verify(directory.dictionary.stored_len, directory.dictionary.checksum)?;
    }
    for (page, entry) in (0u64..).zip(&directory.pages) {
        verify(entry.stored_len, entry.checksum).map_err(|e| e.in_page(page))?;
    }
    let is_apart = block.directory_at != block.pages_at + u64::from(block.pages_len);
    run.add_copy(*block, *statistics, pages_at, bytes, is_apart && is_plain(block));
    Ok(())
}

/// Whether the pages of a block are its values.
fn is_plain(block: &BlockRecord) -> bool {
    let e = block.encoding;
    (e.packing, e.transform, e.codec) == (Packing::Raw, Transform::None, Codec::None)
}

/// The profile for values that replace `blocks`: the last write's profile, or raw if all the blocks
/// are raw.
fn profile(file: &File, blocks: &[BlockRecord]) -> Result<Profile> {
    let is_raw = !blocks.is_empty() && blocks.iter().all(is_plain);
    let of_file = || file.compression().unwrap_or(Profile::DEFAULT);
    Profile::new(if is_raw { 0 } else { of_file() })
}
