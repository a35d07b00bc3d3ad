//! Collects the cells to write.

use std::ops::Range;

use entasis_format::{CellClass, CellKind, ColumnType, Physical, Value, checksum};
use entasis_platform::{HostRead, memory::ScratchVec};

use super::index::{INDEXED_FROM, IndexPlan};
use super::layout::{CLASSES, INDEXED, RANK};
use super::scalars::{Scalars, Strings};
use super::slice::all_equal;
use crate::file::cell_columns::NAMES;
use crate::frame::deferred_column::DeferredColumn;
use crate::frame::pre_encoded::{BLOCK, EncodedBlock};
use crate::frame::{Array, Chunk, Column, HostValidity, HostValues};

/// Collects cells. The children of a cell are added together, then their descendants, child by
/// child.
#[derive(Debug, Default)]
pub struct CellWriter {
    /// The kinds of all cells, and the values of cells without parts.
    scalars: Scalars,
    /// Pre-encoded blocks of integers and floats. They come before the values in `scalars`.
    blocks: [Vec<EncodedBlock>; 2],
    ranks: Vec<u64>,
    /// First, end, count, keys.
    parents: [Vec<u64>; 4],
    /// Pool, at, len, shape.
    arrays: [Vec<u64>; 4],
    index: IndexPlan,
}

impl CellWriter {
    /// No cells yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of cells, which is also the next cell's number.
    #[inline]
    pub fn n_cells(&self) -> u64 {
        self.scalars.kinds.len() as u64
    }

    /// Adds a rank if one is due. Call this before a cell is added.
    #[inline]
    fn rank(&mut self) {
        if self.n_cells().is_multiple_of(RANK) {
            self.push_rank();
        }
    }

    #[cold]
    fn push_rank(&mut self) {
        let counts = self.counts();
        self.ranks.extend(counts);
    }

    /// The number of cells of each class, without the first class.
    fn counts(&self) -> [u64; CLASSES] {
        let [ints, floats, strings, bytes] = self.scalars.counts().map(|n| n as u64);
        let [ints, floats] =
            [(ints, 0), (floats, 1)].map(|(n, of)| n + (BLOCK * self.blocks[of].len()) as u64);
        [ints, floats, strings, bytes, self.parents[0].len() as u64, self.arrays[0].len() as u64]
    }

    /// Adds the ranks of the cells to add next, which have these kinds.
    fn ranks_of(&mut self, kinds: &[u8]) {
        let mut counts = self.counts();
        let (mut at, mut rest) = (self.n_cells(), kinds);
        while !rest.is_empty() {
            if at.is_multiple_of(RANK) {
                self.ranks.extend(counts);
            }
            let n = ((RANK - at % RANK) as usize).min(rest.len());
            count(&rest[..n], &mut counts);
            (at, rest) = (at + n as u64, &rest[n..]);
        }
    }

    /// Adds a cell that its kind describes completely.
    #[inline]
    pub fn unit(&mut self, kind: CellKind) {
        self.rank();
        self.scalars.unit(kind);
    }

    /// Adds an integer.
    #[inline]
    pub fn int(&mut self, kind: CellKind, value: i64) {
        self.rank();
        self.scalars.int(kind, value);
    }

    /// Adds a float.
    #[inline]
    pub fn float(&mut self, kind: CellKind, value: f64) {
        self.rank();
        self.scalars.float(kind, value);
    }

    /// Adds text.
    #[inline]
    pub fn text(&mut self, kind: CellKind, value: &str) {
        self.rank();
        self.scalars.text(kind, value);
    }

    /// Adds bytes.
    #[inline]
    pub fn bytes(&mut self, kind: CellKind, value: &[u8]) {
        self.rank();
        self.scalars.bytes(kind, value);
    }

    /// Reserves memory for `n` more values like the last `k`.
    pub fn expect(&mut self, n: usize, k: usize) {
        self.scalars.expect(n, k);
    }

