//! From the memory of a host into a block of scratch: each value is copied once, and nothing looks at the host's again.

pub(crate) mod nested;

use std::ops::Range;

use bytemuck::Pod;
use entasis_encodings::{BLOCK, Values};
use entasis_format::{Error, Layout, MAX_BLOCK_LEN, Physical, Result};
use entasis_kernels::extend::{self, Narrow};
use entasis_kernels::{HostRead, VECTOR, bits};

use crate::frame::{Array, Chunk, HostValidity, HostValues};

/// The longest string, in bytes: what every reader's default limits take.
const MAX_STRING: u64 = 1_000_000_000;

/// Bytes of a block of values of fixed width, about: wider values make blocks of fewer of them.
const BLOCK_LEN: usize = 4 << 20;

/// Values of a block of this layout: a multiple of 64, so that pieces of bitmaps are whole words.
pub(crate) fn block_values(of: Layout) -> usize {
    let width = of.width().unwrap_or(1).max(1);
    (BLOCK_LEN / width / 64 * 64).clamp(64, BLOCK)
}

/// Scratch memory for one block of any type.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Fixed-width values, aligned for all of them.
    words: Vec<u128>,
    offsets: Vec<u32>,
    bytes: Vec<u8>,
    validity: Vec<u8>,
    has_missing: bool,
    spare: Vec<u8>,
    wide: WideScratch,
    /// Integers as the host has them, where they are stored narrower.
    ints: Vec<i32>,
}

/// What narrowing needs, and what it found.
#[derive(Default)]
struct WideScratch {
    limbs: Vec<u64>,
    /// Places of values that are wider than their type.
    outside: Vec<usize>,
}

pub(crate) fn short() -> Error {
    Error::argument("the memory of a column is shorter than its values")
}

fn too_long() -> Error {
    Error::unsupported("a string of more than 1,000,000,000 bytes")
}

/// Where the parts of a range of values lie in the chunks: (chunk, range in the chunk, place in the range).
fn pieces(array: &Array, range: Range<u64>) -> impl Iterator<Item = (&Chunk, Range<usize>, usize)> {
    let spans = array.spans(range.start).take_while(move |span| span.first < range.end);
    spans.filter_map(move |span| {
        let from = range.start.max(span.first);
        let to = range.end.min(span.first + span.n as u64);
        (from < to).then(|| {
            let start = span.start + (from - span.first) as usize;
            let inside = start..start + (to - from) as usize;
            (&array.chunks[span.chunk], inside, (from - range.start) as usize)
        })
    })
}

/// The place of value `i` of `n` values with this stride, negative ones counted from the end of the memory.
fn place(i: usize, n: usize, stride: isize) -> Option<usize> {
    if stride >= 0 {
        i.checked_mul(stride.unsigned_abs())
    } else {
        (n - 1 - i).checked_mul(stride.unsigned_abs())
    }
}

/// Bytes of a string of an array, about: from its offsets, or from 1,024 views of each chunk.
pub(crate) fn text_len(array: &Array) -> u64 {
    const SAMPLE: usize = 1024;
    let (mut n_values, mut len) = (0u64, 0u64);
    for chunk in &array.chunks {
        let of_chunk = match &chunk.values {
            HostValues::Offsets32 { bytes, .. } | HostValues::Offsets64 { bytes, .. } => bytes.len() as u64,
            HostValues::Padded { width, .. } => (chunk.n * width) as u64,
            HostValues::Ucs4 { width, .. } => (chunk.n * (width / 4)) as u64,
            HostValues::Views { views, .. } => {
                let step = chunk.n.div_ceil(SAMPLE).max(1);
                let lens = (0..chunk.n).step_by(step).filter_map(|i| views.read::<u32>(16 * i));
                lens.map(|len| u64::from(len.min(MAX_STRING as u32))).sum::<u64>() * step as u64
            }
            _ => 0,
        };
        n_values += chunk.n as u64;
        len = len.saturating_add(of_chunk);
    }
    len / n_values.max(1)
}

