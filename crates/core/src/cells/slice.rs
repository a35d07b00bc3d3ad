//! Consecutive cells in memory: the kind of each, and the index of its value.

use std::ops::Range;

use bytemuck::cast_slice;
use entasis_format::{CellClass, CellKind, Error, Result, fallible};
use entasis_platform::Buffer;

use super::cell::{Cell, Children, damage};
use super::layout::{CELLS, CLASSES, RANK};

/// Kinds that are compared together.
const TOGETHER: usize = 256;
/// This many kinds are compared one by one first, because most runs are short.
const SHORT: usize = 32;

/// Consecutive cells in memory.
#[derive(Debug)]
pub struct Slice {
    pub(super) index: CellIndex,
    /// Words of 64 bits.
    pub(super) ints: Buffer,
    pub(super) floats: Buffer,
    /// Offsets of 64 bits that begin with 0, and text. The decoder checked that each string is
    /// UTF-8.
    pub(super) strings: (Buffer, Buffer),
    pub(super) bytes: (Buffer, Buffer),
    pub(super) parents: [Buffer; 4],
    /// The pools of all arrays, the indices of their first values, their lengths, and their shapes.
    pub(super) arrays: Buffer,
}

/// Consecutive cells of one kind.
#[derive(Clone, Copy, Debug)]
pub enum Run<'a> {
    /// Kinds without a value; they may differ.
    Units(&'a [CellKind]),
    /// Integers.
    Ints(CellKind, &'a [i64]),
    /// Floats.
    Floats(CellKind, &'a [f64]),
    /// Texts.
    Texts(CellKind, Texts<'a>),
    /// One cell of another class.
    Other,
}

/// Contiguous strings.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The start of each string, and the end of the last one.
    offsets: &'a [i64],
    text: &'a [u8],
}

impl<'a> Texts<'a> {
    /// The number of strings.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The string at index `i`, in UTF-8.
    #[inline]
    pub fn get(&self, i: usize) -> &'a [u8] {
        &self.text[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// The strings in a range.
    pub fn part(&self, range: Range<usize>) -> Texts<'a> {
        Texts { offsets: &self.offsets[range.start..=range.end], text: self.text }
    }

    /// The bytes of all strings, joined.
    pub fn joined(&self) -> &'a [u8] {
        let (first, end) = (self.offsets[0], self.offsets[self.len()]);
        &self.text[first as usize..end as usize]
    }

    /// The range of the string at index `i` in [`joined`](Self::joined).
    #[inline]
    pub fn range(&self, i: usize) -> Range<usize> {
        let [start, end] = [i, i + 1].map(|i| (self.offsets[i] - self.offsets[0]) as usize);
        start..end
    }
}

/// The kinds of cells, and the index of each value among the values of its class.
#[derive(Debug)]
pub(super) struct CellIndex {
    start: u64,
    kinds: Vec<CellKind>,
    /// One block per [`RANK`] cells; the first may be shorter.
    blocks: Vec<Block>,
    /// For blocks of several kinds: the index of each value, counted from the start of the block.
    indices: Vec<u16>,
}

#[derive(Debug)]
struct Block {
    /// The index of each class at the start of the block.
    first: [u32; CLASSES + 1],
    /// Where the block begins in the list of indices; `None` if all its cells have one class.
    indices: Option<usize>,
}

/// A number for each class of cells.
pub(super) type Counts = [u64; CLASSES];

#[inline]
fn known(code: u8) -> Result<CellKind> {
    CellKind::of(code).ok_or_else(|| unknown(code))
}

/// Whether all codes are equal. The comparison with the neighbours is vectorised.
#[inline]
pub(super) fn all_equal(codes: &[u8]) -> bool {
    codes.len() < 2 || codes[1..] == codes[..codes.len() - 1]
}

/// The number of kinds before the first one for which `is_equal` is false. Compares long runs with
/// vector instructions.
#[inline]
fn n_equal(kinds: &[CellKind], is_equal: impl Fn(CellKind) -> bool + Copy) -> usize {
    let count = |kinds: &[CellKind]| kinds.iter().take_while(|&&kind| is_equal(kind)).count();
    let n = count(&kinds[..kinds.len().min(SHORT)]);
    if n < SHORT {
        return n;
    }
    let rest = &kinds[n..];
    let all = |part: &&[CellKind]| part.iter().fold(true, |all, &kind| all & is_equal(kind));
    let whole = TOGETHER * rest.chunks_exact(TOGETHER).take_while(all).count();
    n + whole + count(&rest[whole..])
}

#[cold]
fn unknown(code: u8) -> Error {
    Error::unsupported(format!("a cell has the unknown kind {code}")).in_section("cells")
}

/// Builds the index of a range of cells.
pub(super) struct Kinds {
    index: CellIndex,
    /// The number of cells of each class since the start of the range.
    counts: [u64; CLASSES + 1],
    /// The index of the first value of each class in its column.
    base: Counts,
    /// The number of cells in the first block that come before the range.
    skip: usize,
    is_begun: bool,
}

impl Kinds {
    /// An index for a range, in the memory of `kinds`.
    pub(super) fn new(range: Range<u64>, kinds: Vec<CellKind>) -> Self {
        Self {
            index: CellIndex { start: range.start, kinds, blocks: Vec::new(), indices: Vec::new() },
            counts: [0; CLASSES + 1],
            base: [0; CLASSES],
            skip: (range.start % RANK) as usize,
            is_begun: false,
        }
    }

    /// Adds the kinds of the next cells with their ranks, in whole blocks. The first block holds
    /// the range's first cell.
    pub(super) fn add(&mut self, codes: &[u8], ranks: &[u64]) -> Result<()> {
        let Self { index: CellIndex { kinds, blocks, indices, .. }, counts, base, .. } = self;
        for (block, rank) in codes.chunks(RANK as usize).zip(ranks.chunks_exact(CLASSES)) {
            let mut block = block;
            if !std::mem::replace(&mut self.is_begun, true) {
                let mut before = [0u64; CLASSES + 1];
                let (lead, rest) = block.split_at(self.skip.min(block.len()));
                for &code in lead {
                    before[known(code)?.class() as usize] += 1;
                }
                for k in 0..CLASSES {
                    let wrong = || damage("a rank does not match the number of cells before it");
                    base[k] = rank[k].checked_add(before[k + 1]).ok_or_else(wrong)?;
                }
                block = rest;
            } else if (0..CLASSES).any(|k| base[k].checked_add(counts[k + 1]) != Some(rank[k])) {
                return Err(damage("a rank does not match the number of cells before it"));
            }
            let Some(&first_code) = block.first() else { continue };
            let first = counts.map(|n| n as u32);
            fallible::reserve(kinds, block.len(), CELLS)?;
            fallible::reserve(blocks, 1, CELLS)?;
            if all_equal(block) {
                let kind = known(first_code)?;
                kinds.resize(kinds.len() + block.len(), kind);
                counts[kind.class() as usize] += block.len() as u64;
                blocks.push(Block { first, indices: None });
                continue;
            }
            blocks.push(Block { first, indices: Some(indices.len()) });
            fallible::reserve(indices, block.len(), CELLS)?;
            let mut here = [0u16; CLASSES + 1];
            for &code in block {
                let kind = known(code)?;
                let next = &mut here[kind.class() as usize];
                kinds.push(kind);
                indices.push(*next);
                *next += 1;
            }
            for (count, here) in counts.iter_mut().zip(here) {
                *count += u64::from(here);
            }
        }
        Ok(())
    }

    /// Returns the index, and the first value and the number of values of each class.
    pub(super) fn end(self) -> (CellIndex, Counts, Counts) {
        let mut of_classes = [0; CLASSES];
        of_classes.copy_from_slice(&self.counts[1..]);
        (self.index, self.base, of_classes)
    }
}

impl CellIndex {
    /// The kind of the cell at index `i`, and the index of its value.
    #[inline]
    fn get(&self, i: usize) -> Option<(CellKind, usize)> {
        let kind = *self.kinds.get(i)?;
        let lead = (self.start % RANK) as usize;
        let b = (lead + i) / RANK as usize;
        let block = &self.blocks[b];
        let offset = i - (b * RANK as usize).saturating_sub(lead);
        let index = match block.indices {
            None => offset,
            Some(at) => usize::from(self.indices[at + offset]),
        };
        Some((kind, block.first[kind.class() as usize] as usize + index))
    }
}

impl Slice {
    /// The cells of the slice.
    #[inline]
    pub fn range(&self) -> Range<u64> {
        self.index.start..self.index.start + self.index.kinds.len() as u64
    }

    /// The kinds, in order.
    #[inline]
    pub fn kinds(&self) -> &[CellKind] {
        &self.index.kinds
    }

    /// Whether `is_fine` holds for all kinds in `range`, which the slice must contain. Fast if
    /// `is_fine` has no branches.
    pub fn are_all(&self, range: Range<u64>, is_fine: impl Fn(CellKind) -> bool + Copy) -> bool {
        self.numbers(range, move |kind| !is_fine(kind)).next().is_none()
    }

    /// The cells in `range` whose kind `is_wanted`. The slice must contain `range`. Fast if they
    /// are few.
    pub fn numbers(
        &self,
        range: Range<u64>,
        is_wanted: impl Fn(CellKind) -> bool + Copy,
    ) -> impl Iterator<Item = u64> {
        let index = |number: u64| (number - self.index.start) as usize;
        let kinds = &self.index.kinds[index(range.start)..index(range.end)];
        // No early exit, so that the loop is vectorised.
        let has_some = move |part: &[CellKind]| part.iter().fold(false, |any, &kind| any | is_wanted(kind));
        let parts = (range.start..).step_by(TOGETHER).zip(kinds.chunks(TOGETHER));
        parts.filter(move |(_, part)| has_some(part)).flat_map(move |(first, part)| {
            let found = (first..).zip(part).filter(move |(_, kind)| is_wanted(**kind));
            found.map(|(number, _)| number)
        })
    }

    fn ints(&self) -> &[i64] {
        cast_slice(&self.ints)
    }

    fn floats(&self) -> &[f64] {
        cast_slice(&self.floats)
    }

    /// The children of all parents, in order.
    pub fn parents(&self) -> impl Iterator<Item = Children> + '_ {
        (0..self.parents[0].len() / 8).map(|index| self.children(index))
    }

    fn children(&self, index: usize) -> Children {
        let [first, end, count, keys] = &self.parents;
        let at = |numbers: &Buffer| cast_slice::<u8, u64>(numbers)[index];
        Children { first: at(first), end: at(end), count: at(count), keys: at(keys) }
    }

    /// The cell of this number.
    ///
    /// # Errors
    /// *Corrupt* when it is not in the slice.
    #[inline]
    pub fn cell(&self, number: u64) -> Result<Cell<'_>> {
        let i = number.checked_sub(self.index.start).and_then(|i| usize::try_from(i).ok());
        let Some((kind, index)) = i.and_then(|i| self.index.get(i)) else {
            return Err(damage("a cell number is out of range"));
        };
        Ok(match kind.class() {
            CellClass::Unit => Cell::Unit(kind),
            CellClass::Int => Cell::Int(kind, self.ints()[index]),
            CellClass::Float => Cell::Float(kind, self.floats()[index]),
            CellClass::Str => {
                let offsets = &cast_slice(&self.strings.0)[index..index + 2];
                let text = Texts { offsets, text: &self.strings.1 }.get(0);
                Cell::Str(kind, str::from_utf8(text).map_err(|_| damage("a string of a cell is not UTF-8"))?)
            }
            CellClass::Bytes => {
                let (offsets, bytes) = &self.bytes;
                let offsets: &[i64] = cast_slice(offsets);
                Cell::Bytes(kind, &bytes[offsets[index] as usize..offsets[index + 1] as usize])
            }
            CellClass::Parent => Cell::Parent(kind, self.children(index)),
            CellClass::Array => {
                let [pool, at, len, shape] = self.arrays_of(index, 1).map(|numbers| numbers[0]);
                Cell::Array { kind, pool, at, len, shape }
            }
        })
    }

    /// Pools, indices, lengths and shapes of `n` arrays.
    #[inline]
    fn arrays_of(&self, at: usize, n: usize) -> [&[u64]; 4] {
        let numbers: &[u64] = cast_slice(&self.arrays);
        let n_arrays = numbers.len() / 4;
        [0, 1, 2, 3].map(|of| &numbers[of * n_arrays..][at..at + n])
    }

    /// The consecutive arrays from `number` up to `end`, both in the slice: pools, indices, lengths
    /// and shapes. `None` if the first cell is not an array; otherwise at least one array.
    #[inline]
    pub fn arrays(&self, number: u64, end: u64) -> Option<[&[u64]; 4]> {
        let index = |number: u64| number.checked_sub(self.index.start).and_then(|i| usize::try_from(i).ok());
        let (i, end) = index(number).zip(index(end))?;
        let kinds = self.index.kinds.get(i..end).filter(|kinds| !kinds.is_empty())?;
        let (_, at) = self.index.get(i).filter(|(kind, _)| *kind == CellKind::Array)?;
        let n = n_equal(kinds, |kind| kind == CellKind::Array);
        Some(self.arrays_of(at, n))
    }

    /// The consecutive cells from `number` up to `end` that have the kind of the first cell. If the
    /// first cell has no value, the consecutive cells without a value, of any kind.
    ///
    /// # Errors
    /// *Corrupt* when they are not in the slice.
    #[inline]
    pub fn run(&self, number: u64, end: u64) -> Result<Run<'_>> {
        let not_there = || damage("a cell number is out of range");
        let index = |number: u64| number.checked_sub(self.index.start).and_then(|i| usize::try_from(i).ok());
        let (i, end) = index(number).zip(index(end)).ok_or_else(not_there)?;
        let kinds = self.index.kinds.get(i..end).ok_or_else(not_there)?;
        let (kind, at) = self.index.get(i).ok_or_else(not_there)?;
        if kind.class() as u8 >= CellClass::Bytes as u8 {
            return Ok(Run::Other);
        }
        if kind.class() == CellClass::Unit {
            let n = n_equal(kinds, |other| other.class() == CellClass::Unit);
            return Ok(Run::Units(&kinds[..n]));
        }
        let n = n_equal(kinds, |other| other == kind);
        Ok(match kind.class() {
            CellClass::Int => Run::Ints(kind, &self.ints()[at..at + n]),
            CellClass::Float => Run::Floats(kind, &self.floats()[at..at + n]),
            CellClass::Str => {
                let offsets = &cast_slice(&self.strings.0)[at..=at + n];
                Run::Texts(kind, Texts { offsets, text: &self.strings.1 })
            }
            _ => Run::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_kinds_end_where_they_do() {
        for n in [0, 1, SHORT - 1, SHORT, SHORT + 1, TOGETHER, SHORT + TOGETHER, 3 * TOGETHER + 5] {
            for end in [0, 1, SHORT - 1, SHORT, SHORT + TOGETHER - 1, SHORT + TOGETHER, n] {
                let kinds: Vec<_> =
                    (0..n).map(|i| if i == end { CellKind::Float } else { CellKind::Int }).collect();
                assert_eq!(n_equal(&kinds, |kind| kind == CellKind::Int), end.min(n));
                let codes: Vec<u8> = kinds.iter().map(|kind| kind.code()).collect();
                assert_eq!(all_equal(&codes), end >= n || n < 2, "{n} {end}");
            }
        }
    }

    #[test]
    fn parts_of_texts() {
        let texts = Texts { offsets: &[0, 2, 2, 5], text: b"abcde" };
        let part = texts.part(1..3);
        assert_eq!((part.len(), part.joined(), part.get(1)), (2, &b"cde"[..], &b"cde"[..]));
        assert_eq!((part.range(0), part.range(1), texts.part(0..1).joined()), (0..0, 0..3, &b"ab"[..]));
    }
}
