//! Cells that were read, with all that they name: a few slices.

use std::ops::Range;
use std::sync::Arc;

use entasis::cells::{Cell, Cells, Slice};
use entasis::{CellClass, CellKind, Error};
use pyo3::prelude::*;

use crate::{errors, monitor};

/// Cells that are read although nobody asked for them, when that saves a read.
const GAP: u64 = 4096;

/// Numbers of cells: ranges that ascend and don't touch.
#[derive(Default)]
struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// These ranges; those with less than `gap` between them become one.
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

/// Cells in memory, and all that they name.
pub struct Loaded {
    pub cells: Arc<Cells>,
    pub slices: Vec<Slice>,
    /// What objects are made of: more may have been read.
    needed: Ranges,
    threads: Option<usize>,
}

impl Loaded {
    pub fn new(cells: Arc<Cells>, threads: Option<usize>) -> Self {
        Self { cells, slices: Vec::new(), needed: Ranges::default(), threads }
    }

    /// A slice that has all these cells.
    pub fn slice(&self, range: &Range<u64>) -> Option<&Slice> {
        self.slices.iter().find(|slice| slice.range().start <= range.start && range.end <= slice.range().end)
    }

    /// What objects are made of, slice by slice.
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
    #[inline]
    pub fn cell(&self, number: u64) -> entasis::Result<Cell<'_>> {
        match self.slices.iter().find(|slice| slice.range().contains(&number)) {
            Some(slice) => slice.cell(number),
            None => Err(Error::corrupt("a cell is named that is not there").in_section("cells")),
        }
    }

    /// A cell that is read when it has to be.
    pub fn fetch(&mut self, py: Python<'_>, number: u64) -> PyResult<Cell<'_>> {
        let one = number..number.saturating_add(1);
        if self.slice(&one).is_none() {
            self.load(py, one)?;
        }
        self.cell(number).map_err(|e| errors::raise(py, &e))
    }

    /// Reads these cells, when they have to be.
    pub fn fetch_all(&mut self, py: Python<'_>, range: Range<u64>) -> PyResult<()> {
        if self.slice(&range).is_none() { self.load(py, range) } else { Ok(()) }
    }

    fn load(&mut self, py: Python<'_>, range: Range<u64>) -> PyResult<()> {
        let (cells, threads) = (&self.cells, self.threads);
        self.slices.push(monitor::run(py, |monitor| cells.load(range, threads, monitor))?);
        Ok(())
    }

    /// Reads these ranges, and all that is named from there.
    pub fn close(&mut self, py: Python<'_>, ranges: Vec<Range<u64>>) -> PyResult<()> {
        let mut fresh = Ranges::of(ranges, 0);
        while !fresh.0.is_empty() {
            for range in Ranges::of(fresh.0.clone(), GAP).0 {
                if self.slice(&range).is_none() {
                    self.load(py, range)?;
                }
            }
            let mut named = Vec::new();
            for range in &fresh.0 {
                let missing = || Error::corrupt("a cell is named that is not there").in_section("cells");
                let found = self.slice(range).ok_or_else(missing);
                found.and_then(|slice| name(slice, range, &mut named)).map_err(|e| errors::raise(py, &e))?;
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

/// The cells that those in a range name.
fn name(slice: &Slice, range: &Range<u64>, out: &mut Vec<Range<u64>>) -> entasis::Result<()> {
    let mut add = |named: Range<u64>| {
        if !(range.start <= named.start && named.end <= range.end) {
            out.push(named);
        }
    };
    let kinds = &slice.kinds()[(range.start - slice.range().start) as usize..];
    for (number, &kind) in range.clone().zip(kinds) {
        if kind != CellKind::Reference && !matches!(kind.class(), CellClass::Parent | CellClass::Array) {
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
