//! Reads strings of consecutive rows. Each block's length is known before it is decoded, so tasks
//! decode directly into their parts of the memory.

use std::ops::Range;

use entasis_encodings::{BlockDecoder, Page, TextScratch};
use entasis_format::{BlockRecord, Error, Result, Transform, fallible};
use entasis_kernels::gather;
use entasis_platform::memory::prefault;
use entasis_platform::{Buffer, Buffers};

use super::alloc::{STRINGS, buffer, too_many, zeros};
use super::assembly::{Assembly, Piece};
use super::decoded_len::DecodedLen;
use super::fixed::put_missing;
use super::layout::{self, Ends, Text, TextLayout};
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Source};
use crate::monitor::Control;

/// A task gets further blocks while it has fewer than `TASK_VALUES` strings and would not exceed
/// `TASK_LEN` bytes. A longer block is a task by itself.
const TASK_LEN: u64 = 2 << 20;
const TASK_VALUES: u64 = 1 << 18;
/// The most bytes of a buffer that views refer to.
const BUFFER_LEN: u64 = i32::MAX as u64;

/// A part of a request: whole blocks, or a part of one.
pub(crate) struct StringTask<'a> {
    request: usize,
    source: &'a Source,
    values: Range<u64>,
    /// The position of the first value in the request.
    at: usize,
    /// Bytes of earlier strings in the same buffer.
    base: usize,
    /// The number of that buffer.
    buffer: usize,
    /// The number of the buffer for the first dictionary that this task adds, for views.
    dictionary: usize,
    ends: Ends<'a>,
    bytes: &'a mut [u8],
    mask: Option<&'a mut [u8]>,
    wants_bits: bool,
}

/// Values for one task.
struct Part {
    values: Range<u64>,
    /// Bytes of strings that are copied into the request's memory.
    len: u64,
    /// The approximate work, in bytes.
    work: u64,
    n_dictionaries: usize,
}

/// Allocates the memory of a request and cuts it into tasks.
pub(crate) fn plan<'a>(
    request: usize,
    reader: &mut Reader<'_>,
    source: &'a Source,
    values: Range<u64>,
    (text, memory, decoded_len): (&'a mut Text, &mut Buffers, &DecodedLen<'_>),
    missing: MissingTo<'a>,
    mut add: impl FnMut(StringTask<'a>) -> Result<()>,
) -> Result<Assembly<'a>> {
    let has_views = text.layout == TextLayout::Views;
    let parts = parts(reader, source, &values, has_views)?;
    let mut lens = vec![0u64];
    for part in &parts {
        decoded_len.add(part.len)?;
        let last = lens.len() - 1;
        match lens[last].checked_add(part.len).ok_or_else(too_many)? {
            sum if has_views && sum > BUFFER_LEN => fallible::push(&mut lens, part.len, STRINGS)?,
            sum => lens[last] = sum,
        }
    }
    let lens = lens.into_iter().map(|len| usize::try_from(len).map_err(|_| too_many()));
    let lens = fallible::try_collect(lens, STRINGS)?;
    let n = (values.end - values.start) as usize;
    let (mut ends, buffers, dictionaries) = text.reserve(n, &lens, memory)?;
    let mut dictionary = buffers.len();
    let mut buffers = buffers.iter_mut().map(|buffer| &mut **buffer).enumerate();
    let (mut buffer, mut bytes) = buffers.next().ok_or_else(too_many)?;
    let (mut mask, bits) = match missing {
        MissingTo::Mask(mask) => (Some(mask), None),
        MissingTo::Bits(bits) => (None, Some(bits)),
        _ => (None, None),
    };
    let wants_bits = bits.is_some();
    let (mut at, mut base) = (0, 0);
    for Part { values, len, n_dictionaries, .. } in parts {
        let (n, len) = ((values.end - values.start) as usize, len as usize);
        if len > bytes.len() {
            (buffer, bytes) = buffers.next().ok_or_else(too_many)?;
            base = 0;
        }
        let (head, tail) = ends.split_at(n);
        let (head_bytes, tail_bytes) = bytes.split_at_mut(len);
        let now_mask = mask.take().map(|all| {
            let (head, tail) = all.split_at_mut(n);
            mask = Some(tail);
            head
        });
        (ends, bytes) = (tail, tail_bytes);
        add(StringTask {
            request,
            source,
            values,
            at,
            base,
            buffer,
            dictionary,
            ends: head,
            bytes: head_bytes,
            mask: now_mask,
            wants_bits,
        })?;
        at += n;
        base += len;
        dictionary += n_dictionaries;
    }
    let dictionaries = has_views.then_some(dictionaries);
    Ok(Assembly { validity: bits, dictionaries, ..Assembly::default() })
}

