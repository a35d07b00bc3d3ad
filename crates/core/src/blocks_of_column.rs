//! The blocks of one column, for programs that select rows by their values.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{BlockRecord, Error, Layout, Result, Statistics};
use entasis_io::Announced;

use crate::file::{File, Stretch};
use crate::monitor::{Control, Monitor};
use crate::read::{PageVisitor, Reader, Source, announce, announce_short};
use crate::rows::Rows;
use crate::threads;

/// A column with the statistics of its blocks.
pub struct ColumnBlocks {
    source: Source,
    statistics: Arc<Vec<Statistics>>,
}

impl ColumnBlocks {
    /// Returns the blocks of column `column`. Reads their records and statistics, but no values.
    /// The file caches them for the next call.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn open(file: &File, column: u64) -> Result<Self> {
        let source = file.source(column).map_err(|e| e.in_file(file.path()))?;
        let statistics = file.kept_statistics(source.storage, source.of, |statistics| {
            if statistics.len() != source.blocks.len() {
                return Err(Error::corrupt("the statistics of a column are not those of its blocks")
                    .in_column(&source.name)
                    .in_file(file.path()));
            }
            for (i, (block, statistics)) in source.blocks.iter().zip(statistics).enumerate() {
                statistics
                    .check(source.of, block.n_values)
                    .map_err(|e| e.in_block(i as u64).in_column(&source.name).in_file(file.path()))?;
            }
            Ok(())
        })?;
        Ok(Self { source, statistics })
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// How its values are stored.
    pub fn layout(&self) -> Layout {
        self.source.of
    }

    /// The blocks that hold some of `rows`.
    pub fn blocks(&self, rows: Range<u64>) -> impl Iterator<Item = RowsOfBlock<'_>> {
        self.source.stretches(rows).flat_map(|stretch| self.blocks_of(stretch))
    }

    fn blocks_of(&self, stretch: Stretch) -> impl Iterator<Item = RowsOfBlock<'_>> {
        let values = stretch.values();
        let first = self.source.blocks.partition_point(|block| block.end_value() <= values.start);
        let blocks = self.source.blocks.iter().zip(&*self.statistics).enumerate().skip(first);
        let end = values.end;
        let blocks = blocks.take_while(move |(_, (block, _))| block.first_value < end);
        blocks.map(move |(number, (block, statistics))| {
            let part = values.start.max(block.first_value)..end.min(block.end_value());
            let row = |value: u64| stretch.rows.start + (value - stretch.first_value);
            let rows = row(part.start)..row(part.end);
            RowsOfBlock { number, rows, n_values: block.n_values, statistics }
        })
    }
}

/// The part of some rows that one block holds.
#[derive(Clone, Debug)]
pub struct RowsOfBlock<'a> {
    /// The number of the block.
    pub number: usize,
    /// The rows.
    pub rows: Range<u64>,
    /// How many values the block has. A block of a bundle also has values of other columns.
    pub n_values: u32,
    /// The statistics of all its values.
    pub statistics: &'a Statistics,
}

impl std::fmt::Debug for ColumnBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnBlocks")
            .field("name", &self.name())
            .field("layout", &self.layout())
            .field("n_blocks", &self.source.blocks.len())
            .finish_non_exhaustive()
    }
}

/// Reads selected pages: one thread's memory and codecs.
pub struct PageReader<'f>(Reader<'f>);

impl<'f> PageReader<'f> {
    /// A reader of pages of the file.
    pub fn new(file: &'f File) -> Self {
        Self(Reader::new(file))
    }

    /// Visits the pages of block number `block` that hold some of `rows` and that the visitor
    /// wants. The rows are those of a [`RowsOfBlock`].
    ///
    /// # Errors
    /// *Corrupt*, *io*, *argument* for rows outside of the block, and errors of the visitor.
    pub fn visit(
        &mut self,
        column: &ColumnBlocks,
        block: usize,
        rows: Range<u64>,
        visitor: &mut dyn PageVisitor,
    ) -> Result<()> {
        let source = &column.source;
        let outside = || Error::argument("the rows are not those of the block");
        let record: &BlockRecord = source.blocks.get(block).ok_or_else(outside)?;
        let n_rows = rows.end.checked_sub(rows.start).ok_or_else(outside)?;
        let mut stretches = source.stretches(rows);
        let values = match (stretches.next(), stretches.next()) {
            (Some(one), None) if one.rows.end - one.rows.start == n_rows => one.values(),
            (None, _) if n_rows == 0 => return Ok(()),
            _ => return Err(outside()),
        };
        if values.start < record.first_value || values.end > record.end_value() {
            return Err(outside());
        }
        let at = |value: u64| (value - record.first_value) as usize;
        let inside = at(values.start)..at(values.end);
        self.0
            .chosen(source, record, inside, visitor)
            .map_err(|e| e.in_block(block as u64))
            .map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })
    }
}

impl std::fmt::Debug for PageReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageReader").finish_non_exhaustive()
    }
}

impl File {
    /// Announces the blocks with some rows of columns, if the file is remote: they are then fetched
    /// together, until the returned value is dropped.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn announce_blocks<'c>(
        &self,
        columns: impl IntoIterator<Item = &'c ColumnBlocks>,
        rows: &[Range<u64>],
    ) -> Result<Option<Announced>> {
        let rows = Vec::from_iter(rows.iter().cloned().map(Rows::Range));
        let columns = columns.into_iter().flat_map(|column| rows.iter().map(|rows| (&column.source, rows)));
        announce(self, columns)
    }

    /// Announces some rows of columns of the table, if the file is remote: they are then fetched
    /// together, until the returned value is dropped. Children of nested columns are not. Nothing
    /// is announced if it has more than `most` bytes.
    ///
    /// # Errors
    /// As for reading.
    pub fn announce_rows(
        &self,
        columns: &[u64],
        rows: &[Range<u64>],
        most: u64,
    ) -> Result<Option<Announced>> {
        if !self.is_remote() || rows.is_empty() {
            return Ok(None);
        }
        announce_short(self, columns, rows, most).map_err(|e| e.in_file(self.path()))
    }

    /// Runs tasks in parallel, each thread with a reader of pages. Neighbouring tasks mostly run on
    /// the same thread.
    ///
    /// # Errors
    /// The first error of a task; *interrupted*.
    pub fn for_each_task<T: Send>(
        &self,
        tasks: Vec<T>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
        work: impl Fn(&mut PageReader<'_>, T) -> Result<()> + Sync,
    ) -> Result<()> {
        let control = Control::new(monitor, tasks.len() as u64);
        let threads = self.threads(threads).unwrap_or_else(threads::default_threads).min(tasks.len()).max(1);
        threads::run_in_ranges(
            tasks,
            threads,
            &control,
            || PageReader::new(self),
            |reader, task| {
                control.check()?;
                control.advance(1);
                work(reader, task)
            },
        )
        .map_err(|e| e.in_file(self.path()))
    }
}
