//! Reads consecutive values of fixed width. Tasks decode straight into their part of the memory.

use std::ops::Range;

use entasis_encodings::{BLOCK, Validity};
use entasis_format::{BlockRecord, Encoding, Error, Packing, Result, checksum};
use entasis_kernels::sign_extend::{self, Narrow};
use entasis_kernels::{VECTOR, Word};
use entasis_platform::memory::Prefault;

use super::alloc::zeros;
use super::codes::check_codes;
use super::int32;
use super::nan::clear_nan;
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Output, Source, unaligned};
use crate::blocks::block_values;
use crate::monitor::Control;

/// Bytes of memory whose pages one task requests: a huge page.
const PAGES: usize = 2 << 20;
/// Bytes of memory per task. Small tasks let threads end at about the same time.
const TASK: usize = PAGES / 4;

/// A part of a request.
pub(crate) struct FixedTask<'a> {
    source: &'a Source,
    values: Range<u64>,
    /// The memory of this task and the next ones. This task requests its pages.
    ahead: Option<Prefault<'a>>,
    output: Output<'a>,
    missing: MissingTo<'a>,
}

/// Cuts a request into tasks of whole blocks, counted from its first value, so that tasks fill
/// whole bytes of bitmaps.
pub(crate) fn plan<'a>(
    source: &'a Source,
    values: Range<u64>,
    output: Output<'a>,
    missing: MissingTo<'a>,
    mut add: impl FnMut(FixedTask<'a>) -> Result<()>,
) -> Result<()> {
    let width = width_of(source, &output);
    let step = match width.max(1) * BLOCK {
        of_block @ ..=TASK => TASK / of_block * BLOCK,
        _ => block_values(source.of),
    };
    let together = (PAGES / (width.max(1) * step)).max(1) * step;
    let (mut output, mut missing) = (output, missing);
    let mut start = values.start;
    while start < values.end {
        let n_together = together.min((values.end - start) as usize);
        let (head, tail) = split_output(output, n_together, width);
        output = tail;
        let (mut ahead, mut head) = ahead_of(head);
        let end = start + n_together as u64;
        while start < end {
            let n = step.min((end - start) as usize);
            let (part, rest) = split_output(head, n, width);
            let (missing_part, missing_rest) = split_missing(missing, n);
            (head, missing) = (rest, missing_rest);
            let values = start..start + n as u64;
            add(FixedTask { source, values, ahead: ahead.take(), output: part, missing: missing_part })?;
            start += n as u64;
        }
    }
    Ok(())
}

/// The memory of an output, for requesting its pages. Bitmaps are too small for that.
fn ahead_of(output: Output<'_>) -> (Option<Prefault<'_>>, Output<'_>) {
    fn of(memory: &mut [u8]) -> (Option<Prefault<'_>>, &mut [u8]) {
        let (ahead, memory) = Prefault::of(memory);
        (Some(ahead), memory)
    }
    match output {
        Output::Words(memory) => {
            let (ahead, memory) = of(memory);
            (ahead, Output::Words(memory))
        }
        Output::Wide { memory, width } => {
            let (ahead, memory) = of(memory);
            (ahead, Output::Wide { memory, width })
        }
        Output::Int32 { memory, plus } => {
            let (ahead, memory) = of(memory);
            (ahead, Output::Int32 { memory, plus })
        }
        Output::Bools(memory) => {
            let (ahead, memory) = of(memory);
            (ahead, Output::Bools(memory))
        }
        output => (None, output),
    }
}

/// Bytes of a value in memory.
pub(crate) fn width_of(source: &Source, output: &Output<'_>) -> usize {
    match output {
        Output::Wide { width, .. } => *width,
        Output::Int32 { .. } => 4,
        _ => source.of.width().unwrap_or(1),
    }
}

pub(super) fn split_output(output: Output<'_>, n: usize, width: usize) -> (Output<'_>, Output<'_>) {
    match output {
        Output::Words(out) => {
            let (a, b) = out.split_at_mut((n * width).min(out.len()));
            (Output::Words(a), Output::Words(b))
        }
        Output::Wide { memory, .. } => {
            let (a, b) = memory.split_at_mut((n * width).min(memory.len()));
            (Output::Wide { memory: a, width }, Output::Wide { memory: b, width })
        }
        Output::Int32 { memory, plus } => {
            let (a, b) = memory.split_at_mut((n * width).min(memory.len()));
            (Output::Int32 { memory: a, plus }, Output::Int32 { memory: b, plus })
        }
        Output::Bools(out) => {
            let (a, b) = out.split_at_mut(n.min(out.len()));
            (Output::Bools(a), Output::Bools(b))
        }
        Output::Bits(out) => {
            let (a, b) = out.split_at_mut(n.div_ceil(8).min(out.len()));
            (Output::Bits(a), Output::Bits(b))
        }
        Output::Text(_) => (Output::Bools(&mut []), Output::Bools(&mut [])),
    }
}

