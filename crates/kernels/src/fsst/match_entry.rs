//! What is found at a place of a text, in one word.

use bytemuck::Zeroable;

use super::ESCAPE;

/// What stands for the bytes at a place: a code, two of them, or an escape and the byte itself.
///
/// From the lowest byte on: how many bits of a word follow behind what has three bytes or more, and in the highest bit whether two
/// bytes are written; the first of these; the second one; how many bytes of the text they stand for (1 to 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(transparent)]
pub struct MatchEntry(u32);

/// Says that two bytes are written.
const TWO: u8 = 0x80;

impl MatchEntry {
    pub(super) const fn symbol(code: usize, len: usize) -> Self {
        Self(u32::from_le_bytes([(64 - 8 * len) as u8, code as u8, 0, len as u8]))
    }

    /// Two symbols, of `len` bytes together.
    pub(super) const fn pair([first, second]: [u8; 2], len: usize) -> Self {
        Self(u32::from_le_bytes([(64 - 8 * len) as u8 | TWO, first, second, len as u8]))
    }

    /// A byte for which there is no symbol.
    pub(super) const fn byte(byte: u8) -> Self {
        Self(u32::from_le_bytes([TWO, ESCAPE, byte, 1]))
    }

    /// How many bits of a word follow behind what has three bytes or more.
    #[inline(always)]
    pub(super) const fn other_bits(self) -> u32 {
        self.0 & 63
    }

    /// The first code, which is all for one symbol; that of escapes for a byte.
    #[inline(always)]
    pub const fn code(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// What is written, and how many bytes of it.
    #[inline(always)]
    pub(super) const fn written(self) -> ([u8; 2], usize) {
        let [flags, first, second, _] = self.0.to_le_bytes();
        ([first, second], 1 + (flags >> 7) as usize)
    }

    /// How many bytes it stands for, 1 to 8.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(self) -> usize {
        (self.0 >> 24) as usize
    }

    /// Whether it is a byte without a symbol.
    #[inline(always)]
    pub const fn is_byte(self) -> bool {
        self.code() == ESCAPE
    }
}

/// Writes what was found to the start of `out`, one after the other, and returns how many bytes these are.
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
