//! Files of other formats: read into values, and written as files of Entasis.
//!
//! A reader takes bytes and gives values of R ([`r::Value`]), which [`r`] turns into the document
//! that the R package writes for the same value. Nothing that a file holds is evaluated.

#![forbid(unsafe_code)]

mod bytes;
mod compare;
pub mod fst;
mod input;
mod open;
mod parts;
mod path;
mod qs;
pub mod r;
mod rds;
mod read;
mod stream;

pub use compare::has_value_of;
pub use open::{Opened, Source, convert, detect, hold, hold_other, hold_values, open, open_other, open_path};
pub use parts::Parts;
pub use rds::{Packing, RdsOptions, RdsWritten, write_rds, write_rds_to};
pub use read::{Format, ReadOptions, read_r, recognise};
