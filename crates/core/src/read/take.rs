//! Reads rows by number: sorts them, opens each page that holds some of them once, and puts each
//! value to its place in the request.

use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::Validity;
use entasis_format::{BlockRecord, Error, Result, fallible};
use entasis_kernels::{VECTOR, Word, bits};

use super::alloc::STRINGS;
use super::codes::check_codes;
use super::decoded_len::DecodedLen;
use super::fixed::{put, put_missing, split_missing, split_output, width_of};
use super::layout::Text;
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Output, Source, unaligned};
use crate::monitor::Control;

/// A vector with this many wanted rows is decoded as a whole.
const DENSE: usize = 24;

/// Rows per task, about; a multiple of 8, so that tasks fill whole bytes of bitmaps.
const TASK: usize = 1024;

/// The use of memory for row numbers, in messages.
const ROWS: &str = "the numbers of the rows";

/// Pages between two checks for cancellation.
const CHECK: u32 = 16;

/// A request for rows by number, or a part of one.
pub(crate) struct TakeTask<'a> {
    source: &'a Source,
    /// Numbers of values in the stored column, ascending.
    rows: Arc<Vec<u64>>,
    /// The part of `rows` that belongs to this task.
    part: Range<usize>,
    /// The places of the rows in the request, where they are not those of `rows`.
    places: Option<Vec<usize>>,
    output: Output<'a>,
    missing: MissingTo<'a>,
}

/// The strings taken so far.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    /// Start and length in `bytes`, by the place in the request.
    spans: Vec<(usize, u32)>,
}

/// Cuts a request into tasks. Strings, and rows that do not ascend, stay one task: they go to any
/// place of the memory.
pub(crate) fn plan<'a>(
    source: &'a Source,
    indices: Arc<Vec<u64>>,
    output: Output<'a>,
    missing: MissingTo<'a>,
    mut add: impl FnMut(TakeTask<'a>) -> Result<()>,
) -> Result<()> {
    let n = indices.len();
    let first = source.values.start;
    let mut places: Option<Vec<usize>> = None;
    if !indices.is_sorted() {
        let places = places.insert(fallible::collect(0..n, ROWS)?);
        places.sort_unstable_by_key(|&place| indices[place]);
    }
    let rows = match &places {
        Some(places) => fallible::collect(places.iter().map(|&place| first + indices[place]), ROWS)?.into(),
        None if first == 0 => indices,
        None => fallible::collect(indices.iter().map(|row| first + row), ROWS)?.into(),
    };
    if places.is_some() || n <= TASK || matches!(output, Output::Text(_)) {
        return add(TakeTask { source, rows, part: 0..n, places, output, missing });
    }
    let width = width_of(source, &output);
    let is_bits = matches!((&output, &missing), (Output::Bits(_), _) | (_, MissingTo::Bits(_)));
    let (mut output, mut missing) = (output, missing);
    let mut start = 0;
    while start < n {
        let mut part = start..n.min(start + TASK);
        if !is_bits {
            part.end += rest_of_block(&source.blocks, &rows, part.end);
        }
        start = part.end;
        let (head, tail) = split_output(output, part.len(), width);
        let (head_missing, tail_missing) = split_missing(missing, part.len());
        (output, missing) = (tail, tail_missing);
        let rows = Arc::clone(&rows);
        add(TakeTask { source, rows, part, places: None, output: head, missing: head_missing })?;
    }
    Ok(())
}

/// How many rows from `end` on lie in the block of row `end - 1`; 0 if they are too many for a
/// task. Without them, the next task would read that block's pages again.
fn rest_of_block(blocks: &[BlockRecord], rows: &[u64], end: usize) -> usize {
    let last = rows[end - 1];
    let block = blocks.partition_point(|block| block.end_value() <= last);
    let block_end = blocks.get(block).map_or(0, |block| block.end_value());
    let others = &rows[end..rows.len().min(end + TASK)];
    let n = others.partition_point(|&row| row < block_end);
    if n < TASK { n } else { 0 }
}

impl TakeTask<'_> {
    pub(crate) fn run(
        self,
        reader: &mut Reader<'_>,
        control: &Control<'_>,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<()> {
        let source = self.source;
        self.take(reader, control, decoded_len)
            .map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })
    }

    fn take(
        self,
        reader: &mut Reader<'_>,
        control: &Control<'_>,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<()> {
        let Self { source, rows, part, places, mut output, mut missing } = self;
        let rows = &rows[part];
        let place = |k: usize| places.as_ref().map_or(k, |places| places[k]);
        let mut strings = Strings::default();
        if let Output::Text(_) = output {
            strings.spans = fallible::defaults(rows.len(), STRINGS)?;
        }
        let mut values = Vec::new();
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
            let of_page = rows[k..].iter().take_while(|&&row| ((row - first) as usize) < opened.range.end);
            let page_end = k + of_page.count();
            // Strings are always measured from the start of their vector.
            let is_sparse =
                !matches!(output, Output::Text(_)) && (page_end - k) * VECTOR < DENSE * opened.range.len();
            while k < page_end {
                let start = inside(k);
                let end = if is_sparse { opened.range.end } else { (start / VECTOR + 1) * VECTOR };
                let n = rows[k..page_end].partition_point(|&row| ((row - first) as usize) < end);
                let range = start..inside(k + n - 1) + 1;
                let wanted = (k..k + n).map(|k| (inside(k) - start, place(k)));
                let here = OpenPage { range, ..opened };
                match &mut output {
                    Output::Text(_) => {
                        write_missing(&here, wanted.clone(), &mut missing)?;
                        take_strings(here, scratch, wanted, &mut strings, decoded_len)?;
                    }
                    output if is_sparse => take_few(source, &here, wanted, output, &mut missing)?,
                    output => {
                        write_missing(&here, wanted.clone(), &mut missing)?;
                        take_fixed(source, here, wanted, output, &missing, &mut values)?;
                    }
                }
                k += n;
            }
            n_done += (k - opened.at) as u64;
            Ok(())
        })?;
        control.advance(n_done);
        match output {
            Output::Text(text) => strings.assemble(text),
            _ => Ok(()),
        }
    }
}

