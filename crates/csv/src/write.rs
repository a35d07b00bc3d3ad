//! Writes tables as text with separated fields.
//!
//! Rows are written in windows. A thread reads the columns of a window, prints its rows in blocks,
//! and compresses them. The windows reach the target in order, so memory does not grow with the
//! table.

mod cells;
mod columns;
mod format;
mod numbers;
mod packed;
mod print;
mod rows;
mod selected;
mod strings;
mod target;
mod times;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use entasis::{Durable, Error, Monitor, Result, Silent};

use cells::{Cells, Ending, join};
use columns::Column;
pub use columns::{Selected, half};
pub use format::{Format, Quoting};
pub use packed::Compression;
use print::{Printer, Refused};
use rows::Reader;
pub use rows::Source;
use target::Target;

/// Bytes of text of a window, about.
const WINDOW: u64 = 4 << 20;
/// The rows of a window are a multiple of this number.
const STEP: u64 = 1024;
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
    /// The number of threads.
    pub threads: usize,
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
    let format = &options.format;
    format.check()?;
    let source = source.into();
    let printed = columns.iter().map(|selected| selected::column(source, selected, format, monitor));
    let printed = printed.collect::<Result<Vec<_>>>()?;
    let len = row_len(source, &printed, &rows)?;
    let n = (WINDOW / len / STEP * STEP).clamp(STEP, MOST_ROWS);
    let work = Work {
        source,
        columns: &printed,
        rows: rows.clone(),
        n,
        n_of_block: (BLOCK / usize::try_from(len).unwrap_or(BLOCK)).clamp(1, MOST_OF_BLOCK),
        n_windows: rows.end.saturating_sub(rows.start).div_ceil(n),
        options,
        printer: Printer::new(format),
    };
    let mut header = if format.has_mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
    header.extend(self::header(columns, format)?);
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
    entasis_platform::thread_pool::run(helpers, &|_| work.run(&queue, &Silent, &|_| {}), |_| {
        work.run(&queue, monitor, &|written| {
            monitor.progress((written * n).min(rows.end - rows.start), rows.end - rows.start);
        });
    });
    let state = queue.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.error.map_or(Ok(()), Err)
}

/// Writes rows of columns into the file at `path`, which is replaced when all is written. With
/// `appends` the rows follow those of the old file.
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
    appends: bool,
    monitor: &dyn Monitor,
) -> Result<()> {
    options.format.check()?;
    let mut target = Target::create(path, durable)?;
    let mut options = options.clone();
    if appends {
        let header = header(columns, &options.format)?;
        if target.begin_with_old(path, options.compression, &header, columns.len() == 1)? {
            (options.format.has_header, options.format.has_mark) = (false, false);
        }
    }
    write(source, columns, rows, &options, &mut |bytes| target.write(bytes), monitor)?;
    target.commit()
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
fn row_len(source: Source<'_>, columns: &[Column], rows: &Range<u64>) -> Result<u64> {
    let n_rows = rows.end.saturating_sub(rows.start).max(1);
    let mut len = 10 * columns.len() as u64 + 1;
    match source {
        Source::File(file) => {
            for column in columns {
                len = len.saturating_add(file.text_len(column.number, rows.clone())? / n_rows);
            }
        }
        Source::Frame(_) => {
            // The first rows stand for all.
            let mut reader = Reader::new(source, columns);
            let n = reader.read(rows.start..rows.end.min(rows.start + STEP).max(rows.start), &Silent)?;
            len += reader.values().map(|values| (values.bytes.len() / n.max(1)) as u64).sum::<u64>();
        }
    }
    Ok(len)
}

/// The windows of a table.
struct Work<'a> {
    source: Source<'a>,
    columns: &'a [Column],
    rows: Range<u64>,
    /// The rows of a window, and of a block.
    n: u64,
    n_of_block: usize,
    n_windows: u64,
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
        let mut reader = Reader::new(self.source, self.columns);
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
        let mut at = self.rows.start + window * self.n;
        let end = self.rows.end.min(at + self.n);
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
                    printed.map_err(|Refused(row)| refused(values.column, at + row as u64))?;
                }
                len = join(cells, rows.len(), &mut out, len);
            }
            at += n as u64;
        }
        out.truncate(len);
        let line_end = ending(0, 1, format);
        if self.columns.len() == 1 && end == self.rows.end && cells[0].ends_blank(line_end) {
            // Readers take a blank line at the end for none.
            out.extend_from_slice(format.line_end());
        }
        self.options.compression.pack(out)
    }
}

fn refused(column: &Column, row: u64) -> Error {
    needs_quotes(format!("row {row} of column '{}'", column.name))
}

fn needs_quotes(what: String) -> Error {
    Error::argument(format!("{what} has a separator, a quote or a line end")).advise("let it be quoted")
}
