//! Writes tables as text with separated fields.
//!
//! Rows are written in windows. A thread reads the columns of a window, prints its rows in blocks,
//! and compresses them. The windows reach the target in order, so memory does not grow with the
//! table.

mod cells;
mod columns;
mod format;
mod nested;
mod numbers;
mod packed;
mod print;
mod rows;
mod selected;
mod strings;
mod target;
mod times;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use entasis::{Durable, Error, File, Monitor, Result, Rows, Silent};
use entasis_io::check_new;

use cells::{Cells, Ending, join};
use columns::Column;
pub use columns::{Selected, half};
pub use format::{Format, Quoting};
pub use nested::{Nested, Strings};
pub use packed::Compression;
use print::{Printer, Refused};
use rows::Reader;
pub use rows::Source;
pub use target::Target;

/// Bytes of text of a window, about.
const WINDOW: u64 = 4 << 20;
/// The rows of a window are a multiple of this number, if they are not long.
const STEP: u64 = 1024;
/// The most bytes of text of a window of several rows, about.
const LONGEST: u64 = 64 << 20;
/// The most rows of a window.
const MOST_ROWS: u64 = 1 << 16;
/// Bytes of text of a block, about: they stay in a core's cache.
const BLOCK: usize = 256 << 10;
/// The most rows of a block.
const MOST_OF_BLOCK: usize = 1024;

/// How a table is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// The form of the text.
    pub format: Format,
    /// The compression.
    pub compression: Compression,
    /// The strings of nested columns; `None` refuses them. Only files have nested columns.
    pub nested: Option<Arc<dyn Nested>>,
    /// The number of threads.
    pub threads: usize,
}

/// The rule for a file at the path of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Old {
    /// The text replaces it when all is written.
    #[default]
    Replaced,
    /// The rows follow its own.
    Extended,
    /// It is an error (*io* of kind `AlreadyExists`), at the beginning and at the end.
    Refused,
}

/// Takes the bytes of a text, part by part.
pub type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// Writes rows of columns of a table. `sink` gets the bytes in order. Columns of a frame have the
/// numbers and types of [`Selected`].
///
/// # Errors
/// *Argument* for a format that contradicts itself, and for strings that need quotes and have to go
/// without; *unsupported* for types that a text does not have; errors of reading and of `sink`;
/// *out of memory*, *interrupted*.
pub fn write<'a>(
    source: impl Into<Source<'a>>,
    columns: &[Selected],
    rows: Range<u64>,
    options: &WriteOptions,
    sink: &mut Sink<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    options.format.check()?;
    let ends = Ends { is_first: true, is_last: true };
    part(source.into(), columns, &Rows::Range(rows), options, ends, sink, monitor)
}

/// Whether some rows are the first and the last ones of a text.
#[derive(Clone, Copy)]
struct Ends {
    is_first: bool,
    is_last: bool,
}

