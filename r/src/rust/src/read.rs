//! The C interface to columns as vectors of R.

use std::os::raw::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use entasis::{Error, File, Result, Rows, TextLayout};
use entasis_convert::r::vectors;

use crate::column::Kind;
use crate::guard::{self, Failure, Interrupted, Signals, slice, slice_mut};
use crate::integers;
use crate::text::Strings;

/// A column to read, and the memory of the vector to fill.
#[repr(C)]
pub struct Want {
    column: f64,
    /// Memory for `n` values of the kind; null for strings.
    values: *mut c_void,
    n: usize,
    kind: i32,
    /// Seconds in a unit of R's durations.
    seconds: i32,
    /// Whether the quiet NA marks missing doubles.
    quiet: i32,
    /// Whether another host wrote the column: its values may include R's NA sentinel.
    foreign: i32,
}

impl Want {
    /// The same with its memory.
    ///
    /// # Safety
    /// The memory of the vector must be valid, aligned, and used by nothing else.
    unsafe fn lent(&self) -> Result<vectors::Want<'_>> {
        let kind = Kind::of(self.kind)?;
        let len = kind.width().map_or(Some(0), |width| self.n.checked_mul(width));
        let len = len.ok_or_else(|| Error::out_of_memory(usize::MAX, "the columns"))?;
        Ok(vectors::Want {
            column: self.column as u64,
            kind,
            // SAFETY: as the caller promises, it is memory for `n` values of the kind.
            memory: unsafe { slice_mut(self.values.cast::<u8>(), len) },
            n: self.n,
            seconds: self.seconds,
            is_quiet: self.quiet != 0,
            is_foreign: self.foreign != 0,
            layout: TextLayout::Views,
        })
    }

    /// A column that R wrote, with memory for `n` values of a kind with a width.
    pub fn own(column: u64, kind: Kind, memory: &mut [u8], n: usize, quiet: bool) -> Self {
        Self {
            column: column as f64,
            values: memory.as_mut_ptr().cast(),
            n,
            kind: kind.code(),
            seconds: 1,
            quiet: i32::from(quiet),
            foreign: 0,
        }
    }
}

/// Rows to read: all (kind 0), from `start` to before `stop` (1), or those with these numbers, from
/// 0 on (2).
#[repr(C)]
pub struct WantedRows {
    kind: i32,
    start: f64,
    stop: f64,
    numbers: *const f64,
    n: usize,
}

/// The results of all columns.
pub struct Found(Vec<vectors::Found>);

/// Reads columns. `rows` gives the rows of each by its position in `wants`.
///
/// # Safety
/// The memory of all columns must be valid, aligned, and used by nothing else.
pub unsafe fn read(
    file: &File,
    wants: &[Want],
    rows: impl Fn(usize) -> Rows,
    threads: Option<usize>,
    interrupted: Option<Interrupted>,
) -> Result<Vec<vectors::Found>> {
    // SAFETY: as the caller promises.
    let wants = wants.iter().map(|want| unsafe { want.lent() }).collect::<Result<_>>()?;
    vectors::read_vectors(file, wants, rows, threads, &Signals::new(interrupted))
}

/// Reads columns into vectors. Returns null with an error; the vectors then hold unspecified
/// values.
///
/// # Safety
/// `ent_open` must have returned `file`. The memory of all vectors must be valid, aligned, and used
/// by nothing else. The row numbers must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_read(
    file: *const File,
    wants: *const Want,
    n_wants: usize,
    rows: *const WantedRows,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut Found {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let rows = &*rows;
            let rows = match rows.kind {
                0 => Rows::All,
                1 => Rows::Range(rows.start as u64..rows.stop as u64),
                _ => {
                    let numbers = slice(rows.numbers, rows.n).iter().map(|&number| number as u64);
                    Rows::Indices(Arc::new(numbers.collect()))
                }
            };
            let found = read(&*file, slice(wants, n_wants), |_| rows.clone(), None, interrupted)?;
            Ok(Box::into_raw(Box::new(Found(found))))
        })
    }
}

/// Takes the strings of a column; null if it has none or they were taken before.
///
/// # Safety
/// [`ent_read`] must have returned `found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_found_strings(found: *mut Found, i: usize) -> *mut Strings {
    // SAFETY: as the caller promises.
    let found = unsafe { &mut (*found).0 };
    found.get_mut(i).and_then(|of| of.strings.take()).map_or(null_mut(), Box::into_raw)
}

/// Finds the first integer of a column that was rounded to a double. Returns 0 if there is none.
///
/// # Safety
/// [`ent_read`] must have returned `found`; `out` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_found_rounded(found: *const Found, i: usize, out: *mut integers::At) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        let found = &(*found).0;
        integers::store_at(found.get(i).and_then(|of| of.rounded), out)
    }
}

/// Frees the results that were not taken.
///
/// # Safety
/// [`ent_read`] must have returned `found`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_found_free(found: *mut Found) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(found) });
}
