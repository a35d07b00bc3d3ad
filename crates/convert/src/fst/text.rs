//! Columns of strings in blocks of 2,047.

use std::ops::Range;

use entasis::{Error, Result};

use super::decoder::Decoder;
use crate::bytes::{Bytes, sum};
use crate::r::{Mark, Strings};

/// A vector of strings.
#[derive(Debug)]
pub(super) struct Text<'a> {
    bytes: Bytes<'a>,
    at: u64,
    n: u64,
    per_block: u64,
    is_compressed: bool,
    mark: Mark,
}

/// A block as it is stored.
struct Packed<'a> {
    lens: &'a [u8],
    lens_algorithm: u16,
    missing: &'a [u8],
    text: &'a [u8],
    text_algorithm: u16,
}

/// Strings one after the other, with their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub(super) ends: Vec<u64>,
    pub(super) text: Vec<u8>,
    /// The numbers of missing strings.
    pub(super) missing: Vec<usize>,
}

impl<'a> Text<'a> {
    /// The vector of `n` strings at a position.
    pub(super) fn open(bytes: Bytes<'a>, at: u64, n: u64) -> Result<Self> {
        let (flags, per_block) = (bytes.u32(at)?, u64::from(bytes.u32(sum(at, 4)?)?));
        let mark = match flags >> 1 & 7 {
            0 => Mark::Native,
            1 => Mark::Latin1,
            2 => Mark::Utf8,
            _ => return Err(Error::unsupported("the encoding of an fst column").at(at)),
        };
        if per_block == 0 || per_block > 1 << 16 {
            return Err(Error::corrupt("the length of blocks is not valid").at(at));
        }
        let text = Self { bytes, at, n, per_block, is_compressed: flags & 1 == 1, mark };
        bytes.check(sum(at, 8)?, text.index_len()?)?;
        Ok(text)
    }

    fn index_len(&self) -> Result<u64> {
        let len = self.n.div_ceil(self.per_block).checked_mul(if self.is_compressed { 16 } else { 8 });
        len.ok_or_else(|| Error::corrupt("the number of rows is not valid"))
    }

    /// The encoding of all strings.
    pub(super) fn mark(&self) -> Mark {
        self.mark
    }

    /// Values of a block.
    pub(super) fn per_block(&self) -> u64 {
        self.per_block
    }

    /// The position after the last block.
    pub(super) fn end(&self) -> Result<u64> {
        match self.n.div_ceil(self.per_block) {
            0 => sum(self.at, 8),
            n => sum(self.at, self.end_of(n - 1)?),
        }
    }

    /// The end of a block, from the position of the vector.
    fn end_of(&self, block: u64) -> Result<u64> {
        self.bytes.u64(sum(self.at, 8 + block * if self.is_compressed { 16 } else { 8 })?)
    }

    /// A block of `n` strings, in memory or in the buffer.
    fn block<'b>(&self, block: u64, n: u64, buffer: &'b mut Vec<u8>) -> Result<Packed<'b>>
    where
        'a: 'b,
    {
        let start = if block == 0 { 8 + self.index_len()? } else { self.end_of(block - 1)? };
        let len = self.end_of(block)?.checked_sub(start);
        let len = len.ok_or_else(|| Error::corrupt("blocks are not in order"))?;
        let all = self.bytes.read(sum(self.at, start)?, len, buffer)?;
        let (mut lens_len, mut lens_algorithm, mut text_algorithm) = (4 * n, 0, 0);
        if self.is_compressed {
            let entry: [u8; 8] = self.bytes.array(self.at + 16 + block * 16)?;
            let [a, b, c, d, e, f, g, h] = entry;
            (lens_algorithm, text_algorithm) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            lens_len = u64::from(u32::from_le_bytes([e, f, g, h]));
        }
        let missing_len = 4 * (1 + n / 32);
        let cut = |bytes: &'b [u8], len: u64| {
            let parts = usize::try_from(len).ok().and_then(|len| bytes.split_at_checked(len));
            parts.ok_or_else(|| Error::corrupt("a block of strings is too short"))
        };
        let (lens, rest) = cut(all, lens_len)?;
        let (missing, text) = cut(rest, missing_len)?;
        Ok(Packed { lens, lens_algorithm, missing, text, text_algorithm })
    }

    /// Bytes of the stored blocks that have these rows.
    pub(super) fn stored_len(&self, rows: &Range<u64>) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        let last = (rows.end - 1) / self.per_block;
        let start = match rows.start / self.per_block {
            0 => 8 + self.index_len()?,
            block => self.end_of(block - 1)?,
        };
        Ok(self.end_of(last)?.saturating_sub(start))
    }

    /// Decodes all rows.
    pub(super) fn decode_all(&self) -> Result<Part> {
        let mut all = Part::default();
        self.decode(&mut Decoder::new()?, 0..self.n, u64::MAX, &mut all)?;
        Ok(all)
    }

    /// Decodes rows, with at most `most` bytes of text.
    pub(super) fn decode(
        &self,
        decoder: &mut Decoder,
        rows: Range<u64>,
        most: u64,
        into: &mut Part,
    ) -> Result<()> {
        let mut row = rows.start;
        let (mut lens, mut stored) = (Vec::new(), std::mem::take(&mut decoder.stored));
        let n = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
        into.ends.try_reserve_exact(n).map_err(|_| Error::out_of_memory(n.saturating_mul(8), "strings"))?;
        while row < rows.end {
            let block = row / self.per_block;
            let first = block * self.per_block;
            let n = (self.n - first).min(self.per_block);
            let part = (row - first) as usize..(rows.end - first).min(n) as usize;
            let packed = self.block(block, n, &mut stored);
            let result = packed
                .and_then(|packed| part_of(&packed, decoder, n as usize, part.clone(), &mut lens, into));
            result.map_err(|error| error.in_block(block).at(self.at))?;
            if into.text.len() as u64 > most {
                return Err(Error::limit("the strings are longer than max_bytes allows")
                    .advise("raise max_bytes if you trust the file, or read fewer rows or columns"));
            }
            row = first + part.end as u64;
        }
        decoder.stored = stored;
        Ok(())
    }
}

