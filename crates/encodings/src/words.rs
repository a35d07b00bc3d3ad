//! The words that packings work on, and their order.

use std::ops::Range;

use entasis_kernels::{VECTOR, Word, column_stats};

/// How the bits of a word are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Signed,
    Unsigned,
}

impl Order {
    pub(crate) fn min_max<T: Word>(self, words: &[T]) -> (T, T) {
        match self {
            Self::Signed => column_stats::min_max_signed(words),
            Self::Unsigned => column_stats::min_max_unsigned(words),
        }
    }

    /// Whether words ascend, not strictly.
    pub(crate) fn is_ascending<T: Word>(self, words: &[T]) -> bool {
        // Those that don't mostly show it soon.
        let glance = &words[..words.len().min(VECTOR)];
        match self {
            Self::Signed => {
                glance.is_sorted_by_key(|&word| Self::Signed.key(word)) && column_stats::is_sorted_signed(words)
            }
            Self::Unsigned => {
                glance.is_sorted_by_key(|&word| Self::Unsigned.key(word)) && column_stats::is_sorted_unsigned(words)
            }
        }
    }

    /// Whether words descend, not strictly.
    pub(crate) fn is_descending<T: Word>(self, words: &[T]) -> bool {
        match self {
            Self::Signed => words.is_sorted_by(|&a, &b| Self::Signed.key(a) >= Self::Signed.key(b)),
            Self::Unsigned => words.is_sorted_by(|&a, &b| Self::Unsigned.key(a) >= Self::Unsigned.key(b)),
        }
    }

    /// A key whose unsigned order is the order of the words.
    #[inline]
    pub(crate) fn key<T: Word>(self, word: T) -> u64 {
        match self {
            Self::Signed => word.to_u64() ^ (1 << (T::BITS - 1)),
            Self::Unsigned => word.to_u64(),
        }
    }
}

/// The bits that `word` needs.
pub(crate) fn bits_of<T: Word>(word: T) -> u32 {
    64 - word.to_u64().leading_zeros()
}

/// The bytes of the narrowest words of so many bits; one of none.
pub(crate) fn byte_width(bits: u32) -> u32 {
    bits.div_ceil(8).next_power_of_two()
}

/// Bytes in a word.
pub(crate) const fn bytes_of<T>() -> usize {
    size_of::<T>()
}

/// The low bytes of a little-endian word, as stored.
pub(crate) fn put<T: Word>(word: T, out: &mut Vec<u8>) {
    out.extend_from_slice(&word.to_u64().to_le_bytes()[..bytes_of::<T>()]);
}

/// The little-endian word of the `W` bytes at index `i` of `bytes` (zero past their end).
pub(crate) fn get<T: Word>(bytes: &[u8], i: usize) -> T {
    let mut word = [0; 8];
    if let Some(stored) = bytes.get(i * bytes_of::<T>()..(i + 1) * bytes_of::<T>()) {
        word[..stored.len()].copy_from_slice(stored);
    }
    T::from_u64(u64::from_le_bytes(word))
}

/// The first 8 bytes of the string at `range` of `all` as a little-endian word, zeros behind shorter ones.
#[inline]
pub(crate) fn first_bytes(all: &[u8], range: Range<usize>) -> u64 {
    const MASKS: [u64; 9] = {
        let mut masks = [0; 9];
        let mut len = 1;
        while len <= 8 {
            masks[len] = u64::MAX >> (64 - 8 * len);
            len += 1;
        }
        masks
    };
    let len = range.len().min(8);
    // The bytes behind a string are there, but at the end of all; a copy of so many would be a call and a wait for memory.
    match all[range.start..].first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word) & MASKS[len],
        None => {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&all[range.start..range.start + len]);
            u64::from_le_bytes(word)
        }
    }
}

/// Fixed positions of a sample: all of `n`, or `pieces` runs of `len`, evenly spread (one: in the middle).
pub(crate) fn sample_ranges(n: usize, pieces: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    let whole = n <= pieces * len;
    let count = if whole { 1 } else { pieces };
    (0..count).map(move |i| {
        if whole {
            0..n
        } else {
            let start = if pieces == 1 { (n - len) / 2 } else { i * (n - len) / (pieces - 1) };
            start..start + len
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_ordered_as_numbers() {
        let long: Vec<i64> = (-3000..3000).collect();
        let late = [long.as_slice(), &[-1]].concat();
        for values in
            [vec![], vec![5], vec![-1, 0, 1], vec![1, 0, -1], vec![2, 2], vec![1, -1, 1], long, late]
        {
            let words: Vec<u64> = values.iter().map(|value| value.cast_unsigned()).collect();
            assert_eq!(Order::Signed.is_ascending(&words), values.is_sorted());
            assert_eq!(Order::Signed.is_descending(&words), values.iter().rev().is_sorted());
            assert_eq!(Order::Unsigned.is_ascending(&words), words.is_sorted());
            assert_eq!(Order::Unsigned.is_descending(&words), words.iter().rev().is_sorted());
        }
    }

    #[test]
    fn bits_fit_into_words_of_whole_bytes() {
        assert_eq!([0, 1, 8, 9, 16, 17, 24, 32, 33, 64].map(byte_width), [1, 1, 1, 2, 2, 4, 4, 4, 8, 8]);
    }
}
