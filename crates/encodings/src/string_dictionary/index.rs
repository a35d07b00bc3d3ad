//! Finds the distinct strings of a block. Look-ups compare 64-bit or 128-bit words: the strings
//! themselves, or their hashes.

use std::ops::Range;

use entasis_kernels::VECTOR;
use entasis_kernels::string_hash::{ANY, Hashing, LONG, MIDDLE, TINY, hash};
use entasis_platform::memory::ScratchVec;

use crate::dictionary::{CodeTable, Estimate, Key, Limit, MIX, NoDictionary, build, estimate};

/// Reusable hash tables for the strings of a block.
#[derive(Default)]
pub(crate) struct CodeTables {
    hashed: CodeTable<u64>,
    short: CodeTable<ShortString>,
}

impl CodeTables {
    /// Forgets the numbers of strings in earlier blocks. They determine the sizes of tables.
    pub(crate) fn begin_run(&mut self) {
        self.hashed.entries.clear();
        self.short.entries.clear();
    }
}

/// The strings of a block.
#[derive(Clone, Copy)]
pub(crate) struct Strings<'a> {
    /// String i is `bytes[offsets[i]..offsets[i + 1]]`.
    pub offsets: &'a [u32],
    pub bytes: &'a [u8],
    /// The largest length of a string.
    pub longest: usize,
}

impl<'a> Strings<'a> {
    pub(crate) fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline(always)]
    fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// Estimates a dictionary of the strings.
    pub(crate) fn estimate(&self, entry_len: usize, most: usize) -> Result<Estimate, NoDictionary> {
        let (n, all, longest) = (self.n(), self.bytes, self.longest);
        if longest <= TINY {
            estimate(n, entry_len, most, |i| hash::<TINY>(all, self.range(i)))
        } else if longest <= ShortString::MOST {
            estimate(n, entry_len, most, |i| ShortString::new(all, self.range(i)))
        } else if longest <= MIDDLE {
            estimate(n, entry_len, most, |i| hash::<MIDDLE>(all, self.range(i)))
        } else {
            estimate(n, entry_len, most, |i| hash::<ANY>(all, self.range(i)))
        }
    }

    /// Codes for all strings, and the distinct strings. `None` if there are more than `limit`
    /// allows, or if two different strings have the same hash.
    pub(crate) fn build(
        self,
        limit: Limit,
        estimate: Estimate,
        tables: &mut CodeTables,
        codes: &mut Vec<u32>,
    ) -> Option<DistinctStrings<'a>> {
        let CodeTables { hashed, short } = tables;
        let ends = if self.longest <= 1 {
            self.build_bytes(limit, codes)
        } else if self.longest <= TINY {
            self.build_hashed::<TINY>(limit, estimate, hashed, codes)
        } else if self.longest <= ShortString::MOST {
            self.build_short(limit, estimate, short, codes)
        } else if self.longest <= MIDDLE {
            self.build_hashed::<MIDDLE>(limit, estimate, hashed, codes)
        } else if self.longest <= LONG {
            self.build_hashed::<LONG>(limit, estimate, hashed, codes)
        } else {
            self.build_hashed::<ANY>(limit, estimate, hashed, codes)
        };
        Some(DistinctStrings { bytes: self.bytes, ends: ends? })
    }

    /// As [`build`](Self::build), for strings of at most one byte, which index an array.
    #[inline(never)]
    fn build_bytes(self, limit: Limit, codes: &mut Vec<u32>) -> Option<Vec<[u32; 2]>> {
        const NONE: u32 = u32::MAX;
        // The last element belongs to the empty string.
        let mut codes_of_bytes = [NONE; 257];
        let mut entries = Vec::new();
        codes.resize(self.n(), 0);
        for (code, ends) in codes.iter_mut().zip(self.offsets.windows(2)) {
            let ends = [ends[0], ends[1]];
            let string = text(self.bytes, ends);
            let known = &mut codes_of_bytes[string.first().map_or(256, |&byte| usize::from(byte))];
            if *known == NONE {
                if entries.len() == limit.n_entries {
                    return None;
                }
                *known = entries.len() as u32;
                entries.push(ends);
            }
            *code = *known;
        }
        Some(entries)
    }

    /// As [`build`](Self::build), for strings that fit a 128-bit word.
    #[inline(never)]
    fn build_short(
        self,
        limit: Limit,
        estimate: Estimate,
        distinct: &mut CodeTable<ShortString>,
        codes: &mut Vec<u32>,
    ) -> Option<Vec<[u32; 2]>> {
        // The position of the first string of each code.
        let mut firsts: Vec<u32> = Vec::new();
        let short = |i| ShortString::new(self.bytes, self.range(i));
        let first = |code: usize, i: usize| {
            if firsts.len() <= code {
                firsts.resize(code + VECTOR, 0);
            }
            firsts[code] = i as u32;
        };
        build((distinct, self.n()), limit, estimate, codes, short, first)?;
        let n = distinct.entries.len();
        Some(firsts[..n].iter().map(|&i| [self.offsets[i as usize], self.offsets[i as usize + 1]]).collect())
    }

    /// As [`build`](Self::build), by a 64-bit word per string: the string itself or its hash.
    #[inline(never)]
    fn build_hashed<const MOST: usize>(
        self,
        limit: Limit,
        estimate: Estimate,
        distinct: &mut CodeTable<u64>,
        codes: &mut Vec<u32>,
    ) -> Option<Vec<[u32; 2]>> {
        distinct.clear_for(estimate.n_entries, limit.n_entries);
        // The start and end of the first string of each code.
        let mut firsts: Vec<[u32; 2]> = Vec::with_capacity(distinct.entries.capacity());
        let repeats = estimate.repeats(self.n());
        codes.resize(self.n(), 0);
        let hashing = Hashing::here();
        let mut hashes = [0u64; VECTOR];
        for (vector, codes) in codes.chunks_mut(VECTOR).enumerate() {
            let hashes = &mut hashes[..codes.len()];
            let ends = &self.offsets[vector * VECTOR..=vector * VECTOR + hashes.len()];
            hashing.hash_all::<MOST>(self.bytes, ends, estimate.runs, hashes);
            firsts.resize(distinct.entries.len() + codes.len(), [0; 2]);
            let first = |code: usize, i: usize| firsts[code] = [ends[i], ends[i + 1]];
            if !distinct.codes(codes, limit.n_entries, repeats, |i| hashes[i], first) {
                return None;
            }
            if MOST > TINY && !hashing.are_equal::<MOST>(self.bytes, ends, estimate.runs, codes, &firsts) {
                return None;
            }
        }
        firsts.truncate(distinct.entries.len());
        Some(firsts)
    }
}

