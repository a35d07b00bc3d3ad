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

    /// From the first row to the last one.
    pub(crate) fn span(&self) -> Range<u64> {
        let of = |rows: Option<&Range<u64>>, place: fn(&Range<u64>) -> u64| rows.map_or(0, place);
        of(self.0.first(), |rows| rows.start)..of(self.0.last(), |rows| rows.end)
    }

    /// The rows, to be taken in parts.
    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts { rest: self.0.first().cloned(), following: self.0.get(1..).unwrap_or_default().iter() }
    }
}

/// Rows that are taken in parts.
pub(crate) struct Parts<'a> {
    rest: Option<Range<u64>>,
    following: std::slice::Iter<'a, Range<u64>>,
}

impl Parts<'_> {
    /// Takes the next `n` rows, or those that are left; none at the end.
    pub(crate) fn take(&mut self, n: u64) -> Option<RowSet> {
        let (mut part, mut left) = (Vec::new(), n);
        while left > 0
            && let Some(rows) = self.rest.take()
        {
            let end = rows.end.min(rows.start.saturating_add(left));
            left -= end - rows.start;
            part.push(rows.start..end);
            self.rest = if end < rows.end { Some(end..rows.end) } else { self.following.next().cloned() };
        }
        (!part.is_empty()).then_some(RowSet(part))
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
            let mut parts = set.parts();
            let next = || parts.take(n).map(|part| part.ranges().iter().cloned().flatten().collect());
            std::iter::from_fn(next).collect()
        };
        assert_eq!(parts(4), [vec![1, 2, 3, 7], vec![9, 10]]);
        assert_eq!(parts(2), [vec![1, 2], vec![3, 7], vec![9, 10]]);
        assert_eq!(RowSet::default().parts().take(3), None);
        assert_eq!((set.span(), RowSet::default().span()), (1..11, 0..0));
    }
}
