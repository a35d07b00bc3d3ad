//! Puts the results of row spans into the order of the request.

use entasis_format::{Result, fallible};

use crate::read::alloc::{COLUMNS, zeros};
use crate::rows::Rows;

/// A pair of numbers and a missing flag for each requested row, in the order of the request.
pub(super) struct Selection {
    /// The type decides their meaning: index and length of a list, index and type of a union.
    pairs: Vec<(u64, u64)>,
    mask: Vec<u8>,
    /// For a range: the number of rows to skip at the start of the span. For rows by number:
    /// `positions`.
    skip: usize,
    positions: Option<Vec<Vec<(usize, usize)>>>,
    /// For each span, the index of the next entry of `positions` to fill.
    next: Vec<usize>,
}

impl Selection {
    pub fn new(rows: &Rows, n: usize, firsts: &[u64]) -> Result<Self> {
        let mut selection = Self {
            pairs: fallible::with_capacity(n, COLUMNS)?,
            mask: fallible::with_capacity(n, COLUMNS)?,
            skip: 0,
            positions: None,
            next: Vec::new(),
        };
        match rows {
            Rows::Indices(indices) => {
                selection.pairs.resize(n, (0, 0));
                selection.mask.resize(n, 0);
                let mut positions = fallible::collect(firsts.iter().map(|_| Vec::new()), COLUMNS)?;
                for (position, &row) in indices.iter().enumerate() {
                    let s = firsts.partition_point(|&first| first <= row) - 1;
                    fallible::push(&mut positions[s], ((row - firsts[s]) as usize, position), COLUMNS)?;
                }
                positions.iter_mut().for_each(|positions| positions.sort_unstable());
                selection.next = zeros(positions.len())?;
                selection.positions = Some(positions);
            }
            Rows::Range(range) => {
                let first = firsts.first().copied().unwrap_or(range.start);
                selection.skip = (range.start - first) as usize;
            }
            Rows::All | Rows::Step { .. } => {}
        }
        Ok(selection)
    }

    pub fn put(&mut self, row_span: usize, i: usize, pair: (u64, u64), is_missing: bool) {
        let Some(positions) = &self.positions else {
            if i >= self.skip {
                self.pairs.push(pair);
                self.mask.push(u8::from(is_missing));
            }
            return;
        };
        while let Some(&(_, position)) =
            positions[row_span].get(self.next[row_span]).filter(|(at, _)| *at == i)
        {
            self.pairs[position] = pair;
            self.mask[position] = u8::from(is_missing);
            self.next[row_span] += 1;
        }
    }

    pub fn finish(self) -> (Vec<(u64, u64)>, Vec<u8>) {
        (self.pairs, self.mask)
    }
}
