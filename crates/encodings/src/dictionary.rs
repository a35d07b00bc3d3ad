//! The dictionary of a block: its distinct values in the order of their first appearance, and a code for each value.

use crate::word::sample_ranges;

/// The most entries of a dictionary.
pub(crate) const MAX_ENTRIES: usize = 1 << 16;

/// Values that can be looked up: words, 16-byte values, byte strings.
pub(crate) trait Key: Copy + Eq {
    /// Its high bits are well mixed.
    fn hash(self) -> u64;
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

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

/// A string, with its first 16 bytes in a word: most are compared and hashed without a look at their bytes.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    head: u128,
    pub bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// The string at `range` of `all`.
    #[inline]
    pub(crate) fn new(all: &'a [u8], range: std::ops::Range<usize>) -> Self {
        let bytes = &all[range.clone()];
        let head = match all[range.start..].first_chunk::<16>() {
            Some(head) if bytes.len() >= 16 => u128::from_le_bytes(*head),
            Some(head) => u128::from_le_bytes(*head) & ((1 << (8 * bytes.len())) - 1),
            None => {
                let mut head = [0; 16];
                let len = bytes.len().min(16);
                head[..len].copy_from_slice(&bytes[..len]);
                u128::from_le_bytes(head)
            }
        };
        Self { head, bytes }
    }
}

impl PartialEq for Text<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
            && self.bytes.len() == other.bytes.len()
            && match self.bytes.len() {
                0..=16 => true,
                17..=32 => tail(self.bytes) == tail(other.bytes),
                _ => self.bytes[16..] == other.bytes[16..],
            }
    }
}

impl Eq for Text<'_> {}

/// The last 16 bytes of at least as many.
#[inline]
fn tail(bytes: &[u8]) -> u128 {
    bytes.last_chunk().map_or(0, |tail| u128::from_le_bytes(*tail))
}

impl Key for Text<'_> {
    #[inline]
    fn hash(self) -> u64 {
        let mut hash = (self.bytes.len() as u64 ^ self.head as u64).wrapping_mul(MIX).rotate_left(29);
        hash = (hash ^ (self.head >> 64) as u64).wrapping_mul(MIX);
        if self.bytes.len() <= 16 {
            return hash;
        }
        if self.bytes.len() <= 32 {
            let tail = tail(self.bytes);
            hash = (hash.rotate_left(29) ^ tail as u64).wrapping_mul(MIX);
            return (hash.rotate_left(29) ^ (tail >> 64) as u64).wrapping_mul(MIX);
        }
        let rest = &self.bytes[16..];
        let mut chunks = rest.chunks_exact(8);
        for chunk in &mut chunks {
            let word = u64::from_le_bytes(chunk.try_into().expect("8 bytes"));
            hash = (hash.rotate_left(29) ^ word).wrapping_mul(MIX);
        }
        let mut word = [0; 8];
        word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        (hash.rotate_left(29) ^ u64::from_le_bytes(word)).wrapping_mul(MIX)
    }
}

/// A table of distinct values with open addressing.
pub(crate) struct Distinct<K> {
    slots: Vec<u32>,
    shift: u32,
    pub(crate) entries: Vec<K>,
}

const EMPTY: u32 = u32::MAX;

impl<K: Key> Distinct<K> {
    pub(crate) fn new() -> Self {
        Self { slots: vec![EMPTY; 256], shift: 64 - 8, entries: Vec::new() }
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

/// The bytes that a dictionary of `n` values with entries of `entry_len` bytes takes with its codes, by a sample of at
/// most 1,024 values; none when it repeats hardly any.
///
/// A sample that repeats most of its values has seen nearly all of them. One with few repetitions c among s values is what
/// s^2 / 2c equally frequent values give (the birthday problem). Neighbours that are equal tell of runs.
pub(crate) fn expected_len<K: Key>(n: usize, entry_len: usize, value: impl Fn(usize) -> K) -> Option<f64> {
    let mut distinct = Distinct::new();
    let (mut seen, mut changes) = (0, 0);
    for (i, range) in sample_ranges(n, 64, 16).enumerate() {
        let mut last = None;
        for code in range.map(|at| distinct.code(value(at))) {
            // The first value of a piece begins a run of which nothing is known; that of the block begins one.
            changes += usize::from(last.is_some_and(|last| last != code) || (i == 0 && last.is_none()));
            last = Some(code);
            seen += 1;
        }
    }
    let distinct = distinct.entries.len();
    let repeated = seen - distinct;
    if distinct > 1 && repeated * 128 < seen {
        return None;
    }
    let expected = match distinct {
        _ if seen == n || distinct * 4 <= seen => distinct,
        _ if distinct * 2 <= seen => distinct + distinct / 4,
        _ => seen * seen / (2 * repeated.max(1)),
    };
    let expected = expected.clamp(distinct, n);
    let width = f64::from(code_width(expected)) / 8.0;
    let n_runs = (n * changes / seen) as f64;
    Some((n as f64 * width).min(n_runs * (2.0 + width)) + (expected * entry_len) as f64)
}

/// Codes for all `n` values, or none when there are more than `limit` distinct ones.
pub(crate) fn build<K: Key>(
    n: usize,
    limit: usize,
    codes: &mut Vec<u32>,
    value: impl Fn(usize) -> K,
) -> Option<Vec<K>> {
    let mut distinct = Distinct::new();
    codes.clear();
    codes.reserve(n);
    for i in 0..n {
        codes.push(distinct.code(value(i)));
        if distinct.entries.len() > limit {
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
        for len in 0..40 {
            let (a, b) = (Text::new(&all, 0..len), Text::new(&all, 100 - len..100));
            assert!(a == b && a.hash() == b.hash());
            assert!(a != Text::new(&all, 3..4 + len));
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
        let entries = build(values.len(), MAX_ENTRIES, &mut codes, |i| values[i]).unwrap();
        assert_eq!((entries, codes.clone()), model(&values));
        assert!(build(values.len(), 100, &mut codes, |i| values[i]).is_none());
        let texts: Vec<String> = values.iter().map(|v| format!("text {v}")).collect();
        let all: Vec<u8> = texts.iter().flat_map(|t| t.bytes()).collect();
        let ends: Vec<usize> = texts
            .iter()
            .scan(0, |end, t| {
                *end += t.len();
                Some(*end)
            })
            .collect();
        let value = |i: usize| Text::new(&all, ends[i] - texts[i].len()..ends[i]);
        let entries = build(texts.len(), MAX_ENTRIES, &mut codes, value).unwrap();
        let entries: Vec<&[u8]> = entries.iter().map(|text| text.bytes).collect();
        assert_eq!((entries, codes), model(&texts.iter().map(|t| t.as_bytes()).collect::<Vec<_>>()));
    }

    #[test]
    fn widths_of_codes() {
        assert_eq!([1, 2, 3, 4, 5, 256, 257].map(code_width), [0, 1, 2, 2, 3, 8, 9]);
    }
}
