//! Reads rows by number: sorts them, opens each page with some of them once, and puts each value at
//! its position in the request.

mod close_rows;
mod few;
mod strings;

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{BlockRecord, Error, Result, fallible};
use entasis_kernels::{VECTOR, bits};
use entasis_platform::Buffers;

use super::alloc::{STRINGS, zeros};
use super::assembly::{Assembly, TaskResult};
use super::decoded_len::DecodedLen;
use super::fixed::{put, put_missing, split_missing, split_output, width_of};
use super::layout::Text;
use super::nan::clear_nan;
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Output, Source, StoredAt};
use crate::monitor::Control;
use close_rows::Scratch;
use few::take_few;
use strings::TakeStrings;

/// A vector with this many wanted rows is decoded completely.
const DENSE: usize = 24;

/// Rows per task, at least.
const TASK: usize = 1024;

/// The use of memory for row numbers, in messages.
const ROWS: &str = "the numbers of the rows";

/// Pages between two checks for cancellation.
const CHECK: u32 = 16;

/// A request for rows by number, or a part of one.
pub(crate) enum TakeTask<'a> {
    Fixed(TakeFixed<'a>),
    Strings(TakeStrings<'a>),
}

/// Values of fixed width, or rows that do not ascend.
pub(crate) struct TakeFixed<'a> {
    request: usize,
    source: &'a Source,
    /// Numbers of values in the stored column, ascending.
    rows: Arc<Vec<u64>>,
    /// The part of `rows` that belongs to this task.
    part: Range<usize>,
    /// The positions of the rows in the request; `None` if `rows` has the request's order.
    positions: Option<Vec<usize>>,
    output: Output<'a>,
    missing: MissingTo<'a>,
    /// Whether values and validity are returned as bits.
    bits: (bool, bool),
    /// Whether NaN counts as missing in the returned validity.
    with_nan: bool,
}

/// A wanted value of a page.
#[derive(Clone, Copy)]
struct Wanted {
    /// Its index in the range of the opened page.
    index: usize,
    /// Its position in the request.
    position: usize,
}

impl Wanted {
    /// The range of this one value in the page.
    fn in_page(self, opened: &OpenPage<'_>) -> Range<usize> {
        let index = opened.range.start + self.index;
        index..index + 1
    }
}

/// The strings taken so far.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    /// Start and length in `bytes`, by position in the request.
    spans: Vec<(usize, u32)>,
}

/// Cuts a request into tasks. Rows that do not ascend stay one task, because each may go anywhere
/// in the memory.
pub(crate) fn plan<'a>(
    request: usize,
    source: &'a Source,
    indices: Arc<Vec<u64>>,
    (output, missing): (Output<'a>, MissingTo<'a>),
    memory: &mut Buffers,
    mut add: impl FnMut(TakeTask<'a>) -> Result<()>,
) -> Result<Assembly<'a>> {
    let n = indices.len();
    let is_own = matches!(source.stored_at, StoredAt::At(0));
    let mut positions: Option<Vec<usize>> = None;
    if !indices.is_sorted_by(|a, b| a < b) {
        let positions = positions.insert(fallible::collect(0..n, ROWS)?);
        positions.sort_unstable_by_key(|&position| indices[position]);
    }
    let rows = match &positions {
        Some(positions) => {
            let values = positions.iter().map(|&position| source.value(indices[position]));
            fallible::collect(values, ROWS)?.into()
        }
        None if is_own => indices,
        None => fallible::collect(indices.iter().map(|&row| source.value(row)), ROWS)?.into(),
    };
    let output = match output {
        Output::Text(text) if positions.is_none() => {
            let add_strings = |task| add(TakeTask::Strings(task));
            return strings::plan(request, source, &rows, (text, memory), missing, add_strings);
        }
        output => output,
    };
    if positions.is_some() || n <= TASK {
        let part = 0..n;
        let (bits, with_nan) = ((false, false), false);
        let task = TakeFixed { request, source, rows, part, positions, output, missing, bits, with_nan };
        add(TakeTask::Fixed(task))?;
        return Ok(Assembly::default());
    }
    let width = width_of(source, &output);
    let mut assembly = Assembly::default();
    // Tasks may share a byte of bits, so bits are put in place after all tasks.
    let mut output = match output {
        Output::Bits(bits) => {
            assembly.values = Some(bits);
            Output::Bits(&mut [])
        }
        output => output,
    };
    let with_nan = matches!(missing, MissingTo::BitsWithNan(_));
    let mut missing = match missing {
        MissingTo::Bits(bits) | MissingTo::BitsWithNan(bits) => {
            assembly.validity = Some(bits);
            MissingTo::Ignore
        }
        missing => missing,
    };
    let bits = (assembly.values.is_some(), assembly.validity.is_some());
    let mut start = 0;
    while start < n {
        let end = n.min(start + TASK);
        // Extend the part to the end of its last block, because the next task would open the block
        // again.
        let part = start..end_of_block(&source.blocks, &rows, end - 1)?.1;
        start = part.end;
        let (head, tail) = split_output(output, part.len(), width);
        let (head_missing, tail_missing) = split_missing(missing, part.len());
        (output, missing) = (tail, tail_missing);
        let rows = Arc::clone(&rows);
        let (output, missing, positions) = (head, head_missing, None);
        let task = TakeFixed { request, source, rows, part, positions, output, missing, bits, with_nan };
        add(TakeTask::Fixed(task))?;
    }
    Ok(assembly)
}

