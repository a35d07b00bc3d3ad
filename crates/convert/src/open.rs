//! Files of R as files of Entasis: in memory, or on disk.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use entasis::{
    Content, Error, File, FileSource, Held, HostRead, Kind, Limits, MemorySink, MemorySource, Monitor,
    Opening, Result, WriteOptions, check_target, write, write_document, write_document_to, write_to,
};

use crate::r::{Plan, PlanOptions, Values};
use crate::read::{Format, ReadOptions, read_file, read_r, recognise};
use crate::{fst, stream};

/// Bytes by which a file is recognised: enough for a block of bzip2.
const START_LEN: u64 = 1 << 20;

/// The format of the file at a path; `None` for other files, and those that can't be read.
pub fn detect(path: &Path) -> Option<Format> {
    let (_, start) = begun(path).ok()?;
    recognise(&start)
}

/// Whether the file at a path is of fst, also of a version that is not read.
pub(crate) fn is_fst(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = |file: fs::File| file.take(start.len() as u64).read(&mut start);
    let n = if path.is_file() { fs::File::open(path).and_then(read).unwrap_or(0) } else { 0 };
    recognise(&start[..n]) == Some(Format::Fst)
}

/// The file at a path, and its first bytes.
fn begun(path: &Path) -> io::Result<(fs::File, Vec<u8>)> {
    if !path.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = fs::File::open(path)?;
    let mut start = Vec::new();
    (&file).take(START_LEN).read_to_end(&mut start)?;
    Ok((file, start))
}

/// Reads the values of the file at a path.
///
/// # Errors
/// As [`read_r`], with the path.
pub(crate) fn read_path(path: &Path, options: &ReadOptions, monitor: &dyn Monitor) -> Result<Values> {
    let (file, start) = begun(path).map_err(|error| Error::io(error, "read").in_file(path))?;
    read_file(file, &start, options, monitor).map_err(|error| error.in_file(path))
}

