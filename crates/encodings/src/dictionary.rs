//! The dictionary of a block: its distinct values in the order of their first appearance, and a code for each value.

use std::ops::Range;

use crate::word::{first_bytes, sample_ranges};

/// The most entries of a dictionary.
pub(crate) const MAX_ENTRIES: usize = 1 << 16;

/// Values that can be looked up: words, 16-byte values, byte strings.
pub(crate) trait Key: Copy + Eq {
    /// Its high bits are well mixed.
    fn hash(self) -> u64;
}

/// An odd number near 2^64 divided by the golden ratio: products with it have mixed high bits.
pub(crate) const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

macro_rules! word_key {
    ($($t:ty),*) => {$(
        impl Key for $t {
            fn hash(self) -> u64 {
                (self as u64).wrapping_mul(MIX)
            }
        }
    )*};
}
word_key!(u8, u16, u32, u64);

impl Key for u128 {
    fn hash(self) -> u64 {
        ((self as u64).wrapping_mul(MIX) ^ (self >> 64) as u64).wrapping_mul(MIX)
    }
}

/// A string, with its first and last 16 bytes in words: those of up to 32 bytes are compared and hashed without a look at
/// their bytes, and without branches on their length, which no processor could predict.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// The first bytes, zeros behind shorter ones.
    head: u128,
    /// The last bytes of more than 16, else zero.
    tail: u128,
    pub bytes: &'a [u8],
}

/// A string of up to 16 bytes, which stand in a word.
#[derive(Clone, Copy)]
pub(crate) struct Short<'a> {
    /// Zeros behind shorter ones.
    word: u128,
    pub bytes: &'a [u8],
}

/// A string of up to 7 bytes, which stand in a word with their number.
#[derive(Clone, Copy)]
pub(crate) struct Tiny {
    word: u64,
    start: u32,
}

impl Tiny {
    /// The most bytes of one.
    pub(crate) const MOST: usize = 7;

    /// The string at `range` of `all`, of at most [`MOST`](Self::MOST) bytes.
    #[inline]
    pub(crate) fn new(all: &[u8], range: Range<usize>) -> Self {
        let (len, start) = (range.len() as u64, range.start as u32);
        Self { word: first_bytes(all, range) | len << 56, start }
    }

    /// Its bytes, of the `all` that it was made of.
    pub(crate) fn bytes(self, all: &[u8]) -> &[u8] {
        let start = self.start as usize;
        &all[start..start + (self.word >> 56) as usize]
    }
}

impl PartialEq for Tiny {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Tiny {}

impl Key for Tiny {
    #[inline]
    fn hash(self) -> u64 {
        self.word.wrapping_mul(MIX)
    }
}

/// Bits of the first bytes of a word, by their number.
const FIRST: [u128; 17] = {
    let mut masks = [0; 17];
    let mut len = 1;
    while len <= 16 {
        masks[len] = u128::MAX >> (128 - 8 * len);
        len += 1;
    }
    masks
};

impl<'a> Short<'a> {
    /// The most bytes of one.
    pub(crate) const MOST: usize = 16;

    /// The string at `range` of `all`, of at most [`MOST`](Self::MOST) bytes.
    #[inline]
    pub(crate) fn new(all: &'a [u8], range: Range<usize>) -> Self {
        let bytes = &all[range.clone()];
        let word = match all[range.start..].first_chunk::<16>() {
            Some(word) => u128::from_le_bytes(*word) & FIRST[bytes.len().min(16)],
            None => {
                let mut word = [0; 16];
                word[..bytes.len()].copy_from_slice(bytes);
                u128::from_le_bytes(word)
            }
        };
        Self { word, bytes }
    }
}

impl PartialEq for Short<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word && self.bytes.len() == other.bytes.len()
    }
}

impl Eq for Short<'_> {}

impl Key for Short<'_> {
    #[inline]
    fn hash(self) -> u64 {
        let hash = (self.bytes.len() as u64 ^ self.word as u64).wrapping_mul(MIX).rotate_left(29);
        (hash ^ (self.word >> 64) as u64).wrapping_mul(MIX)
    }
}