/// Writes some rows of a text.
fn part(
    source: Source<'_>,
    columns: &[Selected],
    rows: &Rows,
    options: &WriteOptions,
    ends: Ends,
    sink: &mut Sink<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let format = &options.format;
    for name in format.dates.iter().filter_map(|(name, _)| name.as_deref()) {
        if !columns.iter().any(|selected| selected.info.name == name) {
            return Err(Error::no_column(format!("dates= names a column '{name}', which is not written")));
        }
    }
    let nested = options.nested.as_ref();
    let printed = columns.iter().map(|selected| selected::column(source, selected, format, nested, monitor));
    let printed = printed.collect::<Result<Vec<_>>>()?;
    let n_rows = rows.n(source.n_rows());
    let len = row_len(source, &printed, rows, n_rows)?;
    let n = (WINDOW / len / STEP * STEP).clamp(STEP, MOST_ROWS).min(LONGEST / len).max(1);
    let work = Work {
        source,
        columns: &printed,
        rows,
        n_rows,
        n,
        n_of_block: (BLOCK / usize::try_from(len).unwrap_or(BLOCK)).clamp(1, MOST_OF_BLOCK),
        n_windows: n_rows.div_ceil(n),
        is_last: ends.is_last,
        options,
        printer: Printer::new(format),
    };
    let mut header = Vec::new();
    if ends.is_first {
        header.extend_from_slice(if format.has_mark { b"\xef\xbb\xbf" } else { b"" });
        header.extend(self::header(columns, format)?);
    }
    let threads = options.threads.max(1);
    let queue = Queue {
        state: Mutex::new(State {
            next: 0,
            written: 0,
            done: BTreeMap::new(),
            spare: Vec::new(),
            error: None,
        }),
        is_moved: Condvar::new(),
        most: 2 * threads as u64,
        sink: Mutex::new(sink),
    };
    if !header.is_empty() {
        let packed = options.compression.pack(header)?;
        queue.sink.lock().unwrap_or_else(PoisonError::into_inner)(&packed)?;
    }
    let helpers = (threads - 1).min(usize::try_from(work.n_windows.saturating_sub(1)).unwrap_or(usize::MAX));
    let reported = Cell::new(0);
    entasis_platform::thread_pool::run(helpers, &|_| work.run(&queue, &Silent, &|_| {}), |_| {
        work.run(&queue, monitor, &|written| {
            let done = (written * n).min(n_rows);
            if done > reported.replace(done) {
                monitor.progress(done, n_rows);
            }
        });
    });
    let state = queue.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.error {
        return Err(error);
    }
    if reported.get() < n_rows {
        // Another thread wrote the last window.
        monitor.progress(n_rows, n_rows);
    }
    Ok(())
}

/// Writes rows of columns into the file at `path`. `old` is for a file that is there.
///
/// # Errors
/// As [`write`], errors of the system, and *argument* for an old file with another header or
/// compression.
#[allow(clippy::too_many_arguments)]
pub fn write_file<'a>(
    source: impl Into<Source<'a>>,
    columns: &[Selected],
    rows: Range<u64>,
    options: &WriteOptions,
    path: &Path,
    durable: Durable,
    old: Old,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (mut target, options) = begin(columns, options, path, durable, old, monitor)?;
    write(source, columns, rows, &options, &mut |bytes| target.write(bytes), monitor)?;
    target.commit(monitor)
}

/// Begins to write into the file at `path`. Returns also the options of the rows to write.
fn begin(
    columns: &[Selected],
    options: &WriteOptions,
    path: &Path,
    durable: Durable,
    old: Old,
    monitor: &dyn Monitor,
) -> Result<(Target, WriteOptions)> {
    options.format.check()?;
    let mut target = Target::create(path, durable, old == Old::Refused)?;
    let mut options = options.clone();
    if old == Old::Extended {
        let header = header(columns, &options.format)?;
        if target.begin_with_old(path, options.compression, &header, columns.len() == 1, monitor)? {
            (options.format.has_header, options.format.has_mark) = (false, false);
        }
    }
    Ok((target, options))
}

/// Some rows of a file.
pub struct Part {
    /// The file.
    pub file: Arc<File>,
    /// The columns to write.
    pub columns: Vec<Selected>,
    /// The rows to write.
    pub rows: Rows,
}

impl Part {
    /// All rows and columns of a file whose NaN are values.
    ///
    /// # Errors
    /// As for reading the file.
    pub fn of(file: File) -> Result<Self> {
        let infos = file.columns(0..file.n_columns())?;
        let columns = infos.into_iter().map(|info| Selected { info, nan_is_missing: false }).collect();
        Ok(Self { file: Arc::new(file), columns, rows: Rows::All })
    }
}

/// Returns the next rows of a text, and none at the end. There is one part at least.
pub type Parts<'a> = dyn FnMut() -> Result<Option<Part>> + 'a;

/// Writes parts with the same columns, one after the other. See [`write()`].
///
/// # Errors
/// As [`write()`], and as `parts`.
pub fn write_parts(
    parts: &mut Parts<'_>,
    options: &WriteOptions,
    sink: &mut Sink<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    options.format.check()?;
    match parts()? {
        Some(first) => rest(first, parts, options, sink, monitor),
        None => Ok(()),
    }
}

