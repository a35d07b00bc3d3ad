//! Sentinels: values that stand for missing ones. Also integers that a host always stores in 32
//! bits.

use crate::dispatch::multiversion;
use crate::word::Word;

/// Writes 1 to `valid[i]` if `words[i]` differs from `sentinel`, else 0. Returns whether
/// the sentinel occurs.
///
/// `None`, leaving `valid` unchanged, if the lengths differ.
#[must_use]
pub fn compare<T: Word>(words: &[T], sentinel: T, valid: &mut [u8]) -> Option<bool> {
    (words.len() == valid.len()).then(|| compare_loop(words, sentinel, valid))
}

/// The result of [`narrow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// Whether the sentinel occurs.
    pub any_missing: bool,
    /// Whether an integer is neither the sentinel nor in the range.
    pub any_outside: bool,
}

/// Writes the low bits of `ints[i] - first` to `out[i]`, and to `valid[i]` 0 if `ints[i]` is the
/// sentinel, else 1.
///
/// The range has `n` integers starting at `first`. `None`, leaving all outputs unchanged, if the
/// lengths differ.
#[must_use]
pub fn narrow<T: Word>(
    ints: &[i32],
    (first, n): (i32, u32),
    sentinel: Option<i32>,
    out: &mut [T],
    valid: &mut [u8],
) -> Option<Narrowed> {
    if ints.len() != out.len() || ints.len() != valid.len() {
        return None;
    }
    // Without a sentinel the loop compares with 0, and the comparison has no effect.
    let found =
        narrow_loop(ints, (first, n), sentinel.unwrap_or(0), u8::from(sentinel.is_none()), out, valid);
    Some(Narrowed { any_missing: found & MISSING != 0, any_outside: found & OUTSIDE != 0 })
}

const MISSING: u8 = 1;
const OUTSIDE: u8 = 2;

#[inline(always)]
fn compare_body<T: Word>(words: &[T], sentinel: T, valid: &mut [u8]) -> bool {
    let mut all = 1;
    for (valid, &word) in valid.iter_mut().zip(words) {
        *valid = u8::from(word != sentinel);
        all &= *valid;
    }
    all == 0
}

multiversion! {
    fn compare_loop[T: Word][T](words: &[T], sentinel: T, valid: &mut [u8]) -> bool = compare_body;
}

#[inline(always)]
fn narrow_body<T: Word>(
    ints: &[i32],
    (first, n): (i32, u32),
    sentinel: i32,
    is_valid_anyway: u8,
    out: &mut [T],
    valid: &mut [u8],
) -> u8 {
    let mut found = 0;
    for ((&int, out), valid) in ints.iter().zip(out).zip(valid) {
        let value = int.wrapping_sub(first) as u32;
        *out = T::from_u64(u64::from(value));
        *valid = u8::from(int != sentinel) | is_valid_anyway;
        found |= (*valid ^ MISSING) | (u8::from(value >= n) * OUTSIDE * *valid);
    }
    found
}

multiversion! {
    fn narrow_loop[T: Word][T](
        ints: &[i32],
        values: (i32, u32),
        sentinel: i32,
        is_valid_anyway: u8,
        out: &mut [T],
        valid: &mut [u8],
    ) -> u8 = narrow_body;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn check_compare<T: Word>(words: &[u64], sentinel: u64) {
        let (words, sentinel): (Vec<T>, T) =
            (words.iter().map(|&w| T::from_u64(w)).collect(), T::from_u64(sentinel));
        let expected: Vec<u8> = words.iter().map(|&word| u8::from(word != sentinel)).collect();
        on_every_isa(|_| {
            let mut valid = vec![7; words.len()];
            assert_eq!(compare(&words, sentinel, &mut valid), Some(expected.contains(&0)));
            assert_eq!(valid, expected);
        });
    }

    fn check_narrow<T: Word>(ints: &[i32], first: i32, n: u32, sentinel: Option<i32>) {
        let missing = |int: &&i32| Some(**int) == sentinel;
        let outside = |int: &&i32| {
            let last = i64::from(first) + i64::from(n);
            !missing(int) && !(i64::from(first)..last).contains(&i64::from(**int))
        };
        on_every_isa(|_| {
            let (mut out, mut valid) = (vec![T::MAX; ints.len()], vec![7; ints.len()]);
            let found = narrow(ints, (first, n), sentinel, &mut out, &mut valid);
            let any_missing = ints.iter().any(|int| missing(&int));
            let any_outside = ints.iter().any(|int| outside(&int));
            assert_eq!(found, Some(Narrowed { any_missing, any_outside }));
            for ((int, out), valid) in ints.iter().zip(out).zip(valid) {
                assert_eq!(out, T::from_u64(int.wrapping_sub(first) as u64));
                assert_eq!(valid, u8::from(!missing(&int)));
            }
        });
    }

    proptest! {
        #[test]
        fn sentinels(words in vec(any::<u64>(), 0..300), at in any::<proptest::sample::Index>(), is_there in any::<bool>()) {
            let sentinel = if words.is_empty() || !is_there { 5 } else { words[at.index(words.len())] };
            check_compare::<u8>(&words, sentinel);
            check_compare::<u16>(&words, sentinel);
            check_compare::<u32>(&words, sentinel);
            check_compare::<u64>(&words, sentinel);
        }

        #[test]
        fn integers(
            ints in vec(prop_oneof![4 => -3i32..9, 1 => Just(i32::MIN), 1 => any::<i32>()], 0..300),
            first in -2i32..3,
            n in 0u32..12,
            sentinel in prop_oneof![Just(None), Just(Some(i32::MIN)), Just(Some(0))],
        ) {
            // Test integers in the range too.
            let inside: Vec<i32> = ints.iter().map(|int| int.rem_euclid(n.max(1) as i32) + first).collect();
            for ints in [&ints, &inside] {
                check_narrow::<u8>(ints, first, n, sentinel);
                check_narrow::<u16>(ints, first, n, sentinel);
                check_narrow::<u32>(ints, first, n, sentinel);
            }
        }
    }

    #[test]
    fn unequal_lengths_are_refused() {
        assert_eq!(compare(&[1u8, 2], 1, &mut [7]), None);
        assert_eq!(narrow(&[1], (0, 2), None, &mut [0u8; 2], &mut [7]), None);
        assert_eq!(narrow(&[1], (0, 2), None, &mut [0u8], &mut []), None);
    }
}
