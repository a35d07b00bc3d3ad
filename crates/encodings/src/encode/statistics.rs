//! The statistics of a block (`docs/format/columns.md`).

use std::ops::Range;

use entasis_format::{Physical, Statistics};
use entasis_kernels::column_stats::FloatRange;
use entasis_kernels::{Word, column_stats};

use crate::string_dictionary::index::DistinctStrings;
use crate::words::{Order, bytes_of, first_bytes};

/// The number of bytes of a string that statistics store.
const PREFIX: usize = 15;

fn put<T: Word>(word: T, out: &mut [u8; 16]) {
    out[..8].copy_from_slice(&word.to_u64().to_le_bytes());
}

/// Statistics of words, with one bit per word (1 = valid) if some are missing. The caller must have
/// filled missing words with a neighbour's value.
pub(crate) fn of_words<T: Word>(
    physical: Physical,
    words: &[T],
    n_missing: u32,
    validity: Option<&[u8]>,
) -> Statistics {
    let mut statistics = Statistics { n_missing, ..Statistics::default() };
    if n_missing as usize == words.len() {
        statistics.n_nan = matches!(physical, Physical::F32 | Physical::F64).then_some(0);
        return statistics;
    }
    let complete = n_missing == 0;
    match physical {
        Physical::F64 if bytes_of::<T>() == 8 => {
            let values = bytemuck::cast_slice::<T, f64>(words);
            let range = column_stats::float_range_f64(values);
            of_floats(values, range, validity, &mut statistics);
        }
        Physical::F32 if bytes_of::<T>() == 4 => {
            let values = bytemuck::cast_slice::<T, f32>(words);
            let range = column_stats::float_range_f32(values);
            of_floats(values, range, validity, &mut statistics);
        }
        _ if physical.is_integer() => {
            let order = if physical.is_signed() { Order::Signed } else { Order::Unsigned };
            let (min, max) = order.min_max(words);
            put(min, &mut statistics.min);
            put(max, &mut statistics.max);
            statistics.has_min_max = true;
            statistics.ascending = complete && order.is_ascending(words);
            statistics.descending = complete && order.is_descending(words);
        }
        _ => {}
    }
    statistics
}

/// Statistics of booleans (0 or 1). Missing ones are 0.
pub(crate) fn of_bools(values: &[u8], n_missing: u32) -> Statistics {
    let mut statistics = Statistics { n_missing, ..Statistics::default() };
    let n_present = values.len() - n_missing as usize;
    if n_present > 0 {
        let n_true = values.iter().map(|&value| usize::from(value)).sum::<usize>();
        statistics.min[0] = u8::from(n_true == n_present);
        statistics.max[0] = u8::from(n_true > 0);
        statistics.has_min_max = true;
        statistics.ascending = n_missing == 0 && values.is_sorted();
        statistics.descending = n_missing == 0 && values.is_sorted_by(|a, b| a >= b);
    }
    statistics
}

/// Statistics of 16-byte values. The caller must have filled missing values with a neighbour's
/// value.
pub(crate) fn of_wide(physical: Physical, values: &[u128], n_missing: u32) -> Statistics {
    let mut statistics = Statistics { n_missing, ..Statistics::default() };
    // With an inverted highest bit, unsigned numbers have the order of signed ones.
    let inverted = match physical {
        Physical::I128 => 0,
        Physical::U128 => 1 << 127,
        _ => return statistics,
    };
    let numbers = || values.iter().map(|value| (value ^ inverted).cast_signed());
    if let (true, Some(min), Some(max)) =
        ((n_missing as usize) < values.len(), numbers().min(), numbers().max())
    {
        statistics.min = (min.cast_unsigned() ^ inverted).to_le_bytes();
        statistics.max = (max.cast_unsigned() ^ inverted).to_le_bytes();
        statistics.has_min_max = true;
        statistics.ascending = n_missing == 0 && numbers().is_sorted();
        statistics.descending = n_missing == 0 && numbers().is_sorted_by(|a, b| a >= b);
    }
    statistics
}

