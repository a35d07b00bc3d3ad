//! Decodes strings: their lengths and their bytes, from the page or from the block dictionary.

use std::ops::Range;

use entasis_format::{Error, Physical, Result, fallible};
use entasis_kernels::{VECTOR, gather};

use super::page::{Body, Page, expand};
use super::{BlockDecoder, Dictionary, bad_code, unpack};
use crate::string_dictionary::entries::PADDING;
use crate::utf8::check_utf8;
use crate::{fsst, short_body};

/// The use of the memory, in messages.
const STRINGS: &str = "the strings of a page";

impl BlockDecoder<'_> {
    /// The strings in `range` of a page: their lengths and the location of their bytes. Verifies
    /// UTF-8.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn strings<'s>(
        &'s self,
        page: &Page<'s>,
        range: Range<usize>,
        scratch: &'s mut TextScratch,
    ) -> Result<StringSlice<'s>> {
        self.check(page, &range, range.len())?;
        let n = range.len();
        if let Dictionary::Strings { offsets, bytes } = &self.dictionary {
            fallible::resize(&mut scratch.codes, n, 0, STRINGS)?;
            self.words(page, range, &mut scratch.codes)?;
            fallible::resize(&mut scratch.lengths, n, 0, STRINGS)?;
            if !gather::check_codes(&scratch.codes, offsets.len() - 1) {
                return Err(bad_code());
            }
            let mut total = 0;
            for (length, &code) in scratch.lengths.iter_mut().zip(&scratch.codes) {
                *length = offsets[code as usize + 1] - offsets[code as usize];
                total += *length as usize;
            }
            // Codes do not show lengths, so only a read of the whole page can compare them.
            if n == page.n && page.decoded_len.is_some_and(|len| len != total) {
                return Err(Error::corrupt("the strings of a page do not have the length in its directory"));
            }
            let source = Source::Dictionary { codes: &scratch.codes, offsets, bytes };
            return Ok(StringSlice { lengths: &scratch.lengths, total, source });
        }
        let TextScratch { lengths, text, .. } = scratch;
        let bytes = match page.body {
            Body::Strings { bytes, .. } => bytes,
            Body::Symbols { codes, len, .. } => expand(codes, len, text)?,
            _ => return Err(short_body()),
        };
        let (lengths, extent) = measure(page, range, lengths)?;
        let bytes = bytes.get(extent.clone()).ok_or_else(short_body)?;
        self.check_text(bytes, lengths)?;
        Ok(StringSlice { lengths, total: extent.len(), source: Source::Contiguous(bytes) })
    }

    /// Writes the bytes of the strings in `range` to the memory that `memory` returns for their
    /// total length. Returns their lengths. Verifies UTF-8. A whole page of FSST codes is decoded
    /// without a copy.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and any error of `memory`.
    pub fn write_strings<'s, 'o>(
        &'s self,
        page: &Page<'s>,
        range: Range<usize>,
        scratch: &'s mut TextScratch,
        memory: impl FnOnce(usize) -> Result<&'o mut [u8]>,
    ) -> Result<(&'s [u32], &'o [u8])> {
        if let Body::Symbols { codes, len, .. } = page.body
            && range == (0..page.n)
        {
            let (lengths, inside) = measure(page, range.clone(), &mut scratch.lengths)?;
            if inside == (0..len) {
                let out = memory(len)?;
                fsst::decode(codes, out)?;
                self.check_text(out, lengths)?;
                return Ok((lengths, out));
            }
            return Err(short_body());
        }
        let strings = self.strings(page, range, scratch)?;
        let out = memory(strings.total)?;
        strings.write(out)?;
        Ok((strings.lengths, out))
    }

    fn check_text(&self, bytes: &[u8], lengths: &[u32]) -> Result<()> {
        if self.of.physical == Physical::Utf8 {
            check_utf8(bytes, lengths.iter().map(|&l| l as usize))?;
        }
        Ok(())
    }

    /// The lengths of the strings in the dictionary, and their concatenated bytes; empty without a
    /// dictionary.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn entries(&self) -> Result<(Vec<u32>, &[u8])> {
        match &self.dictionary {
            Dictionary::Strings { offsets, bytes } => {
                let len = offsets.last().map_or(0, |&len| len as usize);
                let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
                Ok((fallible::collect(lengths, STRINGS)?, &bytes[..len]))
            }
            _ => Ok((Vec::new(), &[])),
        }
    }

    /// The number of strings in the dictionary; zero without a dictionary.
    pub fn n_entries(&self) -> usize {
        match &self.dictionary {
            Dictionary::Strings { offsets, .. } => offsets.len().saturating_sub(1),
            _ => 0,
        }
    }

    /// A string of the dictionary.
    pub fn entry(&self, code: usize) -> Option<&[u8]> {
        let Dictionary::Strings { offsets, bytes } = &self.dictionary else { return None };
        let &[start, end] = offsets.get(code..)?.first_chunk()?;
        bytes.get(start as usize..end as usize)
    }

    /// The dictionary codes of strings, not verified.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn codes<'s>(
        &self,
        page: &Page<'_>,
        range: Range<usize>,
        scratch: &'s mut TextScratch,
    ) -> Result<&'s [u32]> {
        self.check(page, &range, range.len())?;
        fallible::resize(&mut scratch.codes, range.len(), 0, STRINGS)?;
        self.words(page, range, &mut scratch.codes)?;
        Ok(&scratch.codes)
    }
}

