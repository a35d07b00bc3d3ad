//! Encodes values of any fixed width as rows of bytes: raw, shuffled or not, or a dictionary.

use entasis_format::{Codec, Encoding, Error, Filter, Layout, Packing, Result, Transform};

use super::dictionary::{Bounds, Dictionary};
use super::page_writer::{Context, Entries, PageRange, PageWriter, Payload, fixed_pages};
use super::{Encoded, Encoder, statistics};
use crate::packing::raw;
use crate::profile::cost;
use crate::string_dictionary::index::Strings;
use crate::validity;

/// How to store the bytes.
struct Plan {
    filter: Filter,
    codec: (Codec, i32),
    len: f64,
    ns: f64,
}

pub(super) fn encode(
    encoder: &mut Encoder,
    of: Layout,
    n: usize,
    bytes: &mut [u8],
    context: Context<'_>,
    out: &mut Vec<u8>,
) -> Result<Encoded> {
    let width = of.width().unwrap_or(0);
    if of.is_word() || n.checked_mul(width) != Some(bytes.len()) {
        return Err(Error::argument("the bytes of a block are not those of its values"));
    }
    if let Some(bits) = context.bits {
        if context.n_missing as usize == n {
            bytes.fill(0);
        }
        validity::fill_missing_bytes(bits, width, bytes);
    }
    let bytes = &*bytes;
    let decoded_len = bytes.len() as u64;
    let mut statistics = statistics::of_count(context.n_missing);
    let ranges = fixed_pages(n, width);
    let plain = Plan::new(encoder, width, bytes, &ranges);
    if !encoder.choices.profile.is_raw() && !bytes.is_empty() {
        let mut limbs = Vec::new();
        if of.physical.width() == Some(32) {
            limbs.extend(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        }
        let score = encoder.choices.profile.score(plain.len, plain.ns);
        let narrow =
            encoder.plan_narrow(of, &limbs).filter(|(_, plan)| plan.score(&encoder.choices.profile) < score);
        let (len, score) = narrow
            .as_ref()
            .map_or((plain.len, score), |(_, plan)| (plan.len, plan.score(&encoder.choices.profile)));
        let settled = narrow.as_ref().is_some_and(|(_, plan)| plan.packing == Packing::Constant);
        // A single value needs no dictionary, and may be longer than the offsets allow.
        let offsets: Vec<u32> =
            if n > 1 { (0..=n).map(|i| (i * width) as u32).collect() } else { Vec::new() };
        let texts = Strings { offsets: &offsets, bytes, longest: width };
        if !settled
            && n > 1
            && let Some(Dictionary { entries, codes }) =
                encoder.plan_text_dictionary(texts, Bounds { len, score, shown: None }, width)
            && encoder.dictionary_wins(&codes, (entries.len() * width) as f64, score)
        {
            statistics.n_distinct = if context.n_missing == 0 { entries.len() as u32 } else { 0 };
            let mut joined = std::mem::take(&mut encoder.joined);
            let payload = Payload::Bytes(entries.join(&mut joined));
            let entries = Entries { payload, n: entries.len(), is_dense: false };
            let directory = encoder.write_dictionary(&codes, entries, ranges, context, out);
            encoder.joined = joined;
            return Ok(Encoded { directory: directory?, decoded_len, statistics });
        }
        if let Some(narrow) = narrow {
            let directory = encoder.write_narrow(&narrow, ranges, context, out)?;
            return Ok(Encoded { directory, decoded_len, statistics });
        }
    }
    let encoding = Encoding {
        packing: Packing::Raw,
        transform: Transform::None,
        codec: plain.codec.0,
        filter: plain.filter,
    };
    let mut pages = PageWriter::new(&mut encoder.choices.codecs, plain.codec, context, out);
    for page in ranges {
        let values = &bytes[page.0.start * width..page.0.end * width];
        pages.page(page, |body| raw::emit(values, width, plain.filter, body))?;
    }
    Ok(Encoded { directory: pages.directory(encoding, 0, 0), decoded_len, statistics })
}

impl Plan {
    /// The best of no codec and the codecs of the profile, each with and without the filter, tested
    /// on two pages. The winner of a run's first block is kept.
    fn new(encoder: &mut Encoder, width: usize, bytes: &[u8], ranges: &[PageRange]) -> Self {
        let len = bytes.len() as f64;
        let mut best = Self { filter: Filter::None, codec: (Codec::None, 0), len, ns: 0.0 };
        if encoder.choices.profile.codecs.is_empty() || bytes.len() < 64 {
            return best;
        }
        let plan = |filter, codec: (Codec, i32), ratio: f64| {
            let shuffle = if filter == Filter::Shuffle { cost::SHUFFLE_BYTE } else { 0.0 };
            Self { filter, codec, len: len * ratio, ns: len * (cost::codec_byte(codec.0) + shuffle) }
        };
        if let Some((filter, codec, ratio)) = encoder.choices.hints.fixed {
            return plan(filter, codec, ratio);
        }
        let mut ratio_of_best = 1.0;
        let filters = if width > 1 { &[Filter::None, Filter::Shuffle][..] } else { &[Filter::None] };
        let mut payload = Vec::new();
        for &filter in filters {
            for &codec in encoder.choices.profile.codecs {
                let (mut before, mut after) = (0, 0);
                let middle = (ranges.len() > 2).then(|| &ranges[ranges.len() / 2]);
                for (range, _) in ranges.first().into_iter().chain(middle) {
                    payload.clear();
                    raw::emit(&bytes[range.start * width..range.end * width], width, filter, &mut payload);
                    before += payload.len();
                    after += encoder.choices.codecs.stored_len(codec.0, codec.1, &payload);
                }
                let ratio = after as f64 / before as f64;
                let plan = plan(filter, codec, ratio);
                if encoder.choices.profile.score(plan.len, plan.ns)
                    < encoder.choices.profile.score(best.len, best.ns)
                {
                    (best, ratio_of_best) = (plan, ratio);
                }
            }
        }
        encoder.choices.hints.fixed = Some((best.filter, best.codec, ratio_of_best));
        best
    }
}
