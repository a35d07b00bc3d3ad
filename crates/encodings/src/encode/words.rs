//! Encodes words of up to 8 bytes by the best of packings, ALP and a dictionary.

use entasis_format::{Codec, Directory, Packing, Physical, Result, Transform};
use entasis_kernels::Word;

use super::dictionary::{Bounds, Dictionary, SMALLER};
use super::floats::{Alp, Repetition};
use super::page_writer::{Context, Entries, PageWriter, Payload, fixed_pages};
use super::{Encoded, Encoder, statistics};
use crate::alp::Decimals;
use crate::choose::integers::{Kind, LightPlan, WordPlan, count_runs, plan_light, repeats_far_back};
use crate::dictionary::{Key, NoDictionary};
use crate::profile::cost;
use crate::validity;
use crate::words::Order;

/// If the score of ALP exceeds its estimate by this factor, alternatives are tried again.
const MISJUDGED: f64 = 1.2;

/// The words of a block. Missing ones are filled.
struct Block<'a, T> {
    physical: Physical,
    words: &'a [T],
    kind: Kind,
}

impl<'a, T: Word> Block<'a, T> {
    fn new(physical: Physical, words: &'a [T]) -> Self {
        let order = if physical.is_signed() { Order::Signed } else { Order::Unsigned };
        Self { physical, words, kind: Kind::new(order, true, !physical.is_integer()) }
    }
}

/// The estimate of ALP for a block of floats, from a sample.
struct AlpEstimate {
    by: Decimals,
    n_runs: usize,
    len: f64,
    score: f64,
    /// Whether nearly all values are decimals. Then no codec is tried on the floats, because it
    /// gains no more than on the integers.
    is_clear: bool,
}

/// The best plans for a block without ALP.
struct WithoutAlp<T> {
    plain: WordPlan<T>,
    dictionary: std::result::Result<Dictionary<Vec<T>>, NoDictionary>,
}

impl<T> WithoutAlp<T> {
    fn has_codec(&self) -> bool {
        let has_codec = |dictionary: &Dictionary<_>| dictionary.codes.codec.0 != Codec::None;
        self.plain.codec.0 != Codec::None || self.dictionary.as_ref().is_ok_and(has_codec)
    }
}

