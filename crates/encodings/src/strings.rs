//! Strings: a dictionary when they repeat, else their lengths and their bytes (packing 5).

use entasis_format::{Codec, Encoding, Error, Filter, Packing, Physical, Result, Transform};
use entasis_kernels::{VECTOR, bitpack};

use crate::dictionary::Text;
use crate::encode::{Encoded, Encoder, PAGE};
use crate::page_writer::{Context, PageRange, PageWriter};
use crate::plan::{HOPE, MIN_PAYLOAD};
use crate::profile::cost;
use crate::statistics;
use crate::word::{bits_of, sample_ranges};

/// The most bytes of a page of more than one value.
const PAGE_LEN: usize = 256 * 1024;
/// Bytes of each of two pieces of a block that codecs are tried on.
const SAMPLE: usize = 64 * 1024;
/// Bytes of the piece that a codec has to do well on before.
const GLANCE: usize = 16 * 1024;

pub(crate) fn encode(
    encoder: &mut Encoder,
    physical: Physical,
    offsets: &[u32],
    bytes: &[u8],
    context: Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Encoded> {
    let n = offsets.len() - 1;
    if offsets[0] != 0 || !offsets.is_sorted() || offsets[n] as usize != bytes.len() {
        return Err(Error::argument("offsets of strings ascend from 0 to the length of their bytes"));
    }
    if physical == Physical::Utf8 {
        crate::decode::check_utf8(bytes, offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize))
            .map_err(|_| Error::argument("a string is not UTF-8"))?;
    }
    let range = |i: usize| offsets[i] as usize..offsets[i + 1] as usize;
    let is_valid = |i: usize| context.bits.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
    let ranges = page_ranges(offsets);
    let decoded_len = bytes.len() as u64;
    let lengths: Vec<u32> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut plain = Plain::light(&lengths, bytes);
    if !encoder.profile.is_raw() && !bytes.is_empty() {
        let entry_len = bytes.len() / n + 4;
        let value = |i: usize| Text::new(bytes, range(i));
        let dictionary = encoder
            .plan_dictionary(n, plain.len * encoder.hints.text_ratio.unwrap_or(1.0), entry_len, value)
            .map(|(entries, codes)| {
                let entries: Vec<&[u8]> = entries.iter().map(|text| text.bytes).collect();
                (dictionary_payload(&entries), entries, codes)
            });
        let bound =
            dictionary.as_ref().map(|(payload, _, codes)| encoder.dictionary_score(codes, payload.len()));
        plain = plain.with_codec(encoder, &lengths, bytes, bound.unwrap_or(f64::INFINITY));
        if let Some((payload, entries, codes)) = dictionary {
            let plain_score = encoder.profile.score(plain.len, plain.ns);
            if encoder.dictionary_wins(&codes, payload.len(), plain_score) {
                let statistics =
                    statistics::of_dictionary(context.n_missing, &entries, &encoder.codes, is_valid);
                let directory =
                    encoder.write_dictionary(&codes, &payload, entries.len(), ranges, context, out);
                return Ok(Encoded { directory: directory?, decoded_len, statistics });
            }
        }
    }
    let present = (0..n).filter(|&i| is_valid(i)).map(|i| &bytes[range(i)]);
    let statistics = statistics::of_strings(context.n_missing, present);
    let encoding = Encoding {
        packing: Packing::Strings,
        transform: Transform::None,
        codec: plain.codec.0,
        filter: Filter::None,
    };
    let mut pages = PageWriter::new(&mut encoder.codecs, plain.codec, context, out);
    for page in ranges {
        let range = page.0.clone();
        let of_page = &offsets[range.start..=range.end];
        let bytes = &bytes[of_page[0] as usize..of_page[range.len()] as usize];
        pages.page(page, |body| {
            for start in of_page[..range.len()].iter().step_by(VECTOR) {
                body.extend_from_slice(&(start - of_page[0]).to_le_bytes());
            }
            for vector in lengths[range].chunks(VECTOR) {
                bitpack::pack(vector, plain.base, plain.width, body);
            }
            body.extend_from_slice(bytes);
        })?;
    }
    Ok(Encoded {
        directory: pages.directory(encoding, plain.width, u64::from(plain.base)),
        decoded_len,
        statistics,
    })
}

