//! The estimate of delta packing.

use entasis_format::Packing;
use entasis_kernels::{VECTOR, Word};

use super::plan::WordPlan;
use crate::profile::cost;
use crate::words::{bytes_of, sample_ranges};

/// Delta packing. The final width is found during packing; the size is estimated from 8 vectors.
/// `None` if the first two vectors need at least as many bits as the words themselves.
pub(super) fn delta<T: Word>(words: &[T], full: u32) -> Option<WordPlan<T>> {
    let (mut bits, mut seen) = (0.0, 0.0);
    let mut deltas = [T::from_u64(0); VECTOR];
    let sample = sample_ranges(words.len(), 8, VECTOR).flat_map(|range| words[range].chunks(VECTOR));
    for (i, vector) in sample.enumerate() {
        if i == 2 && bits >= f64::from(full) * seen {
            return None;
        }
        let deltas = &mut deltas[..vector.len()];
        let (_, width) = crate::packing::delta::frame(vector, deltas);
        bits += f64::from(width) * vector.len() as f64;
        seen += vector.len() as f64;
    }
    let n = words.len() as f64;
    let params = words.len().div_ceil(VECTOR) * (2 * bytes_of::<T>() + 1);
    let len = n * bits / seen / 8.0 + params as f64;
    Some(WordPlan::new(Packing::Delta, 0, T::from_u64(0), len, n * cost::DELTA))
}