fn of_floats<F: Copy + PartialOrd + bytemuck::Pod>(
    values: &[F],
    FloatRange { min, max, mut n_nan }: FloatRange<F>,
    validity: Option<&[u8]>,
    statistics: &mut Statistics,
) {
    let (complete, has_nan) = (statistics.n_missing == 0, n_nan > 0);
    if let (Some(bits), true) = (validity, has_nan) {
        // Some of the NaN stand for missing values.
        let is_valid = |i: usize| bits[i / 8] >> (i % 8) & 1 == 1;
        let is_nan = |value: &F| value.partial_cmp(value).is_none();
        n_nan = values.iter().enumerate().filter(|(i, value)| is_nan(value) && is_valid(*i)).count();
    }
    statistics.has_nan = has_nan;
    statistics.n_nan = Some(n_nan as u32);
    if min <= max {
        statistics.min[..size_of::<F>()].copy_from_slice(bytemuck::bytes_of(&min));
        statistics.max[..size_of::<F>()].copy_from_slice(bytemuck::bytes_of(&max));
        statistics.has_min_max = true;
        statistics.ascending = complete && !has_nan && values.is_sorted_by(|a, b| a <= b);
        statistics.descending = complete && !has_nan && values.is_sorted_by(|a, b| a >= b);
    }
}

/// Statistics of the present strings. `values` gives the range of each string in `all` and whether
/// it is present; `longest` is the largest length.
#[inline(always)]
pub(crate) fn of_strings(
    n_missing: u32,
    all: &[u8],
    longest: usize,
    values: impl Iterator<Item = (Range<usize>, bool)>,
) -> Statistics {
    if longest <= TINY {
        return of_tiny(n_missing, all, values);
    }
    let there = values.filter(|(_, is_valid)| *is_valid);
    Extremes::of(all, there.map(|(range, _)| range)).statistics(n_missing)
}

/// Statistics of the one-byte strings in `all`, if none is missing.
pub(crate) fn of_bytes(all: &[u8]) -> Statistics {
    if all.is_empty() {
        return Statistics::default();
    }
    let (least, greatest) = column_stats::min_max_unsigned(all);
    let words = [[least], [greatest]];
    let [min, max] = [&words[0], &words[1]].map(|bytes| Prefixed { prefix: 0, bytes });
    let (is_rising, is_falling) = (column_stats::is_sorted_unsigned(all), Order::Unsigned.is_descending(all));
    Extremes { of: Some([min, max]), is_rising, is_falling }.statistics(0)
}

/// Strings up to this length are compared as words.
const TINY: usize = 7;

/// As [`of_strings`], for strings of at most [`TINY`] bytes. A word holds the bytes and, in its
/// lowest byte, the length. Minimum and maximum then need no branches, even with missing values.
#[inline(always)]
fn of_tiny(n_missing: u32, all: &[u8], values: impl Iterator<Item = (Range<usize>, bool)>) -> Statistics {
    let (mut min, mut max) = (u64::MAX, 0);
    let (mut first, mut last) = (0, u64::MAX);
    // Missing values affect the order, but it is reported only if none are missing.
    let (mut is_rising, mut is_falling) = (true, true);
    values.for_each(|(range, is_valid)| {
        let key = prefix(all, range.clone()) | range.len() as u64;
        let missing = u64::from(is_valid).wrapping_sub(1);
        (min, max) = (min.min(key | missing), max.max(key & !missing));
        is_rising &= first <= key;
        is_falling &= last >= key;
        (first, last) = (key, key);
    });
    // No string gives a word with all bits set.
    if min == u64::MAX {
        return Statistics { n_missing, ..Statistics::default() };
    }
    let [min, max] = [min, max].map(u64::to_be_bytes);
    let [least, greatest] = [&min, &max].map(|word| &word[..usize::from(word[TINY])]);
    let of = [least, greatest].map(|bytes| Prefixed { prefix: 0, bytes });
    Extremes { of: Some(of), is_rising, is_falling }.statistics(n_missing)
}

/// A string with its first bytes, which nearly always decide a comparison.
#[derive(Clone, Copy)]
struct Prefixed<'a> {
    prefix: u64,
    bytes: &'a [u8],
}

impl Prefixed<'_> {
    #[inline]
    fn is_less(self, other: Self) -> bool {
        if self.prefix != other.prefix {
            return self.prefix < other.prefix;
        }
        match (self.bytes.get(8..), other.bytes.get(8..)) {
            (Some(rest), Some(of_other)) => rest < of_other,
            // The shorter string is a prefix of the other one.
            _ => self.bytes.len() < other.bytes.len(),
        }
    }
}

impl Prefixed<'_> {
    fn least(self, other: Self) -> Self {
        if other.is_less(self) { other } else { self }
    }

    fn greatest(self, other: Self) -> Self {
        if other.is_less(self) { self } else { other }
    }
}

/// The minimum and maximum of strings, and whether they are sorted.
#[derive(Default)]
struct Extremes<'a> {
    /// The minimum and the maximum; `None` without strings.
    of: Option<[Prefixed<'a>; 2]>,
    is_falling: bool,
    is_rising: bool,
}

