//! A decoder of whole files, written from `docs/format/` alone: the check that a stranger can do so.
//!
//! It uses nothing of the workspace, goes bit by bit, keeps everything in memory and is laid out in the order of the page.
//! [`decode`] is a reader; [`verify`] also looks at what a reader passes by: trailer, padding, statistics, name index.
#![forbid(unsafe_code)]

pub mod bits;
pub mod body;
pub mod buffer;
pub mod bytes;
pub mod cells;
pub mod check;
pub mod column;
pub mod file;
pub mod header;
pub mod nested;
pub mod payload;
pub mod records;
pub mod root;
pub mod section;
pub mod segment;
pub mod types;
pub mod value;

pub use bytes::{Kind, Wrong, checksum};
pub use column::Column;
pub use file::{Decoded, Table, decode};
pub use value::Tree;

/// A value as the bytes of its word, as one byte 0 or 1 (bool), or as its own bytes (utf8, binary).
pub type Cell = Vec<u8>;

/// Everything that [`decode`] checks, and what the page leaves to `verify`.
///
/// # Errors
/// The first rule that is broken.
pub fn verify(file: &[u8]) -> Result<Decoded, Wrong> {
    let decoded = decode(file)?;
    check::check(file, &decoded)?;
    cells::cells(&decoded)?;
    Ok(decoded)
}
