//! Puts what row spans yield into the order of the request.

use entasis_format::{Result, fallible};

use crate::read::alloc::{COLUMNS, zeros};
use crate::rows::Rows;

/// A pair of numbers and a missing flag for each requested row, in the order of the request.
pub(super) struct Selection {
    /// Their meaning depends on the type: place and length of a list, place and type of a union.
    pairs: Vec<(u64, u64)>,
    mask: Vec<u8>,
    /// For a range: how many rows to skip at the start of the span. For rows by number: `places`.
    skip: usize,
    places: Option<Vec<Vec<(usize, usize)>>>,
    /// The next of each span's places to fill.
    next: Vec<usize>,
}

impl Selection {
    pub fn new(rows: &Rows, n: usize, firsts: &[u64]) -> Result<Self> {
        let mut selection = Self {
            pairs: fallible::with_capacity(n, COLUMNS)?,
            mask: fallible::with_capacity(n, COLUMNS)?,
            skip: 0,
            places: None,
            next: Vec::new(),
        };
        match rows {
            Rows::Indices(indices) => {
                selection.pairs.resize(n, (0, 0));
                selection.mask.resize(n, 0);
                let mut places = fallible::collect(firsts.iter().map(|_| Vec::new()), COLUMNS)?;
                for (place, &row) in indices.iter().enumerate() {
                    let s = firsts.partition_point(|&first| first <= row) - 1;
                    fallible::push(&mut places[s], ((row - firsts[s]) as usize, place), COLUMNS)?;
                }
                places.iter_mut().for_each(|places| places.sort_unstable());
                selection.next = zeros(places.len())?;
                selection.places = Some(places);
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
        let Some(places) = &self.places else {
            if i >= self.skip {
                self.pairs.push(pair);
                self.mask.push(u8::from(is_missing));
            }
            return;
        };
        while let Some(&(_, place)) = places[row_span].get(self.next[row_span]).filter(|(at, _)| *at == i) {
            self.pairs[place] = pair;
            self.mask[place] = u8::from(is_missing);
            self.next[row_span] += 1;
        }
    }

    pub fn finish(self) -> (Vec<(u64, u64)>, Vec<u8>) {
        (self.pairs, self.mask)
    }
}
