//! Structure values of nested columns: what they are, and how the reader turns them into requests
//! for the children.
//!
//! A nested column stores one *structure value* per row. It says how many values of a child
//! belong to the row:
//!
//! ```text
//! type      values                structure values      child values
//! list      [[7, 8], [], [9]]     lengths   2 0 1       7 8 9
//! union     [1, "a", 2]           type ids  0 1 0       child 0: 1 2    child 1: "a"
//! run end   [5, 5, 5, 6]          starts    1 0 0 1     5 6             (1 = a run starts here)
//! ```
//!
//! The index of a row in its child is the sum of all earlier structure values. For a union, it is
//! the number of earlier rows of its type. To allow reads from the middle, each block records these
//! sums for its first row, its *child offsets*. Lists, maps and run-end columns have them in the
//! block record, dense unions and value columns (one number per type) in their last child:
//!
//! ```text
//! rows            0               65,536           131,072
//! blocks          | block 0       | block 1        | block 2
//! child offsets   | 0             | 91,204         | 180,377
//! wanted rows                              |--|
//! row span                        |-----------|
//! ```
//!
//! So the reader fetches the structure values from the start of the block up to the last wanted row
//! (a [`RowSpan`]), adds them to the block's child offsets, and requests the resulting ranges of
//! the children. At the end of a block, the sums must equal the next block's child offsets.
//! Structs, fixed-size lists and sparse unions need no sums: row `i` has its values at a known
//! index.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use entasis_format::{BlockRecord, Error, Physical, Result, fallible};
use entasis_platform::Buffer;

use super::arrow_buffers::{mask, offsets, packed};
use super::selection::Selection;
use super::values::NestedValues;
use crate::file::{ColumnInfo, File};
use crate::monitor::Silent;
use crate::read::alloc::{COLUMNS, too_many, zeroed, zeros};
use crate::read::request::{MissingTo, Output, Request};
use crate::rows::Rows;

/// A child, the rows that are wanted from it, and their number.
pub(super) type ChildRequest = (Arc<ColumnInfo>, Rows, usize);

/// The buffers of a nested column for the host, and the requests for its children.
pub(super) struct Decoded {
    pub validity: Option<Buffer>,
    pub values: NestedValues,
    pub children: Vec<ChildRequest>,
}

/// The structure values of a nested column in the wanted rows.
pub(super) struct NestedStructure {
    info: Arc<ColumnInfo>,
    children: Vec<Arc<ColumnInfo>>,
    blocks: Arc<Vec<BlockRecord>>,
    /// The number of sums per row: one per type for a dense union or value column, one for lists
    /// and runs, 0 for other types.
    n_types: usize,
    row_spans: Vec<RowSpan>,
}

/// Structure values of consecutive rows, from the start of a block on.
struct RowSpan {
    rows: Rows,
    /// The first row, where sums are needed; otherwise 0.
    first: u64,
    values: Buffer,
    /// One byte per value, 1 = missing.
    mask: Vec<u8>,
    /// The first block. `child_offsets` holds a row of `n_types` numbers for each block from this
    /// one to the block after the last.
    block: usize,
    child_offsets: Vec<u64>,
    /// The number of `child_offsets` that are read from the child that stores them.
    n_read: usize,
}

/// Where the values of a row are in a child.
struct InChild {
    /// The index in the row span.
    row: usize,
    /// The child; none for a missing value.
    child: Option<usize>,
    /// The index of the row in that child.
    at: u64,
    /// The structure value.
    value: u64,
}

fn corrupt(message: &'static str) -> Error {
    Error::corrupt(message)
}

impl File {
    /// Verifies that the structure values of each block add up to the child offset of the next
    /// block.
    pub(crate) fn check_structure(&self, info: &Arc<ColumnInfo>, children: &[Arc<ColumnInfo>]) -> Result<()> {
        for (i, block) in self.blocks(info.index)?.iter().enumerate() {
            let (rows, n) = (Rows::Range(block.first_value..block.end_value()), block.n_values as usize);
            let mut structure = NestedStructure::new(
                self,
                info,
                fallible::collect(children.iter().cloned(), COLUMNS)?,
                &rows,
                n,
            )?;
            let mut requests = Vec::new();
            structure.requests().try_for_each(|request| fallible::push(&mut requests, request, COLUMNS))?;
            self.read(requests, Some(1), &Silent)?;
            structure.finish(&rows, n, false).map_err(|e| e.in_block(i as u64))?;
        }
        Ok(())
    }
}

