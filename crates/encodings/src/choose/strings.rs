//! The choice for the bytes of strings: unchanged, FSST codes, or a general codec.
//!
//! Symbols and codecs are tried on samples at fixed positions, once per run of blocks. If a column
//! clearly needs no codec, they are tried once per column.

use std::ops::RangeInclusive;

use entasis_format::Codec;
use entasis_kernels::VECTOR;

use super::{Choices, MIN_PAYLOAD, ZSTD_OF_LZ4};
use crate::codec::Codecs;
use crate::fsst::{self, Matcher};
use crate::limits::{PAGE, PAGE_LEN};
use crate::profile::{Profile, cost};
use crate::string_dictionary::entries::SymbolHint;
use crate::words::{bits_of, sample_ranges};

/// Codecs are tried on two pieces of a block of this many bytes.
const SAMPLE: usize = 64 * 1024;
/// Smaller trials that a codec must pass first: bytes of the piece, and the allowed ratio of its
/// score to the best score. The ratio exceeds 1 because codecs find more matches in longer pieces.
const FIRST_TRIALS: [(usize, f64); 2] = [(4 * 1024, 1.7), (16 * 1024, 1.3)];
/// The allowed ratio after the first of the two pieces.
const FIRST_PIECE: f64 = 1.1;

/// The number of pieces of a block, and the bytes of each, that show whether the block resembles
/// its column.
const SMALL_SAMPLE: (usize, usize) = (4, 4 * 1024);

/// Symbols trained on the strings themselves may beat those of their dictionary by this factor.
const OWN_TO_DICTIONARY: f64 = 0.9;

/// How to store lengths and bytes.
pub(crate) struct StringPlan {
    n: usize,
    pub base: u32,
    pub width: u32,
    /// Whether the bytes become FSST codes.
    pub symbols: bool,
    pub codec: (Codec, i32),
    /// Estimated stored bytes.
    pub len: f64,
    /// Estimated nanoseconds to decode all strings.
    pub ns: f64,
}

impl StringPlan {
    /// The plan without symbols and codec, for `n` strings with lengths in this range.
    pub(crate) fn light(n: usize, lengths: RangeInclusive<u32>, bytes: &[u8]) -> Self {
        let width = bits_of(lengths.end() - lengths.start());
        Self {
            n,
            base: *lengths.start(),
            width,
            symbols: false,
            codec: (Codec::None, 0),
            len: (bytes.len() + lengths_len(n, width)) as f64,
            ns: n as f64 * cost::BIT_PACKED,
        }
    }

    /// The best of this plan, of symbols and of codecs; each is tried only while its score may get
    /// below `bound`. `planned` says that the symbols for a dictionary of the same strings are
    /// known.
    pub(crate) fn compressed(self, choices: &mut Choices, bytes: &[u8], bound: f64, planned: bool) -> Self {
        if bytes.len() < 64 || (bytes.len() < MIN_PAYLOAD && choices.profile.compression < 80) {
            return self;
        }
        let light = self.len;
        let best = match choices.hints.text {
            Some(hint) => self.repeated(choices, bytes.len(), hint),
            None => {
                let mut tried = false;
                let best = self.with_symbols(choices, bytes, (bound, planned), &mut tried);
                let is_settled = best.symbols && choices.hints.no_codec;
                let best = match is_settled {
                    true => best,
                    false => best.with_codec(&choices.profile, &mut choices.codecs, bytes, bound, &mut tried),
                };
                if tried {
                    choices.hints.text = Some(best.hint());
                }
                best
            }
        };
        if choices.hints.text.is_some() {
            // The next block compares its dictionary with this ratio before it tries anything.
            choices.hints.text_ratio = Some(best.len / light);
        }
        best
    }

    /// The plan that won in the previous block.
    fn repeated(self, choices: &Choices, bytes_len: usize, hint: StringHint) -> Self {
        let ratio = choices.hints.text_ratio.unwrap_or(1.0);
        let symbols = choices.hints.symbols.as_ref();
        let byte_cost = symbols.map_or(cost::FSST_BYTE, |trained| trained.matcher.byte_cost());
        match hint {
            StringHint::Light => self,
            StringHint::Symbols => Self {
                symbols: true,
                len: self.len * ratio,
                ns: self.ns + bytes_len as f64 * byte_cost,
                ..self
            },
            StringHint::Codec(codec) => Self { len: self.len * ratio, ..self.under(codec, bytes_len) },
        }
    }