pub(super) fn split_missing(missing: MissingTo<'_>, n: usize) -> (MissingTo<'_>, MissingTo<'_>) {
    match missing {
        MissingTo::Bits(out) => {
            let (a, b) = out.split_at_mut(n.div_ceil(8).min(out.len()));
            (MissingTo::Bits(a), MissingTo::Bits(b))
        }
        MissingTo::BitsWithNan(out) => {
            let (a, b) = out.split_at_mut(n.div_ceil(8).min(out.len()));
            (MissingTo::BitsWithNan(a), MissingTo::BitsWithNan(b))
        }
        MissingTo::Mask(out) => {
            let (a, b) = out.split_at_mut(n.min(out.len()));
            (MissingTo::Mask(a), MissingTo::Mask(b))
        }
        MissingTo::Sentinel(sentinel) => (MissingTo::Sentinel(sentinel), MissingTo::Sentinel(sentinel)),
        MissingTo::Ignore => (MissingTo::Ignore, MissingTo::Ignore),
    }
}

impl FixedTask<'_> {
    pub(crate) fn run(mut self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let source = self.source;
        let named = |e: Error| if source.name.is_empty() { e } else { e.in_column(&source.name) };
        if let Some(ahead) = &self.ahead {
            ahead.populate();
        }
        self.read(reader, control).map_err(named)
    }

    fn read(&mut self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<()> {
        let (source, values) = (self.source, self.values.clone());
        let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
        let mut at = values.start;
        for (i, block) in source.blocks.iter().enumerate().skip(first) {
            if block.first_value >= values.end {
                break;
            }
            let whole = values.start <= block.first_value && block.end_value() <= values.end;
            if whole && is_plain(block) && matches!(self.output, Output::Words(_)) {
                control.check()?;
                self.decode(reader, at..block.first_value, control)?;
                self.read_plain(reader, block).map_err(|e| e.in_block(i as u64))?;
                at = block.end_value();
            }
        }
        self.decode(reader, at..values.end, control)?;
        clear_nan(source, &self.output, &mut self.missing)
    }

    /// Decodes a part of the task's values, page by page.
    fn decode(&mut self, reader: &mut Reader<'_>, part: Range<u64>, control: &Control<'_>) -> Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        let Self { source, values, output, missing, .. } = self;
        let skip = (part.start - values.start) as usize;
        reader.pages(source, part, &mut |opened, _| {
            control.check()?;
            control.advance(opened.range.len() as u64);
            put(source, OpenPage { at: skip + opened.at, ..opened }, output, missing)
        })
    }

    /// Reads a block whose stored bytes are its values directly into place, and verifies it there.
    fn read_plain(&mut self, reader: &mut Reader<'_>, block: &BlockRecord) -> Result<()> {
        let Output::Words(out) = &mut self.output else { return Err(Error::argument("values are words")) };
        let (n, width) = (block.n_values as usize, self.source.of.width().unwrap_or(1));
        let at = (block.first_value - self.values.start) as usize;
        let out = &mut out[at * width..(at + n) * width];
        reader.load_into(block, out)?;
        let directory = reader.directory(self.source, block)?;
        let mut rest = &*out;
        for (i, entry) in directory.pages.iter().enumerate() {
            let (page, after) = rest.split_at(entry.stored_len as usize);
            if checksum(page) != entry.checksum {
                return Err(Error::corrupt("the checksum of a page does not match")
                    .in_page(i as u64)
                    .at(block.pages_at));
            }
            rest = after;
        }
        match self.source.of.physical.width().unwrap_or(0) {
            1 => check_codes_of::<u8>(self.source, out)?,
            2 => check_codes_of::<u16>(self.source, out)?,
            4 => check_codes_of::<u32>(self.source, out)?,
            8 => check_codes_of::<u64>(self.source, out)?,
            _ => {}
        }
        put_missing(Validity::AllValid, 0..n, at, &mut self.missing)
    }
}

/// Whether the stored bytes of a block are its contiguous values.
fn is_plain(block: &BlockRecord) -> bool {
    block.encoding == Encoding::new(Packing::Raw) && u64::from(block.pages_len) == block.decoded_len
}

fn check_codes_of<T: Word>(source: &Source, codes: &mut [u8]) -> Result<()> {
    let Some(n) = source.n_categories else { return Ok(()) };
    let codes: &mut [T] = bytemuck::try_cast_slice_mut(codes).map_err(unaligned)?;
    check_codes(Validity::AllValid, 0..codes.len(), n, codes)
}

