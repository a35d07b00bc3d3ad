//! Lists the rows of a bitmap.

use entasis::{Error, Result};

/// The indices of the bits that are 1, ascending. Bits count from the least significant one.
pub(crate) fn ones(words: &[u64]) -> impl Iterator<Item = u64> {
    (0..).step_by(64).zip(words).flat_map(|(first, &word): (u64, _)| {
        std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)))
            .take_while(|&word| word != 0)
            .map(move |word| first + u64::from(word.trailing_zeros()))
    })
}

/// An empty list with room for `n` numbers.
///
/// # Errors
/// *Out of memory*.
pub(crate) fn room_for(n: u64) -> Result<Vec<u64>> {
    let n = usize::try_from(n).unwrap_or(usize::MAX);
    let mut numbers = Vec::new();
    if numbers.try_reserve_exact(n).is_err() {
        return Err(Error::out_of_memory(n.saturating_mul(8), "the numbers of the rows"));
    }
    Ok(numbers)
}
