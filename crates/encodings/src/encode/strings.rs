//! Encodes strings: as a dictionary if they repeat, else as lengths and bytes. The bytes are
//! unchanged (packing 5) or FSST codes (packing 6).

use std::ops::Range;

use entasis_format::{Encoding, Error, Filter, Packing, Physical, Result, Statistics, Transform};
use entasis_kernels::{VECTOR, bitpack, column_stats};

use super::dictionary::{Bounds, Dictionary};
use super::page_writer::{Context, Entries, PageRange, PageWriter, Payload};
use super::{Encoded, Encoder, statistics};
use crate::choose::strings::{Rival, StringPlan};
use crate::limits::{PAGE, PAGE_LEN, PAGE_TEXT};
use crate::string_dictionary::entries::EntriesPlan;
use crate::string_dictionary::index::{DistinctStrings, Strings};

/// A longer buffer for dictionary entries is not kept for the next block.
const KEPT: usize = 16 << 20;

/// A dictionary has few entries if its codes take this many times its entries' bytes.
const FEW: f64 = 8.0;

/// The strings of a block.
struct Block<'a> {
    /// String i is `bytes[offsets[i]..offsets[i + 1]]`.
    offsets: &'a [u32],
    bytes: &'a [u8],
    lengths: &'a [u32],
    shortest: u32,
    longest: u32,
    context: Context<'a>,
}

/// A dictionary of the strings of a block, and how to store its entries.
struct StringDictionary<'a> {
    dictionary: Dictionary<DistinctStrings<'a>>,
    plan: EntriesPlan,
}

pub(super) fn encode(
    encoder: &mut Encoder,
    physical: Physical,
    offsets: &[u32],
    bytes: &[u8],
    context: Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Encoded> {
    check(physical, offsets, bytes)?;
    let mut lengths = std::mem::take(&mut encoder.lengths);
    lengths.resize_stale(offsets.len() - 1);
    for (length, pair) in lengths.iter_mut().zip(offsets.windows(2)) {
        *length = pair[1] - pair[0];
    }
    let (shortest, longest) = column_stats::min_max_unsigned(&lengths);
    let block = Block { offsets, bytes, lengths: &lengths, shortest, longest, context };
    let encoded = encoder.encode_strings(&block, out);
    encoder.lengths = lengths;
    encoded
}

/// # Errors
/// *Argument* for offsets that do not ascend to the length of the bytes, and for invalid UTF-8.
fn check(physical: Physical, offsets: &[u32], bytes: &[u8]) -> Result<()> {
    let n = offsets.len() - 1;
    if offsets[0] != 0 || !column_stats::is_sorted_unsigned(offsets) || offsets[n] as usize != bytes.len() {
        return Err(Error::argument("offsets of strings ascend from 0 to the length of their bytes"));
    }
    if physical == Physical::Utf8 {
        crate::utf8::check_utf8(bytes, offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize))
            .map_err(|_| Error::argument("a string is not UTF-8"))?;
    }
    Ok(())
}

impl Block<'_> {
    fn n(&self) -> usize {
        self.lengths.len()
    }

    fn is_valid(&self, i: usize) -> bool {
        self.context.bits.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1)
    }

    /// The bytes of consecutive strings.
    fn text(&self, strings: &Range<usize>) -> &[u8] {
        &self.bytes[self.offsets[strings.start] as usize..self.offsets[strings.end] as usize]
    }

    fn statistics(&self) -> Statistics {
        let n_missing = self.context.n_missing;
        if self.shortest == 1 && self.longest == 1 && n_missing == 0 {
            return statistics::of_bytes(self.bytes);
        }
        let ranges = self.offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        let values = ranges.enumerate().map(|(i, range)| (range, self.is_valid(i)));
        statistics::of_strings(n_missing, self.bytes, self.longest as usize, values)
    }

    /// Appends the lengths of a page's strings: the offset of each vector, then bit-packed lengths.
    fn emit_lengths(&self, strings: Range<usize>, plan: &StringPlan, body: &mut Vec<u8>) {
        let offsets = &self.offsets[strings.clone()];
        for offset in offsets.iter().step_by(VECTOR) {
            body.extend_from_slice(&(offset - offsets[0]).to_le_bytes());
        }
        for vector in self.lengths[strings].chunks(VECTOR) {
            bitpack::pack(vector, plan.base, plan.width, body);
        }
    }
}

