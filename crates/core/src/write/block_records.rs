//! The records of the blocks of a new generation, in tiers.

use entasis_format::{BlockRange, Error, Result, Section, SectionKind};

use super::contents::Contents;
use super::ground::Ground;
use super::range_records::RangeRecords;
use super::tiers::{NewTier, Tiers};
use crate::file::File;

/// The sections with a record for each block.
const OF_BLOCKS: [SectionKind; 2] = [SectionKind::Blocks, SectionKind::Statistics];

/// The sections of block ranges, and of the blocks and statistics of the new tier.
pub(super) struct BlockRecords {
    pub ranges: RangeRecords,
    pub blocks: Vec<u8>,
    pub statistics: Vec<u8>,
    /// Bytes of a record of the new tier: of blocks, of statistics.
    pub record_lens: [u32; 2],
    /// The number of blocks in the new tier.
    n_blocks: u64,
    tiers: Tiers,
    /// The ranges by column, and their number up to each column record.
    by_column: Vec<BlockRange>,
    ends: Vec<usize>,
}

impl BlockRecords {
    /// The records of all blocks. Records of the changed file that do not stay in place are copied
    /// to the new tier.
    pub(super) fn of(contents: &Contents<'_>, ground: &Ground<'_>) -> Result<Self> {
        let file = ground.file;
        let n_new = contents.new_blocks.iter().map(|blocks| blocks.len() as u64).sum();
        let mut records = Self {
            ranges: RangeRecords::default(),
            blocks: Vec::new(),
            statistics: Vec::new(),
            record_lens: [0; 2],
            n_blocks: 0,
            tiers: Tiers::plan(&contents.kept_blocks, n_new),
            by_column: Vec::with_capacity(contents.n_records()),
            ends: Vec::with_capacity(contents.n_records()),
        };
        records.record_lens = OF_BLOCKS.map(|kind| longest_record(kind, file));
        for record in 0..contents.n_records() {
            records.add_column(contents, record, file)?;
        }
        let old = file.filter(|_| ground.is_in_place);
        records.ranges = RangeRecords::of(&records.by_column, &records.ends, old)?;
        Ok(records)
    }

    /// Adds the blocks of a column: kept blocks, then new ones.
    fn add_column(&mut self, contents: &Contents<'_>, record: usize, file: Option<&File>) -> Result<()> {
        let column = contents.number(record);
        let (kept, new_blocks) = (contents.kept_blocks[record], contents.new_blocks[record]);
        let (stay, merged) = self.tiers.split(kept);
        self.by_column.extend(stay.map(|range| BlockRange { column, ..range }));
        let n_merged: u64 = merged.iter().map(|range| u64::from(range.n_blocks)).sum();
        if let (Some(file), true) = (file, n_merged > 0) {
            let [blocks_len, statistics_len] = self.record_lens;
            copy_records(file, SectionKind::Blocks, merged, blocks_len, &mut self.blocks)?;
            copy_records(file, SectionKind::Statistics, merged, statistics_len, &mut self.statistics)?;
        }
        let [blocks_len, statistics_len] = self.record_lens.map(|len| len as usize);
        for block in new_blocks {
            let (blocks_end, statistics_end) =
                (self.blocks.len() + blocks_len, self.statistics.len() + statistics_len);
            block.record.emit(&mut self.blocks);
            block.statistics.emit(&mut self.statistics);
            // Fields of a later version are zero.
            self.blocks.resize(blocks_end, 0);
            self.statistics.resize(statistics_end, 0);
        }
        let n = n_merged + new_blocks.len() as u64;
        if n > 0 {
            let n_blocks = u32::try_from(n).map_err(|_| too_many_blocks())?;
            let range =
                BlockRange { column, first_block: self.n_blocks, n_blocks, tier: self.tiers.number() };
            self.by_column.push(range);
        }
        self.n_blocks += n;
        self.ends.push(self.by_column.len());
        Ok(())
    }

    /// The new tier, which follows the tiers that stay in the changed file.
    pub(super) fn new_tier(&self, ground: &Ground<'_>) -> NewTier {
        let file = ground.file.filter(|_| ground.is_in_place);
        let earlier: Vec<Section> =
            file.map_or_else(Vec::new, |file| self.tiers.sections(file.root()).collect());
        NewTier { number: self.tiers.number(), earlier }
    }
}

/// Bytes of a record of the new tier. It may get records of any tier.
fn longest_record(kind: SectionKind, file: Option<&File>) -> u32 {
    let sections = file.map_or(&[][..], File::sections).iter();
    let lens = sections.filter(|section| section.kind == kind.code()).map(|section| section.record_len);
    lens.fold(kind.record_len(), u32::max)
}

/// Appends the records of these ranges, each followed by zeros up to `len` bytes.
fn copy_records(
    file: &File,
    kind: SectionKind,
    ranges: &[BlockRange],
    len: u32,
    out: &mut Vec<u8>,
) -> Result<()> {
    for range in ranges {
        let records = file.whole_records(kind, range.tier, range.first_block..range.end_block())?;
        let record_len = file.record_len(kind, range.tier);
        if record_len == len {
            out.extend(records);
            continue;
        }
        for record in records.chunks_exact(record_len.max(1) as usize) {
            let end = out.len() + len as usize;
            out.extend_from_slice(record);
            out.resize(end, 0);
        }
    }
    Ok(())
}

fn too_many_blocks() -> Error {
    Error::unsupported("a column of 4,294,967,296 blocks or more").advise("split the table")
}
