//! Counts the values of each type in a union without offsets, whose values are consecutive in the
//! children.
//!
//! Keeps the counts from one span to the next, and at every `STEP`th position. So a span counts
//! again only what lies after the last kept position, not the whole chunk.

/// Values that are examined together.
pub(super) const STEP: usize = 1 << 16;

/// The counts before a position of a chunk.
#[derive(Default)]
pub(super) struct TypeCounts {
    chunk: Option<usize>,
    /// The position of `here`.
    at: usize,
    here: Vec<usize>,
    /// The counts at positions 0, `STEP`, `2 * STEP` and so on, one after the other.
    kept: Vec<usize>,
}

impl TypeCounts {
    /// Goes to the last known position up to `at`, and returns it.
    pub(super) fn seek(&mut self, chunk: usize, at: usize, n_types: usize) -> usize {
        if self.chunk != Some(chunk) {
            *self = Self { chunk: Some(chunk), at: 0, here: vec![0; n_types], kept: vec![0; n_types] };
        }
        let n_kept = self.kept.len().checked_div(n_types).unwrap_or(1);
        let last = (at / STEP).min(n_kept - 1);
        if self.at > at || self.at < last * STEP {
            self.at = last * STEP;
            self.here.copy_from_slice(&self.kept[last * n_types..][..n_types]);
        }
        self.at
    }

    /// The number of values of type `k` before this position. The value here has type `k`.
    pub(super) fn count(&mut self, k: usize) -> usize {
        self.here[k] += 1;
        self.here[k] - 1
    }

    /// Moves to position `at`. The values in between were counted.
    pub(super) fn reach(&mut self, at: usize) {
        self.at = at;
        if at.is_multiple_of(STEP) && at / STEP * self.here.len() == self.kept.len() {
            self.kept.extend_from_slice(&self.here);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_in_any_order_count_as_from_the_start() {
        let n = 3 * STEP + 77;
        let types: Vec<usize> = (0..n).map(|i| i * i % 7 % 3).collect();
        let mut before = vec![[0; 3]];
        for &k in &types {
            let mut next = before[before.len() - 1];
            next[k] += 1;
            before.push(next);
        }
        let spans = [
            (0, 5),
            (5, 1),
            (9, STEP),
            (8, 3),
            (2 * STEP, 1),
            (STEP - 1, 3),
            (n - 1, 1),
            (0, n),
            (STEP, 1),
            (3 * STEP - 1, 78),
            (17, 0),
        ];
        let mut counts = TypeCounts::default();
        for chunk in [0, 1] {
            for (start, n) in spans {
                let end = start + n;
                let mut from = counts.seek(chunk, start, 3);
                assert!(from <= start);
                while from < end {
                    let to = end.min((from + 1).next_multiple_of(STEP));
                    for at in from..to {
                        assert_eq!(counts.count(types[at]), before[at][types[at]], "{at}");
                    }
                    from = to;
                    counts.reach(from);
                }
            }
            // The whole chunk was counted, so `kept` has every multiple of `STEP`.
            assert_eq!(counts.seek(chunk, 3 * STEP + 76, 3), 3 * STEP);
            assert_eq!(counts.seek(chunk, STEP + 2, 3), STEP);
        }
    }

    #[test]
    fn a_union_may_have_no_types() {
        let mut counts = TypeCounts::default();
        assert_eq!(counts.seek(0, 2 * STEP, 0), 0);
        counts.reach(STEP);
        assert_eq!(counts.seek(0, STEP, 0), STEP);
    }
}
