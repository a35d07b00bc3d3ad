//! How many values a block has, and which blocks are short.

use entasis_encodings::BLOCK;
use entasis_format::{BlockRecord, Layout};

/// Approximate bytes of a block of values of fixed width. Wider values make blocks with fewer
/// values.
const BLOCK_LEN: usize = 4 << 20;

/// The number of values in a block of this layout: a multiple of 64, so that blocks fill whole
/// words of bitmaps.
pub(crate) fn block_values(of: Layout) -> usize {
    let width = of.width().unwrap_or(1).max(1);
    (BLOCK_LEN / width / 64 * 64).clamp(64, BLOCK)
}

/// Blocks with more bytes of strings than this are not short. Strings of 64 bytes and more fill
/// blocks of 1 MiB with few values.
const SHORT_LEN: u64 = 512 << 10;

/// Whether a block should become part of a fuller one: it has at most half of the values or bytes
/// of a full one.
pub(crate) fn is_short(block: &BlockRecord, of: Layout) -> bool {
    let has_few_bytes = !of.physical.is_var() || block.decoded_len <= SHORT_LEN;
    u64::from(block.n_values) * 2 <= block_values(of) as u64 && has_few_bytes
}