impl NestedStructure {
    pub(super) fn new(
        file: &File,
        info: &Arc<ColumnInfo>,
        mut children: Vec<Arc<ColumnInfo>>,
        rows: &Rows,
        n: usize,
    ) -> Result<Self> {
        let of = &info.record.column_type;
        let blocks = file.blocks(info.index)?;
        let child_offsets = if of.has_child_offsets() { children.pop() } else { None };
        let n_types = match of.physical {
            Physical::List | Physical::Map | Physical::RunEnd => 1,
            _ if of.has_child_offsets() => children.len(),
            _ => 0,
        };
        let width = of.layout().width().unwrap_or(1);
        let mut structure = Self { info: Arc::clone(info), children, blocks, n_types, row_spans: Vec::new() };
        let is_counted =
            !matches!(of.physical, Physical::Struct | Physical::FixedSizeList) && !of.is_sparse();
        if !is_counted {
            // A struct or fixed-size list stores nothing but validity.
            if (width > 0 || info.record.n_missing > 0) && n > 0 {
                structure.row_spans.push(RowSpan {
                    rows: rows.clone(),
                    first: 0,
                    values: zeroed(n, width)?,
                    mask: mask(n)?,
                    block: 0,
                    child_offsets: Vec::new(),
                    n_read: 0,
                });
            }
            return Ok(structure);
        }
        for range in row_spans(&structure.blocks, rows)? {
            let row_span = structure.row_span(range, width, child_offsets.as_deref())?;
            fallible::push(&mut structure.row_spans, row_span, COLUMNS)?;
        }
        Ok(structure)
    }

    fn row_span(
        &self,
        range: Range<u64>,
        width: usize,
        child_offsets: Option<&ColumnInfo>,
    ) -> Result<RowSpan> {
        let n = usize::try_from(range.end - range.start).map_err(|_| too_many())?;
        let block = self.blocks.partition_point(|block| block.end_value() <= range.start);
        let end = self.blocks.partition_point(|block| block.first_value < range.end);
        let behind = (end + 1).min(self.blocks.len());
        let mut row_span = RowSpan {
            first: range.start,
            rows: Rows::Range(range),
            values: zeroed(n, width)?,
            mask: mask(n)?,
            block,
            child_offsets: Vec::new(),
            n_read: 0,
        };
        if child_offsets.is_some() {
            row_span.n_read = (behind - block) * self.n_types;
            row_span.child_offsets = zeros(row_span.n_read)?;
        } else {
            let offsets = self.blocks[block..behind].iter().map(|block| block.first_child);
            fallible::extend(&mut row_span.child_offsets, offsets, COLUMNS)?;
        }
        if end == self.blocks.len() {
            let ends = self.children.iter().map(|child| child.record.n_values);
            fallible::extend(&mut row_span.child_offsets, ends, COLUMNS)?;
        }
        Ok(row_span)
    }