/// Opens the file at a path, of Entasis or of another format ([`open`]).
///
/// # Errors
/// As [`File::open_with`] and [`open`].
pub fn open_path(
    path: &Path,
    opening: impl Into<Opening>,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<File> {
    let opening = opening.into();
    match File::open_with(path, opening.clone()) {
        Err(error) => open_other(path, error, opening.limits, lend, monitor),
        opened => opened,
    }
}

/// A file that was opened.
#[derive(Debug)]
pub enum Opened {
    /// A file, in memory unless it is of Entasis.
    File(File),
    /// The table of a file of another format. It stays in the memory where it was decoded.
    Held(Held),
}

/// Opens the file at a path that could not be opened as a file of Entasis, if it has another format
/// ([`open`]).
///
/// # Errors
/// The given one for other files, else as [`open`].
pub fn open_other(
    path: &Path,
    error: Error,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<File> {
    let values = read_other(path, error, &limits, monitor)?;
    file_of(&values, path, limits, lend, monitor)
}

/// As [`open_other`], with a long table in the memory where it was decoded.
///
/// # Errors
/// As [`open_other`].
pub fn hold_other(
    path: &Path,
    error: Error,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<Opened> {
    let values = read_other(path, error, &limits, monitor)?;
    hold_values(values, path, limits, lend, monitor)
}

fn read_other(path: &Path, error: Error, limits: &Limits, monitor: &dyn Monitor) -> Result<Values> {
    if !matches!(error.kind(), Kind::NotEntasis | Kind::Corrupt) {
        return Err(error);
    }
    let Ok((file, start)) = begun(path) else { return Err(error) };
    if recognise(&start).is_none() {
        return Err(error);
    }
    let options = reading(limits, file.metadata().map_or(0, |found| found.len()));
    read_file(file, &start, &options, monitor).map_err(|error| error.in_file(path))
}

/// Opens bytes of another format as a file of Entasis in memory, without compression. Functions are
/// kept as data. Errors show `name` as the path. `lend` makes the handle of memory, which stays for
/// as long as the handle is used.
///
/// # Errors
/// As [`read_r`] and [`Plan::new`].
pub fn open(
    bytes: &[u8],
    name: &Path,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<File> {
    let read = read_r(bytes, &reading(&limits, bytes.len() as u64), monitor);
    file_of(&read.map_err(|error| error.in_file(name))?, name, limits, lend, monitor)
}

/// As [`open`], with a long table in the memory where it was decoded.
///
/// # Errors
/// As [`open`].
pub fn hold(
    bytes: &[u8],
    name: &Path,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<Opened> {
    let read = read_r(bytes, &reading(&limits, bytes.len() as u64), monitor);
    hold_values(read.map_err(|error| error.in_file(name))?, name, limits, lend, monitor)
}

/// How a file of some length is read, within limits.
fn reading(limits: &Limits, len: u64) -> ReadOptions {
    ReadOptions { max_bytes: Some(limits.decoded_len_of(len)), ..ReadOptions::default() }
}

/// A file in memory with these values.
fn file_of(
    values: &Values,
    name: &Path,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<File> {
    let plan = Plan::new(values, PlanOptions { functions: true }).map_err(|error| error.in_file(name))?;
    file_of_plan(&plan, name, limits, lend, monitor)
}

/// Opens values: a long table in its memory, other values as a file in memory. Errors show `name`
/// as the path. `lend` is that of [`open`].
///
/// # Errors
/// As [`Plan::new`], and for values that do not fit their type.
pub fn hold_values(
    values: Values,
    name: &Path,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<Opened> {
    let plan = Plan::new(&values, PlanOptions { functions: true }).map_err(|error| error.in_file(name))?;
    let frame = match plan.content(lend).map_err(|error| error.in_file(name))? {
        Content::Frame(frame) if Held::takes(&frame) => frame,
        _ => return file_of_plan(&plan, name, limits, lend, monitor).map(Opened::File),
    };
    let mut memory = plan.into_memory();
    // `Held` checks that the frame refers to this memory alone.
    values.value.into_memory(&mut memory);
    let held = Held::new(frame, memory, name, limits, monitor);
    held.map(Opened::Held).map_err(|error| error.in_file(name))
}

/// A file in memory by a plan.
pub(crate) fn file_of_plan(
    plan: &Plan<'_>,
    name: &Path,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<File> {
    let made = || {
        let sink = MemorySink::new();
        let raw = WriteOptions { compression: Some(0), ..WriteOptions::default() };
        match plan.content(lend)? {
            Content::Frame(frame) => write_to(&sink, &frame, &raw, monitor)?,
            Content::Document(document) => write_document_to(&sink, &document, &raw, monitor)?,
        };
        Ok(sink.into_bytes())
    };
    let made = made().map_err(|error: Error| error.in_file(name))?;
    File::from_source(Box::new(MemorySource::new(made)), name, limits)
}

/// Where a file is.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// At a path.
    Path(&'a Path),
    /// In memory.
    Bytes(&'a [u8]),
}

/// Writes the value of a file into a file of Entasis. A table of fst takes memory that does not
/// grow with it, other values are read whole.
///
/// # Errors
/// As [`read_r`], with the path of the source, and as for writing.
pub fn convert(
    source: Source<'_>,
    path: &Path,
    reading: &ReadOptions,
    plan: PlanOptions,
    options: &WriteOptions,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<()> {
    let stream = |table: &fst::Table<'_>| {
        let (window, threads, max_bytes) = (reading.window, reading.threads, reading.max_bytes);
        stream::store(table, &stream::Job { path, window, threads, max_bytes, options, lend, monitor })
    };
    // The source may be read for long.
    check_target(path, options)?;
    let work = || {
        let of_table = |value| Values { value, environments: Vec::new() };
        let values = match source {
            Source::Bytes(bytes) if recognise(bytes) == Some(Format::Fst) => {
                let Some(value) = stream(&fst::Table::open(bytes)?)? else { return Ok(()) };
                of_table(value)
            }
            Source::Bytes(bytes) => read_r(bytes, reading, monitor)?,
            Source::Path(source) => {
                let (file, start) = begun(source).map_err(|error| Error::io(error, "read"))?;
                if recognise(&start) == Some(Format::Fst) {
                    let bytes = FileSource::open(source).map_err(|error| Error::io(error, "open"))?;
                    let Some(value) = stream(&fst::Table::of_source(&bytes)?)? else { return Ok(()) };
                    of_table(value)
                } else {
                    read_file(file, &start, reading, monitor)?
                }
            }
        };
        store(&values, path, plan, options, lend, monitor)
    };
    work().map_err(|error: Error| match source {
        Source::Path(source) => error.in_file(source),
        Source::Bytes(_) => error,
    })
}

/// Writes values into a file.
///
/// # Errors
/// As [`Plan::new`] and [`write()`].
fn store(
    values: &Values,
    path: &Path,
    plan: PlanOptions,
    options: &WriteOptions,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<()> {
    let plan = Plan::new(values, plan)?;
    match plan.content(lend)? {
        Content::Frame(frame) => write(path, &frame, options, monitor),
        Content::Document(document) => write_document(path, &document, options, monitor),
    }
}
