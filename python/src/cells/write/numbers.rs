//! Runs of ints or floats in a list.
//!
//! Long runs are encoded block by block while they are walked, so that no memory is needed for all
//! numbers.

use std::ops::Range;

use entasis::cells::{BLOCK, CellWriter, EncodedBlock, NumberEncoder, ScratchVec};
use entasis::{CellKind, Physical};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::number_values::{float, int};
use crate::errors;
use crate::monitor;

/// After this many numbers, the list is expected to continue with numbers.
const FIRST: usize = 1 << 14;
/// Blocks between two checks for signals. Within them, the choices for a block are hints for the
/// next one.
const ROUND: usize = 16;

/// A Python number whose value fits into 64 bits.
pub trait Number: Copy {
    const KIND: CellKind;
    const PHYSICAL: Physical;

    /// The exact type of the objects.
    fn class() -> *mut ffi::PyTypeObject;

    /// The value of an object, if it fits.
    ///
    /// # Safety
    /// The object is alive and has exactly the type `class`.
    unsafe fn value(object: *mut ffi::PyObject) -> Option<Self>;

    /// The bits of the value, as blocks store them.
    fn word(self) -> u64;

    /// Lets `add` append up to `n` numbers to the cells. Returns how many it appended.
    fn put(out: &mut CellWriter, n: usize, add: impl FnOnce(&mut ScratchVec<Self>)) -> usize;
}

impl Number for i64 {
    const KIND: CellKind = CellKind::Int;
    const PHYSICAL: Physical = Physical::I64;

    fn class() -> *mut ffi::PyTypeObject {
        &raw mut ffi::PyLong_Type
    }

    #[inline]
    unsafe fn value(object: *mut ffi::PyObject) -> Option<Self> {
        // SAFETY: as the caller promises.
        unsafe { int(object) }
    }

    fn word(self) -> u64 {
        self.cast_unsigned()
    }

    fn put(out: &mut CellWriter, n: usize, add: impl FnOnce(&mut ScratchVec<Self>)) -> usize {
        out.ints_by(Self::KIND, n, add)
    }
}

impl Number for f64 {
    const KIND: CellKind = CellKind::Float;
    const PHYSICAL: Physical = Physical::F64;

    fn class() -> *mut ffi::PyTypeObject {
        &raw mut ffi::PyFloat_Type
    }

    #[inline]
    unsafe fn value(object: *mut ffi::PyObject) -> Option<Self> {
        // SAFETY: as the caller promises.
        Some(unsafe { float(object) })
    }

    fn word(self) -> u64 {
        self.to_bits()
    }

    fn put(out: &mut CellWriter, n: usize, add: impl FnOnce(&mut ScratchVec<Self>)) -> usize {
        out.floats_by(Self::KIND, n, add)
    }
}

/// The item of a list at index `i` as a number, if it has exactly this type and its value fits.
///
/// # Safety
/// The list has this item, and no Python code runs meanwhile.
#[inline]
unsafe fn number<T: Number>(list: *mut ffi::PyObject, i: usize) -> Option<T> {
    // SAFETY: the list has the item, as the caller promises, and the item has the type that `value`
    // asks for.
    unsafe {
        let object = ffi::PyList_GetItem(list, i as isize);
        if ffi::Py_TYPE(object) == T::class() { T::value(object) } else { None }
    }
}

/// Adds the numbers of one type that a list holds from index `from` on, and stops at index `n` or
/// at the first other item. Returns the index where it stopped.
pub fn put_numbers<T: Number>(
    list: &Bound<'_, PyList>,
    from: usize,
    n: usize,
    compression: u8,
    out: &mut CellWriter,
) -> PyResult<usize> {
    let mut encoder = None;
    let mut i = from;
    loop {
        // A signal handler may have changed the list.
        let n = n.min(list.len());
        if i >= n {
            return Ok(i);
        }
        // The first numbers show whether the list is likely to go on like this.
        let is_first = i == from;
        let mut is_more = false;
        if !is_first
            && out.rest(T::KIND).len() + (n - i) >= BLOCK
            && let Some(encoder) = encoder.get_or_insert_with(|| NumberEncoder::new(compression))
        {
            let blocks = encode_blocks::<T>(list, i..n, out.rest(T::KIND), encoder)?;
            is_more = blocks.len() == ROUND;
            i += out.blocks(T::KIND, blocks);
        }
        if !is_more {
            let room = if is_first { FIRST.min(n - i) } else { n - i };
            let found = T::put(out, room, |values| {
                // SAFETY: the list has these items, as `n` is at most its length and no Python code
                // runs here.
                values.extend((i..i + room).map_while(|k| unsafe { number::<T>(list.as_ptr(), k) }));
            });
            i += found;
            if found < room {
                return Ok(i);
            }
        }
        if is_first {
            out.reserve_cells(n - i);
        } else {
            monitor::check(list.py())?;
        }
    }
}

/// Encodes whole blocks of `head` followed by the items `range` of a list, at most `ROUND` of them.
/// Stops before a block with any other item.
fn encode_blocks<T: Number>(
    list: &Bound<'_, PyList>,
    range: Range<usize>,
    head: &[u64],
    encoder: &mut NumberEncoder,
) -> PyResult<Vec<EncodedBlock>> {
    let n_blocks = ((head.len() + range.len()) / BLOCK).min(ROUND);
    let mut blocks = Vec::with_capacity(n_blocks);
    encoder.begin_run();
    for block in 0..n_blocks {
        let at = block * BLOCK;
        let known = head.get(at..).unwrap_or(&[]);
        let known = &known[..known.len().min(BLOCK)];
        let (before, words) = encoder.words().split_at_mut(known.len());
        before.copy_from_slice(known);
        let first = range.start + at.saturating_sub(head.len());
        for (i, word) in (first..).zip(words) {
            // SAFETY: all blocks end within `range`, which the list has, and no Python code runs
            // here.
            match unsafe { number::<T>(list.as_ptr(), i) } {
                Some(value) => *word = value.word(),
                None => return Ok(blocks),
            }
        }
        blocks.push(encoder.encode(T::PHYSICAL).map_err(|error| errors::raise(list.py(), &error))?);
    }
    Ok(blocks)
}
