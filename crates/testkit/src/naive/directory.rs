//! The directory of a block: its fixed part, parsed and checked.

use super::bytes::{Wrong, is_zero, known, rule, u32_at, u64_at, word};
use super::records::BlockRecord;
use super::types::{Type, is_var, physical, width};

/// The fixed part of a directory.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Packing, transform, codec, filter.
    pub encoding: [u8; 4],
    /// Width in bits.
    pub width: u32,
    pub(super) e: u8,
    pub(super) f: u8,
    /// Whether vectors have patches.
    pub patches: bool,
    /// Whether vectors have a base and width each.
    pub per_vector: bool,
    pub(super) validity: bool,
    /// The base.
    pub base: u128,
    pub(super) n_pages: u32,
    pub(super) n_dictionary: u32,
    pub(super) dictionary_stored_len: u32,
    pub(super) dictionary_payload_len: u32,
    pub(super) dictionary_checksum: u64,
}

/// Bytes of a word (W).
pub(super) fn word_len(encoding: [u8; 4], of: &Type) -> usize {
    match (encoding[0], encoding[1]) {
        (5 | 6, _) | (_, 1) => 4,
        _ if is_narrow(encoding, of) => 8,
        _ => width(of).unwrap_or(1),
    }
}

/// Whether values of 16 or 32 bytes are stored as words of 64 bits.
pub(super) fn is_narrow(encoding: [u8; 4], of: &Type) -> bool {
    let is_wide = [physical::I128, physical::U128, physical::I256].contains(&of.physical);
    is_wide && encoding[0] > 0 && encoding[1] == 0
}

impl Directory {
    /// The parameters of an example of `docs/format/examples.md`: the flags are *patches* and *per
    /// vector*.
    pub fn of_example(packing: u8, width: u32, base: u128, (patches, per_vector): (bool, bool)) -> Self {
        Self {
            encoding: [packing, 0, 0, 0],
            width,
            e: 0,
            f: 0,
            patches,
            per_vector,
            validity: false,
            base,
            n_pages: 1,
            n_dictionary: 0,
            dictionary_stored_len: 0,
            dictionary_payload_len: 0,
            dictionary_checksum: 0,
        }
    }

    pub(super) fn parse(bytes: &[u8], block: &BlockRecord, of: &Type) -> Result<Self, Wrong> {
        rule(bytes.len() >= 40, "the length of a directory")?;
        rule(bytes[..4] == block.encoding, "the encoding of a directory is its block's")?;
        known(bytes[7] & !7 == 0, "flags of a directory")?;
        let directory = Self {
            encoding: block.encoding,
            width: u32::from(bytes[4]),
            e: bytes[5],
            f: bytes[6],
            patches: bytes[7] & 1 != 0,
            per_vector: bytes[7] & 2 != 0,
            validity: bytes[7] & 4 != 0,
            base: word(bytes, 8, 8),
            n_pages: u32_at(bytes, 16),
            n_dictionary: u32_at(bytes, 20),
            dictionary_stored_len: u32_at(bytes, 24),
            dictionary_payload_len: u32_at(bytes, 28),
            dictionary_checksum: u64_at(bytes, 32),
        };
        let len = 40 + 24 * u64::from(directory.n_pages);
        rule((len..=len + 65_536).contains(&(bytes.len() as u64)), "the length of a directory")?;
        directory.check_encoding(of)?;
        directory.check_fields(bytes, of)?;
        Ok(directory)
    }

    /// Which packing, transform and filter go together on a type.
    fn check_encoding(&self, of: &Type) -> Result<(), Wrong> {
        let [packing, transform, _, filter] = self.encoding;
        let raw_alone = [physical::COMPLEX128, physical::LONG_DOUBLE, physical::FIXED].contains(&of.physical);
        let fits = match transform {
            0 if of.physical == physical::BOOL => packing <= 1,
            0 if is_var(of.physical) => packing == 5 || packing == 6,
            0 if raw_alone => packing == 0,
            0 => packing <= 4,
            1 => packing <= 4 && of.physical != physical::BOOL,
            _ => packing <= 4 && (of.physical == physical::F64 || of.physical == physical::F32),
        };
        rule(fits, "a packing or transform that the type does not allow")?;
        let word = word_len(self.encoding, of);
        let shuffles = packing == 0 && word > 1 && of.physical != physical::BOOL;
        rule(filter == 0 || shuffles, "byte shuffle goes with raw words of 2 bytes and more")?;
        let patches = packing == 2 && transform != 1 && !is_narrow(self.encoding, of);
        rule(!self.patches || patches, "patches go with bit-packing and without a dictionary")?;
        rule(!self.per_vector || packing == 2, "per vector goes with bit-packing")
    }

    /// Fields in their bounds, and zero where they are not used.
    fn check_fields(&self, bytes: &[u8], of: &Type) -> Result<(), Wrong> {
        let [packing, transform, ..] = self.encoding;
        let word = word_len(self.encoding, of);
        if packing <= 1 || self.per_vector {
            rule(self.width == 0, "width is zero where it is not used")?;
        }
        if packing == 0 || packing == 3 || self.per_vector {
            rule(self.base == 0, "base is zero where it is not used")?;
        }
        rule(self.width as usize <= 8 * word, "the width")?;
        rule(word >= 8 || self.base >> (8 * word) == 0, "base is a word, other bytes zero")?;
        rule(of.physical != physical::BOOL || self.base <= 1, "the base of bool is 0 or 1")?;
        if transform == 2 || transform == 3 {
            let (most, most_bits) = if of.physical == physical::F64 { (18, 12) } else { (10, 8) };
            rule(self.e <= most, "ALP exponents")?;
            rule(transform == 3 || self.f <= self.e, "ALP exponents")?;
            rule(transform == 2 || (1..=most_bits).contains(&self.f), "bits of a residual")?;
        } else {
            rule(self.e == 0 && self.f == 0, "ALP exponents without ALP")?;
        }
        if transform == 1 {
            rule((1..=65_536).contains(&self.n_dictionary), "the number of dictionary entries")
        } else {
            rule(is_zero(&bytes[20..40]), "dictionary fields without a dictionary")
        }
    }
}