fn sum(lengths: &[u32]) -> u64 {
    lengths.iter().map(|&length| u64::from(length)).sum()
}

/// The lengths of the strings in `range` of a page without a dictionary, and the range of their
/// bytes in the page.
fn measure<'s>(
    page: &Page<'_>,
    range: Range<usize>,
    memory: &'s mut Vec<u32>,
) -> Result<(&'s [u32], Range<usize>)> {
    let (lengths, len) = match &page.body {
        Body::Strings { lengths, bytes } => (lengths, bytes.len()),
        Body::Symbols { lengths, len, .. } => (lengths, *len),
        _ => return Err(short_body()),
    };
    let starts = &lengths.vectors.first;
    let first_vector = range.start / VECTOR;
    let skip = range.start - first_vector * VECTOR;
    fallible::resize(memory, skip + range.len(), 0, STRINGS)?;
    let mut start = starts[first_vector.min(starts.len() - 1)] as usize;
    for (v, chunk) in (first_vector..).zip(memory.chunks_mut(VECTOR)) {
        let n = VECTOR.min(page.n - v * VECTOR);
        let vector_len = if chunk.len() == n {
            unpack(lengths, v, chunk)?;
            sum(chunk)
        } else {
            let mut whole = [0u32; VECTOR];
            unpack(lengths, v, &mut whole[..n])?;
            chunk.copy_from_slice(&whole[..chunk.len()]);
            sum(&whole[..n])
        };
        // Each start must agree with the lengths, or a part of the page would differ from the
        // whole.
        let is_last = (v + 1) * VECTOR >= page.n;
        let end = if is_last { len as u64 } else { starts[v + 1] };
        if starts[v] + vector_len != end || (v == 0 && starts[0] != 0) {
            return Err(Error::corrupt(
                "the start of a vector of strings is not the sum of the lengths before it",
            ));
        }
    }
    start += memory[..skip].iter().map(|&l| l as usize).sum::<usize>();
    let lengths = &memory[skip..];
    let total = lengths.iter().map(|&l| l as usize).sum::<usize>();
    Ok((lengths, start..start.saturating_add(total)))
}

/// Reusable buffers of [`BlockDecoder::strings`].
#[derive(Debug, Default)]
pub struct TextScratch {
    codes: Vec<u32>,
    lengths: Vec<u32>,
    /// The decoded bytes of a page of FSST codes.
    text: Vec<u8>,
}

/// A range of the strings of a page.
#[derive(Debug)]
pub struct StringSlice<'a> {
    lengths: &'a [u32],
    total: usize,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Contiguous(&'a [u8]),
    Dictionary { codes: &'a [u32], offsets: &'a [u32], bytes: &'a [u8] },
}

impl StringSlice<'_> {
    /// The length of each string in bytes.
    pub fn lengths(&self) -> &[u32] {
        self.lengths
    }

    /// The sum of the lengths.
    pub fn total_len(&self) -> usize {
        self.total
    }

    /// The bytes of all strings, if stored without gaps; `None` for dictionary-encoded strings.
    pub fn contiguous(&self) -> Option<&[u8]> {
        match self.source {
            Source::Contiguous(bytes) => Some(bytes),
            Source::Dictionary { .. } => None,
        }
    }

    /// Writes the bytes of all strings. `out` has length [`total_len`](Self::total_len).
    ///
    /// # Errors
    /// *Argument* when `out` has another length.
    pub fn write(&self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.total {
            return Err(Error::argument("the memory for strings has the wrong length"));
        }
        match self.source {
            Source::Contiguous(bytes) => out.copy_from_slice(bytes),
            Source::Dictionary { codes, offsets, bytes } => {
                let mut at = 0;
                for &code in codes {
                    let (start, end) = (offsets[code as usize] as usize, offsets[code as usize + 1] as usize);
                    let len = end - start;
                    match (out.get_mut(at..at + PADDING), bytes.get(start..start + PADDING)) {
                        // Copies a fixed number of bytes; the next string overwrites the excess.
                        (Some(out), Some(entry)) if len <= PADDING => out.copy_from_slice(entry),
                        _ => out[at..at + len].copy_from_slice(&bytes[start..end]),
                    }
                    at += len;
                }
            }
        }
        Ok(())
    }

    /// The bytes of string `i`. `before` is the total length of earlier strings.
    pub fn get(&self, i: usize, before: usize) -> &[u8] {
        match self.source {
            Source::Contiguous(bytes) => &bytes[before..before + self.lengths[i] as usize],
            Source::Dictionary { codes, offsets, bytes } => {
                let code = codes[i] as usize;
                &bytes[offsets[code] as usize..offsets[code + 1] as usize]
            }
        }
    }
}
