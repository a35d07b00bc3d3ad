//! Text files as R sees them.

mod arguments;
mod batches;
mod condition;
mod fill;
mod memory;
mod sources;
mod table;
mod write;

use std::os::raw::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use entasis::{Error, default_threads};
use entasis_csv::condition::Condition;

use crate::column::Kind;
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice, slice_mut};
use crate::text::Strings;
use arguments::{Argument, Arguments};
use condition::{ByType, NewCondition};
use fill::{Filled, fill};
use sources::{From, origins};
use table::CsvTable;

/// Reads texts into a table. `sniffs`: 0 reads the rows that pass the condition, 1 sniffs the first
/// rows, 2 sniffs all rows, 3 finds the types for batches. Returns null with an error. With a
/// condition, the error may be of the kind *unsupported* although the text can be read without it.
///
/// # Safety
/// All texts must be valid; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_read(
    from: *const From,
    n_from: usize,
    arguments: *const Argument,
    n_arguments: usize,
    condition: *const NewCondition,
    sniffs: i32,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut CsvTable {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let mut options = Arguments::of(slice(arguments, n_arguments))?.options()?;
            options.condition = ByType::of(condition)?.map(|condition| condition as Arc<dyn Condition>);
            let origins = origins(slice(from, n_from))?;
            let signals = Signals::new(interrupted);
            let table = match sniffs {
                3 => table::scan(origins, &options, &signals)?,
                _ => table::read(origins, &options, sniffs > 0, sniffs > 1, &signals)?,
            };
            Ok(Box::into_raw(Box::new(table)))
        })
    }
}

/// Frees a table.
///
/// # Safety
/// [`ent_csv_read`] must have returned `table`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_free(table: *mut CsvTable) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(table) });
}

/// Lists of texts and numbers of a table. C has the same numbers.
const NAMES: i32 = 0;
const TYPES: i32 = 1;
const ROUNDED: i32 = 2;
const ALL_NAMES: i32 = 3;
const WARNINGS: i32 = 4;
const PROBLEM_COLUMNS: i32 = 5;
const PROBLEM_TEXTS: i32 = 6;
const PROBLEM_EXPECTED: i32 = 7;
const PROBLEM_FILES: i32 = 8;
const REASON_PARTS: i32 = 9;
const REASON_VALUES: i32 = 10;
const REASONS: i32 = 11;
/// The first of the lists of [`table::CsvTable::spec`].
const SPEC: i32 = 12;
const FITS: i32 = 20;
const PROBLEM_ROWS: i32 = 21;
const PROBLEM_LINES: i32 = 22;
const PROBLEM_BYTES: i32 = 23;
const CONFIDENCES: i32 = 24;
const COUNTS: i32 = 25;

/// The length of a list.
///
/// # Safety
/// [`ent_csv_read`] must have returned `table`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_n(table: *const CsvTable, list: i32) -> usize {
    // SAFETY: as the caller promises.
    let table = unsafe { &*table };
    match list {
        NAMES | TYPES | ROUNDED | FITS => table.names.len(),
        ALL_NAMES => table.all_names.len(),
        WARNINGS => table.warnings.len(),
        REASON_PARTS | REASON_VALUES | REASONS | CONFIDENCES => table.reasons.len(),
        COUNTS => 2,
        SPEC..FITS => spec(table, list).len(),
        _ => table.problems.kept.len(),
    }
}

/// A list of the spec.
fn spec(table: &CsvTable, list: i32) -> &[Option<String>] {
    usize::try_from(list - SPEC).ok().and_then(|list| table.spec.get(list)).map_or(&[], Vec::as_slice)
}