    /// The requests that fill the row spans.
    pub(super) fn requests(&mut self) -> impl Iterator<Item = Request<'_>> {
        let of = self.info.record.column_type;
        let (column, n_types) = (self.info.index, self.n_types);
        let child_offsets = self.info.record.first_child.filter(|_| of.has_child_offsets());
        let child_offsets = child_offsets.map(|first| first + u64::from(self.info.record.n_children) - 1);
        self.row_spans.iter_mut().flat_map(move |row_span| {
            let output = match of.layout().physical {
                Physical::Bool => Output::Bools(&mut row_span.values),
                _ => Output::Words(&mut row_span.values),
            };
            let missing = MissingTo::Mask(&mut row_span.mask);
            let values = Request { column, rows: row_span.rows.clone(), output, missing };
            let before = child_offsets.map(|column| {
                let first = (row_span.block * n_types) as u64;
                Request {
                    column,
                    rows: Rows::Range(first..first + row_span.n_read as u64),
                    output: Output::Words(bytemuck::cast_slice_mut(
                        &mut row_span.child_offsets[..row_span.n_read],
                    )),
                    missing: MissingTo::Ignore,
                }
            });
            std::iter::once(values).chain(before)
        })
    }

    /// Turns the structure values into the host's buffers and into requests for the children.
    pub(super) fn finish(self, rows: &Rows, n: usize, is_small: bool) -> Result<Decoded> {
        let of = self.info.record.column_type;
        match of.physical {
            Physical::List | Physical::Map => self.lists(rows, n, is_small),
            Physical::RunEnd => self.runs(rows, n),
            _ if of.has_child_offsets() => self.types(rows, n),
            Physical::FixedSizeList => {
                let len = u64::from(of.value_len);
                let total = n.checked_mul(of.value_len as usize).ok_or_else(too_many)?;
                let child = Arc::clone(&self.children[0]);
                let spans = spans_of(rows).map(|span| span.start * len..span.end * len);
                let child = child_request(child, spans, total)?;
                Ok(Decoded { validity: self.validity()?, values: NestedValues::None, children: vec![child] })
            }
            _ => {
                let children = self.children.iter().map(|child| (Arc::clone(child), rows.clone(), n));
                let children = fallible::collect(children, COLUMNS)?;
                let validity = self.validity()?;
                let Some(row_span) = self.row_spans.into_iter().next().filter(|_| of.is_sparse()) else {
                    let types = if of.is_sparse() { Some(Buffer::default()) } else { None };
                    let values = types
                        .map_or(NestedValues::None, |types| NestedValues::Types { types, offsets: None });
                    return Ok(Decoded { validity, values, children });
                };
                let n_types = self.children.len();
                if row_span.values.iter().any(|&k| usize::from(k) >= n_types) {
                    return Err(corrupt(NO_TYPE));
                }
                let values = NestedValues::Types { types: row_span.values, offsets: None };
                Ok(Decoded { validity: None, values, children })
            }
        }
    }

    /// The validity of the rows. They were read in the order of the request.
    fn validity(&self) -> Result<Option<Buffer>> {
        self.row_spans.first().map_or(Ok(None), |row_span| packed(&row_span.mask))
    }

    /// The first row of each row span.
    fn firsts(&self) -> Result<Vec<u64>> {
        fallible::collect(self.row_spans.iter().map(|row_span| row_span.first), COLUMNS)
    }

    /// Adds up structure values along a row span. Visits each row with its index in the child.
    fn walk(&self, row_span: &RowSpan, mut visit: impl FnMut(InChild) -> Result<()>) -> Result<()> {
        let n_types = self.n_types;
        if row_span.block == 0 && row_span.child_offsets.iter().take(n_types).any(|&offset| offset != 0) {
            return Err(corrupt(MISCOUNTED));
        }
        let mut rows = row_span.child_offsets.chunks_exact(n_types.max(1));
        let mut at: Vec<u64> = rows.next().unwrap_or(&[]).to_vec();
        let n = row_span.mask.len();
        let mut i = 0;
        for block in &self.blocks[row_span.block..] {
            let end = (block.end_value() - row_span.first).min(n as u64) as usize;
            while i < end {
                let is_missing = row_span.mask[i] != 0;
                let (k, len) = match self.info.record.column_type.physical {
                    Physical::List | Physical::Map => {
                        let length = row_span.values[4 * i..4 * i + 4].try_into().map(u32::from_le_bytes);
                        (0, u64::from(length.unwrap_or(0)))
                    }
                    Physical::RunEnd => (0, u64::from(row_span.values[i])),
                    _ => (usize::from(row_span.values[i]), 1),
                };
                if is_missing {
                    visit(InChild { row: i, child: None, at: at.first().copied().unwrap_or(0), value: 0 })?;
                } else {
                    let before = at.get_mut(k).ok_or_else(|| corrupt(NO_TYPE))?;
                    visit(InChild { row: i, child: Some(k), at: *before, value: len })?;
                    *before = before.checked_add(len).ok_or_else(|| corrupt(MISCOUNTED))?;
                }
                i += 1;
            }
            if block.end_value() - row_span.first == end as u64 {
                // At the end of the block, the sums must equal the next block's child offsets.
                match rows.next() {
                    Some(next) if next == at => {}
                    None if n_types == 0 => {}
                    _ => return Err(corrupt(MISCOUNTED)),
                }
            }
            if i == n {
                break;
            }
        }
        for (&at, child) in at.iter().zip(&self.children) {
            if at > child.record.n_values {
                return Err(corrupt(MISCOUNTED));
            }
        }
        Ok(())
    }

    fn lists(self, rows: &Rows, n: usize, is_small: bool) -> Result<Decoded> {
        if let Rows::Range(range) = rows {
            return self.contiguous_lists(range, n, is_small);
        }
        let mut selection = Selection::new(rows, n, &self.firsts()?)?;
        for (s, row_span) in self.row_spans.iter().enumerate() {
            self.walk(row_span, |InChild { row, at, value: len, .. }| {
                selection.put(s, row, (at, len), row_span.mask[row] != 0);
                Ok(())
            })?;
        }
        let (spans, mask) = selection.finish();
        let total =
            spans.iter().try_fold(0u64, |sum, (_, len)| sum.checked_add(*len)).ok_or_else(too_many)?;
        let (offsets, is_large) = offsets(spans.iter().map(|(_, len)| *len), n, total, is_small)?;
        let total = usize::try_from(total).map_err(|_| too_many())?;
        let child = Arc::clone(&self.children[0]);
        let child = child_request(child, spans.into_iter().map(|(at, len)| at..at + len), total)?;
        let values = NestedValues::Offsets { offsets, is_large };
        Ok(Decoded { validity: packed(&mask)?, values, children: vec![child] })
    }

    /// Lists of consecutive rows, whose values are consecutive in the child.
    fn contiguous_lists(mut self, range: &Range<u64>, n: usize, is_small: bool) -> Result<Decoded> {
        let child = Arc::clone(&self.children[0]);
        let Some(mut row_span) = self.row_spans.pop() else {
            let (offsets, is_large) = offsets(std::iter::empty(), 0, 0, is_small)?;
            let values = NestedValues::Offsets { offsets, is_large };
            let children = vec![child_request(child, std::iter::empty(), 0)?];
            return Ok(Decoded { validity: None, values, children });
        };
        let lengths: &mut [u32] = bytemuck::cast_slice_mut(&mut row_span.values);
        let has_missing = row_span.mask.contains(&1);
        if has_missing {
            // Missing lists hold an unspecified length.
            lengths
                .iter_mut()
                .zip(&row_span.mask)
                .for_each(|(len, &missing)| *len *= u32::from(missing == 0));
        }
        let sum = |lengths: &[u32]| lengths.iter().map(|&len| u64::from(len)).sum::<u64>();
        let first = row_span.child_offsets.first().copied().unwrap_or(0);
        let mut at = first;
        let mut next = row_span.child_offsets.iter().skip(1);
        for block in &self.blocks[row_span.block..] {
            let from = (block.first_value.max(row_span.first) - row_span.first) as usize;
            if from >= lengths.len() {
                break;
            }
            let end = (block.end_value() - row_span.first) as usize;
            at = at.saturating_add(sum(&lengths[from..end.min(lengths.len())]));
            // At the end of a block, the sum must equal the next block's child offset.
            if end <= lengths.len() && next.next() != Some(&at) {
                return Err(corrupt(MISCOUNTED));
            }
        }
        let is_sound = at <= child.record.n_values && (row_span.block > 0 || first == 0);
        if !is_sound {
            return Err(corrupt(MISCOUNTED));
        }
        let skip = (range.start - row_span.first) as usize;
        let (before, lengths) = lengths.split_at(skip);
        let begin = first + sum(before);
        let (offsets, is_large) = offsets(lengths.iter().map(|&len| len.into()), n, at - begin, is_small)?;
        let total = usize::try_from(at - begin).map_err(|_| too_many())?;
        let validity = if has_missing { packed(&row_span.mask[skip..])? } else { None };
        let values = NestedValues::Offsets { offsets, is_large };
        Ok(Decoded {
            validity,
            values,
            children: vec![child_request(child, std::iter::once(begin..at), total)?],
        })
    }

    fn runs(self, rows: &Rows, n: usize) -> Result<Decoded> {
        let mut selection = Selection::new(rows, n, &self.firsts()?)?;
        for (s, row_span) in self.row_spans.iter().enumerate() {
            self.walk(row_span, |InChild { row, at, value: begins_run, .. }| {
                let run = (at + begins_run)
                    .checked_sub(1)
                    .ok_or_else(|| corrupt("the first row of a run-end column starts no run"))?;
                selection.put(s, row, (run, 1), false);
                Ok(())
            })?;
        }
        let (spans, _) = selection.finish();
        let mut ends: Vec<i64> = Vec::new();
        let mut runs: Vec<u64> = Vec::new();
        for (i, (run, _)) in spans.into_iter().enumerate() {
            match ends.last_mut() {
                Some(end) if runs.last() == Some(&run) => *end = i as i64 + 1,
                _ => {
                    fallible::push(&mut ends, i as i64 + 1, COLUMNS)?;
                    fallible::push(&mut runs, run, COLUMNS)?;
                }
            }
        }
        let mut buffer = zeroed(ends.len(), 8)?;
        buffer.copy_from_slice(bytemuck::cast_slice(&ends));
        let total = runs.len();
        let child =
            child_request(Arc::clone(&self.children[0]), runs.into_iter().map(|run| run..run + 1), total)?;
        Ok(Decoded { validity: None, values: NestedValues::Ends(buffer), children: vec![child] })
    }

    fn types(self, rows: &Rows, n: usize) -> Result<Decoded> {
        let mut selection = Selection::new(rows, n, &self.firsts()?)?;
        // Replaces the type of a missing value.
        const MISSING: u64 = u8::MAX as u64;
        for (s, row_span) in self.row_spans.iter().enumerate() {
            self.walk(row_span, |InChild { row, child, at, .. }| {
                let k = child.map_or(MISSING, |k| k as u64);
                selection.put(s, row, (at, k), k == MISSING);
                Ok(())
            })?;
        }
        let (in_children, mask) = selection.finish();
        let mut types = zeroed(n, 1)?;
        let mut offsets = zeroed(n, 4)?;
        let offset_words: &mut [i32] = bytemuck::cast_slice_mut(&mut offsets);
        let mut of_child: Vec<Vec<Range<u64>>> =
            fallible::collect(self.children.iter().map(|_| Vec::new()), COLUMNS)?;
        let mut totals = vec![0usize; self.children.len()];
        for (i, (at, k)) in in_children.into_iter().enumerate() {
            types[i] = k as u8;
            if k == MISSING {
                continue;
            }
            let (spans, total) = (&mut of_child[k as usize], &mut totals[k as usize]);
            match spans.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => fallible::push(spans, at..at + 1, COLUMNS)?,
            }
            offset_words[i] = i32::try_from(*total).map_err(|_| {
                Error::unsupported("the rows have 2,147,483,648 values or more of one type")
                    .advise("read fewer rows at a time")
            })?;
            *total += 1;
        }
        let children = self.children.iter().zip(of_child).zip(totals);
        let children = children
            .map(|((child, spans), total)| child_request(Arc::clone(child), spans.into_iter(), total));
        let children = fallible::try_collect(children, COLUMNS)?;
        let values = NestedValues::Types { types, offsets: Some(offsets) };
        Ok(Decoded { validity: packed(&mask)?, values, children })
    }
}