impl<'a> Extremes<'a> {
    /// The extremes of the strings at `ranges` of `all`.
    #[inline(always)]
    fn of(all: &'a [u8], mut ranges: impl Iterator<Item = Range<usize>>) -> Self {
        let string =
            |range: Range<usize>| Prefixed { prefix: prefix(all, range.clone()), bytes: &all[range] };
        let Some(first) = ranges.next() else { return Self::default() };
        let [mut min, mut max, mut last] = [string(first); 3];
        let (mut is_rising, mut is_falling) = (true, true);
        for range in ranges.by_ref() {
            let value = string(range);
            is_rising &= !value.is_less(last);
            is_falling &= !last.is_less(value);
            last = value;
            // Once the strings are unsorted, the second loop continues without the order.
            if is_rising {
                max = value;
            } else if is_falling {
                min = value;
            } else {
                (min, max) = (min.least(value), value.greatest(max));
                break;
            }
        }
        // Nearly all first bytes lie between the first bytes of the current minimum and maximum.
        for range in ranges {
            let key = prefix(all, range.clone());
            if key <= min.prefix || key >= max.prefix {
                let value = string(range);
                (min, max) = (min.least(value), value.greatest(max));
            }
        }
        Self { of: Some([min, max]), is_falling, is_rising }
    }

    fn statistics(&self, n_missing: u32) -> Statistics {
        let mut statistics = Statistics { n_missing, ..Statistics::default() };
        let Some([min, max]) = self.of else { return statistics };
        for (value, out) in [(min.bytes, &mut statistics.min), (max.bytes, &mut statistics.max)] {
            let len = value.len().min(PREFIX);
            out[0] = len as u8;
            out[1..=len].copy_from_slice(&value[..len]);
        }
        statistics.has_min_max = true;
        statistics.is_prefix = min.bytes.len() > PREFIX || max.bytes.len() > PREFIX;
        statistics.ascending = n_missing == 0 && self.is_rising;
        statistics.descending = n_missing == 0 && self.is_falling;
        statistics
    }
}

/// Statistics of strings from their dictionary, whose entries are in order of first appearance.
/// Missing values are empty strings.
pub(crate) fn of_dictionary(
    n_missing: u32,
    entries: &DistinctStrings<'_>,
    codes: &[u32],
    is_valid: impl Fn(usize) -> bool,
) -> Statistics {
    let missing_alone = |code: usize| {
        n_missing > 0
            && entries.get(code).is_empty()
            && !codes.iter().enumerate().any(|(i, &of)| of as usize == code && is_valid(i))
    };
    let there = (0..entries.len()).filter(|&code| !missing_alone(code)).map(|code| entries.range(code));
    let mut statistics = Extremes::of(entries.bytes, there).statistics(n_missing);
    if n_missing > 0 {
        return statistics;
    }
    statistics.n_distinct = entries.len() as u32;
    // Values ascend (descend) if the codes ascend and the entries ascend (descend).
    let runs_up = codes.is_sorted();
    statistics.ascending &= runs_up;
    statistics.descending &= runs_up;
    statistics
}

/// The first 8 bytes of a string, big-endian, padded with zeros. Different prefixes have the order
/// of their strings.
#[inline]
fn prefix(all: &[u8], range: Range<usize>) -> u64 {
    u64::from_be_bytes(first_bytes(all, range).to_le_bytes())
}

