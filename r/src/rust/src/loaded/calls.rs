//! What C calls of them.

use std::ptr::null_mut;
use std::sync::Arc;

use entasis::File;
use entasis::cells::Loaded as Cells;

use super::alike::Alike;
use super::pools::PoolUse;
use super::{CellParts, Loaded, damage, look};
use crate::guard::{self, Failure, Interrupted, Signals};

/// A cell by itself, without text: what a reference means, where it is one. Its number, or -1 with an error.
///
/// # Safety
/// `file` must be what `ent_open` gave, `cell` writable, `failure` null or writable.
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

/// The cells of a file, none of which are read yet; null with an error.
///
/// # Safety
/// `file` must be what `ent_open` gave, `failure` null or writable.
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
            let found = found.ok_or_else(|| damage("the file names cells and has none"))?;
            *n_cells = found.n_cells();
            let cells = Cells::new(Arc::new(found), None);
            Ok(Box::into_raw(Box::new(Loaded {
                cells,
                targets: Vec::new(),
                pools: Vec::new(),
                memory: Vec::new(),
                alike: Vec::new(),
            })))
        })
    }
}

/// Frees cells.
///
/// # Safety
/// `loaded` must be what [`ent_loaded_new`] gave, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_free(loaded: *mut Loaded) {
    // SAFETY: made by `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(loaded) });
}

/// Reads neighbouring cells and all that they name, and pools of numbers that several arrays are cut from. 0, or -1 with an error.
///
/// # Safety
/// `loaded` must be what [`ent_loaded_new`] gave, used by this thread alone; `failure` null or writable.
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

/// A cell that was read; what doesn't count is left as it was. Its text is lent until the next cells are read. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_loaded_close`]; `cell` writable and initialised.
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

/// The vectors from a cell on, to before `end`, that are alike: how many, or -1 with an error. An object is the first of such when its
/// attributes are shared. What is told is lent until the next call.
///
/// # Safety
/// As for [`ent_loaded_close`]; `alike` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_alike(
    loaded: *mut Loaded,
    number: u64,
    end: u64,
    alike: *mut Alike,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let loaded = &mut *loaded;
            let found = loaded.alike(number, end);
            let found = found.map_err(|e| e.in_file(loaded.cells.cells().file().path()))?;
            let n = found.n.cast_signed();
            *alike = found;
            Ok(n)
        })
    }
}

/// The shape of an array of `n` values, at most 64 axes; how many those are, or -1 with an error.
///
/// # Safety
/// As for [`ent_loaded_close`]; 64 numbers are writable at `shape`.
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

/// The cells that references mean, ascending, and how many.
///
/// # Safety
/// As for [`ent_loaded_close`]; `n` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_loaded_targets(loaded: *const Loaded, n: *mut usize) -> *const u64 {
    // SAFETY: as the caller promises.
    unsafe {
        let loaded = &*loaded;
        *n = loaded.targets.len();
        loaded.targets.as_ptr()
    }
}

/// What is needed of pools, and of how many.
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
