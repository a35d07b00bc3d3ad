//! The block dictionary: distinct values in the order of their first appearance, and a code per
//! value.

mod estimate;
mod repeat_finder;
mod table;

use std::ops::Range;

use entasis_kernels::VECTOR;
pub(crate) use estimate::{Estimate, NoDictionary, estimate};
use repeat_finder::RepeatFinder;
use table::Repeats;
pub(crate) use table::{CodeTable, Key, MIX};

/// The largest number of entries of a dictionary.
pub(crate) const MAX_ENTRIES: usize = 1 << 16;

/// The size that a dictionary must not exceed.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub n_entries: usize,
    /// Bytes of an entry, and total bytes of packed codes and entries.
    pub entry_len: usize,
    pub len: f64,
}

impl Limit {
    /// Whether a dictionary of `n_entries` for `n` values exceeds the limit.
    fn is_passed(self, n: usize, n_entries: usize) -> bool {
        let codes = n as f64 * f64::from(code_width(n_entries)) / 8.0;
        n_entries > self.n_entries || codes + (n_entries * self.entry_len) as f64 > self.len
    }
}

/// Writes codes for all `n` values. Returns `None` if there are more distinct values than `limit`
/// allows, or if the first quarter of the values predicts that. A sample says little about rare
/// values, and there may be many.
///
/// The entries stay in `distinct`. `first_of` receives each code and the position of its first
/// value, as in [`CodeTable::codes`].
#[inline(always)]
pub(crate) fn build<K: Key>(
    (distinct, n): (&mut CodeTable<K>, usize),
    limit: Limit,
    estimate: Estimate,
    codes: &mut Vec<u32>,
    value: impl Fn(usize) -> K,
    mut first_of: impl FnMut(usize, usize),
) -> Option<()> {
    let repeats = estimate.repeats(n);
    build_by((distinct, n), limit, estimate, codes, |distinct, codes, range| {
        codes_up_to(distinct, codes, range, limit, repeats, &value, &mut first_of)
    })
}

/// As [`build`], for values in memory. Stretches that repeat earlier ones are found without
/// look-ups.
///
/// It is a separate function because its loop needs all registers.
#[inline(never)]
pub(crate) fn build_words<K: Key>(
    values: &[K],
    limit: Limit,
    estimate: Estimate,
    codes: &mut Vec<u32>,
) -> Option<Vec<K>> {
    let repeats = estimate.repeats(values.len());
    let (mut distinct, mut finder) = (CodeTable::default(), RepeatFinder::default());
    build_by(
        (&mut distinct, values.len()),
        limit,
        estimate,
        codes,
        |distinct, codes, range| match repeats {
            Repeats::Often => distinct.codes_by_repeats(codes, values, range, limit.n_entries, &mut finder),
            _ => codes_up_to(distinct, codes, range, limit, repeats, |i| values[i], |_, _| ()),
        },
    )?;
    Some(distinct.entries)
}

/// As [`build`]. `codes_up_to` writes the codes of a range of values and returns whether the limit
/// holds.
#[inline(always)]
fn build_by<K: Key>(
    (distinct, n): (&mut CodeTable<K>, usize),
    limit: Limit,
    estimate: Estimate,
    codes: &mut Vec<u32>,
    mut codes_up_to: impl FnMut(&mut CodeTable<K>, &mut [u32], Range<usize>) -> bool,
) -> Option<()> {
    distinct.clear_for(estimate.n_entries, limit.n_entries);
    codes.resize(n, 0);
    // The number of entries after an eighth of the values, and after a quarter.
    let first = if estimate.runs || n < FORESEEN_FROM { 0 } else { n / 4 };
    let mut found = [0, 0];
    let mut at = 0;
    for (end, found) in [first / 2, first].into_iter().zip(&mut found) {
        if !codes_up_to(distinct, codes, at..end) {
            return None;
        }
        (at, *found) = (end, distinct.entries.len());
    }
    if first > 0 && limit.is_passed(n, foreseen(found)) {
        return None;
    }
    codes_up_to(distinct, codes, at..n).then_some(())
}

