//! A block of values becomes a directory and pages: the choice of the encoding, then its writing.

use entasis_format::{
    Codec, Directory, Encoding, Error, Filter, Packing, PageEntry, Physical, Result, Statistics, Stored, Transform,
    checksum,
};
use entasis_kernels::{Word, shuffle};

use crate::alp::{self, Float};
use crate::codec::Codecs;
use crate::dictionary::{self, Key};
use crate::plan::{CodecHint, Kind, WordPlan, plan_words};
use crate::profile::{Profile, cost};
use crate::word::{Order, put};
use crate::{bit_packed, bools, delta, run_length, statistics, strings, validity};

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
    codes: Vec<u32>,
}

/// What was found out in earlier blocks of a run.
#[derive(Default)]
pub(crate) struct Hints {
    words: CodecHint,
    codes: CodecHint,
    ints: CodecHint,
    exponents: Option<(u8, u8)>,
    pub(crate) text: Option<(Codec, i32)>,
}

impl Encoder {
    /// An encoder for a compression setting.
    pub fn new(profile: Profile) -> Self {
        Self { profile, codecs: Codecs::new(), hints: Hints::default(), codes: Vec::new() }
    }

    /// Forgets the hints: the bytes of the blocks that follow depend on nothing before them.
    pub fn begin_run(&mut self) {
        self.hints = Hints::default();
    }

    /// Encodes a block, appending the stored dictionary and pages to `out`.
    ///
    /// `validity` has a bit per value, least significant first, 1 = valid; none when all are. The values that are missing may be changed.
    ///
    /// # Errors
    /// *Argument* when there are no values, more than [`BLOCK`], or values of another type than `physical`.
    pub fn encode(
        &mut self,
        physical: Physical,
        values: Values<'_>,
        validity: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        let n = values.n();
        if n == 0 || n > BLOCK {
            return Err(Error::argument("a block has 1 to 65,536 values"));
        }
        let n_valid = validity.map_or(n, |bits| entasis_kernels::bits::count_ones(bits, 0, n));
        let missing = Missing { bits: validity.filter(|_| n_valid < n), n: (n - n_valid) as u32 };
        match values {
            Values::Bool(v) => Ok(self.encode_bools(v, missing, out)),
            Values::W8(v) => Ok(self.encode_words(physical, v, missing, out)),
            Values::W16(v) => Ok(self.encode_words(physical, v, missing, out)),
            Values::W32(v) => Ok(self.encode_words(physical, v, missing, out)),
            Values::W64(v) => Ok(self.encode_words(physical, v, missing, out)),
            Values::W128(v) => Ok(self.encode_wide(v, missing, out)),
            Values::Strings { offsets, bytes } => strings::encode(self, offsets, bytes, missing, out),
        }
    }

    fn encode_bools(&mut self, values: &mut [u8], missing: Missing<'_>, out: &mut Vec<u8>) -> Encoded {
        if let Some(bits) = missing.bits {
            for (i, value) in values.iter_mut().enumerate() {
                *value &= bits[i / 8] >> (i % 8) & 1;
            }
        }
        let (packing, base, codec) = bools::plan(values, &self.profile, &mut self.codecs);
        let encoding = Encoding { packing, transform: Transform::None, codec: codec.0, filter: bools::FILTER };
        let mut pages = PageWriter::new(&mut self.codecs, codec, missing, out);
        pages.fixed(values.len(), 1, packing == Packing::Constant, |range, body| {
            if packing == Packing::Raw {
                entasis_kernels::bits::pack_bytes(&values[range], body);
            }
        });
        Encoded {
            directory: pages.directory(encoding, base),
            decoded_len: values.len() as u64,
            statistics: statistics::of_count(missing.n),
        }
    }

