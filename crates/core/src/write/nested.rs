//! Splits nested columns into columns that have blocks. Finds each child's values in the memory of
//! the host, and where each block of the parent begins in its children.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::Values;
use entasis_format::{ColumnType, Error, MAX_BLOCK_VALUES, Physical, Result, Value};

use super::input::nested::{NO_TYPE, Runs, bad_length, no_type, numbers};
use super::input::{ValidBits, too_short};
use super::type_counts::{STEP, TypeCounts};
use crate::frame::kept::{Keep, Kept, KeptChild};
use crate::frame::{Array, Chunk, Column, Field, HostValidity, HostValues, Span};

/// Structure values in a block.
const BLOCK: u64 = MAX_BLOCK_VALUES as u64;
/// The number of values of each child before each block, and in total.
#[derive(Debug, Default)]
pub(crate) struct ChildOffsets {
    n_types: usize,
    /// Lists, maps and run-end columns store the numbers in block records. Unions and value columns
    /// store them in a child.
    is_in_records: bool,
    /// The number of values of each child before the current chunk that are not in spans.
    base: Vec<u64>,
    /// `n_types` numbers for each block.
    before: Vec<u64>,
    total: Vec<u64>,
}

/// The children of a column: their range among all children, and where the column's blocks begin in
/// them.
#[derive(Debug, Default)]
pub(crate) struct ChildColumns {
    pub children: Range<usize>,
    pub child_offsets: Option<ChildOffsets>,
}

/// A child: a column with blocks of its own.
#[derive(Debug)]
pub(crate) struct Child<'a> {
    pub name: &'a str,
    /// The names from the top-level column on, for errors.
    pub path: String,
    pub column_type: ColumnType,
    pub detail: Option<&'a Value>,
    pub host_detail: Option<&'a Value>,
    pub dictionary: Option<usize>,
    pub array: Array,
    /// The number of the top-level column.
    pub top: usize,
    /// The index of the parent among the children; `None` if the parent is the top-level column.
    pub parent: Option<usize>,
    pub child_columns: ChildColumns,
}

/// All nested columns of a file.
#[derive(Debug, Default)]
pub(crate) struct Nested<'a> {
    /// Each nested top-level column by number, with its children.
    pub tops: Vec<(usize, ChildColumns)>,
    pub children: Vec<Child<'a>>,
}

impl<'a> Nested<'a> {
    /// Splits the nested columns among all columns, which are in the order of their numbers.
    pub(crate) fn of(columns: impl Iterator<Item = &'a Column>) -> Result<Self> {
        let mut nested = Self::default();
        for (top, column) in columns.enumerate() {
            if !column.column_type.physical.is_nested() {
                continue;
            }
            let mut found = Vec::new();
            let (arrays, child_offsets) =
                split_children(&column.column_type, &column.array, column.children.len())
                    .map_err(|e| e.in_column(&column.name))?;
            let first = nested.children.len();
            let keep = column.array.keep();
            add(
                &column.children,
                arrays,
                (child_offsets.as_ref(), keep),
                &column.name,
                (top, None),
                &mut found,
            );
            nested.tops.push((top, ChildColumns { children: first..first + found.len(), child_offsets }));
            // Children of one column are consecutive: first all its children, then their children.
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
                let known = (child_offsets.as_ref(), child.array.keep());
                add(fields, arrays, known, &child.path, (top, Some(parent)), &mut found);
                nested.children[parent].child_columns =
                    ChildColumns { children: first..first + found.len(), child_offsets };
                nested.children.append(&mut found);
                enqueue(&mut queue, first, fields);
            }
        }
        Ok(nested)
    }
}

