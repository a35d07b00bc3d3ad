//! Text files: the dialects of CSV, its fields, rows and values.
#![forbid(unsafe_code)]

mod dialect;
pub mod strict;

pub use dialect::Dialect;
