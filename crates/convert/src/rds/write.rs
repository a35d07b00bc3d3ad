//! Writes values of R as a stream of RDS: version 3, in XDR form, as `saveRDS` writes plain data.
//!
//! "R Internals", section "Serialization Formats", has the form. Functions, environments with
//! values and pointers are refused.

mod gzip;
mod items;
mod packed;
mod target;

pub use packed::Packing;
pub use target::{RdsOptions, RdsWritten, write_rds, write_rds_to};

/// Takes bytes of the file.
type Put<'p> = dyn FnMut(&[u8]) -> entasis::Result<()> + 'p;

#[cfg(test)]
mod tests;