/// Writes parts into the file at `path`. See [`write_file`].
///
/// # Errors
/// As [`write_file`], and as `parts`.
pub fn write_parts_file(
    parts: &mut Parts<'_>,
    options: &WriteOptions,
    path: &Path,
    durable: Durable,
    old: Old,
    monitor: &dyn Monitor,
) -> Result<()> {
    if old == Old::Refused {
        // The first part may take long.
        check_new(path).map_err(|error| Error::io(error, "write").in_file(path))?;
    }
    let Some(first) = parts()? else { return Ok(()) };
    let (mut target, options) = begin(&first.columns, options, path, durable, old, monitor)?;
    rest(first, parts, &options, &mut |bytes| target.write(bytes), monitor)?;
    target.commit(monitor)
}

/// Writes the first part and those after it.
fn rest(
    first: Part,
    parts: &mut Parts<'_>,
    options: &WriteOptions,
    sink: &mut Sink<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (mut now, mut is_first) = (first, true);
    loop {
        let next = parts()?;
        let ends = Ends { is_first, is_last: next.is_none() };
        part(Source::File(&now.file), &now.columns, &now.rows, options, ends, &mut *sink, monitor)?;
        let Some(next) = next else { return Ok(()) };
        (now, is_first) = (next, false);
    }
}

/// The row of names; empty without one.
fn header(columns: &[Selected], format: &Format) -> Result<Vec<u8>> {
    let (mut out, printer) = (Vec::new(), Printer::new(format));
    if !format.has_header || columns.is_empty() {
        return Ok(out);
    }
    for (i, Selected { info, .. }) in columns.iter().enumerate() {
        let ending = ending(i, columns.len(), format);
        let printed = printer.name(&info.name, i == 0, ending, &mut out);
        printed.map_err(|_| needs_quotes(format!("the name '{}'", info.name)))?;
    }
    Ok(out)
}

/// The bytes after field `i` of `n`.
fn ending(i: usize, n: usize, format: &Format) -> Ending {
    if i + 1 < n { Ending::separator(format.separator) } else { Ending::line(format.has_returns) }
}

/// The bytes of a row, about.
fn row_len(source: Source<'_>, columns: &[Column], rows: &Rows, n_rows: u64) -> Result<u64> {
    let mut len = 10 * columns.len() as u64 + 1;
    match source {
        Source::File(file) => {
            let span = match rows {
                Rows::Range(rows) => rows.clone(),
                Rows::Indices(rows) if n_rows > 0 => {
                    rows.iter().copied().min().unwrap_or(0)
                        ..rows.iter().copied().max().map_or(0, |last| last + 1)
                }
                _ => 0..file.n_rows(),
            };
            let n = span.end.saturating_sub(span.start).max(1);
            for column in columns {
                len = len.saturating_add(file.text_len(column.number, span.clone())? / n);
            }
        }
        Source::Frame(_) => {
            // The first rows show the length of all.
            let mut reader = Reader::new(source, columns, rows);
            let n = reader.read(0..n_rows.min(STEP), &Silent)?;
            len += reader.values().map(|values| (values.bytes.len() / n.max(1)) as u64).sum::<u64>();
        }
    }
    Ok(len)
}

/// The windows of a table.
struct Work<'a> {
    source: Source<'a>,
    columns: &'a [Column],
    rows: &'a Rows,
    n_rows: u64,
    /// The rows of a window, and of a block.
    n: u64,
    n_of_block: usize,
    n_windows: u64,
    /// Whether the text ends with these rows.
    is_last: bool,
    options: &'a WriteOptions,
    printer: Printer,
}

/// Windows on their way to the target.
struct Queue<'a> {
    state: Mutex<State>,
    /// Some windows were written, or the work ended.
    is_moved: Condvar,
    /// The most windows that are not written.
    most: u64,
    sink: Mutex<&'a mut Sink<'a>>,
}

struct State {
    /// The next window to print.
    next: u64,
    /// The windows that were written, or are being written.
    written: u64,
    done: BTreeMap<u64, Vec<u8>>,
    /// Memory of windows that were written.
    spare: Vec<Vec<u8>>,
    error: Option<Error>,
}