/// Cuts values into parts for tasks. Decodes the lengths first if only a part of a block is wanted.
fn parts(
    reader: &mut Reader<'_>,
    source: &Source,
    values: &Range<u64>,
    has_views: bool,
) -> Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
    for block in source.blocks[first..].iter().take_while(|block| block.first_value < values.end) {
        let part = values.start.max(block.first_value)..values.end.min(block.end_value());
        let whole = part == (block.first_value..block.end_value());
        // Views refer to the dictionary itself.
        let is_placed = !(has_views && is_dictionary(block));
        let len = match (is_placed, whole) {
            (false, _) => 0,
            (true, true) => block.decoded_len,
            (true, false) => measure(reader, source, part.clone())?,
        };
        let work = if is_placed { len } else { 16 * (part.end - part.start) };
        let n_dictionaries = usize::from(!is_placed);
        match parts.last_mut() {
            Some(last)
                if last.values.end - last.values.start < TASK_VALUES
                    && last.work.saturating_add(work) <= TASK_LEN =>
            {
                last.values.end = part.end;
                last.len += len;
                last.work += work;
                last.n_dictionaries += n_dictionaries;
            }
            _ => fallible::push(&mut parts, Part { values: part, len, work, n_dictionaries }, STRINGS)?,
        }
    }
    Ok(parts)
}

pub(super) fn is_dictionary(block: &BlockRecord) -> bool {
    block.encoding.transform == Transform::Dictionary
}

fn measure(reader: &mut Reader<'_>, source: &Source, values: Range<u64>) -> Result<u64> {
    let mut len = 0;
    reader.pages(source, values, &mut |opened, scratch| {
        len += opened.decoder.strings(opened.page, opened.range, scratch)?.total_len() as u64;
        Ok(())
    })?;
    Ok(len)
}

impl StringTask<'_> {
    pub(crate) fn run(self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<Piece> {
        let Self { request, source, values, at, base, buffer, dictionary, mut ends, bytes, mask, wants_bits } =
            self;
        let n = (values.end - values.start) as usize;
        let mut done = 0;
        prefault(bytes);
        if let Ends::Views(views) = &mut ends {
            prefault(bytemuck::cast_slice_mut(views));
        }
        let mut validity = if wants_bits { zeros(n.div_ceil(8))? } else { Vec::new() };
        let mut missing = match mask {
            Some(mask) => MissingTo::Mask(mask),
            None if wants_bits => MissingTo::Bits(&mut validity),
            None => MissingTo::Ignore,
        };
        let mut entries = Entries::new(dictionary);
        reader.leaves_symbols = true;
        let visited = reader.pages(source, values, &mut |opened, scratch| {
            control.check()?;
            control.advance(opened.range.len() as u64);
            let (page, range) = (opened.page, opened.range.clone());
            let here = opened.at..opened.at + opened.range.len();
            if let Ends::Views(views) = &mut ends
                && is_dictionary(opened.block)
            {
                entries.open(opened.decoder, opened.block)?;
                entries.look_up(opened.decoder, page, range, scratch, &mut views[here])?;
                return put_missing(page.validity, opened.range, opened.at, &mut missing);
            }
            let rest = &mut bytes[done..];
            let (lengths, written) = opened
                .decoder
                .write_strings(page, range, scratch, |len| rest.get_mut(..len).ok_or_else(too_long))?;
            let (len, first) = (written.len(), base + done);
            match &mut ends {
                Ends::Small(ends) => layout::sum(lengths, first as u32, &mut ends[here]),
                Ends::Large(ends) => layout::sum(lengths, first as u64, &mut ends[here]),
                Ends::Views(views) => {
                    layout::views(written, lengths, buffer as u32, first as u32, &mut views[here]);
                }
            }
            done += len;
            put_missing(page.validity, opened.range, opened.at, &mut missing)
        });
        reader.leaves_symbols = false;
        visited
            .and_then(|()| if done == bytes.len() { Ok(()) } else { Err(too_long()) })
            .map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })?;
        let dictionaries = entries.into_buffers();
        Ok(Piece { request, at, n, validity, dictionaries, ..Piece::default() })
    }
}

