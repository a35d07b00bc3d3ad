//! The sentinels of R for missing numbers: one NaN among many, and the least integers.

use super::parallel;

/// `NA_integer_`, and `NA` of logicals.
pub const NA_INTEGER: i32 = i32::MIN;
/// The missing value of integer64 and nanotime.
pub const NA_INTEGER64: i64 = i64::MIN;
/// `NA_real_` as R makes it.
pub const NA_REAL: u64 = 0x7FF0_0000_0000_07A2;
/// `NA_real_` after arithmetic: the processor sets the quiet bit.
pub const NA_REAL_QUIET: u64 = 0x7FF8_0000_0000_07A2;

/// The sentinel of missing doubles in a column.
pub fn na_real(quiet: bool) -> u64 {
    if quiet { NA_REAL_QUIET } else { NA_REAL }
}

/// The first NA among doubles. It marks the missing values; other NaNs are stored as values.
pub fn first_na(values: &[f64]) -> Option<u64> {
    let is_na = |value: &f64| matches!(value.to_bits(), NA_REAL | NA_REAL_QUIET);
    let found = parallel::parts(values.len(), |range| {
        let values = &values[range];
        // Blocks without an early exit vectorise, and most vectors have no NA.
        let part =
            values.chunks(1024).position(|part| part.iter().fold(false, |any, value| any | is_na(value)))?;
        values[part * 1024..].iter().find(|value| is_na(value)).map(|value| value.to_bits())
    });
    found.into_iter().flatten().next()
}

/// The code of the first NA among doubles: 0 for none, 1 for `NA_real_`, 2 for the quiet NA.
pub fn first_na_of(values: &[f64]) -> i32 {
    let found = if values.len() < 1024 {
        values.iter().map(|value| value.to_bits()).find(|bits| matches!(*bits, NA_REAL | NA_REAL_QUIET))
    } else {
        first_na(values)
    };
    match found {
        None => 0,
        Some(NA_REAL_QUIET) => 2,
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_na_is_found() {
        let mut values = vec![1.5; 3_000_000];
        assert_eq!(first_na(&values), None);
        values[5] = f64::NAN;
        assert_eq!(first_na(&values), None);
        for (at, na) in
            [(2_999_999, NA_REAL), (1_600_000, NA_REAL_QUIET), (1024, NA_REAL), (3, NA_REAL_QUIET)]
        {
            values[at] = f64::from_bits(na);
            assert_eq!(first_na(&values), Some(na));
        }
    }
}
