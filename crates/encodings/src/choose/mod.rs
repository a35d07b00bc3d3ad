//! The choice of an encoding: estimates of stored size and decoding time, compared by their score.

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

/// Codecs are tried on at least this many bytes; fewer are not worth the setup of a codec.
pub(crate) const MIN_PAYLOAD: usize = 2048;
/// Zstandard hardly ever gets below this share of the LZ4 output for the same bytes.
pub(crate) const ZSTD_OF_LZ4: f64 = 0.5;

/// The state that every choice works with.
pub(crate) struct Choices {
    pub profile: Profile,
    pub codecs: Codecs,
    pub hints: Hints,
    /// Finds FSST symbols.
    pub trainer: Trainer,
}

/// Findings from earlier blocks of the run.
#[derive(Default)]
pub(crate) struct Hints {
    pub words: CodecHint,
    pub codes: CodecHint,
    pub ints: CodecHint,
    pub bools: Option<BoolHint>,
    pub decimals: Option<Decimals>,
    /// The bytes per word of a block that kept patches for NaN instead of a residual that
    /// represents NaN.
    pub patched_nan: Option<f64>,
    pub text: Option<StringHint>,
    /// The symbols of string dictionaries.
    pub entries: SymbolHint,
    /// The symbols of the run, if it uses symbols.
    pub symbols: Option<Trained>,
    /// The symbols of the previous column of the same type.
    pub similar_symbols: Option<Trained>,
    /// The symbols of the whole column.
    pub shared: Option<Arc<SharedSymbols>>,
    /// Whether the shared symbols beat all codecs, so runs need not try codecs.
    pub no_codec: bool,
    pub text_ratio: Option<f64>,
    pub fixed: Option<(Filter, (Codec, i32), f64)>,
    pub dictionary_lost: bool,
    /// Whether hardly any value of the previous block repeats.
    pub unrepeated: bool,
}