/// Adds the children of a column. Its child offsets come last.
fn add<'a>(
    fields: &'a [Field],
    arrays: Vec<Array>,
    (child_offsets, keep): (Option<&ChildOffsets>, Option<&Keep>),
    path: &str,
    (top, parent): (usize, Option<usize>),
    found: &mut Vec<Child<'a>>,
) {
    let has_child_offsets = arrays.len() > fields.len();
    for (i, (field, array)) in fields.iter().zip(arrays).enumerate() {
        let array =
            if field.column_type.physical == Physical::RunEnd { split_shared_runs(array) } else { array };
        found.push(Child {
            name: &field.name,
            path: format!("{path}.{}", field.name),
            column_type: field.column_type,
            detail: field.detail.as_ref(),
            host_detail: field.host_detail.as_ref(),
            dictionary: field.dictionary,
            array: with_kept(array, keep.and_then(|keep| keep.children.get(i))),
            top,
            parent,
            child_columns: ChildColumns::default(),
        });
    }
    if let Some(child_offsets) = child_offsets.filter(|_| has_child_offsets) {
        let kept = keep.map_or(&[][..], |keep| &keep.child_offsets);
        let numbers: Arc<[u64]> = kept.iter().chain(&child_offsets.before).copied().collect();
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
            host_detail: None,
            dictionary: None,
            array: Array::new(chunk),
            top,
            parent,
            child_columns: ChildColumns::default(),
        });
    }
}

/// Puts the kept values of a child before its new values.
fn with_kept(mut array: Array, kept: Option<&KeptChild>) -> Array {
    let Some(KeptChild { keep, replaced }) = kept else { return array };
    if let Some(chunk) = replaced {
        let n = chunk.n as u64;
        array.chunks.insert(0, chunk.clone());
        if let Some(spans) = &mut array.spans {
            spans.iter_mut().for_each(|span| (span.chunk, span.first) = (span.chunk + 1, span.first + n));
            spans.insert(0, Span { chunk: 0, start: 0, first: 0, n: chunk.n });
        }
    }
    array.kept = Some(Kept::Found(Box::new(keep.clone())));
    array
}

/// Makes one chunk per span. If two spans share a run, the run begins in both chunks.
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

