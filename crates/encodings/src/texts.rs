//! Strings as words of 64 bits, by which equal ones are found.
//!
//! A word is the string itself with its length where it has up to seven bytes, else a hash. What has the same hash is compared
//! afterwards, many strings at a time: so a look-up sees words alone, and nothing waits for a branch on a length, which no
//! processor could predict.

use std::ops::Range;

use entasis_kernels::VECTOR;

use crate::dictionary::{Distinct, Key, Limit, MIX, NoDictionary, Prospect, build, prospect};
use crate::word::first_bytes;

/// The strings of a block.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    /// String i is `bytes[offsets[i]..offsets[i + 1]]`.
    pub offsets: &'a [u32],
    pub bytes: &'a [u8],
    /// The most bytes of one.
    pub longest: usize,
}

impl<'a> Texts<'a> {
    pub(crate) fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline(always)]
    fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// What a dictionary of them would come to.
    pub(crate) fn prospect(&self, entry_len: usize, most: usize) -> Result<Prospect, NoDictionary> {
        let (n, all, longest) = (self.n(), self.bytes, self.longest);
        if longest <= TINY {
            prospect(n, entry_len, most, |i| hash::<TINY>(all, self.range(i)))
        } else if longest <= Short::MOST {
            prospect(n, entry_len, most, |i| Short::new(all, self.range(i)))
        } else if longest <= MIDDLE {
            prospect(n, entry_len, most, |i| hash::<MIDDLE>(all, self.range(i)))
        } else {
            prospect(n, entry_len, most, |i| hash::<ANY>(all, self.range(i)))
        }
    }

    /// Codes for all strings and the distinct ones; none when those are more than `limit` has entries, or when two that differ have one hash.
    pub(crate) fn build(
        self,
        limit: Limit,
        prospect: Prospect,
        codes: &mut Vec<u32>,
    ) -> Option<Vec<&'a [u8]>> {
        if self.longest <= 1 {
            self.build_bytes(limit, codes)
        } else if self.longest <= TINY {
            self.build_hashed::<TINY>(limit, prospect, codes)
        } else if self.longest <= Short::MOST {
            self.build_short(limit, prospect, codes)
        } else if self.longest <= MIDDLE {
            self.build_hashed::<MIDDLE>(limit, prospect, codes)
        } else if self.longest <= LONG {
            self.build_hashed::<LONG>(limit, prospect, codes)
        } else {
            self.build_hashed::<ANY>(limit, prospect, codes)
        }
    }

    /// The same of strings of a byte at most, which are places in a table.
    #[inline(never)]
    fn build_bytes(self, limit: Limit, codes: &mut Vec<u32>) -> Option<Vec<&'a [u8]>> {
        const NONE: u32 = u32::MAX;
        // An empty one behind those of all bytes.
        let mut places = [NONE; 257];
        let mut entries: Vec<&[u8]> = Vec::new();
        codes.resize(self.n(), 0);
        for (code, ends) in codes.iter_mut().zip(self.offsets.windows(2)) {
            let string = &self.bytes[ends[0] as usize..ends[1] as usize];
            let place = &mut places[string.first().map_or(256, |&byte| usize::from(byte))];
            if *place == NONE {
                if entries.len() == limit.n_entries {
                    return None;
                }
                *place = entries.len() as u32;
                entries.push(string);
            }
            *code = *place;
        }
        Some(entries)
    }

    /// The same of short ones, which are words of 128 bits.
    #[inline(never)]
    fn build_short(self, limit: Limit, prospect: Prospect, codes: &mut Vec<u32>) -> Option<Vec<&'a [u8]>> {
        // Which string is the first of each code.
        let mut firsts: Vec<u32> = Vec::new();
        let short = |i| Short::new(self.bytes, self.range(i));
        let first = |code: usize, i: usize| {
            if firsts.len() <= code {
                firsts.resize(code + VECTOR, 0);
            }
            firsts[code] = i as u32;
        };
        let n = build(self.n(), limit, prospect, codes, short, first)?.len();
        Some(firsts[..n].iter().map(|&i| &self.bytes[self.range(i as usize)]).collect())
    }

    /// The same by one word of each, which is the string itself or its hash.
    #[inline(never)]
    fn build_hashed<const MOST: usize>(
        self,
        limit: Limit,
        prospect: Prospect,
        codes: &mut Vec<u32>,
    ) -> Option<Vec<&'a [u8]>> {
        let n_entries = prospect.n_entries.min(limit.n_entries);
        let mut distinct = Distinct::with_room_for(n_entries);
        // Where the first string of each code begins and ends.
        let mut firsts: Vec<[u32; 2]> = Vec::with_capacity(n_entries);
        let repeats = prospect.repeats(self.n());
        codes.resize(self.n(), 0);
        let mut hashes = [0u64; VECTOR];
        for (vector, codes) in codes.chunks_mut(VECTOR).enumerate() {
            let hashes = &mut hashes[..codes.len()];
            let ends = &self.offsets[vector * VECTOR..=vector * VECTOR + hashes.len()];
            hash_all::<MOST>(self.bytes, ends, prospect.runs, hashes);
            firsts.resize(distinct.entries.len() + codes.len(), [0; 2]);
            let first = |code: usize, i: usize| firsts[code] = [ends[i], ends[i + 1]];
            if !distinct.codes(codes, limit.n_entries, repeats, |i| hashes[i], first) {
                return None;
            }
            if MOST > TINY && !are_equal::<MOST>(self.bytes, ends, prospect.runs, codes, &firsts) {
                return None;
            }
        }
        firsts.truncate(distinct.entries.len());
        Some(firsts.iter().map(|&[first, end]| &self.bytes[first as usize..end as usize]).collect())
    }
}

