//! Symbols that all runs of a column share.

use std::sync::OnceLock;

use super::encode::Matcher;
use super::{Trained, Trainer};

/// Symbols for a column of many runs, found once, by strings from all of it: more of them than would be worth their time for one run,
/// so that fewer codes are left.
///
/// They are found when they are asked for first, and are the same whichever run that is.
#[derive(Debug)]
pub struct SharedSymbols {
    to_train: Vec<u8>,
    to_try: Vec<u8>,
    trained: OnceLock<Trained>,
}

/// How much more or less codes may take of a run than of the column, as a share, that the run is taken to be like the rest of it.
const ALIKE: f64 = 0.03;

impl SharedSymbols {
    /// For a column, by pieces from all of it: those that symbols are found by, and others that tell how long their codes are. None where
    /// these are too few.
    pub fn of(to_train: Vec<u8>, to_try: Vec<u8>) -> Option<Self> {
        /// Bytes of both, at least.
        const LEAST: (usize, usize) = (24 << 10, 16 << 10);
        let are_enough = to_train.len() >= LEAST.0 && to_try.len() >= LEAST.1;
        are_enough.then(|| Self { to_train, to_try, trained: OnceLock::new() })
    }

    /// A copy of them, to be encoded with, where what `ratio` says of a run is like that of the column. Symbols of its own would mostly
    /// be better for another run, whether its codes are longer or shorter.
    pub(crate) fn get(
        &self,
        trainer: &mut Trainer,
        ratio: &mut impl FnMut(&mut Matcher) -> f64,
    ) -> Option<(Trained, f64)> {
        let trained = self.trained.get_or_init(|| {
            let mut matcher = trainer.train(&self.to_train);
            let ratio = matcher.encode_all(&self.to_try).len() as f64 / self.to_try.len() as f64;
            // Not with the memory for codes, which is this thread's.
            let mut kept = Matcher::default();
            kept.copy(&matcher);
            trainer.keep(matcher);
            Trained { matcher: kept, ratio }
        });
        let mut copy = trainer.copy_of(&trained.matcher);
        let of_run = ratio(&mut copy);
        if (of_run / trained.ratio - 1.0).abs() > ALIKE {
            trainer.keep(copy);
            return None;
        }
        Some((Trained { matcher: copy, ratio: trained.ratio }, of_run))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::text;
    use super::*;

    #[test]
    fn they_serve_runs_that_are_like_the_column() {
        let mut trainer = Trainer::default();
        assert!(SharedSymbols::of(text(1000), text(1000)).is_none());
        let shared = SharedSymbols::of(text(48 << 10), text(64 << 10)[48 << 10..].to_vec()).unwrap();
        let mut of = |bytes: &[u8]| {
            let mut ratio =
                |matcher: &mut Matcher| matcher.encode_all(bytes).len() as f64 / bytes.len() as f64;
            shared.get(&mut trainer, &mut ratio).map(|(trained, ratio)| (trained.matcher, ratio))
        };
        let alike = &text(200 << 10)[100 << 10..];
        let (mut first, ratio) = of(alike).unwrap();
        let (second, _) = of(&text(30_000)).unwrap();
        assert_eq!(first.symbols(), second.symbols());
        assert_eq!(first.encode_all(alike).len() as f64 / alike.len() as f64, ratio);
        // Longer codes, and shorter ones: of one word, again and again.
        assert!(of(&b"0.125 0.25 0.375 -1 12 ".repeat(3000)).is_none());
        assert!(of(&b"sleep ".repeat(9000)).is_none());
    }
}
