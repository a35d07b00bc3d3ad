//! The C interface of loaded cells.

use std::ptr::null_mut;
use std::sync::Arc;

use entasis::File;
use entasis::cells::Loaded as Cells;

use super::pools::PoolUse;
use super::small_vectors::SmallVectors;
use super::{CellParts, Loaded, damage, look};
use crate::guard::{self, Failure, Interrupted, Signals};

/// A single cell without text; for a reference, the cell that it names. Returns its number, or -1
/// with an error.
///
/// # Safety
/// `ent_open` must have returned `file`; `cell` must be writable, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_look(
    file: *const File,
    number: u64,
    cell: *mut CellParts,
    failure: *mut *mut Failure,
) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1.0, || {
            let file = &*file;
            let (number, found) = look(file, number).map_err(|e| e.in_file(file.path()))?;
            *cell = found;
            Ok(number as f64)
        })
    }
}

/// The cells of a file, before any is read; null with an error.
///
/// # Safety
/// `ent_open` must have returned `file`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_new(
    file: *const File,
    n_cells: *mut u64,
    failure: *mut *mut Failure,
) -> *mut Loaded {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let found = (*file).cells()?;
            let found = found.ok_or_else(|| damage("the file refers to cells and has none"))?;
            *n_cells = found.n_cells();
            let cells = Cells::new(Arc::new(found), None);
            Ok(Box::into_raw(Box::new(Loaded {
                cells,
                targets: Vec::new(),
                pools: Vec::new(),
                memory: Vec::new(),
                spans: Vec::new(),
            })))
        })
    }
}

/// Frees cells.
///
/// # Safety
/// [`ent_loaded_new`] must have returned `loaded`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_free(loaded: *mut Loaded) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(loaded) });
}

/// Reads neighbouring cells, all cells that they name, and pools of numbers that several arrays
/// share. Returns 0, or -1 with an error.
///
/// # Safety
/// [`ent_loaded_new`] must have returned `loaded`, which only this thread may use; `failure` must
/// be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_close(
    loaded: *mut Loaded,
    start: u64,
    end: u64,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &mut *loaded;
            let done = loaded
                .cells
                .close(std::iter::once(start..end).collect(), &Signals::new(interrupted))
                .and_then(|()| loaded.look())
                .and_then(|()| loaded.read_pools(interrupted));
            done.map(|()| 0).map_err(|e| e.in_file(loaded.cells.cells().file().path()))
        })
    }
}

/// A cell that was read. Fields that its kind does not set stay unchanged. Its text is valid until
/// the next cells are read. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_loaded_close`]; `cell` must be writable and initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_cell(
    loaded: *const Loaded,
    number: u64,
    cell: *mut CellParts,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &*loaded;
            let found = loaded.fill(number, &mut *cell);
            found.map(|()| 0).map_err(|e| e.in_file(loaded.cells.cells().file().path()))
        })
    }
}

/// The similar vectors from a cell to before `end`. Returns their number, or -1 with an error. The
/// result is valid until the next call.
///
/// # Safety
/// As for [`ent_loaded_close`]; `vectors` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_small_vectors(
    loaded: *mut Loaded,
    number: u64,
    end: u64,
    vectors: *mut SmallVectors,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &mut *loaded;
            let found = loaded.small_vectors(number, end);
            let found = found.map_err(|e| e.in_file(loaded.cells.cells().file().path()))?;
            let n = found.n.cast_signed();
            *vectors = found;
            Ok(n)
        })
    }
}

/// The shape of an array of `n` values, of at most 64 axes. Returns the number of axes, or -1 with
/// an error.
///
/// # Safety
/// As for [`ent_loaded_close`]; `shape` must have room for 64 numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_shape(
    loaded: *const Loaded,
    number: u64,
    n: u64,
    shape: *mut f64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let found = (*loaded).shape(number, n)?;
            let out = guard::slice_mut(shape, 64);
            if found.len() > out.len() {
                return Err(damage("an array has more than 64 dimensions"));
            }
            out.iter_mut().zip(&found).for_each(|(out, &n)| *out = n as f64);
            Ok(found.len() as i32)
        })
    }
}

/// The cells that references name, ascending, and their number.
///
/// # Safety
/// As for [`ent_loaded_close`]; `n` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_targets(loaded: *const Loaded, n: *mut usize) -> *const u64 {
    // SAFETY: as the caller promises.
    unsafe {
        let loaded = &*loaded;
        *n = loaded.targets.len();
        loaded.targets.as_ptr()
    }
}

/// The needed ranges of pools, and their number.
///
/// # Safety
/// As for [`ent_loaded_targets`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_pools(loaded: *const Loaded, n: *mut usize) -> *const PoolUse {
    // SAFETY: as the caller promises.
    unsafe {
        let loaded = &*loaded;
        *n = loaded.pools.len();
        loaded.pools.as_ptr()
    }
}
