//! Integers of other hosts: which vector of R holds all values of a column.
//!
//! R has 32-bit integers, where the least one is NA, and the 64-bit integers of the package bit64.
//! The choice depends on all values of a column, never on the selected rows alone, so that each
//! part of a column has the type of the whole.

use std::ops::Range;

use entasis::{Buffer, ColumnInfo, Error, File, MissingTo, Output, Physical, Request, Result, Rows, Silent};

use super::missing::{NA_INTEGER, NA_INTEGER64};
use super::parallel;

/// The narrowest vector that holds all values; the numbers are those of `R/integers.R`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fit {
    /// Integers.
    Integer,
    /// integer64.
    Integer64,
    /// Doubles.
    Double,
}

/// Bytes of values that one read checks.
const TOGETHER: usize = 16 << 20;

impl Fit {
    /// The narrowest vector that holds an integer.
    pub fn of(n: i128) -> Self {
        if n > i128::from(NA_INTEGER) && n <= i128::from(i32::MAX) {
            Self::Integer
        } else if n > i128::from(NA_INTEGER64) && n <= i128::from(i64::MAX) {
            Self::Integer64
        } else {
            Self::Double
        }
    }
}

fn width_of(physical: Physical) -> usize {
    if physical == Physical::I32 { 4 } else { 8 }
}

/// The integer in the first bytes of a word.
fn integer(physical: Physical, bytes: &[u8]) -> i128 {
    let mut word = [0; 8];
    let len = width_of(physical);
    word[..len].copy_from_slice(&bytes[..len]);
    let word = u64::from_le_bytes(word);
    match physical {
        Physical::I32 => i128::from(word as i32),
        Physical::U64 => i128::from(word),
        _ => i128::from(word.cast_signed()),
    }
}

/// The fit by the minimum and maximum of each block; `None` if a block lacks these statistics.
fn by_statistics(file: &File, info: &ColumnInfo) -> Result<Option<Fit>> {
    if info.record.is_bundled {
        return Ok(None);
    }
    let physical = info.record.column_type.physical;
    let mut fit = Fit::Integer;
    let blocks = file.blocks(info.index)?;
    let statistics = file.statistics_for_filters(info.index, info.record.column_type.layout())?;
    if statistics.len() != blocks.len() {
        return Ok(None);
    }
    for (block, of) in blocks.iter().zip(&statistics) {
        if of.has_min_max {
            fit = fit.max(Fit::of(integer(physical, &of.min))).max(Fit::of(integer(physical, &of.max)));
        } else if of.n_missing != block.n_values {
            return Ok(None);
        }
    }
    Ok(Some(fit))
}

/// `n` zeros.
fn zeros(n: usize) -> Result<Vec<u8>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(n).map_err(|_| Error::out_of_memory(n, "the columns"))?;
    zeros.resize(n, 0);
    Ok(zeros)
}

/// The values of some rows of each column, and a byte for each, 1 = missing.
fn read_rows(file: &File, columns: &[ColumnInfo], rows: &Range<u64>) -> Result<Vec<(Buffer, Vec<u8>)>> {
    let no_memory = || Error::out_of_memory(usize::MAX, "the columns");
    let n = usize::try_from(rows.end - rows.start).map_err(|_| no_memory())?;
    let mut memory = Vec::with_capacity(columns.len());
    for info in columns {
        let len = n.checked_mul(width_of(info.record.column_type.physical)).ok_or_else(no_memory)?;
        let values = Buffer::zeroed(len).ok_or_else(|| Error::out_of_memory(len, "the columns"))?;
        memory.push((values, zeros(n)?));
    }
    let requests = columns.iter().zip(&mut memory).map(|(info, (values, missing))| Request {
        column: info.index,
        rows: Rows::Range(rows.clone()),
        output: Output::Words(values),
        missing: MissingTo::Mask(missing),
    });
    file.read(requests.collect(), None, &Silent)?;
    Ok(memory)
}

/// The fit of some rows of each column, by their values.
fn by_values(file: &File, columns: &[ColumnInfo], rows: &Range<u64>) -> Result<Vec<Fit>> {
    let memory = read_rows(file, columns, rows)?;
    let fits = columns.iter().zip(&memory).map(|(info, (values, missing))| {
        let physical = info.record.column_type.physical;
        let there =
            values.chunks_exact(width_of(physical)).zip(missing).filter(|(_, missing)| **missing == 0);
        there.map(|(value, _)| Fit::of(integer(physical, value))).max().unwrap_or(Fit::Integer)
    });
    Ok(fits.collect())
}

