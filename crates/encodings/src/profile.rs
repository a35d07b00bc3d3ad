//! The meaning of a compression setting from 0 to 100.

use entasis_format::{Codec, Error, Result};

/// The encodings that an encoder may use, and the value of decoding time in stored bytes.
///
/// The setting determines one number, [`bytes_per_ns`](Self::bytes_per_ns). Of two encodings the
/// encoder chooses the one with the smaller `size + bytes_per_ns x decoding time`. A smaller number
/// gives smaller files that take longer to read. Decoding times come from a model and codecs are
/// tested on a sample, so a higher setting can give a slightly larger block.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The setting, 0 to 100.
    pub compression: u8,
    /// The number of stored bytes that one nanosecond of decoding is worth.
    pub bytes_per_ns: f64,
    /// The general codecs that the encoder may try, with their levels.
    pub codecs: &'static [(Codec, i32)],
}

impl Profile {
    /// The default setting.
    pub const DEFAULT: u8 = 50;

    /// The profile of a setting.
    ///
    /// | setting | encodings | codecs |
    /// |---|---|---|
    /// | 0 | raw | none |
    /// | 1..=24 | lightweight; those that cost time must save much | none |
    /// | 25..=49 | lightweight | none |
    /// | 50 | lightweight | LZ4 or Zstandard 1 where they save much |
    /// | 51..=79 | lightweight | LZ4 or Zstandard 1 to 9, time weighs less and less |
    /// | 80..=100 | all, tried for each block | Zstandard 12 to 19, time weighs little |
    ///
    /// From 50 on, repeated patches (for example NaN among decimals) may be compressed by LZ4 at
    /// any setting.
    ///
    /// # Errors
    /// *Argument* above 100.
    pub fn new(compression: u8) -> Result<Self> {
        let codecs: &'static [(Codec, i32)] = match compression {
            0..=49 => &[],
            50..=61 => &[(Codec::Lz4, 0), (Codec::Zstd, 1)],
            62..=67 => &[(Codec::Lz4, 0), (Codec::Zstd, 3)],
            68..=73 => &[(Codec::Lz4, 0), (Codec::Zstd, 6)],
            74..=79 => &[(Codec::Lz4, 0), (Codec::Zstd, 9)],
            80..=89 => &[(Codec::Zstd, 12)],
            90..=99 => &[(Codec::Zstd, 16)],
            100 => &[(Codec::Zstd, 19)],
            _ => {
                return Err(Error::argument(format!(
                    "compression is a number from 0 to 100, not {compression}"
                )));
            }
        };
        let setting = f64::from(compression);
        let bytes_per_ns = match compression {
            0 => f64::INFINITY,
            1..=24 => 4.0,
            25..=49 => 1.0,
            50..=79 => 0.5 - 0.45 * (setting - 50.0) / 29.0,
            _ => 0.02,
        };
        Ok(Self { compression, bytes_per_ns, codecs })
    }

    /// Whether the setting is 0, at which only raw values are written.
    pub fn is_raw(&self) -> bool {
        self.compression == 0
    }

    /// Whether size matters much more than time. If so, every block tries all encodings.
    pub(crate) fn is_small(&self) -> bool {
        self.compression >= 80
    }

    /// The score of an encoding, lower is better: its size plus its decoding time converted to
    /// bytes.
    pub(crate) fn score(&self, len: f64, decode_ns: f64) -> f64 {
        len + self.bytes_per_ns * decode_ns
    }
}

/// The cost model: decoding times in nanoseconds per value or, for names that end in `BYTE`, per
/// byte of payload. The table is fixed for a release, so that files do not depend on the machine.
pub(crate) mod cost {
    use entasis_format::Codec;

    pub(crate) const BIT_PACKED: f64 = 0.08;
    pub(crate) const PATCHES: f64 = 0.03;
    pub(crate) const PER_VECTOR: f64 = 0.02;
    pub(crate) const DELTA: f64 = 0.35;
    pub(crate) const RUN_LENGTH: f64 = 0.1;
    pub(crate) const RUN: f64 = 4.0;
    pub(crate) const DICTIONARY: f64 = 0.25;
    pub(crate) const ALP: f64 = 0.25;
    pub(crate) const SHUFFLE_BYTE: f64 = 0.04;
    pub(crate) const LITERAL_BYTE: f64 = 0.03;
    pub(crate) const FSST_BYTE: f64 = 0.3;
    /// Digrams decode in about two fifths of the time of longer symbols.
    pub(crate) const DIGRAM_BYTE: f64 = 0.12;

    /// The cost of LZ4 for words, per decoded and per stored byte. Long matches are fast copies.
    const LZ4_OUT: f64 = 0.05;
    const LZ4_IN: f64 = 0.5;

    /// The time for words of `len` bytes that take `stored` bytes in the file.
    pub(crate) fn codec(codec: Codec, len: f64, stored: f64) -> f64 {
        let by_length = len * codec_byte(codec);
        match codec {
            Codec::Lz4 => by_length.min(len * LZ4_OUT + stored * LZ4_IN),
            _ => by_length,
        }
    }

    pub(crate) fn codec_byte(codec: Codec) -> f64 {
        match codec {
            Codec::None => 0.0,
            Codec::Lz4 => 0.3,
            Codec::Zstd => 0.75,
        }
    }
}
