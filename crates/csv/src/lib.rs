//! Text files: the dialects of CSV, its fields, rows and values.
#![forbid(unsafe_code)]

mod dialect;
pub mod source;
pub mod strict;
pub mod types;
pub mod values;

pub use dialect::Dialect;
pub use types::Type;
