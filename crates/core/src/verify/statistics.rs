//! Compares the statistics of a block with its values.

use std::collections::HashSet;

use bytemuck::Pod;
use entasis_format::{Error, Physical, Result, Statistics, fallible};

/// The decoded values of a block.
pub(super) struct Values<'a> {
    /// The values of a fixed width.
    pub words: &'a [u8],
    /// Where the strings begin and end in `bytes`.
    pub offsets: &'a [i64],
    /// The bytes of all strings.
    pub bytes: &'a [u8],
    /// 1 for missing values.
    pub mask: &'a [u8],
}

fn damage(message: &'static str) -> Result<()> {
    Err(Error::corrupt(message).in_section("statistics"))
}

/// Checks the minimum, the maximum, the order, the presence of NaN and the number of distinct
/// values. Values have `width` bytes, unless they are strings.
///
/// # Errors
/// *Corrupt*, *out of memory*.
pub(super) fn check(
    statistics: &Statistics,
    (physical, width): (Physical, usize),
    values: &Values<'_>,
) -> Result<()> {
    if statistics.n_distinct > 0 && n_distinct(width, values)? != statistics.n_distinct as usize {
        return damage("a block has another number of distinct values than its statistics");
    }
    match physical {
        Physical::I8 => words(statistics, values, |_: i8| false),
        Physical::I16 => words(statistics, values, |_: i16| false),
        Physical::I32 => words(statistics, values, |_: i32| false),
        Physical::I64 => words(statistics, values, |_: i64| false),
        Physical::U8 => words(statistics, values, |_: u8| false),
        Physical::U16 => words(statistics, values, |_: u16| false),
        Physical::U32 => words(statistics, values, |_: u32| false),
        Physical::U64 => words(statistics, values, |_: u64| false),
        Physical::Bool => words(statistics, values, |_: u8| false),
        Physical::I128 => words(statistics, values, |_: i128| false),
        Physical::U128 => words(statistics, values, |_: u128| false),
        Physical::F32 => words(statistics, values, f32::is_nan),
        Physical::F64 => words(statistics, values, f64::is_nan),
        Physical::Utf8 | Physical::Binary => strings(statistics, values),
        _ => {
            let flags =
                [statistics.has_min_max, statistics.ascending, statistics.descending, statistics.has_nan];
            if flags.contains(&true) {
                return damage("statistics have bounds or an order that the type does not have");
            }
            Ok(())
        }
    }
}

/// The number of distinct values, as bytes, that are not missing.
fn n_distinct(width: usize, values: &Values<'_>) -> Result<usize> {
    let n = values.mask.len();
    let mut distinct: HashSet<&[u8]> = HashSet::new();
    distinct
        .try_reserve(n)
        .map_err(|_| Error::out_of_memory(n.saturating_mul(size_of::<&[u8]>()), "the distinct values"))?;
    let present = (0..n).filter(|&i| values.mask[i] == 0);
    // Fixed bytes of width 0 have no offsets either, and are all equal.
    if values.offsets.is_empty() {
        distinct.extend(present.map(|i| &values.words[i * width..(i + 1) * width]));
    } else {
        let start = |i: usize| values.offsets[i] as usize;
        distinct.extend(present.map(|i| &values.bytes[start(i)..start(i + 1)]));
    }
    Ok(distinct.len())
}

fn words<T: Pod + PartialOrd>(
    statistics: &Statistics,
    values: &Values<'_>,
    is_nan: impl Fn(T) -> bool,
) -> Result<()> {
    // Memory for 128-bit words may have an alignment of only 64 bits.
    let copied: Vec<T>;
    let words = match bytemuck::try_cast_slice(values.words) {
        Ok(words) => words,
        Err(_) => {
            let words = values.words.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned);
            copied = fallible::collect(words, "the values of a block")?;
            &copied
        }
    };
    let bound = |bytes: &[u8; 16]| bytemuck::pod_read_unaligned::<T>(&bytes[..size_of::<T>()]);
    let (min, max) = (bound(&statistics.min), bound(&statistics.max));
    let (mut n_nan, mut is_outside) = (0u32, false);
    for (&word, _) in words.iter().zip(values.mask).filter(|(_, mask)| **mask == 0) {
        let nan = is_nan(word);
        n_nan += u32::from(nan);
        is_outside |= !(nan || (min <= word && word <= max));
    }
    if statistics.has_min_max && is_outside {
        return damage("a value is outside the bounds of its statistics");
    }
    if statistics.has_nan != (n_nan > 0) || statistics.n_nan.is_some_and(|n| n != n_nan) {
        return damage("statistics are wrong about NaN");
    }
    let is_ordered = (!statistics.ascending || words.is_sorted_by(|a, b| a <= b))
        && (!statistics.descending || words.is_sorted_by(|a, b| a >= b));
    if is_ordered { Ok(()) } else { damage("values are not in the order of their statistics") }
}

fn strings(statistics: &Statistics, values: &Values<'_>) -> Result<()> {
    let string = |pair: &[i64]| &values.bytes[pair[0] as usize..pair[1] as usize];
    let all = || values.offsets.windows(2).map(string);
    // Both have at most 15 bytes after the length: `Statistics::check` refuses longer ones.
    let bound = |bytes: &'_ [u8; 16]| bytes[1..=usize::from(bytes[0]).min(15)].to_vec();
    let (min, max) = (bound(&statistics.min), bound(&statistics.max));
    let is_inside = |value: &[u8]| {
        let is_below = value <= &max[..] || (statistics.is_prefix && value.starts_with(&max));
        is_below && &min[..] <= value
    };
    let mut present = all().zip(values.mask).filter(|(_, mask)| **mask == 0);
    if statistics.has_min_max && !present.all(|(value, _)| is_inside(value)) {
        return damage("a value is outside the bounds of its statistics");
    }
    let is_ordered = (!statistics.ascending || all().is_sorted_by(|a, b| a <= b))
        && (!statistics.descending || all().is_sorted_by(|a, b| a >= b));
    if is_ordered { Ok(()) } else { damage("values are not in the order of their statistics") }
}
