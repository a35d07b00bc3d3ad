//! Columns of numbers in blocks of 16 KiB.

use std::ops::Range;

use entasis::{Error, Result};

use super::bits::{Form, unpack};
use super::bytes::{slice, sum, u32_at, u64_at};
use super::decoder::{Decoder, plain_form};

/// The values of blocks of columns that are stored as one: 16 KiB of numbers.
const BLOCK_LEN: usize = 16 << 10;
/// The low bits of an entry of the index, which are an offset. The others are an algorithm.
const OFFSET: u64 = (1 << 48) - 1;
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
    layout: Layout<'a>,
    at: u64,
}

#[derive(Debug)]
enum Layout<'a> {
    /// Values one after the other in a form of fixed ratio.
    Whole { values: &'a [u8], form: Form },
    /// Blocks with an index of their offsets from the position of the index's header.
    Blocks { bytes: &'a [u8], index: &'a [[u8; 8]] },
}

impl<'a> Numbers<'a> {
    /// The column at a position.
    pub(super) fn open(bytes: &'a [u8], at: u64, width: usize, n_rows: u64) -> Result<Self> {
        let head = u32_at(bytes, at)?;
        let len = u64::from(head & !PRESENT);
        let text = slice(bytes, sum(at, 4)?, len)?;
        let annotation = if head & PRESENT == 0 {
            None
        } else {
            let text = std::str::from_utf8(text);
            Some(text.map_err(|_| Error::corrupt("a time zone is not valid text").at(at))?.to_owned())
        };
        let at = sum(at, 4 + len)?;
        let mut column = Self {
            annotation,
            width,
            per_block: BLOCK_LEN / width,
            n_rows,
            layout: Layout::Whole { values: &[], form: Form::Plain },
            at,
        };
        if n_rows == 0 {
            return Ok(column);
        }
        let (first, second) = (u32_at(bytes, at)?, u32_at(bytes, at + 4)?);
        if first != 0 {
            column.per_block = second as usize;
            if second == 0 || second as usize > BLOCK_LEN {
                return Err(Error::corrupt("the length of blocks is not valid").at(at));
            }
            let n_blocks = n_rows.div_ceil(u64::from(second));
            let index_len = n_blocks.checked_add(1).and_then(|n| n.checked_mul(8)).unwrap_or(u64::MAX);
            let (index, _) = slice(bytes, at + 8, index_len)?.as_chunks::<8>();
            column.layout = Layout::Blocks { bytes, index };
            return Ok(column);
        }
        let form = plain_form(second).filter(|form| *form == Form::Plain || width == 4);
        let form = form.ok_or_else(|| Error::unsupported(format!("compression {second} of fst")).at(at))?;
        let n = usize::try_from(n_rows).ok().filter(|&n| n <= usize::MAX / 16);
        let n = n.ok_or_else(|| Error::corrupt("the number of rows is not valid"))?;
        let values = slice(bytes, at + 8, form.stored_len(n, width) as u64)?;
        column.layout = Layout::Whole { values, form };
        Ok(column)
    }

    /// Values of a block, to share work among threads.
    pub(super) fn per_block(&self) -> usize {
        self.per_block
    }

    /// Decodes rows, which fill `into`.
    pub(super) fn decode(&self, decoder: &mut Decoder, rows: Range<u64>, into: &mut [u8]) -> Result<()> {
        let mut into = into;
        let mut row = rows.start;
        let mut partial = Vec::new();
        while row < rows.end {
            let block = row / self.per_block as u64;
            let first = block * self.per_block as u64;
            let n = (self.n_rows - first).min(self.per_block as u64) as usize;
            let part = (row - first) as usize..((rows.end - first) as usize).min(n);
            let (out, rest) = into.split_at_mut(part.len() * self.width);
            if part.len() == n {
                self.block(decoder, block, n, out)?;
            } else {
                partial.resize(n * self.width, 0);
                self.block(decoder, block, n, &mut partial)?;
                out.copy_from_slice(&partial[part.start * self.width..part.end * self.width]);
            }
            row = first + part.end as u64;
            into = rest;
        }
        Ok(())
    }

    /// Decodes a block of `n` values.
    fn block(&self, decoder: &mut Decoder, block: u64, n: usize, into: &mut [u8]) -> Result<()> {
        match &self.layout {
            Layout::Whole { values, form } => {
                // Blocks are of a multiple of 32 values.
                let at = form.stored_len(block as usize * self.per_block, self.width);
                let len = form.stored_len(n, self.width);
                unpack(&values[at..at + len], *form, into);
                Ok(())
            }
            Layout::Blocks { bytes, index } => {
                let entry = |i: usize| u64::from_le_bytes(index[i]);
                let (from, to) = (entry(block as usize), entry(block as usize + 1));
                let (start, end) = (from & OFFSET, to & OFFSET);
                let len = end.checked_sub(start);
                let len = len.ok_or_else(|| Error::corrupt("blocks are not in order").at(self.at))?;
                let packed = slice(bytes, sum(self.at, start)?, len)?;
                let result = decoder.block(packed, (from >> 48) as u16, self.width, into);
                result.map_err(|error| error.in_block(block).at(self.at + start))
            }
        }
    }
}

/// The position of codes, and of the levels, of a factor; and the number of its levels.
pub(super) fn factor(bytes: &[u8], at: u64) -> Result<(u64, u64, u64)> {
    let n_levels = u64::from(u32_at(bytes, sum(at, 4)?)?);
    Ok((u64_at(bytes, at + 8)?, at + 16, n_levels))
}