const MISCOUNTED: &str = "the structure values of a nested column do not match its child offsets";
const NO_TYPE: &str = "a type id of a union names none of its children";

/// The row spans of a request. Each begins at the start of a block: the block of the first row or,
/// for rows by number, each block with some of the rows.
fn row_spans(blocks: &[BlockRecord], rows: &Rows) -> Result<Vec<Range<u64>>> {
    let block_of = |row: u64| blocks.partition_point(|block| block.end_value() <= row);
    Ok(match rows {
        Rows::Range(range) if range.is_empty() => Vec::new(),
        Rows::Range(range) => {
            let first = blocks.get(block_of(range.start)).map_or(range.start, |block| block.first_value);
            std::iter::once(first..range.end).collect()
        }
        Rows::Indices(indices) => {
            let mut last: BTreeMap<usize, u64> = BTreeMap::new();
            for &row in indices.iter() {
                let last = last.entry(block_of(row)).or_insert(row);
                *last = row.max(*last);
            }
            let spans = last.into_iter().map(|(block, last)| blocks[block].first_value..last + 1);
            fallible::collect(spans, COLUMNS)?
        }
        Rows::All | Rows::Step { .. } => Vec::new(),
    })
}

/// The rows as ranges.
fn spans_of(rows: &Rows) -> impl Iterator<Item = Range<u64>> {
    let (range, indices) = match rows {
        Rows::Range(range) => (Some(range.clone()), None),
        Rows::Indices(indices) => (None, Some(indices.iter().map(|&row| row..row + 1))),
        Rows::All | Rows::Step { .. } => (None, None),
    };
    range.into_iter().chain(indices.into_iter().flatten())
}

