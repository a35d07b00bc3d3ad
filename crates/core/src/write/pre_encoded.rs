//! Blocks that are encoded while the values behind them are still being found.
//!
//! Values that are gathered first and encoded later take memory for all of them, whose pages are to be had and cleared, and leave the caches meanwhile. A block
//! of numbers fits there.

use std::sync::Arc;

pub use entasis_encodings::BLOCK;
use entasis_encodings::{Encoded, Encoder, Profile, Values};
use entasis_format::{ColumnType, Layout, Physical, Result};

/// The highest compression whose codecs take about as long as it takes to find the values: others are better used without anybody waiting.
const QUICK: u8 = 54;

/// A whole block, encoded.
#[derive(Clone, Debug)]
pub struct EncodedBlock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    of: Layout,
    bytes: Vec<u8>,
    encoded: Encoded,
}

impl EncodedBlock {
    /// The layout of the column that it is for.
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

/// Encodes blocks of numbers, one after the other in the same memory. Each thread has its own.
pub struct NumberEncoder {
    profile: Profile,
    encoder: Encoder,
    words: Vec<u64>,
}

impl NumberEncoder {
    /// For a compression setting; none where encoding takes much longer than finding the numbers.
    pub fn new(compression: u8) -> Option<Self> {
        let profile = Profile::new(compression).ok().filter(|_| compression <= QUICK)?;
        Some(Self { encoder: Encoder::new(profile.clone()), profile, words: Vec::new() })
    }

    /// The next block depends on none of those before.
    pub fn begin_run(&mut self) {
        self.encoder.begin_run(&self.profile);
    }

    /// Where the numbers of the next block go, as words.
    pub fn words(&mut self) -> &mut [u64] {
        self.words.resize(BLOCK, 0);
        &mut self.words
    }

    /// Encodes what was put there: integers or floats.
    ///
    /// # Errors
    /// *Unsupported* when they can't be a block.
    pub fn encode(&mut self, physical: Physical) -> Result<EncodedBlock> {
        let of = ColumnType::plain(physical).layout();
        let mut bytes = Vec::new();
        self.words.resize(BLOCK, 0);
        let words = Values::W64(&mut self.words);
        let encoded = self.encoder.encode(of, words, None, &|| Ok(()), &mut bytes)?;
        Ok(EncodedBlock(Arc::new(Inner { of, bytes, encoded })))
    }
}
