//! Reads columns into a row-major matrix. Some columns are decoded into scratch memory, then
//! written one cache line per row.

use std::ops::Range;

use entasis_encodings::PAGE;
use entasis_format::{Error, Physical, Result, fallible};
use entasis_io::Announced;
use entasis_kernels::MatrixMut;
use entasis_platform::memory::Prefault;

use super::ahead::announce;
use super::alloc::COLUMNS;
use super::decoded_len::DecodedLen;
use super::fixed::put;
use super::pages::{self, OpenPage, Reader};
use super::request::{MissingTo, Output, Source, threads_for};
use crate::file::File;
use crate::monitor::{Control, Monitor};
use crate::rows::Rows;
use crate::threads;

/// Columns that are decoded before they are written to the matrix: as many as a cache line has
/// words.
const LINE: usize = 8;
/// The minimum number of values to decode before writing.
const TILE: usize = 1 << 14;
/// The maximum rows to decode at a time, for columns that are stored separately.
const ROWS: usize = 1 << 14;
/// Approximate values per task.
const TASK_VALUES: usize = 1 << 15;

/// Matrices up to this many bytes get their pages before several threads fill them. Each thread
/// writes to every page, and threads that touch a new huge page at once each clear a page. For
/// larger matrices, memory is only touched while values are decoded, because a damaged file may
/// hold fewer values than it claims.
const AHEAD: usize = 64 << 20;

/// Columns of one type to read into a row-major matrix, with all their rows.
#[derive(Debug)]
pub struct Matrix<'a> {
    /// The columns.
    pub columns: Side,
    /// The matrix: words of the type's width; one byte per boolean.
    pub out: &'a mut [u8],
    /// The sentinel for missing values. With `None`, missing values are not reported.
    pub sentinel: Option<u64>,
}

/// Columns of a matrix.
#[derive(Clone, Debug)]
pub enum Side {
    /// `n` columns that are consecutive in a storage column, of a table whose rows are one piece.
    Stored {
        /// The number of the storage column.
        column: u64,
        /// The index of the first column's first value in the storage column.
        first: u64,
        /// The number of columns.
        n: usize,
    },
    /// The columns with these numbers.
    Each(Vec<u64>),
}

/// A matrix with the stored columns to read it from.
struct Found<'a> {
    /// One source for all columns, or one for each.
    sources: Vec<Source>,
    /// With one source: the index of the first column's first value in the storage column.
    first: Option<u64>,
    n: usize,
    matrix: Matrix<'a>,
}

/// Some columns and rows of a matrix.
struct Task<'a> {
    /// The source of all columns, with `first`; or one source per column.
    sources: &'a [Source],
    first: Option<u64>,
    rows: Range<usize>,
    sentinel: Option<u64>,
    out: MatrixMut<'a>,
}

impl File {
    /// Reads columns into row-major matrices of the caller.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_matrices(
        &self,
        matrices: Vec<Matrix<'_>>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        self.read_all_matrices(matrices, threads, monitor).map_err(|e| e.in_file(self.path()))
    }

    fn read_all_matrices(
        &self,
        matrices: Vec<Matrix<'_>>,
        threads: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let n_rows =
            usize::try_from(self.n_rows()).map_err(|_| Error::out_of_memory(usize::MAX, "the rows"))?;
        let (mut found, mut n_values, mut work) = (Vec::new(), 0u64, 0u64);
        let decoded_len = DecodedLen::new(self);
        let in_pieces = self.pieces()?.is_some();
        for matrix in matrices {
            decoded_len.add(matrix.out.len() as u64)?;
            let (numbers, first, n) = match &matrix.columns {
                Side::Stored { column, first, n } => (vec![*column], Some(*first), *n),
                Side::Each(columns) => (fallible::copied(columns, COLUMNS)?, None, columns.len()),
            };
            self.prefetch(numbers.iter().copied(), true);
            let sources = fallible::try_collect(numbers.into_iter().map(|c| self.source(c)), COLUMNS)?;
            if first.is_some() && (in_pieces || sources.iter().any(|source| source.is_bundled)) {
                let message = "the columns of a matrix are not consecutive in a storage column";
                return Err(Error::argument(message));
            }
            let all = (n as u64).saturating_mul(n_rows as u64);
            n_values = n_values.saturating_add(all);
            let rows = Rows::Range(values_of(first, n, n_rows));
            for source in &sources {
                rows.check(source.n_values)?;
                work = work.saturating_add(source.work(&rows));
            }
            fallible::push(&mut found, Found { sources, first, n, matrix }, COLUMNS)?;
        }
        let _announced = announce_all(self, &found, n_rows)?;
        let control = Control::new(monitor, n_values);
        let threads = threads_for(work, self.threads(threads));
        let ahead_to = pages::ahead_to(found.iter().flat_map(|found| &found.sources));
        let (mut tasks, mut ahead) = (Vec::new(), Vec::new());
        for Found { sources, first, n, matrix } in &mut found {
            let Some(source) = sources.first() else { continue };
            if sources.iter().any(|other| other.of != source.of) {
                return Err(Error::argument("the columns of a matrix must have one type"));
            }
            let width = match source.of.physical {
                Physical::Bool => 1,
                _ => source.of.width().unwrap_or(0),
            };
            if !matches!(width, 1 | 2 | 4 | 8 | 16) {
                return Err(Error::argument("a matrix holds values of 1, 2, 4, 8 or 16 bytes"));
            }
            let out = MatrixMut::new(matrix.out, n_rows, *n, width);
            let out =
                out.ok_or_else(|| Error::argument("the memory of a matrix does not fit its columns"))?;
            if threads > 1 && out.n_rows() * out.n_columns() * width <= AHEAD {
                ahead.push(out.prefault());
            }
            plan(sources, *first, matrix.sentinel, out, &mut tasks)?;
        }
        threads::run_in_ranges(
            tasks,
            threads,
            &control,
            || {
                let reader = Reader::ahead(self, ahead_to);
                ahead.iter().for_each(Prefault::populate);
                (reader, Vec::new())
            },
            |(reader, scratch), task| task.run(reader, scratch, &control),
        )
    }
}

