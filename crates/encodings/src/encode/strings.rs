//! Encodes strings: a dictionary if they repeat, else their lengths and their bytes, unchanged
//! (packing 5) or as FSST codes (packing 6).

use entasis_format::{Encoding, Error, Filter, Packing, Physical, Result, Transform};
use entasis_kernels::{VECTOR, bitpack, column_stats};

use super::dictionary::Bounds;
use super::page_writer::{Context, Entries, PageRange, PageWriter, Payload};
use super::{Encoded, Encoder, statistics};
use crate::choose::integers::WordPlan;
use crate::choose::strings::StringPlan;
use crate::limits::{PAGE, PAGE_LEN, PAGE_TEXT};
use crate::string_dictionary::entries::EntriesPlan;
use crate::string_dictionary::index::Strings;

/// The largest buffer for dictionary entries that is kept for the next block.
const KEPT: usize = 16 << 20;

/// A dictionary has few entries if its codes take this many times the bytes of its entries.
const FEW: f64 = 8.0;

pub(super) fn encode(
    encoder: &mut Encoder,
    physical: Physical,
    offsets: &[u32],
    bytes: &[u8],
    context: Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Encoded> {
    let n = offsets.len() - 1;
    if offsets[0] != 0 || !column_stats::is_sorted_unsigned(offsets) || offsets[n] as usize != bytes.len() {
        return Err(Error::argument("offsets of strings ascend from 0 to the length of their bytes"));
    }
    if physical == Physical::Utf8 {
        crate::utf8::check_utf8(bytes, offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize))
            .map_err(|_| Error::argument("a string is not UTF-8"))?;
    }
    let is_valid = |i: usize| context.bits.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
    let ranges = page_ranges(offsets);
    let decoded_len = bytes.len() as u64;
    let mut lengths = std::mem::take(&mut encoder.lengths);
    lengths.resize_stale(n);
    for (length, pair) in lengths.iter_mut().zip(offsets.windows(2)) {
        *length = pair[1] - pair[0];
    }
    let (shortest, longest) = column_stats::min_max_unsigned(&lengths);
    let mut plain = StringPlan::light(n, shortest..=longest, bytes);
    let longest = longest as usize;
    if !encoder.choices.profile.is_raw() && !bytes.is_empty() {
        // Missing values are empty strings; the dictionary needs one empty entry for all of them.
        let n_long = lengths.iter().filter(|&&length| length > 0).count();
        let entry_len = bytes.len() / n_long + 1;
        let len = plain.len * encoder.choices.hints.text_ratio.unwrap_or(1.0);
        let bounds = Bounds { len, score: f64::INFINITY, shown: None };
        let texts = Strings { offsets, bytes, longest };
        let dictionary = encoder.plan_text_dictionary(texts, bounds, entry_len);
        let dictionary = dictionary.map(|(entries, mut codes)| {
            let (hint, trainer) = (&mut encoder.choices.hints.entries, &mut encoder.choices.trainer);
            let (codec, joined) = (codes.codec.0, &mut encoder.joined);
            let plan = EntriesPlan::new(&entries, codec, &encoder.choices.profile, hint, trainer, joined);
            codes.ns += plan.ns;
            (entries, plan, codes)
        });
        let score_of = |(_, plan, codes): &(_, EntriesPlan, _)| encoder.dictionary_score(codes, plan.len);
        let bound = dictionary.as_ref().map_or(f64::INFINITY, score_of);
        // With few entries, the codes hold nearly all of the information, and their codec is
        // chosen already. Strings of one byte are as short as codes and need no dictionary.
        let is_settled = |(_, plan, codes): &(_, EntriesPlan, WordPlan<u32>)| plan.len * FEW < codes.len;
        let are_few = bytes.len() >= 2 * n && dictionary.as_ref().is_some_and(is_settled);
        if !are_few || bound >= encoder.choices.profile.score(plain.len, plain.ns) {
            plain = plain.compressed(&mut encoder.choices, bytes, bound, dictionary.is_some());
        }
        if let Some((entries, plan, codes)) = dictionary {
            let plain_score = encoder.choices.profile.score(plain.len, plain.ns);
            if encoder.dictionary_wins(&codes, plan.len, plain_score) {
                let statistics =
                    statistics::of_dictionary(context.n_missing, &entries, &encoder.codes, is_valid);
                let mut hint = std::mem::take(&mut encoder.choices.hints.entries);
                let mut joined = std::mem::take(&mut encoder.joined);
                let mut make = |out: &mut Vec<u8>| plan.emit(&entries, &mut hint, &mut joined, out);
                let payload = Payload::Made(&mut make);
                let of_entries = Entries { payload, n: entries.len(), is_dense: plan.symbols };
                let directory = encoder.write_dictionary(&codes, of_entries, ranges, context, out);
                (encoder.choices.hints.entries, encoder.lengths) = (hint, lengths);
                if joined.len() <= KEPT {
                    encoder.joined = joined;
                }
                return Ok(Encoded { directory: directory?, decoded_len, statistics });
            }
        }
    }
    let statistics = if shortest == 1 && longest == 1 && context.n_missing == 0 {
        statistics::of_bytes(bytes)
    } else {
        let ranges = offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        let values = ranges.enumerate().map(|(i, range)| (range, is_valid(i)));
        statistics::of_strings(context.n_missing, bytes, longest, values)
    };
    let mut symbols = if plain.symbols { encoder.choices.hints.symbols.take() } else { None };
    let encoding = Encoding {
        packing: if symbols.is_some() { Packing::Fsst } else { Packing::Strings },
        transform: Transform::None,
        codec: plain.codec.0,
        filter: Filter::None,
    };
    let mut pages = PageWriter::new(&mut encoder.choices.codecs, plain.codec, context, out);
    let text = |page: &PageRange| &bytes[offsets[page.0.start] as usize..offsets[page.0.end] as usize];
    for two in ranges.chunks(2) {
        let texts = [text(&two[0]), two.get(1).map_or(&[][..], text)];
        let codes = symbols.as_mut().map(|symbols| symbols.matcher.encode(texts));
        for (i, page) in two.iter().enumerate() {
            let range = page.0.clone();
            let of_page = &offsets[range.start..=range.end];
            pages.page(page.clone(), |body| {
                for start in of_page[..range.len()].iter().step_by(VECTOR) {
                    body.extend_from_slice(&(start - of_page[0]).to_le_bytes());
                }
                for vector in lengths[range].chunks(VECTOR) {
                    bitpack::pack(vector, plain.base, plain.width, body);
                }
                match (&symbols, &codes) {
                    (Some(symbols), Some(codes)) => symbols.matcher.put(&codes[i], body),
                    _ => body.extend_from_slice(texts[i]),
                }
            })?;
        }
    }
    let directory = pages.directory(encoding, plain.width, u64::from(plain.base));
    if symbols.is_some() {
        encoder.choices.hints.symbols = symbols;
    }
    encoder.lengths = lengths;
    Ok(Encoded { directory, decoded_len, statistics })
}

/// Splits a block into pages of at least one value: of about equal length, unless that takes more
/// pages than filling each one.
fn page_ranges(offsets: &[u32]) -> Vec<PageRange> {
    let full = cut(offsets, |_| PAGE_LEN);
    let pages_of = |len: usize| if len <= PAGE_LEN { 1 } else { len.div_ceil(PAGE_TEXT) };
    let even = cut(offsets, |rest| rest.div_ceil(pages_of(rest)));
    if even.len() <= full.len() { even } else { full }
}

/// Splits a block into pages. `most_of` gives the largest length of the next page from the
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
