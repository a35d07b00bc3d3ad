//! One-pass statistics that an encoder chooses by.

use crate::dispatch::multiversion;
use crate::word::Word;

/// Smallest and largest value in unsigned order; `(MAX, 0)` when there are none.
pub fn min_max_unsigned<T: Word>(values: &[T]) -> (T, T) {
    min_max_flipped(values, T::ZERO)
}

/// Smallest and largest value in two's-complement order, as bit patterns; the largest and the
/// smallest signed number, in that order, when there are none.
pub fn min_max_signed<T: Word>(values: &[T]) -> (T, T) {
    min_max_flipped(values, T::SIGN)
}

/// Number of maximal runs of equal neighbours; 0 without values.
pub fn count_runs<T: PartialEq>(values: &[T]) -> usize {
    if values.is_empty() { 0 } else { 1 + count_changes(values) }
}

/// Writes the end of each maximal run of equal neighbours and returns the number of runs. The last
/// end is `values.len()`.
///
/// # Panics
/// If `ends` is shorter than `values`, or there are more than 65,535 values.
pub fn run_ends<T: PartialEq>(values: &[T], ends: &mut [u16]) -> usize {
    assert!(values.len() <= ends.len() && values.len() <= usize::from(u16::MAX), "an end for each value");
    if values.is_empty() { 0 } else { write_ends(values, ends) }
}

/// Whether values never decrease in unsigned order.
pub fn is_sorted_unsigned<T: Word>(values: &[T]) -> bool {
    is_sorted_flipped(values, T::ZERO)
}

/// Whether values never decrease in two's-complement order.
pub fn is_sorted_signed<T: Word>(values: &[T]) -> bool {
    is_sorted_flipped(values, T::SIGN)
}

/// Bits that the widest `value - base` (wrapping) needs: 0 to `T::BITS`.
pub fn max_bits<T: Word>(values: &[T], base: T) -> u32 {
    T::BITS - union_of_bits(values, base).leading_zeros()
}

/// Values whose widths are computed together.
const LOOKED_AT: usize = 256;

/// Adds to `histogram[b]` the number of values of all pieces whose `value - base` (wrapping) needs
/// `b` bits.
pub fn width_histogram<'a, T: Word>(
    pieces: impl IntoIterator<Item = &'a [T]>,
    base: T,
    histogram: &mut [u32; 65],
) {
    // Several tables, so that equal neighbours do not wait for each other's increment.
    let mut tables = [[0u32; 128]; 4];
    let mut widths = [0u8; LOOKED_AT];
    for block in pieces.into_iter().flat_map(|piece| piece.chunks(LOOKED_AT)) {
        let widths = &mut widths[..block.len()];
        bit_widths(block, base, widths);
        let (groups, rest) = widths.as_chunks::<4>();
        for group in groups {
            for (table, &width) in tables.iter_mut().zip(group) {
                table[usize::from(width & 127)] += 1;
            }
        }
        for &width in rest {
            tables[0][usize::from(width & 127)] += 1;
        }
    }
    for (width, total) in histogram.iter_mut().enumerate() {
        *total = tables.iter().fold(*total, |sum, table| sum.wrapping_add(table[width]));
    }
}

/// The result of [`float_range_f64`] and [`float_range_f32`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatRange<F> {
    /// The smallest number; positive infinity if there are none. If both zeros occur, either may
    /// represent both.
    pub min: F,
    /// The largest number; negative infinity if there are none.
    pub max: F,
    /// The number of NaN. They do not affect the range.
    pub n_nan: usize,
}

/// The range of the numbers among `values`.
pub fn float_range_f64(values: &[f64]) -> FloatRange<f64> {
    range_f64(values)
}

/// The range of the numbers among `values`.
pub fn float_range_f32(values: &[f32]) -> FloatRange<f32> {
    range_f32(values)
}

fn min_max_flipped<T: Word>(values: &[T], flip: T) -> (T, T) {
    let (min, max) = extremes(values, flip);
    (min ^ flip, max ^ flip)
}

#[inline(always)]
fn extremes_body<T: Word>(values: &[T], flip: T) -> (T, T) {
    values.iter().fold((T::MAX, T::ZERO), |(min, max), &value| {
        let value = value ^ flip;
        (min.min(value), max.max(value))
    })
}

