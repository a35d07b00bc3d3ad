//! Reads any range of cells with their values.

use std::ops::Range;

use bytemuck::Pod;
use entasis_format::{CellClass, Error, Logical, MAX_BLOCK_VALUES, Physical, Result, Value, fallible};
use entasis_platform::Buffers;

use super::cell::damage;
use super::layout::{CELLS, CLASSES, INDEX_TYPES, INDEXED, RANK, columns_of};
use super::slice::{CellIndex, Counts, Kinds, Slice};
use crate::file::File;
use crate::file::cell_columns::{CellColumns, NAMES};
use crate::monitor::{Monitor, Silent};
use crate::read::{MissingTo, Output, Request, Text};
use crate::rows::Rows;

/// The cells of an open file.
#[derive(Debug)]
pub struct Cells {
    file: File,
    columns: [Option<u64>; NAMES.len()],
    pools: (u64, u64),
    n_cells: u64,
    /// The number of cells of each class, without the first class.
    n_of: [u64; CLASSES],
    /// The number of maps with a key index.
    n_indexed: u64,
}

/// Cells whose kinds are read together: a block.
const BLOCK: u64 = MAX_BLOCK_VALUES as u64;

/// Approximate bytes of a string with its offset.
const TEXT: u64 = 32;

/// Approximate bytes of the object that a host makes of a cell.
const CELL_LEN: u64 = 32;

/// Bytes that the caches of a processor hold.
const CACHED: u64 = 16 << 20;

/// The number of threads to read `len` bytes of cells if one thread then builds objects from them.
/// Cells that fit into a processor's caches are read by one thread, because fetching bytes that
/// another processor decoded takes longer than decoding them.
pub fn threads_for(len: u64, threads: Option<usize>) -> Option<usize> {
    if len <= CACHED { Some(1) } else { threads }
}

impl Cells {
    pub(super) fn new(file: File, of: &CellColumns) -> Result<Self> {
        let columns = of.numbers;
        let length = |index: usize, physical: Physical| -> Result<u64> {
            let Some(number) = columns[index] else { return Ok(0) };
            let record = file.column(number)?.record;
            let is_plain = record.column_type.physical == physical
                && record.column_type.logical == Logical::Plain
                && record.n_missing == 0
                && !record.is_bundled;
            if is_plain {
                Ok(record.n_values)
            } else {
                Err(damage("a column of cells has the wrong type").in_column(NAMES[index]))
            }
        };
        let n_cells = length(0, Physical::U8)?;
        let n_ranks = length(1, Physical::U64)?;
        if n_cells.div_ceil(RANK).checked_mul(CLASSES as u64) != Some(n_ranks) {
            return Err(damage("the number of ranks does not fit the number of cells"));
        }
        let mut n_of = [0; CLASSES];
        let classes = [
            CellClass::Int,
            CellClass::Float,
            CellClass::Str,
            CellClass::Bytes,
            CellClass::Parent,
            CellClass::Array,
        ];
        for (n, class) in n_of.iter_mut().zip(classes) {
            let (indices, physical) = columns_of(class);
            *n = length(indices.start, physical)?;
            for index in indices {
                if length(index, physical)? != *n {
                    return Err(damage("columns of a class of cells differ in length"));
                }
            }
        }
        let total: u64 = n_of.iter().fold(0, |sum, &n| sum.saturating_add(n));
        if total > n_cells {
            return Err(damage("the cells have more values than there are cells"));
        }
        for (index, physical) in INDEX_TYPES {
            length(index, physical)?;
        }
        let n_indexed = length(INDEXED, Physical::U64)?;
        if n_indexed % 3 != 0 {
            return Err(damage("the key index is incomplete").in_column(NAMES[INDEXED]));
        }
        let (first, n) = of.pools;
        if first.checked_add(n).is_none_or(|end| end > file.n_columns_total()) {
            return Err(damage("the pools of arrays are not columns of the file"));
        }
        Ok(Self { file, columns, pools: of.pools, n_cells, n_of, n_indexed: n_indexed / 3 })
    }

    /// The number of cells of the file.
    pub fn n_cells(&self) -> u64 {
        self.n_cells
    }

    /// The number of maps with a key index.
    pub(super) fn n_indexed(&self) -> u64 {
        self.n_indexed
    }

    /// The number of values in a column of cells.
    pub(super) fn n_values(&self, index: usize) -> Result<u64> {
        self.columns[index].map_or(Ok(0), |number| Ok(self.file.column(number)?.record.n_values))
    }

