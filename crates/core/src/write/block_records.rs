//! The records of the blocks of a new generation, in tiers.

use entasis_format::{BlockRange, Error, Result, Section, SectionKind};

use super::contents::Contents;
use super::ground::Ground;
use super::tiers::{NewTier, Tiers};
use crate::file::File;

/// The sections of block ranges, and of the blocks and statistics of the new tier.
pub(super) struct BlockRecords {
    pub ranges: Vec<u8>,
    pub blocks: Vec<u8>,
    pub statistics: Vec<u8>,
    /// The number of blocks in the new tier.
    n_blocks: u64,
    tiers: Tiers,
}

impl BlockRecords {
    /// The records of all blocks. Records of `file` that do not stay in place are copied to the new
    /// tier.
    pub(super) fn of(contents: &Contents<'_>, file: Option<&File>) -> Result<Self> {
        let n_new = contents.new_blocks.iter().map(|blocks| blocks.len() as u64).sum();
        let mut records = Self {
            ranges: Vec::with_capacity(contents.n_records() * BlockRange::LEN),
            blocks: Vec::new(),
            statistics: Vec::new(),
            n_blocks: 0,
            tiers: Tiers::plan(&contents.kept_blocks, n_new),
        };
        for record in 0..contents.n_records() {
            records.add_column(contents, record, file)?;
        }
        Ok(records)
    }

    /// Adds the blocks of a column: kept blocks, then new ones.
    fn add_column(&mut self, contents: &Contents<'_>, record: usize, file: Option<&File>) -> Result<()> {
        let column = contents.number(record);
        let (kept, new_blocks) = (contents.kept_blocks[record], contents.new_blocks[record]);
        let (stay, merged) = self.tiers.split(kept);
        stay.for_each(|range| BlockRange { column, ..range }.emit(&mut self.ranges));
        let n_merged: u64 = merged.iter().map(|range| u64::from(range.n_blocks)).sum();
        if let (Some(file), true) = (file, n_merged > 0) {
            self.blocks.extend(file.range_records(SectionKind::Blocks, merged)?);
            self.statistics.extend(file.range_records(SectionKind::Statistics, merged)?);
        }
        for block in new_blocks {
            block.record.emit(&mut self.blocks);
            block.statistics.emit(&mut self.statistics);
        }
        let n = n_merged + new_blocks.len() as u64;
        if n > 0 {
            let n_blocks = u32::try_from(n).map_err(|_| too_many_blocks())?;
            let range =
                BlockRange { column, first_block: self.n_blocks, n_blocks, tier: self.tiers.number() };
            range.emit(&mut self.ranges);
        }
        self.n_blocks += n;
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

fn too_many_blocks() -> Error {
    Error::unsupported("a column of 4,294,967,296 blocks or more").advise("split the table")
}
