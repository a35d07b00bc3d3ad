//! The choice of a general codec for words, measured on samples.

use entasis_format::{Codec, Filter, Packing};
use entasis_kernels::Word;

use super::is_similar;
use super::light::LightPlan;
use super::patches::Exceptions;
use super::plan::WordPlan;
use super::repeats::repeats_far_back;
use crate::choose::ZSTD_OF_LZ4;
use crate::codec::{Codecs, entropy_len};
use crate::limits::PAGE;
use crate::packing::{bit_packed, raw};
use crate::profile::{Profile, cost};
use crate::words::{byte_width, bytes_of, sample_ranges};

/// A trial of a codec on a sample of the block.
struct Trial {
    sample: Sample,
    /// The allowed ratio of the codec's score to the best score. It exceeds 1 because codecs find
    /// more matches in longer inputs.
    margin: f64,
}

/// Ranges of a block at fixed positions.
#[derive(Clone, Copy)]
struct Sample {
    n_ranges: usize,
    /// Words per range.
    len: usize,
}

/// LZ4 must pass these trials before whole pages are tried.
const LZ4_TRIALS: [Trial; 2] = [
    Trial { sample: Sample { n_ranges: 2, len: 192 }, margin: 2.5 },
    Trial { sample: Sample { n_ranges: 1, len: 2048 }, margin: 1.1 },
];
/// The trial of Zstandard. Zstandard needs only one, because it is slower than LZ4 and gains less
/// from longer inputs.
const ZSTD_TRIAL: Trial = Trial { sample: Sample { n_ranges: 1, len: 2048 }, margin: 1.1 };
/// Codecs find repetitions only within a page, so whole pages decide.
const WHOLE_PAGES: Sample = Sample { n_ranges: 2, len: PAGE };
/// LZ4 wins without a trial of whole pages if it is below `SURE_BELOW` times the best score in its
/// last trial and below `NEARLY_BELOW` times in all earlier ones. The ratio in whole pages is about
/// `IN_PAGES` times the ratio of the trial.
const SURE_BELOW: f64 = 0.95;
const NEARLY_BELOW: f64 = 1.1;
const IN_PAGES: f64 = 0.95;
/// If LZ4 saves less than this, nothing repeats in the trial. The entropy of the plain bytes then
/// estimates Zstandard.
const NO_REPEATS_ABOVE: f64 = 0.97;
/// Zstandard hardly ever gets below this share of the entropy of LZ4's output, because it finds the
/// same matches and entropy-codes the rest.
const ZSTD_OF_ENTROPY: f64 = 0.93;
/// Zstandard's score in a trial may exceed LZ4's by this factor, because its tables cost less in
/// whole pages.
const TABLE_MARGIN: f64 = 1.04;

/// The codec that won in an earlier block of the same run. It saves most blocks their trials.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum CodecHint {
    #[default]
    Unknown,
    /// No codec paid off. Contains the stored bytes per word at that time.
    NoneAt(f64),
    Use(Compression),
}

/// A codec for one form of the words, and its ratio of stored bytes to the form's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Compression {
    form: Form,
    codec: (Codec, i32),
    ratio: f64,
}

/// The bytes of words that a codec compresses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    /// Bit-packing to whole bytes, or raw.
    packing: Packing,
    filter: Filter,
}

impl Form {
    const PACKED: Self = Self { packing: Packing::BitPacked, filter: Filter::None };
    const RAW: Self = Self { packing: Packing::Raw, filter: Filter::None };
    const SHUFFLED: Self = Self { packing: Packing::Raw, filter: Filter::Shuffle };

    fn is_packed(self) -> bool {
        self.packing == Packing::BitPacked
    }
}

impl<T: Word> LightPlan<T> {
    /// The best of this plan and general codecs for byte-aligned words. Codecs are measured on
    /// samples or taken from `hint`. A codec is tried only while it may get below `bound`, the
    /// score of the best alternative.
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
        let per_word = light.len / words.len() as f64;
        let input = Input { words, min, aligned: 8 * byte_width(width), exceptions };
        match *hint {
            // Size matters much more than time, so try all codecs for each block.
            _ if profile.is_small() => {}
            CodecHint::NoneAt(then) if is_similar(per_word, then) => return light,
            CodecHint::Use(compression) if compression.form.is_packed() || exceptions.n == 0 => {
                let plan = input.plan(compression);
                if plan.score(profile) < light.score(profile) {
                    return plan;
                }
            }
            _ => {}
        }
        let repeats_far = repeats_far_back(words);
        let mut search = Search {
            input,
            profile,
            codecs,
            bound,
            unrepeated,
            repeats_far,
            payload: Vec::new(),
            best: light,
            hint: CodecHint::NoneAt(per_word),
        };
        for &form in search.input.forms(repeats_far) {
            search.try_form(form);
        }
        *hint = search.hint;
        search.best
    }
}