    /// Some values of a column of cells.
    pub(super) fn words<T: Pod>(&self, index: usize, rows: Range<u64>) -> Result<Vec<T>> {
        self.read_words(index, rows, Some(1), &Silent)
    }

    pub(super) fn read_words<T: Pod>(
        &self,
        index: usize,
        rows: Range<u64>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<T>> {
        if rows.end > self.n_values(index)? {
            return Err(damage("a column of cells is shorter than expected").in_column(NAMES[index]));
        }
        let mut words: Vec<T> = memory(rows.end - rows.start)?;
        let request = self.request(index, rows, bytemuck::cast_slice_mut(&mut words))?;
        self.file.read(request.into_iter().collect(), threads, monitor)?;
        Ok(words)
    }

    /// The file, as a view of all its columns.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The number of the column that holds a pool, among all columns of the file.
    ///
    /// # Errors
    /// *Corrupt* when the file does not have the pool.
    pub fn pool(&self, pool: u64) -> Result<u64> {
        let (first, n) = self.pools;
        if pool < n { Ok(first + pool) } else { Err(damage("an array names a pool that does not exist")) }
    }

    /// Reads the cells of a range and their values.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported* for an unknown kind, *io*, *limit*, *interrupted*.
    pub fn load(&self, range: Range<u64>, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Slice> {
        self.load_range(range, threads, monitor).map_err(|e| e.in_file(self.file.path()))
    }

    fn load_range(&self, range: Range<u64>, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Slice> {
        if range.start > range.end || range.end > self.n_cells {
            return Err(damage("a cell number is out of range"));
        }
        if range.end - range.start >= u64::from(u32::MAX) {
            return Err(Error::limit("too many cells to read at once"));
        }
        let len = (range.end - range.start).saturating_mul(CELL_LEN);
        self.file.check_decoded_len(len)?;
        let end = range.end;
        let (index, base, counts) = self.read_kinds(range, threads, monitor)?.end();
        self.read_values(index, self.values_of_classes(end, base, counts)?, threads, monitor)
    }

    /// Reads the kinds of the cells of a range.
    fn read_kinds(&self, range: Range<u64>, threads: Option<usize>, monitor: &dyn Monitor) -> Result<Kinds> {
        let chunk = range.start / RANK;
        let from = chunk * RANK;
        let last = range.end.div_ceil(RANK).max(chunk);
        let mut ranks: Vec<u64> = memory((last - chunk) * CLASSES as u64)?;
        let classes = CLASSES as u64;
        let request =
            self.request(1, chunk * classes..last * classes, bytemuck::cast_slice_mut(&mut ranks))?;
        self.file.read(request.into_iter().collect(), threads, monitor)?;
        let mut kinds = Kinds::new(range.clone(), room(range.end - range.start)?);
        let mut codes: Vec<u8> = memory((range.end - from).min(BLOCK))?;
        let mut rest = ranks.as_slice();
        let mut at = from;
        while at < range.end {
            let end = (at / BLOCK * BLOCK + BLOCK).min(range.end);
            let codes = &mut codes[..(end - at) as usize];
            let request = self.request(0, at..end, codes)?;
            self.file.read(request.into_iter().collect(), Some(1), monitor)?;
            let (of_these, of_others) = rest.split_at(codes.len().div_ceil(RANK as usize) * CLASSES);
            kinds.add(codes, of_these)?;
            (at, rest) = (end, of_others);
        }
        Ok(kinds)
    }

    /// The values of the cells before cell `end`, in the columns of each class: `counts` values
    /// from `base` on.
    fn values_of_classes(&self, end: u64, base: Counts, counts: Counts) -> Result<[Range<u64>; CLASSES]> {
        let mut of_class: [Range<u64>; CLASSES] = Default::default();
        for k in 0..CLASSES {
            let last = base[k].checked_add(counts[k]).filter(|&last| last <= self.n_of[k]);
            // No values may follow the last cell.
            let is_all = end < self.n_cells || last == Some(self.n_of[k]);
            match last {
                Some(last) if is_all => of_class[k] = base[k]..last,
                _ => return Err(damage("the number of values does not match the kinds of the cells")),
            }
        }
        Ok(of_class)
    }

    /// Reads the values of the cells in `index`.
    fn read_values(
        &self,
        index: CellIndex,
        of_class: [Range<u64>; CLASSES],
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Slice> {
        let [of_ints, of_floats, of_strings, of_bytes, of_parents, of_arrays] = of_class;
        let n = |values: &Range<u64>| values.end - values.start;
        // This memory is freed as soon as objects are built.
        let mut memory = Buffers::scratch();
        let mut buffer = |n: u64| {
            let len = usize::try_from(n.saturating_mul(8)).unwrap_or(usize::MAX);
            memory.zeroed(len).ok_or_else(|| Error::out_of_memory(len, CELLS))
        };
        let mut slice = Slice {
            index,
            ints: buffer(n(&of_ints))?,
            floats: buffer(n(&of_floats))?,
            strings: Default::default(),
            bytes: Default::default(),
            parents: Default::default(),
            arrays: Default::default(),
        };
        for numbers in &mut slice.parents {
            *numbers = buffer(n(&of_parents))?;
        }
        slice.arrays = buffer(n(&of_arrays).saturating_mul(4))?;
        let numbers = [&slice.ints, &slice.floats, &slice.arrays].into_iter().chain(&slice.parents);
        let numbers_len = numbers.map(|numbers| numbers.len() as u64).sum::<u64>();
        let len = numbers_len.saturating_add(TEXT.saturating_mul(n(&of_strings) + n(&of_bytes)));
        let [mut strings, mut bytes] = [(); 2].map(|()| Text { is_scratch: true, ..Text::default() });
        let mut requests = vec![
            self.request(2, of_ints, &mut slice.ints)?,
            self.request(3, of_floats, &mut slice.floats)?,
            self.text_request(4, of_strings, &mut strings),
            self.text_request(5, of_bytes, &mut bytes),
        ];
        for (index, numbers) in (6..).zip(&mut slice.parents) {
            requests.push(self.request(index, of_parents.clone(), numbers)?);
        }
        let n_arrays = (slice.arrays.len() / 4).max(1);
        for (index, numbers) in (10..).zip(slice.arrays.chunks_exact_mut(n_arrays)) {
            requests.push(self.request(index, of_arrays.clone(), numbers)?);
        }
        self.file.read(requests.into_iter().flatten().collect(), threads_for(len, threads), monitor)?;
        let joined = |text: Text| (text.offsets, text.bytes.into_iter().next().unwrap_or_default());
        (slice.strings, slice.bytes) = (joined(strings), joined(bytes));
        Ok(slice)
    }

    /// A request for values of a column of cells; `None` for zero values.
    fn request<'a>(
        &self,
        index: usize,
        rows: Range<u64>,
        memory: &'a mut [u8],
    ) -> Result<Option<Request<'a>>> {
        if rows.is_empty() {
            return Ok(None);
        }
        let column = self.columns[index].ok_or_else(|| damage("a column of cells is missing"))?;
        let (output, rows) = (Output::Words(memory), Rows::Range(rows));
        Ok(Some(Request { column, rows, output, missing: MissingTo::Ignore }))
    }

    fn text_request<'a>(&self, index: usize, rows: Range<u64>, text: &'a mut Text) -> Option<Request<'a>> {
        let column = self.columns[index].filter(|_| !rows.is_empty())?;
        let (output, rows) = (Output::Text(text), Rows::Range(rows));
        Some(Request { column, rows, output, missing: MissingTo::Ignore })
    }