/// Strings of up to so many bytes are their own hash, with their length.
const TINY: usize = 7;
/// Strings of up to so many bytes are hashed and compared without branches on their length, by less work where all of a block are
/// shorter.
const MIDDLE: usize = 32;
const LONG: usize = 64;
/// Longer ones are in a loop.
const ANY: usize = usize::MAX;

/// A string of up to 15 bytes: a word has them and, behind them, their number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Short(u128);

impl Short {
    const MOST: usize = 15;

    #[inline(always)]
    fn new(all: &[u8], range: Range<usize>) -> Self {
        let len = range.len();
        let word = match all.get(range.start..).and_then(|from| from.first_chunk::<16>()) {
            Some(word) => u128::from_le_bytes(*word) & FIRST[len % 16],
            None => {
                let mut word = [0; 16];
                word[..len].copy_from_slice(&all[range]);
                u128::from_le_bytes(word)
            }
        };
        Self(word | (len as u128) << 120)
    }
}

impl Key for Short {
    #[inline]
    fn hash(self) -> u64 {
        let hash = (self.0 as u64).wrapping_mul(MIX).rotate_left(29);
        (hash ^ (self.0 >> 64) as u64).wrapping_mul(MIX)
    }
}

/// Bits of the first bytes of a word, by their number.
const FIRST: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = u128::MAX >> (128 - 8 * len);
        len += 1;
    }
    masks
};

/// Bits without a pattern, different ones for each word of a string.
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

/// The product of two words, its halves folded.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// All bits of as many bytes as are looked at, and none of as many: the bits of a string of `len` bytes begin `len` before the middle.
const MASKS: [u8; 2 * LONG] = {
    let mut masks = [0; 2 * LONG];
    let mut i = 0;
    while i < LONG {
        masks[i] = u8::MAX;
        i += 1;
    }
    masks
};

/// The same of strings of up to [`TINY`] bytes.
const TINY_MASKS: [u64; 8] = {
    let mut masks = [0; 8];
    let mut len = 1;
    while len < 8 {
        masks[len] = u64::MAX >> (64 - 8 * len);
        len += 1;
    }
    masks
};

/// The bits of the bytes of a string of `len` bytes among the first `reach`.
#[inline(always)]
fn mask_of(len: usize, reach: usize) -> &'static [u8] {
    &MASKS[LONG - len.min(reach)..][..reach]
}

