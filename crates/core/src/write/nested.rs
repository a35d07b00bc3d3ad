//! Nested columns, taken apart into columns that have blocks: where the values of each child stand in the memory of the host, and how many
//! of them each block of the parent has.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::Values;
use entasis_format::{ColumnType, Error, MAX_BLOCK_VALUES, Physical, Result, Value};

use crate::frame::{Array, Chunk, Column, Field, HostValidity, HostValues, Span};
use super::input::nested::{NO_TYPE, Runs, bad_length, no_type, numbers};
use super::input::{ValidBits, short};

/// Values of a block of words.
const BLOCK: u64 = MAX_BLOCK_VALUES as u64;
/// Values that are looked at together.
const STEP: usize = 1 << 16;

/// How many values of each child stand before each block, and in all.
#[derive(Debug, Default)]
pub(crate) struct ChildOffsets {
    n_types: usize,
    /// Block records hold the counts: of list, map and run-end. Unions and value columns have a child for them.
    is_in_records: bool,
    /// A row of `n_types` numbers for each block.
    before: Vec<u64>,
    total: Vec<u64>,
}

/// The children of a column among all of them.
#[derive(Debug, Default)]
pub(crate) struct ChildColumns {
    pub children: Range<usize>,
    pub child_offsets: Option<ChildOffsets>,
}

/// A child: a column with blocks of its own.
#[derive(Debug)]
pub(crate) struct Child<'a> {
    pub name: &'a str,
    /// The names from the table's column on, for errors.
    pub path: String,
    pub column_type: ColumnType,
    pub detail: Option<&'a Value>,
    pub dictionary: Option<usize>,
    pub array: Array,
    /// The number of the column that it is in.
    pub top: usize,
    /// The number of its parent among the children, if that is one.
    pub parent: Option<usize>,
    pub child_columns: ChildColumns,
}

/// All nested columns of what is written.
#[derive(Debug, Default)]
pub(crate) struct Nested<'a> {
    /// The families of nested columns: number, child_columns.
    pub tops: Vec<(usize, ChildColumns)>,
    pub children: Vec<Child<'a>>,
}

impl<'a> Nested<'a> {
    /// Of all columns, in the order of their numbers.
    pub(crate) fn of(columns: impl Iterator<Item = &'a Column>) -> Result<Self> {
        let mut nested = Self::default();
        for (top, column) in columns.enumerate() {
            if !column.column_type.physical.is_nested() {
                continue;
            }
            let mut found = Vec::new();
            let (arrays, child_offsets) = split_children(&column.column_type, &column.array, column.children.len())
                .map_err(|e| e.in_column(&column.name))?;
            let first = nested.children.len();
            add(&column.children, arrays, child_offsets.as_ref(), &column.name, (top, None), &mut found);
            nested.tops.push((top, ChildColumns { children: first..first + found.len(), child_offsets }));
            // Children stand together: all of one column, then theirs.
            let mut queue: VecDeque<(usize, &'a [Field])> = VecDeque::new();
            let enqueue = |queue: &mut VecDeque<(usize, &'a [Field])>, first: usize, of: &'a [Field]| {
                let of = of.iter().enumerate().filter(|(_, field)| field.column_type.physical.is_nested());
                queue.extend(of.map(|(i, field)| (first + i, &field.children[..])));
            };
            nested.children.append(&mut found);
            enqueue(&mut queue, first, &column.children);
            while let Some((parent, fields)) = queue.pop_front() {
                let child = &nested.children[parent];
                let top = child.top;
                let (arrays, child_offsets) = split_children(&child.column_type, &child.array, fields.len())
                    .map_err(|e| e.in_column(&child.path))?;
                let first = nested.children.len();
                add(fields, arrays, child_offsets.as_ref(), &child.path, (top, Some(parent)), &mut found);
                nested.children[parent].child_columns = ChildColumns { children: first..first + found.len(), child_offsets };
                nested.children.append(&mut found);
                enqueue(&mut queue, first, fields);
            }
        }
        Ok(nested)
    }
}

/// Makes the children of a column, the child_offsets last.
fn add<'a>(
    fields: &'a [Field],
    arrays: Vec<Array>,
    child_offsets: Option<&ChildOffsets>,
    path: &str,
    (top, parent): (usize, Option<usize>),
    found: &mut Vec<Child<'a>>,
) {
    let has_child_offsets = arrays.len() > fields.len();
    for (field, array) in fields.iter().zip(arrays) {
        found.push(Child {
            name: &field.name,
            path: format!("{path}.{}", field.name),
            column_type: field.column_type,
            detail: field.detail.as_ref(),
            dictionary: field.dictionary,
            array: if field.column_type.physical == Physical::RunEnd { split_shared_runs(array) } else { array },
            top,
            parent,
            child_columns: ChildColumns::default(),
        });
    }
    if let Some(child_offsets) = child_offsets.filter(|_| has_child_offsets) {
        let numbers: Arc<[u64]> = child_offsets.before.as_slice().into();
        let chunk = Chunk {
            n: numbers.len(),
            values: HostValues::Counted(numbers),
            validity: HostValidity::AllValid,
        };
        found.push(Child {
            name: "",
            path: path.to_owned(),
            column_type: ColumnType::plain(Physical::U64),
            detail: None,
            dictionary: None,
            array: Array::new(chunk),
            top,
            parent,
            child_columns: ChildColumns::default(),
        });
    }
}

/// A chunk for each span: a run that two of them share child_offsets in each.
fn split_shared_runs(array: Array) -> Array {
    let chunks = array.spans(0).map(|span| {
        let mut chunk = array.chunks[span.chunk].clone();
        if let HostValues::Runs { first, .. } = &mut chunk.values {
            *first = first.saturating_add(span.start as u64);
        }
        chunk.n = span.n;
        chunk
    });
    chunks.collect::<Vec<_>>().into()
}

/// Parts of the chunks of a child, in the making.
#[derive(Default)]
struct Spans(Vec<Span>);

impl Spans {
    fn n_values(&self) -> u64 {
        self.0.last().map_or(0, |span| span.first + span.n as u64)
    }

