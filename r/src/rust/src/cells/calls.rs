//! The C interface of cells that are being collected.

use std::os::raw::c_void;
use std::ptr::null_mut;

use entasis::{CellClass, CellKind, Error, Result};

use super::{Cells, Encoded, Pooled};
use crate::column::Kind;
use crate::guard::{self, Failure, Text};
use crate::strings::{StringRef, Strings};

fn kind_of(code: i32, class: CellClass) -> Result<CellKind> {
    let kind = u8::try_from(code).ok().and_then(CellKind::of).filter(|kind| kind.class() == class);
    kind.ok_or_else(|| Error::argument("no such kind of cell"))
}

/// A collector without cells.
///
/// # Safety
/// `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_new(failure: *mut *mut Failure) -> *mut Cells {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(Box::into_raw(Box::new(Cells::new())))) }
}

/// Frees cells.
///
/// # Safety
/// [`ent_cells_new`] must have returned `cells`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_free(cells: *mut Cells) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(cells) });
}

/// The number of cells, which is the number of the next one.
///
/// # Safety
/// [`ent_cells_new`] must have returned `cells`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_n(cells: *const Cells) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*cells).writer.n_cells() }
}

/// Adds a scalar: a kind without a payload, an integer, or a float. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_n`]. Only this thread may use the cells; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_scalar(
    cells: *mut Cells,
    code: i32,
    integer: i64,
    float: f64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let writer = &mut (*cells).writer;
            match u8::try_from(code).ok().and_then(CellKind::of) {
                Some(kind) if kind.class() == CellClass::Unit => writer.unit(kind),
                Some(kind) if kind.class() == CellClass::Int => writer.int(kind, integer),
                Some(kind) if kind.class() == CellClass::Float => writer.float(kind, float),
                _ => return Err(Error::argument("no such kind of cell")),
            }
            Ok(0)
        })
    }
}

/// Adds scalars of one kind: floats, or 32-bit integers. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; `numbers` must hold `n` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_scalars(
    cells: *mut Cells,
    code: i32,
    numbers: *const f64,
    n: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let writer = &mut (*cells).writer;
            let numbers = guard::slice(numbers, n);
            match u8::try_from(code).ok().and_then(CellKind::of) {
                Some(kind) if kind.class() == CellClass::Int => {
                    numbers.iter().for_each(|&number| writer.int(kind, number as i64));
                }
                Some(kind) if kind.class() == CellClass::Float => writer.floats(kind, numbers, 0),
                _ => return Err(Error::argument("no such kind of cell")),
            }
            Ok(0)
        })
    }
}

/// Adds a string and returns 1. Returns 0 and adds nothing if it is not UTF-8; -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; the text must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_text(cells: *mut Cells, text: Text, failure: *mut *mut Failure) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            Ok(match std::str::from_utf8(text.bytes()) {
                Ok(text) => {
                    (*cells).writer.text(CellKind::Str, text);
                    1
                }
                Err(_) => 0,
            })
        })
    }
}

/// Adds `n` cells that may have children. Returns the index of the first among all such cells, or
/// -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_parents(
    cells: *mut Cells,
    code: i32,
    n: usize,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let (writer, kind) = (&mut (*cells).writer, kind_of(code, CellClass::Parent)?);
            let first = writer.n_parents();
            for _ in 0..n {
                writer.parent(kind);
            }
            Ok(first.cast_signed())
        })
    }
}

/// Sets the range of children of a parent.
///
/// # Safety
/// As for [`ent_cells_scalar`]; [`ent_cells_parents`] must have added the parent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_children(
    cells: *mut Cells,
    parent: usize,
    first: u64,
    count: u64,
    keys: u64,
) {
    // SAFETY: as the caller promises.
    unsafe { (*cells).writer.set_children(parent, first, count, keys) }
}

/// Ends a parent: all its descendants were added.
///
/// # Safety
/// As for [`ent_cells_children`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_end(cells: *mut Cells, parent: usize) {
    // SAFETY: as the caller promises.
    unsafe { (*cells).writer.end(parent) }
}

/// Adds a vector of numbers to a pool. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]. The memory must hold `n` values of the kind, and stay unchanged
/// until the cells are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_numbers(
    cells: *mut Cells,
    kind: i32,
    memory: *const c_void,
    n: usize,
    pooled: *mut Pooled,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            *pooled = (*cells).numbers(Kind::of(kind)?, memory, n)?;
            Ok(0)
        })
    }
}

