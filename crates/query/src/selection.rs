//! A bitmap of rows.

use crate::ones::ones;

/// The selected rows among consecutive rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selection {
    words: Vec<u64>,
    n: usize,
}

/// The bits of a word below `n`, which is at most 64.
fn low(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

impl Selection {
    /// All of `n` rows.
    pub fn all(n: usize) -> Self {
        let mut words = vec![u64::MAX; n.div_ceil(64)];
        if let Some(last) = words.last_mut() {
            *last = low(n - (n - 1) / 64 * 64);
        }
        Self { words, n }
    }

    /// None of `n` rows.
    pub fn none(n: usize) -> Self {
        Self { words: vec![0; n.div_ceil(64)], n }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    /// The bits, with zeros after the last row.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether some of the rows from `start` up to `end` are selected.
    pub fn any(&self, start: usize, end: usize) -> bool {
        let mut at = start;
        while at < end {
            let n = (64 - at % 64).min(end - at);
            if self.words[at / 64] >> (at % 64) & low(n) != 0 {
                return true;
            }
            at += n;
        }
        false
    }

    /// Drops the rows from `start` up to `end`.
    pub fn clear(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let n = (64 - at % 64).min(end - at);
            self.words[at / 64] &= !(low(n) << (at % 64));
            at += n;
        }
    }

    /// Drops each row `at + i` whose bit `i` of `bits` is 0, for `n` bits.
    pub fn retain(&mut self, at: usize, n: usize, bits: &[u8]) {
        let (chunks, rest) = bits.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = chunks.iter().chain([&last]).map(|bytes| u64::from_le_bytes(*bytes));
        let (mut at, end) = (at, at + n);
        for word in words {
            if at >= end {
                return;
            }
            let n = (end - at).min(64);
            let dropped = !word & low(n);
            let (i, shift) = (at / 64, at % 64);
            self.words[i] &= !(dropped << shift);
            if shift + n > 64 {
                self.words[i + 1] &= !(dropped >> (64 - shift));
            }
            at += n;
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub fn remove(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// The numbers of the selected rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        ones(&self.words).map(|row| row as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn of(model: &[bool]) -> Selection {
        let mut selection = Selection::all(model.len());
        for (i, &is_chosen) in model.iter().enumerate() {
            if !is_chosen {
                selection.clear(i, i + 1);
            }
        }
        selection
    }

    fn bools(selection: &Selection) -> Vec<bool> {
        let mut model = vec![false; selection.len()];
        selection.rows().for_each(|row| model[row] = true);
        model
    }

    #[test]
    fn whole_selections_count_their_rows() {
        for n in [0, 1, 63, 64, 65, 128, 65_536] {
            assert_eq!((Selection::all(n).count(), Selection::none(n).count()), (n, 0));
            assert!(Selection::none(n).is_empty() && Selection::all(n).is_empty() == (n == 0));
        }
    }

    proptest! {
        #[test]
        fn selections_are_lists_of_booleans(
            model in vec(any::<bool>(), 0..300),
            other in vec(any::<bool>(), 300),
            ends: (usize, usize),
            bits in vec(any::<u8>(), 40),
        ) {
            let n = model.len();
            let (a, b) = (ends.0 % (n + 1), ends.1 % (n + 1));
            let (start, end) = (a.min(b), a.max(b));
            let selection = of(&model);
            prop_assert_eq!(&bools(&selection), &model);
            prop_assert_eq!(selection.count(), model.iter().filter(|&&bit| bit).count());
            prop_assert_eq!(selection.any(start, end), model[start..end].contains(&true));
            let with = |f: &dyn Fn(&mut Selection)| { let mut s = selection.clone(); f(&mut s); bools(&s) };
            let wanted = |f: &dyn Fn(usize) -> bool| (0..n).map(f).collect::<Vec<_>>();
            let other = of(&other[..n]);
            let others = bools(&other);
            prop_assert_eq!(with(&|s| s.clear(start, end)), wanted(&|i| model[i] && !(start..end).contains(&i)));
            prop_assert_eq!(with(&|s| s.add(&other)), wanted(&|i| model[i] || others[i]));
            prop_assert_eq!(with(&|s| s.remove(&other)), wanted(&|i| model[i] && !others[i]));
            let is_kept = |i: usize| bits[i / 8] >> (i % 8) & 1 == 1;
            prop_assert_eq!(
                with(&|s| s.retain(start, end - start, &bits)),
                wanted(&|i| model[i] && (!(start..end).contains(&i) || is_kept(i - start)))
            );
        }
    }
}
