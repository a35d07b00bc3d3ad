//! Blocks that the caller encodes while it still collects the values after them.
//!
//! Otherwise the whole column would need memory, and values would leave the caches before they are
//! encoded. One block of numbers stays in the L2 cache.

use std::sync::Arc;

pub use entasis_encodings::BLOCK;
use entasis_encodings::{Encoded, Encoder, Profile, Values};
use entasis_format::{ColumnType, Layout, Physical, Result};

/// The highest compression that encodes as fast as values are collected. Above it, all threads of
/// the writer share the encoding.
const QUICK: u8 = 54;

/// A whole encoded block.
#[derive(Clone, Debug)]
pub struct EncodedBlock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    of: Layout,
    bytes: Vec<u8>,
    encoded: Encoded,
}

impl EncodedBlock {
    /// The layout of the column that it belongs to.
    pub(crate) fn of(&self) -> Layout {
        self.0.of
    }

    /// Its dictionary and pages.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    pub(crate) fn encoded(&self) -> &Encoded {
        &self.0.encoded
    }
}

/// Encodes blocks of numbers one by one in the same memory. Each thread needs its own encoder.
pub struct NumberEncoder {
    profile: Profile,
    encoder: Encoder,
    words: Vec<u64>,
}

impl NumberEncoder {
    /// An encoder for a compression setting; `None` if encoding would take much longer than
    /// collecting the numbers.
    pub fn new(compression: u8) -> Option<Self> {
        let profile = Profile::new(compression).ok().filter(|_| compression <= QUICK)?;
        Some(Self { encoder: Encoder::new(profile.clone()), profile, words: Vec::new() })
    }

    /// Makes the next block independent of the blocks before.
    pub fn begin_run(&mut self) {
        self.encoder.begin_run(&self.profile);
    }

    /// Memory for the next block's numbers, as words.
    pub fn words(&mut self) -> &mut [u64] {
        self.words.resize(BLOCK, 0);
        &mut self.words
    }

    /// Encodes the numbers in [`words`](Self::words) as integers or floats of 64 bits.
    ///
    /// # Errors
    /// *Unsupported* when they cannot be a block.
    pub fn encode(&mut self, physical: Physical) -> Result<EncodedBlock> {
        let of = ColumnType::plain(physical).layout();
        let mut bytes = Vec::new();
        self.words.resize(BLOCK, 0);
        let words = Values::W64(&mut self.words);
        let encoded = self.encoder.encode(of, words, None, &|| Ok(()), &mut bytes)?;
        Ok(EncodedBlock(Arc::new(Inner { of, bytes, encoded })))
    }
}