/// The values of each source of a matrix.
fn values_of(first: Option<u64>, n: usize, n_rows: usize) -> Range<u64> {
    match first {
        Some(first) => first..first.saturating_add((n as u64).saturating_mul(n_rows as u64)),
        None => 0..n_rows as u64,
    }
}

/// Announces all that the matrices need, if the file is remote.
fn announce_all(file: &File, found: &[Found<'_>], n_rows: usize) -> Result<Option<Announced>> {
    let rows = |found: &Found<'_>| Rows::Range(values_of(found.first, found.n, n_rows));
    let rows = Vec::from_iter(found.iter().map(rows));
    let pairs = found.iter().zip(&rows);
    announce(file, pairs.flat_map(|(found, rows)| found.sources.iter().map(move |source| (source, rows))))
}

/// Cuts a matrix into tasks.
fn plan<'a>(
    sources: &'a [Source],
    first: Option<u64>,
    sentinel: Option<u64>,
    out: MatrixMut<'a>,
    tasks: &mut Vec<Task<'a>>,
) -> Result<()> {
    let (n_rows, n_columns) = (out.n_rows(), out.n_columns());
    // Many rows are split first, so that each thread writes to its own memory.
    let rows_step = if first.is_some() || n_rows <= ROWS { n_rows.max(1) } else { 8 * ROWS };
    let columns_step = (TASK_VALUES / n_rows.min(rows_step).max(1)).next_multiple_of(LINE).max(LINE);
    let mut rest = out;
    for row in (0..n_rows).step_by(rows_step) {
        let (head, tail) = rest.split_rows(rows_step);
        rest = tail;
        let rows = row..row + head.n_rows();
        let mut side = head;
        for column in (0..n_columns).step_by(columns_step) {
            let (out, tail) = side.split_columns(columns_step);
            side = tail;
            let task = Task {
                sources: if first.is_some() { sources } else { &sources[column..column + out.n_columns()] },
                first: first.map(|first| first + column as u64 * n_rows as u64),
                rows: rows.clone(),
                sentinel,
                out,
            };
            fallible::push(tasks, task, COLUMNS)?;
        }
    }
    Ok(())
}

