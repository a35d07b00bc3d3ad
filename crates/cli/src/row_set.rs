//! Ascending rows of a table.

use std::ops::Range;
use std::sync::Arc;

use entasis::Rows;

/// Rows as ascending ranges with gaps between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct RowSet(Vec<Range<u64>>);

impl From<Range<u64>> for RowSet {
    fn from(rows: Range<u64>) -> Self {
        Self(vec![rows])
    }
}

impl FromIterator<u64> for RowSet {
    fn from_iter<I: IntoIterator<Item = u64>>(ascending: I) -> Self {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for row in ascending {
            match ranges.last_mut() {
                Some(last) if last.end == row => last.end += 1,
                _ => ranges.push(row..row + 1),
            }
        }
        Self(ranges)
    }
}

impl From<&RowSet> for Rows {
    fn from(set: &RowSet) -> Self {
        match set.0.as_slice() {
            [] => Self::Range(0..0),
            [rows] => Self::Range(rows.clone()),
            ranges => Self::Indices(Arc::new(ranges.iter().cloned().flatten().collect())),
        }
    }
}

impl RowSet {
    /// How many rows there are.
    pub(crate) fn n(&self) -> u64 {
        self.0.iter().map(|rows| rows.end - rows.start).sum()
    }

    pub(crate) fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Parts of at most `n` rows.
    pub(crate) fn parts(&self, n: u64) -> impl Iterator<Item = Self> {
        let (mut rest, mut i) = (self.0.first().cloned(), 0);
        std::iter::from_fn(move || {
            let (mut part, mut left) = (Vec::new(), n);
            while let Some(rows) = rest.take() {
                let end = rows.end.min(rows.start.saturating_add(left));
                left -= end - rows.start;
                part.push(rows.start..end);
                if end < rows.end {
                    rest = Some(end..rows.end);
                } else {
                    i += 1;
                    rest = self.0.get(i).cloned();
                }
                if left == 0 {
                    break;
                }
            }
            (!part.is_empty()).then_some(Self(part))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range() {
        let set: RowSet = [1, 2, 3, 7, 9, 10].into_iter().collect();
        assert_eq!(set.ranges(), [1..4, 7..8, 9..11]);
        assert_eq!(set.n(), 6);
        let parts = |n| -> Vec<Vec<u64>> {
            set.parts(n).map(|part| part.ranges().iter().cloned().flatten().collect()).collect()
        };
        assert_eq!(parts(4), [vec![1, 2, 3, 7], vec![9, 10]]);
        assert_eq!(parts(2), [vec![1, 2], vec![3, 7], vec![9, 10]]);
        assert_eq!(RowSet::default().parts(3).count(), 0);
    }
}