/// The collector for a vector of `n` strings, and where they are in the pool; null with an error.
///
/// # Safety
/// As for [`ent_cells_scalar`]. The collector is valid until anything else is added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_strings(
    cells: *mut Cells,
    n: usize,
    pooled: *mut Pooled,
    failure: *mut *mut Failure,
) -> *mut Strings {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let cells = &mut *cells;
            let (pool, strings) = cells.strings(n)?;
            *pooled = Pooled { pool: pool as u64, at: strings.len(strings.column()) as u64, len: n as u64 };
            Ok(&raw mut *strings)
        })
    }
}

/// Adds the array cell of a vector in a pool, with `n_dim` dimensions. Returns 0, or -1 with an
/// error.
///
/// # Safety
/// As for [`ent_cells_scalar`]; `dim` must hold `n_dim` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_array(
    cells: *mut Cells,
    pooled: Pooled,
    dim: *const i32,
    n_dim: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let cells = &mut *cells;
            let kind = if n_dim > 0 { CellKind::FortranArray } else { CellKind::Array };
            let array = cells.writer.array(kind, pooled.pool, pooled.at, pooled.len);
            if n_dim > 0 {
                let axis = |&n: &i32| u64::try_from(n).map_err(|_| Error::argument("a negative dimension"));
                let shape = guard::slice(dim, n_dim).iter().map(axis).collect::<Result<_>>()?;
                cells.shapes.entry(shape).or_default().push(array);
            }
            Ok(0)
        })
    }
}

/// Adds array cells of `n` vectors of numbers of one kind. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_cells_numbers`], for each of the `n` vectors and lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_arrays(
    cells: *mut Cells,
    kind: i32,
    memory: *const *const c_void,
    lens: *const usize,
    n: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let (cells, kind) = (&mut *cells, Kind::of(kind)?);
            for (&memory, &len) in guard::slice(memory, n).iter().zip(guard::slice(lens, n)) {
                let pooled = cells.numbers(kind, memory, len)?;
                cells.writer.array(CellKind::Array, pooled.pool, pooled.at, pooled.len);
            }
            Ok(0)
        })
    }
}

/// Adds the cells of `n` character vectors of the given lengths. Returns how many it added, or -1
/// with an error. It stops at a vector with other encodings than UTF-8: its strings are in the pool
/// without a cell, and `encoded` has their range and encodings until other strings are added.
///
/// # Safety
/// As for [`ent_cells_scalar`]. There must be `n` lengths, as many strings as their sum, and the
/// bytes of these; `encoded` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_texts(
    cells: *mut Cells,
    batch: *const StringRef,
    lens: *const usize,
    n: usize,
    missing: usize,
    encoded: *mut Encoded,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let cells = &mut *cells;
            let lens = guard::slice(lens, n);
            let mut batch = guard::slice(batch, lens.iter().sum());
            for (done, &len) in lens.iter().enumerate() {
                let (now, later) = batch.split_at(len);
                batch = later;
                let (pool, strings) = cells.strings(len)?;
                let at = strings.len(strings.column());
                strings.add_all(now, missing)?;
                if let Some(encodings) = strings.encodings_since(at) {
                    let pooled = Pooled { pool: pool as u64, at: at as u64, len: len as u64 };
                    *encoded = Encoded { encodings: encodings.as_ptr(), pooled };
                    return Ok(done.cast_signed());
                }
                cells.writer.array(CellKind::Array, pool as u64, at as u64, len as u64);
            }
            Ok(n.cast_signed())
        })
    }
}

/// Adds the children of `n` objects from this parent on: to each a vector of numbers, and a
/// reference to the cell of its attributes. A single double becomes a scalar. Returns 0, or -1 with
/// an error.
///
/// # Safety
/// As for [`ent_cells_arrays`]. [`ent_cells_parents`] must have added `n` parents or more from
/// `parent` on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_cells_like(
    cells: *mut Cells,
    parent: usize,
    kind: i32,
    memory: *const *const c_void,
    lens: *const usize,
    n: usize,
    attributes: u64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let cells = &mut *cells;
            let kind = Kind::of(kind)?;
            let vectors = guard::slice(memory, n).iter().zip(guard::slice(lens, n));
            for (parent, (&memory, &len)) in (parent..).zip(vectors) {
                let first = cells.writer.n_cells();
                cells.writer.text(CellKind::Str, "r.vector");
                if kind == Kind::Double && len == 1 {
                    cells.writer.float(CellKind::Float, *memory.cast::<f64>());
                } else {
                    let pooled = cells.numbers(kind, memory, len)?;
                    cells.writer.array(CellKind::Array, pooled.pool, pooled.at, pooled.len);
                }
                cells.writer.int(CellKind::Reference, attributes.cast_signed());
                cells.writer.set_children(parent, first, 3, 0);
                cells.writer.end(parent);
            }
            Ok(0)
        })
    }
}
