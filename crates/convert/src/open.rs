//! Files of R as files of Entasis: in memory, or on disk.

use std::fs;
use std::io::Read;
use std::path::Path;

use entasis::{
    Content, Error, File, HostRead, Kind, Limits, MemorySink, MemorySource, Monitor, Result, WriteOptions,
    write, write_document, write_document_to, write_to,
};

use crate::r::{Plan, PlanOptions, Values};
use crate::read::{Format, ReadOptions, read_r, recognise};

/// Bytes by which a file is recognised: enough for a block of bzip2.
const START_LEN: u64 = 1 << 20;

/// The format of the file at a path; `None` for other files, and those that can't be read.
pub fn detect(path: &Path) -> Option<Format> {
    let mut start = Vec::new();
    let file = fs::File::open(path).ok().filter(|_| path.is_file())?;
    file.take(START_LEN).read_to_end(&mut start).ok()?;
    recognise(&start)
}

/// Reads the values of the file at a path.
///
/// # Errors
/// As [`read_r`], with the path.
pub fn read_path(path: &Path, options: &ReadOptions, monitor: &dyn Monitor) -> Result<Values> {
    let bytes = fs::read(path).map_err(|error| Error::io(error, "read").in_file(path))?;
    read_r(&bytes, options, monitor).map_err(|error| error.in_file(path))
}

/// Opens the file at a path, of Entasis or of another format ([`open`]).
///
/// # Errors
/// As [`File::open_with`] and [`open`].
pub fn open_path(
    path: &Path,
    limits: Limits,
    lend: &dyn Fn(&[u8]) -> HostRead,
    monitor: &dyn Monitor,
) -> Result<File> {
    match File::open_with(path, limits.clone()) {
        Err(error) if matches!(error.kind(), Kind::NotEntasis | Kind::Corrupt) => {
            if detect(path).is_none() {
                return Err(error);
            }
            let bytes = fs::read(path).map_err(|error| Error::io(error, "read").in_file(path))?;
            open(&bytes, path, limits, lend, monitor)
        }
        opened => opened,
    }
}

/// Opens bytes of another format as a file of Entasis in memory, without compression. Functions are
/// kept as data. Errors show `name` as the path. `lend` makes the handle of memory, which stays
/// until the call ends.
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
    let options =
        ReadOptions { max_bytes: Some(limits.decoded_len_of(bytes.len() as u64)), ..ReadOptions::default() };
    let made = || {
        let values = read_r(bytes, &options, monitor)?;
        let plan = Plan::new(&values, PlanOptions { functions: true })?;
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

/// Writes values into a file.
///
/// # Errors
/// As [`Plan::new`] and [`write()`].
pub fn store(
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
