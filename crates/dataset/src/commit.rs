//! Makes files part of the table of a folder.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use entasis::{Error, File, Kind, Monitor, Opening, Result, Secret, WriteOptions};

use crate::encode::shown;
use crate::facts::{self, ColumnOf, Facts};
use crate::keys::KeyType;
use crate::manifest::{FOLDER, Manifest, newest, path_of};
use crate::metadata;
use crate::paths::below;
use crate::store::{Header, Lend, store};

/// The pauses between attempts to commit.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// The way in which a job changes the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Adds its files to the table.
    Append,
    /// Makes its files the table. The manifest that the job had read is the newest one: its number,
    /// or none.
    Replace(Option<u64>),
}

/// A file that a job has written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its path below the folder, with `/`.
    pub path: String,
    /// The texts of the keys; `None` is missing.
    pub texts: Vec<Option<String>>,
}

/// A job that writes files.
#[derive(Debug)]
pub struct Job<'a> {
    /// Its random name.
    pub name: &'a str,
    /// The keys with their types.
    pub keys: &'a [(String, KeyType)],
    /// How it changes the table.
    pub mode: Mode,
}

/// The number of the newest manifest of a folder; `None` if it has none.
pub fn newest_manifest(folder: &Path) -> Option<u64> {
    newest(folder)
}

/// The table of a folder, for rows to append.
#[derive(Default)]
pub struct Before {
    /// The keys of rows; `None` if the folder has no table or one without files.
    pub keys: Option<Vec<(String, KeyType)>>,
    /// The key of an encrypted table.
    pub secret: Option<Secret>,
}

/// The table of a folder before a job.
///
/// # Errors
/// As for reading.
pub fn before(folder: &Path, secret: Option<&Secret>) -> Result<Before> {
    let Some(number) = newest(folder) else { return Ok(Before::default()) };
    let found = Manifest::open(folder, number, opening(secret))?;
    let keys = || found.keys.names.into_iter().zip(found.keys.types).collect();
    Ok(Before { keys: (!found.names.is_empty()).then(keys), secret: found.secret })
}

fn opening(secret: Option<&Secret>) -> Opening {
    Opening { secret: secret.cloned(), ..Opening::default() }
}

