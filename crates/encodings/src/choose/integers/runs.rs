//! The number of runs of equal words.

use entasis_kernels::{VECTOR, column_stats};

use crate::words::sample_ranges;

/// The number of runs of equal words; `words.len()` if a sample has more than seven runs per eight
/// words.
pub(crate) fn count_runs<T: PartialEq>(words: &[T]) -> usize {
    let sample = || sample_ranges(words.len(), 8, VECTOR / 8).map(|range| &words[range]);
    let n_sampled: usize = sample().map(<[T]>::len).sum();
    let n_runs: usize = sample().map(column_stats::count_runs).sum();
    if n_sampled < words.len() && n_runs * 8 > n_sampled * 7 {
        words.len()
    } else {
        column_stats::count_runs(words)
    }
}