impl<'a> Text<'a> {
    /// The string at `range` of `all`.
    #[inline]
    pub(crate) fn new(all: &'a [u8], range: Range<usize>) -> Self {
        let bytes = &all[range.clone()];
        let len = bytes.len();
        // The bytes around a string are there, but at the ends of all.
        let around = (all[range.start..].first_chunk::<16>(), all[..range.end].last_chunk::<16>());
        let (head, tail) = match around {
            (Some(head), Some(tail)) => (u128::from_le_bytes(*head), u128::from_le_bytes(*tail)),
            _ => {
                let (mut head, mut tail) = ([0; 16], [0; 16]);
                let part = len.min(16);
                head[..part].copy_from_slice(&bytes[..part]);
                tail[16 - part..].copy_from_slice(&bytes[len - part..]);
                (u128::from_le_bytes(head), u128::from_le_bytes(tail))
            }
        };
        Self { head: head & FIRST[len.min(16)], tail: tail & FIRST[16 * usize::from(len > 16)], bytes }
    }
}

impl PartialEq for Text<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let differ = (self.head ^ other.head) | (self.tail ^ other.tail);
        let differ = differ as u64 | (differ >> 64) as u64 | (self.bytes.len() ^ other.bytes.len()) as u64;
        differ == 0
            && (self.bytes.len() <= 32
                || pieces(self.bytes).zip(pieces(other.bytes)).all(|(one, another)| one == another))
    }
}

impl Eq for Text<'_> {}

impl Key for Text<'_> {
    #[inline]
    fn hash(self) -> u64 {
        let (a, b) = (self.head as u64, (self.head >> 64) as u64);
        let (c, d) = (self.tail as u64, (self.tail >> 64) as u64);
        let mut hash = a.wrapping_mul(MIX).rotate_left(29)
            ^ (b ^ self.bytes.len() as u64).wrapping_mul(MIX).rotate_left(11)
            ^ c.wrapping_mul(MIX).rotate_left(43)
            ^ d.wrapping_mul(MIX);
        if self.bytes.len() > 32 {
            hash ^= hash_of(self.bytes);
        }
        (hash ^ hash >> 32).wrapping_mul(MIX)
    }
}

/// The bytes of a string of more than 32 from the 17th on, in pieces of one length, as those take no call to compare: the last
/// one ends with the string and has some of those before once more.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8; 32]> {
    let (whole, _) = bytes.get(16..).unwrap_or_default().as_chunks::<32>();
    whole.iter().chain(bytes.last_chunk::<32>())
}

/// A hash of long strings, 32 bytes at a time in four chains.
fn hash_of(bytes: &[u8]) -> u64 {
    let mut chains = [MIX, 1, 2, 3];
    for piece in pieces(bytes) {
        let (words, _) = piece.as_chunks::<8>();
        for (chain, word) in chains.iter_mut().zip(words) {
            *chain = (chain.rotate_left(29) ^ u64::from_le_bytes(*word)).wrapping_mul(MIX);
        }
    }
    let [a, b, c, d] = chains;
    a.rotate_left(7) ^ b.rotate_left(19) ^ c.rotate_left(37) ^ d
}

/// A table of distinct values with open addressing.
pub(crate) struct Distinct<K> {
    slots: Vec<u32>,
    shift: u32,
    pub(crate) entries: Vec<K>,
}

const EMPTY: u32 = u32::MAX;

impl<K: Key> Distinct<K> {
    /// An empty table that grows beyond `n` entries.
    pub(crate) fn with_room_for(n: usize) -> Self {
        // At least half of the slots stay empty; three quarters where that takes little memory, as fewer meet others then.
        let len = if n <= 8192 { 4 * n } else { 2 * n }.next_power_of_two().max(256);
        Self { slots: vec![EMPTY; len], shift: 64 - len.trailing_zeros(), entries: Vec::with_capacity(n) }
    }

    /// The code of `key`, a new one when it is not there yet.
    #[inline(always)]
    pub(crate) fn code(&mut self, key: K) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = (key.hash() >> self.shift) as usize & mask;
        loop {
            let code = self.slots[at];
            if code == EMPTY {
                return self.insert(at, key);
            }
            if self.entries[code as usize] == key {
                return code;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline(never)]
    fn insert(&mut self, at: usize, key: K) -> u32 {
        let code = u32::try_from(self.entries.len()).expect("fewer values than a block has");
        self.slots[at] = code;
        self.entries.push(key);
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        self.shift = 64 - len.trailing_zeros();
        self.slots = vec![EMPTY; len];
        for (code, key) in self.entries.iter().enumerate() {
            let mut at = (key.hash() >> self.shift) as usize & (len - 1);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = code as u32;
        }
    }
}

/// What a sample tells of a dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Prospect {
    /// Bytes of codes and entries.
    pub len: f64,
    /// Entries.
    pub n_entries: usize,
    /// Whether most values are those before them.
    pub runs: bool,
    /// Whether values come back after few others: a codec finds that in their codes.
    pub nearby: bool,
}

