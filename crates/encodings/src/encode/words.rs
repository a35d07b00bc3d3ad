//! Encodes words of up to 8 bytes: a packing, ALP or a dictionary, whichever scores best.

use entasis_format::{Codec, Directory, Packing, Physical, Result, Transform};
use entasis_kernels::Word;
use entasis_platform::memory::ScratchVec;

use super::dictionary::{Bounds, SMALLER};
use super::floats::Alp;
use super::page_writer::{Context, Entries, PageWriter, Payload, fixed_pages};
use super::{Encoded, Encoder, statistics};
use crate::alp::Decimals;
use crate::choose::integers::{Kind, LightPlan, WordPlan, count_runs, plan_light, repeats_far_back};
use crate::dictionary::{Key, NoDictionary};
use crate::profile::cost;
use crate::validity;
use crate::words::Order;

/// If the score of ALP exceeds its estimate by this factor, the alternatives are tried again.
const MISJUDGED: f64 = 1.2;

impl Encoder {
    pub(super) fn encode_words<T: Word + Key>(
        &mut self,
        physical: Physical,
        words: &mut [T],
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        if let Some(bits) = context.bits {
            if context.n_missing as usize == words.len() {
                words.fill(T::from_u64(0));
            }
            validity::fill_missing(bits, words);
        }
        let words = &*words;
        let mut statistics = statistics::of_words(physical, words, context.n_missing);
        let order = if physical.is_signed() { Order::Signed } else { Order::Unsigned };
        let kind = Kind::new(order, true, !physical.is_integer());
        let n = words.len();
        let decoded_len = size_of_val(words) as u64;
        // The runs of floats are counted first. Without runs, a sample that ALP fits rules out the
        // other packings.
        let may_be_decimals =
            matches!(physical, Physical::F64 | Physical::F32) && !self.choices.profile.is_raw();
        let n_runs = if may_be_decimals { count_runs(words) } else { 1 };
        let decimals = match physical {
            Physical::F64 if n_runs > 1 => self.plan_decimals::<f64>(bytemuck::cast_slice(words)),
            Physical::F32 if n_runs > 1 => self.plan_decimals::<f32>(bytemuck::cast_slice(words)),
            _ => None,
        };
        // The sample estimates ALP until the alternatives, which are cheaper to try, are ruled out.
        let as_ints = decimals.map(|(_, bits)| (n as f64 * bits / 8.0, n as f64 * cost::ALP));
        let are_decimals =
            as_ints.is_some_and(|(len, ns)| self.choices.profile.score(len, ns) < decoded_len as f64 / 2.0);
        let mut light = match are_decimals && n_runs * 2 >= n {
            true => LightPlan::raw(n),
            false => plan_light(words, kind, &self.choices.profile),
        };
        let settled = self.choices.profile.is_raw() || light.best.packing == Packing::Constant;
        let light_len = as_ints.map_or(light.best.len, |(len, _)| len.min(light.best.len));
        let mut as_ints = as_ints.map_or(f64::INFINITY, |(len, ns)| self.choices.profile.score(len, ns));
        let mut bound = as_ints.min(light.best.score(&self.choices.profile));
        let mut dictionary = Err(NoDictionary::Costly);
        if !settled && size_of::<T>() > 1 {
            let shown = physical.is_integer().then(|| light.shown());
            dictionary = self.plan_dictionary(words, Bounds { len: light_len, score: bound, shown });
            if let Ok((entries, codes)) = &dictionary {
                bound = bound.min(self.dictionary_score(codes, size_of_val(entries.as_slice()) as f64));
            }
        }
        let unrepeated = matches!(dictionary, Err(NoDictionary::Unrepeated));
        light.unrepeated = unrepeated;
        // A codec finds no more in decimal floats than in their integers.
        let mut plan = if are_decimals {
            light.best
        } else {
            light.with_codec(
                words,
                bound,
                &self.choices.profile,
                &mut self.choices.codecs,
                &mut self.choices.hints.words,
            )
        };
        let mut best = plan.score(&self.choices.profile);
        let found = (n_runs, unrepeated);
        // The estimate has no codec. Where one helps the alternatives, it may help the integers
        // too.
        let has_codec = plan.codec.0 != Codec::None
            || dictionary.as_ref().is_ok_and(|(_, codes)| codes.codec.0 != Codec::None);
        let mut alp = None;
        if let Some((by, _)) = decimals
            && has_codec
            && repeats_far_back(words)
        {
            let planned = self.plan_alp_of(physical, words, by, found);
            as_ints = planned.len_and_score(&self.choices.profile).1;
            alp = Some(planned);
        }
        if let Ok((entries, codes)) = &dictionary
            && self.dictionary_wins(codes, size_of_val(entries.as_slice()) as f64, best.min(as_ints))
        {
            self.ints = alp.map_or_else(ScratchVec::new, Alp::into_ints);
            statistics.n_distinct = if context.n_missing == 0 { entries.len() as u32 } else { 0 };
            let directory = self.write_words_dictionary(n, entries, codes, context, out);
            return Ok(Encoded { directory: directory?, decoded_len, statistics });
        }
        if let Some((by, _)) = decimals
            && alp.is_none()
            && as_ints < best
        {
            alp = Some(self.plan_alp_of(physical, words, by, found));
        }
        // The sample may have suggested fewer decimals than the block has, or decimals where there
        // are none.
        if let Some((len, score)) = alp.as_ref().map(|alp| alp.len_and_score(&self.choices.profile))
            && score > as_ints * MISJUDGED
        {
            if are_decimals {
                let light = plan_light(words, kind, &self.choices.profile);
                let hint = &mut self.choices.hints.words;
                plan = light.with_codec(words, score, &self.choices.profile, &mut self.choices.codecs, hint);
                best = plan.score(&self.choices.profile);
            }
            let bounds = Bounds { len: len.min(plan.len), score: score.min(best), shown: None };
            // The dictionary that lost to the estimate still exists.
            let dictionary = match dictionary {
                Ok(found) => Some(found).filter(|found| {
                    size_of_val(found.0.as_slice()) as f64 + found.1.len < SMALLER * bounds.len
                }),
                Err(_) => self.plan_dictionary(words, bounds).ok(),
            };
            if let Some((entries, codes)) = dictionary
                && self.dictionary_wins(&codes, size_of_val(entries.as_slice()) as f64, bounds.score)
            {
                self.ints = alp.map_or_else(ScratchVec::new, Alp::into_ints);
                statistics.n_distinct = if context.n_missing == 0 { entries.len() as u32 } else { 0 };
                let directory = self.write_words_dictionary(n, &entries, &codes, context, out);
                return Ok(Encoded { directory: directory?, decoded_len, statistics });
            }
        }
        let loses = |alp: &mut Alp| alp.len_and_score(&self.choices.profile).1 >= best;
        if let Some(alp) = alp.take_if(loses) {
            self.ints = alp.into_ints();
        }
        let directory = match alp {
            Some(Alp::F64(alp)) => self.write_alp(alp, bytemuck::cast_slice::<T, u64>(words), context, out),
            Some(Alp::F32(alp)) => self.write_alp(alp, bytemuck::cast_slice::<T, u32>(words), context, out),
            None => {
                let pages = PageWriter::new(&mut self.choices.codecs, plan.codec, context, out);
                pages.words(
                    fixed_pages(n, size_of::<T>()),
                    Transform::None,
                    (words, &plan, order),
                    (&[], words),
                )
            }
        };
        Ok(Encoded { directory: directory?, decoded_len, statistics })
    }

    fn plan_alp_of<T: Word>(
        &mut self,
        physical: Physical,
        words: &[T],
        by: Decimals,
        found: (usize, bool),
    ) -> Alp {
        match physical {
            Physical::F64 => Alp::F64(self.plan_alp::<f64>(bytemuck::cast_slice(words), by, found)),
            _ => Alp::F32(self.plan_alp::<f32>(bytemuck::cast_slice(words), by, found)),
        }
    }

    pub(super) fn write_words_dictionary<T: Word>(
        &mut self,
        n: usize,
        entries: &[T],
        codes: &WordPlan<u32>,
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Directory> {
        let pages = fixed_pages(n, size_of::<T>());
        let payload = Payload::Bytes(bytemuck::cast_slice(entries));
        let entries = Entries { payload, n: entries.len(), is_dense: false };
        self.write_dictionary(codes, entries, pages, context, out)
    }
}