/// Word `i` of 8 bytes.
#[inline(always)]
fn word(bytes: &[u8], i: usize) -> u64 {
    bytes[8 * i..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// Bytes that are looked at of any string of up to `MOST` bytes.
const fn reach<const MOST: usize>() -> usize {
    if MOST < LONG { MOST } else { LONG }
}

/// The hash of the string at `range` of `all`, which has up to `MOST` bytes.
#[inline(always)]
fn hash<const MOST: usize>(all: &[u8], range: Range<usize>) -> u64 {
    let len = range.len();
    // The bytes behind a string are there, but at the end of all.
    if MOST <= TINY {
        let first = match all.get(range.start..range.start + 8) {
            Some(from) => word(from, 0) & TINY_MASKS[len % 8],
            None => first_bytes(all, range),
        };
        return first | (len as u64) << 56;
    }
    let hash = match all.get(range.start..range.start + reach::<MOST>()) {
        Some(from) => hash_first::<MOST>(from, len),
        None => hash_last::<MOST>(&all[range.clone()]),
    };
    if MOST > LONG && len > LONG { hash ^ hash_of(&all[range]) } else { hash }
}

/// The hash of the first bytes of a string of `len` bytes, behind which other bytes may stand.
#[inline(always)]
fn hash_first<const MOST: usize>(from: &[u8], len: usize) -> u64 {
    let mask = mask_of(len, reach::<MOST>());
    let word = |i: usize| (word(from, i) & word(mask, i)) ^ BITS[i];
    let mut hash = fold(word(0) ^ len as u64, word(1)) ^ fold(word(2), word(3));
    if MOST > MIDDLE {
        hash ^= fold(word(4), word(5)) ^ fold(word(6), word(7));
    }
    hash
}

/// The same of a string at the end of all.
#[cold]
#[inline(never)]
fn hash_last<const MOST: usize>(string: &[u8]) -> u64 {
    let mut copy = [0; LONG];
    let part = string.len().min(LONG);
    copy[..part].copy_from_slice(&string[..part]);
    hash_first::<MOST>(&copy, string.len())
}

/// Hashes strings, of which one ends where the next begins. A function of its own, as the loops here need all registers.
///
/// Where most values are those before them, these mostly are missing ones, which are empty: a branch for them is predicted.
#[inline(never)]
fn hash_all<const MOST: usize>(all: &[u8], ends: &[u32], runs: bool, hashes: &mut [u64]) {
    let of_none = hash::<MOST>(&[], 0..0);
    for (hash_of, ends) in hashes.iter_mut().zip(ends.windows(2)) {
        *hash_of = match runs && ends[0] == ends[1] {
            true => of_none,
            false => hash::<MOST>(all, ends[0] as usize..ends[1] as usize),
        };
    }
}

/// Whether strings are the first ones of their codes.
#[inline(never)]
fn are_equal<const MOST: usize>(
    all: &[u8],
    ends: &[u32],
    runs: bool,
    codes: &[u32],
    firsts: &[[u32; 2]],
) -> bool {
    let mut differ = Differences::default();
    for (code, ends) in codes.iter().zip(ends.windows(2)) {
        let [first, end] = firsts[*code as usize];
        if runs && ends[0] == ends[1] && first == end {
            continue;
        }
        differ.add::<MOST>(all, ends[0] as usize..ends[1] as usize, first as usize..end as usize);
    }
    differ.is_none()
}

/// The bits in which strings differ, of all pairs of them together: they are asked for once.
#[derive(Default)]
struct Differences {
    len: usize,
    words: [u64; MIDDLE / 8],
}

impl Differences {
    /// Adds those of the strings at two ranges of `all`, which have up to `MOST` bytes.
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

/// Whether two strings are: longer ones, and those behind which `all` ends.
#[inline(never)]
fn are_different(all: &[u8], range: Range<usize>, other: Range<usize>) -> bool {
    range != other && all[range] != all[other]
}

/// A hash of the string of more than 32 bytes, 32 at a time in four chains; the last piece has some of those before once more.
fn hash_of(bytes: &[u8]) -> u64 {
    let (whole, _) = bytes.as_chunks::<32>();
    let mut chains = [MIX, 1, 2, 3];
    for piece in whole.iter().chain(bytes.last_chunk()) {
        let (words, _) = piece.as_chunks::<8>();
        for (chain, word) in chains.iter_mut().zip(words) {
            *chain = (chain.rotate_left(29) ^ u64::from_le_bytes(*word)).wrapping_mul(MIX);
        }
    }
    let [a, b, c, d] = chains;
    a.rotate_left(7) ^ b.rotate_left(19) ^ c.rotate_left(37) ^ d
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::{MAX_ENTRIES, model, up_to};

    fn check<const MOST: usize>(lens: Range<usize>) {
        let differ = |all: &[u8], a: &Range<usize>, b: &Range<usize>| {
            let mut differ = Differences::default();
            differ.add::<MOST>(all, a.clone(), b.clone());
            !differ.is_none()
        };
        for len in lens {
            let all = [7u8; 300];
            // In the middle and up to the end of all.
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
        for len in 0..Short::MOST {
            let (a, b) = (Short::new(&all, 0..len), Short::new(&all, 100 - len..100));
            assert!(a == b && a.hash() == b.hash() && a != Short::new(&all, 3..4 + len));
        }
    }

    #[test]
    fn codes_are_those_of_a_hash_map() {
        for longest in [0, 1, 7, 8, 16, 17, 32, 33, 64, 65, 200] {
            // Strings of all lengths, each a few times, some of them in runs.
            let text = |i: usize| {
                let i = (i / 3 + i * i) % 1501;
                let len = (i * 7919) % (longest + 1);
                let padded = format!("{i:0>longest$}");
                padded[padded.len() - len..].to_owned()
            };
            let texts: Vec<String> = (0..5000).map(text).collect();
            let bytes = texts.concat();
            let mut offsets = vec![0u32];
            offsets.extend(texts.iter().scan(0, |end, text| {
                *end += text.len() as u32;
                Some(*end)
            }));
            let all = Texts { offsets: &offsets, bytes: bytes.as_bytes(), longest };
            let (expected, expected_codes) = model(&texts.iter().map(|t| t.as_bytes()).collect::<Vec<_>>());
            for (runs, n_entries) in [(false, 0), (true, 10), (false, 10_000)] {
                let prospect = Prospect { len: 0.0, ns: 0.0, n_entries, runs, nearby: false };
                let mut codes = Vec::new();
                let entries = all.build(up_to(MAX_ENTRIES), prospect, &mut codes).unwrap();
                assert!(entries == expected && codes == expected_codes, "{longest}");
                let few = all.build(up_to(expected.len() - 1), prospect, &mut codes);
                assert!(few.is_none());
                assert!(all.build(up_to(expected.len()), prospect, &mut codes).is_some());
            }
            let prospect = all.prospect(longest + 1, MAX_ENTRIES);
            assert!(prospect.ok().is_none_or(|found| found.n_entries <= 5000));
        }
    }
}