/// What a dictionary of `n` values with entries of `entry_len` bytes would come to, by a sample of at most 1,024 values; none when
/// it repeats hardly any, or seems to have far more than `most` entries.
///
/// The distinct values that the sample has not seen are estimated from those that it has seen once and twice (Chao, "Nonparametric
/// Estimation of the Number of Classes in a Population", 1984), runs counted once: values of any frequency may be among them.
pub(crate) fn prospect<K: Key>(
    n: usize,
    entry_len: usize,
    most: usize,
    value: impl Fn(usize) -> K,
) -> Option<Prospect> {
    let mut distinct = Distinct::with_room_for(n.min(SAMPLE));
    // How often each was found, and in which piece the last time.
    let (mut counts, mut pieces) = ([0u16; SAMPLE], [u16::MAX; SAMPLE]);
    let (mut seen, mut changes, mut counted, mut nearby) = (0, 0, 0, 0);
    for (i, range) in sample_ranges(n, SAMPLE / 16, 16).enumerate() {
        // A few hundred values show many repetitions when there are few thousand entries.
        let awaited = seen * seen / (2 * most.max(1));
        if seen <= FIRST_LOOK && awaited >= 8 && (seen - distinct.entries.len()) * 4 < awaited {
            return None;
        }
        let mut last = None;
        for code in range.map(|at| distinct.code(value(at))) {
            // The first value of a piece begins a run of which nothing is known; that of the block begins one.
            let is_new = last != Some(code);
            changes += usize::from(is_new && (last.is_some() || i == 0));
            counts[code as usize] += u16::from(is_new);
            counted += usize::from(is_new);
            let before = std::mem::replace(&mut pieces[code as usize], i as u16);
            nearby += usize::from(before == i as u16);
            last = Some(code);
            seen += 1;
        }
    }
    let distinct = distinct.entries.len();
    if distinct > 1 && (seen - distinct) * 128 < seen {
        return None;
    }
    let seen_times = |times| counts.iter().filter(|&&count| count == times).count();
    let (once, twice) = (seen_times(1), seen_times(2));
    let all = match seen < n {
        true => distinct + once * once.saturating_sub(1) / (2 * (twice + 1)),
        false => distinct,
    };
    let all = all.min((n * counted).div_ceil(seen)).max(distinct);
    let width = f64::from(code_width(all)) / 8.0;
    let n_runs = (n * changes / seen) as f64;
    let len = (n as f64 * width).min(n_runs * (2.0 + width)) + (all * entry_len) as f64;
    // A branch that is right three times of four costs less than the look-ups that it saves.
    Some(Prospect { len, n_entries: all, runs: changes * 4 <= seen, nearby: nearby * 8 > seen })
}

/// The most values of a sample.
const SAMPLE: usize = 1024;

/// Values of a sample after which a dictionary may be out of the question.
const FIRST_LOOK: usize = 512;

/// Codes for all `n` values, or none when there are more than `limit` distinct ones. Where the prospect is runs, values are compared
/// with those before them first.
pub(crate) fn build<K: Key>(
    n: usize,
    limit: usize,
    prospect: Prospect,
    codes: &mut Vec<u32>,
    value: impl Fn(usize) -> K,
) -> Option<Vec<K>> {
    let mut distinct = Distinct::with_room_for(prospect.n_entries.min(limit));
    codes.resize(n, 0);
    if prospect.runs {
        let mut last: Option<(K, u32)> = None;
        for (i, code) in codes.iter_mut().enumerate() {
            let key = value(i);
            *code = match last {
                Some((before, code)) if before == key => code,
                _ => distinct.code(key),
            };
            last = Some((key, *code));
            if *code as usize >= limit {
                return None;
            }
        }
        return Some(distinct.entries);
    }
    for (i, code) in codes.iter_mut().enumerate() {
        *code = distinct.code(value(i));
        if *code as usize >= limit {
            return None;
        }
    }
    Some(distinct.entries)
}

