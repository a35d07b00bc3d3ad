//! Reads strings as codes, which number the distinct strings of a request.
//!
//! A block with a dictionary stores codes of its own. Each entry of the dictionary is looked up
//! once, not once for each row. Tasks number the strings that they meet, and their codes are joined
//! after all tasks ([`assembly`](super::assembly)).

use std::ops::Range;

use entasis_encodings::{BlockDecoder, TextScratch};
use entasis_format::{BlockRecord, Result, fallible};
use entasis_kernels::gather;

use super::alloc::{STRINGS, zeros};
use super::assembly::{Assembly, TaskResult};
use super::decoded_len::DecodedLen;
use super::dictionary_views::{bad_code, is_dictionary};
use super::fixed::{put_missing, split_missing};
use super::layout::Text;
use super::pages::{OpenPage, Reader};
use super::request::{MissingTo, Source};
use crate::distinct_strings::DistinctStrings;
use crate::file::File;
use crate::monitor::Control;

/// A task gets further blocks while it has fewer strings.
const TASK_VALUES: u64 = 1 << 17;

/// The code of an entry that was not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// Blocks with at most this many bytes for a value have few entries for their values.
const SHORT: u64 = 2;

impl File {
    /// Whether the strings of a column repeat: at least half of its rows are in blocks with a short
    /// dictionary. Such strings are read faster as [codes](super::TextLayout::Codes). False for
    /// other types and for columns that are stored together with others.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn has_repeats(&self, column: u64) -> Result<bool> {
        self.repeats(column).map_err(|e| e.in_file(self.path()))
    }

    fn repeats(&self, column: u64) -> Result<bool> {
        if !self.column(column)?.record.column_type.physical.is_var() {
            return Ok(false);
        }
        let source = self.source(column)?;
        if source.is_bundled {
            return Ok(false);
        }
        let is_short = |block: &&BlockRecord| {
            is_dictionary(block) && u64::from(block.pages_len) <= SHORT * u64::from(block.n_values)
        };
        let n = source.blocks.iter().filter(is_short).map(|block| u64::from(block.n_values)).sum::<u64>();
        Ok(n > 0 && n >= source.n_values / 2)
    }
}

/// Consecutive strings of a request.
pub(crate) struct CodesTask<'a> {
    request: usize,
    source: &'a Source,
    values: Range<u64>,
    /// The position of the first string in the request.
    at: usize,
    missing: MissingTo<'a>,
    wants_bits: bool,
}

/// Cuts consecutive strings into tasks of whole blocks.
pub(crate) fn plan<'a>(
    request: usize,
    source: &'a Source,
    values: Range<u64>,
    text: &'a mut Text,
    missing: MissingTo<'a>,
    mut add: impl FnMut(CodesTask<'a>) -> Result<()>,
) -> Result<Assembly<'a>> {
    let mut assembly = Assembly { text: Some(text), ..Assembly::default() };
    let (mut missing, wants_bits) = match missing {
        MissingTo::Bits(bits) => {
            assembly.validity = Some(bits);
            (MissingTo::Ignore, true)
        }
        missing => (missing, false),
    };
    let first = source.blocks.partition_point(|block| block.end_value() <= values.start);
    let mut ends = source.blocks[first..].iter().map(BlockRecord::end_value);
    let mut start = values.start;
    while start < values.end {
        let far = ends.find(|end| end.saturating_sub(start) >= TASK_VALUES);
        let end = far.unwrap_or(values.end).min(values.end);
        let (head, tail) = split_missing(missing, (end - start) as usize);
        missing = tail;
        let at = (start - values.start) as usize;
        add(CodesTask { request, source, values: start..end, at, missing: head, wants_bits })?;
        start = end;
    }
    Ok(assembly)
}

