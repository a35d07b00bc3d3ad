//! Pairs of symbols that are found in one step. They use free slots of the table for long symbols.

use entasis_kernels::fsst::SymbolIndex;

use super::{Counts, Matcher, pair_index};
use crate::fsst::{MAX_SYMBOLS, Symbol};

/// If other symbols begin with a pair's second symbol, the pair must occur this often, because one
/// of those other symbols may follow elsewhere.
const MIN_COUNT: u16 = 5;

impl Counts {
    /// Lets `matcher` find the pairs of symbols in the sample in one step. Call it after training.
    ///
    /// The codes stay nearly the same as without pairs. A pair `a`, `b` is omitted if a longer
    /// symbol that begins with `b` follows `a` repeatedly in the sample. If pairs share a slot, the
    /// most frequent one is taken.
    pub(super) fn add_pairs(&mut self, matcher: &mut Matcher) {
        let n = self.symbols.len();
        let symbols = matcher.symbols().as_slice();
        let shorter = beginnings(symbols);
        let mut least = [1; MAX_SYMBOLS];
        for symbol in shorter[..symbols.len()].iter().flatten() {
            least[usize::from(*symbol)] = MIN_COUNT;
        }
        for &[first, mut second] in &self.seen[..self.n_seen] {
            if self.pairs[pair_index([first, second], n)] < 2 {
                continue;
            }
            while let Some(symbol) = shorter[usize::from(second)] {
                second = symbol.into();
                self.pairs[pair_index([first, second], n)] = 0;
            }
        }
        let mut best = [(0, [0; 2], Symbol::default()); SymbolIndex::SLOTS];
        for pair in &self.seen[..self.n_seen] {
            let count = self.pairs[pair_index(*pair, n)];
            let [first, second] = pair.map(|number| self.symbols[usize::from(number)]);
            if count >= least[usize::from(pair[1])]
                && let Some(both) = first.join(second)
                && both.len > 2
            {
                let best = &mut best[SymbolIndex::slot(both.word)];
                if count > best.0 {
                    *best = (count, pair.map(|number| number as u8), both);
                }
            }
        }
        for (_, codes, both) in best.into_iter().filter(|&(count, ..)| count > 0) {
            matcher.add_pair(codes, both);
        }
    }
}

/// For each symbol, the longest other symbol that is its prefix.
fn beginnings(symbols: &[Symbol]) -> [Option<u8>; MAX_SYMBOLS] {
    let mut order: Vec<(Symbol, u8)> = symbols.iter().copied().zip(0..).collect();
    // In byte order, a prefix comes before the strings that begin with it, and no other strings are
    // between them.
    order.sort_unstable_by_key(|(symbol, _)| u128::from(symbol.word.swap_bytes()) << 64 | symbol.len as u128);
    let (mut shorter, mut before) = ([None; MAX_SYMBOLS], Vec::<(Symbol, u8)>::new());
    for (symbol, i) in order {
        while before.pop_if(|before| !symbol.begins_with(before.0)).is_some() {}
        shorter[usize::from(i)] = before.last().map(|before| before.1);
        before.push((symbol, i));
    }
    shorter
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::super::Pairs;
    use super::*;
    use crate::fsst::Symbols;

    fn symbol(bytes: &[u8]) -> Symbol {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Symbol { word: u64::from_le_bytes(word), len: bytes.len() }
    }

    /// The lengths of the matches in a text, with pairs from a sample. The sample is repeated,
    /// because two ranges are counted together.
    fn steps(symbols: &[&str], sample: &str, text: &str) -> Vec<usize> {
        let mut matcher = Matcher::default();
        matcher.set(Symbols::new(symbols.iter().map(|s| symbol(s.as_bytes())).collect()));
        let (mut counts, all) = (Counts::default(), (0..=u8::MAX).collect::<Vec<_>>());
        counts.begin(matcher.symbols(), &all);
        counts.count(sample.repeat(2).as_bytes(), &matcher, Pairs::Short);
        counts.add_pairs(&mut matcher);
        let (mut lens, mut at) = (Vec::new(), 0);
        while at < text.len() {
            lens.push(matcher.find_at(&text.as_bytes()[at..]).len());
            at += lens[lens.len() - 1];
        }
        lens
    }

    #[test]
    fn pairs_of_a_sample_are_found_in_one_step() {
        assert_eq!(steps(&["ab", "cd"], "abcd.", ".abcdabc"), [1, 4, 2, 1]);
        // If pairs share a slot, the more frequent one; a pair of two bytes is too short.
        assert_eq!(steps(&["ab", "cd", "ce"], "abcd.abce.abcd.", "abce.abcd"), [2, 2, 1, 4]);
        assert_eq!(steps(&["a", "b", "cc"], "ab.ab.acc.", "ab.acc"), [1, 1, 1, 3]);
        // No pairs with literal bytes, nor after a long symbol.
        assert_eq!(steps(&["ab", "cde"], "abx.cdeab.", "abx.cdeab"), [2, 1, 1, 3, 2]);
    }

    #[test]
    fn a_pair_is_left_out_where_a_longer_symbol_may_follow() {
        let symbols = ["ab", "c", "cde"];
        let text = "abcx.abcde";
        assert_eq!(steps(&symbols, &"abcx".repeat(2), text), [2, 1, 1, 1, 2, 3]);
        assert_eq!(steps(&symbols, &"abcx".repeat(3), text), [3, 1, 1, 3, 1, 1]);
        assert_eq!(steps(&symbols, &("abcx".repeat(3) + "abcdex"), text), [2, 1, 1, 1, 5]);
    }

    proptest! {
        #[test]
        fn beginnings_are_those_of_the_model(all in btree_set(vec(0..3u8, 1..=8), 0..=MAX_SYMBOLS)) {
            let all: Vec<Vec<u8>> = all.into_iter().collect();
            let symbols: Vec<Symbol> = all.iter().map(|bytes| symbol(bytes)).collect();
            let found = beginnings(&symbols);
            for (i, bytes) in all.iter().enumerate() {
                let shorter = (0..all.len()).filter(|&j| j != i && bytes.starts_with(&all[j]));
                let longest = shorter.max_by_key(|&j| all[j].len());
                prop_assert_eq!(found[i].map(usize::from), longest);
            }
        }
    }
}
