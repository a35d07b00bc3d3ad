//! The generations of a file.

use std::ptr::null_mut;

use entasis::{File, Generation};

use crate::guard::{self, Failure, Text};

/// A generation. Its text is static.
#[repr(C)]
pub struct GenerationFacts {
    number: f64,
    /// Seconds since 1970; 0 when unknown.
    time: f64,
    operation: Text,
    /// -1 when the value is not a table.
    n_rows: f64,
    file_len: f64,
}

/// The generations of a file, from the oldest on.
///
/// # Safety
/// `ent_open` must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_generations_of(
    file: *const File,
    failure: *mut *mut Failure,
) -> *mut Vec<Generation> {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(Box::into_raw(Box::new((*file).generations()?)))) }
}

/// The number of generations.
///
/// # Safety
/// [`ent_generations_of`] must have returned `generations`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_generations_n(generations: *const Vec<Generation>) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*generations).len() }
}

/// The generation at a position.
///
/// # Safety
/// [`ent_generations_of`] must have returned `generations`; `i` must be less than their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_generations_at(
    generations: *const Vec<Generation>,
    i: usize,
) -> GenerationFacts {
    // SAFETY: as the caller promises.
    let of = unsafe { &(&*generations)[i] };
    GenerationFacts {
        number: of.number as f64,
        time: of.time as f64 / 1e9,
        operation: Text::lend(of.operation.name()),
        n_rows: of.n_rows.map_or(-1.0, |n| n as f64),
        file_len: of.file_len as f64,
    }
}

/// Frees generations.
///
/// # Safety
/// [`ent_generations_of`] must have returned `generations`, which are invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_generations_free(generations: *mut Vec<Generation>) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(generations) });
}

/// Whether `compact` would free most of a long file. -1 after an error.
///
/// # Safety
/// `ent_open` must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_is_worth_compacting(file: *const File, failure: *mut *mut Failure) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, -1, || Ok(i32::from((*file).is_worth_compacting()?))) }
}

/// A file at an earlier generation.
///
/// # Safety
/// `ent_open` must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_at_generation(
    file: *const File,
    number: f64,
    failure: *mut *mut Failure,
) -> *mut File {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            Ok(Box::into_raw(Box::new((*file).at_generation(number as u64)?)))
        })
    }
}