/// Requests these ranges of a child, `total` values in all. Adjoining ranges become one range,
/// others a list of numbers.
fn child_request(
    child: Arc<ColumnInfo>,
    spans: impl Iterator<Item = Range<u64>>,
    total: usize,
) -> Result<ChildRequest> {
    if child.record.column_type.physical == Physical::Null {
        // A column of type null stores nothing, so any numbers will do.
        return Ok((child, Rows::Range(0..0), total));
    }
    let mut range: Option<Range<u64>> = None;
    let mut numbers: Vec<u64> = Vec::new();
    for span in spans.filter(|span| !span.is_empty()) {
        if span.end > child.record.n_values {
            return Err(corrupt("a nested column refers to values outside of its child"));
        }
        match &mut range {
            _ if !numbers.is_empty() => {
                fallible::reserve(&mut numbers, (span.end - span.start) as usize, COLUMNS)?;
                numbers.extend(span);
            }
            None => range = Some(span),
            Some(range) if range.end == span.start => range.end = span.end,
            Some(range) => {
                fallible::reserve(&mut numbers, total, COLUMNS)?;
                numbers.extend(range.clone().chain(span));
            }
        }
    }
    let rows =
        if numbers.is_empty() { Rows::Range(range.unwrap_or(0..0)) } else { Rows::Indices(numbers.into()) };
    Ok((child, rows, total))
}
