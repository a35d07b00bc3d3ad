//! Block dictionaries: whether one pays off, and how it is written.

use entasis_format::{Directory, Transform};

use super::Encoder;
use super::page_writer::{Context, Entries, PageRange, PageWriter};
use crate::choose::integers::{Kind, WordPlan, plan_light};
use crate::dictionary::{self, Estimate, Key, Limit, NoDictionary, code_width};
use crate::profile::cost;
use crate::string_dictionary::index::{DistinctStrings, Strings};
use crate::words::{Order, byte_width, sample_ranges};

/// The entries of a dictionary and a plan for its codes. The encoder holds the codes.
pub(super) struct Dictionary<E> {
    pub entries: E,
    pub codes: WordPlan<u32>,
}

impl<K> Dictionary<Vec<K>> {
    /// Bytes of the entries.
    pub(super) fn entries_len(&self) -> f64 {
        size_of_val(self.entries.as_slice()) as f64
    }
}

/// If codecs cannot shrink the codes of a dictionary, it must be shorter than the alternatives by
/// this factor.
pub(super) const SMALLER: f64 = 0.95;

/// The alternatives that a dictionary must beat.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes of the best alternative without a codec.
    pub len: f64,
    pub score: f64,
    /// Bytes per value that a codec would read without a dictionary. `None` if it would read whole
    /// values or may not be used.
    pub shown: Option<u32>,
}

impl Encoder {
    /// The entries of a dictionary that may beat `bounds`, with a plan for its codes. The codes
    /// stay in `self.codes`.
    pub(super) fn plan_dictionary<K: Key>(
        &mut self,
        values: &[K],
        bounds: Bounds,
    ) -> Result<Dictionary<Vec<K>>, NoDictionary> {
        let (n, entry_len) = (values.len(), size_of::<K>());
        let value = |i: usize| values[i];
        if self.choices.hints.unrepeated && hardly_repeats(n, value) {
            return Err(NoDictionary::Unrepeated);
        }
        let look = |limit| dictionary::estimate(n, entry_len, limit, value);
        let build = |limit, estimate, codes: &mut _| dictionary::build_words(values, limit, estimate, codes);
        let planned = self.plan_built(n, bounds, entry_len, look, build, Vec::len);
        self.choices.hints.unrepeated = matches!(planned, Err(NoDictionary::Unrepeated));
        planned
    }

