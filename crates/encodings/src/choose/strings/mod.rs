//! The choice for the bytes of strings: unchanged, FSST codes, or a general codec.
//!
//! Symbols and codecs are tried on samples at fixed positions, once per run of blocks. Codecs are
//! tried once per column if it clearly needs none.

mod codec;
mod symbols;

use std::ops::RangeInclusive;

use entasis_format::Codec;
use entasis_kernels::VECTOR;

use super::{Choices, MIN_PAYLOAD};
use crate::profile::cost;
use crate::words::bits_of;

/// Codecs and symbols are tried on ranges of a block of this many bytes.
const SAMPLE: usize = 64 * 1024;

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

/// The best alternative to storing the strings themselves.
#[derive(Clone, Copy)]
pub(crate) struct Rival {
    /// Its score; infinite without an alternative.
    pub score: f64,
    /// Whether it is a dictionary. The symbols of its entries are then known.
    pub is_dictionary: bool,
}

/// The best plan after some trials.
struct Trials {
    best: StringPlan,
    /// Whether anything was tried. If not, the plan says nothing about later blocks.
    any: bool,
}

impl StringPlan {
    /// The plan without symbols or codec, for `n` strings with lengths in this range.
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

    /// The best of this plan, symbols and codecs. Symbols and codecs are tried only while they may
    /// beat `rival`.
    pub(crate) fn compressed(self, choices: &mut Choices, bytes: &[u8], rival: Rival) -> Self {
        if bytes.len() < 64 || (bytes.len() < MIN_PAYLOAD && choices.profile.compression < 80) {
            return self;
        }
        let light_len = self.len;
        let best = match choices.hints.text {
            Some(hint) => self.repeated(choices, bytes.len(), hint),
            None => {
                let trials = self.tried(choices, bytes, rival);
                if trials.any {
                    choices.hints.text = Some(trials.best.hint());
                }
                trials.best
            }
        };
        if choices.hints.text.is_some() {
            // The next block compares this ratio with its dictionary before it tries anything.
            choices.hints.text_ratio = Some(best.len / light_len);
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

    /// The best of this plan, symbols and codecs, by trials.
    fn tried(self, choices: &mut Choices, bytes: &[u8], rival: Rival) -> Trials {
        let by_symbols = self.with_symbols(choices, bytes, rival);
        if by_symbols.best.symbols && choices.hints.no_codec {
            return by_symbols;
        }
        let Choices { profile, codecs, .. } = choices;
        let by_codec = by_symbols.best.with_codec(profile, codecs, bytes, rival.score);
        Trials { any: by_symbols.any || by_codec.any, ..by_codec }
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

/// Bytes of `n` packed lengths, and of the start offsets of their vectors.
fn lengths_len(n: usize, width: u32) -> usize {
    n * width as usize / 8 + 4 * n.div_ceil(VECTOR)
}
