//! How a block is encoded (`docs/format/encodings.md`).

use std::fmt;

use crate::error::{Error, Result};
use crate::types::{Layout, Physical};

codes! {
    /// The layout of a page's words.
    Packing: u8 {
        /// Unchanged.
        Raw = 0, "raw";
        /// One word, repeated.
        Constant = 1, "constant";
        /// Offsets from a base in as few bits as needed.
        BitPacked = 2, "bit-packed";
        /// Differences of neighbours, bit-packed.
        Delta = 3, "delta";
        /// Runs of equal words.
        RunLength = 4, "run-length";
        /// Lengths and bytes.
        Strings = 5, "strings";
        /// Lengths, and bytes as codes of symbols.
        Fsst = 6, "FSST";
    }
}

impl Packing {
    /// Whether it has lengths and bytes.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Strings | Self::Fsst)
    }
}

codes! {
    /// The meaning of the words.
    Transform: u8 {
        /// The values themselves.
        None = 0, "none";
        /// Codes of the block's dictionary.
        Dictionary = 1, "dictionary";
        /// Floats as decimals.
        Alp = 2, "ALP";
        /// Floats as decimals, with the distance from the decimal in units of the last place.
        Residual = 3, "ALP with residual";
    }
}

impl Transform {
    /// Whether the words are decimals.
    pub const fn is_decimal(self) -> bool {
        matches!(self, Self::Alp | Self::Residual)
    }
}

codes! {
    /// The codec of the payload.
    Codec: u8 {
        /// Nothing.
        None = 0, "none";
        /// LZ4 block format.
        Lz4 = 1, "lz4";
        /// One Zstandard frame.
        Zstd = 2, "zstd";
    }
}

codes! {
    /// The order of the bytes that the codec gets.
    Filter: u8 {
        /// Unchanged.
        None = 0, "none";
        /// Byte 0 of all values, then byte 1 of all, and so on.
        Shuffle = 1, "shuffle";
    }
}

/// How a block is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Encoding {
    /// The layout of the words.
    pub packing: Packing,
    /// The meaning of the words.
    pub transform: Transform,
    /// The codec of the payload.
    pub codec: Codec,
    /// The order of its bytes.
    pub filter: Filter,
}

impl Default for Encoding {
    fn default() -> Self {
        Self::new(Packing::Raw)
    }
}

impl fmt::Display for Encoding {
    /// The steps from values to bytes, such as "dictionary + bit-packed + zstd".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.transform != Transform::None {
            write!(f, "{} + ", self.transform)?;
        }
        write!(f, "{}", self.packing)?;
        if self.filter != Filter::None {
            write!(f, " + {}", self.filter)?;
        }
        if self.codec != Codec::None {
            write!(f, " + {}", self.codec)?;
        }
        Ok(())
    }
}

impl Encoding {
    /// A packing without transform, codec and filter.
    pub const fn new(packing: Packing) -> Self {
        Self { packing, transform: Transform::None, codec: Codec::None, filter: Filter::None }
    }

    /// The four codes, in the order of block records and directories.
    pub const fn codes(self) -> [u8; 4] {
        [self.packing.code(), self.transform.code(), self.codec.code(), self.filter.code()]
    }

    /// The encoding with these codes. An unknown code is an error of kind *unsupported* for its
    /// column alone.
    #[inline]
    pub fn from_codes(codes: [u8; 4]) -> Result<Self> {
        let [packing, transform, codec, filter] = codes;
        let known = (
            Packing::from_code(packing),
            Transform::from_code(transform),
            Codec::from_code(codec),
            Filter::from_code(filter),
        );
        match known {
            (Some(packing), Some(transform), Some(codec), Some(filter)) => {
                Ok(Self { packing, transform, codec, filter })
            }
            _ => Err(Error::unsupported(format!(
                "the encoding is unknown (packing {packing}, transform {transform}, codec {codec}, filter {filter})"
            ))
            .advise("update Entasis, or read other columns")),
        }
    }

    /// Bytes of a word (W in `docs/format/encodings.md`). None for bool, and for utf8 and binary
    /// without a dictionary, whose words are lengths of 4 bytes.
    pub fn word_len(self, of: impl Into<Layout>) -> Option<usize> {
        let of = of.into();
        match self.transform {
            Transform::Dictionary => Some(4),
            Transform::None if self.is_narrow(of) => Some(8),
            Transform::None | Transform::Alp | Transform::Residual => of.width(),
        }
    }

    /// Whether values are stored as words of 64 bits, which are sign-extended.
    pub fn is_narrow(self, of: impl Into<Layout>) -> bool {
        let is_wide = matches!(of.into().physical, Physical::I128 | Physical::U128 | Physical::I256);
        is_wide && self.transform == Transform::None && self.packing != Packing::Raw
    }