impl Queue<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next window to print; `None` at the end.
    fn take(&self, n_windows: u64) -> Option<u64> {
        let mut state = self.state();
        loop {
            if state.error.is_some() || state.next >= n_windows {
                return None;
            }
            if state.next < state.written + self.most {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.is_moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn fail(&self, error: Error) {
        self.state().error.get_or_insert(error);
        self.is_moved.notify_all();
    }

    /// Adds a window, and writes all windows whose turn it is.
    fn put(&self, window: u64, bytes: Vec<u8>) {
        self.state().done.insert(window, bytes);
        // The thread that has the sink writes the windows of others too.
        let Ok(mut sink) = self.sink.try_lock() else { return };
        loop {
            let mut state = self.state();
            let next = state.written;
            let Some(bytes) = state.done.remove(&next).filter(|_| state.error.is_none()) else {
                // The lock goes before the state, so that a window is not left between both.
                drop(sink);
                return;
            };
            drop(state);
            if let Err(error) = (*sink)(&bytes) {
                drop(sink);
                return self.fail(error);
            }
            let mut state = self.state();
            state.written += 1;
            state.spare.push(bytes);
            drop(state);
            self.is_moved.notify_all();
        }
    }
}

/// Ends the work of all threads when one unwinds, as it does where memory is refused. Otherwise the
/// others would wait for its window.
struct EndOnUnwind<'q, 'a>(&'q Queue<'a>);

impl Drop for EndOnUnwind<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::no_memory_left());
        }
    }
}

impl Work<'_> {
    /// Prints windows until there is none. `progress` is called with the number that was written.
    fn run(&self, queue: &Queue<'_>, monitor: &dyn Monitor, progress: &dyn Fn(u64)) {
        let _end = EndOnUnwind(queue);
        let mut cells: Vec<Cells> = self.columns.iter().map(|_| Cells::default()).collect();
        let mut reader = Reader::new(self.source, self.columns, self.rows);
        while let Some(window) = queue.take(self.n_windows) {
            if monitor.interrupted() {
                return queue.fail(Error::interrupted());
            }
            let spare = queue.state().spare.pop().unwrap_or_default();
            match self.window(window, &mut reader, &mut cells, spare) {
                Ok(bytes) => queue.put(window, bytes),
                Err(error) => return queue.fail(error),
            }
            progress(queue.state().written);
        }
    }

    /// Prints a window. `cells` has memory for each column, and `out` memory for a text.
    fn window(
        &self,
        window: u64,
        reader: &mut Reader<'_>,
        cells: &mut [Cells],
        mut out: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let mut at = window * self.n;
        let end = self.n_rows.min(at + self.n);
        let format = &self.options.format;
        let mut len = 0;
        while at < end {
            let n = reader.read(at..end, &Silent)?;
            let values: Vec<_> = reader.values().collect();
            for first in (0..n).step_by(self.n_of_block) {
                let rows = first..n.min(first + self.n_of_block);
                for (i, (values, cells)) in values.iter().zip(&mut *cells).enumerate() {
                    let ending = ending(i, self.columns.len(), format);
                    let printed = self.printer.print(values, rows.clone(), i == 0, ending, cells);
                    printed.map_err(|Refused(row)| {
                        refused(values.column, rows::number(self.rows, at + row as u64))
                    })?;
                }
                len = join(cells, rows.len(), &mut out, len);
            }
            at += n as u64;
        }
        out.truncate(len);
        let line_end = ending(0, 1, format);
        let is_end = self.is_last && end == self.n_rows;
        if self.columns.len() == 1 && is_end && cells[0].ends_blank(line_end) {
            // Readers take a blank line at the end for none.
            out.extend_from_slice(format.line_end());
        }
        self.options.compression.pack(out)
    }
}

fn refused(column: &Column, row: u64) -> Error {
    if column.form.is_some() {
        let name = &column.name;
        let message = format!("row {row} of column '{name}': its format does not hold the value exactly");
        return Error::argument(message).advise("use a format with all parts of the time");
    }
    needs_quotes(format!("row {row} of column '{}'", column.name))
}

fn needs_quotes(what: String) -> Error {
    Error::argument(format!("{what} has a separator, a quote or a line end")).advise("let it be quoted")
}
