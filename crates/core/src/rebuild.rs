//! Rewrites the columns of a file block by block, without decoding unchanged blocks.
//!
//! The footer keeps all numbers of columns, tables and nodes, so most sections are copied. A new
//! file gets its columns in order.

mod copy;
mod merge;
mod records;
mod tidy;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use entasis_format::{
    BlockRange, BlockRecord, Error, Kind, Physical, Pieces, Result, SectionKind, SectionRecords, Statistics,
    fallible,
};
use entasis_io::Sink;

use crate::file::{ColumnInfo, File};
use crate::monitor::{Control, Monitor};
use crate::refused::catch_refusal;
use crate::threads;
use crate::write::footer::{Footer, seal};
use crate::write::placement::{Placed, Placement};
use crate::write::unknown::Unknown;
use crate::write::{Ground, WRITE};
use copy::{Task, Worker};
pub(crate) use merge::{known_columns, merged, start};
pub(crate) use records::{Changed, ChangedTable};
use records::{ColumnEdits, Values};
use tidy::{Described, is_untidy, tidied};

/// The use of the memory, in messages.
pub(crate) const PARTS: &str = "the parts of the file";
/// Old blocks that a thread stores as one task.
const TASK_BLOCKS: u64 = 16;

/// Whether a column has blocks of its own.
pub(crate) fn has_blocks(column: &ColumnInfo) -> bool {
    !column.record.is_bundled && column.record.column_type.physical != Physical::Null
}

/// How some blocks of a column are made.
#[derive(Clone, Debug)]
pub(crate) enum BlockPlan {
    /// This block as it is.
    Copied(usize),
    /// The values of these blocks as one block, or as few blocks of strings.
    Merged(Range<usize>),
    /// This block with all its values missing.
    Missing(usize),
    /// All values of a column of child offsets.
    Numbers(Arc<[u64]>),
    /// These values of a bundle, once its rows are one piece of the table.
    Joined {
        /// The pieces of the file.
        pieces: Arc<Pieces>,
        values: Range<u64>,
    },
}

/// Where blocks of the old file are in the new one: offsets of pages and directory.
pub(crate) type Moves = HashMap<(u64, u64), (u64, u64)>;

/// A new order of the blocks of a file.
pub(crate) struct Rebuild<'a> {
    /// The view of all columns.
    pub file: &'a File,
    /// All columns.
    pub columns: &'a [ColumnInfo],
    /// The blocks of each column, in order.
    pub plans: Vec<Vec<BlockPlan>>,
    /// The columns whose records change.
    pub changed: HashMap<u64, Changed>,
    /// The table whose record changes.
    pub table: Option<ChangedTable>,
    /// Whether the rows of each table become one piece.
    pub joins_pieces: bool,
    /// Whether a new file gets its columns in order.
    pub is_tidied: bool,
    /// The blocks that the new file has already.
    pub moves: Option<&'a Moves>,
    /// The number of threads.
    pub threads: Option<usize>,
}

impl<'a> Rebuild<'a> {
    /// These blocks in the order of the file. Nothing else changes.
    pub(crate) fn new(
        file: &'a File,
        columns: &'a [ColumnInfo],
        plans: Vec<Vec<BlockPlan>>,
        threads: Option<usize>,
    ) -> Self {
        Self {
            file,
            columns,
            plans,
            changed: HashMap::new(),
            table: None,
            joins_pieces: false,
            is_tidied: false,
            moves: None,
            threads,
        }
    }

