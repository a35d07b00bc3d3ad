//! Decides which blocks of a kept column stay, and decodes the values of all other blocks.

use std::sync::Arc;

use entasis_format::{
    BUNDLE_ROWS, BlockRange, BlockRecord, ColumnType, Error, Logical, Physical, Result, fallible,
};

use super::Content;
use super::tail::n_kept;
use crate::blocks::is_short;
use crate::file::{ColumnInfo, File, LastBlocks};
use crate::frame::kept::{Keep, Kept, KeptChild};
use crate::frame::{Array, Chunk, Column, Document, Field, Frame, HostValidity, HostValues};
use crate::monitor::{Monitor, Silent};
use crate::read::{MissingTo, Output, Request, read_chunk};
use crate::rows::Rows;

/// The use of the memory, in messages.
pub(super) const VALUES: &str = "values of blocks that are replaced";

/// Finds what stays of the columns of a file.
pub(super) struct Keeper<'a> {
    /// The view of all columns of the file.
    pub file: &'a File,
    /// Columns with a compression of their own, by name.
    pub own_compression: &'a [(String, u8)],
}

impl Keeper<'_> {
    /// Finds the blocks that stay, in all columns of the new value.
    pub(super) fn find(&self, content: &mut Content) -> Result<()> {
        match content {
            Content::Frame(frame) => self.find_in_frame(frame),
            Content::Document(document) => self.find_in_document(document),
        }
    }

    fn find_in_frame(&self, frame: &mut Frame) -> Result<()> {
        let replaces_all = !self.keep_bundles(frame)? && frame.n_rows < BUNDLE_ROWS;
        for column in &mut frame.columns {
            self.find_column(column, replaces_all)?;
        }
        for column in &mut frame.extra {
            self.find_column(column, false)?;
        }
        Ok(())
    }

    fn find_in_document(&self, document: &mut Document) -> Result<()> {
        document.frames.iter_mut().try_for_each(|frame| self.find_in_frame(frame))?;
        document.columns.iter_mut().try_for_each(|column| self.find_column(column, false))
    }

    /// Whether a column shares no bundle, because it has a compression of its own.
    pub(super) fn is_apart(&self, column: &Column) -> bool {
        self.own_compression.iter().any(|(name, _)| *name == column.name)
    }

    /// Finds the blocks of a column that stay. Puts the values of all other blocks before the new
    /// values. With `replaces_all` no block stays, because a table of few rows is bundled anew.
    fn find_column(&self, column: &mut Column, replaces_all: bool) -> Result<()> {
        let Some(Kept::Column(number)) = column.array.kept else { return Ok(()) };
        let named = |e: Error| e.in_column(&column.name);
        let info = self.file.column(number).map_err(named)?;
        if column.run.is_some() || column.array.spans.is_some() {
            return Err(named(Error::argument("a column run cannot be kept")));
        }
        self.check(&info, (&column.column_type, &column.children)).map_err(named)?;
        let n_new = column.array.n_values();
        if n_new > 0 && column.column_type.logical == Logical::Object {
            return Err(named(Error::unsupported("rows cannot be added in place to a column of objects")));
        }
        let (keep, replaced) = self.split(&info, n_new, replaces_all).map_err(named)?;
        column.array.chunks.splice(0..0, replaced);
        column.array.kept = Some(Kept::Found(Box::new(keep)));
        Ok(())
    }

    /// A kept column has the type of the file's.
    pub(super) fn check(&self, info: &ColumnInfo, (of, fields): (&ColumnType, &[Field])) -> Result<()> {
        let record = &info.record;
        let n_fields = record.n_children as usize - usize::from(of.has_child_offsets());
        if record.column_type != *of || record.is_bundle || n_fields != fields.len() {
            return Err(Error::argument("a kept column has another type in the file"));
        }
        for (field, child) in fields.iter().zip(self.children(info)?) {
            self.check(&child, (&field.column_type, &field.children))?;
        }
        Ok(())
    }

    /// The children of a column, without child offsets.
    fn children(&self, info: &ColumnInfo) -> Result<Vec<Arc<ColumnInfo>>> {
        let n = u64::from(info.record.n_children) - u64::from(info.record.column_type.has_child_offsets());
        let first = info.record.first_child.unwrap_or(0);
        (first..first.saturating_add(n)).map(|number| self.file.column(number)).collect()
    }

    /// Splits a column that gets `n_new` values into blocks that stay and decoded values of the
    /// other blocks. With `all`, no block stays.
    fn split(&self, info: &ColumnInfo, n_new: u64, all: bool) -> Result<(Keep, Option<Chunk>)> {
        let record = &info.record;
        let of = record.column_type;
        let total = record.n_values;
        if of.physical == Physical::Null {
            let chunk = Chunk { n: to_n(total)?, values: HostValues::Null, validity: HostValidity::AllValid };
            return Ok((Keep { number: info.index, ..Keep::default() }, Some(chunk)));
        }
        let replaces_all = all || record.is_bundled;
        let last = self.last_blocks(info, replaces_all, n_new)?;
        let n_of_last = if replaces_all { 0 } else { n_kept(&last.blocks, n_new, of.layout()) };
        let n = last.n_before + n_of_last as u64;
        let next = last.blocks.get(n_of_last);
        let mut keep = Keep {
            n_values: match next {
                Some(block) => block.first_value,
                None if n == 0 => 0,
                None => total,
            },
            ranges: first_blocks(last.ranges, n),
            number: info.index,
            ..Keep::default()
        };
        let replaced =
            if keep.n_values < total { Some(decode(self.file, info, keep.n_values, &Silent)?) } else { None };
        let n_replaced = replaced.as_ref().map_or(0, |(_, n_missing)| *n_missing);
        keep.n_missing = record
            .n_missing
            .checked_sub(n_replaced)
            .ok_or_else(|| Error::corrupt("a column has another number of missing values than its record"))?;
        if of.physical.is_nested() {
            let children = self.children(info)?;
            self.count(info, &children, (n, next), &mut keep)?;
            for child in children {
                let (keep_of_child, replaced) = self.split(&child, n_new, all)?;
                keep.children.push(KeptChild { keep: keep_of_child, replaced });
            }
        }
        Ok((keep, replaced.map(|(chunk, _)| chunk)))
    }

    /// The blocks that may be replaced when `n_new` values follow. With `all`, these are all
    /// blocks.
    fn last_blocks(&self, info: &ColumnInfo, all: bool, n_new: u64) -> Result<LastBlocks> {
        if n_new > 0 && !all {
            let of = info.record.column_type.layout();
            return self.file.last_blocks(info, |block| is_short(block, of));
        }
        let ranges = self.file.block_ranges(info)?;
        let (n_before, blocks) = if all {
            (0, self.file.blocks(info.index)?.to_vec())
        } else {
            (ranges.iter().map(|range| u64::from(range.n_blocks)).sum(), Vec::new())
        };
        Ok(LastBlocks { ranges, n_before, blocks })
    }

    /// Counts the values of the children before block `n`, which is `next`.
    fn count(
        &self,
        info: &ColumnInfo,
        children: &[Arc<ColumnInfo>],
        (n, next): (u64, Option<&BlockRecord>),
        keep: &mut Keep,
    ) -> Result<()> {
        let of = info.record.column_type;
        let totals = children.iter().map(|child| child.record.n_values);
        if of.has_child_offsets() {
            let first = info.record.first_child.unwrap_or(0);
            let offsets = self.file.column(first.saturating_add(children.len() as u64))?;
            let n_kept = n * children.len() as u64;
            let n_read = offsets.record.n_values.min(n_kept + children.len() as u64);
            let numbers = self.numbers(&offsets, n_read)?;
            let (kept, next) = numbers.split_at(numbers.len().min(to_n(n_kept)?));
            keep.child_offsets = kept.to_vec();
            keep.child_counts = if next.is_empty() { totals.collect() } else { next.to_vec() };
        } else if matches!(of.physical, Physical::List | Physical::Map | Physical::RunEnd) {
            keep.child_counts = match next {
                Some(block) => vec![block.first_child],
                None => totals.collect(),
            };
        }
        Ok(())
    }

    /// The first `n` values of a column of u64.
    fn numbers(&self, info: &ColumnInfo, n: u64) -> Result<Vec<u64>> {
        let mut numbers: Vec<u64> = fallible::defaults(to_n(n)?, VALUES)?;
        let mut mask: Vec<u8> = fallible::defaults(numbers.len(), VALUES)?;
        let request = Request {
            column: info.index,
            rows: Rows::Range(0..n),
            output: Output::Words(bytemuck::cast_slice_mut(&mut numbers)),
            missing: MissingTo::Mask(&mut mask),
        };
        self.file.read(vec![request], Some(1), &Silent)?;
        Ok(numbers)
    }
}

/// Decodes the values of a column from `first` on. Also returns the number of missing values.
pub(super) fn decode(
    file: &File,
    info: &ColumnInfo,
    first: u64,
    monitor: &dyn Monitor,
) -> Result<(Chunk, u64)> {
    read_chunk(file, info, first..info.record.n_values, None, monitor)
}

fn to_n(n: u64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::out_of_memory(usize::MAX, VALUES))
}

/// The first `n` blocks of these ranges.
pub(super) fn first_blocks(mut ranges: Vec<BlockRange>, mut n: u64) -> Vec<BlockRange> {
    for range in &mut ranges {
        range.n_blocks = u64::from(range.n_blocks).min(n) as u32;
        n -= u64::from(range.n_blocks);
    }
    ranges.retain(|range| range.n_blocks > 0);
    ranges
}

impl Array {
    /// Whether the array begins with values of the file.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }
}