impl Scratch {
    /// Copies the values in `range` (at most a block of them) and returns how many: fewer than asked when strings would be too long for a block.
    pub(crate) fn load(&mut self, array: &Array, of: Layout, range: Range<u64>) -> Result<usize> {
        let physical = of.physical;
        let mut n = usize::try_from(range.end - range.start).unwrap_or(usize::MAX).min(block_values(of));
        let start = range.start;
        let range = |n: usize| start..start + n as u64;
        if physical.is_var() {
            n = self.load_strings(array, range(n))?;
        } else {
            let width = of.width().unwrap_or(1);
            self.words.resize((n * width).div_ceil(16), 0);
            self.wide.outside.clear();
            let out: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
            for (chunk, inside, at) in pieces(array, range(n)) {
                let out = &mut out[at * width..(at + inside.len()) * width];
                match chunk.values {
                    HostValues::Int32 { memory, first, n: below } => {
                        self.ints.resize(n, 0);
                        let ints = &mut self.ints[at..at + inside.len()];
                        if !memory.copy_strided(4 * inside.start, 4, ints) {
                            return Err(short());
                        }
                        let mark = if let HostValidity::Mark(mark) = chunk.validity {
                            Some(mark as i32)
                        } else {
                            None
                        };
                        if let Some(i) = narrow(ints, first, below, mark, of, out)? {
                            let message = format!(
                                "the value in row {} is none that its type has",
                                start + (at + i) as u64
                            );
                            return Err(Error::unsupported(message).advise("correct the values"));
                        }
                    }
                    HostValues::Wide { memory, width, stride } => {
                        let from = place(inside.start, chunk.n, stride).ok_or_else(short)?;
                        self.wide.copy((&memory, from, stride), (physical, width), at, out)?;
                    }
                    _ => copy_fixed(chunk, inside, of, out)?,
                }
            }
        }
        if physical == Physical::LongDouble {
            // What fills them up to 16 bytes is no part of them.
            self.words[..n].iter_mut().for_each(|word| *word &= (1 << 80) - 1);
        }
        self.load_validity(array, physical, range(n), n)?;
        let is_valid = |i: &usize| !self.has_missing || self.validity[i / 8] >> (i % 8) & 1 == 1;
        if !physical.is_var()
            && let Some(i) = self.wide.outside.iter().copied().find(is_valid)
        {
            let row = start + i as u64;
            let message = format!("the value in row {row} has more digits than its type");
            return Err(Error::unsupported(message).advise("give the column a type of more digits"));
        }
        Ok(n)
    }

    /// The number of values of an array that are missing.
    pub(crate) fn count_missing(&mut self, array: &Array, of: Layout) -> Result<u64> {
        if array.chunks.iter().all(|chunk| matches!(chunk.validity, HostValidity::AllValid)) {
            return Ok(0);
        }
        let (mut at, mut n_missing) = (0, 0);
        while at < array.n_values() {
            let n = self.load(array, of, at..array.n_values())?;
            if self.has_missing {
                n_missing += (n - bits::count_ones(&self.validity, 0, n)) as u64;
            }
            at += n as u64;
        }
        Ok(n_missing)
    }