/// Statistics that contain the number of missing values alone.
pub(crate) fn of_count(n_missing: u32) -> Statistics {
    Statistics { n_missing, ..Statistics::default() }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_integers_have_the_order_of_their_type() {
        let values = [0, 1, i128::MAX.cast_unsigned(), 1 << 127, u128::MAX];
        let of = |physical, values: &[u128], n_missing| {
            let found = of_wide(physical, values, n_missing);
            let bounds = [found.min, found.max].map(u128::from_le_bytes);
            (found.has_min_max.then_some(bounds), found.ascending, found.descending)
        };
        assert_eq!(of(Physical::U128, &values, 0), (Some([0, u128::MAX]), true, false));
        assert_eq!(of(Physical::U128, &values, 1), (Some([0, u128::MAX]), false, false));
        assert_eq!(
            of(Physical::I128, &values, 0),
            (Some([1 << 127, i128::MAX.cast_unsigned()]), false, false)
        );
        assert_eq!(of(Physical::U128, &[u128::MAX, 0], 0), (Some([0, u128::MAX]), false, true));
        assert_eq!(of(Physical::U128, &[7, 7], 0), (Some([7, 7]), true, true));
        for physical in [Physical::U128, Physical::I128] {
            assert_eq!(of(physical, &[0, 0], 2), (None, false, false));
        }
        assert_eq!(of(Physical::Complex128, &values, 0), (None, false, false));
    }

    #[test]
    fn prefixes_order_strings_as_their_bytes_do() {
        let strings: [&[u8]; 12] = [
            b"",
            b"\0",
            b"\0\0",
            b"a",
            b"a\0",
            b"ab",
            b"abcdefgh",
            b"abcdefgh\0",
            b"abcdefgh\0b",
            b"abcdefghi",
            b"b",
            b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        ];
        let of = |bytes| Prefixed { prefix: prefix(bytes, 0..bytes.len()), bytes };
        for one in strings {
            for other in strings {
                assert_eq!(of(one).is_less(of(other)), one < other, "{one:?} {other:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_least_the_greatest_and_the_order_are_those_of_all(
            // Strings that share prefixes with others: unsorted, sorted, and reversed.
            mut strings in vec(("[ab]{0,9}", "[ab\u{0}]{0,2}"), 0..30),
            order in 0..4,
        ) {
            match order {
                0 => strings.sort(),
                1 => strings.sort_by(|a, b| b.cmp(a)),
                2 => strings.sort_by_key(|(first, _)| first.len()),
                _ => {}
            }
            let strings: Vec<String> = strings.into_iter().map(|(first, last)| first + &last).collect();
            let (all, mut at) = (strings.concat(), 0);
            let ranges = strings.iter().map(|string| {
                at += string.len();
                at - string.len()..at
            });
            let found = Extremes::of(all.as_bytes(), ranges);
            let least_and_greatest = found.of.map(|[min, max]| (min.bytes, max.bytes));
            let bytes = || strings.iter().map(|string| string.as_bytes());
            prop_assert_eq!(least_and_greatest, bytes().min().zip(bytes().max()));
            if !strings.is_empty() {
                prop_assert_eq!(found.is_rising, strings.is_sorted());
                prop_assert_eq!(found.is_falling, strings.is_sorted_by(|a, b| a >= b));
            }
        }
    }

    #[test]
    fn nan_that_stand_for_missing_values_are_not_counted() {
        let words = [1.0, f64::NAN, f64::NAN, f64::NAN, 2.0].map(f64::to_bits);
        let of = |words: &[u64], n_missing, validity: Option<&[u8]>| {
            let found = of_words(Physical::F64, words, n_missing, validity);
            (found.has_nan, found.n_nan)
        };
        assert_eq!(of(&words, 0, None), (true, Some(3)));
        assert_eq!(of(&words, 2, Some(&[0b1_0011])), (true, Some(1)));
        assert_eq!(of(&words[..1], 0, None), (false, Some(0)));
        assert_eq!(of(&[0, 0], 2, Some(&[0])), (false, Some(0)));
        assert_eq!(of_words(Physical::I64, &words, 0, None).n_nan, None);
    }

    #[test]
    fn words_order_tiny_strings_as_their_bytes_do() {
        let values: [&[u8]; 8] = [b"b", b"a\0", b"a", b"", b"\xFFxxxxxx", b"ab", b"abcdefg", b"b"];
        let all = values.concat();
        let mut at = 0;
        let ranges: Vec<Range<usize>> = values
            .iter()
            .map(|value| {
                at += value.len();
                at - value.len()..at
            })
            .collect();
        for n in 0..=values.len() {
            for start in 0..=n {
                let of = |n_missing, longest, is_valid: fn(&Range<usize>) -> bool| {
                    let values = ranges[start..n].iter().map(|range| (range.clone(), is_valid(range)));
                    of_strings(n_missing, &all, longest, values)
                };
                assert_eq!(of(0, TINY, |_| true), of(0, TINY + 1, |_| true), "{:?}", &values[start..n]);
                let bytes: Vec<u8> = ranges[start..n].iter().map(|range| range.len() as u8).collect();
                let of_each = (0..bytes.len()).map(|i| (i..i + 1, true));
                assert_eq!(of_bytes(&bytes), of_strings(0, &bytes, 1, of_each), "{bytes:?}");
                let long = |range: &Range<usize>| range.len() > 1;
                assert_eq!(of(1, TINY, long), of(1, TINY + 1, long), "{:?}", &values[start..n]);
            }
        }
    }
}
