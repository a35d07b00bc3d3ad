//! Symbols that all runs of a column share.

use std::sync::OnceLock;

use super::{Trained, Trainer};

/// Symbols for a column of many runs, found once, by strings from all of it: more of them than would be worth their time for one run,
/// so that fewer codes are left.
///
/// They are found when they are asked for first, and are the same whichever run that is.
#[derive(Debug)]
pub struct SharedSymbols {
    sample: Vec<u8>,
    trained: OnceLock<Trained>,
}

impl SharedSymbols {
    /// For a column of which `sample` is a part.
    pub fn new(sample: Vec<u8>) -> Self {
        Self { sample, trained: OnceLock::new() }
    }

    /// A copy of them, to be encoded with.
    pub(crate) fn get(&self, trainer: &mut Trainer) -> Trained {
        let trained = self.trained.get_or_init(|| {
            // What they make of bytes that they were not found for.
            let (to_train, to_try) = self.sample.split_at(self.sample.len() / 4 * 3);
            let mut matcher = trainer.train(to_train);
            let ratio = matcher.encode_all(to_try).len() as f64 / to_try.len().max(1) as f64;
            Trained { matcher, ratio }
        });
        Trained { matcher: trainer.copy_of(&trained.matcher), ratio: trained.ratio }
    }
}
