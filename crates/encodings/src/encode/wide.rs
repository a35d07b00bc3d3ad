//! Encodes 16-byte values: raw, a dictionary, or 64-bit words if all values fit.

use entasis_format::{Directory, Encoding, Layout, Packing, Physical, Result, Transform};
use entasis_kernels::sign_extend;

use super::dictionary::Bounds;
use super::page_writer::{Context, PageRange, PageWriter, fixed_pages};
use super::{Encoded, Encoder, statistics};
use crate::choose::integers::{Kind, WordPlan, plan_words};
use crate::packing::raw;
use crate::validity;
use crate::words::Order;

impl Encoder {
    /// Encodes 16-byte values: raw, a dictionary, or 64-bit words if all values fit.
    pub(super) fn encode_wide(
        &mut self,
        of: Layout,
        values: &mut [u128],
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        if let Some(bits) = context.bits {
            if context.n_missing as usize == values.len() {
                values.fill(0);
            }
            validity::fill_missing(bits, values);
        }
        let values = &*values;
        let n = values.len();
        let decoded_len = 16 * n as u64;
        let statistics = statistics::of_wide(of.physical, values, context.n_missing);
        let mut plan = WordPlan::<u64>::raw(2 * n);
        if !self.choices.profile.is_raw() {
            let kind = Kind::new(Order::Unsigned, false, true);
            let halves = plan_words(
                bytemuck::cast_slice::<u128, u64>(values),
                kind,
                &self.choices.profile,
                &mut self.choices.codecs,
                &mut self.choices.hints.words,
            );
            if halves.packing == Packing::Raw {
                plan = halves;
            }
            let narrow = self.plan_narrow(of, bytemuck::cast_slice(values));
            let narrow = narrow.filter(|(_, narrow)| {
                narrow.score(&self.choices.profile) < plan.score(&self.choices.profile)
            });
            let best = narrow.as_ref().map_or(&plan, |(_, narrow)| narrow);
            let (len, score) = (best.len, best.score(&self.choices.profile));
            let settled = best.packing == Packing::Constant;
            if !settled
                && let Ok(dictionary) = self.plan_dictionary(values, Bounds { len, score, shown: None })
                && self.dictionary_wins(&dictionary.codes, dictionary.entries_len(), score)
            {
                let directory = self.write_words_dictionary(n, &dictionary, context, out);
                return Ok(Encoded { directory: directory?, decoded_len, statistics });
            }
            if let Some(narrow) = narrow {
                let directory = self.write_narrow(&narrow, fixed_pages(n, 16), context, out)?;
                return Ok(Encoded { directory, decoded_len, statistics });
            }
        }
        let encoding = Encoding {
            packing: Packing::Raw,
            transform: Transform::None,
            codec: plan.codec.0,
            filter: plan.filter,
        };
        let mut pages = PageWriter::new(&mut self.choices.codecs, plan.codec, context, out);
        for page in fixed_pages(n, 16) {
            let values = bytemuck::cast_slice(&values[page.0.clone()]);
            pages.page(page, |body| raw::emit(values, 16, plan.filter, body))?;
        }
        Ok(Encoded { directory: pages.directory(encoding, 0, 0), decoded_len, statistics })
    }

    /// The values, given as 64-bit limbs, converted to 64-bit words with a plan; `None` if a value
    /// does not fit.
    pub(super) fn plan_narrow(&mut self, of: Layout, limbs: &[u64]) -> Option<(Vec<u64>, WordPlan<u64>)> {
        let width =
            of.width().filter(|_| matches!(of.physical, Physical::I128 | Physical::U128 | Physical::I256))?;
        let mut words = vec![0; size_of_val(limbs) / width];
        if sign_extend::cut(limbs, width, &mut words) != Some(true) {
            return None;
        }
        let kind = Kind::new(Order::Signed, false, false);
        let plan = plan_words(
            &words,
            kind,
            &self.choices.profile,
            &mut self.choices.codecs,
            &mut self.choices.hints.ints,
        );
        (plan.packing != Packing::Raw).then_some((words, plan))
    }

    /// Writes the words that [`plan_narrow`](Self::plan_narrow) returned.
    pub(super) fn write_narrow(
        &mut self,
        (words, plan): &(Vec<u64>, WordPlan<u64>),
        ranges: Vec<PageRange>,
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Directory> {
        let pages = PageWriter::new(&mut self.choices.codecs, plan.codec, context, out);
        pages.words(ranges, Transform::None, (words, plan, Order::Signed), (&[], words))
    }
}
