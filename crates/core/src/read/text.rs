//! Reads the strings of consecutive rows.
//!
//! The record of a block has the number of bytes of its strings. So [`plan`] allocates the memory
//! of a whole request before it decodes anything, and cuts it up: each [`StringTask`] gets the rows
//! of some blocks, and the slices of memory that these rows fill. Tasks then run on any thread and
//! in any order, and no string is copied a second time.
//!
//! Views refer to strings by the number of a buffer. The buffers of a request are numbered like
//! this: first those of plain strings, then the dictionaries of blocks, which are not copied string
//! by string.

use std::ops::Range;

use entasis_encodings::TextScratch;
use entasis_format::{Error, Result, fallible};
use entasis_platform::memory::prefault;
use entasis_platform::{Buffer, Buffers};

use super::alloc::{STRINGS, too_many, zeros};
use super::assembly::{Assembly, TaskResult};
use super::decoded_len::DecodedLen;
use super::dictionary_views::{DictionaryViews, is_dictionary};
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

/// A request for strings of consecutive rows.
pub(crate) struct StringRequest<'a> {
    /// Its number in the call.
    pub number: usize,
    pub source: &'a Source,
    /// The positions of the strings in the storage column.
    pub values: Range<u64>,
    /// The wanted layout, and the strings after all tasks.
    pub text: &'a mut Text,
    pub missing: MissingTo<'a>,
}

/// The tasks that fill the memory of a request.
pub(crate) struct StringPlan<'a> {
    pub tasks: Vec<StringTask<'a>>,
    /// The memory that is filled after all tasks.
    pub assembly: Assembly<'a>,
}

/// Some of the strings of a request, and the memory for them.
pub(crate) struct StringTask<'a> {
    /// The number of the request.
    request: usize,
    source: &'a Source,
    values: Range<u64>,
    memory: TaskMemory<'a>,
    /// Whether the task returns validity bits.
    wants_bits: bool,
}

/// The part of a request's memory that one task fills.
struct TaskMemory<'a> {
    /// The position of the first string in the request.
    at: usize,
    ends: Ends<'a>,
    /// A byte for each string that says whether it is missing, if wanted.
    mask: Option<&'a mut [u8]>,
    bytes: &'a mut [u8],
    /// The number of the buffer with `bytes`.
    buffer: usize,
    /// Bytes of that buffer before `bytes`.
    base: usize,
    /// The number of the first dictionary of this task.
    dictionary: usize,
}

/// The strings of one task, before it has memory.
struct TaskValues {
    values: Range<u64>,
    /// Bytes of strings that are copied into the request's memory.
    len: u64,
    /// The approximate work, in bytes.
    work: u64,
    n_dictionaries: usize,
}

/// Allocates the memory of a request and cuts it into tasks. `reader` decodes lengths where only a
/// part of a block is wanted.
pub(crate) fn plan<'a>(
    request: StringRequest<'a>,
    reader: &mut Reader<'_>,
    memory: &mut Buffers,
    decoded_len: &DecodedLen<'_>,
) -> Result<StringPlan<'a>> {
    let StringRequest { number, source, values, text, missing } = request;
    let has_views = text.layout == TextLayout::Views;
    let cuts = cut(reader, source, &values, has_views)?;
    for of_task in &cuts {
        decoded_len.add(of_task.len)?;
    }
    let lens = buffer_lens(&cuts, has_views)?;
    let n = (values.end - values.start) as usize;
    let (ends, buffers, dictionaries) = text.reserve(n, &lens, memory)?;
    let (mask, bits) = match missing {
        MissingTo::Mask(mask) => (Some(mask), None),
        MissingTo::Bits(bits) => (None, Some(bits)),
        _ => (None, None),
    };
    let wants_bits = bits.is_some();
    let mut free = FreeMemory::new(ends, mask, buffers)?;
    let mut tasks = fallible::with_capacity(cuts.len(), STRINGS)?;
    for of_task in cuts {
        let memory = free.take(&of_task)?;
        tasks.push(StringTask { request: number, source, values: of_task.values, memory, wants_bits });
    }
    let dictionaries = has_views.then_some(dictionaries);
    Ok(StringPlan { tasks, assembly: Assembly { validity: bits, dictionaries, ..Assembly::default() } })
}