    /// Checks that this encoding fits values of this type.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check(self, of: impl Into<Layout>) -> Result<()> {
        let of = of.into();
        match self.problem(of) {
            None => Ok(()),
            Some(problem) => Err(Error::argument(format!("{self} on {}: {problem}", of.physical))),
        }
    }

    /// A contradiction in the encoding, if there is one.
    pub(crate) fn problem(self, of: impl Into<Layout>) -> Option<&'static str> {
        let of = of.into();
        use {Packing as P, Physical as T};
        match (self.transform, of.physical, self.packing) {
            (_, T::Null, _) => return Some("null columns have no blocks"),
            (Transform::None, T::Bool, P::Raw | P::Constant) => {}
            (Transform::None, T::Utf8 | T::Binary, P::Strings | P::Fsst) => {}
            (Transform::None, T::Complex128 | T::LongDouble | T::FixedBytes, P::Raw) => {}
            (Transform::None, T::I128 | T::U128 | T::I256, packing) if !packing.is_text() => {}
            // All others have words of 1 to 8 bytes (complex64 one of 8), whose bits are packed.
            (Transform::None, word, packing) if matches!(word.width(), Some(1..=8)) && !packing.is_text() => {
            }
            (Transform::None, ..) => return Some("the packing does not fit the type"),
            (Transform::Dictionary, T::Bool, _) => return Some("bool has no dictionary"),
            (Transform::Dictionary, _, P::Strings | P::Fsst) => {
                return Some("the codes of a dictionary are not strings");
            }
            (Transform::Dictionary, ..) => {}
            (Transform::Alp | Transform::Residual, T::F32 | T::F64, packing) if !packing.is_text() => {}
            (Transform::Alp | Transform::Residual, ..) => return Some("ALP is for f32 and f64"),
        }
        // The filter reorders words, whatever they mean.
        let shuffles = self.packing == P::Raw && self.word_len(of).is_some_and(|len| len > 1);
        if self.filter == Filter::Shuffle && !shuffles {
            return Some("shuffle is for raw words of 2 bytes or more");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn display() {
        let all = Encoding {
            packing: Packing::BitPacked,
            transform: Transform::Dictionary,
            codec: Codec::Zstd,
            filter: Filter::None,
        };
        assert_eq!(all.to_string(), "dictionary + bit-packed + zstd");
        assert_eq!(
            Encoding { filter: Filter::Shuffle, codec: Codec::Lz4, ..Encoding::default() }.to_string(),
            "raw + shuffle + lz4"
        );
        assert_eq!(Encoding::new(Packing::RunLength).to_string(), "run-length");
    }

    #[test]
    fn codes() {
        for &packing in Packing::ALL {
            for &transform in Transform::ALL {
                for &codec in Codec::ALL {
                    for &filter in Filter::ALL {
                        let encoding = Encoding { packing, transform, codec, filter };
                        assert_eq!(Encoding::from_codes(encoding.codes()).unwrap(), encoding);
                    }
                }
            }
        }
        for codes in [[7, 0, 0, 0], [0, 4, 0, 0], [0, 0, 3, 0], [0, 0, 0, 2], [255; 4]] {
            assert_eq!(Encoding::from_codes(codes).unwrap_err().kind(), Kind::Unsupported);
        }
    }

    #[test]
    fn combinations() {
        let packings = |transform, physical| {
            let legal = |packing: &&Packing| {
                Encoding { transform, ..Encoding::new(**packing) }.check(physical).is_ok()
            };
            Packing::ALL.iter().filter(legal).map(|packing| packing.code()).collect::<Vec<_>>()
        };
        use {Physical as P, Transform as T};
        assert_eq!(packings(T::None, P::Null), []);
        assert_eq!(packings(T::None, P::Bool), [0, 1]);
        assert_eq!(packings(T::None, P::I16), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::F16), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::Complex64), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::Complex128), [0]);
        assert_eq!(packings(T::None, P::I128), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::U128), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::I256), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::LongDouble), [0]);
        assert_eq!(packings(T::None, P::FixedBytes), [0]);
        assert_eq!(packings(T::Dictionary, P::FixedBytes), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::None, P::Utf8), [5, 6]);
        assert_eq!(packings(T::Dictionary, P::Bool), []);
        assert_eq!(packings(T::Dictionary, P::Binary), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::Dictionary, P::Complex128), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::Alp, P::F32), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::Alp, P::I64), []);
        assert_eq!(packings(T::Residual, P::F64), [0, 1, 2, 3, 4]);
        assert_eq!(packings(T::Residual, P::U32), []);
        let shuffle = Encoding { filter: Filter::Shuffle, ..Encoding::default() };
        for &physical in P::ALL {
            let width = Layout::from(physical).width();
            assert_eq!(shuffle.check(physical).is_ok(), width.is_some_and(|width| width > 1));
        }
        assert!(shuffle.check(Layout::fixed(1)).is_err());
        assert!(shuffle.check(Layout::fixed(3)).is_ok());
        assert!(Encoding { packing: Packing::Delta, ..shuffle }.check(P::I64).is_err());
        assert!(Encoding { transform: T::Dictionary, ..shuffle }.check(P::U8).is_ok());
        assert!(Encoding { transform: T::Alp, ..shuffle }.check(P::F32).is_ok());
    }
}
