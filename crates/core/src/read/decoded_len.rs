//! Compares the memory that one read needs with the limit of its file.

use std::sync::atomic::{AtomicU64, Ordering};

use entasis_format::{ColumnType, Physical, Result};

use super::request::{MissingTo, Output, Request};
use crate::file::File;

/// The bytes that one read of a file decodes, on all threads.
pub(crate) struct DecodedLen<'a> {
    file: &'a File,
    sum: AtomicU64,
}

impl<'a> DecodedLen<'a> {
    pub fn new(file: &'a File) -> Self {
        Self { file, sum: AtomicU64::new(0) }
    }

    /// Adds `len` bytes.
    ///
    /// # Errors
    /// *Limit* if the file may not ask for that many bytes.
    pub fn add(&self, len: u64) -> Result<()> {
        // A sum that could wrap exceeds the limit, so an earlier call failed.
        let before = self.sum.fetch_add(len, Ordering::Relaxed);
        self.file.check_decoded_len(before.saturating_add(len))
    }

    /// Adds the memory of a request for `n` values, without the bytes of strings.
    pub fn add_request(&self, request: &Request<'_>, n: u64) -> Result<()> {
        let values = match &request.output {
            Output::Words(out) | Output::Bools(out) | Output::Bits(out) => out.len() as u64,
            Output::Wide { memory, .. } | Output::Int32 { memory, .. } => memory.len() as u64,
            Output::Text(_) => ColumnType::plain(Physical::Utf8).memory_len(n),
        };
        let missing = match &request.missing {
            MissingTo::Bits(out) | MissingTo::BitsWithNan(out) | MissingTo::Mask(out) => out.len() as u64,
            MissingTo::Ignore | MissingTo::Sentinel(_) => 0,
        };
        self.add(values.saturating_add(missing))
    }
}
