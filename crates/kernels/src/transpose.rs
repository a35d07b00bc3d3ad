//! Moves values between columns and a row-major matrix, in tiles of eight rows and columns.

mod columns;
mod matrix;
#[cfg(target_arch = "x86_64")]
mod tiles;

pub use columns::copy_columns;
pub use matrix::MatrixMut;

/// Columns that are moved together: a cache line of 8-byte values.
const LINE: usize = 8;
