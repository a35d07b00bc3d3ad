//! Values from their forms in blocks.
//!
//! Of each group of values, the forms have those with even numbers in the low half of words of 8
//! bytes, those with odd numbers in the high half, and both from the last value to the first. So
//! shifts give pairs of neighbouring values of 4 bytes.

/// The form of values in the compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As in memory.
    Plain,
    /// Planes of bytes of words of 4 bytes.
    Planes4,
    /// Planes of bytes of words of 8 bytes.
    Planes8,
    /// 32 logicals in 8 bytes.
    Logicals,
    /// Codes of factors in one byte.
    Bytes,
    /// Codes of factors in two bytes.
    Shorts,
}

impl Form {
    /// The bytes of `n` values of `width` bytes in memory.
    pub(super) fn stored_len(self, n: usize, width: usize) -> usize {
        match self {
            Self::Plain | Self::Planes4 | Self::Planes8 => n * width,
            Self::Logicals => n.div_ceil(32) * 8,
            Self::Bytes => n.div_ceil(8) * 8,
            Self::Shorts => n.div_ceil(4) * 8,
        }
    }
}

/// A bit in each half of a word.
const HALVES: u64 = 1 << 32 | 1;

/// Values as in memory. `stored` has the length that belongs to `into`.
pub(super) fn unpack(stored: &[u8], form: Form, into: &mut [u8]) {
    match form {
        Form::Plain => into.copy_from_slice(stored),
        Form::Planes4 => planes_4(stored, into),
        Form::Planes8 => planes_8(stored, into),
        Form::Logicals => groups::<128>(stored, into, logicals),
        Form::Bytes => groups::<32>(stored, into, bytes),
        Form::Shorts => groups::<16>(stored, into, shorts),
    }
}

/// Planes from the most significant byte down, each with 8 bytes for 8 words, the last word first.
fn planes_8(stored: &[u8], into: &mut [u8]) {
    let (groups, rest) = into.as_chunks_mut::<64>();
    let n = groups.len();
    let (planes, tail) = stored.split_at(n * 64);
    let (planes, _) = planes.as_chunks::<8>();
    for (i, group) in groups.iter_mut().enumerate() {
        let mut rows = [0; 8];
        for (byte, row) in rows.iter_mut().enumerate() {
            *row = u64::from_be_bytes(planes[(7 - byte) * n + i]);
        }
        // Transposes bytes: those of halves, of quarters, and of neighbours.
        for i in 0..4 {
            swap(&mut rows, i, i + 4, 32, 0xFFFF_FFFF);
        }
        for i in [0, 1, 4, 5] {
            swap(&mut rows, i, i + 2, 16, 0x0000_FFFF_0000_FFFF);
        }
        for i in [0, 2, 4, 6] {
            swap(&mut rows, i, i + 1, 8, 0x00FF_00FF_00FF_00FF);
        }
        let (words, _) = group.as_chunks_mut::<8>();
        for (word, row) in words.iter_mut().zip(rows) {
            *word = row.to_le_bytes();
        }
    }
    rest.copy_from_slice(tail);
}

/// Planes from the most significant byte down, each with 8 bytes for 8 words of 4 bytes.
fn planes_4(stored: &[u8], into: &mut [u8]) {
    let (groups, rest) = into.as_chunks_mut::<32>();
    let n = groups.len();
    let (planes, tail) = stored.split_at(n * 32);
    let (planes, _) = planes.as_chunks::<8>();
    for (i, group) in groups.iter_mut().enumerate() {
        let mut rows = [0; 4];
        for (byte, row) in rows.iter_mut().enumerate() {
            *row = u64::from_le_bytes(planes[(3 - byte) * n + i]);
        }
        swap(&mut rows, 0, 2, 16, 0x0000_FFFF_0000_FFFF);
        swap(&mut rows, 1, 3, 16, 0x0000_FFFF_0000_FFFF);
        swap(&mut rows, 0, 1, 8, 0x00FF_00FF_00FF_00FF);
        swap(&mut rows, 2, 3, 8, 0x00FF_00FF_00FF_00FF);
        let (pairs, _) = group.as_chunks_mut::<8>();
        for (pair, row) in pairs.iter_mut().rev().zip(rows) {
            *pair = row.to_le_bytes();
        }
    }
    rest.copy_from_slice(tail);
}

/// Exchanges the high part of each field of row `i` with the low part of row `j`.
#[inline(always)]
fn swap<const N: usize>(rows: &mut [u64; N], i: usize, j: usize, shift: u32, low: u64) {
    let differ = (rows[i] >> shift ^ rows[j]) & low;
    rows[j] ^= differ;
    rows[i] ^= differ << shift;
}

/// Decodes words of 8 bytes to groups of `N` bytes. The last group may be shorter.
fn groups<const N: usize>(stored: &[u8], into: &mut [u8], decode: impl Fn(u64, &mut [[u8; 8]])) {
    let (words, _) = stored.as_chunks::<8>();
    let (groups, rest) = into.as_chunks_mut::<N>();
    for (group, word) in groups.iter_mut().zip(words) {
        decode(u64::from_le_bytes(*word), group.as_chunks_mut().0);
    }
    if let Some(word) = words.get(groups.len()) {
        let mut last = [0; N];
        decode(u64::from_le_bytes(*word), last.as_chunks_mut().0);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// 32 logicals: values from the lowest bit up, missing ones from the highest bit down.
#[inline(always)]
fn logicals(word: u64, pairs: &mut [[u8; 8]]) {
    for (i, pair) in pairs.iter_mut().enumerate() {
        let (values, missing) = (word >> i & HALVES, word >> (31 - i) & HALVES);
        *pair = (values & !missing | missing << 31).to_le_bytes();
    }
}

/// 8 codes of 7 bits, with a bit for missing ones.
#[inline(always)]
fn bytes(word: u64, pairs: &mut [[u8; 8]]) {
    for (i, pair) in pairs.iter_mut().rev().enumerate() {
        let missing = word >> (8 * i + 7) & HALVES;
        let codes = word >> (8 * i) & (HALVES * 0x7F) & !(missing * 0x7F);
        *pair = (codes | missing << 31).to_le_bytes();
    }
}

/// 4 codes of 15 bits, with a bit for missing ones.
#[inline(always)]
fn shorts(word: u64, pairs: &mut [[u8; 8]]) {
    for (i, pair) in pairs.iter_mut().rev().enumerate() {
        let missing = word >> (16 * i + 15) & HALVES;
        let codes = word >> (16 * i) & (HALVES * 0x7FFF) & !(missing * 0x7FFF);
        *pair = (codes | missing << 31).to_le_bytes();
    }
}