    /// A plan with a codec, before its ratio is known.
    fn under(&self, codec: (Codec, i32), bytes_len: usize) -> Self {
        let aligned = if self.width == 0 { 0 } else { self.width.next_multiple_of(8).next_power_of_two() };
        let payload = (bytes_len + lengths_len(self.n, aligned)) as f64;
        Self {
            n: self.n,
            base: self.base,
            width: aligned,
            symbols: false,
            codec,
            len: payload,
            ns: payload * cost::codec_byte(codec.0),
        }
    }

    /// The better of this plan and of symbols that are trained on one sample and tried on another.
    fn with_symbols(
        self,
        choices: &mut Choices,
        bytes: &[u8],
        (bound, planned): (f64, bool),
        tried: &mut bool,
    ) -> Self {
        let ns = self.ns + bytes.len() as f64 * cost::FSST_BYTE;
        let profile = &choices.profile;
        // Text hardly ever has symbols longer than four bytes on average.
        let least = self.len - bytes.len() as f64 * 3.0 / 4.0;
        let bound = bound.min(profile.score(self.len, self.ns));
        if bytes.len() < fsst::MIN_LEN || profile.is_raw() || profile.score(least, ns) >= bound {
            return self;
        }
        *tried = true;
        let ratio_of = |pieces: usize, len: usize, matcher: &mut Matcher| {
            let (mut before, mut after) = (0, 0);
            for range in sample_ranges(bytes.len(), pieces, len) {
                before += range.len();
                after += matcher.codes_len(&bytes[range]);
            }
            after as f64 / before as f64
        };
        let ratio_by = |matcher: &mut Matcher| ratio_of(1, SAMPLE, matcher);
        let n_tables = bytes.len().div_ceil(PAGE_LEN).max(self.n.div_ceil(PAGE)) as f64;
        let len_by = |matcher: &Matcher, ratio: f64| {
            let codes = bytes.len() as f64 * ratio;
            self.len - bytes.len() as f64 + codes + n_tables * matcher.heads_len() as f64
        };
        // If the symbols of the dictionary do too poorly, training others is not worth its time.
        if planned && let SymbolHint::Use(trained, _) = &mut choices.hints.entries {
            let ratio = ratio_by(&mut trained.matcher);
            if profile.score(len_by(&trained.matcher, ratio * OWN_TO_DICTIONARY), ns) >= bound {
                return self;
            }
        }
        let (trainer, codecs) = (&mut choices.trainer, &mut choices.codecs);
        let of_column = choices.hints.shared.take().and_then(|shared| {
            let beats = |bytes: &[u8], ratio, byte_cost| {
                Self::beats_codecs(profile, codecs, bytes, (ratio, byte_cost))
            };
            let mut glance = |matcher: &mut Matcher| ratio_of(SMALL_SAMPLE.0, SMALL_SAMPLE.1, matcher);
            shared.get(trainer, profile, &mut glance, beats)
        });
        let (trained, ratio) = match of_column {
            Some((shared, ratio)) => {
                choices.hints.no_codec = shared.no_codec;
                (shared.trained, ratio)
            }
            None => trainer.best_for(profile, bytes, choices.hints.similar_symbols.take(), ratio_by),
        };
        let len = len_by(&trained.matcher, ratio);
        let ns = self.ns + bytes.len() as f64 * trained.matcher.byte_cost();
        if profile.score(len, ns) >= bound {
            choices.trainer.recycle(trained.matcher);
            return self;
        }
        choices.hints.symbols = Some(trained);
        Self { symbols: true, len, ns, ..self }
    }

