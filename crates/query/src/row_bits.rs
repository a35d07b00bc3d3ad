//! A bit for each of consecutive rows of a table.

use std::ops::Range;

use entasis::{Error, Result};

use crate::ones::{ones, room_for};

/// Selected rows among consecutive rows. If most rows are selected, bits take less memory than
/// numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowBits {
    rows: Range<u64>,
    words: Vec<u64>,
}

impl RowBits {
    /// None of `rows`.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn none(rows: Range<u64>) -> Result<Self> {
        let n = usize::try_from(rows.end.saturating_sub(rows.start).div_ceil(64)).unwrap_or(usize::MAX);
        let mut words = Vec::new();
        if words.try_reserve_exact(n).is_err() {
            return Err(Error::out_of_memory(n.saturating_mul(8), "the bits of the rows"));
        }
        words.resize(n, 0);
        Ok(Self { rows, words })
    }

    /// Adds selected rows. Bit 0 stands for row `first`. Bits after the last row are zero.
    pub(crate) fn add(&mut self, first: u64, bits: &[u64]) {
        let at = (first - self.rows.start) as usize;
        let (word, shift) = (at / 64, at % 64);
        for (i, &bits) in bits.iter().enumerate() {
            self.words[word + i] |= bits << shift;
            let rest = bits.checked_shr(64 - shift as u32).unwrap_or(0);
            // The last word may have no successor.
            if let Some(next) = self.words.get_mut(word + i + 1) {
                *next |= rest;
            }
        }
    }

    /// Adds consecutive rows.
    pub(crate) fn add_all(&mut self, rows: Range<u64>) {
        let (mut at, end) = ((rows.start - self.rows.start) as usize, (rows.end - self.rows.start) as usize);
        while at < end {
            let n = (64 - at % 64).min(end - at);
            self.words[at / 64] |= (u64::MAX >> (64 - n)) << (at % 64);
            at += n;
        }
    }

    /// The bits, least significant first. The first bit stands for the first row.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The row of the first bit.
    pub fn first(&self) -> u64 {
        self.rows.start
    }

    /// How many rows are selected.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The shortest range with all selected rows. It is empty if no row is selected.
    pub fn span(&self) -> Range<u64> {
        let first = self.words.iter().position(|&word| word != 0);
        let last = self.words.iter().rposition(|&word| word != 0);
        let (Some(first), Some(last)) = (first, last) else { return self.rows.start..self.rows.start };
        let start = 64 * first as u64 + u64::from(self.words[first].trailing_zeros());
        let end = 64 * (last as u64 + 1) - u64::from(self.words[last].leading_zeros());
        self.rows.start + start..self.rows.start + end
    }

    /// The selected ones among some of the rows, as ranges of positions among these.
    ///
    /// # Errors
    /// *Argument* for other rows; *out of memory*.
    pub fn runs(&self, rows: Range<u64>) -> Result<Vec<Range<usize>>> {
        if rows.start < self.rows.start || rows.end > self.rows.end {
            return Err(Error::argument("the rows were not tested"));
        }
        let first = (rows.start - self.rows.start) as usize;
        let end = rows.end.saturating_sub(self.rows.start) as usize;
        let (mut runs, mut at) = (Vec::new(), first);
        while at < end {
            let start = self.next(at, end, true);
            at = self.next(start, end, false);
            if start < at {
                if runs.try_reserve(1).is_err() {
                    return Err(Error::out_of_memory(size_of::<Range<usize>>(), "the runs of the rows"));
                }
                runs.push(start - first..at - first);
            }
        }
        Ok(runs)
    }

    /// The first bit from `at` on that is set, or that is not; `end` if none is.
    fn next(&self, mut at: usize, end: usize, is_set: bool) -> usize {
        let flip = if is_set { 0 } else { u64::MAX };
        while at < end {
            let rest = (self.words[at / 64] ^ flip) >> (at % 64);
            if rest != 0 {
                return end.min(at + rest.trailing_zeros() as usize);
            }
            at = (at / 64 + 1) * 64;
        }
        end
    }

    /// The numbers of the selected rows, ascending. Takes 8 bytes for each.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn numbers(&self) -> Result<Vec<u64>> {
        let mut numbers = room_for(self.count())?;
        numbers.extend(ones(&self.words).map(|row| self.rows.start + row));
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_rows() -> Result<()> {
        let bits = RowBits::none(7..7)?;
        assert_eq!((bits.count(), bits.span(), bits.numbers()?), (0, 7..7, vec![]));
        let bits = RowBits::none(7..700)?;
        assert_eq!((bits.count(), bits.span(), bits.numbers()?), (0, 7..7, vec![]));
        Ok(())
    }

    proptest! {
        /// The model is one boolean for each row.
        #[test]
        fn agrees_with_a_model(
            start in 0u64..200,
            parts in vec((any::<bool>(), 0usize..150, vec(any::<bool>(), 0..150)), 0..5),
        ) {
            let n: usize = parts.iter().map(|(_, gap, part)| gap + part.len()).sum();
            let mut bits = RowBits::none(start..start + n as u64).unwrap();
            let mut expected = Vec::new();
            let mut at = start;
            for (is_whole, gap, part) in &parts {
                at += *gap as u64;
                let end = at + part.len() as u64;
                if *is_whole {
                    bits.add_all(at..end);
                    expected.extend(at..end);
                } else {
                    let mut words = vec![0u64; part.len().div_ceil(64)];
                    for (i, _) in part.iter().enumerate().filter(|(_, is_chosen)| **is_chosen) {
                        words[i / 64] |= 1 << (i % 64);
                        expected.push(at + i as u64);
                    }
                    bits.add(at, &words);
                }
                at = end;
            }
            prop_assert_eq!(bits.count(), expected.len() as u64);
            let span = bits.span();
            prop_assert_eq!(expected.first().copied().unwrap_or(span.start), span.start);
            prop_assert_eq!(expected.last().map_or(span.start, |last| last + 1), span.end);
            prop_assert_eq!(bits.numbers().unwrap(), expected.clone());
            let some = start + n as u64 / 4..start + n as u64 / 4 * 3;
            let runs = bits.runs(some.clone()).unwrap();
            prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
            let numbers = runs.into_iter().flatten().map(|at| some.start + at as u64);
            prop_assert!(numbers.eq(expected.into_iter().filter(|row| some.contains(row))));
            prop_assert!(bits.runs(start..start + n as u64 + 1).is_err());
        }
    }
}