/// The words of a block, and the parameters of their forms.
struct Input<'a, T> {
    words: &'a [T],
    /// The base of packed words.
    min: T,
    /// The width of packed words: 8, 16, 32 or 64 bits.
    aligned: u32,
    exceptions: Exceptions,
}

impl<T: Word> Input<'_, T> {
    /// The forms that are worth a trial.
    fn forms(&self, repeats_far: bool) -> &'static [Form] {
        let is_narrow = (self.aligned as usize) < T::BITS as usize;
        // Only bit-packing has patches.
        let takes_raw = self.exceptions.n == 0;
        match (is_narrow, takes_raw) {
            // A shuffle puts together the bytes that are zero in all narrow words.
            (true, true) if repeats_far && self.aligned > 8 => &[Form::PACKED, Form::SHUFFLED],
            (true, _) => &[Form::PACKED],
            (false, false) => &[],
            (false, true) if bytes_of::<T>() == 1 => &[Form::RAW],
            (false, true) => &[Form::RAW, Form::SHUFFLED],
        }
    }

    /// The plan for this codec and form.
    fn plan(&self, compression: Compression) -> WordPlan<T> {
        let Compression { form, codec, ratio } = compression;
        let n = self.words.len() as f64;
        let mut plan = if form.is_packed() {
            let len = n * f64::from(self.aligned) / 8.0;
            WordPlan::new(form.packing, self.aligned, self.min, len, 0.0)
        } else {
            WordPlan::raw(self.words.len())
        };
        plan.filter = form.filter;
        plan.codec = codec;
        plan.ns += cost::codec(codec.0, plan.len, plan.len * ratio);
        if form.filter == Filter::Shuffle {
            plan.ns += plan.len * cost::SHUFFLE_BYTE;
        }
        plan.len *= ratio;
        if self.exceptions.n > 0 {
            plan.patches = true;
            plan.len += self.exceptions.len_without_repeats::<T>();
            plan.ns += n * cost::PATCHES;
        }
        plan
    }

    /// The ratio of stored bytes to the form's bytes in a sample. `stored_len` returns the stored
    /// bytes of a payload. `payload` is a buffer.
    fn ratio(
        &self,
        form: Form,
        sample: Sample,
        payload: &mut Vec<u8>,
        mut stored_len: impl FnMut(&[u8]) -> usize,
    ) -> f64 {
        let (mut before, mut after) = (0, 0);
        for range in sample_ranges(self.words.len(), sample.n_ranges, sample.len) {
            for page in self.words[range].chunks(PAGE) {
                payload.clear();
                if form.is_packed() {
                    bit_packed::emit::<T, T>(page, self.min, self.aligned, None, payload);
                } else {
                    raw::emit(bytemuck::cast_slice(page), bytes_of::<T>(), form.filter, payload);
                }
                before += payload.len();
                after += stored_len(payload);
            }
        }
        after as f64 / before as f64
    }
}

/// The search for the best codec of a block.
struct Search<'a, T> {
    input: Input<'a, T>,
    profile: &'a Profile,
    codecs: &'a mut Codecs,
    /// The score of the best alternative to the words of this block.
    bound: f64,
    /// Whether hardly any word repeats.
    unrepeated: bool,
    /// Whether words repeat at distances longer than the short trials.
    repeats_far: bool,
    /// A buffer.
    payload: Vec<u8>,
    best: WordPlan<T>,
    /// The hint that `best` leaves for the next block.
    hint: CodecHint,
}

/// A codec for a form of the words, with the score to beat.
#[derive(Clone, Copy)]
struct Candidate {
    form: Form,
    codec: (Codec, i32),
    bound: f64,
}

/// The ratios that the trials of LZ4 found for a form.
#[derive(Default)]
struct Lz4Ratios {
    /// The ratio of the last trial before whole pages.
    short: Option<f64>,
    /// The ratio of the last trial, if the trial contained repetitions.
    repeating: Option<f64>,
    /// The ratio of the block, unless LZ4 cannot win.
    block: Option<f64>,
}

