//! The choice of a packing for words: integers, dictionary codes or ALP integers.
//!
//! The sizes of lightweight packings are computed: one pass gives the range of every vector,
//! another the number of runs. The effect of a general codec is measured on a sample at fixed
//! positions.

use entasis_format::{Codec, Filter, Packing};
use entasis_kernels::{VECTOR, Word, column_stats};

use super::{MIN_PAYLOAD, ZSTD_OF_LZ4};
use crate::codec::{Codecs, entropy_len};
use crate::dictionary::MIX;
use crate::limits::PAGE;
use crate::packing::{bit_packed, raw};
use crate::profile::{Profile, cost};
use crate::words::{Order, bits_of, byte_width, bytes_of, sample_ranges};

/// How to pack the words of one block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WordPlan<T> {
    pub packing: Packing,
    pub width: u32,
    pub base: T,
    pub patches: bool,
    /// Whether words may exceed the width, so that the writer has to look for patches.
    pub outliers: bool,
    pub per_vector: bool,
    pub codec: (Codec, i32),
    /// Whether the codec is LZ4 and compresses the values of patches alone.
    pub of_patches: bool,
    pub filter: Filter,
    /// Estimated stored bytes.
    pub len: f64,
    /// Estimated nanoseconds to decode all words.
    pub ns: f64,
}

impl<T: Word> WordPlan<T> {
    fn new(packing: Packing, width: u32, base: T, len: f64, ns: f64) -> Self {
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

/// The values of a block that a transform stores unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exceptions {
    pub n: usize,
    /// Exceptions that equal the one before them. Mostly these are NaN for missing values.
    pub repeats: usize,
}

/// The codec that won in an earlier block of the same run, so that not every block pays for trials.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum CodecHint {
    #[default]
    Unknown,
    /// No codec paid off; the stored bytes per word at that time.
    NoneAt(f64),
    Use(Packing, Filter, (Codec, i32), f64),
}

/// Whether blocks of these bytes per word are so similar that one choice fits both.
pub(crate) fn is_similar(per_word: f64, then: f64) -> bool {
    (per_word / then - 1.0).abs() < 0.25
}

/// The plan with the best score that `profile` allows.
pub(crate) fn plan_words<T: Word>(
    words: &[T],
    kind: Kind,
    profile: &Profile,
    codecs: &mut Codecs,
    hint: &mut CodecHint,
) -> WordPlan<T> {
    plan_light(words, kind, profile).with_codec(words, f64::INFINITY, profile, codecs, hint)
}

