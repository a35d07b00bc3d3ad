//! Text files: the dialects of CSV, its fields, rows and values.
#![forbid(unsafe_code)]

mod dialect;
mod sniff;
mod spec;
pub mod strict;

pub use dialect::Dialect;
pub use sniff::{Given, Header, LineEnd, Reason, Sniffed, sniff};
pub use spec::Spec;