impl<T: Word> Search<'_, T> {
    /// Tries all codecs on one form of the words.
    fn try_form(&mut self, form: Form) {
        let mut lz4 = Lz4Ratios::default();
        for &codec in self.profile.codecs {
            let bound = self.bound.min(self.best.score(self.profile));
            let candidate = Candidate { form, codec, bound };
            let ratio = match codec.0 {
                Codec::None => None,
                Codec::Lz4 => {
                    lz4 = self.try_lz4(candidate);
                    lz4.block
                }
                Codec::Zstd => self.try_zstd(candidate, &lz4),
            };
            if let Some(ratio) = ratio {
                self.offer(Compression { form, codec, ratio });
            }
        }
    }

    /// Takes a codec if it scores better than the best plan so far.
    fn offer(&mut self, compression: Compression) {
        let plan = self.input.plan(compression);
        if plan.score(self.profile) < self.best.score(self.profile) {
            self.best = plan;
            self.hint = CodecHint::Use(compression);
        }
    }

    fn try_lz4(&mut self, candidate: Candidate) -> Lz4Ratios {
        if !self.may_win(candidate, 0.0, 1.0) {
            return Lz4Ratios::default();
        }
        if self.unrepeated && candidate.form.is_packed() {
            return Lz4Ratios { short: Some(1.0), ..Lz4Ratios::default() };
        }
        let (mut short, mut is_sure, mut may_win) = (None, true, true);
        for trial in &LZ4_TRIALS {
            if !self.is_short(trial) {
                continue;
            }
            let ratio = self.measure(candidate, trial.sample);
            short = Some(ratio);
            is_sure &= self.may_win(candidate, ratio, NEARLY_BELOW);
            may_win = self.may_win(candidate, ratio, trial.margin);
            if !may_win {
                break;
            }
        }
        let repeating = short.filter(|&ratio| ratio <= NO_REPEATS_ABOVE);
        // A period may be longer than the trial.
        if !may_win && !self.repeats_far {
            return Lz4Ratios { short, repeating, block: None };
        }
        match short {
            Some(ratio) if is_sure && self.may_win(candidate, ratio, SURE_BELOW) => {
                Lz4Ratios { short, repeating, block: Some(ratio * IN_PAGES) }
            }
            _ => {
                let block = Some(self.measure(candidate, WHOLE_PAGES));
                Lz4Ratios { short, repeating: block, block }
            }
        }
    }

    /// The ratio of Zstandard; `None` if it cannot win. `lz4` has the ratios of LZ4 on the same
    /// form.
    fn try_zstd(&mut self, candidate: Candidate, lz4: &Lz4Ratios) -> Option<f64> {
        let least = lz4.short.map_or(0.0, |ratio| ratio * ZSTD_OF_LZ4);
        if !self.may_win(candidate, least, 1.0) {
            return None;
        }
        if lz4.short.is_some() {
            let entropy = match lz4.repeating {
                Some(_) => self.codecs.entropy_of_trial(),
                None => self.entropy(candidate.form, ZSTD_TRIAL.sample),
            };
            let ratio = ZSTD_OF_ENTROPY * entropy;
            if !self.may_win(candidate, ratio, ZSTD_TRIAL.margin)
                || self.score(candidate, ratio) >= self.lz4_score(candidate.form, lz4.repeating)
            {
                return None;
            }
        }
        if self.is_short(&ZSTD_TRIAL) {
            let rival = self.lz4_score(candidate.form, lz4.short) * TABLE_MARGIN;
            let ratio = self.measure(candidate, ZSTD_TRIAL.sample);
            let may_win =
                self.may_win(candidate, ratio, ZSTD_TRIAL.margin) && self.score(candidate, ratio) < rival;
            if !may_win && !self.repeats_far {
                return None;
            }
        }
        Some(self.measure(candidate, WHOLE_PAGES))
    }

    /// Whether the sample of a trial is much shorter than the block.
    fn is_short(&self, trial: &Trial) -> bool {
        self.input.words.len() > 2 * trial.sample.n_ranges * trial.sample.len
    }

    fn score(&self, candidate: Candidate, ratio: f64) -> f64 {
        let Candidate { form, codec, .. } = candidate;
        self.input.plan(Compression { form, codec, ratio }).score(self.profile)
    }

    /// Whether the score at this ratio is below `margin` times the score to beat.
    fn may_win(&self, candidate: Candidate, ratio: f64, margin: f64) -> bool {
        self.score(candidate, ratio) < candidate.bound * margin
    }

    /// The score of LZ4 at this ratio, if LZ4 is the best so far.
    fn lz4_score(&self, form: Form, ratio: Option<f64>) -> f64 {
        match ratio {
            Some(ratio) if self.best.codec.0 == Codec::Lz4 => {
                self.input.plan(Compression { form, codec: self.best.codec, ratio }).score(self.profile)
            }
            _ => f64::INFINITY,
        }
    }

    /// The ratio of the candidate's codec in a sample.
    fn measure(&mut self, candidate: Candidate, sample: Sample) -> f64 {
        let Candidate { form, codec: (codec, level), .. } = candidate;
        let codecs = &mut *self.codecs;
        let stored_len = |payload: &[u8]| codecs.stored_len(codec, level, payload);
        self.input.ratio(form, sample, &mut self.payload, stored_len)
    }

    /// The ratio that an entropy coder would reach in a sample.
    fn entropy(&mut self, form: Form, sample: Sample) -> f64 {
        self.input.ratio(form, sample, &mut self.payload, entropy_len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::integers::{Kind, plan_words};
    use crate::dictionary::MIX;
    use crate::words::Order;

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
