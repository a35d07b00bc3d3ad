//! Gives values of rows to append the type of the file's column (`docs/guides/append.md`).
//!
//! Every conversion is exact: a value that the type does not hold is refused.

mod convert;
mod dictionary;
mod host_type;
mod numbers;
mod scaled;
mod unfit;
mod values;
mod wider;

pub(super) use convert::{convert, has_missing, is_empty, missing};
pub(super) use dictionary::{Codes, codes, expand, find, split, with_codes};
pub(super) use host_type::{HostType, Kind, Marker};
pub(super) use unfit::{Refusal, Unfit};
pub(super) use wider::{Wider, wider, with_missing};

/// The use of the memory, in messages.
const VALUES: &str = "the converted values";