    /// Writes all blocks from `start` on, and makes the footer. For an in-place change, copied
    /// blocks stay where they are.
    pub(crate) fn execute<'p>(
        &self,
        sink: &'p dyn Sink,
        start: u64,
        ground: &Ground<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Footer<'p>> {
        catch_refusal(|| self.store(sink, start, ground, monitor))
    }

    fn store<'p>(
        &self,
        sink: &'p dyn Sink,
        start: u64,
        ground: &Ground<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Footer<'p>> {
        self.check_len()?;
        let mut blocks: Vec<Vec<Placed>> = Vec::new();
        let mut tasks = Vec::new();
        for (column, plans) in self.columns.iter().zip(&self.plans) {
            let mut kept = Vec::new();
            if !plans.is_empty() {
                self.add_tasks(column, plans, ground.is_in_place, &mut tasks, &mut kept)
                    .map_err(|e| e.in_column(&column.name))?;
            }
            fallible::push(&mut blocks, kept, PARTS)?;
        }
        let columns: Vec<u64> = fallible::collect(tasks.iter().map(|task| task.column.index), PARTS)?;
        let total = tasks.iter().map(Task::n_values).sum();
        let control = Control::new(monitor, total);
        let placement = Placement::new(sink, start, WRITE, total);
        threads::run(
            tasks,
            self.threads.unwrap_or_else(threads::default_threads),
            &control,
            Worker::default,
            |worker, task| {
                worker.run(self.file, &task, &placement, &control).map_err(|e| e.in_column(&task.column.name))
            },
        )?;
        for (task, of_task) in placement.placed() {
            let number = columns.get(task).and_then(|&number| usize::try_from(number).ok());
            if let Some(of_column) = number.and_then(|number| blocks.get_mut(number)) {
                of_column.extend(of_task);
            }
        }
        for of_column in &mut blocks {
            of_column.sort_by_key(|block| block.record.first_value);
        }
        placement.write_directories(&mut blocks)?;
        control.finish()?;
        self.footer(&blocks, ground, placement)
    }

    /// Checks that all blocks together fit the file's length. Copies of blocks that share bytes
    /// could fill any disk.
    fn check_len(&self) -> Result<()> {
        let mut len = 0u64;
        let columns = self.columns.iter().zip(&self.plans);
        for (column, _) in columns.filter(|(_, plans)| !plans.is_empty()) {
            for block in self.file.blocks(column.index)?.iter() {
                len = len.saturating_add(block.pages_len.into()).saturating_add(block.directory_len.into());
            }
        }
        if len <= self.file.slot().end { Ok(()) } else { Err(Error::corrupt("parts of the file overlap")) }
    }

    /// Cuts the plans of a column into tasks. Blocks that stay in place are added to `kept`.
    fn add_tasks<'c>(
        &'c self,
        column: &'c ColumnInfo,
        plans: &'c [BlockPlan],
        is_in_place: bool,
        tasks: &mut Vec<Task<'c>>,
        kept: &mut Vec<Placed>,
    ) -> Result<()> {
        let blocks = self.file.blocks(column.index)?;
        let needs_statistics = plans.iter().any(|plan| matches!(plan, BlockPlan::Copied(_)));
        let statistics = if needs_statistics { self.file.statistics_of(column)? } else { Vec::new() };
        let statistics: Arc<Vec<Statistics>> = Arc::new(statistics);
        let mut is_first = true;
        let stays = |plan: &BlockPlan| match plan {
            BlockPlan::Copied(i) => self.staying(*blocks.get(*i)?, is_in_place).map(|block| (*i, block)),
            _ => None,
        };
        let mut rest = plans;
        while let Some((first, after)) = rest.split_first() {
            if let Some((i, block)) = stays(first) {
                let statistics = statistics.get(i);
                let statistics = statistics.ok_or_else(|| Error::corrupt("a block has no statistics"))?;
                fallible::push(kept, Placed::kept(block, *statistics), PARTS)?;
                rest = after;
                continue;
            }
            let mut n = 0;
            let fits = |plan: &&BlockPlan| {
                n += plan.weight();
                n <= TASK_BLOCKS && stays(plan).is_none()
            };
            let n_plans = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(n_plans);
            rest = later;
            let (blocks, statistics) = (Arc::clone(&blocks), Arc::clone(&statistics));
            let task = Task { index: tasks.len(), column, is_first, plans: now, blocks, statistics };
            fallible::push(tasks, task, PARTS)?;
            is_first = false;
        }
        Ok(())
    }

    /// A block that is not written, with its place in the file that is.
    fn staying(&self, block: BlockRecord, is_in_place: bool) -> Option<BlockRecord> {
        if is_in_place {
            return Some(block);
        }
        let &(pages_at, directory_at) = self.moves?.get(&(block.pages_at, block.directory_at))?;
        Some(BlockRecord { pages_at, directory_at, ..block })
    }

    /// Makes a footer for blocks that are in their places already: those of each column, in order.
    pub(crate) fn footer<'p>(
        &self,
        blocks: &[Vec<Placed>],
        ground: &Ground<'_>,
        placement: Placement<'p>,
    ) -> Result<Footer<'p>> {
        let (mut ranges, mut records, mut statistics) = (Vec::new(), Vec::new(), Vec::new());
        let mut first_ranges = HashMap::new();
        let mut first_block = 0;
        for (column, blocks) in self.columns.iter().zip(blocks).filter(|(_, blocks)| !blocks.is_empty()) {
            let n_blocks = u32::try_from(blocks.len())
                .map_err(|_| Error::unsupported("a column of 4,294,967,296 blocks or more"))?;
            let first_range = first_ranges.len() as u64;
            fallible::insert(&mut first_ranges, column.index, first_range, PARTS)?;
            BlockRange { column: column.index, first_block, n_blocks, tier: 0 }.emit(&mut ranges);
            first_block += u64::from(n_blocks);
            for block in blocks {
                block.record.emit(&mut records);
                block.statistics.emit(&mut statistics);
            }
        }
        let described = self.describe(ranges, &first_ranges, ground.is_in_place)?;
        let copied = |kind| records::section(self.file, kind);
        let pieces = if self.joins_pieces { None } else { Some(copied(SectionKind::Pieces)?) };
        let made = |kind, bytes| SectionRecords::new(kind, 0, bytes);
        let sections = [
            described.tables.of(SectionKind::Tables),
            described.columns.records.of(SectionKind::Columns),
            described.names.of(SectionKind::Names),
            described.name_index.of(SectionKind::NameIndex),
            made(SectionKind::Ranges, &described.ranges),
            made(SectionKind::Blocks, &records),
            made(SectionKind::Statistics, &statistics),
            described.values.nodes.of(SectionKind::Nodes),
            described.values.heap.of(SectionKind::ValueHeap),
            made(SectionKind::Runs, &described.columns.runs),
            described.column_ranges.of(SectionKind::ColumnRanges),
            pieces.as_ref().map_or(made(SectionKind::Pieces, &[]), |pieces| pieces.of(SectionKind::Pieces)),
        ];
        let unknown =
            if ground.is_in_place { Unknown::staying(self.file) } else { Unknown::copied(self.file)? };
        seal(&sections, Vec::new(), unknown, described.value_node, ground, placement)
    }

    /// The sections that name columns, values or names. A new file gets its columns in order.
    fn describe(
        &self,
        ranges: Vec<u8>,
        first_ranges: &HashMap<u64, u64>,
        is_in_place: bool,
    ) -> Result<Described> {
        let mut values = Values::of(self.file, self.columns)?;
        let table = self.table.as_ref().map(|table| table.edit(&mut values)).transpose()?;
        let (changed, details) = (&self.changed, &values.details);
        let edits = ColumnEdits { file: self.file, changed, first_ranges, details };
        let columns = edits.sections(self.columns.len())?;
        let tables = records::tables(self.file, self.joins_pieces, table)?;
        let copied = |kind| records::section(self.file, kind);
        let described = Described {
            tables,
            columns,
            names: copied(SectionKind::Names)?,
            name_index: copied(SectionKind::NameIndex)?,
            column_ranges: copied(SectionKind::ColumnRanges)?,
            ranges,
            values,
            value_node: self.file.root().value_node,
        };
        if !is_in_place && self.is_tidied && is_untidy(self.file, self.columns) {
            match tidied(self.file, self.columns, &described) {
                // An unusual footer is copied as it is.
                Err(error) if error.kind() == Kind::Unsupported => {}
                tidied => return tidied,
            }
        }
        Ok(described)
    }
}

impl BlockPlan {
    /// How much of a task it is, in blocks that are copied. A plan that encodes values is a task.
    fn weight(&self) -> u64 {
        match self {
            Self::Copied(_) | Self::Missing(_) => 1,
            Self::Merged(blocks) => blocks.len() as u64,
            Self::Numbers(_) | Self::Joined { .. } => TASK_BLOCKS,
        }
    }
}
