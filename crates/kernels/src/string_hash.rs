//! Hashes and comparisons of strings, many at a time.
//!
//! A string of up to seven bytes is its own 64-bit hash, together with its length. Longer strings
//! with equal hashes are compared afterwards, many at a time, so that nothing waits for a branch on
//! a length, which no processor could predict.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::column_stats;

pub use scalar::hash;

/// Strings of up to this length are their own hash.
pub const TINY: usize = 7;
/// Strings of up to this length are hashed and compared without branches on their length. If all
/// strings of a block are that short, this takes less work than [`LONG`].
pub const MIDDLE: usize = 32;
/// As [`MIDDLE`], for longer strings.
pub const LONG: usize = 64;
/// Strings beyond [`LONG`] need a loop.
pub const ANY: usize = usize::MAX;

/// A way to hash strings. Only hashes made in the same way are comparable.
#[derive(Clone, Copy)]
pub struct Hashing {
    /// Whether to use the AVX-512 kernels. Only [`Hashing::here`] sets it.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    is_wide: bool,
}

impl Hashing {
    /// The fastest way on this processor.
    pub fn here() -> Self {
        #[cfg(target_arch = "x86_64")]
        let is_wide = avx512::is_supported();
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        Self { is_wide }
    }

    /// Hashes strings of up to `MOST` bytes: string i is `all[ends[i]..ends[i + 1]]`.
    ///
    /// `runs` says that most strings equal their predecessor. A branch for missing values (empty
    /// strings) then pays off.
    ///
    /// # Panics
    /// If `ends` descend or exceed `all`.
    pub fn hash_all<const MOST: usize>(self, all: &[u8], ends: &[u32], runs: bool, hashes: &mut [u64]) {
        check(all, ends);
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: `is_wide` is only set if `is_supported` was true; `check` verified the ends.
            return unsafe { avx512::hash_all::<MOST>(all, ends, hashes) };
        }
        scalar::hash_all::<MOST>(all, ends, runs, hashes);
    }

    /// Whether each string of up to `MOST` bytes equals the first string of its code, at
    /// `firsts[code]`.
    ///
    /// # Panics
    /// If `ends` descend or exceed `all`, or the first string of a code is not in `all`.
    pub fn are_equal<const MOST: usize>(
        self,
        all: &[u8],
        ends: &[u32],
        runs: bool,
        codes: &[u32],
        firsts: &[[u32; 2]],
    ) -> bool {
        check(all, ends);
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: `is_wide` is only set if `is_supported` was true; `check` verified the ends.
            return unsafe { avx512::are_equal::<MOST>(all, ends, codes, firsts) };
        }
        scalar::are_equal::<MOST>(all, ends, runs, codes, firsts)
    }
}

/// Panics unless the ends ascend within `all`.
fn check(all: &[u8], ends: &[u32]) {
    let last = ends.last().map_or(0, |&end| end as usize);
    assert!(
        column_stats::is_sorted_unsigned(ends) && last <= all.len(),
        "the ends of strings ascend within the buffer"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_every_isa;

    /// Strings of all lengths up to `most`, each several times, with their codes and the first
    /// string of each code.
    fn strings(most: usize) -> (Vec<u8>, Vec<u32>, Vec<u32>, Vec<[u32; 2]>) {
        let (mut all, mut ends, mut codes) = (Vec::new(), vec![0], Vec::new());
        let mut firsts: Vec<[u32; 2]> = Vec::new();
        let mut known: Vec<Vec<u8>> = Vec::new();
        for i in 0..600usize {
            let len = (i * 31) % (most + 1);
            let string: Vec<u8> =
                (0..len).map(|at| if at == i % (len + 1) { (i % 3) as u8 } else { 7 }).collect();
            let start = all.len() as u32;
            all.extend_from_slice(&string);
            ends.push(all.len() as u32);
            let code = known.iter().position(|of| *of == string).unwrap_or_else(|| {
                known.push(string);
                firsts.push([start, all.len() as u32]);
                known.len() - 1
            });
            codes.push(code as u32);
        }
        (all, ends, codes, firsts)
    }

    fn check<const MOST: usize>(most: usize) {
        let (all, ends, codes, firsts) = strings(most);
        on_every_isa(|_| {
            let hashing = Hashing::here();
            for runs in [false, true] {
                let mut hashes = vec![0; codes.len()];
                hashing.hash_all::<MOST>(&all, &ends, runs, &mut hashes);
                for (i, hash) in hashes.iter().enumerate() {
                    for (j, other) in hashes[..i].iter().enumerate() {
                        assert_eq!(codes[i] == codes[j], hash == other, "{i} and {j} of {MOST}");
                    }
                }
                assert!(MOST <= TINY || hashing.are_equal::<MOST>(&all, &ends, runs, &codes, &firsts));
                for i in (0..codes.len()).step_by(if MOST > TINY { 7 } else { codes.len() }) {
                    let mut codes = codes.clone();
                    codes[i] = (codes[i] + 1) % firsts.len() as u32;
                    assert!(
                        MOST <= TINY || !hashing.are_equal::<MOST>(&all, &ends, runs, &codes, &firsts),
                        "{i} of {MOST}"
                    );
                }
            }
        });
    }

    #[test]
    fn equal_strings_are_found_wherever_they_differ() {
        check::<TINY>(TINY);
        check::<MIDDLE>(MIDDLE);
        check::<LONG>(LONG);
        check::<ANY>(LONG);
        check::<ANY>(150);
    }

    #[test]
    fn strings_outside_the_buffer_panic() {
        on_every_isa(|_| {
            let hashing = Hashing::here();
            let panics =
                |f: &dyn Fn()| assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err());
            for ends in [[0, 9, 4], [0, 4, 11], [11, 11, 11], [4, 2, 3]] {
                panics(&|| hashing.hash_all::<MIDDLE>(&[1; 10], &ends, false, &mut [0; 2]));
                panics(&|| hashing.hash_all::<ANY>(&[1; 10], &ends, false, &mut [0; 2]));
                panics(&|| _ = hashing.are_equal::<MIDDLE>(&[1; 10], &ends, false, &[0, 0], &[[0, 1]]));
            }
            for first in [[0, 11], [5, 4], [11, 11]] {
                panics(&|| _ = hashing.are_equal::<MIDDLE>(&[1; 10], &[0, 1, 2], false, &[0, 0], &[first]));
                panics(&|| _ = hashing.are_equal::<LONG>(&[1; 10], &[0, 1, 2], false, &[0, 0], &[first]));
            }
            panics(&|| _ = hashing.are_equal::<LONG>(&[1; 10], &[0, 1, 2], false, &[0, 1], &[[0, 1]]));
        });
    }
}
