//! Text files: the dialects of CSV, its fields, rows and values.
#![forbid(unsafe_code)]

pub mod categories;
pub mod convert;
pub mod cut;
mod dialect;
pub mod fields;
pub mod frame;
pub mod input;
mod job;
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
pub use job::{Job, Options};
pub use read::{Column, MISSING, Outcome, Plan, Refused, Selection, Table, read, store};
pub use sniff::{Given, Header, LineEnd, Reason, Sniffed, sniff};
pub use spec::Spec;
pub use types::Type;