/// A text of a list; null for none.
///
/// # Safety
/// As for [`ent_csv_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_text(table: *const CsvTable, list: i32, i: usize) -> Text {
    // SAFETY: as the caller promises.
    let table = unsafe { &*table };
    let problem = || table.problems.kept.get(i);
    let column = |column: usize| table.all_names.get(column).map(String::as_str);
    let text = match list {
        NAMES => table.names.get(i).map(String::as_str),
        TYPES => table.types.get(i).map(String::as_str),
        ROUNDED => table.rounded.get(i).and_then(Option::as_deref),
        ALL_NAMES => column(i),
        WARNINGS => table.warnings.get(i).map(String::as_str),
        PROBLEM_COLUMNS => problem().and_then(|problem| problem.column).and_then(column),
        PROBLEM_TEXTS => problem().map(|problem| problem.text.as_str()),
        PROBLEM_EXPECTED => problem().map(|problem| problem.expected.as_str()),
        PROBLEM_FILES => problem().and_then(|problem| problem.file.as_deref()),
        REASON_PARTS => table.reasons.get(i).map(|reason| reason.what),
        REASON_VALUES => table.reasons.get(i).map(|reason| reason.value.as_str()),
        REASONS => table.reasons.get(i).map(|reason| reason.reason.as_str()),
        SPEC..FITS => spec(table, list).get(i).and_then(Option::as_deref),
        _ => None,
    };
    text.map_or_else(Text::none, Text::lend)
}

/// A number of a list. The counts are those of rows and of problems.
///
/// # Safety
/// As for [`ent_csv_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_number(table: *const CsvTable, list: i32, i: usize) -> f64 {
    // SAFETY: as the caller promises.
    let table = unsafe { &*table };
    let problem = table.problems.kept.get(i);
    match list {
        FITS => table.fits.get(i).map_or(0.0, |fit| f64::from(*fit as i32)),
        PROBLEM_ROWS => problem.map_or(0.0, |problem| problem.row as f64),
        PROBLEM_LINES => problem.map_or(0.0, |problem| problem.line as f64),
        PROBLEM_BYTES => problem.map_or(0.0, |problem| problem.byte as f64),
        CONFIDENCES => table.reasons.get(i).map_or(0.0, |reason| reason.confidence),
        _ if i == 0 => table.n_rows as f64,
        _ => table.problems.n as f64,
    }
}

/// Takes the error of a text that was refused for its problems; null if it was not.
///
/// # Safety
/// As for [`ent_csv_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_refused(table: *mut CsvTable) -> *mut Failure {
    // SAFETY: as the caller promises.
    unsafe { (*table).refused.take().map_or(null_mut(), Box::into_raw) }
}

/// A vector to fill.
#[repr(C)]
pub struct Vector {
    /// Memory for all values of the kind; null for strings.
    values: *mut c_void,
    kind: i32,
}

/// The strings of all columns.
pub struct CsvStrings(Vec<Filled>);

/// Fills a vector with each column, and frees the columns. Returns null with an error; the vectors
/// then hold unspecified values.
///
/// # Safety
/// [`ent_csv_read`] must have returned `table`. There is a vector for each column, whose memory
/// is valid, aligned, and used by nothing else; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_fill(
    table: *mut CsvTable,
    vectors: *const Vector,
    n: usize,
    threads: i32,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut CsvStrings {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let table = &mut *table;
            let columns = std::mem::take(&mut table.columns);
            if columns.len() != n {
                return Err(Error::argument("the values were taken before"));
            }
            let n_rows = table.n_rows as usize;
            let wanted = slice(vectors, n).iter().map(|vector| {
                let kind = Kind::of(vector.kind)?;
                Ok((kind, slice_mut(vector.values.cast(), n_rows * kind.width().unwrap_or(0))))
            });
            let wanted = wanted.collect::<entasis::Result<_>>()?;
            let threads = usize::try_from(threads).ok().filter(|&n| n > 0).unwrap_or_else(default_threads);
            let filled = fill(columns, wanted, table.id.as_deref(), threads, &Signals::new(interrupted))?;
            Ok(Box::into_raw(Box::new(CsvStrings(filled))))
        })
    }
}

/// Takes the strings of a column, or with `levels` the levels of a factor; null for none.
///
/// # Safety
/// [`ent_csv_fill`] must have returned `strings`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_strings(strings: *mut CsvStrings, i: usize, levels: i32) -> *mut Strings {
    // SAFETY: as the caller promises.
    let strings = unsafe { &mut *strings };
    let taken =
        strings.0.get_mut(i).and_then(|of| if levels == 0 { of.strings.take() } else { of.levels.take() });
    taken.map_or(null_mut(), Box::into_raw)
}

/// Frees the strings that were not taken.
///
/// # Safety
/// [`ent_csv_fill`] must have returned `strings`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_csv_strings_free(strings: *mut CsvStrings) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(strings) });
}
