//! Neighbouring strings: the length of every block is known beforehand, so that each is decoded straight to its place.

use std::ops::Range;

use entasis_encodings::StringSlice;
use entasis_format::{Error, Result};
use entasis_kernels::bits;

use super::fixed::put_missing;
use super::segment::Reader;
use super::{MissingTo, Piece, Source, Text};
use crate::control::Control;

/// Bytes of strings or number of them that one task decodes.
const TASK_LEN: u64 = 2 << 20;
const TASK_VALUES: u64 = 1 << 18;

/// A piece of a request: whole blocks, or a part of one.
pub(crate) struct TextTask<'a> {
    request: usize,
    source: &'a Source,
    values: Range<u64>,
    /// Where the first value stands in the request.
    at: usize,
    /// Bytes of the strings before the first one.
    base: i64,
    /// The offset after each value.
    ends: &'a mut [i64],
    bytes: &'a mut [u8],
    mask: Option<&'a mut [u8]>,
    wants_bits: bool,
}

/// Sizes the memory of a request and cuts it into tasks. Returns the memory for validity bits.
pub(crate) fn plan<'a>(
    request: usize,
    reader: &mut Reader<'_>,
    source: &'a Source,
    values: Range<u64>,
    text: &'a mut Text,
    missing: MissingTo<'a>,
    mut add: impl FnMut(TextTask<'a>),
) -> Result<Option<&'a mut [u8]>> {
    let pieces = pieces(reader, source, &values)?;
    let total = pieces.iter().try_fold(0u64, |sum, piece| sum.checked_add(piece.1));
    let total = total.and_then(|total| usize::try_from(total).ok());
    let total = total.ok_or_else(|| Error::limit("not enough memory for the strings"))?;
    let n = (values.end - values.start) as usize;
    let (mut ends, mut bytes) = text.reserve(n, total)?;
    let (mut mask, bits) = match missing {
        MissingTo::Mask(mask) => (Some(mask), None),
        MissingTo::Bits(bits) => (None, Some(bits)),
        _ => (None, None),
    };
    let wants_bits = bits.is_some();
    let (mut at, mut base) = (0, 0i64);
    for (values, len) in pieces {
        let n = (values.end - values.start) as usize;
        let (now, later) = ends.split_at_mut(n);
        let (now_bytes, later_bytes) = bytes.split_at_mut(len as usize);
        let now_mask = mask.take().map(|all| {
            let (now, later) = all.split_at_mut(n);
            mask = Some(later);
            now
        });
        (ends, bytes) = (later, later_bytes);
        add(TextTask {
            request,
            source,
            values,
            at,
            base,
            ends: now,
            bytes: now_bytes,
            mask: now_mask,
            wants_bits,
        });
        at += n;
        base += len as i64;
    }
    Ok(bits)
}

/// The ranges of values that tasks take, with the bytes of their strings. Parts of blocks are measured by reading their lengths.
fn pieces(reader: &mut Reader<'_>, source: &Source, values: &Range<u64>) -> Result<Vec<(Range<u64>, u64)>> {
    let mut pieces: Vec<(Range<u64>, u64)> = Vec::new();
    let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
    for block in source.blocks[first..].iter().take_while(|block| block.first_value < values.end) {
        let part = values.start.max(block.first_value)..values.end.min(block.end_value());
        let whole = part == (block.first_value..block.end_value());
        let len = if whole { block.decoded_len } else { measure(reader, source, part.clone())? };
        match pieces.last_mut() {
            Some((last, sum))
                if last.end - last.start < TASK_VALUES && sum.saturating_add(len) <= TASK_LEN =>
            {
                last.end = part.end;
                *sum += len;
            }
            _ => pieces.push((part, len)),
        }
    }
    Ok(pieces)
}

fn measure(reader: &mut Reader<'_>, source: &Source, values: Range<u64>) -> Result<u64> {
    let mut len = 0;
    reader.pages(source, values, &mut |opened, scratch| {
        len += opened.decoder.strings(opened.page, opened.range, scratch)?.total_len() as u64;
        Ok(())
    })?;
    Ok(len)
}

impl TextTask<'_> {
    pub(crate) fn run(self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<Option<Piece>> {
        let Self { request, source, values, at, base, ends, bytes, mask, wants_bits } = self;
        let n = ends.len();
        let mut done = 0;
        let mut validity = if wants_bits { vec![0; n.div_ceil(8)] } else { Vec::new() };
        let mut missing = match mask {
            Some(mask) => MissingTo::Mask(mask),
            None if wants_bits => MissingTo::Bits(&mut validity),
            None => MissingTo::Ignore,
        };
        let visited = reader.pages(source, values, &mut |opened, scratch| {
            control.check()?;
            control.advance(opened.range.len() as u64);
            let strings = opened.decoder.strings(opened.page, opened.range.clone(), scratch)?;
            let len = strings.total_len();
            let place = bytes.get_mut(done..done + len).ok_or_else(too_long)?;
            strings.write(place)?;
            ends_of(&strings, base + done as i64, &mut ends[opened.at..opened.at + opened.range.len()]);
            done += len;
            put_missing(opened.page.validity, opened.range, opened.at, &mut missing)
        });
        visited
            .and_then(|()| if done == bytes.len() { Ok(()) } else { Err(too_long()) })
            .map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })?;
        if !wants_bits {
            return Ok(None);
        }
        debug_assert!(bits::count_ones(&validity, 0, n) <= n);
        Ok(Some(Piece { request, at, n, bits: validity }))
    }
}

fn ends_of(strings: &StringSlice<'_>, base: i64, ends: &mut [i64]) {
    let mut end = base;
    for (out, &length) in ends.iter_mut().zip(strings.lengths()) {
        end += i64::from(length);
        *out = end;
    }
}

fn too_long() -> Error {
    Error::corrupt("the strings of a block have not the length that its record says")
}