    /// Reserves memory for `n` more cells, without their values.
    pub fn reserve_cells(&mut self, n: usize) {
        self.scalars.kinds.reserve(n);
    }

    /// Adds integers of one kind; `more` may follow.
    pub fn ints(&mut self, kind: CellKind, values: &[i64], more: usize) {
        self.ints_by(kind, values.len() + more, |ints| ints.extend_from_slice(values));
    }

    /// Adds floats of one kind; `more` may follow.
    pub fn floats(&mut self, kind: CellKind, values: &[f64], more: usize) {
        self.floats_by(kind, values.len() + more, |floats| floats.extend_from_slice(values));
    }

    /// Adds integers of one kind: `add` appends them to memory with room for `n` more. Returns
    /// their number.
    pub fn ints_by(&mut self, kind: CellKind, n: usize, add: impl FnOnce(&mut ScratchVec<i64>)) -> usize {
        debug_assert_eq!(kind.class(), CellClass::Int);
        let (counts, before) = (self.counts(), self.scalars.ints.len());
        self.scalars.ints.reserve(n);
        add(&mut self.scalars.ints);
        self.run(kind, counts, self.scalars.ints.len() - before, n)
    }

    /// Adds floats of one kind: `add` appends them to memory with room for `n` more. Returns their
    /// number.
    pub fn floats_by(&mut self, kind: CellKind, n: usize, add: impl FnOnce(&mut ScratchVec<f64>)) -> usize {
        debug_assert_eq!(kind.class(), CellClass::Float);
        let (counts, before) = (self.counts(), self.scalars.floats.len());
        self.scalars.floats.reserve(n);
        add(&mut self.scalars.floats);
        self.run(kind, counts, self.scalars.floats.len() - before, n)
    }

    /// The last integers or floats, which do not fill a block yet, as words.
    pub fn rest(&self, kind: CellKind) -> &[u64] {
        match kind.class() {
            CellClass::Int => bytemuck::cast_slice(&self.scalars.ints),
            CellClass::Float => bytemuck::cast_slice(&self.scalars.floats),
            _ => &[],
        }
    }

    /// Adds pre-encoded blocks of integers or floats of one kind. The blocks begin with the values
    /// of [`rest`](Self::rest). Returns the number of added values.
    pub fn blocks(&mut self, kind: CellKind, blocks: Vec<EncodedBlock>) -> usize {
        debug_assert!(matches!(kind.class(), CellClass::Int | CellClass::Float));
        if blocks.is_empty() {
            return 0;
        }
        let counts = self.counts();
        let n = BLOCK * blocks.len();
        let n_before = self.rest(kind).len().min(n);
        let are_floats = kind.class() == CellClass::Float;
        if are_floats {
            self.scalars.floats.drop_front(n_before);
        } else {
            self.scalars.ints.drop_front(n_before);
        }
        self.blocks[usize::from(are_floats)].extend(blocks);
        self.run(kind, counts, n - n_before, n - n_before)
    }

    /// Adds the kinds and ranks of `n` cells of one kind. `counts` are the counts before them.
    /// Returns `n`.
    fn run(&mut self, kind: CellKind, counts: [u64; CLASSES], n: usize, room: usize) -> usize {
        let from = self.n_cells();
        for at in (from.next_multiple_of(RANK)..from + n as u64).step_by(RANK as usize) {
            let mut rank = counts;
            if let Some(class) = (kind.class() as usize).checked_sub(1) {
                rank[class] += at - from;
            }
            self.ranks.extend(rank);
        }
        self.scalars.kinds.reserve(n.max(room));
        self.scalars.kinds.resize(self.scalars.kinds.len() + n, kind.code());
        n
    }

    /// Reserves memory for values that are added next.
    pub fn reserve(&mut self, values: &[Scalars]) {
        self.scalars.reserve(values.iter());
    }

    /// Adds values without parts.
    pub fn scalars(&mut self, values: &Scalars) {
        self.ranks_of(&values.kinds);
        self.scalars.append(values);
    }

