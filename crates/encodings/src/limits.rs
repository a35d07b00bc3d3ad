//! The largest blocks and pages that the encoder writes.

use entasis_format::{MAX_BLOCK_VALUES, MAX_PAGE_VALUES};

/// The most values of a block.
pub const BLOCK: usize = MAX_BLOCK_VALUES as usize;
/// The most values of a page.
pub const PAGE: usize = MAX_PAGE_VALUES as usize;

/// The most bytes of a page with more than one value.
pub(crate) const PAGE_LEN: usize = 256 * 1024;

/// Target bytes of a page of strings, if a block has several pages.
///
/// Slightly below [`PAGE_LEN`], so the string that ends a page seldom exceeds the limit.
pub const PAGE_TEXT: usize = PAGE_LEN / 64 * 63;
