//! Text files: the dialects of CSV, its fields, rows and values.
#![forbid(unsafe_code)]

pub mod categories;
mod check;
pub mod condition;
pub mod convert;
pub mod cut;
pub mod dates;
mod dialect;
pub mod fields;
pub mod fill;
pub mod frame;
pub mod input;
mod job;
pub mod piece;
pub mod problems;
mod read;
mod sniff;
pub mod source;
mod sources;
mod spec;
pub mod strict;
pub mod types;
pub mod values;
pub mod write;

pub use dialect::{Blanks, Dialect};
pub use job::{Job, Options};
pub use read::{
    Column, MISSING, Outcome, Plan, Query, Refused, Scan, Selection, Table, names_of_spec, read, read_all,
    store, store_all,
};
pub use sniff::{Given, Header, LineEnd, Reason, Sniffed, sniff};
pub use spec::Spec;
pub use types::Type;