    /// Whether symbols clearly beat every codec for `bytes`, given the ratio and the nanoseconds
    /// per byte of their codes. False for inputs that are too short to tell.
    fn beats_codecs(
        profile: &Profile,
        codecs: &mut Codecs,
        bytes: &[u8],
        (ratio, byte_cost): (f64, f64),
    ) -> bool {
        /// The margin that counts as clear.
        const CLEARLY: f64 = 1.1;
        if bytes.len() < SAMPLE {
            return false;
        }
        let plain = Self::light(1, bytes.len() as u32..=bytes.len() as u32, bytes);
        let (len, ns) = (plain.len * ratio * CLEARLY, bytes.len() as f64 * byte_cost * CLEARLY);
        let symbols = Self { symbols: true, len, ns, ..plain };
        symbols.with_codec(profile, codecs, bytes, f64::INFINITY, &mut false).symbols
    }

    /// The best of this plan and of codecs.
    fn with_codec(
        self,
        profile: &Profile,
        codecs: &mut Codecs,
        bytes: &[u8],
        bound: f64,
        tried: &mut bool,
    ) -> Self {
        let mut best = self;
        let mut by_lz4 = 0.0;
        for &codec in profile.codecs {
            let bound = bound.min(profile.score(best.len, best.ns));
            let under = best.under(codec, bytes.len());
            let may_win = |ratio: f64, hope: f64| profile.score(under.len * ratio, under.ns) < bound * hope;
            // Stop early once this codec can no longer win.
            let mut ratio_of = |pieces, len| {
                let (mut before, mut after) = (0, 0);
                for range in sample_ranges(bytes.len(), pieces, len) {
                    if before > 0 && !may_win(after as f64 / before as f64, FIRST_PIECE) {
                        break;
                    }
                    before += range.len();
                    after += codecs.stored_len(codec.0, codec.1, &bytes[range]);
                }
                after as f64 / before as f64
            };
            let least = if codec.0 == Codec::Zstd { by_lz4 * ZSTD_OF_LZ4 } else { 0.0 };
            if !may_win(least, 1.0) {
                continue;
            }
            *tried = true;
            if bytes.len() > SAMPLE {
                let mut hopeless = |&(len, hope): &(usize, f64)| {
                    let ratio = ratio_of(1, len);
                    if codec.0 == Codec::Lz4 {
                        by_lz4 = ratio;
                    }
                    !may_win(ratio, hope)
                };
                if FIRST_TRIALS.iter().any(&mut hopeless) {
                    continue;
                }
            }
            let plan = Self { len: under.len * ratio_of(2, SAMPLE), ..under };
            if profile.score(plan.len, plan.ns) < profile.score(best.len, best.ns) {
                best = plan;
            }
        }
        best
    }

    fn hint(&self) -> StringHint {
        match self {
            Self { symbols: true, .. } => StringHint::Symbols,
            Self { codec: (Codec::None, _), .. } => StringHint::Light,
            Self { codec, .. } => StringHint::Codec(*codec),
        }
    }
}

/// The plan that won for the bytes of strings in an earlier block of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StringHint {
    Light,
    Symbols,
    Codec((Codec, i32)),
}

/// Bytes of the packed lengths of `n` strings, with the start offsets of their vectors.
fn lengths_len(n: usize, width: u32) -> usize {
    n * width as usize / 8 + 4 * n.div_ceil(VECTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_surpass_codecs_where_nothing_long_comes_again() {
        let mixed = |i: usize| (i as u64).wrapping_mul(crate::dictionary::MIX) >> 40;
        let texts = |len: usize, word: &dyn Fn(usize) -> u64| -> Vec<u8> {
            let words = (0..len).flat_map(|i| format!("{:x} ", word(i)).into_bytes());
            words.take(len).collect()
        };
        let beats = |compression, bytes: &[u8]| {
            let profile = Profile::new(compression).unwrap();
            StringPlan::beats_codecs(&profile, &mut Codecs::new(), bytes, (0.55, cost::FSST_BYTE))
        };
        let (unlike, again) = (texts(SAMPLE, &mixed), texts(SAMPLE, &|i| mixed(i % 200)));
        assert!(beats(Profile::DEFAULT, &unlike));
        assert!(!beats(Profile::DEFAULT, &again));
        // Without codecs, and with too few bytes to try them on.
        assert!(beats(30, &again));
        assert!(!beats(Profile::DEFAULT, &unlike[1..]) && !beats(Profile::DEFAULT, &[]));
    }
}