impl Encoder {
    fn encode_strings(&mut self, block: &Block<'_>, out: &mut Vec<u8>) -> Result<Encoded> {
        let lengths = block.shortest..=block.longest;
        let mut plain = StringPlan::light(block.n(), lengths, block.bytes);
        if !self.choices.profile.is_raw() && !block.bytes.is_empty() {
            let dictionary = self.plan_string_dictionary(block, plain.len);
            plain = self.compress_strings(block, plain, dictionary.as_ref());
            if let Some(StringDictionary { dictionary, plan }) = dictionary {
                let plain_score = self.choices.profile.score(plain.len, plain.ns);
                if self.dictionary_wins(&dictionary.codes, plan.len, plain_score) {
                    return self.write_string_dictionary(block, &dictionary, &plan, out);
                }
            }
        }
        self.write_strings(block, &plain, out)
    }

    /// A dictionary that may beat `light_len` bytes.
    fn plan_string_dictionary<'a>(
        &mut self,
        block: &Block<'a>,
        light_len: f64,
    ) -> Option<StringDictionary<'a>> {
        // Missing values are empty strings, and the dictionary needs one empty entry for all of
        // them.
        let n_long = block.lengths.iter().filter(|&&length| length > 0).count();
        let entry_len = block.bytes.len() / n_long + 1;
        let len = light_len * self.choices.hints.text_ratio.unwrap_or(1.0);
        let bounds = Bounds { len, score: f64::INFINITY, shown: None };
        let &Block { offsets, bytes, longest, .. } = block;
        let texts = Strings { offsets, bytes, longest: longest as usize };
        let mut dictionary = self.plan_text_dictionary(texts, bounds, entry_len)?;
        let plan = EntriesPlan::new(
            &dictionary.entries,
            dictionary.codes.codec.0,
            &self.choices.profile,
            &mut self.choices.hints.entries,
            &mut self.choices.trainer,
            &mut self.joined,
        );
        dictionary.codes.ns += plan.ns;
        Some(StringDictionary { dictionary, plan })
    }

    /// The best of a plan, symbols and codecs, unless the dictionary clearly wins.
    fn compress_strings(
        &mut self,
        block: &Block<'_>,
        plain: StringPlan,
        dictionary: Option<&StringDictionary<'_>>,
    ) -> StringPlan {
        let mut rival = Rival { score: f64::INFINITY, is_dictionary: false };
        if let Some(StringDictionary { dictionary, plan }) = dictionary {
            rival = Rival { score: self.dictionary_score(&dictionary.codes, plan.len), is_dictionary: true };
            // With few entries, the codes hold nearly all information, and their codec is already
            // chosen. Strings of one byte are as short as codes and need no dictionary.
            let has_few = block.bytes.len() >= 2 * block.n() && plan.len * FEW < dictionary.codes.len;
            if has_few && rival.score < self.choices.profile.score(plain.len, plain.ns) {
                return plain;
            }
        }
        plain.compressed(&mut self.choices, block.bytes, rival)
    }

    fn write_string_dictionary(
        &mut self,
        block: &Block<'_>,
        dictionary: &Dictionary<DistinctStrings<'_>>,
        plan: &EntriesPlan,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        let Dictionary { entries, codes } = dictionary;
        let is_valid = |i: usize| block.is_valid(i);
        let statistics = statistics::of_dictionary(block.context.n_missing, entries, &self.codes, is_valid);
        let mut hint = std::mem::take(&mut self.choices.hints.entries);
        let mut joined = std::mem::take(&mut self.joined);
        let mut emit = |out: &mut Vec<u8>| plan.emit(entries, &mut hint, &mut joined, out);
        let payload = Payload::Made(&mut emit);
        let stored = Entries { payload, n: entries.len(), is_dense: plan.symbols };
        let ranges = page_ranges(block.offsets);
        let directory = self.write_dictionary(codes, stored, ranges, block.context, out);
        self.choices.hints.entries = hint;
        if joined.len() <= KEPT {
            self.joined = joined;
        }
        Ok(Encoded { directory: directory?, decoded_len: block.bytes.len() as u64, statistics })
    }

    /// Writes the lengths and bytes of strings. The bytes become codes if the plan has symbols.
    fn write_strings(&mut self, block: &Block<'_>, plan: &StringPlan, out: &mut Vec<u8>) -> Result<Encoded> {
        let statistics = block.statistics();
        let mut symbols = if plan.symbols { self.choices.hints.symbols.take() } else { None };
        let encoding = Encoding {
            packing: if symbols.is_some() { Packing::Fsst } else { Packing::Strings },
            transform: Transform::None,
            codec: plan.codec.0,
            filter: Filter::None,
        };
        let mut pages = PageWriter::new(&mut self.choices.codecs, plan.codec, block.context, out);
        // Two pages take less time together than one by one.
        for two in page_ranges(block.offsets).chunks(2) {
            let texts = [block.text(&two[0].0), two.get(1).map_or(&[][..], |page| block.text(&page.0))];
            let codes = symbols.as_mut().map(|symbols| symbols.matcher.encode(texts));
            for (i, page) in two.iter().enumerate() {
                pages.page(page.clone(), |body| {
                    block.emit_lengths(page.0.clone(), plan, body);
                    match (&symbols, &codes) {
                        (Some(symbols), Some(codes)) => symbols.matcher.put(&codes[i], body),
                        _ => body.extend_from_slice(texts[i]),
                    }
                })?;
            }
        }
        let directory = pages.directory(encoding, plan.width, u64::from(plan.base));
        if symbols.is_some() {
            self.choices.hints.symbols = symbols;
        }
        Ok(Encoded { directory, decoded_len: block.bytes.len() as u64, statistics })
    }
}

