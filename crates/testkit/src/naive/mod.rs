//! A decoder of whole files, written from `docs/format/` alone. It checks that these pages suffice.
//!
//! It uses nothing of the workspace, works bit by bit and keeps everything in memory. Its files
//! follow the pages. [`decode`] is a reader. [`verify`] also checks the rules that readers need not
//! notice (marked V in the pages) and those that bind writers alone (W), so that it finds errors of
//! our writer too.
#![forbid(unsafe_code)]

pub mod bits;
pub mod body;
pub mod buffer;
pub mod bytes;
pub mod cells;
pub mod check;
pub mod column;
pub mod directory;
pub mod file;
pub mod generations;
pub mod header;
pub mod lz4;
pub mod nested;
pub mod payload;
pub mod records;
pub mod root;
pub mod sealed;
pub mod section;
pub mod segment;
pub mod types;
pub mod value;

pub use bytes::{Kind, Wrong, checksum};
pub use column::Column;
pub use file::{Decoded, Table, decode};
pub use sealed::{Secret, unseal};
pub use value::Tree;

/// A value: the bytes of a fixed-width value, one byte 0 or 1 (bool), or the bytes of utf8 and
/// binary.
pub type Cell = Vec<u8>;

/// Decodes a file and checks every rule.
///
/// # Errors
/// The first rule that is broken.
pub fn verify(file: &[u8]) -> Result<Decoded, Wrong> {
    let decoded = decode(file)?;
    check::check(file, &decoded)?;
    cells::cells(&decoded)?;
    generations::check(file, &decoded)?;
    Ok(decoded)
}