/// Writes the codes of some values, one vector at a time if values rarely repeat.
#[inline(always)]
fn codes_up_to<K: Key>(
    distinct: &mut CodeTable<K>,
    codes: &mut [u32],
    range: Range<usize>,
    limit: Limit,
    repeats: Repeats,
    value: impl Fn(usize) -> K,
    mut first_of: impl FnMut(usize, usize),
) -> bool {
    let step = if repeats == Repeats::Rarely { VECTOR } else { range.len().max(1) };
    range.clone().step_by(step).all(|start| {
        let end = (start + step).min(range.end);
        let first = |code: usize, i: usize| first_of(code, start + i);
        distinct.codes(&mut codes[start..end], limit.n_entries, repeats, |i| value(start + i), first)
    })
}

/// From this number of values on, a part of the values predicts the number of entries.
const FORESEEN_FROM: usize = 8192;

/// Predicts the number of entries from the numbers after an eighth and a quarter of the values.
/// Applies the growth factor twice more, which is slightly too low if most values are rare.
fn foreseen([eighth, quarter]: [usize; 2]) -> usize {
    (quarter as f64 * (quarter as f64 / eighth.max(1) as f64).powi(2)) as usize
}

/// The bits of a code among this many entries.
pub(crate) fn code_width(n_entries: usize) -> u32 {
    usize::BITS - n_entries.saturating_sub(1).leading_zeros()
}

/// A limit on the number of entries alone.
#[cfg(test)]
pub(crate) fn up_to(n_entries: usize) -> Limit {
    Limit { n_entries, entry_len: 0, len: f64::INFINITY }
}

#[cfg(test)]
pub(crate) fn model<K: Copy + Eq + std::hash::Hash>(values: &[K]) -> (Vec<K>, Vec<u32>) {
    let mut seen = std::collections::HashMap::new();
    let mut entries = Vec::new();
    let codes = values
        .iter()
        .map(|v| {
            *seen.entry(*v).or_insert_with(|| {
                entries.push(*v);
                entries.len() as u32 - 1
            })
        })
        .collect();
    (entries, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_a_hash_map() {
        let values: Vec<u64> = (0..5000u64).map(|i| (i * i) % 1501).collect();
        // All cases use one table: entries of one case must not appear in the next.
        let (mut distinct, mut codes) = (CodeTable::default(), Vec::new());
        for (runs, n_entries) in [(false, 0), (true, 10), (false, 10_000)] {
            let estimate = Estimate { len: 0.0, ns: 0.0, n_entries, runs, nearby: false };
            let mut build = |limit| {
                let all = (&mut distinct, values.len());
                build(all, up_to(limit), estimate, &mut codes, |i| values[i], |_, _| ())?;
                Some((distinct.entries.clone(), codes.clone()))
            };
            assert_eq!(build(MAX_ENTRIES), Some(model(&values)));
            assert_eq!(build(100), None);
            assert_eq!(build(MAX_ENTRIES), Some(model(&values)));
            let of_words = build_words(&values, up_to(MAX_ENTRIES), estimate, &mut codes).unwrap();
            assert_eq!((of_words, codes.clone()), model(&values));
            assert!(build_words(&values, up_to(100), estimate, &mut codes).is_none());
        }
    }

    #[test]
    fn too_many_entries_are_foreseen() {
        let mut codes = Vec::new();
        let estimate = Estimate { len: 0.0, ns: 0.0, n_entries: 100, runs: false, nearby: false };
        let n = 60_000;
        // 3,000 entries, and a number of entries that keeps growing.
        let few = |i: usize| (i * 7919 % 3000) as u64;
        let many = |i: usize| if i.is_multiple_of(10) { i as u64 } else { 1 };
        for entry_len in [0, 8] {
            let limit = Limit { n_entries: MAX_ENTRIES, entry_len, len: n as f64 * 1.5 + 3000.0 * 9.0 };
            let mut distinct = CodeTable::default();
            assert!(build((&mut distinct, n), limit, estimate, &mut codes, few, |_, _| ()).is_some());
            assert_eq!(distinct.entries.len(), 3000);
            let built = build((&mut distinct, n), limit, estimate, &mut codes, many, |_, _| ());
            assert_eq!(built.is_some(), entry_len == 0);
        }
        assert_eq!((foreseen([0, 0]), foreseen([10, 10]), foreseen([10, 20])), (0, 10, 80));
    }

    #[test]
    fn widths_of_codes() {
        assert_eq!([1, 2, 3, 4, 5, 256, 257].map(code_width), [0, 1, 2, 2, 3, 8, 9]);
    }
}
