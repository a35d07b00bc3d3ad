//! Copies strings of a host into contiguous memory.

use std::ops::Range;

use bytemuck::Pod;
use entasis_format::{Error, Result};
use entasis_platform::{HostRead, HostViews, memory::ScratchVec};

use super::chunk_slices::{ChunkSlice, byte_offset, chunk_slices};
use super::validity::ValidBits;
use super::{MAX_STRING, Scratch, too_short};
use crate::frame::{Array, HostValues, OwnedValues};

/// Bytes of padded strings that are copied together.
const SPARE: usize = 1 << 14;
/// Strings that are copied together if they are not contiguous.
const AT_ONCE: usize = 4096;
/// Offsets that are copied together.
const TOGETHER: usize = 1024;

fn too_long() -> Error {
    Error::unsupported("a string of more than 1,000,000,000 bytes").advise("split the string")
}

impl Scratch {
    /// Copies strings until a block is full. Missing strings become empty. The memory after the
    /// last string may hold bytes of an earlier block.
    pub(super) fn load_strings(&mut self, array: &Array, range: Range<u64>) -> Result<usize> {
        if self.load_whole(array, range.clone())? {
            return Ok(self.offsets.len() - 1);
        }
        self.offsets.clear();
        self.offsets.push(0);
        let mut spans: Vec<(u64, u64)> = Vec::new();
        // Copies a few at a time, because only some of the range may fit.
        let slices = chunk_slices(array, range).flat_map(|ChunkSlice { chunk, inside, .. }| {
            let end = inside.end;
            inside.step_by(AT_ONCE).map(move |start| (chunk, start..(start + AT_ONCE).min(end)))
        });
        for (chunk, inside) in slices {
            let n_before = self.offsets.len() - 1;
            let valid = ValidBits::copy(chunk, inside.clone(), &mut self.spare)?;
            match &chunk.values {
                HostValues::Offsets32 { offsets, bytes } => {
                    spans_of::<i32>(offsets, inside.clone(), &mut spans)?;
                    self.append(bytes, &spans, &valid)?;
                }
                HostValues::Offsets64 { offsets, bytes } => {
                    spans_of::<i64>(offsets, inside.clone(), &mut spans)?;
                    self.append(bytes, &spans, &valid)?;
                }
                HostValues::Views { views, buffers } => {
                    self.append_views(views, buffers, inside.clone(), &valid)?
                }
                HostValues::Anywhere(views) => self.append_anywhere(views, inside.clone(), &valid)?,
                &HostValues::Padded { ref memory, width, stride } => {
                    let from = byte_offset(inside.start, chunk.n, stride).ok_or_else(too_short)?;
                    self.append_padded(memory, from, (width, stride), inside.len(), &valid, push_padded)?;
                }
                &HostValues::Ucs4 { ref memory, width, stride } => {
                    let from = byte_offset(inside.start, chunk.n, stride).ok_or_else(too_short)?;
                    self.append_padded(memory, from, (width, stride), inside.len(), &valid, push_ucs4)?;
                }
                HostValues::Owned(strings) => self.append_owned(strings, inside.clone(), &valid)?,
                _ => return Err(Error::argument("the memory of a column does not have the form of strings")),
            }
            if self.offsets.len() - 1 - n_before < inside.len() {
                break;
            }
        }
        Ok(self.offsets.len() - 1)
    }

    /// Fast path: copies contiguous strings of one chunk whose missing strings are empty. For
    /// others, copies nothing and returns false.
    fn load_whole(&mut self, array: &Array, range: Range<u64>) -> Result<bool> {
        let mut slices = chunk_slices(array, range);
        let (Some(ChunkSlice { chunk, inside, .. }), None) = (slices.next(), slices.next()) else {
            return Ok(false);
        };
        let (bytes, found) = match &chunk.values {
            HostValues::Offsets32 { offsets, bytes } => {
                (bytes, self.load_offsets::<i32>(offsets, inside.clone())?)
            }
            HostValues::Offsets64 { offsets, bytes } => {
                (bytes, self.load_offsets::<i64>(offsets, inside.clone())?)
            }
            _ => return Ok(false),
        };
        let Some((start, len)) = found else { return Ok(false) };
        let inside = inside.start..inside.start + self.offsets.len() - 1;
        let valid = ValidBits::copy(chunk, inside, &mut self.spare)?;
        if !valid.missing_are_empty(&self.offsets) {
            return Ok(false);
        }
        if bytes.copy_to(start, self.room(0, len)) { Ok(true) } else { Err(too_short()) }
    }

