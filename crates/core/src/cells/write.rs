//! Cells in the making.

use std::ops::Range;

use entasis_format::{CellClass, CellKind, ColumnType, Physical, Value};
use entasis_kernels::HostRead;

use super::{NAMES, RANK, columns_of};
use crate::frame::{Array, Chunk, Column, HostValidity, HostValues};

/// Strings or bytes, one behind the other.
#[derive(Debug)]
struct Strings {
    /// Where each ends; the first is 0.
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Strings {
    fn new() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.offsets.push(self.bytes.len() as i64);
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Collects cells. Children of a cell are added together; what is below them follows, sibling by sibling.
#[derive(Debug)]
pub struct CellWriter {
    kinds: Vec<u8>,
    ranks: Vec<u64>,
    ints: Vec<i64>,
    floats: Vec<f64>,
    strings: Strings,
    bytes: Strings,
    /// First, end, count, keys.
    parents: [Vec<u64>; 4],
    /// Pool, at, len, shape.
    arrays: [Vec<u64>; 4],
}

impl Default for CellWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl CellWriter {
    /// No cells yet.
    pub fn new() -> Self {
        Self {
            kinds: Vec::new(),
            ranks: Vec::new(),
            ints: Vec::new(),
            floats: Vec::new(),
            strings: Strings::new(),
            bytes: Strings::new(),
            parents: Default::default(),
            arrays: Default::default(),
        }
    }

    /// The number of cells, which is that of the next one.
    #[inline]
    pub fn n_cells(&self) -> u64 {
        self.kinds.len() as u64
    }

    #[inline]
    fn push(&mut self, kind: CellKind) {
        if (self.kinds.len() as u64).is_multiple_of(RANK) {
            self.push_rank();
        }
        self.kinds.push(kind.code());
    }

    #[cold]
    fn push_rank(&mut self) {
        let n = [
            self.ints.len(),
            self.floats.len(),
            self.strings.len(),
            self.bytes.len(),
            self.parents[0].len(),
            self.arrays[0].len(),
        ];
        self.ranks.extend(n.map(|n| n as u64));
    }

    /// Adds a cell of which the kind says all.
    #[inline]
    pub fn unit(&mut self, kind: CellKind) {
        debug_assert_eq!(kind.class(), CellClass::Unit);
        self.push(kind);
    }

    /// Adds an integer.
    #[inline]
    pub fn int(&mut self, kind: CellKind, value: i64) {
        debug_assert_eq!(kind.class(), CellClass::Int);
        self.push(kind);
        self.ints.push(value);
    }

    /// Adds a float.
    #[inline]
    pub fn float(&mut self, kind: CellKind, value: f64) {
        debug_assert_eq!(kind.class(), CellClass::Float);
        self.push(kind);
        self.floats.push(value);
    }

    /// Adds text.
    #[inline]
    pub fn text(&mut self, kind: CellKind, value: &str) {
        debug_assert_eq!(kind.class(), CellClass::Str);
        self.push(kind);
        self.strings.push(value.as_bytes());
    }

    /// Adds bytes.
    #[inline]
    pub fn bytes(&mut self, kind: CellKind, value: &[u8]) {
        debug_assert_eq!(kind.class(), CellClass::Bytes);
        self.push(kind);
        self.bytes.push(value);
    }

    /// Adds a cell that may have children. Returns its place among those.
    #[inline]
    pub fn parent(&mut self, kind: CellKind) -> usize {
        debug_assert_eq!(kind.class(), CellClass::Parent);
        self.push(kind);
        self.parents.iter_mut().for_each(|numbers| numbers.push(0));
        self.parents[0].len() - 1
    }

    /// Says where the children of the parent in this place are: `count` of them from `first` on. Without any, both are 0.
    pub fn set_children(&mut self, place: usize, first: u64, count: u64, keys: u64) {
        let [firsts, _, counts, all_keys] = &mut self.parents;
        firsts[place] = if count == 0 { 0 } else { first };
        counts[place] = count;
        all_keys[place] = keys;
    }

    /// Says that all that is below the parent in this place is there.
    pub fn end(&mut self, place: usize) {
        let end = self.n_cells();
        let [firsts, ends, ..] = &mut self.parents;
        ends[place] = if firsts[place] == 0 { 0 } else { end };
    }

    /// Says where all that is below the parent in this place ends.
    pub fn set_end(&mut self, place: usize, end: u64) {
        self.parents[1][place] = end;
    }

    /// Changes what a parent has for keys.
    pub fn set_keys(&mut self, place: usize, keys: u64) {
        self.parents[3][place] = keys;
    }

    /// Adds an array: values of a pool. Returns its place among arrays.
    pub fn array(&mut self, kind: CellKind, pool: u64, at: u64, len: u64) -> usize {
        debug_assert_eq!(kind.class(), CellClass::Array);
        self.push(kind);
        for (numbers, number) in self.arrays.iter_mut().zip([pool, at, len, 0]) {
            numbers.push(number);
        }
        self.arrays[0].len() - 1
    }

    /// Says which cell is the shape of the array in this place, which otherwise has one dimension.
    pub fn set_shape(&mut self, place: usize, shape: u64) {
        self.arrays[3][place] = shape;
    }

    /// The number of parents, which is the place of the next one.
    pub fn n_parents(&self) -> usize {
        self.parents[0].len()
    }

    /// All cells below the parent in this place, which has come to its end.
    pub fn below(&self, place: usize) -> Range<u64> {
        self.parents[0][place]..self.parents[1][place]
    }

    /// The columns of all cells, and the map that names them: its columns count from `first` on. `lend` makes memory of bytes, for as long as
    /// the columns are used.
    pub fn columns(
        &self,
        first: u64,
        lend: &dyn Fn(&[u8]) -> HostRead,
    ) -> (Vec<Column>, Vec<(Value, Value)>) {
        let words = |physical: Physical, bytes: &[u8]| {
            let width = physical.width().unwrap_or(1);
            let values = HostValues::Words { memory: lend(bytes), stride: width as isize };
            (physical, bytes.len() / width, values)
        };
        let text = |physical, strings: &Strings| {
            let offsets = lend(bytemuck::cast_slice(&strings.offsets));
            (physical, strings.len(), HostValues::Offsets64 { offsets, bytes: lend(&strings.bytes) })
        };
        let u64s = |numbers: &[u64]| words(Physical::U64, bytemuck::cast_slice(numbers));
        let mut all = vec![
            words(Physical::U8, &self.kinds),
            u64s(&self.ranks),
            words(Physical::I64, bytemuck::cast_slice(&self.ints)),
            words(Physical::F64, bytemuck::cast_slice(&self.floats)),
            text(Physical::Utf8, &self.strings),
            text(Physical::Binary, &self.bytes),
        ];
        all.extend(self.parents.iter().chain(&self.arrays).map(|numbers| u64s(numbers)));
        debug_assert_eq!(all.len(), columns_of(CellClass::Array).0.end);
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for (name, (physical, n, values)) in NAMES.into_iter().zip(all).filter(|(_, (_, n, _))| *n > 0) {
            names.push((Value::from(name), Value::Column(first + columns.len() as u64)));
            columns.push(Column {
                name: name.to_owned(),
                column_type: ColumnType::plain(physical),
                detail: None,
                dictionary: None,
                array: Array::new(Chunk { n, values, validity: HostValidity::AllValid }),
                children: Vec::new(),
            });
        }
        (columns, names)
    }
}