multiversion! {
    fn extremes[T: Word][T](values: &[T], flip: T) -> (T, T) = extremes_body;
}

/// Neighbours that are compared before narrow counters are added up, or before an early exit.
const BLOCK: usize = 4096;

#[inline(always)]
fn count_changes_body<T: PartialEq>(values: &[T]) -> usize {
    let mut changes = 0;
    for (before, after) in values.chunks(BLOCK).zip(values.get(1..).unwrap_or(&[]).chunks(BLOCK)) {
        changes += before.iter().zip(after).map(|(a, b)| u32::from(a != b)).sum::<u32>() as usize;
    }
    changes
}

multiversion! {
    fn count_changes[T: PartialEq][T](values: &[T]) -> usize = count_changes_body;
}

/// Neighbours that are compared at once. In runs long enough for this encoding, they are mostly
/// equal.
const NEAR: usize = 32;

#[inline(always)]
fn write_ends_body<T: PartialEq>(values: &[T], ends: &mut [u16]) -> usize {
    let mut n = 0;
    for (block, (before, after)) in values.chunks(NEAR).zip(values[1..].chunks(NEAR)).enumerate() {
        if !before.iter().zip(after).fold(false, |changes, (a, b)| changes | (a != b)) {
            continue;
        }
        for (i, (a, b)) in before.iter().zip(after).enumerate() {
            ends[n] = (block * NEAR + i + 1) as u16;
            n += usize::from(a != b);
        }
    }
    ends[n] = values.len() as u16;
    n + 1
}

multiversion! {
    fn write_ends[T: PartialEq][T](values: &[T], ends: &mut [u16]) -> usize = write_ends_body;
}

#[inline(always)]
fn is_sorted_body<T: Word>(values: &[T], flip: T) -> bool {
    values.chunks(BLOCK).zip(values.get(1..).unwrap_or(&[]).chunks(BLOCK)).all(|(before, after)| {
        before.iter().zip(after).fold(true, |sorted, (&a, &b)| sorted & (a ^ flip <= b ^ flip))
    })
}

multiversion! {
    fn is_sorted_flipped[T: Word][T](values: &[T], flip: T) -> bool = is_sorted_body;
}

#[inline(always)]
fn union_body<T: Word>(values: &[T], base: T) -> T {
    values.iter().fold(T::ZERO, |union, value| union | value.wrapping_sub(base))
}

multiversion! {
    fn union_of_bits[T: Word][T](values: &[T], base: T) -> T = union_body;
}

#[inline(always)]
fn bit_widths_body<T: Word>(values: &[T], base: T, widths: &mut [u8]) {
    for (width, value) in widths.iter_mut().zip(values) {
        *width = (T::BITS - value.wrapping_sub(base).leading_zeros()) as u8;
    }
}

multiversion! {
    fn bit_widths[T: Word][T](values: &[T], base: T, widths: &mut [u8]) = bit_widths_body;
}

macro_rules! float_range {
    ($float:ident, $count:ident, $range:ident, $body:ident) => {
        #[inline(always)]
        fn $body(values: &[$float]) -> FloatRange<$float> {
            // Independent columns, since floats' comparisons cannot be reordered freely.
            const COLUMNS: usize = 128 / size_of::<$float>();
            let mut min = [$float::INFINITY; COLUMNS];
            let mut max = [$float::NEG_INFINITY; COLUMNS];
            // As wide as the floats: then the masks of comparisons are counters as they are.
            let mut nan = [0 as $count; COLUMNS];
            let (rows, rest) = values.as_chunks::<COLUMNS>();
            for row in rows {
                for i in 0..COLUMNS {
                    // A comparison with NaN is false, so NaN never replaces a number.
                    min[i] = if row[i] < min[i] { row[i] } else { min[i] };
                    max[i] = if row[i] > max[i] { row[i] } else { max[i] };
                }
                for i in 0..COLUMNS {
                    nan[i] += $count::from(row[i].is_nan());
                }
            }
            let mut range = FloatRange {
                min: $float::INFINITY,
                max: $float::NEG_INFINITY,
                n_nan: nan.iter().map(|&n| n as usize).sum::<usize>()
                    + rest.iter().filter(|value| value.is_nan()).count(),
            };
            for &value in min.iter().chain(rest) {
                range.min = if value < range.min { value } else { range.min };
            }
            for &value in max.iter().chain(rest) {
                range.max = if value > range.max { value } else { range.max };
            }
            range
        }

        multiversion! {
            fn $range[][](values: &[$float]) -> FloatRange<$float> = $body;
        }
    };
}