/// The parts of a child's chunks, so far.
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
    fn new(n_types: usize, is_in_records: bool, keep: Option<&Keep>) -> Self {
        let mut base = keep.map_or_else(Vec::new, |keep| keep.child_counts.clone());
        base.resize(n_types, 0);
        Self { n_types, is_in_records, base, before: Vec::new(), total: Vec::new() }
    }

    /// Records the counts if `row` begins a block. `counts` are only those of values in spans.
    fn record(&mut self, row: u64, counts: impl Iterator<Item = u64>) {
        if row.is_multiple_of(BLOCK) {
            self.before.extend(counts.zip(&self.base).map(|(count, base)| count + base));
        }
    }

    /// Counts the structure values of replaced blocks. Their children are not in spans.
    fn count_replaced(&mut self, of: &ColumnType, chunk: &Chunk, first: u64) -> Result<()> {
        let HostValues::Owned(values) = &chunk.values else { return Err(other_form()) };
        let mut spare = Vec::new();
        let valid = ValidBits::copy(chunk, 0..chunk.n, &mut spare)?;
        let words = values.words(0..chunk.n).ok_or_else(too_short)?;
        let zeros = vec![0; self.n_types];
        for i in 0..chunk.n {
            self.record(first + i as u64, zeros.iter().copied());
            if !valid.is_valid(i) {
                continue;
            }
            match of.physical {
                Physical::List | Physical::Map => {
                    let length = words[4 * i..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
                    self.base[0] += u64::from(length);
                }
                Physical::RunEnd => self.base[0] += u64::from(words[i]),
                _ => *self.base.get_mut(usize::from(words[i])).ok_or_else(no_type)? += 1,
            }
        }
        Ok(())
    }

    /// The child offset that the record of a block stores; 0 if a child stores it.
    pub(crate) fn first_child(&self, block: u64) -> u64 {
        // The number of types does not matter here: a dense union of one type has 0 in its records.
        self.before.get(block as usize).copied().filter(|_| self.is_in_records).unwrap_or(0)
    }

    /// Checks the copied structure values of a block against the child offsets computed earlier.
    /// The host may have changed its memory in between.
    pub(crate) fn check(
        &self,
        block: u64,
        values: &Values<'_>,
        is_valid: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let changed = || Error::argument("the memory of a column changed during the write");
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
    Error::argument("the memory of a column does not have the form of its type")
}

/// The arrays of the children, and where blocks begin in them. A union or value column gets an
/// additional array for its child offsets.
fn split_children(
    of: &ColumnType,
    array: &Array,
    n_children: usize,
) -> Result<(Vec<Array>, Option<ChildOffsets>)> {
    let mut spans: Vec<Spans> = Vec::new();
    spans.resize_with(n_children, Spans::default);
    let mut child_offsets = match of.physical {
        Physical::List | Physical::Map | Physical::RunEnd => Some(ChildOffsets::new(1, true, array.keep())),
        _ if of.has_child_offsets() => Some(ChildOffsets::new(n_children, false, array.keep())),
        _ => None,
    };
    let mut valid = Vec::new();
    let mut counts = TypeCounts::default();
    for span in array.spans(0).filter(|span| span.n > 0) {
        let chunk = &array.chunks[span.chunk];
        if matches!(chunk.values, HostValues::Owned(_)) {
            if let Some(child_offsets) = &mut child_offsets {
                child_offsets.count_replaced(of, chunk, span.first)?;
            }
            continue;
        }
        match (&mut child_offsets, of.physical) {
            (Some(child_offsets), Physical::List | Physical::Map) => {
                lists(chunk, span, &mut spans[0], child_offsets, &mut valid)?;
            }
            (Some(child_offsets), Physical::RunEnd) => runs(chunk, span, &mut spans[0], child_offsets)?,
            (Some(child_offsets), _) => {
                union(chunk, span, &mut spans, child_offsets, &mut valid, &mut counts)?
            }
            (None, _) => {
                let factor = if of.physical == Physical::FixedSizeList { of.value_len as usize } else { 1 };
                for (k, spans) in spans.iter_mut().enumerate() {
                    let from = span.start.checked_mul(factor).ok_or_else(too_short)?;
                    let n = span.n.checked_mul(factor).ok_or_else(too_short)?;
                    check_inside(child(chunk, k)?, from, n)?;
                    spans.push(span.chunk, from, n);
                }
            }
        }
    }
    let mut arrays = Vec::with_capacity(n_children + 1);
    for (k, spans) in spans.into_iter().enumerate() {
        let of_chunk = |chunk: &Chunk| match child(chunk, k) {
            // An empty chunk may have any form.
            Err(_) if chunk.n == 0 => Ok(chunk.clone()),
            Err(_) if matches!(chunk.values, HostValues::Owned(_)) => {
                Ok(Chunk { n: 0, values: HostValues::Null, validity: HostValidity::AllValid })
            }
            child => child.cloned(),
        };
        let chunks = array.chunks.iter().map(of_chunk).collect::<Result<Vec<_>>>()?;
        if let Some(child_offsets) = &mut child_offsets {
            child_offsets.total.push(child_offsets.base.get(k).copied().unwrap_or(0) + spans.n_values());
        }
        arrays.push(Array { chunks, spans: Some(spans.0), kept: None });
    }
    if of.has_child_offsets() {
        // `add` fills in the child offsets.
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
        Err(Error::argument("a nested column refers to values outside of its child"))
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
        // Contiguous lists need only the offsets at block boundaries. Each length is checked when
        // its block is encoded.
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
    counts: &mut TypeCounts,
) -> Result<()> {
    let HostValues::Union { codes, types, offsets, children } = &chunk.values else {
        return Err(other_form());
    };
    if children.len() < spans.len() {
        return Err(other_form());
    }
    let end = span.start + span.n;
    let mut start = span.start;
    if offsets.is_none() {
        // Values are counted from the start of the chunk.
        start = counts.seek(span.chunk, span.start, spans.len());
    }
    let mut copy = Vec::new();
    while start < end {
        let part = start..end.min((start + 1).next_multiple_of(STEP));
        let valid = ValidBits::copy(chunk, part.clone(), spare)?;
        copy.resize(part.len(), 0);
        if !codes.copy_to(part.start, &mut copy) {
            return Err(too_short());
        }
        let indices = offsets.as_ref().map(|offsets| numbers(offsets, false, part.clone())).transpose()?;
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
            let index = match &indices {
                Some(indices) => usize::try_from(indices[i]).map_err(|_| too_short())?,
                None => counts.count(k),
            };
            if at >= span.start {
                check_inside(&children[k], index, 1)?;
                spans[k].push(span.chunk, index, 1);
            }
        }
        start = part.end;
        if offsets.is_none() {
            counts.reach(start);
        }
    }
    Ok(())
}