    fn encode_words<T: Word + Key>(
        &mut self,
        physical: Physical,
        words: &mut [T],
        missing: Missing<'_>,
        out: &mut Vec<u8>,
    ) -> Encoded {
        if let Some(bits) = missing.bits {
            if missing.n as usize == words.len() {
                words.fill(T::from_u64(0));
            }
            validity::fill_missing(bits, words);
        }
        let words = &*words;
        let mut statistics = statistics::of_words(physical, words, missing.n);
        let order = if physical.is_signed() { Order::Signed } else { Order::Unsigned };
        let kind = Kind { order, patches: true, patterns: !physical.is_integer(), exceptions: 0 };
        let plan = plan_words(words, kind, &self.profile, &mut self.codecs, &mut self.hints.words);
        let n = words.len();
        let mut best = plan.score(&self.profile);
        let settled = self.profile.is_raw() || plan.packing == Packing::Constant;
        let mut alp = None;
        if !settled && matches!(physical, Physical::F64 | Physical::F32) {
            alp = match physical {
                Physical::F64 => self.plan_alp::<f64>(bytemuck::cast_slice(words)).map(Alp::F64),
                _ => self.plan_alp::<f32>(bytemuck::cast_slice(words)).map(Alp::F32),
            };
            alp = alp.filter(|alp| alp.score(&self.profile) < best);
            best = alp.as_ref().map_or(best, |alp| alp.score(&self.profile));
        }
        let light_len = alp.as_ref().map_or(plan.len, Alp::len);
        if !settled && size_of::<T>() > 1 {
            if let Some((entries, codes)) = self.plan_dictionary(n, light_len, size_of::<T>(), |i| words[i]) {
                let dictionary_len = (entries.len() * size_of::<T>()) as f64;
                let len = codes.len + dictionary_len;
                if self.profile.score(len, codes.ns + n as f64 * cost::DICTIONARY) < best {
                    statistics.n_distinct = if missing.n == 0 { entries.len() as u32 } else { 0 };
                    let mut bytes = Vec::with_capacity(entries.len() * size_of::<T>());
                    entries.iter().for_each(|&entry| put(entry, &mut bytes));
                    let directory =
                        self.write_dictionary(&codes, &bytes, entries.len(), size_of::<T>(), missing, out);
                    return Encoded { directory, decoded_len: (n * size_of::<T>()) as u64, statistics };
                }
            }
        }
        let directory = match alp {
            Some(Alp::F64(alp)) => self.write_alp(alp, bytemuck::cast_slice::<T, u64>(words), missing, out),
            Some(Alp::F32(alp)) => self.write_alp(alp, bytemuck::cast_slice::<T, u32>(words), missing, out),
            None => {
                let mut pages = PageWriter::new(&mut self.codecs, plan.codec, missing, out);
                write_words(&mut pages, words, &plan, order, size_of::<T>(), &[], words);
                pages.words_directory(Transform::None, &plan)
            }
        };
        Encoded { directory, decoded_len: (n * size_of::<T>()) as u64, statistics }
    }

    /// Values of 16 bytes: raw, or by dictionary.
    fn encode_wide(&mut self, values: &mut [u128], missing: Missing<'_>, out: &mut Vec<u8>) -> Encoded {
        if let Some(bits) = missing.bits {
            if missing.n as usize == values.len() {
                values.fill(0);
            }
            validity::fill_missing(bits, values);
        }
        let values = &*values;
        let n = values.len();
        let decoded_len = 16 * n as u64;
        let statistics = statistics::of_count(missing.n);
        let mut plan = WordPlan::<u64>::raw(2 * n);
        if !self.profile.is_raw() {
            let kind = Kind { order: Order::Unsigned, patches: false, patterns: true, exceptions: 0 };
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
            if let Some((entries, codes)) = self.plan_dictionary(n, plan.len, 16, |i| values[i]) {
                let len = codes.len + (entries.len() * 16) as f64;
                let score = self.profile.score(len, codes.ns + n as f64 * cost::DICTIONARY);
                if score < plan.score(&self.profile) {
                    let bytes: Vec<u8> = entries.iter().flat_map(|e| e.to_le_bytes()).collect();
                    let directory = self.write_dictionary(&codes, &bytes, entries.len(), 16, missing, out);
                    return Encoded { directory, decoded_len, statistics };
                }
            }
        }
        let encoding =
            Encoding { packing: Packing::Raw, transform: Transform::None, codec: plan.codec.0, filter: plan.filter };
        let mut pages = PageWriter::new(&mut self.codecs, plan.codec, missing, out);
        pages.fixed(n, 16, false, |range, body| {
            raw_bytes(bytemuck::cast_slice(&values[range]), 16, plan.filter, body);
        });
        Encoded { directory: pages.directory(encoding, 0), decoded_len, statistics }
    }

    /// The entries of a dictionary that may beat `light_len` bytes, and a plan for its codes (left in `self.codes`).
    pub(crate) fn plan_dictionary<K: Key>(
        &mut self,
        n: usize,
        light_len: f64,
        entry_len: usize,
        value: impl Fn(usize) -> K,
    ) -> Option<(Vec<K>, WordPlan<u32>)> {
        let distinct = dictionary::expected_distinct(n, &value)?;
        let expected = n as f64 * f64::from(dictionary::code_width(distinct)) / 8.0 + (distinct * entry_len) as f64;
        if expected > 0.95 * light_len {
            return None;
        }
        let limit = dictionary::limit(n, light_len, entry_len);
        let entries = dictionary::build(n, limit, &mut self.codes, value)?;
        let kind = Kind { order: Order::Unsigned, patches: false, patterns: false, exceptions: 0 };
        let plan = plan_words(&self.codes, kind, &self.profile, &mut self.codecs, &mut self.hints.codes);
        Some((entries, plan))
    }