    /// As [`plan_dictionary`](Self::plan_dictionary), for strings.
    pub(super) fn plan_text_dictionary<'a>(
        &mut self,
        texts: Strings<'a>,
        bounds: Bounds,
        entry_len: usize,
    ) -> Option<Dictionary<DistinctStrings<'a>>> {
        let look = |limit| texts.estimate(entry_len, limit);
        let mut tables = std::mem::take(&mut self.tables);
        let build = |limit, estimate, codes: &mut _| texts.build(limit, estimate, &mut tables, codes);
        let planned = self.plan_built(texts.n(), bounds, entry_len, look, build, DistinctStrings::len);
        self.tables = tables;
        planned.ok()
    }

    /// As [`plan_dictionary`](Self::plan_dictionary). `look` estimates a dictionary, and `build`
    /// makes it if the estimate may win.
    fn plan_built<E>(
        &mut self,
        n: usize,
        bounds: Bounds,
        entry_len: usize,
        look: impl Fn(usize) -> Result<Estimate, NoDictionary>,
        build: impl FnOnce(Limit, Estimate, &mut Vec<u32>) -> Option<E>,
        n_entries: impl Fn(&E) -> usize,
    ) -> Result<Dictionary<E>, NoDictionary> {
        // A codec may shrink the codes further. This is tested once per run of blocks.
        let may_shrink = !self.choices.profile.codecs.is_empty() && !self.choices.hints.dictionary_lost;
        let most = bounds.len * if may_shrink { 1.2 } else { SMALLER };
        let limit = dictionary::MAX_ENTRIES.min((most / entry_len.max(1) as f64) as usize + 1);
        let estimate = look(limit)?;
        let most = if estimate.nearby { most } else { most.min(bounds.len) };
        // Codes as wide as the values compress no better than the values themselves.
        let may_shrink = bounds.shown.is_none_or(|bytes| byte_width(code_width(estimate.n_entries)) < bytes);
        let ns = estimate.ns + n as f64 * cost::DICTIONARY;
        if estimate.len > most
            || (!may_shrink && self.choices.profile.score(estimate.len, ns) >= bounds.score)
        {
            return Err(NoDictionary::Costly);
        }
        let limit = Limit { n_entries: limit, entry_len, len: most };
        let entries = build(limit, estimate, &mut self.codes).ok_or(NoDictionary::Costly)?;
        let kind = Kind::new(Order::Unsigned, false, false);
        // Codecs for the codes are tried only while the dictionary may win.
        let heads =
            self.choices.profile.score((n_entries(&entries) * entry_len) as f64, n as f64 * cost::DICTIONARY);
        let light = plan_light(&self.codes, kind, &self.choices.profile);
        let hint = &mut self.choices.hints.codes;
        let codes = light.with_codec(
            &self.codes,
            bounds.score - heads,
            &self.choices.profile,
            &mut self.choices.codecs,
            hint,
        );
        Ok(Dictionary { entries, codes })
    }

    /// Whether this dictionary with these codes scores better than `best`. The result is a hint for
    /// later blocks.
    pub(super) fn dictionary_wins(&mut self, codes: &WordPlan<u32>, entries_len: f64, best: f64) -> bool {
        let wins = self.dictionary_score(codes, entries_len) < best;
        self.choices.hints.dictionary_lost = !wins;
        wins
    }

    pub(super) fn dictionary_score(&self, codes: &WordPlan<u32>, entries_len: f64) -> f64 {
        let ns = codes.ns + self.codes.len() as f64 * cost::DICTIONARY;
        self.choices.profile.score(codes.len + entries_len, ns)
    }

    /// Writes a dictionary and the codes that [`plan_dictionary`](Self::plan_dictionary) left.
    pub(super) fn write_dictionary(
        &mut self,
        plan: &WordPlan<u32>,
        entries: Entries<'_>,
        ranges: Vec<PageRange>,
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> entasis_format::Result<Directory> {
        let mut pages = PageWriter::new(&mut self.choices.codecs, plan.codec, context, out);
        pages.dictionary(entries);
        let codes = self.codes.as_slice();
        pages.words(ranges, Transform::Dictionary, (codes, plan, Order::Unsigned), (&[], codes))
    }
}

/// After an unrepeated block, this many values suffice to confirm that values still hardly repeat.
const SMALL_SAMPLE: usize = 256;

/// Whether few values of a sample repeat. Compares 14 bits of their hashes, so a few pairs match by
/// chance.
fn hardly_repeats<K: Key>(n: usize, value: impl Fn(usize) -> K) -> bool {
    const BITS: u32 = 14;
    const BY_CHANCE: usize = 2 * SMALL_SAMPLE * SMALL_SAMPLE / (2 << BITS);
    if n < 2 * SMALL_SAMPLE {
        return false;
    }
    let mut there = [0u64; (1 << BITS) / 64];
    let mut again = 0;
    for at in sample_ranges(n, 16, SMALL_SAMPLE / 16).flatten() {
        let hash = (value(at).hash() >> (64 - BITS)) as usize;
        again += (there[hash / 64] >> (hash % 64) & 1) as usize;
        there[hash / 64] |= 1 << (hash % 64);
    }
    again <= BY_CHANCE + SMALL_SAMPLE / 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sample_detects_repetitions() {
        // SplitMix64 (Steele, Lea, Flood, 2014).
        let mixed = |i: usize| {
            let z = (i as u64 + 1).wrapping_mul(dictionary::MIX);
            let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        };
        for n in [512, 4000, 65_536] {
            assert!(hardly_repeats(n, mixed));
            assert!(hardly_repeats(n, |i| i as u64));
            // 100 values, runs of two, and every fourth value the same.
            assert!(!hardly_repeats(n, |i| mixed(i * 7919 % 100)));
            assert!(!hardly_repeats(n, |i| mixed(i / 2)));
            assert!(!hardly_repeats(n, |i| if i % 4 == 0 { 0 } else { mixed(i) }));
        }
        assert!(!hardly_repeats(SMALL_SAMPLE, mixed));
    }
}