impl CodesTask<'_> {
    /// Decodes the codes, and numbers their strings.
    pub(crate) fn run(
        self,
        reader: &mut Reader<'_>,
        control: &Control<'_>,
        decoded_len: &DecodedLen<'_>,
    ) -> Result<TaskResult> {
        let Self { request, source, values, at, missing, wants_bits } = self;
        let n = (values.end - values.start) as usize;
        let mut validity = if wants_bits { zeros(n.div_ceil(8))? } else { Vec::new() };
        let mut missing = if wants_bits { MissingTo::Bits(&mut validity) } else { missing };
        let mut codes = zeros(n)?;
        let mut strings = StringCodes::default();
        let visited = reader.pages(source, values, &mut |opened, scratch| {
            control.check()?;
            control.advance(opened.range.len() as u64);
            strings.put(&opened, scratch, &mut codes[opened.at..opened.at + opened.range.len()])?;
            put_missing(opened.page.validity, opened.range, opened.at, &mut missing)
        });
        visited
            .and_then(|()| decoded_len.add(strings.distinct.bytes().len() as u64))
            .map_err(|e| if source.name.is_empty() { e } else { e.in_column(&source.name) })?;
        let distinct = strings.distinct;
        Ok(TaskResult { request, at, n, validity, lengths: codes, distinct, ..TaskResult::default() })
    }
}

/// The distinct strings of a task.
#[derive(Default)]
pub(super) struct StringCodes {
    pub distinct: DistinctStrings,
    /// The first value of the block that was opened last.
    block: Option<u64>,
    /// The codes of the entries of that block.
    entries: Vec<u32>,
    /// How many of these are unknown.
    n_unknown: usize,
}

impl StringCodes {
    /// The codes of all rows in the range of `opened`.
    fn put(&mut self, opened: &OpenPage<'_>, scratch: &mut TextScratch, out: &mut [u32]) -> Result<()> {
        if !is_dictionary(opened.block) {
            let strings = opened.decoder.strings(opened.page, opened.range.clone(), scratch)?;
            let mut before = 0;
            for (i, (out, &length)) in out.iter_mut().zip(strings.lengths()).enumerate() {
                *out = self.distinct.code(strings.get(i, before))?;
                before += length as usize;
            }
            return Ok(());
        }
        self.open(opened)?;
        let codes = opened.decoder.codes(opened.page, opened.range.clone(), scratch)?;
        // Nearly all entries are in a page with more values than entries.
        if self.n_unknown > 0 && codes.len() >= self.entries.len() {
            for code in 0..self.entries.len() {
                self.entry(opened.decoder, code)?;
            }
        }
        if self.n_unknown == 0 {
            return if gather::gather(&self.entries, codes, out) { Ok(()) } else { Err(bad_code()) };
        }
        for (out, &code) in out.iter_mut().zip(codes) {
            *out = self.entry(opened.decoder, code as usize)?;
        }
        Ok(())
    }

    /// Adds the codes of ascending rows to `out`. The range of `opened` goes from the first to the
    /// last row.
    pub(super) fn take(
        &mut self,
        opened: &OpenPage<'_>,
        rows: &[u64],
        scratch: &mut TextScratch,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        fallible::reserve(out, rows.len(), STRINGS)?;
        let first = rows.first().map_or(0, |row| *row);
        let at = |row: u64| (row - first) as usize;
        if !is_dictionary(opened.block) {
            let strings = opened.decoder.strings(opened.page, opened.range.clone(), scratch)?;
            let lengths = strings.lengths();
            let (mut i, mut before) = (0, 0);
            for &row in rows {
                before += lengths[i..at(row)].iter().map(|&length| length as usize).sum::<usize>();
                i = at(row);
                out.push(self.distinct.code(strings.get(i, before))?);
            }
            return Ok(());
        }
        self.open(opened)?;
        let codes = opened.decoder.codes(opened.page, opened.range.clone(), scratch)?;
        for &row in rows {
            out.push(self.entry(opened.decoder, codes[at(row)] as usize)?);
        }
        Ok(())
    }

    /// Forgets the entries of the last block, unless it is this one.
    fn open(&mut self, opened: &OpenPage<'_>) -> Result<()> {
        if self.block == Some(opened.block.first_value) {
            return Ok(());
        }
        self.block = Some(opened.block.first_value);
        self.n_unknown = opened.decoder.n_entries();
        self.entries.clear();
        fallible::resize(&mut self.entries, self.n_unknown, UNKNOWN, STRINGS)
    }

    /// The code of an entry of the block that was opened last.
    #[inline]
    fn entry(&mut self, decoder: &BlockDecoder<'_>, code: usize) -> Result<u32> {
        let known = self.entries.get_mut(code).ok_or_else(bad_code)?;
        if *known == UNKNOWN {
            *known = self.distinct.code(decoder.entry(code).ok_or_else(bad_code)?)?;
            self.n_unknown -= 1;
        }
        Ok(*known)
    }
}
