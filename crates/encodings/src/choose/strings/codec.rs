//! The choice of a general codec for the bytes of strings.

use entasis_format::Codec;

use super::{SAMPLE, StringPlan, Trials, lengths_len};
use crate::choose::ZSTD_OF_LZ4;
use crate::codec::Codecs;
use crate::profile::{Profile, cost};
use crate::words::sample_ranges;

/// A codec must pass this trial on one range of a block before longer ranges are tried.
struct ShortTrial {
    /// Bytes of the range.
    len: usize,
    /// The allowed ratio of the codec's score to the best score. It exceeds 1 because codecs find
    /// more matches in longer inputs.
    margin: f64,
}

const SHORT_TRIALS: [ShortTrial; 2] =
    [ShortTrial { len: 4 * 1024, margin: 1.7 }, ShortTrial { len: 16 * 1024, margin: 1.3 }];
/// The last trial has this many ranges of [`SAMPLE`] bytes.
const N_RANGES: usize = 2;
/// The last trial stops after its first range if the score is this many times the score to beat.
const FIRST_RANGE_MARGIN: f64 = 1.1;

impl StringPlan {
    /// The best of this plan and plans with codecs. A codec is tried only while its score may get
    /// below `bound`.
    pub(super) fn with_codec(
        self,
        profile: &Profile,
        codecs: &mut Codecs,
        bytes: &[u8],
        bound: f64,
    ) -> Trials {
        let mut trials = Trials { best: self, any: false };
        // The ratio of LZ4 in its last short trial.
        let mut lz4_ratio = 0.0;
        for &codec in profile.codecs {
            let score = profile.score(trials.best.len, trials.best.ns);
            let under = trials.best.under(codec, bytes.len());
            let mut candidate = Candidate { under, profile, codecs, bytes, bound: bound.min(score) };
            let least = if codec.0 == Codec::Zstd { lz4_ratio * ZSTD_OF_LZ4 } else { 0.0 };
            if !candidate.may_win(least, 1.0) {
                continue;
            }
            trials.any = true;
            if bytes.len() > SAMPLE {
                let short = candidate.try_short();
                if codec.0 == Codec::Lz4 {
                    lz4_ratio = short.ratio;
                }
                if !short.may_win {
                    continue;
                }
            }
            let plan = candidate.into_plan();
            if profile.score(plan.len, plan.ns) < score {
                trials.best = plan;
            }
        }
        trials
    }

    /// This plan with a codec whose ratio is not known yet.
    pub(super) fn under(&self, codec: (Codec, i32), bytes_len: usize) -> Self {
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
}

/// A codec while it is tried.
struct Candidate<'a> {
    /// The plan with the codec, for a ratio of 1.
    under: StringPlan,
    profile: &'a Profile,
    codecs: &'a mut Codecs,
    bytes: &'a [u8],
    /// The score that the codec must beat.
    bound: f64,
}

/// The result of the short trials of a codec.
struct ShortTrials {
    /// The ratio of the last one.
    ratio: f64,
    /// Whether all of them were passed.
    may_win: bool,
}

impl Candidate<'_> {
    /// Whether the score at this ratio is below `margin` times the score to beat.
    fn may_win(&self, ratio: f64, margin: f64) -> bool {
        self.profile.score(self.under.len * ratio, self.under.ns) < self.bound * margin
    }

    fn try_short(&mut self) -> ShortTrials {
        let mut trials = ShortTrials { ratio: 0.0, may_win: true };
        for trial in &SHORT_TRIALS {
            let ratio = self.measure(1, trial.len);
            trials = ShortTrials { ratio, may_win: self.may_win(ratio, trial.margin) };
            if !trials.may_win {
                break;
            }
        }
        trials
    }

    /// The plan with the codec, at the ratio of the last trial.
    fn into_plan(mut self) -> StringPlan {
        let len = self.under.len * self.measure(N_RANGES, SAMPLE);
        StringPlan { len, ..self.under }
    }

    /// The codec's ratio in ranges of `len` bytes. Stops early once the codec can no longer win.
    fn measure(&mut self, n_ranges: usize, len: usize) -> f64 {
        let (codec, level) = self.under.codec;
        let (mut before, mut after) = (0, 0);
        for range in sample_ranges(self.bytes.len(), n_ranges, len) {
            if before > 0 && !self.may_win(after as f64 / before as f64, FIRST_RANGE_MARGIN) {
                break;
            }
            before += range.len();
            after += self.codecs.stored_len(codec, level, &self.bytes[range]);
        }
        after as f64 / before as f64
    }
}
