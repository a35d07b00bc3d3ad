//! Text files: the dialects of CSV, its fields, rows and values.
#![forbid(unsafe_code)]

pub mod convert;
pub mod cut;
mod dialect;
pub mod fields;
pub mod input;
pub mod piece;
pub mod problems;
mod read;
mod sniff;
pub mod source;
mod spec;
pub mod strict;
pub mod types;
pub mod values;

pub use dialect::Dialect;
pub use read::{Column, MISSING, Plan, Selection, Table, read};
pub use sniff::{Given, Header, LineEnd, Reason, Sniffed, sniff};
pub use spec::Spec;
pub use types::Type;
