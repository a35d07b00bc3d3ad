//! The choice of a packing without a codec.

use entasis_format::Packing;
use entasis_kernels::{VECTOR, Word};

use super::count_runs;
use super::delta::delta;
use super::patches::{Exceptions, patched};
use super::plan::WordPlan;
use crate::choose::MIN_PAYLOAD;
use crate::profile::{Profile, cost};
use crate::words::{Order, bits_of, byte_width, bytes_of};

/// The properties of words that the choice depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub order: Order,
    /// Whether values outside the width may become patches.
    pub patches: bool,
    /// Whether the words are bit patterns of floats, whose differences are meaningless.
    pub patterns: bool,
    /// Words that must become patches. Only bit-packing has patches.
    pub exceptions: Exceptions,
    /// The number of runs of equal words, if known.
    pub n_runs: Option<usize>,
}

impl Kind {
    /// Words without further known properties.
    pub(crate) fn new(order: Order, patches: bool, patterns: bool) -> Self {
        Self { order, patches, patterns, exceptions: Exceptions::default(), n_runs: None }
    }
}

/// The lightweight packing with the best score, and the parameters of the form that codecs
/// compress.
pub(crate) struct LightPlan<T> {
    pub best: WordPlan<T>,
    pub(super) min: T,
    /// The bits of the largest difference from `min`.
    pub(super) width: u32,
    pub(super) takes_codec: bool,
    pub(super) exceptions: Exceptions,
    /// Whether hardly any word repeats. LZ4 then finds nothing in the low bytes of words.
    pub unrepeated: bool,
}

impl<T: Word> LightPlan<T> {
    /// The plan that stores words unchanged and tries no codec.
    pub(crate) fn raw(n: usize) -> Self {
        Self::settled(WordPlan::raw(n))
    }

    /// Bytes per word that a codec would get.
    pub(crate) fn shown(&self) -> u32 {
        byte_width(self.width)
    }

    fn settled(best: WordPlan<T>) -> Self {
        let (min, width, exceptions) = (best.base, best.width, Exceptions::default());
        Self { best, min, width, takes_codec: false, exceptions, unrepeated: false }
    }
}

/// The plan with the best score that uses no codec.
pub(crate) fn plan_light<T: Word>(words: &[T], kind: Kind, profile: &Profile) -> LightPlan<T> {
    if profile.is_raw() {
        return LightPlan::raw(words.len());
    }
    let ranges = Ranges::of(words, kind.order);
    let (min, width) = (ranges.min, bits_of(ranges.max.wrapping_sub(ranges.min)));
    let takes_codec = !profile.codecs.is_empty() && (profile.is_small() || size_of_val(words) >= MIN_PAYLOAD);
    let exceptions = kind.exceptions;
    let with_best = |best| LightPlan { best, min, width, takes_codec, exceptions, unrepeated: false };
    if exceptions.n > 0 {
        return with_best(exceptions.add_to(patched(words, min, width), profile));
    }
    if min == ranges.max {
        return LightPlan::settled(WordPlan::new(Packing::Constant, 0, min, 0.0, 0.0));
    }
    let mut best = WordPlan::raw(words.len());
    let mut offer = |plan: WordPlan<T>| {
        if plan.score(profile) < best.score(profile) {
            best = plan;
        }
    };
    offer(bit_packed(words.len(), min, width));
    if kind.patches && width > 4 {
        offer(patched(words, min, width));
    }
    if words.len() > VECTOR {
        offer(ranges.per_vector(words));
    }
    let n_runs = kind.n_runs.unwrap_or_else(|| count_runs(words));
    if n_runs * 2 < words.len() {
        offer(run_length(words.len(), n_runs, min, width));
    }
    if !kind.patterns && width > 2 {
        delta(words, width).into_iter().for_each(offer);
    }
    with_best(best)
}

fn bit_packed<T: Word>(n: usize, min: T, width: u32) -> WordPlan<T> {
    let n = n as f64;
    // Whole bytes are copied.
    let ns = if width.is_multiple_of(8) { 0.0 } else { n * cost::BIT_PACKED };
    WordPlan::new(Packing::BitPacked, width, min, n * f64::from(width) / 8.0, ns)
}

fn run_length<T: Word>(n: usize, n_runs: usize, min: T, width: u32) -> WordPlan<T> {
    let runs = n_runs as f64;
    let len = runs * (2.0 + f64::from(width) / 8.0);
    WordPlan::new(Packing::RunLength, width, min, len, runs * cost::RUN + n as f64 * cost::RUN_LENGTH)
}

/// The ranges of words.
struct Ranges<T> {
    min: T,
    max: T,
    /// Minimum and maximum of each vector.
    of_vectors: Vec<(T, T)>,
}

impl<T: Word> Ranges<T> {
    fn of(words: &[T], order: Order) -> Self {
        let of_vectors: Vec<(T, T)> = words.chunks(VECTOR).map(|vector| order.min_max(vector)).collect();
        let min = of_vectors.iter().map(|&(min, _)| min).min_by_key(|&word| order.key(word));
        let max = of_vectors.iter().map(|&(_, max)| max).max_by_key(|&word| order.key(word));
        let (min, max) = min.zip(max).expect("a block has values");
        Self { min, max, of_vectors }
    }

    /// Bit-packing with a base and a width per vector.
    fn per_vector(&self, words: &[T]) -> WordPlan<T> {
        let n = words.len() as f64;
        let vectors = self.of_vectors.iter().zip(words.chunks(VECTOR));
        let bits: f64 = vectors
            .map(|(&(min, max), vector)| f64::from(bits_of(max.wrapping_sub(min))) * vector.len() as f64)
            .sum();
        let params = (self.of_vectors.len() * (bytes_of::<T>() + 1)) as f64;
        let ns = n * (cost::BIT_PACKED + cost::PER_VECTOR);
        let mut plan = WordPlan::new(Packing::BitPacked, 0, T::from_u64(0), bits / 8.0 + params, ns);
        plan.per_vector = true;
        plan
    }
}
