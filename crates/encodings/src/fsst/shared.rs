//! Symbols that all runs of a column share.

use std::sync::OnceLock;

use super::encode::Matcher;
use super::train::MORE_ROUNDS;
use super::{Trained, Trainer};
use crate::profile::Profile;

/// A symbol table for a column of many runs. It is trained once, on strings from the whole column,
/// with more effort than one run would justify. Codecs are compared with it once as well.
///
/// The first run that asks for the table trains it. The result does not depend on which run that
/// is.
#[derive(Debug)]
pub struct SharedSymbols {
    samples: SymbolSamples,
    shared: OnceLock<Shared>,
}

/// Samples of a column of strings.
#[derive(Debug, Default)]
pub struct SymbolSamples {
    /// Strings from the whole column that train the symbols.
    pub to_train: Vec<u8>,
    /// Other strings, which measure the ratio of their codes.
    pub to_try: Vec<u8>,
    /// Stretches of consecutive strings from a few parts of the column. Codecs need them, because
    /// they find repetitions at a distance.
    pub neighbours: Vec<Vec<u8>>,
}

/// The symbols of the column, for one run.
#[derive(Debug)]
pub(crate) struct Shared {
    pub trained: Trained,
    /// Whether the symbols beat every codec on all samples.
    pub no_codec: bool,
}

/// A run resembles its column if the ratio of its codes differs by at most this share of the
/// column's ratio.
const MAX_DEVIATION: f64 = 0.03;

impl SharedSymbols {
    /// A table for a column with these samples; `None` if they are too short.
    pub fn of(samples: SymbolSamples) -> Option<Self> {
        /// The minimum lengths of `to_train` and `to_try`, in bytes.
        const LEAST: (usize, usize) = (24 << 10, 16 << 10);
        let are_enough = samples.to_train.len() >= LEAST.0 && samples.to_try.len() >= LEAST.1;
        are_enough.then(|| Self { samples, shared: OnceLock::new() })
    }

    /// A copy of the symbols for encoding, and the `ratio` of the run, if it is close to the
    /// column's ratio. Otherwise the run should have its own symbols. The symbols score best for
    /// `profile`. `beats_codecs` returns whether symbols with a given ratio and cost per byte
    /// clearly beat every codec.
    pub(crate) fn get(
        &self,
        trainer: &mut Trainer,
        profile: &Profile,
        ratio: &mut impl FnMut(&mut Matcher) -> f64,
        mut beats_codecs: impl FnMut(&[u8], f64, f64) -> bool,
    ) -> Option<(Shared, f64)> {
        let SymbolSamples { to_train, to_try, neighbours } = &self.samples;
        let ratio_of = |matcher: &mut Matcher, bytes: &[u8]| {
            matcher.encode_all(bytes).len() as f64 / bytes.len().max(1) as f64
        };
        let shared = self.shared.get_or_init(|| {
            let Trained { mut matcher, ratio } =
                trainer.train_best(profile, to_train, &MORE_ROUNDS, |matcher| ratio_of(matcher, to_try));
            let byte_cost = matcher.byte_cost();
            let no_codec = !neighbours.is_empty()
                && neighbours.iter().all(|all| beats_codecs(all, ratio_of(&mut matcher, all), byte_cost));
            // A fresh matcher, because the buffers for codes belong to this thread.
            let mut kept = Matcher::default();
            kept.copy(&matcher);
            trainer.recycle(matcher);
            Shared { trained: Trained { matcher: kept, ratio }, no_codec }
        });
        let &Shared { ref trained, no_codec } = shared;
        let mut copy = trainer.copy_of(&trained.matcher);
        let of_run = ratio(&mut copy);
        if (of_run / trained.ratio - 1.0).abs() > MAX_DEVIATION {
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
        let samples = |to_train: &[u8], to_try: &[u8]| SymbolSamples {
            to_train: to_train.to_vec(),
            to_try: to_try.to_vec(),
            neighbours: vec![to_try.to_vec(), to_train.to_vec()],
        };
        assert!(SharedSymbols::of(samples(&text(1000), &text(1000))).is_none());
        let all = text(64 << 10);
        let shared = SharedSymbols::of(samples(&all[..48 << 10], &all[48 << 10..])).unwrap();
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
        // Texts with longer codes, and with shorter codes, than the column.
        assert!(of(&b"0.125 0.25 0.375 -1 12 ".repeat(3000)).is_none());
        assert!(of(&b"sleep ".repeat(9000)).is_none());
    }
    #[test]
    fn no_codec_is_tried_if_none_does_well_anywhere() {
        let all = text(64 << 10);
        let no_codec = |neighbours: &[&[u8]]| {
            let samples = SymbolSamples {
                to_train: all[..48 << 10].to_vec(),
                to_try: all[48 << 10..].to_vec(),
                neighbours: neighbours.iter().map(|bytes| bytes.to_vec()).collect(),
            };
            let shared = SharedSymbols::of(samples).unwrap();
            let mut ratio = |matcher: &mut Matcher| matcher.encode_all(&all).len() as f64 / all.len() as f64;
            let beats_codecs = |bytes: &[u8], ratio: f64, _| bytes.len() > 1000 && ratio < 1.0;
            let profile = Profile::new(Profile::DEFAULT).unwrap();
            shared.get(&mut Trainer::default(), &profile, &mut ratio, beats_codecs).unwrap().0.no_codec
        };
        let (long, short) = (&all[..9000], &all[..900]);
        assert!(no_codec(&[long, long]));
        assert!(!no_codec(&[long, short]) && !no_codec(&[&[], long]) && !no_codec(&[]));
    }
}
