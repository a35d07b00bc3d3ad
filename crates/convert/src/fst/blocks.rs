//! Columns of numbers in blocks of 16 KiB.

use std::ops::Range;

use entasis::{Error, Result};

use super::bits::Form;
use super::decoder::{Decoder, plain_algorithm, plain_form};
use crate::bytes::{Bytes, sum};

/// The values of blocks of columns that are stored as one: 16 KiB of numbers.
const BLOCK_LEN: usize = 16 << 10;
/// The low bits of an entry of the index, which are an offset. The others are an algorithm.
const OFFSET: u64 = (1 << 48) - 1;
/// The most bytes of a block as it is stored. Compression adds few bytes to 16 KiB.
const MOST_STORED: u64 = 1 << 16;
/// The bit of an annotation's length that marks it as present.
const PRESENT: u32 = 1 << 31;

/// A column of numbers.
#[derive(Debug)]
pub(super) struct Numbers<'a> {
    /// Text, such as a time zone; `None` if absent.
    pub(super) annotation: Option<String>,
    /// The bytes of a value in memory.
    pub(super) width: usize,
    per_block: usize,
    n_rows: u64,
    bytes: Bytes<'a>,
    layout: Layout,
    /// The position of the header of the index, or of the form.
    at: u64,
}

#[derive(Debug)]
enum Layout {
    /// Values one after the other in a form of fixed ratio.
    Whole(Form),
    /// Blocks with an index of their offsets from the position of the index's header.
    Blocks,
}

impl<'a> Numbers<'a> {
    /// The column at a position.
    pub(super) fn open(bytes: Bytes<'a>, at: u64, width: usize, n_rows: u64) -> Result<Self> {
        let head = bytes.u32(at)?;
        let len = u64::from(head & !PRESENT);
        let text = bytes.slice(sum(at, 4)?, len)?;
        let annotation = if head & PRESENT == 0 {
            None
        } else {
            let text = std::str::from_utf8(&text);
            Some(text.map_err(|_| Error::corrupt("a time zone is not valid text").at(at))?.to_owned())
        };
        let at = sum(at, 4 + len)?;
        let mut column = Self {
            annotation,
            width,
            per_block: BLOCK_LEN / width,
            n_rows,
            bytes,
            layout: Layout::Whole(Form::Plain),
            at,
        };
        if n_rows == 0 {
            return Ok(column);
        }
        let (first, second) = (bytes.u32(at)?, bytes.u32(sum(at, 4)?)?);
        if first != 0 {
            column.per_block = second as usize;
            if second == 0 || second as usize > BLOCK_LEN {
                return Err(Error::corrupt("the length of blocks is not valid").at(at));
            }
            let n_blocks = n_rows.div_ceil(u64::from(second));
            let index_len = n_blocks.checked_add(1).and_then(|n| n.checked_mul(8)).unwrap_or(u64::MAX);
            bytes.check(sum(at, 8)?, index_len)?;
            column.layout = Layout::Blocks;
            return Ok(column);
        }
        let form = plain_form(second).filter(|form| *form == Form::Plain || width == 4);
        let form = form.ok_or_else(|| Error::unsupported(format!("compression {second} of fst")).at(at))?;
        let n = usize::try_from(n_rows).ok().filter(|&n| n <= usize::MAX / 16);
        let n = n.ok_or_else(|| Error::corrupt("the number of rows is not valid"))?;
        bytes.check(sum(at, 8)?, form.stored_len(n, width) as u64)?;
        column.layout = Layout::Whole(form);
        Ok(column)
    }

    /// Values of a block, to share work among threads.
    pub(super) fn per_block(&self) -> usize {
        self.per_block
    }

    /// Decodes rows, which fill `into`.
    pub(super) fn decode(&self, decoder: &mut Decoder, rows: Range<u64>, into: &mut [u8]) -> Result<()> {
        let mut stored = std::mem::take(&mut decoder.stored);
        let result = self.decode_stored(decoder, rows, into, &mut stored);
        decoder.stored = stored;
        result
    }

    fn decode_stored(
        &self,
        decoder: &mut Decoder,
        rows: Range<u64>,
        into: &mut [u8],
        stored: &mut Vec<u8>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let per_block = self.per_block as u64;
        let blocks = rows.start / per_block..rows.end.div_ceil(per_block);
        let index = self.index(&blocks)?;
        // All blocks of the rows are read at once.
        let (from, to) = match (index.first(), index.last()) {
            (Some(first), Some(last)) => (first.offset, last.offset),
            _ => return Ok(()),
        };
        let stored = self.bytes.read(sum(self.at, from)?, to - from, stored)?;
        let mut into = into;
        let mut row = rows.start;
        let mut partial = Vec::new();
        for (block, ends) in blocks.zip(index.windows(2)) {
            let first = block * per_block;
            let n = (self.n_rows - first).min(per_block) as usize;
            let part = (row - first) as usize..((rows.end - first) as usize).min(n);
            let packed = &stored[(ends[0].offset - from) as usize..(ends[1].offset - from) as usize];
            let (out, rest) = into.split_at_mut(part.len() * self.width);
            let here = |error: Error| error.in_block(block).at(self.at + ends[0].offset);
            if part.len() == n {
                decoder.block(packed, ends[0].algorithm, self.width, out).map_err(here)?;
            } else {
                partial.resize(n * self.width, 0);
                decoder.block(packed, ends[0].algorithm, self.width, &mut partial).map_err(here)?;
                out.copy_from_slice(&partial[part.start * self.width..part.end * self.width]);
            }
            row = first + part.end as u64;
            into = rest;
        }
        Ok(())
    }

    /// Where blocks begin, and the last one ends.
    fn index(&self, blocks: &Range<u64>) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        match self.layout {
            Layout::Whole(form) => {
                // Blocks are of a multiple of 32 values.
                let offset = |block: u64| {
                    let n = (block * self.per_block as u64).min(self.n_rows) as usize;
                    8 + form.stored_len(n, self.width) as u64
                };
                let algorithm = plain_algorithm(form);
                entries.extend((blocks.start..=blocks.end).map(|i| Entry { offset: offset(i), algorithm }));
            }
            Layout::Blocks => {
                let at = sum(self.at, 8 + 8 * blocks.start)?;
                let index = self.bytes.slice(at, 8 * (blocks.end - blocks.start + 1))?;
                let entry = |bytes: &[u8; 8]| {
                    let entry = u64::from_le_bytes(*bytes);
                    Entry { offset: entry & OFFSET, algorithm: (entry >> 48) as u16 }
                };
                entries.extend(index.as_chunks().0.iter().map(entry));
                let is_sound = |ends: &[Entry]| {
                    ends[0].offset <= ends[1].offset && ends[1].offset - ends[0].offset <= MOST_STORED
                };
                if let Some(wrong) = entries.windows(2).position(|ends| !is_sound(ends)) {
                    let error = Error::corrupt("blocks are not in order, or too long");
                    return Err(error.in_block(blocks.start + wrong as u64).at(self.at));
                }
            }
        }
        Ok(entries)
    }
}

/// An entry of the index: the offset of a block from the header of the index, and its algorithm.
struct Entry {
    offset: u64,
    algorithm: u16,
}

/// The position of codes, and of the levels, of a factor; and the number of its levels.
pub(super) fn factor(bytes: Bytes<'_>, at: u64) -> Result<(u64, u64, u64)> {
    let n_levels = u64::from(bytes.u32(sum(at, 4)?)?);
    Ok((bytes.u64(sum(at, 8)?)?, sum(at, 16)?, n_levels))
}