/// Splits a block into pages of at least one value. Pages have about equal lengths, unless this
/// needs more pages than filling each.
fn page_ranges(offsets: &[u32]) -> Vec<PageRange> {
    let full = cut(offsets, |_| PAGE_LEN);
    let pages_of = |len: usize| if len <= PAGE_LEN { 1 } else { len.div_ceil(PAGE_TEXT) };
    let even = cut(offsets, |rest| rest.div_ceil(pages_of(rest)));
    if even.len() <= full.len() { even } else { full }
}

/// Splits a block into pages. `most_of` returns the largest length of the next page, given the
/// remaining bytes.
fn cut(offsets: &[u32], most_of: impl Fn(usize) -> usize) -> Vec<PageRange> {
    let n = offsets.len() - 1;
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < n {
        let most = (start + PAGE).min(n);
        let limit = offsets[start] as usize + most_of((offsets[n] - offsets[start]) as usize);
        let fit = offsets[start..=most].partition_point(|&offset| offset as usize <= limit) - 1;
        let end = start + fit.max(1);
        ranges.push((start..end, (offsets[end] - offsets[start]) as usize));
        start = end;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_what_fits() {
        let ranges =
            |offsets: &[u32]| page_ranges(offsets).into_iter().map(|page| page.0).collect::<Vec<_>>();
        assert_eq!(ranges(&[0, 1, 2]).len(), 1);
        let offsets: Vec<u32> = (0..=20_000).collect();
        assert_eq!(ranges(&offsets), [0..8192, 8192..16_384, 16_384..20_000]);
        assert_eq!(ranges(&[0, 100, 300_000, 300_001, 600_000]), [0..1, 1..2, 2..3, 3..4]);
        assert_eq!(ranges(&[0, 262_144, 262_144, 262_145]), [0..1, 1..3]);
    }

    #[test]
    fn pages_are_of_about_one_length() {
        for n in [1, 2, 700, 4000, 4100, 9000, 12_000] {
            let mut offsets = vec![0u32];
            offsets.extend((0..n).scan(0, |end, i| {
                *end += 200 + (i * i * 31 % 100) as u32;
                Some(*end)
            }));
            let lens: Vec<usize> = page_ranges(&offsets).into_iter().map(|(_, len)| len).collect();
            let total = offsets[n] as usize;
            assert_eq!(lens.iter().sum::<usize>(), total);
            let (least, most) = (lens.iter().min().unwrap(), lens.iter().max().unwrap());
            assert!(
                *most <= PAGE_LEN && most - least < 2000 && lens.len() <= total / 250_000 + 1,
                "{lens:?}"
            );
        }
    }
}
