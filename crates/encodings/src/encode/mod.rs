//! A block of values becomes a directory and pages: the choice of the encoding, then its writing.

mod dictionary;
mod fixed;
pub(crate) mod page_writer;
mod statistics;
mod strings;

use std::sync::Arc;

use entasis_format::{
    Codec, Directory, Encoding, Error, Filter, Layout, MAX_BLOCK_LEN, Packing, Physical, Result, Statistics,
    Transform,
};
use entasis_kernels::{Word, bits, extend};
use entasis_platform::memory::ScratchVec;

use crate::alp::{Decimals, Float};
use crate::choose::bools::BoolHint;
use crate::codec::Codecs;
use crate::dictionary::{Key, NoDictionary};
use crate::fsst::{SharedSymbols, Trained, Trainer};
use crate::encode::page_writer::{Context, Entries, PageRange, PageWriter, Payload, fixed_pages};
use crate::choose::integers::{CodecHint, Exceptions, Kind, Light, WordPlan, count_runs, plan_light, plan_words};
use crate::profile::{Profile, cost};
use crate::string_dictionary::entries::SymbolHint;
use crate::choose::strings::TextHint;
use crate::string_dictionary::index::Tables;
use crate::words::Order;
use crate::choose::{bools, floats};
use crate::validity;
pub(crate) use dictionary::{Bounds, SMALLER};

/// The most values of a block.
pub const BLOCK: usize = 65_536;
/// The most values of a page.
pub const PAGE: usize = 8_192;