    /// Bytes of the strings so far.
    fn text_len(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }

    /// Memory for `len` bytes from `at` on, for overwriting.
    fn room(&mut self, at: usize, len: usize) -> &mut [u8] {
        match at {
            0 => self.bytes.overwrite(len),
            _ if self.bytes.len() < at + len => self.bytes.resize_stale(at + len),
            _ => {}
        }
        &mut self.bytes[at..at + len]
    }

    /// Copies the offsets of as many strings as fit a block, relative to the first. Returns the
    /// offset and the length of the strings' bytes; `None` if the offsets are not in order or the
    /// first string does not fit.
    fn load_offsets<O: Offset>(
        &mut self,
        offsets: &HostRead,
        inside: Range<usize>,
    ) -> Result<Option<(usize, usize)>> {
        let most = self.options.string_block_len.get();
        let at = |i: usize| (inside.start + i).checked_mul(size_of::<O>()).ok_or_else(too_short);
        let offset = |i: usize| Ok(offsets.read::<O>(at(i)?).ok_or_else(too_short)?.to_i64());
        let first = offset(0)?;
        let fits =
            |offset: i64| offset.checked_sub(first).is_some_and(|len| (0..=most as i64).contains(&len));
        // A binary search for the number that fits. It needs offsets in order.
        let (mut n, mut too_many) = (inside.len(), inside.len() + 1);
        if !fits(offset(n)?) {
            (n, too_many) = (0, n);
        }
        while too_many - n > 1 {
            let middle = n.midpoint(too_many);
            *if fits(offset(middle)?) { &mut n } else { &mut too_many } = middle;
        }
        if n == 0 {
            return Ok(None);
        }
        // A few at a time, so they are still cached when they are rebased.
        let mut copy = [O::zeroed(); TOGETHER];
        let (mut before, mut start) = (i64::MIN, 0);
        self.offsets.resize_stale(n + 1);
        for (batch, out) in self.offsets.chunks_mut(TOGETHER).enumerate() {
            let copy = &mut copy[..out.len()];
            if !offsets.copy_strided::<O>(at(batch * TOGETHER)?, size_of::<O>() as isize, copy) {
                return Err(too_short());
            }
            // The host may have changed the offsets since, so only the copy counts.
            if batch == 0 {
                start = copy[0].to_i64();
            }
            if before > copy[0].to_i64() || !copy.is_sorted() {
                return Ok(None);
            }
            before = copy[copy.len() - 1].to_i64();
            out.iter_mut()
                .zip(&*copy)
                .for_each(|(out, offset)| *out = offset.to_i64().wrapping_sub(start) as u32);
        }
        let len = before.checked_sub(start).and_then(|len| u64::try_from(len).ok());
        let (Some(len), Ok(start)) = (len.filter(|len| *len <= most), usize::try_from(start)) else {
            return Ok(None);
        };
        Ok(Some((start, len as usize)))
    }

    /// Whether another string of `len` bytes fits this block.
    fn fits(&self, len: u64) -> Result<bool> {
        self.fits_after(self.text_len(), len)
    }

    /// Whether a string of `len` bytes fits this block after `before` bytes.
    fn fits_after(&self, before: usize, len: u64) -> Result<bool> {
        if len > MAX_STRING {
            return Err(too_long());
        }
        Ok(self.offsets.len() == 1 || before as u64 + len <= self.options.string_block_len.get())
    }