    /// Adds values without parts. May take over their memory.
    pub fn take(&mut self, values: Scalars) {
        self.ranks_of(&values.kinds);
        self.scalars.take(values);
    }

    /// Whether the last `n` cells have this kind.
    pub fn are_all(&self, kind: CellKind, n: usize) -> bool {
        let kinds = &self.scalars.kinds[self.scalars.kinds.len() - n..];
        kinds.iter().all(|&code| code == kind.code())
    }

    /// Adds the last `n` cells, which are the keys of a map, to the key index if they are many and
    /// all strings or all integers.
    pub fn index_keys(&mut self, n: usize) {
        let kinds = &self.scalars.kinds[self.scalars.kinds.len() - n..];
        let all = |kind: CellKind| kinds.first() == Some(&kind.code()) && all_equal(kinds);
        let first = self.n_cells() - n as u64;
        let Scalars { strings, ints, .. } = &self.scalars;
        if n <= INDEXED_FROM || u32::try_from(n).is_err() {
        } else if all(CellKind::Str) {
            let before = strings.len() - n;
            self.index.add_strings(first, before..before + n);
        } else if all(CellKind::Int) {
            let hashes = ints[ints.len() - n..].iter().map(|key| checksum(&key.to_le_bytes()));
            self.index.add_hashes(first, n, hashes);
        }
    }

    /// Adds a cell that may have children. Returns its index among the parents.
    #[inline]
    pub fn parent(&mut self, kind: CellKind) -> usize {
        debug_assert_eq!(kind.class(), CellClass::Parent);
        self.rank();
        self.scalars.kinds.push(kind.code());
        self.parents.iter_mut().for_each(|numbers| numbers.push(0));
        self.parents[0].len() - 1
    }

    /// Sets the children of a parent: `count` cells from `first` on. Without children, stores 0 for
    /// both.
    pub fn set_children(&mut self, parent: usize, first: u64, count: u64, keys: u64) {
        let [firsts, _, counts, all_keys] = &mut self.parents;
        firsts[parent] = if count == 0 { 0 } else { first };
        counts[parent] = count;
        all_keys[parent] = keys;
    }

    /// Ends a parent after all its descendants were added.
    pub fn end(&mut self, parent: usize) {
        let end = self.n_cells();
        let [firsts, ends, ..] = &mut self.parents;
        ends[parent] = if firsts[parent] == 0 { 0 } else { end };
    }

    /// Sets the end of a parent's descendants.
    pub fn set_end(&mut self, parent: usize, end: u64) {
        self.parents[1][parent] = end;
    }

    /// Changes the kind of a cell with children. The new kind has children too.
    pub fn set_kind(&mut self, number: u64, kind: CellKind) {
        debug_assert_eq!(kind.class(), CellClass::Parent);
        self.scalars.kinds[number as usize] = kind.code();
    }

    /// Changes the keys of a parent.
    pub fn set_keys(&mut self, parent: usize, keys: u64) {
        self.parents[3][parent] = keys;
    }

    /// Adds an array of values in a pool. Returns its index among arrays.
    pub fn array(&mut self, kind: CellKind, pool: u64, at: u64, len: u64) -> usize {
        debug_assert_eq!(kind.class(), CellClass::Array);
        self.rank();
        self.scalars.kinds.push(kind.code());
        for (numbers, number) in self.arrays.iter_mut().zip([pool, at, len, 0]) {
            numbers.push(number);
        }
        self.arrays[0].len() - 1
    }

    /// Sets the cell that holds the shape of an array. Without a shape, the array has one
    /// dimension.
    pub fn set_shape(&mut self, array: usize, shape: u64) {
        self.arrays[3][array] = shape;
    }

    /// The number of parents, which is also the next parent's index.
    pub fn n_parents(&self) -> usize {
        self.parents[0].len()
    }