/// The distinct strings of a block, in the order of their first appearance.
pub(crate) struct DistinctStrings<'a> {
    pub bytes: &'a [u8],
    /// The start and end of each string.
    ends: Vec<[u32; 2]>,
}

impl<'a> DistinctStrings<'a> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, code: usize) -> &'a [u8] {
        text(self.bytes, self.ends[code])
    }

    #[inline]
    pub(crate) fn range(&self, code: usize) -> Range<usize> {
        self.ends[code][0] as usize..self.ends[code][1] as usize
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.ends.iter().map(|&ends| text(self.bytes, ends))
    }

    /// The length of each string in bytes.
    #[inline]
    pub(crate) fn lens(&self) -> impl Iterator<Item = u32> {
        self.ends.iter().map(|&[start, end]| end - start)
    }

    /// Concatenates all strings in `memory`, which is overwritten.
    pub(crate) fn join<'m>(&self, memory: &'m mut ScratchVec<u8>) -> &'m [u8] {
        /// Short strings are copied with this fixed length; the next string overwrites the excess.
        const SHORT: usize = 32;
        let len = self.lens().map(|len| len as usize).sum::<usize>();
        memory.overwrite(len + SHORT);
        let mut at = 0;
        for (&[start, _], text) in self.ends.iter().zip(self.iter()) {
            match self.bytes.get(start as usize..).and_then(|from| from.first_chunk::<SHORT>()) {
                Some(short) if text.len() <= SHORT => memory[at..at + SHORT].copy_from_slice(short),
                _ => memory[at..at + text.len()].copy_from_slice(text),
            }
            at += text.len();
        }
        &memory[..len]
    }
}

#[inline(always)]
fn text(bytes: &[u8], [start, end]: [u32; 2]) -> &[u8] {
    &bytes[start as usize..end as usize]
}

/// A string of up to 15 bytes in a word; the highest byte holds the length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ShortString(u128);

impl ShortString {
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

impl Key for ShortString {
    #[inline]
    fn hash(self) -> u64 {
        let hash = (self.0 as u64).wrapping_mul(MIX).rotate_left(29);
        (hash ^ (self.0 >> 64) as u64).wrapping_mul(MIX)
    }
}

/// Masks for the first bytes of a word, by their number.
const FIRST: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = u128::MAX >> (128 - 8 * len);
        len += 1;
    }
    masks
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::{MAX_ENTRIES, model, up_to};

    #[test]
    fn short_strings_differ_in_any_byte_or_their_length() {
        let all = [7u8; 100];
        for len in 0..ShortString::MOST {
            let (a, b) = (ShortString::new(&all, 0..len), ShortString::new(&all, 100 - len..100));
            assert!(a == b && a.hash() == b.hash() && a != ShortString::new(&all, 3..4 + len));
        }
    }

    #[test]
    fn codes_are_those_of_a_hash_map() {
        // All cases share the tables.
        let mut tables = CodeTables::default();
        for longest in [0, 1, 7, 8, 16, 17, 32, 33, 64, 65, 200] {
            // Strings of all lengths, each a few times, some in runs.
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
            let all = Strings { offsets: &offsets, bytes: bytes.as_bytes(), longest };
            let (expected, expected_codes) = model(&texts.iter().map(|t| t.as_bytes()).collect::<Vec<_>>());
            for (runs, n_entries) in [(false, 0), (true, 10), (false, 10_000)] {
                let estimate = Estimate { len: 0.0, ns: 0.0, n_entries, runs, nearby: false };
                let mut codes = Vec::new();
                let mut build = |limit| {
                    let entries = all.build(up_to(limit), estimate, &mut tables, &mut codes)?;
                    Some((entries, codes.clone()))
                };
                let (entries, codes) = build(MAX_ENTRIES).unwrap();
                assert!(entries.iter().eq(expected.iter().copied()) && codes == expected_codes, "{longest}");
                let mut memory = ScratchVec::new();
                assert!(entries.join(&mut memory) == expected.concat() && entries.len() == expected.len());
                assert!(memory.len() - 32 >= entries.lens().sum::<u32>() as usize);
                assert!(build(expected.len() - 1).is_none());
                assert!(build(expected.len()).is_some_and(|(_, codes)| codes == expected_codes));
            }
            let estimate = all.estimate(longest + 1, MAX_ENTRIES);
            assert!(estimate.ok().is_none_or(|found| found.n_entries <= 5000));
        }
    }
}