    fn append(&mut self, bytes: &HostRead, spans: &[(u64, u64)], valid: &ValidBits) -> Result<()> {
        // Contiguous strings are copied together.
        let mut at = 0;
        while at < spans.len() {
            let first = self.text_len();
            let (start, mut end) = (spans[at].0, spans[at].0);
            while let Some(&(from, to)) = spans.get(at) {
                let (from, to) = if valid.is_valid(at) { (from, to) } else { (end, end) };
                if from != end {
                    break;
                }
                let len = to.checked_sub(from).ok_or_else(too_short)?;
                let total = first as u64 + (to - start);
                let full = total > self.options.string_block_len.get() && self.offsets.len() > 1;
                if full || len > MAX_STRING {
                    break;
                }
                end = to;
                self.offsets.push(total as u32);
                at += 1;
            }
            let len = usize::try_from(end - start).map_err(|_| too_short())?;
            let start = usize::try_from(start).map_err(|_| too_short())?;
            if !bytes.copy_to(start, self.room(first, len)) {
                return Err(too_short());
            }
            if let Some(&(from, to)) = spans.get(at) {
                let len = if valid.is_valid(at) { to.checked_sub(from).ok_or_else(too_short)? } else { 0 };
                if !self.fits(len)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn append_owned(&mut self, strings: &OwnedValues, inside: Range<usize>, valid: &ValidBits) -> Result<()> {
        self.bytes.truncate(self.text_len());
        for (i, at) in inside.enumerate() {
            let string = strings.string(at).ok_or_else(too_short)?;
            let string = if valid.is_valid(i) { string } else { &[] };
            if !self.fits_after(self.bytes.len(), string.len() as u64)? {
                break;
            }
            self.bytes.extend_from_slice(string);
            self.offsets.push(u32::try_from(self.bytes.len()).map_err(|_| too_short())?);
        }
        Ok(())
    }

    /// Appends padded strings. `push` appends one string and returns whether it is valid.
    fn append_padded(
        &mut self,
        memory: &HostRead,
        mut from: usize,
        (width, stride): (usize, isize),
        n: usize,
        valid: &ValidBits,
        push: fn(&[u8], &mut ScratchVec<u8>) -> bool,
    ) -> Result<()> {
        // Contiguous strings are copied together.
        let together = if stride == width as isize { (SPARE / width.max(1)).max(1) } else { 1 };
        self.bytes.truncate(self.text_len());
        let mut done = 0;
        while done < n {
            let now = together.min(n - done);
            self.spare.resize(now * width, 0);
            if !memory.copy_to(from, &mut self.spare) {
                return Err(too_short());
            }
            for i in 0..now {
                let first = self.bytes.len();
                if valid.is_valid(done + i) && !push(&self.spare[i * width..(i + 1) * width], &mut self.bytes)
                {
                    return Err(
                        Error::unsupported("a string that is not Unicode text").advise("write bytes instead")
                    );
                }
                if !self.fits_after(first, (self.bytes.len() - first) as u64)? {
                    self.bytes.truncate(first);
                    return Ok(());
                }
                self.offsets.push(u32::try_from(self.bytes.len()).map_err(|_| too_short())?);
            }
            from = from.wrapping_add_signed((now as isize).wrapping_mul(stride));
            done += now;
        }
        Ok(())
    }

    fn append_views(
        &mut self,
        views: &HostRead,
        buffers: &[HostRead],
        inside: Range<usize>,
        valid: &ValidBits,
    ) -> Result<()> {
        self.words.resize_stale(inside.len());
        let at = inside.start.checked_mul(16).ok_or_else(too_short)?;
        if !views.copy_to(at, bytemuck::cast_slice_mut(&mut self.words)) {
            return Err(too_short());
        }
        let views = std::mem::take(&mut self.words);
        let bytes = |i: usize, len: usize| {
            let buffer = buffers.get((views[i] >> 64) as u32 as usize)?;
            buffer.sub((views[i] >> 96) as usize, len)
        };
        let done = self.append_viewed(views.len(), valid, |i| Some(views[i]), bytes);
        self.words = views;
        done
    }

    fn append_anywhere(&mut self, views: &HostViews, inside: Range<usize>, valid: &ValidBits) -> Result<()> {
        /// Bytes are prefetched this many strings ahead, because each string may be a cache miss.
        const AHEAD: usize = 16;
        let first = inside.start;
        let view = |i: usize| {
            views.fetch(first + i + AHEAD);
            views.get(first + i).map(|(view, _)| view)
        };
        let bytes = |i: usize, _| views.get(first + i).map(|(_, bytes)| bytes);
        self.append_viewed(inside.len(), valid, view, bytes)
    }

    /// Appends strings by their views until a block is full. `bytes` returns the bytes of a long
    /// string.
    #[inline]
    fn append_viewed(
        &mut self,
        n: usize,
        valid: &ValidBits,
        view: impl Fn(usize) -> Option<u128>,
        bytes: impl Fn(usize, usize) -> Option<HostRead>,
    ) -> Result<()> {
        /// Bytes of a view after its length. A short string is copied with all these bytes, and the
        /// next string overwrites the surplus.
        const INLINE: usize = HostViews::INLINE;
        let mut at = self.text_len();
        for i in 0..n {
            let view = view(i).ok_or_else(too_short)?;
            let len = if valid.is_valid(i) { view as u32 as usize } else { 0 };
            if len as u64 > MAX_STRING {
                return Err(too_long());
            }
            if (at + len) as u64 > self.options.string_block_len.get() && self.offsets.len() > 1 {
                break;
            }
            if self.bytes.len() < at + len + INLINE {
                self.bytes.resize_stale((at + len + INLINE).next_power_of_two().max(1 << 16));
            }
            if len <= INLINE {
                self.bytes[at..at + INLINE].copy_from_slice(&view.to_le_bytes()[4..]);
            } else {
                let from = bytes(i, len).ok_or_else(too_short)?;
                if !from.copy_to(0, &mut self.bytes[at..at + len]) {
                    return Err(too_short());
                }
            }
            at += len;
            self.offsets.push(at as u32);
        }
        Ok(())
    }
}

/// An offset of strings.
trait Offset: Pod + PartialOrd {
    fn to_i64(self) -> i64;
}

impl Offset for i32 {
    fn to_i64(self) -> i64 {
        self.into()
    }
}

impl Offset for i64 {
    fn to_i64(self) -> i64 {
        self
    }
}

/// The bytes before the zeros at the end.
fn trimmed(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

fn push_padded(bytes: &[u8], out: &mut ScratchVec<u8>) -> bool {
    out.extend_from_slice(trimmed(bytes));
    true
}

/// Returns false for a number that is not a Unicode scalar value.
fn push_ucs4(bytes: &[u8], out: &mut ScratchVec<u8>) -> bool {
    let len = trimmed(bytes).len().next_multiple_of(4);
    let (units, _) = bytes[..len.min(bytes.len())].as_chunks::<4>();
    let all = units.iter().fold(0, |all, unit| all | u32::from_ne_bytes(*unit));
    if all < 128 {
        out.extend(units.iter().map(|unit| u32::from_ne_bytes(*unit) as u8));
        return true;
    }
    units.iter().all(|unit| {
        let point = char::from_u32(u32::from_ne_bytes(*unit));
        point.map(|point| out.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes())).is_some()
    })
}

fn spans_of<O: Pod + TryInto<u64>>(
    offsets: &HostRead,
    inside: Range<usize>,
    spans: &mut Vec<(u64, u64)>,
) -> Result<()> {
    let mut copy = vec![O::zeroed(); inside.len() + 1];
    let at = inside.start.checked_mul(size_of::<O>()).ok_or_else(too_short)?;
    if !offsets.copy_strided::<O>(at, size_of::<O>() as isize, &mut copy) {
        return Err(too_short());
    }
    spans.clear();
    spans.reserve(inside.len());
    let number = |offset: O| offset.try_into().map_err(|_| too_short());
    for pair in copy.windows(2) {
        spans.push((number(pair[0])?, number(pair[1])?));
    }
    Ok(())
}
