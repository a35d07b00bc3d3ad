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

/// Statistics of strings; `value(i)` is none when it is missing.
pub(crate) fn of_strings<'a>(
    n: usize,
    n_missing: u32,
    values: impl Iterator<Item = &'a [u8]> + Clone,
) -> Statistics {
    let mut statistics = Statistics { n_missing, ..Statistics::default() };
    let (Some(min), Some(max)) = (values.clone().min(), values.clone().max()) else { return statistics };
    for (value, out) in [(min, &mut statistics.min), (max, &mut statistics.max)] {
        let len = value.len().min(PREFIX);
        out[0] = len as u8;
        out[1..=len].copy_from_slice(&value[..len]);
    }
    statistics.has_min_max = true;
    statistics.is_prefix = min.len() > PREFIX || max.len() > PREFIX;
    debug_assert!(n > 0);
    statistics.ascending = n_missing == 0 && values.clone().is_sorted();
    statistics.descending = n_missing == 0 && values.is_sorted_by(|a, b| a >= b);
    statistics
}

/// Statistics of booleans: the count of missing values alone.
pub(crate) fn of_count(n_missing: u32) -> Statistics {
    Statistics { n_missing, ..Statistics::default() }
}
