//! The choice of an encoding: what each would store, and how long it would take to decode.

pub(crate) mod bools;
pub(crate) mod floats;
pub(crate) mod integers;
pub(crate) mod strings;

use std::sync::Arc;

use bools::BoolHint;
use entasis_format::{Codec, Filter};
use integers::CodecHint;
use strings::StringHint;

use crate::alp::Decimals;
use crate::codec::Codecs;
use crate::fsst::{SharedSymbols, Trained, Trainer};
use crate::profile::Profile;
use crate::string_dictionary::entries::SymbolHint;

/// Bytes that codecs are tried on at least: less is not worth the time to set one up.
pub(crate) const MIN_PAYLOAD: usize = 2048;
/// Zstandard hardly ever makes less than this share of what LZ4 makes of the same bytes.
pub(crate) const ZSTD_OF_LZ4: f64 = 0.5;

/// What every choice works with.
pub(crate) struct Choices {
    pub profile: Profile,
    pub codecs: Codecs,
    pub hints: Hints,
    /// Finds symbols of texts.
    pub trainer: Trainer,
}

/// What was found out in earlier blocks of a run.
#[derive(Default)]
pub(crate) struct Hints {
    pub words: CodecHint,
    pub codes: CodecHint,
    pub ints: CodecHint,
    pub bools: Option<BoolHint>,
    pub decimals: Option<Decimals>,
    pub text: Option<StringHint>,
    /// The symbols of dictionaries.
    pub entries: SymbolHint,
    /// The symbols of the run, when they are used.
    pub symbols: Option<Trained>,
    /// Those of a column beside.
    pub similar_symbols: Option<Trained>,
    /// Those of the whole column.
    pub shared: Option<Arc<SharedSymbols>>,
    /// Whether no codec does better than those, which need not be seen for each run.
    pub no_codec: bool,
    pub text_ratio: Option<f64>,
    pub fixed: Option<(Filter, (Codec, i32), f64)>,
    pub dictionary_lost: bool,
    /// Whether hardly any value of the block before is there twice.
    pub unrepeated: bool,
}