float_range!(f64, u64, range_f64, range_body_f64);
float_range!(f32, u32, range_f32, range_body_f32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// `signed` reads the word as two's complement.
    fn check<T: Word>(values: &[u64], base: u64, signed: fn(T) -> i64) {
        let values: Vec<T> = values.iter().map(|&v| T::from_u64(v)).collect();
        let base = T::from_u64(base);
        let bits = |v: &T| 64 - v.wrapping_sub(base).to_u64().leading_zeros();
        let runs = values.chunk_by(|a, b| a == b).count();
        let mut widths = [3u32; 65];
        values.iter().for_each(|v| widths[bits(v) as usize] += 1);
        on_every_isa(|_| {
            let (min, max) = min_max_unsigned(&values);
            assert_eq!(min, values.iter().copied().min().unwrap_or(T::MAX));
            assert_eq!(max, values.iter().copied().max().unwrap_or(T::ZERO));
            let (min, max) = min_max_signed(&values);
            assert_eq!(signed(min), values.iter().map(|&v| signed(v)).min().unwrap_or(signed(!T::SIGN)));
            assert_eq!(signed(max), values.iter().map(|&v| signed(v)).max().unwrap_or(signed(T::SIGN)));
            assert_eq!(count_runs(&values), runs);
            let mut ends = vec![7; values.len()];
            let n = run_ends(&values, &mut ends);
            let all: Vec<u16> = values
                .chunk_by(|a, b| a == b)
                .scan(0, |end, run| {
                    *end += run.len() as u16;
                    Some(*end)
                })
                .collect();
            assert_eq!(ends[..n], all);
            assert_eq!(is_sorted_unsigned(&values), values.is_sorted());
            assert_eq!(is_sorted_signed(&values), values.is_sorted_by_key(|&v| signed(v)));
            assert_eq!(max_bits(&values, base), values.iter().map(bits).max().unwrap_or(0));
            let mut histogram = [3; 65];
            width_histogram([values.as_slice()], base, &mut histogram);
            assert_eq!(histogram, widths);
        });
    }

    fn check_all(values: &[u64], base: u64) {
        check::<u8>(values, base, |v| i64::from(v as i8));
        check::<u16>(values, base, |v| i64::from(v as i16));
        check::<u32>(values, base, |v| i64::from(v as i32));
        check::<u64>(values, base, |v| v as i64);
    }

    proptest! {
        #[test]
        fn words(values in vec(any::<u64>(), 0..600), base in any::<u64>(), few in any::<bool>(), sort in any::<bool>()) {
            let mut values = values;
            if few {
                values.iter_mut().for_each(|v| *v %= 3);
            }
            if sort {
                values.sort_unstable();
            }
            check_all(&values, base);
        }

        #[test]
        fn floats(bits in vec(any::<u64>(), 0..200), n_nan in 0usize..200) {
            let mut values: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).collect();
            values.extend(std::iter::repeat_n(f64::NAN, n_nan));
            let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            on_every_isa(|_| {
                let numbers = || values.iter().copied().filter(|v| !v.is_nan());
                assert_eq!(float_range_f64(&values), FloatRange {
                    min: numbers().fold(f64::INFINITY, f64::min),
                    max: numbers().fold(f64::NEG_INFINITY, f64::max),
                    n_nan: values.iter().filter(|v| v.is_nan()).count(),
                });
                let numbers = || single.iter().copied().filter(|v| !v.is_nan());
                assert_eq!(float_range_f32(&single), FloatRange {
                    min: numbers().fold(f32::INFINITY, f32::min),
                    max: numbers().fold(f32::NEG_INFINITY, f32::max),
                    n_nan: single.iter().filter(|v| v.is_nan()).count(),
                });
            });
        }
    }

    #[test]
    fn long_inputs_cross_blocks() {
        let values: Vec<u64> = (0..3 * BLOCK as u64 + 5).map(|i| i / 3).collect();
        check_all(&values, 7);
        let mut broken = values.clone();
        broken[2 * BLOCK] = 0;
        check_all(&broken, 7);
    }
}