/// The fit of each column of 32-bit or 64-bit integers, by their numbers.
///
/// # Errors
/// *Argument* for other columns, and as [`File::read`].
pub fn fits(file: &File, numbers: &[u64]) -> Result<Vec<Fit>> {
    let mut found = Vec::with_capacity(numbers.len());
    let mut left = Vec::new();
    for &number in numbers {
        let info = (*file.column(number)?).clone();
        if !matches!(info.record.column_type.physical, Physical::I32 | Physical::I64 | Physical::U64) {
            return Err(Error::argument("a column does not hold 32-bit or 64-bit integers"));
        }
        let fit = by_statistics(file, &info)?;
        if fit.is_none() {
            left.push((found.len(), info));
        }
        found.push(fit.unwrap_or(Fit::Integer));
    }
    // One read covers many short columns. Neighbouring columns mostly have the same length.
    let mut at = 0;
    while let Some((_, first)) = left.get(at) {
        let n_values = first.record.n_values;
        let most = (TOGETHER / 8 / usize::try_from(n_values).unwrap_or(usize::MAX).max(1)).max(1);
        let same = left[at..].iter().take(most).take_while(|(_, info)| info.record.n_values == n_values);
        let group = &left[at..at + same.count()];
        let columns: Vec<ColumnInfo> = group.iter().map(|(_, info)| info.clone()).collect();
        for start in (0..n_values).step_by(TOGETHER / 8) {
            let rows = start..n_values.min(start + (TOGETHER / 8) as u64);
            for (&(i, _), fit) in group.iter().zip(by_values(file, &columns, &rows)?) {
                found[i] = found[i].max(fit);
            }
        }
        at += group.len();
    }
    Ok(found)
}

/// Converts integers to doubles in place. Returns the index and value of the first one that was
/// rounded.
pub fn to_doubles(
    words: &mut [u64],
    is_missing: impl Fn(usize) -> bool + Sync,
    double: impl Fn(u64) -> (f64, i128) + Sync,
) -> Option<(usize, i128)> {
    let n = words.len();
    let rounded = parallel::parts(n, |range| {
        words[range.clone()].iter().zip(range).find_map(|(&word, i)| {
            let (value, exact) = double(word);
            (value as i128 != exact && !is_missing(i)).then_some((i, exact))
        })
    });
    parallel::each(words, |word| *word = double(*word).0.to_bits());
    rounded.into_iter().flatten().min()
}

/// The first value of a column that integer64 does not hold, with its row.
///
/// # Errors
/// As [`fits`].
pub fn first_beyond(file: &File, number: u64) -> Result<Option<(u64, i128)>> {
    let info = (*file.column(number)?).clone();
    let physical = info.record.column_type.physical;
    if !matches!(physical, Physical::I64 | Physical::U64) {
        return Err(Error::argument("a column does not hold 64-bit integers"));
    }
    let n_values = info.record.n_values;
    for start in (0..n_values).step_by(TOGETHER / 8) {
        let rows = start..n_values.min(start + (TOGETHER / 8) as u64);
        let columns = [info.clone()];
        let memory = read_rows(file, &columns, &rows)?;
        let (values, missing) = &memory[0];
        let mut there =
            (start..).zip(values.chunks_exact(8)).zip(missing).filter(|(_, missing)| **missing == 0);
        let found = there.find_map(|((row, value), _)| {
            let n = integer(physical, value);
            (Fit::of(n) == Fit::Double).then_some((row, n))
        });
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The integers of R that 64-bit integers are; `None` if one does not fit. Missing ones stay
/// missing.
pub fn narrowed(values: &[i64]) -> Option<Vec<i32>> {
    values.iter().map(|&n| narrow(n)).collect()
}

/// The integer of R that a 64-bit integer is.
#[inline]
pub fn narrow(n: i64) -> Option<i32> {
    match n {
        NA_INTEGER64 => Some(NA_INTEGER),
        n => (Fit::of(i128::from(n)) == Fit::Integer).then_some(n as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_that_holds_it() {
        for (n, fit) in [
            (0, Fit::Integer),
            ((1 << 31) - 1, Fit::Integer),
            (1 << 31, Fit::Integer64),
            (-(1 << 31), Fit::Integer64),
            (-(1 << 31) + 1, Fit::Integer),
            ((1 << 63) - 1, Fit::Integer64),
            (1 << 63, Fit::Double),
            (-(1 << 63), Fit::Double),
        ] {
            assert_eq!(Fit::of(n), fit, "{n}");
        }
    }

    #[test]
    fn doubles_say_when_they_are_rounded() {
        let signed = |n: u64| (n.cast_signed() as f64, i128::from(n.cast_signed()));
        let mut exact = [5, (-3i64).cast_unsigned(), 1 << 53, 1 << 60, 1 << 63];
        let none = |_: usize| false;
        assert_eq!(to_doubles(&mut exact, none, signed), None);
        assert_eq!(exact.map(f64::from_bits), [5.0, -3.0, 2f64.powi(53), 2f64.powi(60), -2f64.powi(63)]);
        let rounded = [1, (1 << 53) + 1, (1 << 53) + 3];
        assert_eq!(to_doubles(&mut rounded.clone(), none, signed), Some((1, (1 << 53) + 1)));
        assert_eq!(to_doubles(&mut rounded.clone(), |i| i == 1, signed), Some((2, (1 << 53) + 3)));
    }
}
