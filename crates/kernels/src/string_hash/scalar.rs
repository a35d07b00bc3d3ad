//! Hashes and comparisons of strings in 64-bit words, on any processor.

use std::ops::Range;

use super::{LONG, MIDDLE, TINY};

/// Arbitrary constants, a different one for each word of a string.
const BITS: [u64; 8] = [
    0xF39C_C060_5CED_C835,
    0x9E37_79B9_7F4A_7C15,
    0x1319_8A2E_0370_7345,
    0x243F_6A88_85A3_08D3,
    0x082E_FA98_EC4E_6C89,
    0xA409_3822_299F_31D1,
    0xBE54_66CF_34E9_0C6D,
    0x4528_21E6_38D0_1377,
];

/// The product of two words, with its halves combined by exclusive or.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// A slice of `len` set bytes and then zeros starts `len` bytes before the middle.
const MASKS: [u8; 2 * LONG] = {
    let mut masks = [0; 2 * LONG];
    let mut i = 0;
    while i < LONG {
        masks[i] = u8::MAX;
        i += 1;
    }
    masks
};

/// Masks for strings of up to [`TINY`] bytes.
const TINY_MASKS: [u64; 8] = {
    let mut masks = [0; 8];
    let mut len = 1;
    while len < 8 {
        masks[len] = u64::MAX >> (64 - 8 * len);
        len += 1;
    }
    masks
};

/// The mask of a string of `len` bytes within the first `reach` bytes.
#[inline(always)]
fn mask_of(len: usize, reach: usize) -> &'static [u8] {
    &MASKS[LONG - len.min(reach)..][..reach]
}

