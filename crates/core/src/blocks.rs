//! How many values a block has.

use entasis_encodings::BLOCK;
use entasis_format::Layout;

/// Approximate bytes of a block of values of fixed width. Wider values make blocks with fewer
/// values.
const BLOCK_LEN: usize = 4 << 20;

/// The number of values in a block of this layout: a multiple of 64, so that blocks fill whole
/// words of bitmaps.
pub(crate) fn block_values(of: Layout) -> usize {
    let width = of.width().unwrap_or(1).max(1);
    (BLOCK_LEN / width / 64 * 64).clamp(64, BLOCK)
}