/// Creates a manifest with the files of a job, and for an append with those before.
///
/// An append that another job precedes is tried again until [`WriteOptions::wait`] is over.
///
/// # Errors
/// *Argument* if the files have other columns or keys than the table; *io*, of kind
/// `ResourceBusy`, if another job changed the table since a job began that replaces it; otherwise
/// as for writing.
pub fn commit(
    folder: &Path,
    job: &Job<'_>,
    written: &[Written],
    options: &WriteOptions,
    lend: Lend<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let mut files = Vec::with_capacity(written.len());
    for one in written {
        let file = File::open_with(&below(folder, &one.path)?, opening(options.secret.as_ref()))?;
        files.push(facts::of(&file, &one.path, one.texts.clone())?);
    }
    check_alike(&files)?;
    let manifests = folder.join(FOLDER);
    std::fs::create_dir_all(&manifests).map_err(|e| Error::io(e, "create").in_file(&manifests))?;
    let (until, [mut pause, longest]) = (Instant::now() + options.wait, PAUSES);
    loop {
        let before = match job.mode {
            Mode::Append => newest(folder),
            Mode::Replace(before) => before,
        };
        let number = before.map_or(0, |number| number.saturating_add(1));
        let path = path_of(folder, number);
        let stored = one(folder, before, &path, job, &files, options, lend, monitor);
        match stored {
            Err(error) if matches!(error.kind(), Kind::Io(ErrorKind::AlreadyExists)) => {}
            done => return done,
        }
        // The answer to an earlier attempt may have been lost.
        if metadata::of(&File::open_with(&path, opening(options.secret.as_ref()))?)?.job == job.name {
            return Ok(());
        }
        let busy = |message: &str| {
            Error::io(std::io::Error::from(ErrorKind::ResourceBusy), "commit")
                .in_file(folder)
                .advise(message.to_owned())
        };
        if job.mode != Mode::Append {
            return Err(busy(
                "another job changed the data set meanwhile, and its rows would be lost: try again",
            ));
        }
        if Instant::now() > until {
            return Err(busy("other jobs changed the data set for longer than 'wait'"));
        }
        if monitor.interrupted() {
            return Err(Error::interrupted());
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(longest);
    }
}

/// One attempt to create the manifest.
#[expect(clippy::too_many_arguments, reason = "they are those of the job")]
fn one(
    folder: &Path,
    before: Option<u64>,
    path: &Path,
    job: &Job<'_>,
    files: &[Facts],
    options: &WriteOptions,
    lend: Lend<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let own: &[ColumnOf] = files.first().map_or(&[], |file| &file.columns);
    let header = |operation| Header { job: job.name, operation, columns: own, keys: job.keys };
    let known = match (job.mode, before) {
        (Mode::Append, Some(number)) => {
            Some(Manifest::open(folder, number, opening(options.secret.as_ref()))?)
        }
        _ => None,
    };
    if options.secret.is_none() && known.as_ref().is_some_and(|known| known.secret.is_some()) {
        let error = Error::wrong_key("the table is encrypted, and the files of this job are not");
        return Err(error.in_file(folder).advise("pass the key of the table"));
    }
    let Some(known) = known.filter(|known| !known.names.is_empty()) else {
        let operation = if before.is_some() { "overwrite" } else { "error" };
        return store(path, &header(operation), None, files, options, lend, monitor);
    };
    let metadata = metadata::of(&File::open_with(&known.path, opening(options.secret.as_ref()))?)?;
    let keys: Vec<(String, KeyType)> = known.keys.names.into_iter().zip(known.keys.types).collect();
    if keys != job.keys {
        return Err(Error::argument("the rows have other keys than the table").in_file(folder));
    }
    let columns: Vec<(&str, &str)> =
        own.iter().map(|column| (column.name.as_str(), column.kind.as_str())).collect();
    let of_table: Vec<(&str, &str)> = metadata
        .names
        .iter()
        .zip(&metadata.types)
        .map(|(name, kind)| (name.as_str(), kind.as_str()))
        .collect();
    if columns != of_table {
        return Err(different(&columns, &of_table).in_file(folder));
    }
    store(path, &header("append"), Some(&known.path), files, options, lend, monitor)
}

/// Checks that all files of a job have the same columns.
fn check_alike(files: &[Facts]) -> Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    for file in files {
        let is_same = |(a, b): (&ColumnOf, &ColumnOf)| a.name == b.name && a.kind == b.kind;
        if file.columns.len() != first.columns.len() || !file.columns.iter().zip(&first.columns).all(is_same)
        {
            return Err(Error::argument(format!(
                "the files '{}' and '{}' have other columns",
                shown(&first.path),
                shown(&file.path)
            )));
        }
    }
    Ok(())
}

/// The error for rows with other columns than the table.
fn different(own: &[(&str, &str)], table: &[(&str, &str)]) -> Error {
    for (name, kind) in own {
        match table.iter().find(|(known, _)| known == name) {
            None => return Error::argument(format!("the table has no column '{}'", shown(name))),
            Some((_, known)) if known != kind => {
                let message =
                    format!("the column '{}' is {kind} in the rows, and {known} in the table", shown(name));
                return Error::argument(message).advise("convert it");
            }
            Some(_) => {}
        }
    }
    match table.iter().find(|(known, _)| own.iter().all(|(name, _)| name != known)) {
        Some((name, _)) => {
            Error::argument(format!("the rows lack the column '{}' of the table", shown(name)))
        }
        None => Error::argument("the columns of the rows are in another order than those of the table"),
    }
}