/// The block of row `k`, and the first row after this block.
fn end_of_block<'b>(blocks: &'b [BlockRecord], rows: &[u64], k: usize) -> Result<(&'b BlockRecord, usize)> {
    let block = blocks.partition_point(|block| block.end_value() <= rows[k]);
    let block = blocks.get(block).ok_or_else(|| Error::argument("a row is out of range"))?;
    Ok((block, k + rows[k..].partition_point(|&row| row < block.end_value())))
}

impl TakeTask<'_> {
    /// Returns what is put in place after all tasks.
    pub(crate) fn run(
        self,
        reader: &mut Reader<'_>,
        control: &Control<'_>,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<Option<TaskResult>> {
        let (source, done) = match self {
            Self::Fixed(task) => (task.source, task.take(reader, control, decoded_len)),
            Self::Strings(task) => (task.source, task.take(reader, control, decoded_len).map(Some)),
        };
        done.map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })
    }
}

impl TakeFixed<'_> {
    fn take(
        self,
        reader: &mut Reader<'_>,
        control: &Control<'_>,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<Option<TaskResult>> {
        let Self { request, source, rows, part, positions, output, missing, bits, with_nan } = self;
        let (at, n) = (part.start, part.len());
        let rows = &rows[part];
        let bytes_of = |is_wanted| if is_wanted { zeros(n.div_ceil(8)) } else { Ok(Vec::new()) };
        let (mut values, mut validity) = (bytes_of(bits.0)?, bytes_of(bits.1)?);
        let mut output = if bits.0 { Output::Bits(&mut values) } else { output };
        let mut missing = match bits.1 {
            true if with_nan => MissingTo::BitsWithNan(&mut validity),
            true => MissingTo::Bits(&mut validity),
            false => missing,
        };
        let position = |k: usize| positions.as_ref().map_or(k, |positions| positions[k]);
        let mut strings = Strings::default();
        if let Output::Text(_) = output {
            strings.spans = fallible::defaults(rows.len(), STRINGS)?;
        }
        let mut uncompacted = Scratch::default();
        let mut decoded = Vec::new();
        let (mut n_pages, mut n_done) = (0u32, 0);
        reader.scattered(source, rows, &mut |opened, scratch| {
            // A page with few rows takes less time than a check or an update of the shared counter.
            if n_pages.is_multiple_of(CHECK) {
                control.advance(std::mem::take(&mut n_done));
                control.check()?;
            }
            n_pages += 1;
            let (first, mut k) = (rows[opened.at] - opened.range.start as u64, opened.at);
            let inside = |k: usize| (rows[k] - first) as usize;
            let page_end = k + rows[k..].partition_point(|&row| ((row - first) as usize) < opened.range.end);
            // Strings are always measured from the start of their vector.
            let is_sparse =
                !matches!(output, Output::Text(_)) && (page_end - k) * VECTOR < DENSE * opened.range.len();
            while k < page_end && !is_sparse && positions.is_none() && !matches!(output, Output::Text(_)) {
                let n = close_rows::n_close(&rows[k..page_end]);
                let here = OpenPage { range: inside(k)..inside(k + n - 1) + 1, ..opened };
                close_rows::take(
                    source,
                    here,
                    (&rows[k..k + n], k),
                    &mut output,
                    &mut missing,
                    &mut uncompacted,
                )?;
                k += n;
            }
            while k < page_end {
                let start = inside(k);
                let end = if is_sparse { opened.range.end } else { (start / VECTOR + 1) * VECTOR };
                let n = rows[k..page_end].partition_point(|&row| ((row - first) as usize) < end);
                let range = start..inside(k + n - 1) + 1;
                let wanted = (k..k + n).map(|k| Wanted { index: inside(k) - start, position: position(k) });
                let here = OpenPage { range, ..opened };
                match &mut output {
                    Output::Text(_) => {
                        write_missing(&here, wanted.clone(), &mut missing)?;
                        take_strings(here, scratch, wanted, &mut strings, decoded_len)?;
                    }
                    output if is_sparse => take_few(source, &here, wanted, output, &mut missing)?,
                    output => {
                        write_missing(&here, wanted.clone(), &mut missing)?;
                        take_fixed(source, here, wanted, output, &missing, &mut decoded)?;
                    }
                }
                k += n;
            }
            n_done += (k - opened.at) as u64;
            Ok(())
        })?;
        control.advance(n_done);
        clear_nan(source, &output, &mut missing)?;
        if let Output::Text(text) = output {
            strings.assemble(text)?;
        }
        let has_bits = bits.0 || bits.1;
        Ok(has_bits.then(|| TaskResult { request, at, n, validity, values, ..TaskResult::default() }))
    }
}

