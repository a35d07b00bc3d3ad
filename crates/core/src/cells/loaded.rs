//! Cells in memory with all cells that they refer to, in a few slices.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{CellClass, CellKind, Result};

use super::cell::{Cell, damage};
use super::read::Cells;
use super::slice::Slice;
use crate::monitor::Monitor;

/// A gap of fewer cells than this between two ranges is read too, which saves a read.
const GAP: u64 = 4096;

/// Ranges of cell numbers that ascend and do not touch.
#[derive(Debug, Default)]
struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Joins ranges with less than `gap` cells between them.
    fn of(mut ranges: Vec<Range<u64>>, gap: u64) -> Self {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut all: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match all.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(gap) => {
                    last.end = last.end.max(range.end)
                }
                _ => all.push(range),
            }
        }
        Self(all)
    }

    fn contain(&self, range: &Range<u64>) -> bool {
        let before = self.0.partition_point(|known| known.start <= range.start);
        before.checked_sub(1).is_some_and(|i| range.end <= self.0[i].end)
    }
}

/// Cells in memory, with all cells that they refer to.
#[derive(Debug)]
pub struct Loaded {
    cells: Arc<Cells>,
    slices: Vec<Slice>,
    /// The cells that values are built from. The slices may hold more cells.
    needed: Ranges,
    threads: Option<usize>,
}

impl Loaded {
    /// No cells yet.
    pub fn new(cells: Arc<Cells>, threads: Option<usize>) -> Self {
        Self { cells, slices: Vec::new(), needed: Ranges::default(), threads }
    }

    /// The cells of the file.
    pub fn cells(&self) -> &Arc<Cells> {
        &self.cells
    }

    /// The slices that were read.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// A slice that holds all these cells.
    pub fn slice(&self, range: &Range<u64>) -> Option<&Slice> {
        self.slices.iter().find(|slice| slice.range().start <= range.start && range.end <= slice.range().end)
    }

    /// The number of cells that values are built from.
    pub fn n_needed(&self) -> u64 {
        self.needed.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The cells that values are built from, slice by slice.
    pub fn pieces(&self) -> Vec<(&Slice, Range<u64>)> {
        let mut pieces = Vec::new();
        for range in &self.needed.0 {
            let mut at = range.start;
            while let Some(slice) = self.slices.iter().find(|slice| slice.range().contains(&at)) {
                let end = slice.range().end.min(range.end);
                pieces.push((slice, at..end));
                at = end;
                if at >= range.end {
                    break;
                }
            }
        }
        pieces
    }

    /// A cell that was read.
    ///
    /// # Errors
    /// *Corrupt* when it was not.
    #[inline]
    pub fn cell(&self, number: u64) -> Result<Cell<'_>> {
        match self.slices.iter().find(|slice| slice.range().contains(&number)) {
            Some(slice) => slice.cell(number),
            None => Err(damage("a cell number is out of range")),
        }
    }

    /// Reads these cells, even if they were read before.
    ///
    /// # Errors
    /// As [`Cells::load`].
    pub fn load(&mut self, range: Range<u64>, monitor: &dyn Monitor) -> Result<()> {
        self.slices.push(self.cells.load(range, self.threads, monitor)?);
        Ok(())
    }

    /// Reads these ranges, and all cells that they refer to.
    ///
    /// # Errors
    /// As [`Cells::load`].
    pub fn close(&mut self, ranges: Vec<Range<u64>>, monitor: &dyn Monitor) -> Result<()> {
        let mut fresh = Ranges::of(ranges, 0);
        while !fresh.0.is_empty() {
            for range in Ranges::of(fresh.0.clone(), GAP).0 {
                if self.slice(&range).is_none() {
                    self.load(range, monitor)?;
                }
            }
            let mut named = Vec::new();
            for range in &fresh.0 {
                let found = self.slice(range).ok_or_else(|| damage("a cell number is out of range"))?;
                name(found, range, &mut named)?;
            }
            let mut all = std::mem::take(&mut self.needed.0);
            all.append(&mut fresh.0);
            self.needed = Ranges::of(all, 0);
            named.retain(|range| !self.needed.contain(range));
            fresh = Ranges::of(named, 0);
        }
        Ok(())
    }
}

/// Adds the cells outside of `range` that the cells in `range` refer to.
fn name(slice: &Slice, range: &Range<u64>, out: &mut Vec<Range<u64>>) -> Result<()> {
    let mut add = |named: Range<u64>| {
        if !(range.start <= named.start && named.end <= range.end) {
            out.push(named);
        }
    };
    let is_wanted = |kind: CellKind| {
        kind == CellKind::Reference || matches!(kind.class(), CellClass::Parent | CellClass::Array)
    };
    // `slice.arrays` returns consecutive arrays together. Cells before `looked_at` are already
    // examined.
    let mut looked_at = range.start;
    for number in slice.numbers(range.clone(), is_wanted) {
        if number < looked_at {
            continue;
        }
        if let Some([.., shapes]) = slice.arrays(number, range.end) {
            shapes.iter().filter(|&&shape| shape != 0).for_each(|&shape| add(shape..shape.saturating_add(1)));
            looked_at = number + shapes.len() as u64;
            continue;
        }
        match slice.cell(number)? {
            Cell::Int(CellKind::Reference, target) => {
                let target = target.cast_unsigned();
                add(target..target.saturating_add(1));
            }
            Cell::Array { shape, .. } if shape != 0 => add(shape..shape.saturating_add(1)),
            Cell::Parent(kind, children) => {
                add(children.first..children.end);
                match kind {
                    CellKind::Map | CellKind::Records => {
                        add(children.keys..children.keys.saturating_add(children.count))
                    }
                    CellKind::ObjectArray => add(children.keys..children.keys.saturating_add(1)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    Ok(())
}
