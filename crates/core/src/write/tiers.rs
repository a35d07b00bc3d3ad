//! Decides which tiers of block records stay (`docs/decisions/0033-grow-by-tiers.md`).
//!
//! Tiers are merged as in a log-structured merge tree (O'Neil and others, 1996): a new tier takes
//! in the last old tiers if they are not much longer. So each record is copied O(log n) times, and
//! a file of n blocks has O(log n) tiers.

use entasis_format::{BlockRange, MAX_TIERS, Root, Section, SectionKind};

/// An old tier stays if it has more than this many times the blocks of the new tier.
const RATIO: u64 = 4;

/// The tier of the new blocks, and the kept tiers.
#[derive(Default)]
pub(crate) struct NewTier {
    /// The number of the new tier.
    pub number: u16,
    /// The sections of the tiers before it.
    pub earlier: Vec<Section>,
}

/// The old tiers that stay. The new tier follows them.
pub(super) struct Tiers {
    /// Their old numbers, ascending.
    stay: Vec<u16>,
}

impl Tiers {
    /// Plans the tiers of a generation that keeps these ranges of its columns and adds `n_new`
    /// blocks.
    pub(super) fn plan(kept: &[&[BlockRange]], n_new: u64) -> Self {
        let mut n_blocks = [0u64; MAX_TIERS as usize];
        for range in kept.iter().copied().flatten() {
            n_blocks[usize::from(range.tier)] += u64::from(range.n_blocks);
        }
        let mut stay: Vec<u16> = (0..MAX_TIERS).filter(|&tier| n_blocks[usize::from(tier)] > 0).collect();
        let mut n = n_new;
        while let Some(&last) = stay.last() {
            let of_last = n_blocks[usize::from(last)];
            let is_full = stay.len() == usize::from(MAX_TIERS);
            if n == 0 || (of_last > n.saturating_mul(RATIO) && !is_full) {
                break;
            }
            n += of_last;
            stay.pop();
        }
        Self { stay }
    }

    /// The number of the new tier.
    pub(super) fn number(&self) -> u16 {
        self.stay.len() as u16
    }

    fn new_number(&self, old: u16) -> Option<u16> {
        self.stay.binary_search(&old).ok().map(|number| number as u16)
    }

    /// Splits the ranges of a column. Returns the ranges in kept tiers, with the tiers' new
    /// numbers, and the ranges whose records are copied to the new tier.
    pub(super) fn split<'a>(
        &'a self,
        kept: &'a [BlockRange],
    ) -> (impl Iterator<Item = BlockRange> + 'a, &'a [BlockRange]) {
        let n = kept.iter().take_while(|range| self.new_number(range.tier).is_some()).count();
        let (stay, merged) = kept.split_at(n);
        let renumbered =
            stay.iter().filter_map(|range| Some(BlockRange { tier: self.new_number(range.tier)?, ..*range }));
        (renumbered, merged)
    }

    /// The sections of the tiers that stay.
    pub(super) fn sections(&self, root: &Root) -> impl Iterator<Item = Section> {
        let of = |kind: SectionKind| {
            let tiers = self.stay.iter().zip(0..);
            tiers.filter_map(move |(&old, new)| Some(Section { tier: new, ..*root.section(kind, old)? }))
        };
        of(SectionKind::Blocks).chain(of(SectionKind::Statistics))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(tier: u16, n_blocks: u32) -> BlockRange {
        BlockRange { column: 7, first_block: 3, n_blocks, tier }
    }

    #[test]
    fn a_new_tier_takes_in_the_short_ones_before_it() {
        let kept = [range(0, 1000), range(1, 100), range(2, 9), range(4, 3)];
        let numbers = |n_new| Tiers::plan(&[&kept], n_new).stay;
        assert_eq!(numbers(0), [0, 1, 2, 4]);
        assert_eq!(numbers(1), [0, 1]);
        assert_eq!(numbers(20), [0]);
        assert_eq!(numbers(300), [0; 0]);
        let tiers = Tiers::plan(&[&kept], 1);
        assert_eq!(tiers.number(), 2);
        let (stay, merged) = tiers.split(&kept);
        assert_eq!((stay.collect::<Vec<_>>(), merged), (vec![range(0, 1000), range(1, 100)], &kept[2..]));
    }

    #[test]
    fn tiers_are_never_more_than_a_file_can_have() {
        // Each change adds one block. Each tier that stays has one more block than it needs.
        let mut kept: Vec<BlockRange> = Vec::new();
        for n in 1..5000u32 {
            let tiers = Tiers::plan(&[&kept], 1);
            let n_merged: u32 = tiers.split(&kept).1.iter().map(|range| range.n_blocks).sum();
            let mut next: Vec<BlockRange> = tiers.split(&kept).0.collect();
            next.push(range(tiers.number(), n_merged + 1));
            assert_eq!(next.iter().map(|range| range.n_blocks).sum::<u32>(), n);
            assert!(next.len() <= 8, "{next:?}");
            kept = next;
        }
        let long: Vec<BlockRange> = (0..MAX_TIERS).map(|tier| range(tier, u32::MAX >> tier)).collect();
        assert!(Tiers::plan(&[&long], 1).number() < MAX_TIERS);
    }
}
