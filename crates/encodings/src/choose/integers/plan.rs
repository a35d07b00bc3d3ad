//! How to pack the words of one block.

use entasis_format::{Codec, Filter, Packing};
use entasis_kernels::Word;

use crate::profile::Profile;
use crate::words::bytes_of;

/// How to pack the words of one block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WordPlan<T> {
    pub packing: Packing,
    pub width: u32,
    pub base: T,
    pub patches: bool,
    /// Whether words may exceed the width. The writer then has to look for patches.
    pub outliers: bool,
    pub per_vector: bool,
    pub codec: (Codec, i32),
    /// Whether the codec is LZ4 and compresses only the values of patches.
    pub of_patches: bool,
    pub filter: Filter,
    /// Estimated stored bytes.
    pub len: f64,
    /// Estimated nanoseconds to decode all words.
    pub ns: f64,
}

impl<T: Word> WordPlan<T> {
    pub(super) fn new(packing: Packing, width: u32, base: T, len: f64, ns: f64) -> Self {
        Self {
            packing,
            width,
            base,
            patches: false,
            outliers: false,
            per_vector: false,
            codec: (Codec::None, 0),
            of_patches: false,
            filter: Filter::None,
            len,
            ns,
        }
    }

    /// The plan that stores words unchanged.
    pub(crate) fn raw(n: usize) -> Self {
        Self::new(Packing::Raw, 0, T::from_u64(0), (n * bytes_of::<T>()) as f64, 0.0)
    }

    pub(crate) fn score(&self, profile: &Profile) -> f64 {
        profile.score(self.len, self.ns)
    }
}