    /// The values that were loaded, `n` of them.
    pub(crate) fn values(&mut self, of: Layout, n: usize) -> (Values<'_>, Option<&[u8]>) {
        let validity = self.has_missing.then_some(self.validity.as_slice());
        // Behind the strings there may be more, of a block before.
        let text_len = self.offsets.last().map_or(0, |&end| end as usize);
        let words = &mut self.words;
        let values = match of.width() {
            _ if of.physical.is_var() => {
                Values::Strings { offsets: &self.offsets, bytes: &self.bytes[..text_len] }
            }
            Some(width) if !of.is_word() => {
                Values::Fixed { n, bytes: &mut bytemuck::cast_slice_mut(words)[..n * width] }
            }
            None => Values::Bool(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(1) => Values::W8(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(2) => Values::W16(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(4) => Values::W32(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(8) => Values::W64(&mut bytemuck::cast_slice_mut(words)[..n]),
            Some(_) => Values::W128(&mut words[..n]),
        };
        (values, validity)
    }

    fn load_validity(
        &mut self,
        array: &Array,
        physical: Physical,
        range: Range<u64>,
        n: usize,
    ) -> Result<()> {
        self.has_missing = false;
        let all_valid = |chunk: &Chunk| matches!(chunk.validity, HostValidity::AllValid);
        if pieces(array, range.clone()).all(|(chunk, ..)| all_valid(chunk)) {
            return Ok(());
        }
        self.validity.clear();
        self.validity.resize(n.div_ceil(8), 0);
        for (chunk, inside, at) in pieces(array, range) {
            let len = inside.len();
            let done = match &chunk.validity {
                HostValidity::AllValid => bits::set_bits(&mut self.validity, at, len, true),
                HostValidity::Bits { memory, first_bit } => {
                    let first = first_bit + inside.start;
                    self.spare.resize((first + len).div_ceil(8) - first / 8, 0);
                    memory.copy_to(first / 8, &mut self.spare)
                        && bits::copy_bits(&self.spare, first % 8, &mut self.validity, at, len)
                }
                HostValidity::Mask { memory, stride } => {
                    self.spare.resize(len, 0);
                    let place = place(inside.start, chunk.n, *stride).ok_or_else(short)?;
                    let copied = memory.copy_strided::<u8>(place, *stride, &mut self.spare);
                    self.spare.iter_mut().for_each(|m| *m = u8::from(*m == 0));
                    copied && or_bytes(&self.spare, &mut self.validity, at)
                }
                HostValidity::Mark(mark) if matches!(chunk.values, HostValues::Int32 { .. }) => {
                    self.spare.resize(len, 0);
                    let ints = bytemuck::cast_slice(&self.ints[at..at + len]);
                    compare::<u32>(ints, *mark as u32, &mut self.spare);
                    or_bytes(&self.spare, &mut self.validity, at)
                }
                HostValidity::Mark(mark) => {
                    let words: &[u8] = bytemuck::cast_slice(&self.words);
                    let width = physical.width().ok_or_else(short)?;
                    self.spare.resize(len, 0);
                    let stored = &words[at * width..(at + len) * width];
                    match width {
                        1 => compare::<u8>(stored, *mark as u8, &mut self.spare),
                        2 => compare::<u16>(stored, *mark as u16, &mut self.spare),
                        4 => compare::<u32>(stored, *mark as u32, &mut self.spare),
                        8 => compare::<u64>(stored, *mark, &mut self.spare),
                        _ => return Err(short()),
                    }
                    or_bytes(&self.spare, &mut self.validity, at)
                }
            };
            if !done {
                return Err(short());
            }
        }
        self.has_missing = bits::count_ones(&self.validity, 0, n) < n;
        Ok(())
    }

    /// Copies strings until a block is full; missing ones are empty.
    fn load_strings(&mut self, array: &Array, range: Range<u64>) -> Result<usize> {
        if self.load_whole(array, range.clone())? {
            return Ok(self.offsets.len() - 1);
        }
        self.offsets.clear();
        self.offsets.push(0);
        self.bytes.clear();
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for (chunk, inside, _) in pieces(array, range) {
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
                &HostValues::Padded { ref memory, width, stride } => {
                    let from = place(inside.start, chunk.n, stride).ok_or_else(short)?;
                    self.append_padded(memory, from, (width, stride), inside.len(), &valid, push_padded)?;
                }
                &HostValues::Ucs4 { ref memory, width, stride } => {
                    let from = place(inside.start, chunk.n, stride).ok_or_else(short)?;
                    self.append_padded(memory, from, (width, stride), inside.len(), &valid, push_ucs4)?;
                }
                _ => return Err(Error::argument("a column of strings is not in memory as strings")),
            }
            if self.offsets.len() - 1 - n_before < inside.len() {
                break;
            }
        }
        Ok(self.offsets.len() - 1)
    }

    /// Copies strings of one chunk that stand one after the other, the missing ones empty, and fit a block: what most are. False when
    /// they are not like that; then nothing was copied.
    fn load_whole(&mut self, array: &Array, range: Range<u64>) -> Result<bool> {
        let mut parts = pieces(array, range);
        let (Some((chunk, inside, _)), None) = (parts.next(), parts.next()) else { return Ok(false) };
        let (bytes, start, len) = match &chunk.values {
            HostValues::Offsets32 { offsets, bytes } => {
                let Some((start, len)) = self.load_offsets::<i32>(offsets, inside.clone())? else {
                    return Ok(false);
                };
                (bytes, start, len)
            }
            HostValues::Offsets64 { offsets, bytes } => {
                let Some((start, len)) = self.load_offsets::<i64>(offsets, inside.clone())? else {
                    return Ok(false);
                };
                (bytes, start, len)
            }
            _ => return Ok(false),
        };
        let valid = ValidBits::copy(chunk, inside, &mut self.spare)?;
        if !valid.missing_are_empty(&self.offsets) {
            return Ok(false);
        }
        // What stands there is overwritten: zeros only where there was nothing.
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
        if bytes.copy_to(start, &mut self.bytes[..len]) { Ok(true) } else { Err(short()) }
    }

    /// Copies offsets, counted from the first; returns where the strings begin and their bytes, or none when they are not in order or too long.
    fn load_offsets<O: Offset>(
        &mut self,
        offsets: &HostRead,
        inside: Range<usize>,
    ) -> Result<Option<(usize, usize)>> {
        let n = inside.len() + 1;
        self.words.resize((n * size_of::<O>()).div_ceil(16), 0);
        let copy: &mut [O] = &mut bytemuck::cast_slice_mut(&mut self.words)[..n];
        let at = inside.start.checked_mul(size_of::<O>()).ok_or_else(short)?;
        if !offsets.copy_strided::<O>(at, size_of::<O>() as isize, copy) {
            return Err(short());
        }
        let (first, last) = (copy[0], copy[n - 1]);
        let len = last.to_i64().checked_sub(first.to_i64()).and_then(|len| u64::try_from(len).ok());
        let (Some(len), Ok(start)) = (len, usize::try_from(first.to_i64())) else { return Ok(None) };
        if len > MAX_BLOCK_LEN || !copy.is_sorted() {
            return Ok(None);
        }
        self.offsets.clear();
        self.offsets.extend(copy.iter().map(|offset| offset.to_i64().wrapping_sub(first.to_i64()) as u32));
        Ok(Some((start, len as usize)))
    }

    /// Whether another string of `len` bytes belongs into this block.
    fn fits(&self, len: u64) -> Result<bool> {
        self.fits_behind(self.bytes.len(), len)
    }

    /// The same when `before` bytes stand before it.
    fn fits_behind(&self, before: usize, len: u64) -> Result<bool> {
        if len > MAX_STRING {
            return Err(too_long());
        }
        Ok(self.offsets.len() == 1 || before as u64 + len <= MAX_BLOCK_LEN)
    }

    fn append(&mut self, bytes: &HostRead, spans: &[(u64, u64)], valid: &ValidBits) -> Result<()> {
        // Neighbours that stand one after the other are copied together.
        let mut at = 0;
        while at < spans.len() {
            let first = self.bytes.len();
            let (start, mut end) = (spans[at].0, spans[at].0);
            while let Some(&(from, to)) = spans.get(at) {
                let (from, to) = if valid.is_valid(at) { (from, to) } else { (end, end) };
                if from != end {
                    break;
                }
                let len = to.checked_sub(from).ok_or_else(short)?;
                let total = first as u64 + (to - start);
                let full = total > MAX_BLOCK_LEN && self.offsets.len() > 1;
                if full || len > MAX_STRING {
                    break;
                }
                end = to;
                self.offsets.push(total as u32);
                at += 1;
            }
            let len = usize::try_from(end - start).map_err(|_| short())?;
            self.bytes.resize(first + len, 0);
            if !bytes.copy_to(usize::try_from(start).map_err(|_| short())?, &mut self.bytes[first..]) {
                return Err(short());
            }
            if let Some(&(from, to)) = spans.get(at) {
                let len = if valid.is_valid(at) { to.checked_sub(from).ok_or_else(short)? } else { 0 };
                if !self.fits(len)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Appends strings of one length in memory; `push` puts what one is behind those before.
    fn append_padded(
        &mut self,
        memory: &HostRead,
        mut from: usize,
        (width, stride): (usize, isize),
        n: usize,
        valid: &ValidBits,
        push: fn(&[u8], &mut Vec<u8>) -> bool,
    ) -> Result<()> {
        // Many at a time where they stand one after the other.
        let together = if stride == width as isize { (SPARE / width.max(1)).max(1) } else { 1 };
        let mut done = 0;
        while done < n {
            let now = together.min(n - done);
            self.spare.resize(now * width, 0);
            if !memory.copy_to(from, &mut self.spare) {
                return Err(short());
            }
            for i in 0..now {
                let first = self.bytes.len();
                if valid.is_valid(done + i) && !push(&self.spare[i * width..(i + 1) * width], &mut self.bytes)
                {
                    return Err(Error::unsupported("a string that is not Unicode text"));
                }
                if !self.fits_behind(first, (self.bytes.len() - first) as u64)? {
                    self.bytes.truncate(first);
                    return Ok(());
                }
                self.offsets.push(u32::try_from(self.bytes.len()).map_err(|_| short())?);
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
        /// Bytes of a view after its length: short strings are copied with all of them, and what is too much overwritten by the next.
        const INLINE: usize = 12;
        self.words.resize(inside.len(), 0);
        let at = inside.start.checked_mul(16).ok_or_else(short)?;
        if !views.copy_to(at, bytemuck::cast_slice_mut(&mut self.words)) {
            return Err(short());
        }
        let mut at = self.bytes.len();
        for (i, view) in self.words.iter().enumerate() {
            let len = if valid.is_valid(i) { *view as u32 as usize } else { 0 };
            if len as u64 > MAX_STRING {
                return Err(too_long());
            }
            if (at + len) as u64 > MAX_BLOCK_LEN && self.offsets.len() > 1 {
                break;
            }
            if self.bytes.len() < at + len + INLINE {
                self.bytes.resize((at + len + INLINE).next_power_of_two().max(1 << 16), 0);
            }
            if len <= INLINE {
                self.bytes[at..at + INLINE].copy_from_slice(&view.to_le_bytes()[4..]);
            } else {
                let buffer = buffers.get((view >> 64) as u32 as usize).ok_or_else(short)?;
                if !buffer.copy_to((view >> 96) as usize, &mut self.bytes[at..at + len]) {
                    return Err(short());
                }
            }
            at += len;
            self.offsets.push(at as u32);
        }
        self.bytes.truncate(at);
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

/// Bytes of padded strings that are copied together.
const SPARE: usize = 1 << 14;

/// The bytes before the zeros at the end.
fn trimmed(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

fn push_padded(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(trimmed(bytes));
    true
}

/// False for what is no code point, or half of one.
fn push_ucs4(bytes: &[u8], out: &mut Vec<u8>) -> bool {
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

/// The validity of a piece of strings, copied before their lengths are used.
pub(crate) struct ValidBits(Option<Vec<u8>>);

impl ValidBits {
    pub(crate) fn copy(chunk: &Chunk, inside: Range<usize>, spare: &mut Vec<u8>) -> Result<Self> {
        let len = inside.len();
        let copied = match &chunk.validity {
            HostValidity::AllValid => return Ok(Self(None)),
            HostValidity::Bits { memory, first_bit } => {
                let first = first_bit + inside.start;
                let mut bytes = vec![0; (first + len).div_ceil(8) - first / 8];
                let mut aligned = vec![0; len.div_ceil(8)];
                let copied = memory.copy_to(first / 8, &mut bytes)
                    && bits::copy_bits(&bytes, first % 8, &mut aligned, 0, len);
                copied.then_some(aligned)
            }
            HostValidity::Mask { memory, stride } => {
                spare.resize(len, 0);
                let place = place(inside.start, chunk.n, *stride).ok_or_else(short)?;
                let copied = memory.copy_strided::<u8>(place, *stride, spare);
                spare.iter_mut().for_each(|m| *m = u8::from(*m == 0));
                let mut packed = Vec::new();
                bits::pack_bytes(spare, &mut packed);
                copied.then_some(packed)
            }
            HostValidity::Mark(_) => None,
        };
        copied.map(|bits| Self(Some(bits))).ok_or_else(short)
    }

    /// Whether all strings that are missing have no bytes.
    fn missing_are_empty(&self, offsets: &[u32]) -> bool {
        self.0.is_none()
            || offsets.windows(2).enumerate().all(|(i, pair)| pair[0] == pair[1] || self.is_valid(i))
    }

    pub(crate) fn is_valid(&self, i: usize) -> bool {
        self.0.as_ref().is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1)
    }
}

impl WideScratch {
    /// Copies values of `width` bytes as those of the narrower type, which stand from `at` on.
    fn copy(
        &mut self,
        from: (&HostRead, usize, isize),
        (physical, width): (Physical, usize),
        at: usize,
        out: &mut [u8],
    ) -> Result<()> {
        match physical.width() {
            Some(4) if width > 4 => self.cut::<u32>(from, width, at, out),
            Some(8) if width > 8 => self.cut::<u64>(from, width, at, out),
            Some(16) if width > 16 => self.cut::<u128>(from, width, at, out),
            _ => Err(Error::argument("a column is in memory in another form than its type says")),
        }
    }

    fn cut<T: Narrow>(
        &mut self,
        (memory, mut from, stride): (&HostRead, usize, isize),
        width: usize,
        at: usize,
        out: &mut [u8],
    ) -> Result<()> {
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        for (i, out) in out.chunks_mut(VECTOR).enumerate() {
            self.limbs.resize(out.len() * width / 8, 0);
            let limbs = &mut self.limbs;
            let copied = match width {
                8 => memory.copy_strided::<u64>(from, stride, limbs),
                16 => memory.copy_strided::<[u64; 2]>(from, stride, bytemuck::cast_slice_mut(limbs)),
                32 => memory.copy_strided::<[u64; 4]>(from, stride, bytemuck::cast_slice_mut(limbs)),
                _ => false,
            };
            if !copied {
                return Err(short());
            }
            if !extend::cut(limbs, width, out).ok_or_else(short)? {
                let of_value = limbs.chunks_exact(width / 8).enumerate();
                let outside = of_value
                    .filter(|(_, limbs)| extend::cut(limbs, width, &mut [T::default()]) != Some(true));
                self.outside.extend(outside.map(|(k, _)| at + i * VECTOR + k));
            }
            from = from.wrapping_add_signed((out.len() as isize).wrapping_mul(stride));
        }
        Ok(())
    }
}

/// Writes integers as those of a narrower type; the place of the first one that is not among `n` from `first` on.
fn narrow(
    ints: &[i32],
    first: i32,
    n: u32,
    mark: Option<i32>,
    of: Layout,
    out: &mut [u8],
) -> Result<Option<usize>> {
    let is_outside = |&int: &i32| Some(int) != mark && int.wrapping_sub(first) as u32 >= n;
    macro_rules! put {
        ($t:ty) => {{
            let out: &mut [$t] = bytemuck::cast_slice_mut(out);
            out.iter_mut().zip(ints).fold(false, |any, (out, int)| {
                *out = int.wrapping_sub(first) as $t;
                any | is_outside(int)
            })
        }};
    }
    let any = match of.width() {
        None if of.physical == Physical::Bool => {
            let any = put!(u8);
            out.iter_mut().for_each(|byte| *byte &= 1);
            any
        }
        Some(1) if of.physical.is_integer() => put!(u8),
        Some(2) if of.physical.is_integer() => put!(u16),
        Some(4) if of.physical.is_integer() => put!(u32),
        _ => return Err(Error::argument("a column is in memory in another form than its type says")),
    };
    Ok(if any { ints.iter().position(is_outside) } else { None })
}

fn copy_fixed(chunk: &Chunk, inside: Range<usize>, of: Layout, out: &mut [u8]) -> Result<()> {
    let copied = match (&chunk.values, of.width()) {
        (HostValues::Words { memory, stride }, Some(width)) => {
            let at = place(inside.start, chunk.n, *stride).ok_or_else(short)?;
            match width {
                1 => strided::<u8>(memory, at, *stride, out),
                2 if of.is_word() => strided::<u16>(memory, at, *stride, out),
                4 if of.is_word() => strided::<u32>(memory, at, *stride, out),
                8 if of.is_word() => strided::<u64>(memory, at, *stride, out),
                16 if of.is_word() => strided::<u128>(memory, at, *stride, out),
                _ => rows(memory, at, *stride, width, out),
            }
        }
        (values, _) if nested::is_nested(values) => return nested::words(chunk, inside, out),
        (HostValues::Bools { memory, stride }, None) => {
            let at = place(inside.start, chunk.n, *stride).ok_or_else(short)?;
            let copied = memory.copy_strided::<u8>(at, *stride, out);
            out.iter_mut().for_each(|b| *b = u8::from(*b != 0));
            copied
        }
        (HostValues::Bits { memory, first_bit }, None) => {
            let first = first_bit + inside.start;
            let mut bytes = vec![0; (first + inside.len()).div_ceil(8) - first / 8];
            memory.copy_to(first / 8, &mut bytes) && bits::expand_bits(&bytes, first % 8, out)
        }
        _ => return Err(Error::argument("a column is in memory in another form than its type says")),
    };
    if copied { Ok(()) } else { Err(short()) }
}

/// Copies rows of `width` bytes.
fn rows(memory: &HostRead, mut at: usize, stride: isize, width: usize, out: &mut [u8]) -> bool {
    if stride == width as isize || width == 0 {
        return memory.copy_to(at.min(memory.len()), out);
    }
    out.chunks_exact_mut(width).all(|out| {
        let copied = memory.copy_to(at, out);
        at = at.wrapping_add_signed(stride);
        copied
    })
}

fn strided<T: Pod>(memory: &HostRead, at: usize, stride: isize, out: &mut [u8]) -> bool {
    memory.copy_strided::<T>(at, stride, bytemuck::cast_slice_mut(out))
}

/// One where a word differs from the mark.
fn compare<T: Pod + PartialEq>(stored: &[u8], mark: T, out: &mut [u8]) {
    for (valid, &word) in out.iter_mut().zip(bytemuck::cast_slice::<u8, T>(stored)) {
        *valid = u8::from(word != mark);
    }
}

/// Packs 0/1 bytes into the bits from `first` on.
fn or_bytes(bytes: &[u8], out: &mut [u8], first: usize) -> bool {
    let mut packed = Vec::with_capacity(bytes.len() / 8 + 1);
    bits::pack_bytes(bytes, &mut packed);
    bits::copy_bits(&packed, 0, out, first, bytes.len())
}

fn spans_of<O: Pod + TryInto<u64>>(
    offsets: &HostRead,
    inside: Range<usize>,
    spans: &mut Vec<(u64, u64)>,
) -> Result<()> {
    let mut copy = vec![O::zeroed(); inside.len() + 1];
    let at = inside.start.checked_mul(size_of::<O>()).ok_or_else(short)?;
    if !offsets.copy_strided::<O>(at, size_of::<O>() as isize, &mut copy) {
        return Err(short());
    }
    spans.clear();
    spans.reserve(inside.len());
    let number = |offset: O| offset.try_into().map_err(|_| short());
    for pair in copy.windows(2) {
        spans.push((number(pair[0])?, number(pair[1])?));
    }
    Ok(())
}