/// Decodes the wanted values of a page to their positions.
pub(crate) fn put(
    source: &Source,
    opened: OpenPage<'_>,
    output: &mut Output<'_>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let n = opened.range.len();
    let (decoder, page, at) = (opened.decoder, opened.page, opened.at);
    match output {
        Output::Words(out) => match source.of.physical.width() {
            Some(1) => words::<u8>(source, &opened, out, missing)?,
            Some(2) => words::<u16>(source, &opened, out, missing)?,
            Some(4) => words::<u32>(source, &opened, out, missing)?,
            Some(8) => words::<u64>(source, &opened, out, missing)?,
            Some(16) => wide(&opened, out)?,
            _ => {
                let width = source.of.width().unwrap_or(0);
                decoder.decode_bytes(page, opened.range.clone(), &mut out[width * at..width * (at + n)])?;
            }
        },
        Output::Wide { memory, width } => match source.of.physical.width() {
            Some(4) => extended::<u32>(&opened, memory, *width, missing)?,
            Some(8) => extended::<u64>(&opened, memory, *width, missing)?,
            _ => extended_wide(&opened, memory, *width)?,
        },
        Output::Int32 { memory, plus } => int32::put(source, &opened, memory, *plus, missing)?,
        Output::Bools(out) => decoder.decode_bools(page, opened.range.clone(), &mut out[at..at + n])?,
        Output::Bits(out) => decoder.decode_bool_bits(page, opened.range.clone(), out, at)?,
        Output::Text(_) => return Err(Error::argument("strings are not of fixed width")),
    }
    put_missing(page.validity, opened.range, at, missing)
}

/// Reports missing values among `range`, stored at `at`, as bits or mask. Sentinels are put with
/// the values.
pub(crate) fn put_missing(
    validity: Validity<'_>,
    range: Range<usize>,
    at: usize,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let n = range.len();
    let done = match missing {
        MissingTo::Bits(out) | MissingTo::BitsWithNan(out) => validity.write_bits(range, out, at),
        MissingTo::Mask(out) => validity.write_mask(range, &mut out[at..at + n]),
        MissingTo::Sentinel(_) | MissingTo::Ignore => true,
    };
    if done { Ok(()) } else { Err(Error::argument("the memory for missing values is too short")) }
}

fn words<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    out: &mut [u8],
    missing: &MissingTo<'_>,
) -> Result<()> {
    let out: &mut [T] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let out = &mut out[opened.at..opened.at + opened.range.len()];
    opened.decoder.decode(opened.page, opened.range.clone(), out)?;
    let validity = opened.page.validity;
    if let Some(n) = source.n_categories {
        check_codes(validity, opened.range.clone(), n, out)?;
    }
    if let MissingTo::Sentinel(sentinel) = missing {
        validity.write_sentinel(opened.range.clone(), T::from_u64(*sentinel), out);
    }
    Ok(())
}

/// Decodes one vector at a time and sign-extends it into its place.
fn extended<T: Word + Narrow>(
    opened: &OpenPage<'_>,
    out: &mut [u8],
    width: usize,
    missing: &MissingTo<'_>,
) -> Result<()> {
    let mut words = [T::from_u64(0); VECTOR];
    for (part, out) in wide_parts(opened, out, width)? {
        let words = &mut words[..part.len()];
        opened.decoder.decode(opened.page, part.clone(), words)?;
        if let MissingTo::Sentinel(sentinel) = missing {
            opened.page.validity.write_sentinel(part, T::from_u64(*sentinel), words);
        }
        extend_to(words, width, out)?;
    }
    Ok(())
}

fn extended_wide(opened: &OpenPage<'_>, out: &mut [u8], width: usize) -> Result<()> {
    let mut values = [0u128; VECTOR];
    for (part, out) in wide_parts(opened, out, width)? {
        let values = &mut values[..part.len()];
        opened.decoder.decode_wide(opened.page, part, values)?;
        extend_to(values, width, out)?;
    }
    Ok(())
}

/// Splits the wanted values at vector boundaries, with the memory of each part.
fn wide_parts<'o>(
    opened: &OpenPage<'_>,
    out: &'o mut [u8],
    width: usize,
) -> Result<impl Iterator<Item = (Range<usize>, &'o mut [u64])>> {
    let range = opened.range.clone();
    let out = &mut out[width * opened.at..width * (opened.at + range.len())];
    let mut out: &mut [u64] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let mut start = range.start;
    Ok(std::iter::from_fn(move || {
        let end = ((start / VECTOR + 1) * VECTOR).min(range.end);
        let part = start..end;
        if part.is_empty() {
            return None;
        }
        start = end;
        let (head, tail) = std::mem::take(&mut out).split_at_mut(part.len() * width / 8);
        out = tail;
        Some((part, head))
    }))
}

pub(super) fn extend_to<T: Narrow>(values: &[T], width: usize, out: &mut [u64]) -> Result<()> {
    if sign_extend::extend(values, width, out) {
        Ok(())
    } else {
        Err(Error::argument("the memory for wide values has the wrong length"))
    }
}

fn wide(opened: &OpenPage<'_>, out: &mut [u8]) -> Result<()> {
    let out = &mut out[16 * opened.at..16 * (opened.at + opened.range.len())];
    match bytemuck::try_cast_slice_mut::<u8, u128>(out) {
        Ok(out) => opened.decoder.decode_wide(opened.page, opened.range.clone(), out),
        // Hosts align complex numbers to 8 bytes only.
        Err(_) => {
            let mut values: Vec<u128> = zeros(opened.range.len())?;
            opened.decoder.decode_wide(opened.page, opened.range.clone(), &mut values)?;
            out.copy_from_slice(bytemuck::cast_slice(&values));
            Ok(())
        }
    }
}