/// The lightweight packing with the best score, and the parameters of the form that codecs
/// compress.
pub(crate) struct LightPlan<T> {
    pub best: WordPlan<T>,
    min: T,
    width: u32,
    takes_codec: bool,
    exceptions: Exceptions,
    /// Whether hardly any word repeats. LZ4 finds nothing in their low bytes then.
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

/// The plan with the best score among those without a codec.
pub(crate) fn plan_light<T: Word>(words: &[T], kind: Kind, profile: &Profile) -> LightPlan<T> {
    if profile.is_raw() {
        return LightPlan::settled(WordPlan::raw(words.len()));
    }
    let n = words.len() as f64;
    let ranges: Vec<(T, T)> = words.chunks(VECTOR).map(|vector| kind.order.min_max(vector)).collect();
    let min = ranges.iter().map(|r| r.0).min_by_key(|&w| kind.order.key(w)).expect("a block has values");
    let max = ranges.iter().map(|r| r.1).max_by_key(|&w| kind.order.key(w)).expect("a block has values");
    let width = bits_of(max.wrapping_sub(min));
    let takes_codec = !profile.codecs.is_empty() && (profile.is_small() || size_of_val(words) >= MIN_PAYLOAD);
    let exceptions = kind.exceptions;
    if exceptions.n > 0 {
        let best = with_exceptions(patched(words, min, width), exceptions, profile);
        return LightPlan { best, min, width, takes_codec, exceptions, unrepeated: false };
    }
    if min == max {
        return LightPlan::settled(WordPlan::new(Packing::Constant, 0, min, 0.0, 0.0));
    }
    let mut best = WordPlan::raw(words.len());
    let mut offer = |plan: WordPlan<T>| {
        if plan.score(profile) < best.score(profile) {
            best = plan;
        }
    };
    offer(WordPlan::new(
        Packing::BitPacked,
        width,
        min,
        n * f64::from(width) / 8.0,
        if width % 8 == 0 { 0.0 } else { n * cost::BIT_PACKED },
    ));
    if kind.patches && width > 4 {
        offer(patched(words, min, width));
    }
    if words.len() > VECTOR {
        let bits: f64 = ranges
            .iter()
            .zip(words.chunks(VECTOR))
            .map(|(r, v)| f64::from(bits_of(r.1.wrapping_sub(r.0))) * v.len() as f64)
            .sum();
        let params = (ranges.len() * (bytes_of::<T>() + 1)) as f64;
        let mut plan = WordPlan::new(
            Packing::BitPacked,
            0,
            T::from_u64(0),
            bits / 8.0 + params,
            n * (cost::BIT_PACKED + cost::PER_VECTOR),
        );
        plan.per_vector = true;
        offer(plan);
    }
    let n_runs = kind.n_runs.unwrap_or_else(|| count_runs(words));
    if n_runs * 2 < words.len() {
        let runs = n_runs as f64;
        offer(WordPlan::new(
            Packing::RunLength,
            width,
            min,
            runs * (2.0 + f64::from(width) / 8.0),
            runs * cost::RUN + n * cost::RUN_LENGTH,
        ));
    }
    if !kind.patterns && width > 2 {
        delta(words, width).into_iter().for_each(offer);
    }
    LightPlan { best, min, width, takes_codec, exceptions, unrepeated: false }
}

/// The number of runs of equal words; `words.len()` if a sample shows runs hardly longer than one
/// word.
pub(crate) fn count_runs<T: PartialEq>(words: &[T]) -> usize {
    let pieces = || sample_ranges(words.len(), 8, VECTOR / 8).map(|range| &words[range]);
    let (sampled, changes) = pieces()
        .map(|piece| (piece.len(), column_stats::count_runs(piece)))
        .fold((0, 0), |(len, runs), of| (len + of.0, runs + of.1));
    if sampled < words.len() && changes * 8 > sampled * 7 {
        words.len()
    } else {
        column_stats::count_runs(words)
    }
}

/// Adds these exceptions to the patches of the plan. If they repeat one another, LZ4 compresses
/// them alone.
fn with_exceptions<T: Word>(
    mut plan: WordPlan<T>,
    Exceptions { n, repeats }: Exceptions,
    profile: &Profile,
) -> WordPlan<T> {
    plan.len += (n * (2 + bytes_of::<T>())) as f64;
    let mut shorter = plan.clone();
    (shorter.codec, shorter.of_patches) = ((Codec::Lz4, 0), true);
    shorter.len -= (repeats * bytes_of::<T>()) as f64;
    shorter.len += shorter.len / LITERALS_A_BYTE;
    shorter.ns += shorter.len * cost::LITERAL_BYTE;
    let pays = !profile.codecs.is_empty() && shorter.score(profile) < plan.score(profile);
    if pays { shorter } else { plan }
}

/// LZ4 writes one length byte per this many literals.
const LITERALS_A_BYTE: f64 = 255.0;

/// Bit-packing at the width at which patches and packed words take the fewest bytes.
fn patched<T: Word>(words: &[T], base: T, full: u32) -> WordPlan<T> {
    let mut histogram = [0u32; 65];
    let n = words.len() as f64;
    let mut plan = WordPlan::new(Packing::BitPacked, full, base, 0.0, n * (cost::BIT_PACKED + cost::PATCHES));
    plan.patches = true;
    let vectors = words.len().div_ceil(VECTOR) as f64;
    // All words are counted only if a sample shows that patches pay off.
    let sample = || sample_ranges(words.len(), 8, VECTOR / 4);
    column_stats::width_histogram(sample().map(|range| &words[range]), base, &mut histogram);
    let sampled: usize = sample().map(|range| range.len()).sum();
    let (mut width, mut len) = cheapest_width::<T>(&histogram, full);
    if sampled < words.len() && len < 0.97 * sampled as f64 * f64::from(full) / 8.0 {
        histogram.fill(0);
        column_stats::width_histogram([words], base, &mut histogram);
        (width, len) = cheapest_width::<T>(&histogram, full);
    } else if sampled < words.len() {
        (width, len) = (full, n * f64::from(full) / 8.0);
    }
    (plan.width, plan.len) = (width, len + 2.0 * vectors);
    plan.outliers = width < full;
    plan
}

/// The width with the fewest bytes for packed words and patches, and those bytes.
fn cheapest_width<T: Word>(histogram: &[u32; 65], full: u32) -> (u32, f64) {
    let n: f64 = histogram.iter().map(|&count| f64::from(count)).sum();
    let patch = (2 + bytes_of::<T>()) as f64;
    let mut best = (full, n * f64::from(full) / 8.0);
    let mut outside = 0.0;
    for width in (0..full).rev() {
        outside += f64::from(histogram[width as usize + 1]);
        let len = n * f64::from(width) / 8.0 + outside * patch;
        if len < best.1 {
            best = (width, len);
        }
    }
    best
}

/// Delta packing. The final width is found when packing; the size is estimated from 8 vectors.
/// `None` if the first two vectors need no fewer bits than the words themselves.
fn delta<T: Word>(words: &[T], full: u32) -> Option<WordPlan<T>> {
    let (mut bits, mut seen) = (0.0, 0.0);
    let mut deltas = [T::from_u64(0); VECTOR];
    let sample = sample_ranges(words.len(), 8, VECTOR).flat_map(|range| words[range].chunks(VECTOR));
    for (i, vector) in sample.enumerate() {
        if i == 2 && bits >= f64::from(full) * seen {
            return None;
        }
        let deltas = &mut deltas[..vector.len()];
        let (_, width) = crate::packing::delta::frame(vector, deltas);
        bits += f64::from(width) * vector.len() as f64;
        seen += vector.len() as f64;
    }
    let n = words.len() as f64;
    let params = words.len().div_ceil(VECTOR) * (2 * bytes_of::<T>() + 1);
    let len = n * bits / seen / 8.0 + params as f64;
    Some(WordPlan::new(Packing::Delta, 0, T::from_u64(0), len, n * cost::DELTA))
}

/// The trials that LZ4 must pass before whole pages are tried: number of pieces, words per piece,
/// and the allowed ratio of its score to the best score. The ratio exceeds 1 because LZ4 finds more
/// matches in longer pieces. Zstandard is slower and gains less from length, so it has one trial.
const LZ4_TRIALS: &[(usize, usize, f64)] = &[(2, 192, 2.5), (1, 2048, 1.1)];
const ZSTD_TRIALS: &[(usize, usize, f64)] = &[(1, 2048, 1.1)];
/// If LZ4 is below `SURE_BELOW` times the best score in its last trial and below `NEARLY_BELOW`
/// times in all earlier ones, it wins without a trial of whole pages. Whole pages take about
/// `IN_PAGES` of the ratio of the trial.
const SURE_BELOW: f64 = 0.95;
const NEARLY_BELOW: f64 = 1.1;
const IN_PAGES: f64 = 0.95;
/// If LZ4 saves less than this, nothing repeats in the trial. Then the entropy of the bytes
/// themselves estimates Zstandard.
const NO_REPEATS_ABOVE: f64 = 0.97;
/// Zstandard hardly ever gets below this share of the entropy of LZ4's output: it finds the same
/// matches and entropy-codes the rest.
const ZSTD_OF_ENTROPY: f64 = 0.93;
/// Zstandard's score in a trial may exceed LZ4's by this factor, because its tables weigh less in
/// whole pages.
const TABLE_MARGIN: f64 = 1.04;

/// How to estimate the ratio of a codec.
#[derive(Clone, Copy)]
enum By {
    Codec,
    /// By the entropy of the bytes, if nothing repeats.
    Entropy,
    /// By the entropy of the output of the last trial.
    Trial,
}

impl<T: Word> LightPlan<T> {
    /// The best of this plan and of general codecs over byte-aligned words, measured on samples or
    /// taken from `hint`. A codec is tried only while it may still get below `bound`, the score of
    /// the best alternative.
    pub(crate) fn with_codec(
        self,
        words: &[T],
        bound: f64,
        profile: &Profile,
        codecs: &mut Codecs,
        hint: &mut CodecHint,
    ) -> WordPlan<T> {
        let Self { best: light, min, width, takes_codec, exceptions, unrepeated } = self;
        if !takes_codec {
            return light;
        }
        let n = words.len() as f64;
        let per_word = light.len / n;
        let aligned = 8 * byte_width(width);
        let dress = |packing, filter, codec: (Codec, i32), ratio: f64| {
            let mut plan = if packing == Packing::BitPacked {
                WordPlan::new(packing, aligned, min, n * f64::from(aligned) / 8.0, 0.0)
            } else {
                WordPlan::raw(words.len())
            };
            plan.filter = filter;
            plan.codec = codec;
            plan.ns += cost::codec(codec.0, plan.len, plan.len * ratio);
            if filter == Filter::Shuffle {
                plan.ns += plan.len * cost::SHUFFLE_BYTE;
            }
            plan.len *= ratio;
            if exceptions.n > 0 {
                plan.patches = true;
                plan.len += (exceptions.n * 2 + (exceptions.n - exceptions.repeats) * bytes_of::<T>()) as f64;
                plan.ns += n * cost::PATCHES;
            }
            plan
        };
        match *hint {
            // Time weighs little there.
            _ if profile.is_small() => {}
            CodecHint::NoneAt(then) if is_similar(per_word, then) => return light,
            CodecHint::Use(packing, filter, codec, ratio)
                if packing == Packing::BitPacked || exceptions.n == 0 =>
            {
                let plan = dress(packing, filter, codec, ratio);
                if plan.score(profile) < light.score(profile) {
                    return plan;
                }
            }
            _ => {}
        }
        let mut best = (light, CodecHint::NoneAt(per_word));
        let mut payload = Vec::new();
        let mut ratio_of = |(pieces, len), packing, filter, codec: (Codec, i32), by: By| {
            if let By::Trial = by {
                return codecs.entropy_of_trial();
            }
            let (mut before, mut after) = (0, 0);
            for range in sample_ranges(words.len(), pieces, len) {
                for page in words[range].chunks(PAGE) {
                    payload.clear();
                    if packing == Packing::BitPacked {
                        bit_packed::emit::<T, T>(page, min, aligned, None, &mut payload);
                    } else {
                        raw::emit(bytemuck::cast_slice(page), bytes_of::<T>(), filter, &mut payload);
                    }
                    before += payload.len();
                    after += match by {
                        By::Entropy => entropy_len(&payload),
                        _ => codecs.stored_len(codec.0, codec.1, &payload),
                    };
                }
            }
            after as f64 / before as f64
        };
        let repeats_far = repeats_far_back(words);
        let forms: &[(Packing, Filter)] = if (aligned as usize) < T::BITS as usize {
            // After a shuffle the bytes that are zero in all narrow words are together.
            if repeats_far && aligned > 8 && exceptions.n == 0 {
                &[(Packing::BitPacked, Filter::None), (Packing::Raw, Filter::Shuffle)]
            } else {
                &[(Packing::BitPacked, Filter::None)]
            }
        } else if exceptions.n > 0 {
            // Only bit-packing has patches.
            &[]
        } else if bytes_of::<T>() == 1 {
            &[(Packing::Raw, Filter::None)]
        } else {
            &[(Packing::Raw, Filter::None), (Packing::Raw, Filter::Shuffle)]
        };
        for &(packing, filter) in forms {
            // The ratio of LZ4 in its last trial, and the ratio of the last trial if something
            // repeated.
            let (mut by_lz4, mut tried) = (None, None);
            for &codec in profile.codecs {
                let bound = bound.min(best.0.score(profile));
                let score_of = |codec, ratio| dress(packing, filter, codec, ratio).score(profile);
                let may_win = |ratio, hope| score_of(codec, ratio) < bound * hope;
                let least =
                    by_lz4.filter(|_| codec.0 == Codec::Zstd).map_or(0.0, |ratio| ratio * ZSTD_OF_LZ4);
                if !may_win(least, 1.0) {
                    continue;
                }
                if codec.0 == Codec::Lz4 && unrepeated && packing == Packing::BitPacked {
                    by_lz4 = Some(1.0);
                    continue;
                }
                // LZ4's score on the same bytes, if LZ4 is the best so far.
                let lz4 = (best.0.codec.0 == Codec::Lz4).then_some(best.0.codec);
                let rival = |ratio: Option<f64>| {
                    lz4.zip(ratio).map_or(f64::INFINITY, |(lz4, ratio)| score_of(lz4, ratio))
                };
                let trials = if codec.0 == Codec::Zstd { ZSTD_TRIALS } else { LZ4_TRIALS };
                if codec.0 == Codec::Zstd && by_lz4.is_some() {
                    let by = if tried.is_some() { By::Trial } else { By::Entropy };
                    let (pieces, len, hope) = trials[0];
                    let ratio = ZSTD_OF_ENTROPY * ratio_of((pieces, len), packing, filter, codec, by);
                    if !may_win(ratio, hope) || score_of(codec, ratio) >= rival(tried) {
                        continue;
                    }
                }
                let (mut last, mut is_sure) = (None, codec.0 == Codec::Lz4);
                let rival = rival(by_lz4) * TABLE_MARGIN;
                let mut is_hopeless = |&(pieces, len, hope): &(usize, usize, f64)| {
                    if words.len() <= 2 * pieces * len {
                        return false;
                    }
                    let ratio = ratio_of((pieces, len), packing, filter, codec, By::Codec);
                    last = Some(ratio);
                    is_sure &= may_win(ratio, NEARLY_BELOW);
                    !may_win(ratio, hope) || score_of(codec, ratio) >= rival
                };
                let is_hopeless = trials.iter().any(&mut is_hopeless);
                if codec.0 == Codec::Lz4 {
                    (by_lz4, tried) = (last, last.filter(|&ratio| ratio <= NO_REPEATS_ABOVE));
                }
                // A period may be longer than the trial.
                if is_hopeless && !repeats_far {
                    continue;
                }
                // Codecs find repetitions within a page only, so whole pages decide.
                let ratio = match last {
                    Some(ratio) if is_sure && may_win(ratio, SURE_BELOW) => ratio * IN_PAGES,
                    _ => {
                        let ratio = ratio_of((2, PAGE), packing, filter, codec, By::Codec);
                        tried = Some(ratio);
                        ratio
                    }
                };
                let plan = dress(packing, filter, codec, ratio);
                if plan.score(profile) < best.0.score(profile) {
                    best = (plan, CodecHint::Use(packing, filter, codec, ratio));
                }
            }
        }
        *hint = best.1;
        best.0
    }
}

/// Whether pieces of four words of the second half of a page are in its first half as well. Four
/// equal words don't count: short trials see them.
pub(crate) fn repeats_far_back<T: Word>(words: &[T]) -> bool {
    const SLOTS: usize = 1 << 16;
    const EVERY: usize = 16;
    const SHARE: usize = 2;
    if words.len() < PAGE {
        return false;
    }
    let slot = |piece: &[T]| {
        let mix = |hash: u64, word: &T| (hash.rotate_left(23) ^ word.to_u64()).wrapping_mul(MIX);
        let hash = (piece.iter().fold(0, mix) >> 48) as usize;
        (hash / 64, 1 << (hash % 64))
    };
    let page = sample_ranges(words.len(), 1, PAGE).next().map_or(words, |range| &words[range]);
    let (first, second) = page.split_at(PAGE / 2);
    let mut seen = [0u64; SLOTS / 64];
    for piece in first.windows(4) {
        let (at, bit) = slot(piece);
        seen[at] |= bit;
    }
    let is_repeat = |piece: &&[T]| {
        let (at, bit) = slot(piece);
        seen[at] & bit != 0 && piece.iter().any(|word| *word != piece[0])
    };
    second.windows(4).step_by(EVERY).filter(is_repeat).count() > second.len() / EVERY / SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(i: usize) -> u64 {
        let z = (i as u64 + 1).wrapping_mul(MIX);
        (z ^ z >> 29).wrapping_mul(MIX) >> 20
    }

    fn plan(words: &[u64]) -> WordPlan<u64> {
        let kind = Kind::new(Order::Unsigned, true, false);
        let profile = Profile::new(Profile::DEFAULT).unwrap();
        plan_words(words, kind, &profile, &mut Codecs::new(), &mut CodecHint::default())
    }

    /// Bytes of the compressed pages.
    fn stored_len(words: &[u64], plan: &WordPlan<u64>) -> usize {
        let mut codecs = Codecs::new();
        let page = |page: &[u64]| {
            let mut payload = Vec::new();
            bit_packed::emit::<u64, u64>(page, plan.base, plan.width, None, &mut payload);
            codecs.stored_len(plan.codec.0, plan.codec.1, &payload)
        };
        words.chunks(PAGE).map(page).sum()
    }

    #[test]
    fn sure_estimates_are_close_to_the_stored_length() {
        for n in [5000, 15_000, 65_536] {
            for far in [40, 300, 1500] {
                // Stretches that repeat earlier ones, and others between them.
                let words: Vec<u64> = (0..n)
                    .map(|i| if i % far < 12 { mixed(i) % 12_000 } else { mixed(i % far) % 12_000 })
                    .collect();
                let plan = plan(&words);
                assert_eq!((plan.codec.0, plan.packing), (Codec::Lz4, Packing::BitPacked), "{n} {far}");
                let (len, light) = (stored_len(&words, &plan) as f64, (2 * n) as f64);
                assert!((plan.len - len).abs() < 0.15 * light && len < 0.9 * light, "{len} {}", plan.len);
            }
        }
    }

    #[test]
    fn noise_is_given_to_no_codec() {
        for n in [5000, 15_000, 65_536] {
            let words: Vec<u64> = (0..n).map(|i| mixed(i) % 12_000).collect();
            assert_eq!(plan(&words).codec.0, Codec::None);
        }
    }
}