/// Word `i` of 8 bytes.
#[inline(always)]
fn word(bytes: &[u8], i: usize) -> u64 {
    bytes[8 * i..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// The number of bytes that are loaded of each string of up to `MOST` bytes.
const fn reach<const MOST: usize>() -> usize {
    if MOST < LONG { MOST } else { LONG }
}

/// The hash of the string at `range` of `all`, which has up to `MOST` bytes.
#[inline(always)]
pub fn hash<const MOST: usize>(all: &[u8], range: Range<usize>) -> u64 {
    let len = range.len();
    // Loads may exceed the string but not `all`.
    if MOST <= TINY {
        let first = match all.get(range.start..range.start + 8) {
            Some(from) => word(from, 0) & TINY_MASKS[len % 8],
            None => last_word(&all[range]),
        };
        return first | (len as u64) << 56;
    }
    let hash = match all.get(range.start..range.start + reach::<MOST>()) {
        Some(from) => hash_first::<MOST>(from, len),
        None => hash_last::<MOST>(&all[range.clone()]),
    };
    if MOST > LONG && len > LONG { hash ^ hash_of(&all[range]) } else { hash }
}

/// A string of up to [`TINY`] bytes at the end of `all`.
#[cold]
#[inline(never)]
fn last_word(string: &[u8]) -> u64 {
    let mut word = [0; 8];
    let len = string.len().min(TINY);
    word[..len].copy_from_slice(&string[..len]);
    u64::from_le_bytes(word)
}

/// The hash of the first bytes of a string of `len` bytes; other bytes may follow them.
#[inline(always)]
fn hash_first<const MOST: usize>(from: &[u8], len: usize) -> u64 {
    let mask = mask_of(len, reach::<MOST>());
    let word = |i: usize| (word(from, i) & word(mask, i)) ^ BITS[i];
    // The length distinguishes strings that differ in trailing zeros alone.
    let mut hash = fold(word(0), word(1)) ^ fold(word(2), word(3)) ^ (len as u64).wrapping_mul(BITS[1]);
    if MOST > MIDDLE {
        hash ^= fold(word(4), word(5)) ^ fold(word(6), word(7));
    }
    hash
}

/// As [`hash_first`], for a string at the end of `all`.
#[cold]
#[inline(never)]
fn hash_last<const MOST: usize>(string: &[u8]) -> u64 {
    let mut copy = [0; LONG];
    let part = string.len().min(LONG);
    copy[..part].copy_from_slice(&string[..part]);
    hash_first::<MOST>(&copy, string.len())
}

/// As [`super::Hashing::hash_all`]. It is a separate function because its loops need all registers.
#[inline(never)]
pub(super) fn hash_all<const MOST: usize>(all: &[u8], ends: &[u32], runs: bool, hashes: &mut [u64]) {
    let of_none = hash::<MOST>(&[], 0..0);
    for (hash_of, ends) in hashes.iter_mut().zip(ends.windows(2)) {
        *hash_of = match runs && ends[0] == ends[1] {
            true => of_none,
            false => hash::<MOST>(all, ends[0] as usize..ends[1] as usize),
        };
    }
}

/// As [`super::Hashing::are_equal`].
#[inline(never)]
pub(super) fn are_equal<const MOST: usize>(
    all: &[u8],
    ends: &[u32],
    runs: bool,
    codes: &[u32],
    firsts: &[[u32; 2]],
) -> bool {
    let mut differ = Differences::default();
    for (code, ends) in codes.iter().zip(ends.windows(2)) {
        let [first, end] = firsts[*code as usize];
        assert!(first <= end && end as usize <= all.len(), "the first string of a code is there");
        if runs && ends[0] == ends[1] && first == end {
            continue;
        }
        differ.add::<MOST>(all, ends[0] as usize..ends[1] as usize, first as usize..end as usize);
    }
    differ.is_none()
}

/// The union of the differences of all pairs of strings, which is tested once.
#[derive(Default)]
struct Differences {
    len: usize,
    words: [u64; MIDDLE / 8],
}

impl Differences {
    /// Adds the differences of the strings at two ranges of `all`, which have up to `MOST` bytes.
    #[inline(always)]
    fn add<const MOST: usize>(&mut self, all: &[u8], range: Range<usize>, other: Range<usize>) {
        let (len, reach) = (range.len(), reach::<MOST>());
        let first = |start: usize| all.get(start..start + reach);
        if let (Some(from), Some(of_other)) = (first(range.start), first(other.start))
            && (MOST <= LONG || len <= LONG)
        {
            let mask = mask_of(len, reach);
            for i in 0..reach / 8 {
                self.words[i % (MIDDLE / 8)] |= (word(from, i) ^ word(of_other, i)) & word(mask, i);
            }
            self.len |= len ^ other.len();
        } else {
            self.len |= usize::from(are_different(all, range, other));
        }
    }

    fn is_none(&self) -> bool {
        self.len == 0 && self.words.iter().all(|&word| word == 0)
    }
}

/// Compares two strings directly: long ones, and those at the end of `all`.
#[inline(never)]
pub(super) fn are_different(all: &[u8], range: Range<usize>, other: Range<usize>) -> bool {
    range != other && all[range] != all[other]
}

/// A hash of a string of more than 32 bytes: four chains of 8 bytes each per step. The last step
/// overlaps the one before.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    let (whole, _) = bytes.as_chunks::<32>();
    let mut chains = [BITS[1], 1, 2, 3];
    for piece in whole.iter().chain(bytes.last_chunk()) {
        let (words, _) = piece.as_chunks::<8>();
        for (chain, word) in chains.iter_mut().zip(words) {
            *chain = (chain.rotate_left(29) ^ u64::from_le_bytes(*word)).wrapping_mul(BITS[1]);
        }
    }
    let [a, b, c, d] = chains;
    a.rotate_left(7) ^ b.rotate_left(19) ^ c.rotate_left(37) ^ d
}

#[cfg(test)]
mod tests {
    use super::super::ANY;
    use super::*;

    fn check<const MOST: usize>(lens: Range<usize>) {
        let differ = |all: &[u8], a: &Range<usize>, b: &Range<usize>| {
            let mut differ = Differences::default();
            differ.add::<MOST>(all, a.clone(), b.clone());
            !differ.is_none()
        };
        for len in lens {
            let all = [7u8; 300];
            // In the middle and at the end of `all`.
            let (a, b) = (0..len, 300 - len..300);
            assert_eq!(hash::<MOST>(&all, a.clone()), hash::<MOST>(&all, b.clone()));
            assert!(!differ(&all, &a, &b));
            let longer = 3..4 + len;
            assert!(hash::<MOST>(&all, a.clone()) != hash::<MOST>(&all, longer.clone()));
            assert!(differ(&all, &a, &longer));
            for at in 0..len {
                let mut other = all;
                other[150 + at] = 8;
                for all in [&other[..], &other[..150 + len]] {
                    let b = 150..150 + len;
                    assert!(hash::<MOST>(all, a.clone()) != hash::<MOST>(all, b.clone()), "{at} of {len}");
                    assert!(differ(all, &a, &b), "{at} of {len}");
                    assert!(differ(all, &b, &a), "{at} of {len}");
                }
            }
        }
    }

    #[test]
    fn strings_differ_in_any_byte_or_their_length() {
        check::<MIDDLE>(0..MIDDLE);
        check::<LONG>(0..LONG);
        check::<ANY>(0..140);
        let all = [7u8; 100];
        for len in 0..TINY {
            assert_eq!(hash::<TINY>(&all, 0..len), hash::<TINY>(&all, 100 - len..100));
            assert!(hash::<TINY>(&all, 0..len) != hash::<TINY>(&all, 0..len + 1));
        }
    }
}