    fn push(&mut self, chunk: usize, start: usize, n: usize) {
        match self.0.last_mut() {
            Some(last) if last.chunk == chunk && last.start + last.n == start => last.n += n,
            _ if n == 0 => {}
            _ => self.0.push(Span { chunk, start, first: self.n_values(), n }),
        }
    }
}

impl ChildOffsets {
    fn new(n_types: usize, is_in_records: bool) -> Self {
        Self { n_types, is_in_records, before: Vec::new(), total: Vec::new() }
    }

    /// Notes the counts at a value that child_offsets a block.
    fn record(&mut self, row: u64, counts: impl Iterator<Item = u64>) {
        if row.is_multiple_of(BLOCK) {
            self.before.extend(counts);
        }
    }

    /// What a block record says about where the block's values begin in the one child: 0 where a child says it.
    pub(crate) fn first_child(&self, block: u64) -> u64 {
        // The number of types doesn't decide: a dense union may have one type, and its records hold 0 all the same.
        self.before.get(block as usize).copied().filter(|_| self.is_in_records).unwrap_or(0)
    }

    /// Checks that the words of a block, as they were loaded, count as many values as were found before: the host's memory may have changed.
    pub(crate) fn check(
        &self,
        block: u64,
        values: &Values<'_>,
        is_valid: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let changed = || Error::argument("the memory of a column changed while it was written");
        let at = block as usize * self.n_types;
        let mut counts = self.before.get(at..at + self.n_types).ok_or_else(changed)?.to_vec();
        match values {
            Values::W32(lengths) => {
                let valid = lengths.iter().enumerate().filter(|(i, _)| is_valid(*i));
                counts[0] += valid.map(|(_, &length)| u64::from(length)).sum::<u64>();
            }
            Values::Bool(begins) => counts[0] += begins.iter().map(|&begins| u64::from(begins)).sum::<u64>(),
            Values::W8(codes) => {
                for (_, &code) in codes.iter().enumerate().filter(|(i, _)| is_valid(*i)) {
                    *counts.get_mut(usize::from(code)).ok_or_else(changed)? += 1;
                }
            }
            _ => return Err(changed()),
        }
        let next = self.before.get(at + self.n_types..at + 2 * self.n_types).unwrap_or(&self.total);
        if counts == next { Ok(()) } else { Err(changed()) }
    }
}

fn other_form() -> Error {
    Error::argument("a column is in memory in another form than its type says")
}

/// The arrays of the children, of a union or value column the child_offsets' as the last, and where blocks begin in them.
fn split_children(of: &ColumnType, array: &Array, n_children: usize) -> Result<(Vec<Array>, Option<ChildOffsets>)> {
    let mut spans: Vec<Spans> = Vec::new();
    spans.resize_with(n_children, Spans::default);
    let mut child_offsets = match of.physical {
        Physical::List | Physical::Map | Physical::RunEnd => Some(ChildOffsets::new(1, true)),
        _ if of.has_child_offsets() => Some(ChildOffsets::new(n_children, false)),
        _ => None,
    };
    let mut valid = Vec::new();
    for span in array.spans(0).filter(|span| span.n > 0) {
        let chunk = &array.chunks[span.chunk];
        match (&mut child_offsets, of.physical) {
            (Some(child_offsets), Physical::List | Physical::Map) => {
                lists(chunk, span, &mut spans[0], child_offsets, &mut valid)?;
            }
            (Some(child_offsets), Physical::RunEnd) => runs(chunk, span, &mut spans[0], child_offsets)?,
            (Some(child_offsets), _) => union(chunk, span, &mut spans, child_offsets, &mut valid)?,
            (None, _) => {
                let factor = if of.physical == Physical::FixedSizeList { of.value_len as usize } else { 1 };
                for (k, spans) in spans.iter_mut().enumerate() {
                    let from = span.start.checked_mul(factor).ok_or_else(short)?;
                    let n = span.n.checked_mul(factor).ok_or_else(short)?;
                    check_inside(child(chunk, k)?, from, n)?;
                    spans.push(span.chunk, from, n);
                }
            }
        }
    }
    let mut arrays = Vec::with_capacity(n_children + 1);
    for (k, spans) in spans.into_iter().enumerate() {
        let of_chunk = |chunk: &Chunk| match child(chunk, k) {
            // What is empty may be in memory in any form.
            Err(_) if chunk.n == 0 => Ok(chunk.clone()),
            child => child.cloned(),
        };
        let chunks = array.chunks.iter().map(of_chunk).collect::<Result<Vec<_>>>()?;
        if let Some(child_offsets) = &mut child_offsets {
            child_offsets.total.push(spans.n_values());
        }
        arrays.push(Array { chunks, spans: Some(spans.0) });
    }
    if of.has_child_offsets() {
        // Made of the child_offsets themselves.
        arrays.push(Array::default());
    }
    Ok((arrays, child_offsets))
}

/// Child `k` of a chunk.
fn child(chunk: &Chunk, k: usize) -> Result<&Chunk> {
    match &chunk.values {
        HostValues::Lists { child, .. }
        | HostValues::ListViews { child, .. }
        | HostValues::Runs { child, .. }
            if k == 0 =>
        {
            Ok(child)
        }
        HostValues::Children(children) | HostValues::Union { children, .. } => {
            children.get(k).ok_or_else(other_form)
        }
        _ => Err(other_form()),
    }
}

fn check_inside(child: &Chunk, start: usize, n: usize) -> Result<()> {
    if start.checked_add(n).is_some_and(|end| end <= child.n) {
        Ok(())
    } else {
        Err(Error::argument("values of a nested column are not in its child"))
    }
}

fn lists(
    chunk: &Chunk,
    span: Span,
    spans: &mut Spans,
    child_offsets: &mut ChildOffsets,
    spare: &mut Vec<u8>,
) -> Result<()> {
    let all = span.start..span.start + span.n;
    let of_child = child(chunk, 0)?;
    if let (HostValues::Lists { offsets, is_large, .. }, HostValidity::AllValid) =
        (&chunk.values, &chunk.validity)
    {
        // One list after the other: only where blocks begin matters. Each length is looked at when its block is encoded.
        let offset = |i: usize| {
            let offset = numbers(offsets, *is_large, i..i + 1)?[0];
            usize::try_from(offset).map_err(|_| bad_length(offset))
        };
        let (first, end, before) = (offset(all.start)?, offset(all.end)?, spans.n_values());
        let size = |end: usize| end.checked_sub(first).ok_or_else(|| bad_length(-1));
        check_inside(of_child, first, size(end)?)?;
        let mut row = span.first.next_multiple_of(BLOCK);
        while row < span.first + span.n as u64 {
            let size = size(offset(span.start + (row - span.first) as usize)?)?;
            child_offsets.record(row, std::iter::once(before + size as u64));
            row += BLOCK;
        }
        spans.push(span.chunk, first, size(end)?);
        return Ok(());
    }
    for start in all.clone().step_by(STEP) {
        let part = start..all.end.min(start + STEP);
        let valid = ValidBits::copy(chunk, part.clone(), spare)?;
        let (starts, sizes) = match &chunk.values {
            HostValues::Lists { offsets, is_large, .. } => {
                let offsets = numbers(offsets, *is_large, part.start..part.end + 1)?;
                let sizes = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
                (offsets, sizes)
            }
            HostValues::ListViews { offsets, sizes, is_large, .. } => {
                (numbers(offsets, *is_large, part.clone())?, numbers(sizes, *is_large, part.clone())?)
            }
            _ => return Err(other_form()),
        };
        for (i, (&start, &size)) in starts.iter().zip(&sizes).enumerate() {
            let row = span.first + (part.start - span.start + i) as u64;
            child_offsets.record(row, std::iter::once(spans.n_values()));
            if !valid.is_valid(i) || size == 0 {
                continue;
            }
            let n = u32::try_from(size).map_err(|_| bad_length(size))? as usize;
            let start = usize::try_from(start).map_err(|_| bad_length(-1))?;
            check_inside(of_child, start, n)?;
            spans.push(span.chunk, start, n);
        }
    }
    Ok(())
}

fn runs(chunk: &Chunk, span: Span, spans: &mut Spans, child_offsets: &mut ChildOffsets) -> Result<()> {
    let mut boundary = span.first.next_multiple_of(BLOCK);
    for run in Runs::of(chunk, span.start..span.start + span.n)? {
        let (begin, run) = run?;
        let row = span.first + begin.saturating_sub(span.start) as u64;
        while boundary <= row {
            child_offsets.record(boundary, std::iter::once(spans.n_values()));
            boundary += BLOCK;
        }
        spans.push(span.chunk, run, 1);
    }
    while boundary < span.first + span.n as u64 {
        child_offsets.record(boundary, std::iter::once(spans.n_values()));
        boundary += BLOCK;
    }
    Ok(())
}

fn union(
    chunk: &Chunk,
    span: Span,
    spans: &mut [Spans],
    child_offsets: &mut ChildOffsets,
    spare: &mut Vec<u8>,
) -> Result<()> {
    let HostValues::Union { codes, types, offsets, children } = &chunk.values else {
        return Err(other_form());
    };
    if children.len() < spans.len() {
        return Err(other_form());
    }
    // Without offsets the place of a value is counted, from the start of the chunk on.
    let mut counts = vec![0usize; spans.len()];
    let first = if offsets.is_none() { 0 } else { span.start };
    for start in (first..span.start + span.n).step_by(STEP) {
        let part = start..(span.start + span.n).min(start + STEP);
        let valid = ValidBits::copy(chunk, part.clone(), spare)?;
        let mut copy = vec![0u8; part.len()];
        if !codes.copy_to(part.start, &mut copy) {
            return Err(short());
        }
        let places = offsets.as_ref().map(|offsets| numbers(offsets, false, part.clone())).transpose()?;
        for (i, &code) in copy.iter().enumerate() {
            let at = part.start + i;
            if at >= span.start {
                let row = span.first + (at - span.start) as u64;
                child_offsets.record(row, spans.iter().map(Spans::n_values));
            }
            if !valid.is_valid(i) {
                continue;
            }
            let k = usize::from(types[usize::from(code)]);
            if k == usize::from(NO_TYPE) || k >= spans.len() {
                return Err(no_type());
            }
            let place = match &places {
                Some(places) => usize::try_from(places[i]).map_err(|_| short())?,
                None => counts[k],
            };
            counts[k] += 1;
            if at >= span.start {
                check_inside(&children[k], place, 1)?;
                spans[k].push(span.chunk, place, 1);
            }
        }
    }
    Ok(())
}