/// Reports missing wanted values as bits or mask. Sentinels are put with the values.
fn write_missing(
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = Wanted>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    if let MissingTo::Sentinel(_) | MissingTo::Ignore = missing {
        return Ok(());
    }
    for value in wanted {
        put_missing(opened.page.validity, value.in_page(opened), value.position, missing)?;
    }
    Ok(())
}

/// Decodes the whole range of the wanted values, then copies each to its position.
fn take_fixed(
    source: &Source,
    opened: OpenPage<'_>,
    wanted: impl Iterator<Item = Wanted>,
    output: &mut Output<'_>,
    missing: &MissingTo<'_>,
    values: &mut Vec<u128>,
) -> Result<()> {
    let width = width_of(source, output);
    let len = opened.range.len() * width;
    values.clear();
    fallible::resize(values, len.div_ceil(16), 0, "the values of a page")?;
    let bytes = &mut bytemuck::cast_slice_mut::<u128, u8>(values)[..len];
    let mut missing_output = if let MissingTo::Sentinel(sentinel) = missing {
        MissingTo::Sentinel(*sentinel)
    } else {
        MissingTo::Ignore
    };
    let mut range_output = match output {
        Output::Words(_) => Output::Words(&mut *bytes),
        Output::Wide { .. } => Output::Wide { memory: &mut *bytes, width },
        Output::Int32 { plus, .. } => Output::Int32 { memory: &mut *bytes, plus: *plus },
        _ => Output::Bools(&mut *bytes),
    };
    put(source, OpenPage { at: 0, ..opened }, &mut range_output, &mut missing_output)?;
    match output {
        Output::Words(out) | Output::Wide { memory: out, .. } | Output::Int32 { memory: out, .. } => {
            for Wanted { index, position } in wanted {
                out[position * width..(position + 1) * width]
                    .copy_from_slice(&bytes[index * width..(index + 1) * width]);
            }
        }
        Output::Bools(out) => wanted.for_each(|value| out[value.position] = bytes[value.index]),
        Output::Bits(out) => {
            for Wanted { index, position } in wanted {
                if !bits::set_bits(out, position, 1, bytes[index] != 0) {
                    return Err(Error::argument("the memory for bits is too short"));
                }
            }
        }
        Output::Text(_) => {}
    }
    Ok(())
}

fn take_strings(
    opened: OpenPage<'_>,
    scratch: &mut entasis_encodings::TextScratch,
    wanted: impl Iterator<Item = Wanted> + Clone,
    strings: &mut Strings,
    decoded_len: &DecodedLen<'_>,
) -> Result<()> {
    let slice = opened.decoder.strings(opened.page, opened.range, scratch)?;
    let lengths = slice.lengths();
    // Counted and reserved once for all rows, because threads share the counter.
    let len = wanted.clone().map(|value| lengths[value.index] as usize).fold(0, usize::saturating_add);
    decoded_len.add(len as u64)?;
    fallible::reserve(&mut strings.bytes, len, STRINGS)?;
    let (mut last, mut before) = (0, 0);
    for Wanted { index, position } in wanted {
        before += lengths[last..index].iter().map(|&length| length as usize).sum::<usize>();
        last = index;
        strings.spans[position] = (strings.bytes.len(), lengths[index]);
        strings.bytes.extend_from_slice(slice.get(index, before));
    }
    Ok(())
}

impl Strings {
    /// Puts the strings into the order of the request.
    fn assemble(self, text: &mut Text) -> Result<()> {
        text.assemble(&self.bytes, self.spans.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use entasis_format::{Encoding, Packing};

    use super::*;

    #[test]
    fn the_rows_of_a_block_are_left_to_one_task() {
        let block = |first_value, n_values| BlockRecord {
            first_value,
            n_values,
            encoding: Encoding::new(Packing::Raw),
            directory_at: 0,
            pages_at: 0,
            directory_len: 0,
            pages_len: 0,
            decoded_len: 0,
            directory_checksum: 0,
            first_child: 0,
        };
        let blocks = [block(0, 100), block(100, 5000)];
        let rows: Vec<u64> = (0..5100).collect();
        let end = |rows: &[u64], k| end_of_block(&blocks, rows, k).map(|(_, end)| end).ok();
        assert_eq!(end(&rows, 0), Some(100));
        assert_eq!(end(&rows, 99), Some(100));
        assert_eq!(end(&rows, 100), Some(5100));
        assert_eq!(end(&[7, 8, 9000], 1), Some(2));
        assert_eq!(end(&[7, 8, 9000], 2), None);
    }
}
