//! Decides which short blocks at the end of a column are replaced by fuller ones.
//!
//! Short blocks become a full block when they fill one together. Until then they are merged in
//! classes by their number of values, as in a log-structured merge tree: 16 neighbours of up to 15
//! values become one block of the next class, then 16 of up to 255, and 128 of larger ones. So a
//! value is written at most five times, and at most three times if it comes in a batch of 512
//! values or more.

use entasis_format::{BlockRecord, Layout};

use crate::blocks::{block_values, is_short};

/// Blocks that are merged, for each class.
const NEIGHBOURS: [usize; 3] = [16, 16, 128];

/// The class of a block with `n` values: 0 for up to 15, 1 for up to 255, 2 for more.
fn class(n: u64) -> usize {
    (n.max(1).ilog2() as usize / 4).min(2)
}

/// The number of blocks of this layout that stay when `n_new` values follow. Only short blocks at
/// the end can be replaced.
pub(super) fn n_kept(blocks: &[BlockRecord], n_new: u64, of: Layout) -> usize {
    if n_new == 0 {
        return blocks.len();
    }
    let n_short = blocks.iter().rev().take_while(|block| is_short(block, of)).count();
    let (full, short) = blocks.split_at(blocks.len() - n_short);
    let n_values = |blocks: &[BlockRecord]| blocks.iter().map(|block| u64::from(block.n_values)).sum::<u64>();
    if n_values(short) + n_new >= block_values(of) as u64 {
        return full.len();
    }
    let (mut rest, mut new) = (short, n_new);
    loop {
        let of_class = |block: &&BlockRecord| class(u64::from(block.n_values)) <= class(new);
        let n = rest.iter().rev().take_while(of_class).count();
        if n + 1 < NEIGHBOURS[class(new)] {
            return full.len() + rest.len();
        }
        let (before, merged) = rest.split_at(rest.len() - n);
        new += n_values(merged);
        rest = before;
    }
}

#[cfg(test)]
mod tests {
    use entasis_format::{Encoding, Packing, Physical};

    use super::*;

    fn block(first_value: u64, n_values: u64) -> BlockRecord {
        BlockRecord {
            first_value,
            n_values: n_values as u32,
            encoding: Encoding::new(Packing::Raw),
            directory_at: 256,
            pages_at: 256,
            directory_len: 40,
            pages_len: 0,
            decoded_len: 8 * n_values,
            directory_checksum: 0,
            first_child: 0,
        }
    }

    /// Appends batches. Returns the blocks, and how often each value was written on average.
    fn grow(batch: u64, n_batches: u64) -> (Vec<BlockRecord>, f64) {
        let (mut blocks, mut n_written) = (Vec::new(), 0);
        for i in 0..n_batches {
            let n = n_kept(&blocks, batch, Physical::U64.into());
            let mut first = blocks.get(n).map_or(i * batch, |block: &BlockRecord| block.first_value);
            blocks.truncate(n);
            let end = (i + 1) * batch;
            n_written += end - first;
            while first < end {
                let n = (end - first).min(65_536);
                blocks.push(block(first, n));
                first += n;
            }
        }
        (blocks, n_written as f64 / (batch * n_batches) as f64)
    }

    #[test]
    fn values_are_written_few_times() {
        for (batch, n_batches, most) in
            [(1, 200_000, 5.0), (7, 30_000, 5.0), (1000, 1000, 2.0), (10_000, 300, 2.0), (60_000, 100, 2.0)]
        {
            let (blocks, times) = grow(batch, n_batches);
            assert!(times <= most, "{batch}: {times}");
            let n_short = blocks.iter().filter(|block| block.n_values < 32_768).count();
            assert!(n_short < 160, "{batch}: {n_short}");
        }
    }

    #[test]
    fn blocks_of_long_strings_are_full_with_few_values() {
        let blocks: Vec<_> =
            (0..100).map(|i| BlockRecord { decoded_len: 1 << 20, ..block(i * 10_000, 10_000) }).collect();
        for n_new in [1, 1000, 65_536, 1 << 20] {
            assert_eq!(n_kept(&blocks, n_new, Physical::Utf8.into()), 100);
        }
        let short = BlockRecord { decoded_len: 80_000, ..block(1_000_000, 1000) };
        let blocks = [&blocks[..], &[short]].concat();
        assert_eq!(n_kept(&blocks, 1000, Physical::Utf8.into()), 101);
        assert_eq!(n_kept(&blocks, 65_000, Physical::Utf8.into()), 100);
    }

    #[test]
    fn without_new_values_nothing_is_replaced() {
        assert_eq!(n_kept(&[block(0, 3)], 0, Physical::U64.into()), 1);
        assert_eq!(n_kept(&[], 5, Physical::U64.into()), 0);
        assert_eq!(n_kept(&[block(0, 65_536), block(65_536, 3)], 65_536, Physical::U64.into()), 1);
    }
}
