//! Takes strings of ascending rows, with a task for the rows of some blocks.

use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::TextScratch;
use entasis_format::{BlockRecord, Result, fallible};
use entasis_kernels::VECTOR;
use entasis_platform::Buffers;

use super::close_rows::{Scratch, n_close, take_missing};
use super::{CHECK, DENSE, end_of_block};
use crate::monitor::Control;
use crate::read::alloc::{self, STRINGS, zeros};
use crate::read::assembly::{Assembly, TaskResult};
use crate::read::decoded_len::DecodedLen;
use crate::read::dictionary_views::{DictionaryViews, is_dictionary};
use crate::read::fixed::split_missing;
use crate::read::layout::{self, Text, TextLayout};
use crate::read::pages::{OpenPage, Reader};
use crate::read::request::{MissingTo, Source};
use crate::read::string_codes::StringCodes;

/// Rows of a task, at least.
const TASK: usize = 1 << 13;
/// The most bytes of the blocks of a task. Views can then refer to the taken strings.
const MOST: u64 = 1 << 30;
/// Views refer to the dictionary itself if at least one in this many rows of the block is wanted.
const SHARE: u64 = 16;

/// Rows of some blocks.
pub(crate) struct TakeStrings<'a> {
    request: usize,
    pub(super) source: &'a Source,
    rows: Arc<Vec<u64>>,
    part: Range<usize>,
    /// The number of the buffer for the strings, for views.
    buffer: usize,
    /// The number of the buffer for the first dictionary that this task adds, for views.
    dictionary: usize,
    /// The memory for views.
    views: Option<&'a mut [u128]>,
    /// Whether strings are taken as codes.
    has_codes: bool,
    missing: MissingTo<'a>,
    wants_bits: bool,
}

/// Cuts ascending rows into tasks.
pub(super) fn plan<'a>(
    request: usize,
    source: &'a Source,
    rows: &Arc<Vec<u64>>,
    (text, memory): (&'a mut Text, &mut Buffers),
    missing: MissingTo<'a>,
    mut add: impl FnMut(TakeStrings<'a>) -> Result<()>,
) -> Result<Assembly<'a>> {
    let has_views = text.layout == TextLayout::Views;
    let has_codes = text.layout == TextLayout::Codes;
    let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let (mut end, mut len, mut n_dictionaries) = (start, 0u64, 0);
        while end < rows.len() && end - start < TASK {
            let (block, next) = end_of_block(&source.blocks, rows, end)?;
            len = len.saturating_add(block.decoded_len);
            if end > start && len > MOST {
                break;
            }
            n_dictionaries += usize::from(has_views && is_shared(block, next - end));
            end = next;
        }
        fallible::push(&mut parts, (start..end, n_dictionaries), STRINGS)?;
        start = end;
    }
    let mut assembly = Assembly::default();
    let (mut views, mut dictionary) = (None, parts.len());
    if has_views {
        let (memory, buffers, dictionaries) = text.reserve_views(rows.len(), memory)?;
        views = Some(memory);
        (assembly.buffers, assembly.dictionaries) = (Some(buffers), Some(dictionaries));
    } else {
        assembly.text = Some(text);
    }
    let (mut missing, wants_bits) = match missing {
        MissingTo::Bits(bits) => {
            assembly.validity = Some(bits);
            (MissingTo::Ignore, true)
        }
        missing => (missing, false),
    };
    for (buffer, (part, n_dictionaries)) in parts.into_iter().enumerate() {
        let n = part.len();
        let (head, tail) = split_missing(missing, n);
        missing = tail;
        let own_views = views.take().map(|all| {
            let (head, tail) = all.split_at_mut(n);
            views = Some(tail);
            head
        });
        let rows = Arc::clone(rows);
        add(TakeStrings {
            request,
            source,
            rows,
            part,
            buffer,
            dictionary,
            views: own_views,
            has_codes,
            missing: head,
            wants_bits,
        })?;
        dictionary += n_dictionaries;
    }
    Ok(assembly)
}

/// The strings taken so far, in the order of the rows.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    lengths: Vec<u32>,
}

