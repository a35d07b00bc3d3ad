//! Symbols that all runs of a column share.

use std::sync::OnceLock;

use super::encode::Matcher;
use super::train::MORE_ROUNDS;
use super::{Trained, Trainer};
use crate::profile::Profile;

/// Symbols for a column of many runs, found once, by strings from all of it: more of them than would be worth their time for one run,
/// so that fewer codes are left. What codecs make of the column is seen once too.
///
/// They are found when they are asked for first, and are the same whichever run that is.
#[derive(Debug)]
pub struct SharedSymbols {
    pieces: Pieces,
    found: OnceLock<Shared>,
}

/// Pieces of a column of strings that tell of all of it.
#[derive(Debug, Default)]
pub struct Pieces {
    /// Of strings from all of it, by which symbols are found.
    pub to_train: Vec<u8>,
    /// Of others, which tell how long their codes are.
    pub to_try: Vec<u8>,
    /// Strings that are neighbours, from a few places: codecs find what comes again some way behind.
    pub neighbours: Vec<Vec<u8>>,
}

/// What a run has of its column.
#[derive(Debug)]
pub(crate) struct Shared {
    pub trained: Trained,
    /// Whether no codec does better, wherever in the column that was looked at.
    pub no_codec: bool,
}

/// How much more or less codes may take of a run than of the column, as a share, that the run is taken to be like the rest of it.
const ALIKE: f64 = 0.03;

impl SharedSymbols {
    /// For a column, by pieces from all of it. None where these are too few.
    pub fn of(pieces: Pieces) -> Option<Self> {
        /// Bytes of both kinds of pieces of strings, at least.
        const LEAST: (usize, usize) = (24 << 10, 16 << 10);
        let are_enough = pieces.to_train.len() >= LEAST.0 && pieces.to_try.len() >= LEAST.1;
        are_enough.then(|| Self { pieces, found: OnceLock::new() })
    }

    /// A copy of them, to be encoded with, and what `ratio` says of a run, where that is like the ratio of the column. Symbols of its own
    /// would mostly be better for another run, whether its codes are longer or shorter. They are what scores least for `profile`. `surpass`
    /// says whether symbols by which bytes take a share of theirs, and some nanoseconds each, clearly do better for them than codecs.
    pub(crate) fn get(
        &self,
        trainer: &mut Trainer,
        profile: &Profile,
        ratio: &mut impl FnMut(&mut Matcher) -> f64,
        mut surpass: impl FnMut(&[u8], f64, f64) -> bool,
    ) -> Option<(Shared, f64)> {
        let Pieces { to_train, to_try, neighbours } = &self.pieces;
        let ratio_of = |matcher: &mut Matcher, bytes: &[u8]| {
            matcher.encode_all(bytes).len() as f64 / bytes.len().max(1) as f64
        };
        let shared = self.found.get_or_init(|| {
            let Trained { mut matcher, ratio } =
                trainer.train_best(profile, to_train, &MORE_ROUNDS, |matcher| ratio_of(matcher, to_try));
            let byte_cost = matcher.byte_cost();
            let no_codec = !neighbours.is_empty()
                && neighbours.iter().all(|all| surpass(all, ratio_of(&mut matcher, all), byte_cost));
            // Not with the memory for codes, which is this thread's.
            let mut kept = Matcher::default();
            kept.copy(&matcher);
            trainer.recycle(matcher);
            Shared { trained: Trained { matcher: kept, ratio }, no_codec }
        });
        let &Shared { ref trained, no_codec } = shared;
        let mut copy = trainer.copy_of(&trained.matcher);
        let of_run = ratio(&mut copy);
        if (of_run / trained.ratio - 1.0).abs() > ALIKE {
            trainer.recycle(copy);
            return None;
        }
        let trained = Trained { matcher: copy, ratio: trained.ratio };
        Some((Shared { trained, no_codec }, of_run))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::text;
    use super::*;

    #[test]
    fn they_serve_runs_that_are_like_the_column() {
        let (mut trainer, profile) = (Trainer::default(), Profile::new(Profile::DEFAULT).unwrap());
        let pieces = |to_train: &[u8], to_try: &[u8]| Pieces {
            to_train: to_train.to_vec(),
            to_try: to_try.to_vec(),
            neighbours: vec![to_try.to_vec(), to_train.to_vec()],
        };
        assert!(SharedSymbols::of(pieces(&text(1000), &text(1000))).is_none());
        let all = text(64 << 10);
        let shared = SharedSymbols::of(pieces(&all[..48 << 10], &all[48 << 10..])).unwrap();
        let mut of = |bytes: &[u8]| {
            let mut ratio =
                |matcher: &mut Matcher| matcher.encode_all(bytes).len() as f64 / bytes.len() as f64;
            let found = shared.get(&mut trainer, &profile, &mut ratio, |_, ratio, _| ratio < 0.9);
            found.map(|(of_column, ratio)| {
                assert!(of_column.no_codec);
                (of_column.trained.matcher, ratio)
            })
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
    #[test]
    fn no_codec_is_tried_where_none_does_well_in_any_place() {
        let all = text(64 << 10);
        let no_codec = |neighbours: &[&[u8]]| {
            let pieces = Pieces {
                to_train: all[..48 << 10].to_vec(),
                to_try: all[48 << 10..].to_vec(),
                neighbours: neighbours.iter().map(|bytes| bytes.to_vec()).collect(),
            };
            let shared = SharedSymbols::of(pieces).unwrap();
            let mut ratio = |matcher: &mut Matcher| matcher.encode_all(&all).len() as f64 / all.len() as f64;
            let surpass = |bytes: &[u8], ratio: f64, _| bytes.len() > 1000 && ratio < 1.0;
            let profile = Profile::new(Profile::DEFAULT).unwrap();
            shared.get(&mut Trainer::default(), &profile, &mut ratio, surpass).unwrap().0.no_codec
        };
        let (long, short) = (&all[..9000], &all[..900]);
        assert!(no_codec(&[long, long]));
        assert!(!no_codec(&[long, short]) && !no_codec(&[&[], long]) && !no_codec(&[]));
    }
}
