//! The choice of a packing for words: integers, dictionary codes or ALP integers.
//!
//! The sizes of lightweight packings are computed: one pass gives the range of every vector,
//! another the number of runs. General codecs are measured on a sample at fixed positions.

mod codec;
mod delta;
mod light;
mod patches;
mod plan;
mod repeats;
mod runs;

use entasis_kernels::Word;

pub(crate) use codec::CodecHint;
pub(crate) use light::{Kind, LightPlan, plan_light};
pub(crate) use patches::Exceptions;
pub(crate) use plan::WordPlan;
pub(crate) use repeats::repeats_far_back;
pub(crate) use runs::count_runs;

use crate::codec::Codecs;
use crate::profile::Profile;

/// Whether blocks with these bytes per word are similar enough for one choice.
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
