//! Ascending rows of a table.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use entasis::Rows;

/// Rows as ascending ranges with gaps between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct RowSet(VecDeque<Range<u64>>);

impl From<Range<u64>> for RowSet {
    fn from(rows: Range<u64>) -> Self {
        Self(VecDeque::from([rows]))
    }
}

impl FromIterator<u64> for RowSet {
    fn from_iter<I: IntoIterator<Item = u64>>(ascending: I) -> Self {
        let mut set = Self::default();
        ascending.into_iter().for_each(|row| set.push(row..row + 1));
        set
    }
}

impl From<&RowSet> for Rows {
    fn from(set: &RowSet) -> Self {
        match set.0.len() {
            0 => Self::Range(0..0),
            1 => Self::Range(set.0[0].clone()),
            _ => Self::Indices(Arc::new(set.0.iter().cloned().flatten().collect())),
        }
    }
}

impl RowSet {
    /// How many rows there are.
    pub(crate) fn n(&self) -> u64 {
        self.0.iter().map(|rows| rows.end - rows.start).sum()
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = &Range<u64>> + Clone {
        self.0.iter()
    }

    /// The range from the first row to the last one.
    pub(crate) fn span(&self) -> Range<u64> {
        let of = |rows: Option<&Range<u64>>, end: fn(&Range<u64>) -> u64| rows.map_or(0, end);
        of(self.0.front(), |rows| rows.start)..of(self.0.back(), |rows| rows.end)
    }

    /// Whether the rows are consecutive: a single range, or none.
    pub(crate) fn is_consecutive(&self) -> bool {
        self.0.len() < 2
    }

    /// Adds rows after all others.
    pub(crate) fn append(&mut self, rows: Self) {
        rows.0.into_iter().for_each(|rows| self.push(rows));
    }

    fn push(&mut self, rows: Range<u64>) {
        match self.0.back_mut() {
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ => self.0.push_back(rows),
        }
    }

    /// Takes out the first `n` rows, or all if there are fewer; `None` without rows.
    pub(crate) fn take(&mut self, n: u64) -> Option<Self> {
        let (mut part, mut left) = (Self::default(), n);
        while left > 0
            && let Some(rows) = self.0.pop_front()
        {
            let end = rows.end.min(rows.start.saturating_add(left));
            left -= end - rows.start;
            part.push(rows.start..end);
            if end < rows.end {
                self.0.push_front(end..rows.end);
            }
        }
        (!part.0.is_empty()).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range() {
        let set: RowSet = [1, 2, 3, 7, 9, 10].into_iter().collect();
        assert!(set.ranges().eq(&[1..4, 7..8, 9..11]));
        assert_eq!(set.n(), 6);
        let parts = |n| -> Vec<Vec<u64>> {
            let mut rest = set.clone();
            let next = || rest.take(n).map(|part| part.ranges().cloned().flatten().collect());
            std::iter::from_fn(next).collect()
        };
        assert_eq!(parts(4), [vec![1, 2, 3, 7], vec![9, 10]]);
        assert_eq!(parts(2), [vec![1, 2], vec![3, 7], vec![9, 10]]);
        assert_eq!(RowSet::default().take(3), None);
        assert_eq!((set.span(), RowSet::default().span()), (1..11, 0..0));
        let mut joined = set.clone();
        joined.append([11, 12, 20].into_iter().collect());
        assert!(joined.ranges().eq(&[1..4, 7..8, 9..13, 20..21]));
        assert!(!joined.is_consecutive() && RowSet::from(3..9).is_consecutive());
    }
}