/// Decodes strings of a block.
fn part_of(
    packed: &Packed<'_>,
    decoder: &mut Decoder,
    n: usize,
    part: Range<usize>,
    lens: &mut Vec<u8>,
    into: &mut Part,
) -> Result<()> {
    lens.resize(4 * n, 0);
    decoder.block(packed.lens, packed.lens_algorithm, 4, lens)?;
    let (ends, _) = lens.as_chunks::<4>();
    let end = |i: usize| u32::from_le_bytes(ends[i]) as usize;
    let len = end(n - 1);
    if len > decoder.most_len(packed.text, packed.text_algorithm)
        || !ends.is_sorted_by_key(|&end| u32::from_le_bytes(end))
    {
        return Err(Error::corrupt("the lengths of strings are not valid"));
    }
    let base = into.text.len();
    into.text.try_reserve(len).map_err(|_| Error::out_of_memory(len, "strings"))?;
    into.text.resize(base + len, 0);
    if len > 0 {
        decoder.block(packed.text, packed.text_algorithm, 1, &mut into.text[base..])?;
    }
    // Drop the strings that were not asked for.
    let start = if part.start == 0 { 0 } else { end(part.start - 1) };
    into.text.truncate(base + end(part.end - 1));
    into.text.drain(base..base + start);
    let (words, _) = packed.missing.as_chunks::<4>();
    let bit = |i: usize| u32::from_le_bytes(words[i / 32]) >> (i % 32) & 1 == 1;
    if !bit(n) {
        into.ends.extend(part.map(|i| (base + end(i) - start) as u64));
        return Ok(());
    }
    // Missing strings are stored as the text NA.
    let (mut to, mut from) = (base, base);
    for i in part {
        let next = base + end(i) - start;
        if bit(i) {
            into.missing.push(into.ends.len());
        } else {
            into.text.copy_within(from..next, to);
            to += next - from;
        }
        into.ends.push(to as u64);
        from = next;
    }
    into.text.truncate(to);
    Ok(())
}

impl Part {
    /// The bytes of a string; `None` if it is missing.
    pub(super) fn get(&self, i: usize) -> Option<&[u8]> {
        if self.missing.binary_search(&i).is_ok() {
            return None;
        }
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        Some(&self.text[start as usize..self.ends[i] as usize])
    }

    /// The strings.
    pub(super) fn strings(self, mark: Mark) -> Result<Strings> {
        Ok(strings(vec![self], mark, false)?.0)
    }
}

/// The strings of parts, one after the other, and whether each was looked at by itself: all are if
/// `one_by_one`, or if some are not UTF-8.
pub(super) fn strings(mut parts: Vec<Part>, mark: Mark, one_by_one: bool) -> Result<(Strings, bool)> {
    let n: usize = parts.iter().map(|part| part.ends.len()).sum();
    let len: usize = parts.iter().map(|part| part.text.len()).sum();
    if one_by_one || !parts.iter().all(|part| is_bulk(part, mark)) {
        return Ok((each(&parts, n, mark)?, true));
    }
    let (mut offsets, mut text) = (Vec::new(), Vec::new());
    offsets.try_reserve_exact(n + 1).map_err(|_| Error::out_of_memory(8 * n, "strings"))?;
    if let [part] = &mut parts[..] {
        text = std::mem::take(&mut part.text);
    } else {
        text.try_reserve_exact(len).map_err(|_| Error::out_of_memory(len, "strings"))?;
    }
    offsets.push(0);
    let mut validity = Vec::new();
    for part in parts {
        // The text of a single part was moved.
        let (first, base) = (offsets.len() - 1, offsets.last().map_or(0, |&end: &i64| end as u64));
        offsets.extend(part.ends.iter().map(|end| (base + end) as i64));
        text.extend_from_slice(&part.text);
        if !part.missing.is_empty() && validity.is_empty() {
            validity = vec![u8::MAX; n.div_ceil(8)];
        }
        for i in part.missing {
            let i = first + i;
            validity[i / 8] &= !(1 << (i % 8));
        }
    }
    Ok((Strings::from_parts(offsets, text, validity)?, false))
}

/// Whether all strings are UTF-8. fst marks a column by its first strings, often as native although
/// others are UTF-8. R takes both marks as equal.
fn is_bulk(part: &Part, mark: Mark) -> bool {
    if part.text.is_ascii() {
        return true;
    }
    let text = simdutf8::basic::from_utf8(&part.text);
    mark != Mark::Latin1
        && text.is_ok_and(|text| part.ends.iter().all(|&end| text.is_char_boundary(end as usize)))
}

fn each(parts: &[Part], n: usize, mark: Mark) -> Result<Strings> {
    let mut strings = Strings::with_room(n)?;
    for part in parts {
        let mut missing = part.missing.iter().peekable();
        let mut start = 0;
        for (i, &end) in part.ends.iter().enumerate() {
            if missing.next_if_eq(&&i).is_some() {
                strings.push_missing();
            } else {
                strings.push(&part.text[start..end as usize], mark);
            }
            start = end as usize;
        }
    }
    Ok(strings)
}