/// Cuts consecutive strings into those of each task.
fn cut(
    reader: &mut Reader<'_>,
    source: &Source,
    values: &Range<u64>,
    has_views: bool,
) -> Result<Vec<TaskValues>> {
    let mut cuts: Vec<TaskValues> = Vec::new();
    let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
    for block in source.blocks[first..].iter().take_while(|block| block.first_value < values.end) {
        let wanted = values.start.max(block.first_value)..values.end.min(block.end_value());
        let is_whole = wanted == (block.first_value..block.end_value());
        // Views refer to the dictionary itself.
        let is_copied = !(has_views && is_dictionary(block));
        let len = match (is_copied, is_whole) {
            (false, _) => 0,
            (true, true) => block.decoded_len,
            (true, false) => measure(reader, source, wanted.clone())?,
        };
        let work = if is_copied { len } else { 16 * (wanted.end - wanted.start) };
        let n_dictionaries = usize::from(!is_copied);
        match cuts.last_mut() {
            Some(last)
                if last.values.end - last.values.start < TASK_VALUES
                    && last.work.saturating_add(work) <= TASK_LEN =>
            {
                last.values.end = wanted.end;
                last.len += len;
                last.work += work;
                last.n_dictionaries += n_dictionaries;
            }
            _ => {
                fallible::push(&mut cuts, TaskValues { values: wanted, len, work, n_dictionaries }, STRINGS)?
            }
        }
    }
    Ok(cuts)
}

/// The bytes that these strings have in total.
fn measure(reader: &mut Reader<'_>, source: &Source, values: Range<u64>) -> Result<u64> {
    let mut len = 0;
    reader.pages(source, values, &mut |opened, scratch| {
        len += opened.decoder.strings(opened.page, opened.range, scratch)?.total_len() as u64;
        Ok(())
    })?;
    Ok(len)
}

/// The lengths of the buffers for the strings of all tasks. One is enough for offsets. The strings
/// of a task are never in two.
fn buffer_lens(cuts: &[TaskValues], has_views: bool) -> Result<Vec<usize>> {
    let (mut lens, mut len) = (Vec::new(), 0u64);
    for of_task in cuts {
        let sum = len.checked_add(of_task.len).ok_or_else(too_many)?;
        if has_views && sum > BUFFER_LEN {
            fallible::push(&mut lens, len, STRINGS)?;
            len = of_task.len;
        } else {
            len = sum;
        }
    }
    fallible::push(&mut lens, len, STRINGS)?;
    let lens = lens.into_iter().map(|len| usize::try_from(len).map_err(|_| too_many()));
    fallible::try_collect(lens, STRINGS)
}

/// The memory of a request that no task has yet.
struct FreeMemory<'a> {
    /// The rest of the memory; its `bytes` are all that is left of the current buffer.
    rest: TaskMemory<'a>,
    /// The buffers after the current one.
    buffers: std::slice::IterMut<'a, Buffer>,
}

impl<'a> FreeMemory<'a> {
    fn new(ends: Ends<'a>, mask: Option<&'a mut [u8]>, buffers: &'a mut [Buffer]) -> Result<Self> {
        let dictionary = buffers.len();
        let mut buffers = buffers.iter_mut();
        let bytes = buffers.next().ok_or_else(too_many)?;
        let rest = TaskMemory { at: 0, ends, mask, bytes, buffer: 0, base: 0, dictionary };
        Ok(Self { rest, buffers })
    }

    /// Takes the memory for the strings of the next task.
    fn take(&mut self, of_task: &TaskValues) -> Result<TaskMemory<'a>> {
        let (n, len) = ((of_task.values.end - of_task.values.start) as usize, of_task.len as usize);
        let rest = &mut self.rest;
        if len > rest.bytes.len() {
            rest.bytes = self.buffers.next().ok_or_else(too_many)?;
            (rest.buffer, rest.base) = (rest.buffer + 1, 0);
        }
        let mask = match &mut rest.mask {
            Some(mask) => Some(mask.split_off_mut(..n).ok_or_else(too_many)?),
            None => None,
        };
        let bytes = rest.bytes.split_off_mut(..len).ok_or_else(too_many)?;
        let &mut TaskMemory { at, buffer, base, dictionary, .. } = rest;
        let taken = TaskMemory { at, ends: rest.ends.take(n), mask, bytes, buffer, base, dictionary };
        rest.at += n;
        rest.base += len;
        rest.dictionary += of_task.n_dictionaries;
        Ok(taken)
    }
}