impl Strings {
    /// Adds the strings of these rows. The range of `opened` goes from the first to the last row.
    fn take(
        &mut self,
        opened: OpenPage<'_>,
        rows: &[u64],
        scratch: &mut TextScratch,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<()> {
        let slice = opened.decoder.strings(opened.page, opened.range, scratch)?;
        let all = slice.lengths();
        let start = self.bytes.len();
        if all.len() == rows.len() {
            decoded_len.add(slice.total_len() as u64)?;
            fallible::resize(&mut self.bytes, start + slice.total_len(), 0, STRINGS)?;
            fallible::extend(&mut self.lengths, all.iter().copied(), STRINGS)?;
            return slice.write(&mut self.bytes[start..]);
        }
        let at = |row: u64| (row - rows[0]) as usize;
        let len = rows.iter().map(|&row| all[at(row)] as usize).fold(0, usize::saturating_add);
        decoded_len.add(len as u64)?;
        fallible::reserve(&mut self.bytes, len, STRINGS)?;
        fallible::reserve(&mut self.lengths, rows.len(), STRINGS)?;
        let (mut i, mut before) = (0, 0);
        for &row in rows {
            let at = at(row);
            before += all[i..at].iter().map(|&length| length as usize).sum::<usize>();
            self.lengths.push(all[at]);
            self.bytes.extend_from_slice(slice.get(at, before));
            i = at;
        }
        Ok(())
    }
}

/// Whether the views of `n` rows of a block refer to its dictionary.
fn is_shared(block: &BlockRecord, n: usize) -> bool {
    is_dictionary(block) && n as u64 * SHARE >= u64::from(block.n_values)
}

impl TakeStrings<'_> {
    pub(super) fn take(
        self,
        reader: &mut Reader<'_>,
        control: &Control<'_>,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<TaskResult> {
        let Self { request, source, rows, part, buffer, dictionary, .. } = self;
        let Self { mut views, has_codes, missing, wants_bits, .. } = self;
        let (at, n) = (part.start, part.len());
        let rows = &rows[part];
        let mut validity = if wants_bits { zeros(n.div_ceil(8))? } else { Vec::new() };
        let mut missing = if wants_bits { MissingTo::Bits(&mut validity) } else { missing };
        let mut strings = Strings::default();
        let (mut entries, mut codes) = (DictionaryViews::new(dictionary), StringCodes::default());
        let (mut n_pages, mut n_done) = (0u32, 0);
        let mut scratch = Scratch::default();
        reader.scattered(source, rows, &mut |opened, text| {
            if n_pages.is_multiple_of(CHECK) {
                control.advance(std::mem::take(&mut n_done));
                control.check()?;
            }
            n_pages += 1;
            let first = opened.range.start;
            let mut k = opened.at;
            let zero = rows[k] - first as u64;
            let n_of_page = rows[k..].partition_point(|&row| row - zero < opened.range.end as u64);
            let page_end = k + n_of_page;
            let is_sparse = n_of_page * VECTOR < DENSE * opened.range.len();
            let is_shared = views.is_some() && is_dictionary(opened.block) && {
                let of_block = rows.partition_point(|&row| row < opened.block.end_value())
                    - rows.partition_point(|&row| row < opened.block.first_value);
                is_shared(opened.block, of_block)
            };
            if is_shared {
                entries.open(opened.decoder, opened.block)?;
            }
            n_done += n_of_page as u64;
            while k < page_end {
                let own = &rows[k..page_end];
                let own = &own[..if is_sparse { in_vector(own, zero) } else { n_close(own) }];
                let index = |row: u64| (row - zero) as usize;
                let range = index(own[0])..index(own[own.len() - 1]) + 1;
                let here = OpenPage { range: range.clone(), ..opened };
                take_missing(opened.page.validity, range, (own, k), &mut missing, &mut scratch)?;
                match &mut views {
                    Some(views) if is_shared => {
                        entries.take(&here, own, text, &mut views[k..k + own.len()])?;
                    }
                    Some(views) => {
                        let start = strings.bytes.len();
                        strings.take(here, own, text, decoded_len)?;
                        let (bytes, views) = (&strings.bytes[start..], &mut views[k..k + own.len()]);
                        layout::views(bytes, &strings.lengths, buffer as u32, start as u32, views);
                        strings.lengths.clear();
                    }
                    None if has_codes => codes.take(&here, own, text, &mut strings.lengths)?,
                    None => strings.take(here, own, text, decoded_len)?,
                }
                k += own.len();
            }
            Ok(())
        })?;
        control.advance(n_done);
        let distinct = codes.distinct;
        decoded_len.add(distinct.bytes().len() as u64)?;
        let mut bytes = alloc::buffer(Some(strings.bytes.len()), STRINGS)?;
        bytes.copy_from_slice(&strings.bytes);
        let (lengths, dictionaries) = (strings.lengths, entries.into_buffers());
        let rest = TaskResult::default();
        Ok(TaskResult { request, at, n, validity, lengths, bytes, dictionaries, distinct, ..rest })
    }
}

/// The number of these ascending rows in the vector of the first one. `zero` is the row of the
/// page's first value.
fn in_vector(rows: &[u64], zero: u64) -> usize {
    let vector = |row: u64| (row - zero) / VECTOR as u64;
    rows.iter().take_while(|&&row| vector(row) == vector(rows[0])).count()
}
