//! The match at a position of a text, packed in a word.

use bytemuck::Zeroable;

use super::ESCAPE;

/// The codes for the bytes at a position: one code, two codes, or an escape with its literal.
///
/// The bytes, from the lowest on:
/// - the number of bits of a 64-bit word beyond the match, in six bits; the highest bit is set if
///   two bytes are emitted
/// - the first byte to emit
/// - the second byte to emit
/// - the length of the match (1 to 8)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(transparent)]
pub struct MatchEntry(u32);

/// The flag for two emitted bytes.
const TWO: u8 = 0x80;

impl MatchEntry {
    pub(super) const fn symbol(code: usize, len: usize) -> Self {
        Self(u32::from_le_bytes([(64 - 8 * len) as u8, code as u8, 0, len as u8]))
    }

    /// A pair of symbols with `len` bytes together.
    pub(super) const fn pair([first, second]: [u8; 2], len: usize) -> Self {
        Self(u32::from_le_bytes([(64 - 8 * len) as u8 | TWO, first, second, len as u8]))
    }

    /// A literal byte.
    pub(super) const fn byte(byte: u8) -> Self {
        Self(u32::from_le_bytes([TWO, ESCAPE, byte, 1]))
    }

    /// The number of bits of a 64-bit word beyond the match.
    #[inline(always)]
    pub(super) const fn other_bits(self) -> u32 {
        self.0 & 63
    }

    /// The first code. It is the only one for a symbol, and the escape for a literal.
    #[inline(always)]
    pub const fn code(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The bytes to emit, and their number.
    #[inline(always)]
    pub(super) const fn written(self) -> ([u8; 2], usize) {
        let [flags, first, second, _] = self.0.to_le_bytes();
        ([first, second], 1 + (flags >> 7) as usize)
    }

    /// The length of the match, 1 to 8 bytes.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(self) -> usize {
        (self.0 >> 24) as usize
    }

    /// Whether the match is a literal.
    #[inline(always)]
    pub const fn is_byte(self) -> bool {
        self.code() == ESCAPE
    }
}

/// Writes the codes of `found` to the start of `out`, one match at a time, and returns their
/// length.
#[inline(always)]
pub(super) fn emit_each(found: &[MatchEntry], out: &mut [u8]) -> usize {
    let mut end = 0;
    for found in found {
        let (bytes, n) = found.written();
        out[end..end + 2].copy_from_slice(&bytes);
        end += n;
    }
    end
}
