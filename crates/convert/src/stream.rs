//! Writes a table of fst into a file window by window, in bounded memory.
//!
//! All windows have one form of each column, the one that the whole column would have. The first
//! window gives the form. If later values need another one, the rest of the table is looked
//! through, and the file begins anew with the form of all values.

use std::path::Path;

use entasis::{Content, Error, HostRead, Kind, Monitor, Quiet, Result, Stream, WriteOptions};

use crate::fst::{Columns, Table};
use crate::r::{Data, Facts, Plan, PlanOptions, Value, Values};

/// Bytes of the values of a window.
const WINDOW_LEN: u64 = 32 << 20;
/// The rows of long windows are a multiple of this number, the length of a block of the file.
const BLOCK: u64 = 1 << 16;
/// Bytes of the offset of a string, and of a short text.
const STRING_LEN: u64 = 24;
/// The strings of a block of fst. Short windows end with one, so that it is decoded once.
const STRINGS: u64 = 2047;

/// How a table is written.
pub(crate) struct Job<'a> {
    pub(crate) path: &'a Path,
    /// Rows of a window; `None` for as many as usual.
    pub(crate) window: Option<u64>,
    pub(crate) threads: usize,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) options: &'a WriteOptions,
    pub(crate) lend: &'a dyn Fn(&[u8]) -> HostRead,
    pub(crate) monitor: &'a dyn Monitor,
}

/// Writes a table into a file. Returns the table instead if it is a single window, which the caller
/// writes as a whole.
///
/// # Errors
/// As for reading and for writing.
pub(crate) fn store(table: &Table<'_>, job: &Job<'_>) -> Result<Option<Value>> {
    let n_rows = table.n_rows();
    let mut columns = table.columns(None, n_rows)?;
    columns.check_free(n_rows, job.max_bytes)?;
    let n = columns.n();
    let first = job.window.unwrap_or_else(|| columns.usual_window()).clamp(1, n_rows.max(1));
    if n == 0 || n_rows == first {
        let is_limited = n > 0 && job.window.is_none();
        columns.limit_text(is_limited.then_some(WINDOW_LEN));
        let mut by_string = vec![false; n];
        match columns.read(0..n_rows, &mut by_string, job.threads, &Quiet(job.monitor)) {
            Err(error) if is_limited && error.kind() == Kind::Limit => {}
            found => return found.map(Some),
        }
    }
    let mut forms = vec![Form::default(); n];
    let mut is_known = false;
    loop {
        let (window, has_changed) = (first, false);
        let mut round = Round { columns: &mut columns, job, forms, is_known, n_rows, window, has_changed };
        if round.run()? {
            return Ok(None);
        }
        (forms, is_known) = (round.forms, true);
    }
}

/// The form of a column by all values so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Form {
    facts: Facts,
    /// Whether strings are looked at one by one.
    by_string: bool,
    /// The code of the encoding of the last string of this round.
    last_code: u8,
}

/// One way through the rows.
struct Round<'a, 't> {
    columns: &'a mut Columns<'t>,
    job: &'a Job<'a>,
    forms: Vec<Form>,
    /// Whether an earlier round looked at all rows.
    is_known: bool,
    n_rows: u64,
    /// Rows of the next window.
    window: u64,
    /// Whether the last window needs another form of a column.
    has_changed: bool,
}

impl Round<'_, '_> {
    /// Writes the table. Returns false if the values need other forms than those that were written.
    fn run(&mut self) -> Result<bool> {
        let Job { path, options, monitor, .. } = *self.job;
        let mut stream = Some(Stream::create(path, options, monitor)?);
        self.forms.iter_mut().for_each(|form| form.last_code = 0);
        let mut row = 0;
        while row < self.n_rows {
            monitor.progress(row, self.n_rows);
            if monitor.interrupted() {
                return Err(Error::interrupted());
            }
            self.has_changed = false;
            let (mut value, end) = self.read(row)?;
            self.look_at(&value);
            if self.has_changed && (row > 0 || self.is_known) {
                stream = None;
            }
            if let Some(stream) = &mut stream {
                self.append(stream, &mut value)?;
            }
            row = end;
        }
        monitor.progress(self.n_rows, self.n_rows);
        let Some(stream) = stream else { return Ok(false) };
        stream.finish()?;
        Ok(true)
    }