    fn write_dictionary(
        &mut self,
        plan: &WordPlan<u32>,
        entries: &[u8],
        n_entries: usize,
        value_len: usize,
        missing: Missing<'_>,
        out: &mut Vec<u8>,
    ) -> Directory {
        let mut pages = PageWriter::new(&mut self.codecs, plan.codec, missing, out);
        pages.dictionary(entries, n_entries);
        write_words(&mut pages, &self.codes, plan, Order::Unsigned, value_len, &[], &self.codes);
        pages.words_directory(Transform::Dictionary, plan)
    }

    /// The codes that [`plan_dictionary`](Self::plan_dictionary) left, with the other parts that writing needs.
    pub(crate) fn codes_and_codecs(&mut self) -> (&[u32], &mut Codecs) {
        (&self.codes, &mut self.codecs)
    }

    fn plan_alp<F: Float>(&mut self, values: &[F]) -> Option<AlpPlan<F::Int>> {
        let pair @ (e, f) = alp::exponents(values, self.hints.exponents)?;
        self.hints.exponents = Some(pair);
        let mut ints = vec![F::Int::from_u64(0); values.len()];
        let mut exceptions = Vec::new();
        let mut n_exceptions = 0;
        for (page, ints) in values.chunks(PAGE).zip(ints.chunks_mut(PAGE)) {
            let mut outside = Vec::new();
            F::encode(page, e, f, ints, &mut outside);
            n_exceptions += outside.len();
            exceptions.push(outside);
        }
        let kind = Kind { order: Order::Signed, patches: true, patterns: false, exceptions: n_exceptions };
        let mut words = plan_words(&ints, kind, &self.profile, &mut self.codecs, &mut self.hints.ints);
        words.ns += values.len() as f64 * cost::ALP;
        Some(AlpPlan { words, ints, exceptions, exponent: e, factor: f })
    }

    fn write_alp<T: Word>(
        &mut self,
        alp: AlpPlan<T>,
        physical: &[T],
        missing: Missing<'_>,
        out: &mut Vec<u8>,
    ) -> Directory {
        let mut pages = PageWriter::new(&mut self.codecs, alp.words.codec, missing, out);
        write_words(&mut pages, &alp.ints, &alp.words, Order::Signed, size_of::<T>(), &alp.exceptions, physical);
        let mut directory = pages.words_directory(Transform::Alp, &alp.words);
        directory.exponent = alp.exponent;
        directory.factor = alp.factor;
        directory
    }
}

enum Alp {
    F64(AlpPlan<u64>),
    F32(AlpPlan<u32>),
}

struct AlpPlan<T> {
    words: WordPlan<T>,
    ints: Vec<T>,
    /// For each page.
    exceptions: Vec<Vec<u16>>,
    exponent: u8,
    factor: u8,
}

impl Alp {
    fn score(&self, profile: &Profile) -> f64 {
        match self {
            Self::F64(a) => a.words.score(profile),
            Self::F32(a) => a.words.score(profile),
        }
    }

    fn len(&self) -> f64 {
        match self {
            Self::F64(a) => a.words.len,
            Self::F32(a) => a.words.len,
        }
    }
}

/// The missing values of a block: their bits when there are any.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    pub bits: Option<&'a [u8]>,
    pub n: u32,
}

/// Appends raw values, shuffled when the filter says so.
pub(crate) fn raw_bytes(bytes: &[u8], width: usize, filter: Filter, body: &mut Vec<u8>) {
    match filter {
        Filter::None => body.extend_from_slice(bytes),
        Filter::Shuffle => {
            let shuffled = shuffle::shuffle(bytes, width, body);
            debug_assert!(shuffled, "words are of 1 to 16 bytes");
        }
    }
}