/// The entries of a block's dictionary, as views.
pub(super) struct Entries {
    views: Vec<u128>,
    /// The bytes of the dictionaries of all blocks so far.
    buffers: Vec<Buffer>,
    /// The number of the first buffer.
    first: usize,
    /// The first value of the block whose entries `views` holds.
    block: Option<u64>,
}

impl Entries {
    /// No entries yet. The first dictionary will be the buffer `first`.
    pub(super) fn new(first: usize) -> Self {
        Self { views: Vec::new(), buffers: Vec::new(), first, block: None }
    }

    /// The bytes of the dictionaries of all blocks so far.
    pub(super) fn into_buffers(self) -> Vec<Buffer> {
        self.buffers
    }

    /// Reads the entries of a block, unless `views` already has them.
    pub(super) fn open(&mut self, decoder: &BlockDecoder<'_>, block: &BlockRecord) -> Result<()> {
        if self.block == Some(block.first_value) {
            return Ok(());
        }
        self.block = Some(block.first_value);
        let (lengths, bytes) = decoder.entries()?;
        // Entries that fit inline need no buffer, but use up its number.
        let outside = if layout::any_outside(lengths.iter().copied()) { bytes } else { &[] };
        let mut copy = buffer(Some(outside.len()), STRINGS)?;
        copy.copy_from_slice(outside);
        let number = self.first + self.buffers.len();
        fallible::push(&mut self.buffers, copy, STRINGS)?;
        self.views.clear();
        fallible::resize(&mut self.views, lengths.len(), 0, STRINGS)?;
        layout::views(bytes, &lengths, number as u32, 0, &mut self.views);
        Ok(())
    }

    /// The views of ascending rows. The range of `opened` goes from the first to the last row.
    pub(super) fn take(
        &self,
        opened: &OpenPage<'_>,
        rows: &[u64],
        scratch: &mut TextScratch,
        out: &mut [u128],
    ) -> Result<()> {
        let codes = opened.decoder.codes(opened.page, opened.range.clone(), scratch)?;
        let first = rows.first().map_or(0, |row| *row);
        for (out, row) in out.iter_mut().zip(rows) {
            let view = self.views.get(codes[(row - first) as usize] as usize);
            *out = *view.ok_or_else(bad_code)?;
        }
        Ok(())
    }

    fn look_up(
        &self,
        decoder: &BlockDecoder<'_>,
        page: &Page<'_>,
        range: Range<usize>,
        scratch: &mut TextScratch,
        out: &mut [u128],
    ) -> Result<()> {
        // The views don't depend on the page's decoded_len. Comparing it would need another pass
        // over the views, so only other reads and `verify` do that.
        let codes = decoder.codes(page, range, scratch)?;
        if gather::gather(&self.views, codes, out) { Ok(()) } else { Err(bad_code()) }
    }
}

fn bad_code() -> Error {
    Error::corrupt("a code is not in the dictionary")
}

fn too_long() -> Error {
    Error::corrupt("the strings of a block do not have the length in its record")
}
