//! Booleans: constant, or one bit each.

use entasis_format::{Codec, Filter, Packing};
use entasis_kernels::bits;

use crate::codec::Codecs;
use crate::plan::MIN_PAYLOAD;
use crate::profile::{Profile, cost};
use crate::word::sample_ranges;

/// How to store the booleans of a block: packing, the constant, codec.
pub(crate) fn plan(values: &[u8], profile: &Profile, codecs: &mut Codecs) -> (Packing, u64, (Codec, i32)) {
    let none = (Codec::None, 0);
    if !profile.is_raw() && values.iter().all(|&v| v == values[0]) {
        return (Packing::Constant, u64::from(values[0]), none);
    }
    let n = values.len() as f64;
    let mut sample = Vec::new();
    for range in sample_ranges(values.len(), 4, 8192) {
        bits::pack_bytes(&values[range], &mut sample);
    }
    let mut best = (profile.score(n / 8.0, 0.0), none);
    let is_worth_it = profile.compression >= 80 || sample.len() >= MIN_PAYLOAD;
    for &codec in profile.codecs.iter().filter(|_| is_worth_it) {
        let len = codecs.stored_len(codec.0, codec.1, &sample);
        let ratio = len as f64 / sample.len() as f64;
        let score = profile.score(n / 8.0 * ratio, n / 8.0 * cost::codec_byte(codec.0));
        if score < best.0 {
            best = (score, codec);
        }
    }
    (Packing::Raw, 0, best.1)
}

/// The filter of booleans: none, always.
pub(crate) const FILTER: Filter = Filter::None;
