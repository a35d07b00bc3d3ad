//! Bit-packing with patches: the width, and the exceptions of a transform.

use entasis_format::{Codec, Packing};
use entasis_kernels::{VECTOR, Word, column_stats};

use super::plan::WordPlan;
use crate::profile::{Profile, cost};
use crate::words::{bytes_of, sample_ranges};

/// LZ4 writes one length byte per this many literals.
const LITERALS_PER_LENGTH: f64 = 255.0;

/// All words are counted only if patches save at least 3 % of the bytes of a sample.
const PAYS_BELOW: f64 = 0.97;

/// The values of a block that a transform stores unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exceptions {
    pub n: usize,
    /// Exceptions that equal the previous exception. Most are NaN for missing values.
    pub repeats: usize,
}

impl Exceptions {
    /// The bytes of the exceptions as patches, if repeated values take no bytes.
    pub(super) fn len_without_repeats<T>(self) -> f64 {
        (self.n * 2 + (self.n - self.repeats) * bytes_of::<T>()) as f64
    }

    /// Adds these exceptions to the patches of the plan. If they repeat one another, LZ4 compresses
    /// only them.
    pub(super) fn add_to<T: Word>(self, mut plan: WordPlan<T>, profile: &Profile) -> WordPlan<T> {
        plan.len += (self.n * (2 + bytes_of::<T>())) as f64;
        let mut shorter = plan.clone();
        (shorter.codec, shorter.of_patches) = ((Codec::Lz4, 0), true);
        shorter.len -= (self.repeats * bytes_of::<T>()) as f64;
        shorter.len += shorter.len / LITERALS_PER_LENGTH;
        shorter.ns += shorter.len * cost::LITERAL_BYTE;
        let pays = !profile.codecs.is_empty() && shorter.score(profile) < plan.score(profile);
        if pays { shorter } else { plan }
    }
}

/// Bit-packing at the width with the fewest bytes of patches and packed words.
pub(super) fn patched<T: Word>(words: &[T], base: T, full: u32) -> WordPlan<T> {
    let mut histogram = [0u32; 65];
    let n = words.len() as f64;
    let unpatched = PatchedWidth { bits: full, len: n * f64::from(full) / 8.0 };
    let sample = || sample_ranges(words.len(), 8, VECTOR / 4);
    column_stats::width_histogram(sample().map(|range| &words[range]), base, &mut histogram);
    let n_sampled: usize = sample().map(|range| range.len()).sum();
    let mut best = PatchedWidth::cheapest::<T>(&histogram, full);
    if n_sampled < words.len() {
        let pays = best.len < PAYS_BELOW * n_sampled as f64 * f64::from(full) / 8.0;
        best = if pays {
            histogram.fill(0);
            column_stats::width_histogram([words], base, &mut histogram);
            PatchedWidth::cheapest::<T>(&histogram, full)
        } else {
            unpatched
        };
    }
    let vectors = words.len().div_ceil(VECTOR) as f64;
    let (len, ns) = (best.len + 2.0 * vectors, n * (cost::BIT_PACKED + cost::PATCHES));
    let mut plan = WordPlan::new(Packing::BitPacked, best.bits, base, len, ns);
    plan.patches = true;
    plan.outliers = best.bits < full;
    plan
}

/// A width of packed words.
struct PatchedWidth {
    bits: u32,
    /// The bytes of the packed words and their patches.
    len: f64,
}

impl PatchedWidth {
    /// The width with the fewest bytes. `histogram` has the number of words that need each width.
    fn cheapest<T: Word>(histogram: &[u32; 65], full: u32) -> Self {
        let n: f64 = histogram.iter().map(|&count| f64::from(count)).sum();
        let patch_len = (2 + bytes_of::<T>()) as f64;
        let mut best = Self { bits: full, len: n * f64::from(full) / 8.0 };
        let mut n_patches = 0.0;
        for bits in (0..full).rev() {
            n_patches += f64::from(histogram[bits as usize + 1]);
            let len = n * f64::from(bits) / 8.0 + n_patches * patch_len;
            if len < best.len {
                best = Self { bits, len };
            }
        }
        best
    }
}
