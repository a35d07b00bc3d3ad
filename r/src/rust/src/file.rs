//! Open files, and descriptions of their contents without values.

use std::ffi::c_int;
use std::ptr::null_mut;

use entasis::{
    AppendOptions, ColumnInfo, Error, File, HostRead, Limits, Monitor, Physical, Result, Unit, Value,
    type_name,
};
use entasis_convert::Parts;
use entasis_dataset::Dataset;

use crate::build;
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};
use crate::loaded::{is_own, root};
use crate::nodes::Tree;
use crate::secrets;

/// Facts about a file.
#[repr(C)]
pub struct FileFacts {
    n_rows: f64,
    n_columns: f64,
    n_columns_total: f64,
    file_len: f64,
    n_tables: f64,
    /// The root cell, the cell of the metadata and the cell of the environments; -1 for none.
    root: f64,
    metadata: f64,
    environments: f64,
    /// Whether R wrote the cells.
    is_own: i32,
    is_encrypted: i32,
    format_major: i32,
    format_minor: i32,
    /// 0 for a file of 0.2.
    edition: i32,
    /// The number of the current generation.
    generation: f64,
}

/// Descriptions of columns.
pub struct Described {
    columns: Vec<(ColumnInfo, String)>,
}

/// The description of a column. Texts are valid until the descriptions are freed.
#[repr(C)]
pub struct ColumnFacts {
    name: Text,
    type_name: Text,
    zone: Text,
    physical: Text,
    logical: Text,
    unit: Text,
    number: f64,
    n_values: f64,
    n_missing: f64,
    /// The number of the column with the categories, or -1.
    dictionary: f64,
    variant: i32,
    ordered: i32,
    precision: i32,
    scale: i32,
    /// The cell with the values of a column of objects, or -1.
    cell: f64,
    /// The first child of a nested column, or -1, and the number of children.
    first_child: f64,
    n_children: f64,
    /// Values per fixed-size list.
    value_len: f64,
}

/// A limit by its name, as C passes it.
#[repr(C)]
pub struct Limit {
    name: Text,
    value: f64,
}

/// The default limits with other values.
///
/// # Safety
/// The `n` limits must be valid.
pub unsafe fn limits_of(limits: *const Limit, n: usize) -> Result<Limits> {
    let mut found = Limits::default();
    // SAFETY: as the caller promises.
    for limit in unsafe { slice(limits, n) } {
        // SAFETY: as the caller promises.
        let name = String::from_utf8_lossy(unsafe { limit.name.bytes() });
        found.set(&name, limit.value as u64)?;
    }
    Ok(found)
}

/// Opens a file, or the table of a folder, with other limits than the default ones.
///
/// # Safety
/// The texts and the `n` limits must be valid.
pub unsafe fn open(
    path: Text,
    limits: *const Limit,
    n: usize,
    whole: bool,
    monitor: &dyn Monitor,
) -> Result<File> {
    // SAFETY: as the caller promises.
    let of_file = unsafe { limits_of(limits, n) }?;
    // SAFETY: as the caller promises.
    let path = unsafe { build::path(path) }?;
    if path.is_dir() {
        if whole {
            return Err(
                Error::argument("a folder has neither generations nor blocks: name a file").in_file(&path)
            );
        }
        let options = AppendOptions { widen: true, ..AppendOptions::default() };
        return secrets::opened_file(&of_file, |opening| {
            Dataset::open(&path, opening)?.table(&options, monitor)
        });
    }
    secrets::opened_file(&of_file, |opening| {
        if whole {
            return File::open_whole(&path, opening);
        }
        entasis_convert::open_path(&path, opening, &lend, monitor)
    })
}

/// Lends values of R, which a file of R has, to the writer.
pub fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the bytes are initialised. The document that holds the handle ends within the call of
    // the function that owns them, such as `open_path`, and nobody writes to them meanwhile.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

/// Opens a file, and reads its header and footer. With `whole`, the newest whole generation is
/// opened if the current one cannot be.
///
/// # Safety
/// The texts and the `n` limits must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_open(
    path: Text,
    limits: *const Limit,
    n: usize,
    whole: c_int,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut File {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let signals = Signals::new(interrupted);
            Ok(Box::into_raw(Box::new(open(path, limits, n, whole != 0, &signals)?)))
        })
    }
}

/// Opens some columns and rows of a table of fst as a file in memory. `columns` are names, or none
/// for all columns; `to` is NaN for the last row. Returns null without an error for other files,
/// and for columns and rows that the table does not have.
///
/// # Safety
/// The texts, the `n` limits and the `n_columns` names must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_open_fst(
    path: Text,
    limits: *const Limit,
    n: usize,
    columns: *const Text,
    n_columns: usize,
    from: f64,
    to: f64,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut File {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let signals = Signals::new(interrupted);
            let names: Vec<&[u8]> = slice(columns, n_columns).iter().map(|name| name.bytes()).collect();
            let Some(parts) = Parts::open(&build::path(path)?, limits_of(limits, n)?)? else {
                return Ok(null_mut());
            };
            let n_rows = parts.n_rows();
            let last = if to.is_nan() { n_rows } else { (to as u64).min(n_rows) };
            let first = (from as u64).saturating_sub(1);
            if from.is_nan() || from < 1.0 || first >= last {
                return Ok(null_mut());
            }
            let is_named = |i: usize, name: &[u8]| parts.names().get(i).map(str::as_bytes) == Some(name);
            let all = 0..parts.names().len();
            if !names.iter().all(|name| all.clone().any(|i| is_named(i, name))) {
                return Ok(null_mut());
            }
            let chosen: Vec<usize> = all.filter(|&i| names.iter().any(|name| is_named(i, name))).collect();
            let chosen = (!names.is_empty()).then_some(&chosen[..]);
            let file = parts.part(chosen, first..last, &lend, &signals)?;
            Ok(Box::into_raw(Box::new(file)))
        })
    }
}

