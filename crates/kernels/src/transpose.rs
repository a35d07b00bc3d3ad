//! Between columns and the rows of a matrix: eight rows and columns at a time.

mod columns;
mod matrix;
#[cfg(target_arch = "x86_64")]
mod tiles;

pub use columns::copy_columns;
pub use matrix::MatrixMut;

/// Columns that are moved together: a cache line of 8-byte values.
const LINE: usize = 8;
