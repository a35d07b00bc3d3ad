//! Checks of the codes of categoricals.

use std::ops::Range;

use entasis_encodings::Validity;
use entasis_format::{Error, Result};
use entasis_kernels::{Word, gather};

/// Checks that all codes are below `n`, the number of categories. Sets codes of missing values to 0
/// if any code is out of range.
pub(super) fn check_codes<T: Word>(
    validity: Validity<'_>,
    range: Range<usize>,
    n: u64,
    codes: &mut [T],
) -> Result<()> {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let below = |codes: &[T]| gather::check_codes(codes, n);
    if below(codes) {
        return Ok(());
    }
    validity.write_sentinel(range.clone(), T::from_u64(0), codes);
    let no_value = n == 0 && range.clone().all(|i| !validity.is_valid(i));
    if no_value || below(codes) {
        Ok(())
    } else {
        Err(Error::corrupt("a code of a categorical names no category"))
    }
}
