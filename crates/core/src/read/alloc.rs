//! Memory whose size a file decides: too much is an error and never aborts the process.

use entasis_format::{Error, Result};
use entasis_platform::Buffer;

/// The error for columns that do not fit into memory.
pub(super) fn no_memory() -> Error {
    Error::limit("not enough memory for the columns")
}

/// The error for strings that do not fit into memory.
pub(super) fn no_string_memory() -> Error {
    Error::limit("not enough memory for the strings")
}

/// Zeroed memory for `n` values of `width` bytes.
pub(super) fn zeroed(n: usize, width: usize) -> Result<Buffer> {
    n.checked_mul(width).and_then(Buffer::zeroed).ok_or_else(no_memory)
}
