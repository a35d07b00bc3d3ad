//! Frames of R and files as text.

use std::path::Path;
use std::sync::Arc;

use entasis::{
    ColumnInfo, Durable, Error, File, Frame, Limits, Logical, MemorySink, MemorySource, Result, Value,
    WriteOptions as FileOptions, default_threads,
};
use entasis_csv::write::{Compression, Format, Old, Quoting, Selected, Source, WriteOptions, write_file};
use entasis_query::NanIsNull;

use super::arguments::{Argument, Arguments};
use crate::build::{self, Builder};
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};

/// The form of a text. R has checked the arguments.
pub fn options(arguments: &Arguments<'_>, path: &Path) -> Result<WriteOptions> {
    Ok(WriteOptions {
        format: Format {
            separator: arguments.byte("sep")?.unwrap_or(b','),
            quoting: match arguments.one("quote") {
                Some("all") => Quoting::All,
                Some("text") => Quoting::NonNumeric,
                Some("never") => Quoting::Never,
                _ => Quoting::Auto,
            },
            missing: arguments.one("na").unwrap_or_default().to_owned(),
            decimal: arguments.byte("dec")?.unwrap_or(b'.'),
            has_header: arguments.flag("col.names"),
            has_returns: arguments.one("eol") == Some("\r\n"),
            has_mark: arguments.flag("bom"),
            ..Format::default()
        },
        compression: match arguments.one("compress") {
            Some("auto") | None => Compression::of_path(path),
            Some(name) => Compression::named(name),
        },
        threads: arguments.number("nThread")?.unwrap_or_else(default_threads),
        ..WriteOptions::default()
    })
}

/// The rule for a file at the path.
pub fn old(arguments: &Arguments<'_>) -> Old {
    match (arguments.flag("append"), arguments.flag("must_be_new")) {
        (true, _) => Old::Extended,
        (false, true) => Old::Refused,
        (false, false) => Old::Replaced,
    }
}

/// A frame of R, and a file in memory with the same columns and without rows.
///
/// # Safety
/// The vectors of the builder must be valid and unchanged.
unsafe fn frame(builder: &mut Builder, signals: &Signals) -> Result<(Frame, File)> {
    builder.check_texts()?;
    let frame = builder.take();
    let sink = MemorySink::new();
    entasis::write_to(&sink, &frame.without_rows(), &FileOptions::default(), signals)?;
    let source = Box::new(MemorySource::new(sink.into_bytes()));
    Ok((frame, File::from_source(source, Path::new("<frame>"), Limits::default())?))
}

/// Writes columns as text into a file: all of a frame, or those of an open file by their numbers.
/// Returns 0, or -1 with an error.
///
/// # Safety
/// Either `ent_open` must have returned `file`, or [`build::ent_builder_new`] `builder`, and the
/// other is null. All texts must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_write(
    file: *const File,
    builder: *mut Builder,
    names: *const Text,
    numbers: *const f64,
    n: usize,
    path: Text,
    arguments: *const Argument,
    n_arguments: usize,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let arguments = Arguments::of(slice(arguments, n_arguments))?;
            let path = build::path(path)?;
            let options = options(&arguments, &path)?;
            let signals = Signals::new(interrupted);
            let in_memory = match builder.is_null() {
                true => None,
                false => Some(frame(&mut *builder, &signals)?),
            };
            let names = slice(names, n).iter().map(|name| name.text()).collect::<Result<Vec<_>>>()?;
            let (source, file, numbers) = match &in_memory {
                Some((frame, file)) => {
                    (Source::Frame(frame), file, (0..frame.columns.len() as u64).collect())
                }
                None => {
                    let numbers = slice(numbers, n).iter().map(|&number| number as u64);
                    (Source::File(&*file), &*file, numbers.collect::<Vec<u64>>())
                }
            };
            if numbers.len() != names.len() {
                return Err(Error::argument("a column of several columns has no form in a text"));
            }
            let selected = selected(file, &numbers, &names, arguments.flag("are_instants"))?;
            let rows = 0..source.n_rows();
            let old = old(&arguments);
            write_file(source, &selected, rows, &options, &path, Durable::Auto, old, &signals)?;
            Ok(0)
        })
    }
}

/// The columns with their names. `are_instants`: times without a zone are in UTC.
pub fn selected(file: &File, numbers: &[u64], names: &[&str], are_instants: bool) -> Result<Vec<Selected>> {
    let nan_is_null = NanIsNull::of(file, None)?;
    let one = |(&number, &name): (&u64, &&str)| {
        let info: Arc<ColumnInfo> = file.column(number)?;
        let nan_is_missing = nan_is_null.holds(&info);
        let mut info = ColumnInfo { name: name.to_owned(), ..(*info).clone() };
        if are_instants && info.record.column_type.logical == Logical::Timestamp && info.detail.is_none() {
            info.detail = Some(Value::from("UTC"));
        }
        Ok(Selected { info, nan_is_missing })
    };
    numbers.iter().zip(names).map(one).collect()
}
