//! Which blocks a column has (`docs/format/columns.md`).

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};
use crate::fallible;
use crate::limits::MAX_TIERS;

/// Consecutive blocks of one tier that a column has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockRange {
    /// The number of the column.
    pub column: u64,
    /// The number of the first block in the tier.
    pub first_block: u64,
    /// The number of blocks, at least 1.
    pub n_blocks: u32,
    /// The tier.
    pub tier: u16,
}

impl BlockRange {
    /// Bytes of the record.
    pub const LEN: usize = 24;

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.column, self.first_block, self.n_blocks, self.tier, 0u16);
    }

    /// The record in exactly these bytes.
    ///
    /// # Errors
    /// *Corrupt*.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a range of blocks")?;
        let (column, first_block) = (reader.u64()?, reader.u64()?);
        let (n_blocks, tier) = (reader.u32()?, reader.u16()?);
        reader.reserved::<2>()?;
        if n_blocks == 0 || first_block.checked_add(n_blocks.into()).is_none() || tier >= MAX_TIERS {
            return Err(Error::corrupt("the numbers of a range of blocks are impossible"));
        }
        Ok(Self { column, first_block, n_blocks, tier })
    }

    /// Parses consecutive records.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse_all(bytes: &[u8]) -> Result<Vec<Self>> {
        fallible::try_collect(bytes.chunks(Self::LEN).map(Self::parse), "the ranges of blocks")
    }

    /// The number of the first block after the range.
    pub const fn end_block(&self) -> u64 {
        self.first_block.saturating_add(self.n_blocks as u64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::exact;

    const GOOD: BlockRange = BlockRange { column: 3, first_block: 7, n_blocks: 2, tier: 1 };

    fn bytes(ranges: &[BlockRange]) -> Vec<u8> {
        let mut out = Vec::new();
        ranges.iter().for_each(|range| range.emit(&mut out));
        out
    }

    #[test]
    fn impossible_numbers() {
        let is_ok = |range: BlockRange| BlockRange::parse(&bytes(&[range])).is_ok();
        assert!(is_ok(GOOD) && GOOD.end_block() == 9);
        assert!(!is_ok(BlockRange { n_blocks: 0, ..GOOD }));
        assert!(!is_ok(BlockRange { first_block: u64::MAX, ..GOOD }));
        assert!(!is_ok(BlockRange { tier: MAX_TIERS, ..GOOD }));
        assert!(is_ok(BlockRange { tier: MAX_TIERS - 1, ..GOOD }));
    }

    #[test]
    fn consecutive_records() {
        let later = BlockRange { column: 4, ..GOOD };
        for ranges in [&[GOOD, GOOD, later][..], &[later, GOOD], &[]] {
            assert_eq!(BlockRange::parse_all(&bytes(ranges)).unwrap(), ranges);
        }
        assert!(BlockRange::parse_all(&bytes(&[GOOD])[1..]).is_err());
    }

    proptest! {
        #[test]
        fn records_are_exact(column: u64, first_block in 0u64..1 << 60, n_blocks in 1u32.., tier in 0..MAX_TIERS) {
            exact(&BlockRange { column, first_block, n_blocks, tier }, BlockRange::emit, BlockRange::parse);
        }

        #[test]
        fn any_bytes(bytes in prop::array::uniform24(any::<u8>())) {
            let _ = BlockRange::parse(&bytes);
        }
    }
}