impl StringTask<'_> {
    /// Decodes the strings into the memory of the task. Returns what is put in place after all
    /// tasks: validity bits and dictionaries.
    pub(crate) fn run(self, reader: &mut Reader<'_>, control: &Control<'_>) -> Result<TaskResult> {
        let Self { request, source, values, mut memory, wants_bits } = self;
        let (at, n) = (memory.at, (values.end - values.start) as usize);
        prefault(memory.bytes);
        if let Ends::Views(views) = &mut memory.ends {
            prefault(bytemuck::cast_slice_mut(views));
        }
        let mut validity = if wants_bits { zeros(n.div_ceil(8))? } else { Vec::new() };
        let missing = match memory.mask.take() {
            Some(mask) => MissingTo::Mask(mask),
            None if wants_bits => MissingTo::Bits(&mut validity),
            None => MissingTo::Ignore,
        };
        let dictionaries = DictionaryViews::new(memory.dictionary);
        let mut filler = Filler { memory, n_filled: 0, missing, dictionaries };
        reader.leaves_symbols = true;
        let visited = reader.pages(source, values, &mut |opened, scratch| {
            control.check()?;
            control.advance(opened.range.len() as u64);
            filler.put(opened, scratch)
        });
        reader.leaves_symbols = false;
        let filled = visited.and_then(|()| filler.end());
        let dictionaries =
            filled.map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })?;
        Ok(TaskResult { request, at, n, validity, dictionaries, ..TaskResult::default() })
    }
}

/// Fills the memory of a task, page by page.
struct Filler<'a> {
    memory: TaskMemory<'a>,
    /// How many of the memory's bytes are filled.
    n_filled: usize,
    missing: MissingTo<'a>,
    /// The dictionaries that views of this task refer to.
    dictionaries: DictionaryViews,
}

impl Filler<'_> {
    /// Puts the wanted strings of a page at their positions.
    fn put(&mut self, opened: OpenPage<'_>, scratch: &mut TextScratch) -> Result<()> {
        match &mut self.memory.ends {
            Ends::Views(views) if is_dictionary(opened.block) => {
                let here = &mut views[opened.at..opened.at + opened.range.len()];
                self.dictionaries.open(opened.decoder, opened.block)?;
                self.dictionaries.look_up(&opened, scratch, here)?;
            }
            _ => self.copy(&opened, scratch)?,
        }
        put_missing(opened.page.validity, opened.range, opened.at, &mut self.missing)
    }

    /// Copies the strings of a page to the memory's bytes, and stores their ends or views.
    fn copy(&mut self, opened: &OpenPage<'_>, scratch: &mut TextScratch) -> Result<()> {
        let TaskMemory { ends, bytes, buffer, base, .. } = &mut self.memory;
        let rest = &mut bytes[self.n_filled..];
        let (page, range) = (opened.page, opened.range.clone());
        let (lengths, written) = opened
            .decoder
            .write_strings(page, range, scratch, |len| rest.get_mut(..len).ok_or_else(other_len))?;
        let first = *base + self.n_filled;
        let here = opened.at..opened.at + opened.range.len();
        match ends {
            Ends::Small(ends) => layout::sum(lengths, first as u32, &mut ends[here]),
            Ends::Large(ends) => layout::sum(lengths, first as u64, &mut ends[here]),
            Ends::Views(views) => {
                layout::views(written, lengths, *buffer as u32, first as u32, &mut views[here]);
            }
            Ends::Codes(_) => return Err(Error::argument("codes have a task of their own")),
        }
        self.n_filled += written.len();
        Ok(())
    }

    /// Checks that all bytes are filled. Returns the dictionaries.
    fn end(self) -> Result<Vec<Buffer>> {
        if self.n_filled == self.memory.bytes.len() {
            Ok(self.dictionaries.into_buffers())
        } else {
            Err(other_len())
        }
    }
}

fn other_len() -> Error {
    Error::corrupt("the strings of a block do not have the length in its record")
}
