//! Finds stretches of values that repeat at a fixed distance, and copies their codes.
//!
//! Measurements per day and place repeat the sequence of days for each place. A column may also
//! repeat another one, shifted by some rows. Comparing many values at once then replaces as many
//! look-ups.

use std::ops::Range;

use super::{CodeTable, Key, Repeats};

/// Values that are compared at once.
const TOGETHER: usize = 64;
/// Shorter stretches are not worth a copy.
const LEAST: usize = 16;
/// The number of values that are looked up before the next comparison: the initial and the maximum
/// number. It doubles after each failed comparison.
const FIRST: usize = 4;
const MOST: usize = 1024;
/// If at most this many values are looked up between stretches, the next stretch likely starts near
/// the start of an earlier one.
const NEAR: usize = 64;

/// Positions at which values occurred before.
#[derive(Default)]
pub(super) struct RepeatFinder {
    /// For each entry, the position of one of its values: the last one looked up near a stretch,
    /// else the first one.
    positions: Vec<u32>,
    /// The distance from the last stretch to the stretch that it repeats; 0 for none.
    distance: usize,
    /// The distance from the last looked-up value to the position of its entry; 0 for none.
    entry_distance: usize,
    /// The number of values to look up next.
    n_lookups: usize,
}

impl RepeatFinder {
    /// The length of the stretch at the start of `range` that repeats earlier values, and its
    /// distance to the earlier values.
    fn find<K: Key>(&self, values: &[K], range: Range<usize>) -> Option<(usize, usize)> {
        let fits = |distance: &usize| (1..=range.start).contains(distance);
        [self.distance, self.entry_distance].into_iter().filter(fits).find_map(|distance| {
            let before = &values[range.start - distance..range.end - distance];
            let n = n_equal(before, &values[range.clone()]);
            (n >= LEAST).then_some((n, distance))
        })
    }

    /// Records the codes of values that were looked up. The last value is at `at - 1`.
    fn looked_up(&mut self, codes: &[u32], at: usize) {
        if let Some(&last) = codes.last() {
            self.entry_distance = at - 1 - self.positions[last as usize] as usize;
        }
        if codes.len() <= NEAR {
            for (i, &code) in (at - codes.len()..at).zip(codes) {
                self.positions[code as usize] = i as u32;
            }
        }
        self.n_lookups = 2 * codes.len();
    }
}

impl<K: Key> CodeTable<K> {
    /// Writes the codes of the values in `range`. All earlier codes are known. Returns false if the
    /// number of entries then exceeds `limit`.
    #[inline(never)]
    pub(super) fn codes_by_repeats(
        &mut self,
        codes: &mut [u32],
        values: &[K],
        range: Range<usize>,
        limit: usize,
        finder: &mut RepeatFinder,
    ) -> bool {
        let mut at = range.start;
        while at < range.end {
            if let Some((n, distance)) = finder.find(values, at..range.end) {
                copy_codes(codes, at, distance, n);
                (finder.distance, finder.entry_distance, finder.n_lookups) = (distance, 0, FIRST);
                at += n;
                continue;
            }
            let start = at;
            at = (at + finder.n_lookups.clamp(FIRST, MOST)).min(range.end);
            let first = |_, i: usize| finder.positions.push((start + i) as u32);
            if !self.codes(&mut codes[start..at], limit, Repeats::Often, |i| values[start + i], first) {
                return false;
            }
            finder.looked_up(&codes[start..at], at);
        }
        true
    }
}

/// The length of the common prefix of two sequences.
fn n_equal<K: Key>(a: &[K], b: &[K]) -> usize {
    let pairs = a.chunks_exact(TOGETHER).zip(b.chunks_exact(TOGETHER));
    let n = pairs.take_while(|(a, b)| a == b).count() * TOGETHER;
    n + a[n..].iter().zip(&b[n..]).take_while(|(a, b)| a == b).count()
}

/// Copies `n` codes from `at - distance` to `at`. If the ranges overlap, later codes repeat the
/// copies.
fn copy_codes(codes: &mut [u32], at: usize, distance: usize, n: usize) {
    let from = at - distance;
    let mut done = 0;
    while done < n {
        // Everything from `from` on repeats with period `distance`, so each copy can be longer than
        // the previous one.
        let more = (distance + done).min(n - done);
        codes.copy_within(from..from + more, at + done);
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use super::super::model;
    use super::*;

    /// Codes and entries, found in parts.
    fn found(values: &[u64], parts: &[usize], limit: usize) -> Option<(Vec<u64>, Vec<u32>)> {
        let (mut distinct, mut finder) = (CodeTable::with_room_for(10), RepeatFinder::default());
        let mut codes = vec![u32::MAX; values.len()];
        let mut at = 0;
        for end in parts.iter().copied().chain([values.len()]) {
            if !distinct.codes_by_repeats(&mut codes, values, at..end, limit, &mut finder) {
                return None;
            }
            at = end;
        }
        Some((distinct.entries, codes))
    }

    #[test]
    fn values_that_come_again_have_the_same_codes() {
        let mixed = |i: usize| (i as u64).wrapping_mul(crate::dictionary::MIX) >> 40;
        let n = 5000;
        for period in [1, 2, 3, 16, 63, 64, 65, 100, 1000, 4999] {
            let whole: Vec<u64> = (0..n).map(|i| mixed(i % period)).collect();
            // A column that repeats the previous one, shifted by a row. Some values differ.
            let moved: Vec<u64> = (0..n).map(|i| mixed(i % period + i / period)).collect();
            // Parts of one sequence, of any length.
            let parts: Vec<u64> = (0..n).map(|i| mixed((i / 90 * 31 + i % 90) % period)).collect();
            let broken: Vec<u64> = (0..n).map(|i| mixed(if i % 97 == 5 { i } else { i % period })).collect();
            for values in [whole, moved, parts, broken] {
                let wanted = model(&values);
                for ends in [vec![], vec![0, 1, 2500], vec![7, 700, 701]] {
                    assert!(found(&values, &ends, n).unwrap() == wanted, "{period}");
                }
                let n_entries = wanted.0.len();
                assert!(found(&values, &[], n_entries).is_some());
                assert!(found(&values, &[], n_entries - 1).is_none());
            }
        }
        assert_eq!(found(&[], &[], 0), Some((vec![], vec![])));
    }

    #[test]
    fn the_common_prefix_ends_at_the_first_difference() {
        let a: Vec<u64> = (0..200).collect();
        for n in [0, 1, 63, 64, 65, 127, 128, 199, 200] {
            let b: Vec<u64> = a.iter().map(|&value| if value < n { value } else { 0 }).collect();
            assert_eq!(n_equal(&a, &b), n.max(1) as usize);
        }
    }

    #[test]
    fn copies_of_copies_go_on() {
        for distance in [1, 2, 3, 7, 10] {
            for n in [0, 1, 5, 10, 31] {
                let mut codes: Vec<u32> = (0..50).collect();
                copy_codes(&mut codes, 10, distance, n);
                let wanted = |i: usize| {
                    if (10..10 + n).contains(&i) { 10 - distance + (i - 10) % distance } else { i }
                };
                assert!((0..50).all(|i| codes[i] == wanted(i) as u32), "{distance} {n}");
            }
        }
    }
}
