//! The statistics of a block (format, section 2.7).

use entasis_format::{Physical, Statistics};
use entasis_kernels::{Word, scan};

use crate::word::{Order, bytes_of};

/// Bytes of a string that statistics keep.
const PREFIX: usize = 15;

fn put<T: Word>(word: T, out: &mut [u8; 16]) {
    out[..8].copy_from_slice(&word.to_u64().to_le_bytes());
}

/// Statistics of words whose missing ones were given the value of a neighbour.
pub(crate) fn of_words<T: Word>(physical: Physical, words: &[T], n_missing: u32) -> Statistics {
    let mut statistics = Statistics { n_missing, ..Statistics::default() };
    if n_missing as usize == words.len() {
        return statistics;
    }
    let complete = n_missing == 0;
    match physical {
        Physical::F64 if bytes_of::<T>() == 8 => {
            let values = bytemuck::cast_slice::<T, f64>(words);
            let range = scan::float_range_f64(values);
            of_floats(values, (range.min, range.max, range.has_nan), complete, &mut statistics);
        }
        Physical::F32 if bytes_of::<T>() == 4 => {
            let values = bytemuck::cast_slice::<T, f32>(words);
            let range = scan::float_range_f32(values);
            of_floats(values, (range.min, range.max, range.has_nan), complete, &mut statistics);
        }
        _ if physical.is_integer() => {
            let order = if physical.is_signed() { Order::Signed } else { Order::Unsigned };
            let (min, max) = order.min_max(words);
            put(min, &mut statistics.min);
            put(max, &mut statistics.max);
            statistics.has_min_max = true;
            statistics.ascending = complete && words.is_sorted_by_key(|&w| order.key(w));
            statistics.descending = complete && words.is_sorted_by(|&a, &b| order.key(a) >= order.key(b));
        }
        _ => {}
    }
    statistics
}

fn of_floats<F: Copy + PartialOrd + bytemuck::Pod>(
    values: &[F],
    (min, max, has_nan): (F, F, bool),
    complete: bool,
    statistics: &mut Statistics,
) {
    statistics.has_nan = has_nan;
    if min <= max {
        statistics.min[..size_of::<F>()].copy_from_slice(bytemuck::bytes_of(&min));
        statistics.max[..size_of::<F>()].copy_from_slice(bytemuck::bytes_of(&max));
        statistics.has_min_max = true;
        statistics.ascending = complete && !has_nan && values.is_sorted_by(|a, b| a <= b);
        statistics.descending = complete && !has_nan && values.is_sorted_by(|a, b| a >= b);
    }
}

/// Statistics of the strings that are there.
pub(crate) fn of_strings<'a>(n_missing: u32, mut values: impl Iterator<Item = &'a [u8]>) -> Statistics {
    let mut statistics = Statistics { n_missing, ..Statistics::default() };
    let Some(first) = values.next() else { return statistics };
    let first = (prefix(first), first);
    let (mut min, mut max, mut last) = (first, first, first);
    let (mut ascending, mut descending) = (true, true);
    for value in values {
        // The prefixes decide nearly always; strings are compared where they are equal.
        let value = (prefix(value), value);
        if ascending || descending {
            ascending &= last <= value;
            descending &= last >= value;
            last = value;
        }
        if value < min {
            min = value;
        } else if value > max {
            max = value;
        }
    }
    for (value, out) in [(min.1, &mut statistics.min), (max.1, &mut statistics.max)] {
        let len = value.len().min(PREFIX);
        out[0] = len as u8;
        out[1..=len].copy_from_slice(&value[..len]);
    }
    statistics.has_min_max = true;
    statistics.is_prefix = min.1.len() > PREFIX || max.1.len() > PREFIX;
    statistics.ascending = n_missing == 0 && ascending;
    statistics.descending = n_missing == 0 && descending;
    statistics
}

/// Statistics of strings by their dictionary, whose order is that of their first appearance. Missing ones are empty strings.
pub(crate) fn of_dictionary(
    n_missing: u32,
    entries: &[&[u8]],
    codes: &[u32],
    is_valid: impl Fn(usize) -> bool,
) -> Statistics {
    let missing_alone = |code: usize| {
        n_missing > 0
            && entries[code].is_empty()
            && !codes.iter().enumerate().any(|(i, &of)| of as usize == code && is_valid(i))
    };
    let there = (0..entries.len()).filter(|&code| !missing_alone(code)).map(|code| entries[code]);
    let mut statistics = of_strings(n_missing, there);
    if n_missing > 0 {
        return statistics;
    }
    statistics.n_distinct = entries.len() as u32;
    // In order are those whose codes run up, each entry being greater than the one before it, or less.
    let runs_up = codes.is_sorted();
    statistics.ascending &= runs_up;
    statistics.descending &= runs_up;
    statistics
}

/// The first 8 bytes, zeros behind short strings: if those of two strings differ, they are in the same order as the strings.
#[inline]
fn prefix(value: &[u8]) -> u64 {
    match value.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..value.len()].copy_from_slice(value);
            u64::from_be_bytes(bytes)
        }
    }
}

/// Statistics of booleans: the count of missing values alone.
pub(crate) fn of_count(n_missing: u32) -> Statistics {
    Statistics { n_missing, ..Statistics::default() }
}
