//! Encodes floats with ALP: the integers and the exceptions of a block.

use entasis_format::{Directory, Result};
use entasis_kernels::Word;
use entasis_platform::memory::ScratchVec;

use super::Encoder;
use super::page_writer::{Context, PageWriter, fixed_pages};
use crate::alp::{Decimals, Float};
use crate::choose::floats;
use crate::choose::integers::{
    CodecHint, Exceptions, Kind, WordPlan, is_similar, plan_light, repeats_far_back,
};
use crate::limits::PAGE;
use crate::profile::{Profile, cost};
use crate::words::Order;

impl Encoder {
    /// The ALP parameters and the bits per value in a sample; `None` if a trial is not worth it.
    pub(super) fn plan_decimals<F: Float>(&mut self, values: &[F]) -> Option<(Decimals, f64)> {
        let found =
            floats::choose(values, self.choices.hints.decimals, !self.choices.profile.codecs.is_empty())?;
        self.choices.hints.decimals = Some(found.0);
        Some(found)
    }

    /// A plan for the integers of ALP.
    pub(super) fn plan_alp<F: Float>(
        &mut self,
        values: &[F],
        by: Decimals,
        repetition: Repetition,
    ) -> AlpPlan<F::Int> {
        let mut hint = self.choices.hints.ints;
        let plan = self.plan_ints(values, by, repetition, &mut hint);
        self.choices.hints.ints = hint;
        // Words with a value for NaN have no patches, so more codecs fit them.
        let per_word = plan.words.len / values.len() as f64;
        let is_settled = self.choices.hints.patched_nan.is_some_and(|then| is_similar(per_word, then));
        if is_settled || !plan.words.patches || self.choices.profile.codecs.is_empty() {
            return plan;
        }
        let ints: &[F::Int] = &bytemuck::cast_slice(&plan.ints)[..values.len()];
        if repeats_far_back(ints)
            && let Some(with_nan) = with_value_for_nan(values, by)
        {
            let mut hint = CodecHint::Unknown;
            let mut other = self.plan_ints(values, with_nan, repetition, &mut hint);
            let score = |plan: &AlpPlan<F::Int>| plan.words.score(&self.choices.profile);
            if score(&other) < score(&plan) {
                (self.choices.hints.ints, self.choices.hints.decimals) = (hint, Some(with_nan));
                self.ints = plan.ints;
                return other;
            }
            self.ints = std::mem::take(&mut other.ints);
        }
        self.choices.hints.patched_nan = Some(per_word);
        plan
    }

    fn plan_ints<F: Float>(
        &mut self,
        values: &[F],
        by: Decimals,
        repetition: Repetition,
        hint: &mut CodecHint,
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
            n_runs: (among.n == 0).then_some(repetition.n_runs),
            ..Kind::new(Order::Signed, true, false)
        };
        let mut light = plan_light(ints, kind, &self.choices.profile);
        light.unrepeated = repetition.unrepeated;
        let (profile, codecs) = (&self.choices.profile, &mut self.choices.codecs);
        let mut words = light.with_codec(ints, f64::INFINITY, profile, codecs, hint);
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

/// Parameters with the same decimals and the narrowest residual that leaves the first page without
/// exceptions. A residual represents NaN.
fn with_value_for_nan<F: Float>(values: &[F], by: Decimals) -> Option<Decimals> {
    const MOST_BITS: u8 = 3;
    let Decimals::Exact { e, f } = by else { return None };
    let page = &values[..values.len().min(PAGE)];
    let (mut ints, mut outside) = (vec![F::Int::from_u64(0); page.len()], Vec::new());
    (1..=MOST_BITS).map(|bits| Decimals::Residual { e: e - f, bits }).find(|&by| {
        outside.clear();
        F::encode(page, by, &mut ints, &mut outside);
        outside.is_empty()
    })
}

/// How the values of a block repeat.
#[derive(Clone, Copy)]
pub(super) struct Repetition {
    /// The number of runs of equal values.
    pub n_runs: usize,
    /// Whether hardly any value repeats.
    pub unrepeated: bool,
}

pub(super) enum Alp {
    F64(AlpPlan<u64>),
    F32(AlpPlan<u32>),
}

pub(super) struct AlpPlan<T> {
    words: WordPlan<T>,
    /// The integers, at the start of the encoder's buffer.
    ints: ScratchVec<u64>,
    /// The positions of exceptions, per page.
    exceptions: Vec<Vec<u16>>,
    by: Decimals,
}

impl Alp {
    pub(super) fn len(&self) -> f64 {
        match self {
            Self::F64(a) => a.words.len,
            Self::F32(a) => a.words.len,
        }
    }

    pub(super) fn score(&self, profile: &Profile) -> f64 {
        match self {
            Self::F64(a) => a.words.score(profile),
            Self::F32(a) => a.words.score(profile),
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