/// Cuts a block into pages: as many values as fit, at least one each.
fn page_ranges(offsets: &[u32]) -> Vec<PageRange> {
    let n = offsets.len() - 1;
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < n {
        let most = (start + PAGE).min(n);
        let limit = offsets[start] as usize + PAGE_LEN;
        let fit = offsets[start..=most].partition_point(|&offset| offset as usize <= limit) - 1;
        let end = start + fit.max(1);
        ranges.push((start..end, (offsets[end] - offsets[start]) as usize));
        start = end;
    }
    ranges
}

fn dictionary_payload(entries: &[&[u8]]) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut offset = 0u32;
    payload.extend_from_slice(&offset.to_le_bytes());
    for entry in entries {
        offset += entry.len() as u32;
        payload.extend_from_slice(&offset.to_le_bytes());
    }
    entries.iter().for_each(|entry| payload.extend_from_slice(entry));
    payload
}

/// How to store lengths and bytes.
struct Plain {
    base: u32,
    width: u32,
    codec: (Codec, i32),
    len: f64,
    ns: f64,
}

impl Plain {
    /// Without a codec.
    fn light(lengths: &[u32], bytes: &[u8]) -> Self {
        let (min, max) = lengths.iter().fold((u32::MAX, 0), |(a, b), &l| (a.min(l), b.max(l)));
        let width = bits_of(max - min);
        Self {
            base: min,
            width,
            codec: (Codec::None, 0),
            len: (bytes.len() + lengths_len(lengths.len(), width)) as f64,
            ns: lengths.len() as f64 * cost::BIT_PACKED,
        }
    }

    /// The best of this and of codecs, as far as they may have a score below `bound`.
    fn with_codec(self, encoder: &mut Encoder, lengths: &[u32], bytes: &[u8], bound: f64) -> Self {
        if bytes.len() < 64
            || (bytes.len() < MIN_PAYLOAD && encoder.profile.compression < 80)
            || encoder.hints.text == Some((Codec::None, 0))
        {
            return self;
        }
        let (base, width) = (self.base, self.width);
        let aligned = if width == 0 { 0 } else { width.next_multiple_of(8).next_power_of_two() };
        let payload = (bytes.len() + lengths_len(lengths.len(), aligned)) as f64;
        let with = |codec: (Codec, i32), ratio: f64| Self {
            base,
            width: aligned,
            codec,
            len: payload * ratio,
            ns: payload * cost::codec_byte(codec.0),
        };
        let candidates: &[(Codec, i32)] = match &encoder.hints.text {
            Some(codec) => &[*codec],
            None => encoder.profile.codecs,
        };
        let profile = encoder.profile.clone();
        let mut best = self;
        let mut is_tried = false;
        for &codec in candidates {
            let bound = bound.min(profile.score(best.len, best.ns));
            let may_win = |ratio: f64, hope: f64| {
                let plan = with(codec, ratio);
                profile.score(plan.len, plan.ns) < bound * hope
            };
            let mut ratio_of = |pieces, len| {
                let (mut before, mut after) = (0, 0);
                for range in sample_ranges(bytes.len(), pieces, len) {
                    before += range.len();
                    after += encoder.codecs.stored_len(codec.0, codec.1, &bytes[range]);
                }
                after as f64 / before as f64
            };
            if !may_win(0.0, 1.0) {
                continue;
            }
            is_tried = true;
            if bytes.len() > SAMPLE && !may_win(ratio_of(1, GLANCE), HOPE) {
                continue;
            }
            let plan = with(codec, ratio_of(2, SAMPLE));
            if profile.score(plan.len, plan.ns) < profile.score(best.len, best.ns) {
                best = plan;
            }
        }
        if is_tried {
            encoder.hints.text = Some(best.codec);
            encoder.hints.text_ratio = Some(best.len / payload);
        }
        best
    }
}

/// Bytes of the lengths of `n` strings, with the starts of their vectors.
fn lengths_len(n: usize, width: u32) -> usize {
    n * width as usize / 8 + 4 * n.div_ceil(VECTOR)
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
        assert_eq!(ranges(&[0, 262_144, 262_144, 262_145]), [0..2, 2..3]);
    }
}