/// The values of a block, in memory that the encoder may change where values are missing.
#[derive(Debug)]
pub enum Values<'a> {
    /// Booleans, a byte each, 0 or 1.
    Bool(&'a mut [u8]),
    /// Words of 8 bits.
    W8(&'a mut [u8]),
    /// Words of 16 bits.
    W16(&'a mut [u16]),
    /// Words of 32 bits.
    W32(&'a mut [u32]),
    /// Words of 64 bits.
    W64(&'a mut [u64]),
    /// Values of 128 bits.
    W128(&'a mut [u128]),
    /// Values of any fixed width, one after the other.
    Fixed {
        /// The number of values.
        n: usize,
        /// The bytes of all values.
        bytes: &'a mut [u8],
    },
    /// Strings: value i is `bytes[offsets[i]..offsets[i + 1]]`, missing ones are empty.
    Strings {
        /// One more than there are values, ascending from 0.
        offsets: &'a [u32],
        /// The bytes of all values.
        bytes: &'a [u8],
    },
}

impl Values<'_> {
    /// The number of values.
    pub fn n(&self) -> usize {
        match self {
            Self::Bool(v) | Self::W8(v) => v.len(),
            Self::W16(v) => v.len(),
            Self::W32(v) => v.len(),
            Self::W64(v) => v.len(),
            Self::W128(v) => v.len(),
            Self::Fixed { n, .. } => *n,
            Self::Strings { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }
}

/// An encoded block; its stored dictionary and pages were appended to the output.
#[derive(Debug)]
pub struct Encoded {
    /// What a reader needs to know of the pages.
    pub directory: Directory,
    /// Decoded bytes, as in the block record.
    pub decoded_len: u64,
    /// The block's statistics.
    pub statistics: Statistics,
}

/// Encodes the blocks of a column. Its choices for one block are hints for the next, until [`begin_run`](Self::begin_run).
pub struct Encoder {
    pub(crate) profile: Profile,
    pub(crate) codecs: Codecs,
    pub(crate) hints: Hints,
    pub(crate) codes: Vec<u32>,
    /// Finds symbols of texts.
    pub(crate) trainer: Trainer,
    /// Memory for dictionaries of strings.
    tables: Tables,
    /// Memory for the strings of a dictionary.
    pub(crate) joined: ScratchVec<u8>,
    /// Memory for the lengths of strings.
    pub(crate) lengths: ScratchVec<u32>,
    /// Memory for the integers of decimals.
    ints: ScratchVec<u64>,
}

/// What was found out in earlier blocks of a run.
#[derive(Default)]
pub(crate) struct Hints {
    words: CodecHint,
    codes: CodecHint,
    ints: CodecHint,
    bools: Option<BoolHint>,
    decimals: Option<Decimals>,
    pub(crate) text: Option<TextHint>,
    /// The symbols of dictionaries.
    pub(crate) entries: SymbolHint,
    /// The symbols of the run, when they are used.
    pub(crate) symbols: Option<Trained>,
    /// Those of a column beside.
    pub(crate) symbols_beside: Option<Trained>,
    /// Those of the whole column.
    pub(crate) shared: Option<Arc<SharedSymbols>>,
    /// Whether no codec does better than those, which need not be seen for each run.
    pub(crate) no_codec: bool,
    pub(crate) text_ratio: Option<f64>,
    pub(crate) fixed: Option<(Filter, (Codec, i32), f64)>,
    dictionary_lost: bool,
    /// Whether hardly any value of the block before is there twice.
    unrepeated: bool,
}

impl Encoder {
    /// An encoder for a compression setting.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            codecs: Codecs::new(),
            hints: Hints::default(),
            codes: Vec::new(),
            trainer: Trainer::default(),
            tables: Tables::default(),
            joined: ScratchVec::new(),
            lengths: ScratchVec::new(),
            ints: ScratchVec::new(),
        }
    }

    /// Takes a profile and forgets the hints: the bytes of the blocks that follow depend on nothing before them.
    pub fn begin_run(&mut self, profile: &Profile) {
        self.profile.clone_from(profile);
        self.tables.begin_run();
        let before = std::mem::take(&mut self.hints);
        let symbols = [before.symbols, before.symbols_beside, before.entries.into_symbols()];
        symbols.into_iter().flatten().for_each(|trained| self.trainer.keep(trained.matcher));
    }

    /// The same for a column beside one of the same type, of which no more is kept than what a glance is enough to see again, and
    /// symbols, which are looked at before they are used.
    pub fn begin_beside(&mut self, profile: &Profile) {
        let unrepeated = self.hints.unrepeated;
        let entries = std::mem::take(&mut self.hints.entries).beside();
        let symbols = self.hints.symbols.take().or_else(|| self.hints.symbols_beside.take());
        self.begin_run(profile);
        self.hints = Hints { unrepeated, entries, symbols_beside: symbols, ..Hints::default() };
    }

    /// Has the run that was begun look at symbols that others of its column have too.
    pub fn share(&mut self, symbols: &Arc<SharedSymbols>) {
        self.hints.shared = Some(Arc::clone(symbols));
    }

    /// Encodes a block, appending the stored dictionary and pages to `out`.
    ///
    /// `validity` has a bit per value, least significant first, 1 = valid; none when all are. The values that are missing may be changed.
    ///
    /// # Errors
    /// *Argument* when there are no values, more than a block may have, or values of another type than `of`; what `check` says,
    /// which is asked before each page.
    pub fn encode(
        &mut self,
        of: impl Into<Layout>,
        values: Values<'_>,
        validity: Option<&[u8]>,
        check: &dyn Fn() -> Result<()>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        let of = of.into();
        let physical = of.physical;
        let n = values.n();
        if n == 0 || n > BLOCK {
            return Err(Error::argument("a block has 1 to 65,536 values"));
        }
        let width = of.width().unwrap_or(0);
        if (n * width) as u64 > MAX_BLOCK_LEN && n > 1 {
            return Err(Error::argument("the values of a block are too long together"));
        }
        let n_valid = validity.map_or(n, |bits| bits::count_ones(bits, 0, n));
        let context =
            Context { bits: validity.filter(|_| n_valid < n), n_missing: (n - n_valid) as u32, check };
        match values {
            Values::Bool(v) => self.encode_bools(v, context, out),
            Values::W8(v) => self.encode_words(physical, v, context, out),
            Values::W16(v) => self.encode_words(physical, v, context, out),
            Values::W32(v) => self.encode_words(physical, v, context, out),
            Values::W64(v) => self.encode_words(physical, v, context, out),
            Values::W128(v) => self.encode_wide(of, v, context, out),
            Values::Fixed { n, bytes } => fixed::encode(self, of, n, bytes, context, out),
            Values::Strings { offsets, bytes } => {
                strings::encode(self, physical, offsets, bytes, context, out)
            }
        }
    }

    fn encode_bools(
        &mut self,
        values: &mut [u8],
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        if let Some(bits) = context.bits {
            bools::clear_missing(bits, values);
        }
        let (packing, base, codec) =
            bools::plan(values, &self.profile, &mut self.codecs, &mut self.hints.bools);
        let encoding =
            Encoding { packing, transform: Transform::None, codec: codec.0, filter: bools::FILTER };
        let mut pages = PageWriter::new(&mut self.codecs, codec, context, out);
        if pages.needs_pages(packing) {
            for page in fixed_pages(values.len(), 1) {
                let values = &values[page.0.clone()];
                pages.page(page, |body| {
                    if packing == Packing::Raw {
                        bits::pack_bytes(values, body);
                    }
                })?;
            }
        }
        Ok(Encoded {
            directory: pages.directory(encoding, 0, base),
            decoded_len: values.len() as u64,
            statistics: statistics::of_count(context.n_missing),
        })
    }

    fn encode_words<T: Word + Key>(
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
        // Of floats their runs are looked at first: where there are none, a sample of decimals rules the other packings out.
        let may_be_decimals = matches!(physical, Physical::F64 | Physical::F32) && !self.profile.is_raw();
        let n_runs = if may_be_decimals { count_runs(words) } else { 1 };
        let decimals = match physical {
            Physical::F64 if n_runs > 1 => self.plan_decimals::<f64>(bytemuck::cast_slice(words)),
            Physical::F32 if n_runs > 1 => self.plan_decimals::<f32>(bytemuck::cast_slice(words)),
            _ => None,
        };
        // What ALP makes of a sample stands for it until the others, which cost less to try, are ruled out.
        let as_ints = decimals.map(|(_, bits)| (n as f64 * bits / 8.0, n as f64 * cost::ALP));
        let are_decimals =
            as_ints.is_some_and(|(len, ns)| self.profile.score(len, ns) < decoded_len as f64 / 2.0);
        let mut light = match are_decimals && n_runs * 2 >= n {
            true => Light::raw(n),
            false => plan_light(words, kind, &self.profile),
        };
        let settled = self.profile.is_raw() || light.best.packing == Packing::Constant;
        let light_len = as_ints.map_or(light.best.len, |(len, _)| len.min(light.best.len));
        let as_ints = as_ints.map_or(f64::INFINITY, |(len, ns)| self.profile.score(len, ns));
        let mut bound = as_ints.min(light.best.score(&self.profile));
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
        // Of floats that are decimals a codec finds no more than it does of the integers.
        let mut plan = if are_decimals {
            light.best
        } else {
            light.with_codec(words, bound, &self.profile, &mut self.codecs, &mut self.hints.words)
        };
        let mut best = plan.score(&self.profile);
        if let Ok((entries, codes)) = &dictionary
            && self.dictionary_wins(codes, size_of_val(entries.as_slice()) as f64, best.min(as_ints))
        {
            statistics.n_distinct = if context.n_missing == 0 { entries.len() as u32 } else { 0 };
            let directory = self.write_words_dictionary(n, entries, codes, context, out);
            return Ok(Encoded { directory: directory?, decoded_len, statistics });
        }
        let found = (n_runs, unrepeated);
        let mut alp = decimals.filter(|_| as_ints < best).map(|(by, _)| match physical {
            Physical::F64 => Alp::F64(self.plan_alp::<f64>(bytemuck::cast_slice(words), by, found)),
            _ => Alp::F32(self.plan_alp::<f32>(bytemuck::cast_slice(words), by, found)),
        });
        // A few values may look like decimals of fewer digits than others are, or of none.
        if let Some((len, score)) = alp.as_ref().map(|alp| alp.len_and_score(&self.profile))
            && score > as_ints * MISJUDGED
        {
            if are_decimals {
                let light = plan_light(words, kind, &self.profile);
                let hint = &mut self.hints.words;
                plan = light.with_codec(words, score, &self.profile, &mut self.codecs, hint);
                best = plan.score(&self.profile);
            }
            let bounds = Bounds { len: len.min(plan.len), score: score.min(best), shown: None };
            // The dictionary that lost to what was expected of them is there yet.
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
        let loses = |alp: &mut Alp| alp.len_and_score(&self.profile).1 >= best;
        if let Some(alp) = alp.take_if(loses) {
            self.ints = alp.into_ints();
        }
        let directory = match alp {
            Some(Alp::F64(alp)) => self.write_alp(alp, bytemuck::cast_slice::<T, u64>(words), context, out),
            Some(Alp::F32(alp)) => self.write_alp(alp, bytemuck::cast_slice::<T, u32>(words), context, out),
            None => {
                let pages = PageWriter::new(&mut self.codecs, plan.codec, context, out);
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

    fn write_words_dictionary<T: Word>(
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

    /// Words of 16 bytes: raw, by dictionary, or as words of 64 bits where those hold them.
    fn encode_wide(
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
        let statistics = statistics::of_count(context.n_missing);
        let mut plan = WordPlan::<u64>::raw(2 * n);
        if !self.profile.is_raw() {
            let kind = Kind::new(Order::Unsigned, false, true);
            let halves = plan_words(
                bytemuck::cast_slice::<u128, u64>(values),
                kind,
                &self.profile,
                &mut self.codecs,
                &mut self.hints.words,
            );
            if halves.packing == Packing::Raw {
                plan = halves;
            }
            let narrow = self.plan_narrow(of, bytemuck::cast_slice(values));
            let narrow = narrow.filter(|(_, narrow)| narrow.score(&self.profile) < plan.score(&self.profile));
            let best = narrow.as_ref().map_or(&plan, |(_, narrow)| narrow);
            let (len, score) = (best.len, best.score(&self.profile));
            let settled = best.packing == Packing::Constant;
            if !settled
                && let Ok((entries, codes)) = self.plan_dictionary(values, Bounds { len, score, shown: None })
                && self.dictionary_wins(&codes, size_of_val(entries.as_slice()) as f64, score)
            {
                let payload = Payload::Bytes(bytemuck::cast_slice(&entries));
                let entries = Entries { payload, n: entries.len(), is_dense: false };
                let directory = self.write_dictionary(&codes, entries, fixed_pages(n, 16), context, out);
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
        let mut pages = PageWriter::new(&mut self.codecs, plan.codec, context, out);
        for page in fixed_pages(n, 16) {
            let values = bytemuck::cast_slice(&values[page.0.clone()]);
            pages.page(page, |body| page_writer::raw(values, 16, plan.filter, body))?;
        }
        Ok(Encoded { directory: pages.directory(encoding, 0, 0), decoded_len, statistics })
    }

    /// The values (as 64-bit limbs) as words of 64 bits, if those hold them, and how to pack them.
    pub(crate) fn plan_narrow(&mut self, of: Layout, limbs: &[u64]) -> Option<(Vec<u64>, WordPlan<u64>)> {
        let width = of.width().filter(|_| matches!(of.physical, Physical::I128 | Physical::I256))?;
        let mut words = vec![0; size_of_val(limbs) / width];
        if extend::cut(limbs, width, &mut words) != Some(true) {
            return None;
        }
        let kind = Kind::new(Order::Signed, false, false);
        let plan = plan_words(&words, kind, &self.profile, &mut self.codecs, &mut self.hints.ints);
        (plan.packing != Packing::Raw).then_some((words, plan))
    }

    /// Writes what [`plan_narrow`](Self::plan_narrow) gave.
    pub(crate) fn write_narrow(
        &mut self,
        (words, plan): &(Vec<u64>, WordPlan<u64>),
        ranges: Vec<PageRange>,
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Directory> {
        let pages = PageWriter::new(&mut self.codecs, plan.codec, context, out);
        pages.words(ranges, Transform::None, (words, plan, Order::Signed), (&[], words))
    }

    /// The decimals of ALP and the bits per value in a sample, if it is worth a trial.
    fn plan_decimals<F: Float>(&mut self, values: &[F]) -> Option<(Decimals, f64)> {
        let found = floats::choose(values, self.hints.decimals, !self.profile.codecs.is_empty())?;
        self.hints.decimals = Some(found.0);
        Some(found)
    }

    /// A plan for the integers of decimals, given the number of runs and whether hardly any value is there twice.
    fn plan_alp<F: Float>(
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
            // Equal values have equal integers.
            n_runs: (among.n == 0).then_some(n_runs),
            ..Kind::new(Order::Signed, true, false)
        };
        let mut light = plan_light(ints, kind, &self.profile);
        light.unrepeated = unrepeated;
        let (hint, bound) = (&mut self.hints.ints, f64::INFINITY);
        let mut words = light.with_codec(ints, bound, &self.profile, &mut self.codecs, hint);
        words.ns += values.len() as f64 * cost::ALP;
        AlpPlan { words, ints: memory, exceptions, by }
    }

    fn write_alp<T: Word>(
        &mut self,
        alp: AlpPlan<T>,
        physical: &[T],
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Directory> {
        let pages = PageWriter::new(&mut self.codecs, alp.words.codec, context, out);
        let ranges = fixed_pages(physical.len(), size_of::<T>());
        let words = (&bytemuck::cast_slice(&alp.ints)[..physical.len()], &alp.words, Order::Signed);
        let (transform, exponent, factor) = alp.by.parameters();
        let directory = pages.words(ranges, transform, words, (&alp.exceptions, physical))?;
        self.ints = alp.ints;
        Ok(Directory { exponent, factor, ..directory })
    }
}

enum Alp {
    F64(AlpPlan<u64>),
    F32(AlpPlan<u32>),
}

struct AlpPlan<T> {
    words: WordPlan<T>,
    /// The integers, at the start of the encoder's memory for them.
    ints: ScratchVec<u64>,
    /// For each page.
    exceptions: Vec<Vec<u16>>,
    by: Decimals,
}

/// How far above its estimate the score of ALP may be before others are looked at again.
const MISJUDGED: f64 = 1.2;

impl Alp {
    fn len_and_score(&self, profile: &Profile) -> (f64, f64) {
        match self {
            Self::F64(a) => (a.words.len, a.words.score(profile)),
            Self::F32(a) => (a.words.len, a.words.score(profile)),
        }
    }

    /// The encoder's memory for integers.
    fn into_ints(self) -> ScratchVec<u64> {
        match self {
            Self::F64(a) => a.ints,
            Self::F32(a) => a.ints,
        }
    }
}