impl Task<'_> {
    fn run(self, reader: &mut Reader<'_>, scratch: &mut Vec<u128>, control: &Control<'_>) -> Result<()> {
        let Some(source) = self.sources.first() else { return Ok(()) };
        match source.of.width() {
            None | Some(1) => self.fill::<u8>(reader, scratch, control),
            Some(2) => self.fill::<u16>(reader, scratch, control),
            Some(4) => self.fill::<u32>(reader, scratch, control),
            Some(8) => self.fill::<u64>(reader, scratch, control),
            Some(_) => self.fill::<u128>(reader, scratch, control),
        }
    }

    fn fill<T: bytemuck::Pod>(
        mut self,
        reader: &mut Reader<'_>,
        scratch: &mut Vec<u128>,
        control: &Control<'_>,
    ) -> Result<()> {
        let n = self.rows.len();
        match self.first {
            Some(first) => self.stored::<T>(first, n, reader, scratch, control),
            None => {
                let step = if n <= ROWS { n.max(1) } else { ROWS };
                for row in (0..n).step_by(step) {
                    let part = row..n.min(row + step);
                    for column in (0..self.sources.len()).step_by(LINE) {
                        self.each::<T>(column, part.clone(), reader, scratch, control)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Reads consecutive columns of a storage column. Decodes page after page, and writes columns
    /// once enough are complete.
    fn stored<T: bytemuck::Pod>(
        &mut self,
        first: u64,
        n: usize,
        reader: &mut Reader<'_>,
        scratch: &mut Vec<u128>,
        control: &Control<'_>,
    ) -> Result<()> {
        let Self { sources, sentinel, out, .. } = self;
        let source = &sources[0];
        let n_all = out.n_columns() * n;
        // The source is a storage column.
        let start = first;
        let (mut n_decoded, mut column) = (0, 0);
        let enough = TILE.max(LINE * n);
        // Do not reserve memory for whole long columns: a damaged file may hold fewer values than
        // it claims.
        make_room::<T>(scratch, n_all.min(enough + PAGE).min(LINE * ROWS))?;
        reader.pages(source, start..start + n_all as u64, &mut |opened, _| {
            control.check()?;
            let more = opened.range.len();
            let is_last = opened.at + more == n_all;
            decode::<T>(source, opened, n_decoded, *sentinel, scratch)?;
            n_decoded += more;
            control.advance(more as u64);
            if n_decoded < enough && !is_last {
                return Ok(());
            }
            let values: &mut [T] = bytemuck::cast_slice_mut(scratch);
            let whole = n_decoded / n;
            let whole = if is_last { whole } else { whole - whole % LINE };
            if !out.put(0, column, &values[..whole * n], n) {
                return Err(beyond());
            }
            values.copy_within(whole * n..n_decoded, 0);
            (n_decoded, column) = (n_decoded - whole * n, column + whole);
            Ok(())
        })
    }

    /// Reads up to [`LINE`] columns that are stored separately.
    fn each<T: bytemuck::Pod>(
        &mut self,
        column: usize,
        part: Range<usize>,
        reader: &mut Reader<'_>,
        scratch: &mut Vec<u128>,
        control: &Control<'_>,
    ) -> Result<()> {
        let n = part.len();
        let sources = &self.sources[column..self.sources.len().min(column + LINE)];
        make_room::<T>(scratch, sources.len() * n)?;
        for (k, source) in sources.iter().enumerate() {
            let from = (self.rows.start + part.start) as u64;
            let named = |e: Error| if source.name.is_empty() { e } else { e.in_column(&source.name) };
            for stretch in source.stretches(from..from + n as u64) {
                let before = k * n + (stretch.rows.start - from) as usize;
                reader
                    .pages(source, stretch.values(), &mut |opened, _| {
                        control.check()?;
                        control.advance(opened.range.len() as u64);
                        let at = before + opened.at;
                        decode::<T>(source, opened, at, self.sentinel, scratch)
                    })
                    .map_err(named)?;
            }
        }
        let values: &[T] = bytemuck::cast_slice(scratch);
        if self.out.put(part.start, column, &values[..sources.len() * n], n) { Ok(()) } else { Err(beyond()) }
    }
}

/// Grows scratch memory to at least `n` words.
fn make_room<T>(scratch: &mut Vec<u128>, n: usize) -> Result<()> {
    let needed = (n * size_of::<T>()).div_ceil(16);
    if scratch.len() < needed { fallible::resize(scratch, needed, 0, COLUMNS) } else { Ok(()) }
}

fn beyond() -> Error {
    Error::argument("a column is outside of its matrix")
}

/// Decodes the wanted values of a page to index `at` of the scratch memory.
fn decode<T: bytemuck::Pod>(
    source: &Source,
    opened: OpenPage<'_>,
    at: usize,
    sentinel: Option<u64>,
    scratch: &mut Vec<u128>,
) -> Result<()> {
    let end = at + opened.range.len();
    make_room::<T>(scratch, end)?;
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(scratch);
    let bytes = &mut bytes[..end * size_of::<T>()];
    let mut output =
        if source.of.physical == Physical::Bool { Output::Bools(bytes) } else { Output::Words(bytes) };
    let mut missing = sentinel.map_or(MissingTo::Ignore, MissingTo::Sentinel);
    put(source, OpenPage { at, ..opened }, &mut output, &mut missing)
}
