//! The C interface to the choice of vectors for integers of other hosts.

use entasis::File;
use entasis_convert::r::integers::{first_beyond, fits, narrow};

use crate::guard::{self, Failure, slice, slice_mut};
use crate::missing::NA_INTEGER;

/// An integer and its row, for C: the sign, and the value without it.
#[repr(C)]
pub struct At {
    row: f64,
    value: u64,
    is_negative: i32,
}

/// Stores a row and its value in `out`. Returns 1, or 0 for `None`.
///
/// # Safety
/// `out` must be writable.
pub unsafe fn store_at(found: Option<(u64, i128)>, out: *mut At) -> i32 {
    let Some((row, n)) = found else { return 0 };
    // SAFETY: as the caller promises.
    unsafe { *out = At { row: row as f64, value: n.unsigned_abs() as u64, is_negative: i32::from(n < 0) } };
    1
}

/// Finds the first value of a column of 64-bit integers that integer64 does not hold. Returns 1, 0
/// if there is none, -1 with an error.
///
/// # Safety
/// `ent_open` must have returned `file`; `out` must be writable; `failure` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_beyond_integer64(
    file: *const File,
    number: f64,
    out: *mut At,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let found = first_beyond(&*file, number as u64).map_err(|e| e.in_file((*file).path()))?;
            Ok(store_at(found, out))
        })
    }
}

/// Stores the fit of each of `n` columns of 32-bit or 64-bit integers in `out`: 0 integers of R, 1
/// integer64, 2 doubles. Returns 0, or -1 with an error.
///
/// # Safety
/// `ent_open` must have returned `file`; `numbers` and `out` must hold `n` values; `failure` must
/// be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_integer_fits(
    file: *const File,
    numbers: *const f64,
    n: usize,
    out: *mut i32,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let numbers: Vec<u64> = slice(numbers, n).iter().map(|&number| number as u64).collect();
            let found = fits(&*file, &numbers).map_err(|e| e.in_file((*file).path()))?;
            slice_mut(out, n).iter_mut().zip(found).for_each(|(out, fit)| *out = fit as i32);
            Ok(0)
        })
    }
}

/// Converts 64-bit integers to integers of R and returns 1. Returns 0 and converts none if one does
/// not fit, -1 with an error. A null `out` only checks.
///
/// # Safety
/// `values` and `out`, unless null, must hold `n` values; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_integers_fit(
    values: *const i64,
    n: usize,
    out: *mut i32,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let values = slice(values, n);
            if !values.iter().all(|&n| narrow(n).is_some()) {
                return Ok(0);
            }
            if !out.is_null() {
                let filled = slice_mut(out, n).iter_mut().zip(values);
                filled.for_each(|(out, n)| *out = narrow(*n).unwrap_or(NA_INTEGER));
            }
            Ok(1)
        })
    }
}