/// Reports missing values among the wanted ones as bits or mask. Sentinels are put with the values.
fn write_missing(
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    if let MissingTo::Sentinel(_) | MissingTo::Ignore = missing {
        return Ok(());
    }
    for (at, place) in wanted {
        let at = opened.range.start + at;
        put_missing(opened.page.validity, at..at + 1, place, missing)?;
    }
    Ok(())
}

/// Decodes the wanted values one by one.
fn take_few(
    source: &Source,
    opened: &OpenPage<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
    output: &mut Output<'_>,
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    let first = opened.range.start;
    match (&mut *output, source.of.physical.width()) {
        (Output::Words(out), Some(1)) => few_words::<u8>(source, opened, wanted, out, missing),
        (Output::Words(out), Some(2)) => few_words::<u16>(source, opened, wanted, out, missing),
        (Output::Words(out), Some(4)) => few_words::<u32>(source, opened, wanted, out, missing),
        (Output::Words(out), Some(8)) => few_words::<u64>(source, opened, wanted, out, missing),
        _ => {
            for (at, place) in wanted {
                let range = first + at..first + at + 1;
                put(source, OpenPage { range, at: place, ..*opened }, output, missing)?;
            }
            Ok(())
        }
    }
}

fn few_words<T: Word>(
    source: &Source,
    opened: &OpenPage<'_>,
    mut wanted: impl Iterator<Item = (usize, usize)>,
    out: &mut [u8],
    missing: &mut MissingTo<'_>,
) -> Result<()> {
    const STEP: usize = 64;
    let out: &mut [T] = bytemuck::try_cast_slice_mut(out).map_err(unaligned)?;
    let (mut at, mut places, mut words) = ([0u16; STEP], [0usize; STEP], [T::from_u64(0); STEP]);
    let validity = opened.page.validity;
    let is_full = matches!(validity, Validity::AllValid);
    loop {
        let mut n = 0;
        for (inside, place) in wanted.by_ref().take(STEP) {
            (at[n], places[n]) = ((opened.range.start + inside) as u16, place);
            n += 1;
        }
        let (at, words) = (&at[..n], &mut words[..n]);
        opened.decoder.pick(opened.page, at, words)?;
        for ((&at, word), &place) in at.iter().zip(&mut *words).zip(&places) {
            let at = usize::from(at)..usize::from(at) + 1;
            if let Some(n) = source.n_categories {
                check_codes(validity, at.clone(), n, std::slice::from_mut(word))?;
            }
            match &*missing {
                MissingTo::Ignore => {}
                MissingTo::Sentinel(_) if is_full => {}
                MissingTo::Sentinel(sentinel) => {
                    validity.write_sentinel(at, T::from_u64(*sentinel), std::slice::from_mut(word))
                }
                _ => put_missing(validity, at, place, missing)?,
            }
            out[place] = *word;
        }
        if n < STEP {
            return Ok(());
        }
    }
}

/// Decodes the whole range that holds the wanted values, then copies each to its place.
fn take_fixed(
    source: &Source,
    opened: OpenPage<'_>,
    wanted: impl Iterator<Item = (usize, usize)>,
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
            for (at, place) in wanted {
                out[place * width..(place + 1) * width].copy_from_slice(&bytes[at * width..(at + 1) * width]);
            }
        }
        Output::Bools(out) => wanted.for_each(|(at, place)| out[place] = bytes[at]),
        Output::Bits(out) => {
            for (at, place) in wanted {
                if !bits::set_bits(out, place, 1, bytes[at] != 0) {
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
    wanted: impl Iterator<Item = (usize, usize)> + Clone,
    strings: &mut Strings,
    decoded_len: &DecodedLen<'_>,
) -> Result<()> {
    let slice = opened.decoder.strings(opened.page, opened.range, scratch)?;
    let lengths = slice.lengths();
    // Counted and reserved once for all: threads share the counter.
    let len = wanted.clone().map(|(at, _)| lengths[at] as usize).fold(0, usize::saturating_add);
    decoded_len.add(len as u64)?;
    fallible::reserve(&mut strings.bytes, len, STRINGS)?;
    let (mut i, mut before) = (0, 0);
    for (at, place) in wanted {
        before += lengths[i..at].iter().map(|&length| length as usize).sum::<usize>();
        i = at;
        strings.spans[place] = (strings.bytes.len(), lengths[at]);
        strings.bytes.extend_from_slice(slice.get(at, before));
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
        assert_eq!(rest_of_block(&blocks, &rows, 1), 99);
        assert_eq!(rest_of_block(&blocks, &rows, 100), 0);
        // Too many rows; the last rows; rows beyond all blocks.
        assert_eq!(rest_of_block(&blocks, &rows, 101), 0);
        assert_eq!(rest_of_block(&blocks, &rows, 5000), 100);
        assert_eq!(rest_of_block(&blocks, &[7, 8, 9000, 9001], 1), 1);
        assert_eq!(rest_of_block(&blocks, &[7, 8, 9000, 9001], 3), 0);
    }
}
