//! Encodes floats with ALP: the integers and the exceptions of a block.

use entasis_format::{Directory, Result};
use entasis_kernels::Word;
use entasis_platform::memory::ScratchVec;

use super::Encoder;
use super::page_writer::{Context, PageWriter, fixed_pages};
use crate::alp::{Decimals, Float};
use crate::choose::floats;
use crate::choose::integers::{Exceptions, Kind, WordPlan, plan_light};
use crate::limits::PAGE;
use crate::profile::{Profile, cost};
use crate::words::Order;

impl Encoder {
    /// The ALP parameters and the bits per value in a sample, if that is worth a trial.
    pub(super) fn plan_decimals<F: Float>(&mut self, values: &[F]) -> Option<(Decimals, f64)> {
        let found =
            floats::choose(values, self.choices.hints.decimals, !self.choices.profile.codecs.is_empty())?;
        self.choices.hints.decimals = Some(found.0);
        Some(found)
    }

    /// A plan for the integers of ALP, given the number of runs and whether values hardly repeat.
    pub(super) fn plan_alp<F: Float>(
        &mut self,
        values: &[F],
        by: Decimals,
        (n_runs, unrepeated): (usize, bool),
    ) -> AlpPlan<F::Int> {
        let mut memory = std::mem::take(&mut self.ints);
        if memory.len() < values.len() {
            memory.resize_stale(values.len());
        }
        let ints = &mut bytemuck::cast_slice_mut(&mut memory)[..values.len()];
        let mut exceptions = Vec::new();
        let mut among = Exceptions::default();
        for (page, ints) in values.chunks(PAGE).zip(ints.chunks_mut(PAGE)) {
            let mut outside = Vec::new();
            F::encode(page, by, ints, &mut outside);
            among.n += outside.len();
            among.repeats += outside
                .windows(2)
                .filter(|at| page[usize::from(at[0])].is_same(page[usize::from(at[1])]))
                .count();
            exceptions.push(outside);
        }
        let kind = Kind {
            exceptions: among,
            // Equal values have equal integers, so the runs are the same.
            n_runs: (among.n == 0).then_some(n_runs),
            ..Kind::new(Order::Signed, true, false)
        };
        let mut light = plan_light(ints, kind, &self.choices.profile);
        light.unrepeated = unrepeated;
        let (hint, bound) = (&mut self.choices.hints.ints, f64::INFINITY);
        let mut words = light.with_codec(ints, bound, &self.choices.profile, &mut self.choices.codecs, hint);
        words.ns += values.len() as f64 * cost::ALP;
        AlpPlan { words, ints: memory, exceptions, by }
    }

    pub(super) fn write_alp<T: Word>(
        &mut self,
        alp: AlpPlan<T>,
        physical: &[T],
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Directory> {
        let pages = PageWriter::new(&mut self.choices.codecs, alp.words.codec, context, out);
        let ranges = fixed_pages(physical.len(), size_of::<T>());
        let words = (&bytemuck::cast_slice(&alp.ints)[..physical.len()], &alp.words, Order::Signed);
        let (transform, exponent, factor) = alp.by.parameters();
        let directory = pages.words(ranges, transform, words, (&alp.exceptions, physical))?;
        self.ints = alp.ints;
        Ok(Directory { exponent, factor, ..directory })
    }
}

pub(super) enum Alp {
    F64(AlpPlan<u64>),
    F32(AlpPlan<u32>),
}

pub(super) struct AlpPlan<T> {
    words: WordPlan<T>,
    /// The integers, at the start of the encoder's buffer for them.
    ints: ScratchVec<u64>,
    /// The positions of exceptions, per page.
    exceptions: Vec<Vec<u16>>,
    by: Decimals,
}

impl Alp {
    pub(super) fn len_and_score(&self, profile: &Profile) -> (f64, f64) {
        match self {
            Self::F64(a) => (a.words.len, a.words.score(profile)),
            Self::F32(a) => (a.words.len, a.words.score(profile)),
        }
    }

    /// Returns the encoder's buffer for integers.
    pub(super) fn into_ints(self) -> ScratchVec<u64> {
        match self {
            Self::F64(a) => a.ints,
            Self::F32(a) => a.ints,
        }
    }
}