    /// The cells that hold the file's value and metadata, if these are cells.
    ///
    /// # Errors
    /// *Corrupt* when they do not exist.
    pub fn roots(&self) -> Result<(Option<u64>, Option<u64>)> {
        let cell = |key: &str| match self.file.value().get(key) {
            Some(Value::Cell(number)) if *number < self.n_cells => Ok(Some(*number)),
            Some(Value::Cell(_)) => Err(damage("a cell number is out of range")),
            Some(Value::Table(_)) if key == "value" => Ok(None),
            Some(_) => Err(damage("the file's metadata are not a cell")),
            None => Ok(None),
        };
        Ok((cell("value")?, cell("metadata")?))
    }
}

/// Zeroed memory for `n` values; an error if it is too much.
fn memory<T: Pod>(n: u64) -> Result<Vec<T>> {
    let mut values = room(n)?;
    values.resize(n as usize, T::zeroed());
    Ok(values)
}

/// Empty memory for `n` values; an error if it is too much.
fn room<T>(n: u64) -> Result<Vec<T>> {
    fallible::with_capacity(usize::try_from(n).unwrap_or(usize::MAX), CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_caches_hold_is_read_by_the_caller() {
        assert_eq!([0, CACHED].map(|len| threads_for(len, Some(4))), [Some(1); 2]);
        assert_eq!([Some(4), None].map(|threads| threads_for(CACHED + 1, threads)), [Some(4), None]);
    }
}