/// The encoding of a block.
enum Choice<T> {
    Plain(WordPlan<T>),
    Dictionary(Dictionary<Vec<T>>),
    Alp(Alp),
}

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
        let block = Block::new(physical, words);
        let mut statistics = statistics::of_words(physical, words, context.n_missing, context.bits);
        let directory = match self.choose_for(&block) {
            Choice::Dictionary(dictionary) => {
                let n_distinct = dictionary.entries.len() as u32;
                statistics.n_distinct = if context.n_missing == 0 { n_distinct } else { 0 };
                self.write_words_dictionary(words.len(), &dictionary, context, out)
            }
            Choice::Alp(Alp::F64(alp)) => {
                self.write_alp(alp, bytemuck::cast_slice::<T, u64>(words), context, out)
            }
            Choice::Alp(Alp::F32(alp)) => {
                self.write_alp(alp, bytemuck::cast_slice::<T, u32>(words), context, out)
            }
            Choice::Plain(plan) => {
                let pages = PageWriter::new(&mut self.choices.codecs, plan.codec, context, out);
                let ranges = fixed_pages(words.len(), size_of::<T>());
                pages.words(ranges, Transform::None, (words, &plan, block.kind.order), (&[], words))
            }
        };
        let decoded_len = size_of_val(words) as u64;
        Ok(Encoded { directory: directory?, decoded_len, statistics })
    }

    /// The encoding with the best score.
    fn choose_for<T: Word + Key>(&mut self, block: &Block<'_, T>) -> Choice<T> {
        let estimate = self.estimate_alp(block);
        let others = self.plan_without_alp(block, estimate.as_ref());
        match estimate {
            Some(estimate) => self.choose_among(block, &estimate, others),
            None => {
                let plain_score = others.plain.score(&self.choices.profile);
                match others.dictionary {
                    Ok(dictionary) if self.takes(&dictionary, plain_score) => Choice::Dictionary(dictionary),
                    _ => Choice::Plain(others.plain),
                }
            }
        }
    }

    /// The estimate of ALP; `None` if the block has no decimals.
    fn estimate_alp<T: Word>(&mut self, block: &Block<'_, T>) -> Option<AlpEstimate> {
        let &Block { physical, words, .. } = block;
        if !matches!(physical, Physical::F64 | Physical::F32) || self.choices.profile.is_raw() {
            return None;
        }
        let n_runs = count_runs(words);
        if n_runs <= 1 {
            return None;
        }
        let (by, bits) = match physical {
            Physical::F64 => self.plan_decimals::<f64>(bytemuck::cast_slice(words))?,
            _ => self.plan_decimals::<f32>(bytemuck::cast_slice(words))?,
        };
        let n = words.len() as f64;
        let len = n * bits / 8.0;
        let score = self.choices.profile.score(len, n * cost::ALP);
        let is_clear = score < size_of_val(words) as f64 / 2.0;
        Some(AlpEstimate { by, n_runs, len, score, is_clear })
    }

    /// The best plans without ALP. A dictionary and codecs are tried only while they may beat ALP's
    /// estimate.
    fn plan_without_alp<T: Word + Key>(
        &mut self,
        block: &Block<'_, T>,
        estimate: Option<&AlpEstimate>,
    ) -> WithoutAlp<T> {
        let words = block.words;
        // Without runs, a sample that ALP fits rules out the other packings.
        let is_ruled_out = |alp: &AlpEstimate| alp.is_clear && alp.n_runs * 2 >= words.len();
        let mut light = match estimate.is_some_and(is_ruled_out) {
            true => LightPlan::raw(words.len()),
            false => plan_light(words, block.kind, &self.choices.profile),
        };
        let is_settled = self.choices.profile.is_raw() || light.best.packing == Packing::Constant;
        let mut bound = light.best.score(&self.choices.profile);
        let mut len = light.best.len;
        if let Some(alp) = estimate {
            (len, bound) = (alp.len.min(len), alp.score.min(bound));
        }
        let mut dictionary = Err(NoDictionary::Costly);
        if !is_settled && size_of::<T>() > 1 {
            let shown = block.physical.is_integer().then(|| light.shown());
            dictionary = self.plan_dictionary(words, Bounds { len, score: bound, shown });
            if let Ok(found) = &dictionary {
                bound = bound.min(self.dictionary_score(&found.codes, found.entries_len()));
            }
        }
        light.unrepeated = matches!(dictionary, Err(NoDictionary::Unrepeated));
        let plain = match estimate {
            Some(alp) if alp.is_clear => light.best,
            _ => self.with_codec(light, words, bound),
        };
        WithoutAlp { plain, dictionary }
    }

    /// The best of a plan and codecs whose score may get below `bound`.
    fn with_codec<T: Word>(&mut self, light: LightPlan<T>, words: &[T], bound: f64) -> WordPlan<T> {
        let choices = &mut self.choices;
        light.with_codec(words, bound, &choices.profile, &mut choices.codecs, &mut choices.hints.words)
    }

    /// The best of ALP and the alternatives.
    fn choose_among<T: Word + Key>(
        &mut self,
        block: &Block<'_, T>,
        estimate: &AlpEstimate,
        others: WithoutAlp<T>,
    ) -> Choice<T> {
        let has_codec = others.has_codec();
        let WithoutAlp { plain, mut dictionary } = others;
        let plain_score = plain.score(&self.choices.profile);
        let unrepeated = matches!(dictionary, Err(NoDictionary::Unrepeated));
        let repetition = Repetition { n_runs: estimate.n_runs, unrepeated };
        // The estimate assumes no codec. If a codec helps the alternatives, it may help the
        // integers too. Otherwise ALP is planned only after the alternatives, which are cheaper to
        // try, are excluded.
        let (mut alp, mut alp_score) = (None, estimate.score);
        if has_codec && repeats_far_back(block.words) {
            let planned = self.plan_alp_of(block, estimate.by, repetition);
            alp_score = planned.score(&self.choices.profile);
            alp = Some(planned);
        }
        if let Ok(found) = dictionary {
            if self.takes(&found, plain_score.min(alp_score)) {
                self.recycle(alp);
                return Choice::Dictionary(found);
            }
            dictionary = Ok(found);
        }
        let alp = match alp {
            Some(alp) => alp,
            None if alp_score < plain_score => self.plan_alp_of(block, estimate.by, repetition),
            None => return Choice::Plain(plain),
        };
        if alp.score(&self.choices.profile) > alp_score * MISJUDGED {
            return self.choose_again(block, estimate, alp, WithoutAlp { plain, dictionary });
        }
        self.better_of(alp, plain)
    }

    /// Chooses again after a sample that suggested fewer decimals than the block has, or decimals
    /// where there are none.
    fn choose_again<T: Word + Key>(
        &mut self,
        block: &Block<'_, T>,
        estimate: &AlpEstimate,
        alp: Alp,
        others: WithoutAlp<T>,
    ) -> Choice<T> {
        let alp_score = alp.score(&self.choices.profile);
        let WithoutAlp { mut plain, dictionary } = others;
        if estimate.is_clear {
            let light = plan_light(block.words, block.kind, &self.choices.profile);
            plain = self.with_codec(light, block.words, alp_score);
        }
        let score = alp_score.min(plain.score(&self.choices.profile));
        let bounds = Bounds { len: alp.len().min(plain.len), score, shown: None };
        // The dictionary that lost to the estimate still exists.
        let dictionary = match dictionary {
            Ok(found) => {
                Some(found).filter(|found| found.entries_len() + found.codes.len < SMALLER * bounds.len)
            }
            Err(_) => self.plan_dictionary(block.words, bounds).ok(),
        };
        match dictionary {
            Some(dictionary) if self.takes(&dictionary, bounds.score) => {
                self.recycle(Some(alp));
                Choice::Dictionary(dictionary)
            }
            _ => self.better_of(alp, plain),
        }
    }

    fn better_of<T: Word>(&mut self, alp: Alp, plain: WordPlan<T>) -> Choice<T> {
        if alp.score(&self.choices.profile) >= plain.score(&self.choices.profile) {
            self.recycle(Some(alp));
            return Choice::Plain(plain);
        }
        Choice::Alp(alp)
    }

    /// Whether a dictionary scores better than `best`. The result is a hint for later blocks.
    fn takes<T>(&mut self, dictionary: &Dictionary<Vec<T>>, best: f64) -> bool {
        self.dictionary_wins(&dictionary.codes, dictionary.entries_len(), best)
    }

    /// Takes back the memory of an unused ALP plan.
    fn recycle(&mut self, alp: Option<Alp>) {
        if let Some(alp) = alp {
            self.ints = alp.into_ints();
        }
    }

    fn plan_alp_of<T: Word>(&mut self, block: &Block<'_, T>, by: Decimals, repetition: Repetition) -> Alp {
        match block.physical {
            Physical::F64 => {
                Alp::F64(self.plan_alp::<f64>(bytemuck::cast_slice(block.words), by, repetition))
            }
            _ => Alp::F32(self.plan_alp::<f32>(bytemuck::cast_slice(block.words), by, repetition)),
        }
    }

    pub(super) fn write_words_dictionary<T: bytemuck::NoUninit>(
        &mut self,
        n: usize,
        dictionary: &Dictionary<Vec<T>>,
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Directory> {
        let pages = fixed_pages(n, size_of::<T>());
        let payload = Payload::Bytes(bytemuck::cast_slice(&dictionary.entries));
        let entries = Entries { payload, n: dictionary.entries.len(), is_dense: false };
        self.write_dictionary(&dictionary.codes, entries, pages, context, out)
    }
}