/// Checks that one read of a file may ask for this many bytes. Returns 0 with an error if not.
///
/// # Safety
/// [`ent_open`] must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_check_len(file: *const File, len: f64, failure: *mut *mut Failure) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, 0, || (*file).check_decoded_len(len as u64).map(|()| 1)) }
}

/// Closes a file.
///
/// # Safety
/// [`ent_open`] must have returned `file`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_close(file: *mut File) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(file) });
}

/// A view of one table of a file. A negative number gives a view of all columns.
///
/// # Safety
/// [`ent_open`] must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_table(file: *const File, number: f64, failure: *mut *mut Failure) -> *mut File {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let view = if number < 0.0 { (*file).whole() } else { (*file).table(number as u64)? };
            Ok(Box::into_raw(Box::new(view)))
        })
    }
}

/// Facts about a file.
///
/// # Safety
/// [`ent_open`] must have returned `file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_file_facts(file: *const File) -> FileFacts {
    // SAFETY: as the caller promises.
    let file = unsafe { &*file };
    let version = file.format_version();
    FileFacts {
        n_rows: file.n_rows() as f64,
        n_columns: file.n_columns() as f64,
        n_columns_total: file.n_columns_total() as f64,
        file_len: file.file_len() as f64,
        n_tables: file.n_tables() as f64,
        root: root(file, "value"),
        metadata: root(file, "metadata"),
        environments: root(file, "environments"),
        is_own: i32::from(is_own(file)),
        is_encrypted: i32::from(file.key().is_some()),
        format_major: i32::from(version.major),
        format_minor: i32::from(version.minor),
        edition: i32::from(file.edition()),
        generation: file.generation() as f64,
    }
}

/// The host map.
///
/// # Safety
/// As for [`ent_file_facts`]; `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_host(file: *const File, failure: *mut *mut Failure) -> *mut Tree {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(Box::into_raw(Box::new(Tree::new((*file).host()?)?)))) }
}

/// Describes columns by their numbers, or all columns of the table.
///
/// # Safety
/// As for [`ent_host`]; `numbers` must hold `n` doubles, or be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_describe(
    file: *const File,
    numbers: *const f64,
    n: usize,
    failure: *mut *mut Failure,
) -> *mut Described {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let file = &*file;
            let columns = if numbers.is_null() {
                file.all_columns(0..file.n_columns())?
            } else {
                let described = slice(numbers, n).iter().map(|&number| {
                    if number < 0.0 || number >= file.n_columns_total() as f64 {
                        let message = "the host map refers to a column that does not exist";
                        return Err(Error::corrupt(message).in_file(file.path()));
                    }
                    Ok((*file.column(number as u64)?).clone())
                });
                described.collect::<entasis::Result<_>>()?
            };
            let named = |info: ColumnInfo| {
                let name = type_name(&info.record.column_type, info.detail.as_ref());
                (info, name)
            };
            let columns = columns.into_iter().map(named).collect();
            Ok(Box::into_raw(Box::new(Described { columns })))
        })
    }
}

/// The number of descriptions.
///
/// # Safety
/// [`ent_describe`] must have returned `described`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_described_n(described: *const Described) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*described).columns.len() }
}

/// The description at a position.
///
/// # Safety
/// [`ent_describe`] must have returned `described`; `i` must be less than its number of columns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_described_at(described: *const Described, i: usize) -> ColumnFacts {
    // SAFETY: as the caller promises.
    let described = unsafe { &*described };
    let (info, type_name) = &described.columns[i];
    if info.unknown.is_some() {
        return ColumnFacts {
            type_name: Text::lend("unknown"),
            physical: Text::lend("unknown"),
            ..facts(info, type_name)
        };
    }
    facts(info, type_name)
}

fn facts(info: &ColumnInfo, type_name: &str) -> ColumnFacts {
    let of = &info.record.column_type;
    ColumnFacts {
        name: Text::lend(&info.name),
        type_name: Text::lend(type_name),
        zone: info.detail.as_ref().and_then(Value::as_str).map_or(Text::none(), Text::lend),
        physical: Text::lend(of.physical.name()),
        logical: Text::lend(of.logical.name()),
        unit: Text::lend(if of.unit == Unit::None { "" } else { of.unit.name() }),
        number: info.index as f64,
        n_values: info.record.n_values as f64,
        // All values of a column of nulls are missing, whatever its record counts.
        n_missing: if of.physical == Physical::Null { info.record.n_values } else { info.record.n_missing }
            as f64,
        dictionary: info.record.dictionary.map_or(-1.0, |number| number as f64),
        variant: i32::from(of.host_variant),
        ordered: i32::from(of.ordered),
        precision: i32::from(of.precision),
        scale: i32::from(of.scale),
        cell: info.detail.as_ref().and_then(Value::as_cell).map_or(-1.0, |cell| cell as f64),
        first_child: info.record.first_child.map_or(-1.0, |number| number as f64),
        n_children: f64::from(info.record.n_children),
        value_len: f64::from(of.value_len),
    }
}

/// Frees descriptions.
///
/// # Safety
/// [`ent_describe`] must have returned `described`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_described_free(described: *mut Described) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(described) });
}
