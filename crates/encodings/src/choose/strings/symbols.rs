//! The choice of FSST symbols for the bytes of strings.

use super::{Rival, SAMPLE, StringPlan, Trials};
use crate::choose::{Choices, Hints};
use crate::codec::Codecs;
use crate::fsst::{self, Matcher, Trained, Trainer};
use crate::limits::{PAGE, PAGE_LEN};
use crate::profile::{Profile, cost};
use crate::string_dictionary::entries::SymbolHint;
use crate::words::sample_ranges;

/// Ranges of a block at fixed positions.
struct Sample {
    n: usize,
    /// Bytes of each.
    len: usize,
}

/// The sample that shows whether a block resembles its column.
const SMALL_SAMPLE: Sample = Sample { n: 4, len: 4 * 1024 };
/// The sample that measures the symbols of a block.
const LARGE_SAMPLE: Sample = Sample { n: 1, len: SAMPLE };

/// Text hardly ever has symbols longer than four bytes on average, so symbols save at most this
/// share.
const MOST_SAVED: f64 = 3.0 / 4.0;

/// Symbols trained on the strings themselves may beat the dictionary's symbols by this factor.
const OWN_TO_DICTIONARY: f64 = 0.9;

/// A measured symbol table.
#[derive(Clone, Copy)]
struct SymbolStats {
    /// Bytes of codes per byte of strings.
    ratio: f64,
    /// Nanoseconds to decode a byte of strings.
    byte_cost: f64,
}

impl StringPlan {
    /// The better of this plan and a plan with symbols, trained on one sample and tried on another.
    pub(super) fn with_symbols(self, choices: &mut Choices, bytes: &[u8], rival: Rival) -> Trials {
        let Choices { profile, codecs, hints, trainer } = choices;
        let bound = rival.score.min(profile.score(self.len, self.ns));
        let candidate = Candidate { light: &self, bytes, profile, bound };
        if !candidate.is_worth_a_trial() {
            return Trials { best: self, any: false };
        }
        if rival.is_dictionary && candidate.loses_by_dictionary(&mut hints.entries) {
            return Trials { best: self, any: true };
        }
        let (trained, stats) = candidate.train(hints, trainer, codecs);
        let plan = candidate.plan(&trained.matcher, stats);
        if profile.score(plan.len, plan.ns) >= bound {
            trainer.recycle(trained.matcher);
            return Trials { best: self, any: true };
        }
        hints.symbols = Some(trained);
        Trials { best: plan, any: true }
    }

    /// Whether symbols clearly beat every codec for `bytes`. False if the input is too short to
    /// decide.
    fn symbols_beat_codecs(profile: &Profile, codecs: &mut Codecs, bytes: &[u8], stats: SymbolStats) -> bool {
        /// The margin that counts as clear.
        const CLEARLY: f64 = 1.1;
        if bytes.len() < SAMPLE {
            return false;
        }
        let plain = Self::light(1, bytes.len() as u32..=bytes.len() as u32, bytes);
        let (len, ns) = (plain.len * stats.ratio * CLEARLY, bytes.len() as f64 * stats.byte_cost * CLEARLY);
        let symbols = Self { symbols: true, len, ns, ..plain };
        symbols.with_codec(profile, codecs, bytes, f64::INFINITY).best.symbols
    }
}

/// Symbols for the strings of a block while they are tried.
struct Candidate<'a> {
    /// The plan without symbols.
    light: &'a StringPlan,
    bytes: &'a [u8],
    profile: &'a Profile,
    /// The score that symbols must beat.
    bound: f64,
}

impl Candidate<'_> {
    /// Whether the best possible symbols for text would win.
    fn is_worth_a_trial(&self) -> bool {
        let least = self.light.len - self.bytes.len() as f64 * MOST_SAVED;
        self.bytes.len() >= fsst::MIN_LEN
            && !self.profile.is_raw()
            && self.profile.score(least, self.ns(cost::FSST_BYTE)) < self.bound
    }

    /// Whether the symbols of the dictionary are so poor that training others is not worth the
    /// time.
    fn loses_by_dictionary(&self, entries: &mut SymbolHint) -> bool {
        let SymbolHint::Use(trained, _) = entries else { return false };
        let ratio = self.measure(&mut trained.matcher, LARGE_SAMPLE);
        let len = self.len(&trained.matcher, ratio * OWN_TO_DICTIONARY);
        self.profile.score(len, self.ns(cost::FSST_BYTE)) >= self.bound
    }

    /// The symbols of the column if the block resembles it, else the best symbols for the block.
    fn train(&self, hints: &mut Hints, trainer: &mut Trainer, codecs: &mut Codecs) -> (Trained, SymbolStats) {
        let of_column = hints.shared.take().and_then(|shared| {
            let beats_codecs = |bytes: &[u8], ratio, byte_cost| {
                let stats = SymbolStats { ratio, byte_cost };
                StringPlan::symbols_beat_codecs(self.profile, codecs, bytes, stats)
            };
            let mut ratio = |matcher: &mut Matcher| self.measure(matcher, SMALL_SAMPLE);
            shared.get(trainer, self.profile, &mut ratio, beats_codecs)
        });
        let (trained, ratio) = match of_column {
            Some((shared, ratio)) => {
                hints.no_codec = shared.no_codec;
                (shared.trained, ratio)
            }
            None => {
                let similar = hints.similar_symbols.take();
                let ratio = |matcher: &mut Matcher| self.measure(matcher, LARGE_SAMPLE);
                trainer.best_for(self.profile, self.bytes, similar, ratio)
            }
        };
        let byte_cost = trained.matcher.byte_cost();
        (trained, SymbolStats { ratio, byte_cost })
    }

    /// The plan with these symbols.
    fn plan(&self, matcher: &Matcher, stats: SymbolStats) -> StringPlan {
        let (len, ns) = (self.len(matcher, stats.ratio), self.ns(stats.byte_cost));
        StringPlan { symbols: true, len, ns, ..*self.light }
    }

    /// Stored bytes with these symbols, including a symbol table per page.
    fn len(&self, matcher: &Matcher, ratio: f64) -> f64 {
        let bytes_len = self.bytes.len() as f64;
        let n_tables = self.bytes.len().div_ceil(PAGE_LEN).max(self.light.n.div_ceil(PAGE)) as f64;
        self.light.len - bytes_len + bytes_len * ratio + n_tables * matcher.heads_len() as f64
    }

    /// Nanoseconds to decode all strings.
    fn ns(&self, byte_cost: f64) -> f64 {
        self.light.ns + self.bytes.len() as f64 * byte_cost
    }

    /// The ratio of codes to bytes in a sample.
    fn measure(&self, matcher: &mut Matcher, sample: Sample) -> f64 {
        let (mut before, mut after) = (0, 0);
        for range in sample_ranges(self.bytes.len(), sample.n, sample.len) {
            before += range.len();
            after += matcher.codes_len(&self.bytes[range]);
        }
        after as f64 / before as f64
    }
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
            let stats = SymbolStats { ratio: 0.55, byte_cost: cost::FSST_BYTE };
            StringPlan::symbols_beat_codecs(&profile, &mut Codecs::new(), bytes, stats)
        };
        let (unlike, again) = (texts(SAMPLE, &mixed), texts(SAMPLE, &|i| mixed(i % 200)));
        assert!(beats(Profile::DEFAULT, &unlike));
        assert!(!beats(Profile::DEFAULT, &again));
        // Without codecs, and with too few bytes to try them on.
        assert!(beats(30, &again));
        assert!(!beats(Profile::DEFAULT, &unlike[1..]) && !beats(Profile::DEFAULT, &[]));
    }
}
