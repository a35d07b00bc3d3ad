//! The machine words that packings work on, and their order.

use std::ops::Range;

use entasis_kernels::{VECTOR, Word, column_stats};

/// The order in which words are compared.
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

    /// Whether words never decrease.
    pub(crate) fn is_ascending<T: Word>(self, words: &[T]) -> bool {
        // Most unsorted words are unsorted within the first vector.
        let glance = &words[..words.len().min(VECTOR)];
        match self {
            Self::Signed => {
                glance.is_sorted_by_key(|&word| Self::Signed.key(word))
                    && column_stats::is_sorted_signed(words)
            }
            Self::Unsigned => {
                glance.is_sorted_by_key(|&word| Self::Unsigned.key(word))
                    && column_stats::is_sorted_unsigned(words)
            }
        }
    }

    /// Whether words never increase.
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

/// The number of bits that `word` needs.
pub(crate) fn bits_of<T: Word>(word: T) -> u32 {
    64 - word.to_u64().leading_zeros()
}

/// The width in bytes (1, 2, 4 or 8) of the narrowest word with this many bits.
pub(crate) fn byte_width(bits: u32) -> u32 {
    bits.div_ceil(8).next_power_of_two()
}

/// The size of a word in bytes.
pub(crate) const fn bytes_of<T>() -> usize {
    size_of::<T>()
}

/// Appends the word in little-endian order.
pub(crate) fn put<T: Word>(word: T, out: &mut Vec<u8>) {
    out.extend_from_slice(&word.to_u64().to_le_bytes()[..bytes_of::<T>()]);
}

/// The little-endian word at index `i` of `bytes`. Bytes after the end count as zero.
pub(crate) fn get<T: Word>(bytes: &[u8], i: usize) -> T {
    let mut word = [0; 8];
    if let Some(stored) = bytes.get(i * bytes_of::<T>()..(i + 1) * bytes_of::<T>()) {
        word[..stored.len()].copy_from_slice(stored);
    }
    T::from_u64(u64::from_le_bytes(word))
}

/// The first 8 bytes of the string at `range` of `all` as a little-endian word. Shorter strings are
/// padded with zeros.
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
    // A load of 8 bytes and a mask are faster than a copy of variable length; only strings near the
    // end of `all` need the copy.
    match all[range.start..].first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word) & MASKS[len],
        None => {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&all[range.start..range.start + len]);
            u64::from_le_bytes(word)
        }
    }
}

/// The positions of a sample, which depend only on `n`: all of them if `n` is small, else
/// `n_ranges` evenly spread ranges of length `len`. A single range is in the middle.
pub(crate) fn sample_ranges(n: usize, n_ranges: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    let whole = n <= n_ranges * len;
    let count = if whole { 1 } else { n_ranges };
    (0..count).map(move |i| {
        if whole {
            0..n
        } else {
            let start = if n_ranges == 1 { (n - len) / 2 } else { i * (n - len) / (n_ranges - 1) };
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