/// Writes the pages of words as planned. `exceptions` (per page) are replaced by the values in `physical`.
fn write_words<T: Word, V: Word>(
    pages: &mut PageWriter<'_>,
    words: &[T],
    plan: &WordPlan<T>,
    order: Order,
    value_len: usize,
    exceptions: &[Vec<u16>],
    physical: &[V],
) {
    let empty = Vec::new();
    let mut widest = plan.width;
    pages.fixed(words.len(), value_len, plan.packing == Packing::Constant, |range, body| {
        let page = &words[range.clone()];
        match plan.packing {
            Packing::Raw => raw_bytes(bytemuck::cast_slice(page), size_of::<T>(), plan.filter, body),
            Packing::Constant | Packing::Strings => {}
            Packing::BitPacked if plan.per_vector => bit_packed::emit_per_vector(page, order, body),
            Packing::BitPacked if plan.patches => {
                let mut outside = exceptions.get(range.start / PAGE).unwrap_or(&empty).clone();
                bit_packed::add_outliers(page, plan.base, plan.width, &mut outside);
                bit_packed::emit(page, plan.base, plan.width, Some((&outside, &physical[range])), body);
            }
            Packing::BitPacked => bit_packed::emit::<T, T>(page, plan.base, plan.width, None, body),
            Packing::Delta => widest = widest.max(delta::emit(page, body)),
            Packing::RunLength => run_length::emit(page, plan.base, plan.width, body),
        }
    });
    pages.width = u8::try_from(widest).expect("at most 64 bits");
}

/// Writes the dictionary and the pages of a block, and keeps their entries.
pub(crate) struct PageWriter<'a> {
    codecs: &'a mut Codecs,
    codec: (Codec, i32),
    missing: Missing<'a>,
    out: &'a mut Vec<u8>,
    payload: Vec<u8>,
    pages: Vec<PageEntry>,
    n_dictionary: u32,
    dictionary: Stored,
    pub(crate) width: u8,
}

impl<'a> PageWriter<'a> {
    pub(crate) fn new(
        codecs: &'a mut Codecs,
        codec: (Codec, i32),
        missing: Missing<'a>,
        out: &'a mut Vec<u8>,
    ) -> Self {
        Self {
            codecs,
            codec,
            missing,
            out,
            payload: Vec::new(),
            pages: Vec::new(),
            n_dictionary: 0,
            dictionary: Stored::default(),
            width: 0,
        }
    }

    /// Stores the dictionary; before the pages.
    pub(crate) fn dictionary(&mut self, payload: &[u8], n_entries: usize) {
        let at = self.out.len();
        let stored_len = self.codecs.store(self.codec.0, self.codec.1, payload, self.out);
        self.n_dictionary = n_entries as u32;
        self.dictionary = Stored {
            stored_len: stored_len as u32,
            payload_len: payload.len() as u32,
            checksum: checksum(&self.out[at..]),
        };
    }

    /// Stores the pages of `n` values of `value_len` bytes; none when `empty` bodies are all there is and no value is missing.
    pub(crate) fn fixed(
        &mut self,
        n: usize,
        value_len: usize,
        empty: bool,
        mut body: impl FnMut(std::ops::Range<usize>, &mut Vec<u8>),
    ) {
        if empty && self.missing.bits.is_none() {
            return;
        }
        for start in (0..n).step_by(PAGE) {
            let range = start..(start + PAGE).min(n);
            self.page(range.clone(), range.len() * value_len, |out| body(range, out));
        }
    }

    /// Stores one page of the values in `range`.
    pub(crate) fn page(
        &mut self,
        range: std::ops::Range<usize>,
        decoded_len: usize,
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        self.payload.clear();
        if let Some(bits) = self.missing.bits {
            validity::emit(bits, range.start, range.len(), &mut self.payload);
        }
        body(&mut self.payload);
        let at = self.out.len();
        let stored_len = self.codecs.store(self.codec.0, self.codec.1, &self.payload, self.out);
        self.pages.push(PageEntry {
            stored_len: stored_len as u32,
            payload_len: self.payload.len() as u32,
            n_values: range.len() as u32,
            decoded_len: decoded_len as u32,
            checksum: checksum(&self.out[at..]),
        });
    }

    pub(crate) fn words_directory<T: Word>(self, transform: Transform, plan: &WordPlan<T>) -> Directory {
        let encoding =
            Encoding { packing: plan.packing, transform, codec: plan.codec.0, filter: plan.filter };
        let base = if plan.per_vector { 0 } else { plan.base.to_u64() };
        let mut directory = self.directory(encoding, base);
        directory.per_vector = plan.per_vector;
        directory.patches = plan.patches;
        directory
    }

    pub(crate) fn directory(self, encoding: Encoding, base: u64) -> Directory {
        Directory {
            encoding,
            width: self.width,
            exponent: 0,
            factor: 0,
            patches: false,
            per_vector: false,
            validity: self.missing.bits.is_some(),
            base,
            n_dictionary: self.n_dictionary,
            dictionary: self.dictionary,
            pages: self.pages,
        }
    }
}
