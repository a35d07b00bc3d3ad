//! Texts that R reads batch by batch.

use std::collections::HashSet;
use std::ptr::null_mut;
use std::sync::Arc;

use entasis::{Durable, Error, Result};
use entasis_csv::condition::Condition;
use entasis_csv::piece::TextLayout;
use entasis_csv::write::{Part, write_parts_file};
use entasis_csv::{Column, Outcome, Query, Refused, Scan, Table};

use super::arguments::{Argument, Arguments};
use super::condition::{ByType, NewCondition};
use super::memory::{in_memory, lend};
use super::table::CsvTable;
use super::write::{old, options, selected};
use crate::build;
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};
use crate::options::Options;

/// Rows that are read batch by batch.
pub struct CsvBatches {
    scan: Scan,
    given: HashSet<String>,
    id: Option<String>,
}

/// Begins to read columns of the rows that pass. A negative `limit` is none. Returns null with an
/// error.
///
/// # Safety
/// `ent_csv_read` must have returned `table`, by finding types. All texts must be valid; `failure`
/// must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_open(
    table: *mut CsvTable,
    columns: *const Text,
    n_columns: usize,
    condition: *const NewCondition,
    limit: f64,
    failure: *mut *mut Failure,
) -> *mut CsvBatches {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let table = &mut *table;
            let id = table.id.clone();
            let scanned = table.scanned.as_mut().ok_or_else(|| Error::argument("the text is not scanned"))?;
            let columns = slice(columns, n_columns).iter().map(|name| name.text().map(str::to_owned));
            let query = Query {
                columns: Some(columns.collect::<Result<_>>()?),
                rows: None,
                condition: ByType::of(condition)?.map(|condition| condition as Arc<dyn Condition>),
                limit: (limit >= 0.0).then_some(limit as u64),
                layout: TextLayout::Views,
            };
            let scan = scanned.job.scan(query)?;
            Ok(Box::into_raw(Box::new(CsvBatches { scan, given: scanned.given.clone(), id })))
        })
    }
}

/// Closes the text.
///
/// # Safety
/// [`ent_csv_open`] must have returned `batches`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_close(batches: *mut CsvBatches) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(batches) });
}

/// Reads on: `n` rows, all rows for 0, and none for -1, only their number. Returns null after the
/// last rows, and null with an error.
///
/// # Safety
/// [`ent_csv_open`] must have returned `batches`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_next(
    batches: *mut CsvBatches,
    n: f64,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut CsvTable {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let (batches, signals) = (&mut *batches, Signals::new(interrupted));
            let found = match n {
                n if n > 0.0 => batches.scan.next(Some(n as usize), &signals)?,
                0.0 => Some(batches.scan.read(&signals)?),
                _ => match batches.scan.count(&signals)? {
                    (_, Some(refused)) => Some(Outcome::Refused(refused)),
                    (n_rows, None) => Some(Outcome::Table(Table { n_rows, ..Table::default() })),
                },
            };
            let Some(found) = found else { return Ok(null_mut()) };
            batches.table(found, &signals).map(|table| Box::into_raw(Box::new(table)))
        })
    }
}

/// A table without columns, with the problems that were met so far. Returns null with an error.
///
/// # Safety
/// As for [`ent_csv_next`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_met(batches: *mut CsvBatches, failure: *mut *mut Failure) -> *mut CsvTable {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let found = (*batches).table(Outcome::Table(Table::default()), &Signals::new(None))?;
            Ok(Box::into_raw(Box::new(found)))
        })
    }
}

/// Writes the rows that are left into an Entasis file. Returns a table with their number, and null
/// with an error.
///
/// # Safety
/// As for [`ent_csv_next`]; the text must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_store(
    batches: *mut CsvBatches,
    path: Text,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut CsvTable {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let (batches, signals) = (&mut *batches, Signals::new(interrupted));
            let found = batches.scan.store(&build::path(path)?, &options.of_core(), &lend, &signals)?;
            batches.table(found, &signals).map(|table| Box::into_raw(Box::new(table)))
        })
    }
}

/// Writes the rows that are left as text. Returns a table without columns, and null with an error.
///
/// # Safety
/// As for [`ent_csv_store`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_write_batches(
    batches: *mut CsvBatches,
    path: Text,
    arguments: *const Argument,
    n_arguments: usize,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut CsvTable {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let (batches, signals) = (&mut *batches, Signals::new(interrupted));
            let (arguments, path) = (Arguments::of(slice(arguments, n_arguments))?, build::path(path)?);
            let found = batches.write(&path, &arguments, &signals)?;
            batches.table(found, &signals).map(|table| Box::into_raw(Box::new(table)))
        })
    }
}

impl CsvBatches {
    /// Rows, with the problems that were met so far, or a refusal.
    fn table(&self, found: Outcome, signals: &Signals) -> Result<CsvTable> {
        match found {
            Outcome::Table(mut table) => {
                table.problems = self.scan.problems().clone();
                table.names = self.scan.names().to_vec();
                let given: Vec<_> =
                    table.columns.iter().map(|column| (column.name.clone(), column.of)).collect();
                let id = self.id.clone();
                Ok(CsvTable { id, ..CsvTable::of(table, &given, 1, signals)? })
            }
            Outcome::Refused(refused) => {
                let error = self.error(&refused);
                CsvTable::of_refused(refused, &error, signals)
            }
        }
    }

    /// The error for places that do not fit, with the call that finds types for all values.
    fn error(&self, refused: &Refused) -> Error {
        let error = self.scan.error(refused);
        let is_guessed = refused.problems.kept.iter().any(|problem| {
            let name = problem.column.and_then(|column| refused.names.get(column));
            problem.expected != "UTF-8" && name.is_some_and(|name| !self.given.contains(name))
        });
        if !is_guessed {
            return error;
        }
        error.advise(
            "the types are those of the first rows: pass spec = sniff_csv_entasis(file, rows = \"all\"), whose types \
             hold for all values",
        )
    }

    fn write(
        &mut self,
        path: &std::path::Path,
        arguments: &Arguments<'_>,
        signals: &Signals,
    ) -> Result<Outcome> {
        let scan = &mut self.scan;
        scan.check_target(path)?;
        let options = options(arguments, path)?;
        let names = arguments.all("names").unwrap_or_default();
        let (mut refused, mut is_first) = (None, true);
        let mut parts = || {
            let table = match scan.next(None, signals)? {
                Some(Outcome::Table(table)) => table,
                Some(Outcome::Refused(found)) => {
                    refused = Some(found);
                    return Err(Error::interrupted());
                }
                // The header is written even without rows.
                None if is_first => match scan.read(signals)? {
                    Outcome::Table(table) => table,
                    Outcome::Refused(_) => return Ok(None),
                },
                None => return Ok(None),
            };
            is_first = false;
            part(&table, &names, options.threads, signals).map(Some)
        };
        let old = old(arguments);
        let written = write_parts_file(&mut parts, &options, path, Durable::Auto, old, signals);
        match refused {
            Some(refused) => Ok(Outcome::Refused(refused)),
            None => written.map(|()| Outcome::Table(Table::default())),
        }
    }
}

/// Rows as a part of a text whose columns have these names.
fn part(table: &Table, names: &[String], threads: usize, signals: &Signals) -> Result<Part> {
    let lent: Vec<_> = table.columns.iter().map(Column::lent).collect();
    let file = in_memory(&lent, table.n_rows, TextLayout::Views, threads, signals)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let numbers: Vec<u64> = (0..names.len() as u64).collect();
    let columns = selected(&file, &numbers, &names, true)?;
    Ok(Part { columns, ..Part::of(file)? })
}
