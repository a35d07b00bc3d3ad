//! Allocates memory whose size comes from a file. A size that is too large is an error and never
//! aborts the process.

use entasis_format::{Error, Result, fallible};
use entasis_platform::Buffer;

/// The use of the memory, in messages.
pub(super) const COLUMNS: &str = "the columns";
pub(super) const STRINGS: &str = "the strings";

/// The error for a number of values that overflows.
pub(super) fn too_many() -> Error {
    Error::out_of_memory(usize::MAX, COLUMNS)
}

/// Zeroed memory for `n` values of `width` bytes.
pub(super) fn zeroed(n: usize, width: usize) -> Result<Buffer> {
    buffer(n.checked_mul(width), COLUMNS)
}

/// Zeroed memory of `len` bytes. `None` means that the length overflowed.
pub(super) fn buffer(len: Option<usize>, what: &'static str) -> Result<Buffer> {
    let len = len.unwrap_or(usize::MAX);
    Buffer::zeroed(len).ok_or_else(|| Error::out_of_memory(len, what))
}

/// `n` zeros, in memory of the allocator.
pub(super) fn zeros<T: Clone + Default>(n: usize) -> Result<Vec<T>> {
    fallible::defaults(n, COLUMNS)
}
