//! The choice for booleans: a constant, or one bit per value, which a codec may compress.

use entasis_format::{Codec, Filter, Packing};
use entasis_kernels::{bits, column_stats};

use super::MIN_PAYLOAD;
use crate::codec::Codecs;
use crate::profile::{Profile, cost};
use crate::words::sample_ranges;

/// The codec that won in an earlier block of the same run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoolHint {
    /// The number of runs of equal values, per value.
    runs: f64,
    codec: (Codec, i32),
}

/// Returns the packing, the constant and the codec for the booleans of a block. Codecs are tried
/// again when the mean length of runs has changed by more than a quarter.
pub(crate) fn plan(
    values: &[u8],
    profile: &Profile,
    codecs: &mut Codecs,
    hint: &mut Option<BoolHint>,
) -> (Packing, u64, (Codec, i32)) {
    let none = (Codec::None, 0);
    if profile.is_raw() {
        return (Packing::Raw, 0, none);
    }
    let n = values.len() as f64;
    let n_runs = column_stats::count_runs(values);
    if n_runs == 1 {
        return (Packing::Constant, u64::from(values[0]), none);
    }
    let runs = n_runs as f64 / n;
    if let Some(then) = hint.filter(|then| (runs / then.runs - 1.0).abs() < 0.25) {
        return (Packing::Raw, 0, then.codec);
    }
    let mut sample = Vec::new();
    for range in sample_ranges(values.len(), 4, 8192) {
        bits::pack_bytes(&values[range], &mut sample);
    }
    let mut best = (profile.score(n / 8.0, 0.0), none);
    let is_worth_it = profile.is_small() || sample.len() >= MIN_PAYLOAD;
    for &codec in profile.codecs.iter().filter(|_| is_worth_it) {
        let len = codecs.stored_len(codec.0, codec.1, &sample);
        let ratio = len as f64 / sample.len() as f64;
        let score = profile.score(n / 8.0 * ratio, n / 8.0 * cost::codec_byte(codec.0));
        if score < best.0 {
            best = (score, codec);
        }
    }
    *hint = Some(BoolHint { runs, codec: best.1 });
    (Packing::Raw, 0, best.1)
}

/// Booleans are never filtered.
pub(crate) const FILTER: Filter = Filter::None;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_tried_again_when_runs_change() {
        let profile = Profile::new(50).unwrap();
        let (mut codecs, mut hint) = (Codecs::new(), None);
        let mut plan = |values: &[u8]| plan(values, &profile, &mut codecs, &mut hint);
        let long: Vec<u8> = (0..65_536u32).map(|i| (i / 900 % 2) as u8).collect();
        let mut state = 1u64;
        let noise: Vec<u8> = (0..65_536)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 63) as u8
            })
            .collect();
        assert_eq!(plan(&[1; 100]), (Packing::Constant, 1, (Codec::None, 0)));
        assert_eq!(plan(&noise).2.0, Codec::None);
        assert_ne!(plan(&long).2.0, Codec::None);
        assert_eq!(plan(&noise).2.0, Codec::None);
    }
}