/// Bits that codes of this many entries need.
pub(crate) fn code_width(n_entries: usize) -> u32 {
    usize::BITS - n_entries.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
fn model<K: Copy + Eq + std::hash::Hash>(values: &[K]) -> (Vec<K>, Vec<u32>) {
    let mut seen = std::collections::HashMap::new();
    let mut entries = Vec::new();
    let codes = values
        .iter()
        .map(|v| {
            *seen.entry(*v).or_insert_with(|| {
                entries.push(*v);
                entries.len() as u32 - 1
            })
        })
        .collect();
    (entries, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_differ_in_their_last_byte_or_their_length() {
        let all = [7u8; 100];
        for len in 0..90 {
            let (a, b) = (Text::new(&all, 0..len), Text::new(&all, 100 - len..100));
            assert!(a == b && a.hash() == b.hash());
            assert!(a != Text::new(&all, 3..4 + len));
            if len < Tiny::MOST {
                let (a, b) = (Tiny::new(&all, 0..len), Tiny::new(&all, 100 - len..100));
                assert!(a == b && a.hash() == b.hash() && a != Tiny::new(&all, 3..4 + len));
                assert_eq!(b.bytes(&all), &all[..len]);
            }
            if len < Short::MOST {
                let (a, b) = (Short::new(&all, 0..len), Short::new(&all, 100 - len..100));
                assert!(a == b && a.hash() == b.hash() && a != Short::new(&all, 3..4 + len));
            }
            for at in 0..len {
                let mut other = all;
                other[at] = 8;
                let other = Text::new(&other, 0..len);
                assert!(a != other && a.hash() != other.hash());
            }
        }
    }

    #[test]
    fn codes_are_those_of_a_hash_map() {
        let values: Vec<u64> = (0..5000u64).map(|i| (i * i) % 1501).collect();
        let mut codes = Vec::new();
        for (runs, n_entries) in [(false, 0), (true, 10), (false, 10_000)] {
            let prospect = Prospect { len: 0.0, n_entries, runs, nearby: false };
            let entries = build(values.len(), MAX_ENTRIES, prospect, &mut codes, |i| values[i]).unwrap();
            assert_eq!((entries, codes.clone()), model(&values));
            assert!(build(values.len(), 100, prospect, &mut codes, |i| values[i]).is_none());
        }
        let texts: Vec<String> = values.iter().map(|v| format!("text {v}")).collect();
        let all: Vec<u8> = texts.iter().flat_map(|t| t.bytes()).collect();
        let ends: Vec<usize> = texts
            .iter()
            .scan(0, |end, t| {
                *end += t.len();
                Some(*end)
            })
            .collect();
        let prospect = Prospect { len: 0.0, n_entries: 0, runs: false, nearby: false };
        let value = |i: usize| Text::new(&all, ends[i] - texts[i].len()..ends[i]);
        let entries = build(texts.len(), MAX_ENTRIES, prospect, &mut codes, value).unwrap();
        let entries: Vec<&[u8]> = entries.iter().map(|text| text.bytes).collect();
        assert_eq!((entries, codes), model(&texts.iter().map(|t| t.as_bytes()).collect::<Vec<_>>()));
    }

    #[test]
    fn entries_are_estimated() {
        // SplitMix64 (Steele, Lea, Flood, 2014).
        let hash = |i: u64| {
            let z = i.wrapping_mul(MIX);
            let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        };
        // Values drawn from so many, alone, in runs of about four, and with every other one the same.
        for n in [30, 300, 1500, 5000] {
            let drawn = |i: usize| hash(i as u64) % n;
            let one = |i: usize| if hash(i as u64 + 77_777).is_multiple_of(2) { n } else { drawn(i) };
            for (name, value) in
                [("alone", &drawn as &dyn Fn(usize) -> u64), ("runs", &|i| drawn(i / 4)), ("one", &one)]
            {
                let estimated = prospect(40_000, 8, 65_536, value).unwrap().n_entries as f64 / n as f64;
                assert!((0.5..2.0).contains(&estimated), "{name}: {estimated} of {n}");
            }
        }
        assert!(prospect(40_000, 8, 65_536, |i| i as u64).is_none());
        let few = prospect(500, 8, 65_536, |i| (i % 7) as u64).unwrap();
        assert!(few.n_entries == 7 && !few.runs && few.nearby);
        assert!(prospect(40_000, 8, 65_536, |i| (i / 1000) as u64).unwrap().runs);
        assert!(!prospect(40_000, 8, 65_536, |i| (i % 999) as u64).unwrap().nearby);
    }

    #[test]
    fn widths_of_codes() {
        assert_eq!([1, 2, 3, 4, 5, 256, 257].map(code_width), [0, 1, 2, 2, 3, 8, 9]);
    }
}