    /// All descendants of a parent that has ended.
    pub fn below(&self, parent: usize) -> Range<u64> {
        self.parents[0][parent]..self.parents[1][parent]
    }

    /// The columns of all cells, numbered from `first` on, and the map that names them. `lend`
    /// returns a handle to bytes that stays valid while the columns are used.
    pub fn columns(
        &self,
        first: u64,
        lend: &dyn Fn(&[u8]) -> HostRead,
    ) -> (Vec<Column>, Vec<(Value, Value)>) {
        let chunk = |n: usize, values: HostValues| {
            if n > 0 { vec![Chunk { n, values, validity: HostValidity::AllValid }] } else { Vec::new() }
        };
        let words = |physical: Physical, bytes: &[u8]| {
            let width = physical.width().unwrap_or(1);
            let values = HostValues::Words { memory: lend(bytes), stride: width as isize };
            (physical, chunk(bytes.len() / width, values))
        };
        let text = |physical, strings: &Strings| {
            let offsets = lend(bytemuck::cast_slice(&strings.offsets));
            let values = HostValues::Offsets64 { offsets, bytes: lend(&strings.bytes) };
            (physical, chunk(strings.len(), values))
        };
        let u64s = |numbers: &[u64]| words(Physical::U64, bytemuck::cast_slice(numbers));
        let with = |blocks: &[EncodedBlock], (physical, rest): (Physical, Vec<Chunk>)| {
            let encoded = |block: &EncodedBlock| chunk(BLOCK, HostValues::Encoded(block.clone()));
            (physical, blocks.iter().flat_map(encoded).chain(rest).collect())
        };
        let scalars = &self.scalars;
        let [ints, floats] = &self.blocks;
        let mut all = vec![
            words(Physical::U8, &scalars.kinds),
            u64s(&self.ranks),
            with(ints, words(Physical::I64, bytemuck::cast_slice(&scalars.ints))),
            with(floats, words(Physical::F64, bytemuck::cast_slice(&scalars.floats))),
            text(Physical::Utf8, &scalars.strings),
            text(Physical::Binary, &scalars.bytes),
        ];
        all.extend(self.parents.iter().chain(&self.arrays).map(|numbers| u64s(numbers)));
        debug_assert_eq!(all.len(), INDEXED);
        let (begins, counts) = self.index.begins();
        all.push((Physical::U64, chunk(begins.len(), HostValues::Counted(begins.into()))));
        // Encoding strings takes longest, so the index is built by another thread meanwhile.
        let (plan, strings) = (self.index.clone(), &scalars.strings);
        let (offsets, bytes) = (lend(bytemuck::cast_slice(&strings.offsets)), lend(&strings.bytes));
        let index = DeferredColumn::both(move || plan.make(&offsets, &bytes));
        for (n, numbers) in counts.into_iter().zip(index) {
            all.push((Physical::U32, chunk(n, HostValues::Deferred(numbers))));
        }
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for (name, (physical, chunks)) in NAMES.into_iter().zip(all) {
            if chunks.is_empty() {
                continue;
            }
            names.push((Value::from(name), Value::Column(first + columns.len() as u64)));
            columns.push(Column {
                run: None,
                name: name.to_owned(),
                column_type: ColumnType::plain(physical),
                detail: None,
                host_detail: None,
                dictionary: None,
                array: Array::from(chunks),
                children: Vec::new(),
            });
        }
        (columns, names)
    }
}

/// Adds the number of cells of each class, without the first class.
fn count(kinds: &[u8], counts: &mut [u64; CLASSES]) {
    let mut add = |code: u8, n: u64| {
        let class = CellKind::of(code).map_or(0, |kind| kind.class() as usize);
        if let Some(class) = class.checked_sub(1) {
            counts[class] += n;
        }
    };
    let Some(&first) = kinds.first() else { return };
    if all_equal(kinds) {
        return add(first, kinds.len() as u64);
    }
    kinds.iter().for_each(|&code| add(code, 1));
}
