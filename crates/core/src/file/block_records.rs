//! The records of a column's blocks and their statistics: all, or only the last ones
//! (`docs/format/columns.md`).

use std::sync::Arc;

use entasis_format::{
    BlockRange, BlockRecord, Error, Layout, Physical, Result, SectionKind, Statistics, fallible,
};

use super::{BLOCKS, ColumnInfo, File, lock};

/// The number of records at a column's end that are read together at first.
const LAST: u64 = 64;

/// Ranges with more blocks than this are not searched for short blocks, except a column's last
/// range. The work of a change should not grow with the file.
const LONG: u32 = 1 << 10;

/// The last blocks of a column.
pub(crate) struct LastBlocks {
    /// The ranges of all blocks.
    pub ranges: Vec<BlockRange>,
    /// The number of blocks before these.
    pub n_before: u64,
    /// Their records.
    pub blocks: Vec<BlockRecord>,
}

/// A file caches the statistics of at most this many columns.
const COLUMNS_WITH_STATISTICS: usize = 64;

impl File {
    /// The blocks of a column, in order. They cover its values without a gap.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn blocks(&self, column: u64) -> Result<Arc<Vec<BlockRecord>>> {
        if let Some(blocks) = lock(&self.blocks).get(&column) {
            return Ok(Arc::clone(blocks));
        }
        let blocks = self.read_blocks(&*self.column(column)?)?;
        fallible::insert(&mut lock(&self.blocks), column, Arc::clone(&blocks), BLOCKS)?;
        Ok(blocks)
    }

    /// The blocks of a column, whose type may be unknown.
    pub(crate) fn read_blocks(&self, info: &ColumnInfo) -> Result<Arc<Vec<BlockRecord>>> {
        let records = self.block_ranges(info).and_then(|ranges| self.block_records(&ranges));
        self.blocks_of(info, &records.map_err(|e| e.in_column(&info.name))?)
    }

    /// Parses the block records of a column.
    pub(super) fn blocks_of(&self, info: &ColumnInfo, records: &[u8]) -> Result<Arc<Vec<BlockRecord>>> {
        let blocks = self.parse_blocks(info, records, 0)?;
        let first = blocks.first().map_or(0, |block| block.first_value);
        if first != 0 {
            let error = Error::corrupt("the blocks of a column are not consecutive");
            return Err(error.in_file(self.path()).in_column(&info.name).in_block(0));
        }
        self.check_last(info, &blocks)?;
        Ok(Arc::new(blocks))
    }

    /// Parses consecutive block records of a column. `n_before` records come before them.
    fn parse_blocks(&self, info: &ColumnInfo, records: &[u8], n_before: u64) -> Result<Vec<BlockRecord>> {
        let mut blocks: Vec<BlockRecord> = fallible::with_capacity(records.len() / BlockRecord::LEN, BLOCKS)?;
        let has_one_begin = info.record.column_type.has_child_offsets() && info.record.n_children == 2;
        for (i, bytes) in records.chunks_exact(BlockRecord::LEN).enumerate() {
            let number = n_before + i as u64;
            let here = |e: Error| e.in_file(self.path()).in_column(&info.name).in_block(number);
            let block = BlockRecord::parse(bytes).map_err(here)?;
            block.check_in_room(self.opened.room()).map_err(here)?;
            let last = blocks.last();
            if last.is_some_and(|last| last.end_value() != block.first_value) {
                return Err(here(Error::corrupt("the blocks of a column are not consecutive")));
            }
            let before = last.map(|last| last.first_child);
            let fits = match (info.record.column_type.physical, before) {
                (Physical::List | Physical::Map | Physical::RunEnd, Some(before)) => {
                    before <= block.first_child
                }
                (Physical::List | Physical::Map | Physical::RunEnd, None) if n_before > 0 => true,
                _ if info.unknown.is_some() => true,
                // Version 0.1.0 also wrote the child offsets of a dense union of one type here.
                // They are ignored.
                _ if has_one_begin => before.unwrap_or(0) <= block.first_child,
                _ => block.first_child == 0,
            };
            if !fits {
                return Err(here(Error::corrupt("the child offsets of a column's blocks do not ascend")));
            }
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// Checks that the last of these blocks ends with the column's last value.
    fn check_last(&self, info: &ColumnInfo, blocks: &[BlockRecord]) -> Result<()> {
        let end = blocks.last().map_or(0, BlockRecord::end_value);
        let expected = if info.record.column_type.physical == Physical::Null || info.record.is_bundled {
            0
        } else {
            info.record.n_values
        };
        if end != expected && info.unknown.is_none() {
            let message = format!("the blocks of a column hold {end} values, not {expected}");
            return Err(Error::corrupt(message).in_file(self.path()).in_column(&info.name));
        }
        Ok(())
    }

    /// The last blocks of a column for which `is_wanted` holds, and at least one earlier block. The
    /// search ends at a long range of blocks, unless it is the last range.
    pub(crate) fn last_blocks(
        &self,
        info: &ColumnInfo,
        is_wanted: impl Fn(&BlockRecord) -> bool,
    ) -> Result<LastBlocks> {
        let ranges = self.block_ranges(info)?;
        let mut n_before = ranges.iter().map(|range| u64::from(range.n_blocks)).sum::<u64>();
        let mut records: Vec<u8> = Vec::new();
        'ranges: for (i, range) in ranges.iter().enumerate().rev() {
            if range.n_blocks > LONG && i + 1 < ranges.len() {
                break;
            }
            let (mut end, mut step) = (range.end_block(), LAST);
            while end > range.first_block {
                let start = end.saturating_sub(step).max(range.first_block);
                let mut earlier = self.opened.tier_records(SectionKind::Blocks, range.tier, start..end)?;
                let first = earlier.get(..BlockRecord::LEN).map(BlockRecord::parse).transpose()?;
                let is_end = first.is_some_and(|first| !is_wanted(&first));
                fallible::extend(&mut earlier, records.drain(..), BLOCKS)?;
                records = earlier;
                n_before -= end - start;
                if is_end {
                    break 'ranges;
                }
                (end, step) = (start, step * 4);
            }
        }
        let blocks = self.parse_blocks(info, &records, n_before)?;
        self.check_last(info, &blocks)?;
        Ok(LastBlocks { ranges, n_before, blocks })
    }

    /// The statistics of a column's blocks.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn statistics(&self, column: u64) -> Result<Vec<Statistics>> {
        self.statistics_of(&*self.column(column)?)
    }

    /// The statistics of the blocks of a column, whose type may be unknown.
    pub(crate) fn statistics_of(&self, info: &ColumnInfo) -> Result<Vec<Statistics>> {
        let version = self.root().version();
        self.parse_statistics(info, |bytes| Statistics::parse(bytes, version))
    }

    /// The parts of a column's statistics that filters may use
    /// ([`Statistics::parse_for_filters`]).
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn statistics_for_filters(&self, column: u64, of: Layout) -> Result<Vec<Statistics>> {
        let version = self.root().version();
        self.parse_statistics(&*self.column(column)?, |bytes| {
            Statistics::parse_for_filters(bytes, of, version)
        })
    }

    fn parse_statistics(
        &self,
        info: &ColumnInfo,
        parse: impl Fn(&[u8]) -> Result<Statistics>,
    ) -> Result<Vec<Statistics>> {
        let bytes = self.range_records(SectionKind::Statistics, &self.block_ranges(info)?)?;
        let (is_before_0_3, of) = (self.is_before_0_3(), info.record.column_type.layout());
        let upgraded = |of_block: Statistics| {
            if is_before_0_3 { of_block.upgraded_from_0_2(of) } else { of_block }
        };
        let parsed = bytes.chunks_exact(Statistics::LEN).map(|bytes| parse(bytes).map(upgraded)).enumerate();
        let parsed = parsed.map(|(i, statistics)| {
            statistics.map_err(|e| e.in_block(i as u64).in_section("statistics").in_file(self.path()))
        });
        fallible::try_collect(parsed, "the statistics")
    }

    /// As `statistics_for_filters`. The file caches the statistics of some columns, because filters
    /// ask for them again. They are checked when they are read.
    pub(crate) fn kept_statistics(
        &self,
        column: u64,
        of: Layout,
        check: impl FnOnce(&[Statistics]) -> Result<()>,
    ) -> Result<Arc<Vec<Statistics>>> {
        if let Some(known) = lock(&self.statistics).get(&column) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(self.statistics_for_filters(column, of)?);
        check(&found)?;
        let mut kept = lock(&self.statistics);
        if kept.len() >= COLUMNS_WITH_STATISTICS {
            kept.clear();
        }
        fallible::insert(&mut kept, column, Arc::clone(&found), "the statistics")?;
        Ok(found)
    }

    /// The block records of these ranges.
    fn block_records(&self, ranges: &[BlockRange]) -> Result<Vec<u8>> {
        self.range_records(SectionKind::Blocks, ranges)
    }
}