    /// Reads a window, which is made shorter if its strings are long. Returns its end.
    fn read(&mut self, row: u64) -> Result<(Value, u64)> {
        if self.job.window.is_some() {
            let end = self.n_rows.min(row.saturating_add(self.window));
            return Ok((self.read_rows(row..end, None)?, end));
        }
        let mut n = self.window;
        loop {
            let rows = row..end_of_window(row, n, self.n_rows);
            let is_short = n <= STRINGS;
            let is_long = !is_short && self.columns.stored_text_len(&rows)? > WINDOW_LEN;
            let most = if is_short { None } else { Some(WINDOW_LEN) };
            match if is_long { None } else { Some(self.read_rows(rows.clone(), most)) } {
                Some(Err(error)) if error.kind() == Kind::Limit && !is_short => {}
                Some(found) => {
                    let value = found?;
                    self.window = next_window(rows.end - rows.start, len_of(&value), n);
                    return Ok((value, rows.end));
                }
                None => {}
            }
            n = (n / 2).max(STRINGS);
        }
    }

    fn read_rows(&mut self, rows: std::ops::Range<u64>, most_text: Option<u64>) -> Result<Value> {
        let mut by_string: Vec<bool> = self.forms.iter().map(|form| form.by_string).collect();
        self.columns.limit_text(most_text);
        let quiet = Quiet(self.job.monitor);
        let value = self.columns.read(rows, &mut by_string, self.job.threads, &quiet)?;
        for (form, by_string) in self.forms.iter_mut().zip(by_string) {
            self.has_changed |= by_string != form.by_string;
            form.by_string = by_string;
        }
        Ok(value)
    }

    /// Adds the facts of a window.
    fn look_at(&mut self, value: &Value) {
        let Data::List(columns) = &value.data else { return };
        for (form, column) in self.forms.iter_mut().zip(columns) {
            let facts = form.facts.with(column);
            self.has_changed |= !facts.has_form_of(&form.facts);
            form.facts = facts;
        }
    }

    fn append(&mut self, stream: &mut Stream, value: &mut Value) -> Result<()> {
        let Data::List(columns) = &mut value.data else { return Ok(()) };
        for (form, column) in self.forms.iter_mut().zip(columns) {
            if let (Data::Strings(strings), true) = (&mut column.data, form.facts.has_codes()) {
                form.last_code = strings.keep_codes(form.last_code);
            }
        }
        let values = Values { value: std::mem::take(value), environments: Vec::new() };
        let facts = self.forms.iter().map(|form| form.facts).collect();
        let plan = Plan::of_part(&values, PlanOptions::default(), facts)?;
        let Content::Frame(frame) = plan.content(self.job.lend)? else {
            return Err(Error::argument("the columns of a table are not vectors"));
        };
        stream.append(frame, &plan.labels(), self.job.options, &Quiet(self.job.monitor))
    }
}

/// Bytes of the values of a frame.
fn len_of(value: &Value) -> u64 {
    let Data::List(columns) = &value.data else { return 0 };
    let len = |column: &Value| match &column.data {
        Data::Double(values) => 8 * values.len(),
        Data::Raw(values) => values.len(),
        Data::Strings(strings) => 8 * strings.len() + strings.bytes().len(),
        data => 4 * data.len(),
    };
    columns.iter().map(|column| len(column) as u64).sum()
}

/// The rows of a window after one of `n` rows with `len` bytes.
fn next_window(n: u64, len: u64, last: u64) -> u64 {
    let fits = u128::from(WINDOW_LEN) * u128::from(n) / u128::from(len.max(1));
    let fits = u64::try_from(fits).unwrap_or(u64::MAX);
    rounded(fits.min(last.saturating_mul(2)))
}

/// Rows of a window of about this number: whole blocks, or as many as fit.
fn rounded(n: u64) -> u64 {
    if n >= BLOCK { n / BLOCK * BLOCK } else { n.max(1) }
}

/// The end of a window of about `n` rows.
fn end_of_window(row: u64, n: u64, n_rows: u64) -> u64 {
    let end = row.saturating_add(n).min(n_rows);
    let of_block = end / STRINGS * STRINGS;
    if n >= BLOCK || end == n_rows || of_block <= row { end } else { of_block }
}

impl Columns<'_> {
    /// The rows of the first window.
    fn usual_window(&self) -> u64 {
        rounded(WINDOW_LEN / (self.width() + STRING_LEN * self.n_text() as u64).max(1))
    }
}
