//! Neighbours in a list that are numbers of one kind: a loop that looks at nothing else. Where they are many they are encoded a block at a time, as soon as the
//! block is found, so that no memory is taken for all of them; and a second thread helps.
//!
//! The second thread looks at objects while the first holds Python's lock, does the same, and waits. Python has no word for that, so it is done
//! only where it was looked at what the three calls do that are made of it (`may_help`).

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use entasis::cells::{BLOCK, BriefVec, CellWriter, EncodedBlock, NumberEncoder};
use entasis::{CellKind, Error, Physical};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::atoms::{float, int};
use crate::errors;

/// Items of a list in which a second thread may help.
pub const MANY: usize = BLOCK * (TOGETHER + 1);
/// Numbers that are put before it is believed that they go on.
const RUN: usize = 1 << 14;
/// Blocks that a thread takes together: the choices for one are hints for the next.
const TOGETHER: usize = 2;
/// Blocks after which it is looked whether the caller wants to stop.
const ROUND: usize = 32;

/// A number of Python's that is a word of a cell.
pub trait Number: Copy {
    const KIND: CellKind;
    const PHYSICAL: Physical;

    /// The type that the objects are of, exactly.
    fn class() -> *mut ffi::PyTypeObject;

    /// The value of an object, if it has one.
    ///
    /// # Safety
    /// The object is live, and of the type.
    unsafe fn value(object: *mut ffi::PyObject) -> Option<Self>;

    fn word(self) -> u64;

    /// Has `add` put numbers behind others, with room for `n`. Returns how many.
    fn put(out: &mut CellWriter, n: usize, add: impl FnOnce(&mut BriefVec<Self>)) -> usize;
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

    fn put(out: &mut CellWriter, n: usize, add: impl FnOnce(&mut BriefVec<Self>)) -> usize {
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

    fn put(out: &mut CellWriter, n: usize, add: impl FnOnce(&mut BriefVec<Self>)) -> usize {
        out.floats_by(Self::KIND, n, add)
    }
}

/// The number that item `i` of a list is, if it is of the very type and has a value.
///
/// # Safety
/// The list has the item, and nothing changes either meanwhile.
#[inline]
unsafe fn number<T: Number>(list: *mut ffi::PyObject, i: usize) -> Option<T> {
    // SAFETY: the list has the item, as the caller promises, and the item its type.
    unsafe {
        let object = ffi::PyList_GetItem(list, i as isize);
        if ffi::Py_TYPE(object) == T::class() { T::value(object) } else { None }
    }
}

/// How the numbers of a list are looked at.
pub struct Numbers {
    compression: u8,
    /// Whether a second thread helps, as there was no list so far that broke off.
    is_helped: bool,
}

impl Numbers {
    /// Of a list that is written with this setting; a second thread helps if it may.
    pub fn new(compression: u8, may_help: bool) -> Self {
        Self { compression, is_helped: may_help }
    }

    /// Puts the ints or floats of a list from `from` on, as far as they go before `n`. Returns what is next.
    pub fn put(
        &mut self,
        list: &Bound<'_, PyList>,
        from: usize,
        n: usize,
        are_ints: bool,
        out: &mut CellWriter,
    ) -> PyResult<usize> {
        if are_ints {
            self.put_all::<i64>(list, from, n, out)
        } else {
            self.put_all::<f64>(list, from, n, out)
        }
    }

    fn put_all<T: Number>(
        &mut self,
        list: &Bound<'_, PyList>,
        from: usize,
        n: usize,
        out: &mut CellWriter,
    ) -> PyResult<usize> {
        let mut i = from;
        loop {
            // Code that a signal runs may have changed the list.
            let n = n.min(list.len());
            if i >= n {
                return Ok(i);
            }
            // A list that begins so mostly goes on so: the first run tells.
            let is_first = i == from;
            let mut is_more = false;
            if !is_first {
                let blocks = self.blocks::<T>(list, i..n, out.rest(T::KIND))?;
                is_more = blocks.len() == ROUND;
                i += out.blocks(T::KIND, blocks);
            }
            if !is_more {
                let room = if is_first { RUN.min(n - i) } else { n - i };
                let found = T::put(out, room, |values| {
                    // SAFETY: the list has these items while no code of Python is run.
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
                list.py().check_signals()?;
            }
        }
    }

    /// Blocks of the numbers `range` of a list, which begin with `head`; at most as many as make a round. They end before the first item that
    /// is none.
    fn blocks<T: Number>(
        &mut self,
        list: &Bound<'_, PyList>,
        range: Range<usize>,
        head: &[u64],
    ) -> PyResult<Vec<EncodedBlock>> {
        let n_blocks = ((head.len() + range.len()) / BLOCK).min(ROUND);
        let Some(mut encoder) = NumberEncoder::new(self.compression).filter(|_| n_blocks > 0) else {
            return Ok(Vec::new());
        };
        let work = Work::<T> {
            list: list.as_ptr(),
            from: range.start,
            head,
            n_blocks,
            next: AtomicUsize::new(0),
            n_whole: AtomicUsize::new(n_blocks),
            made: Mutex::default(),
            failed: Mutex::default(),
            of: PhantomData,
        };
        thread::scope(|scope| {
            if self.is_helped && n_blocks > TOGETHER {
                let (work, compression) = (&work, self.compression);
                let help = move || {
                    if let Some(mut encoder) = NumberEncoder::new(compression) {
                        // SAFETY: `list` has the items until this thread has ended, as the scope waits for it with the lock held; and the calls
                        // that are made of them are of no matter to others, as `may_help` said.
                        unsafe { work.make(&mut encoder) }
                    }
                };
                // Without a thread all is done here.
                let _ = thread::Builder::new().spawn_scoped(scope, help);
            }
            // SAFETY: the list is live, and this thread has the lock.
            unsafe { work.make(&mut encoder) };
        });
        if let Some(error) = work.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(errors::raise(list.py(), &error));
        }
        let n_whole = work.n_whole.into_inner();
        self.is_helped &= n_whole == n_blocks;
        let mut made = work.made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_unstable_by_key(|(number, _)| *number);
        Ok(made.into_iter().take(n_whole).map(|(_, block)| block).collect())
    }
}

/// Whether the calls that a second thread makes are known to be of no matter to anything else.
///
/// `PyList_GetItem` of a place that there is, `PyDict_Next`, `PyLong_AsLongLongAndOverflow` of an int and `PyFloat_AsDouble` of a float read the object and nothing else in these
/// versions: they count no reference, raise nothing, and don't ask whose thread it is. Builds without a lock have no stable interface, and so not this package.
pub fn may_help(py: Python<'_>) -> bool {
    let version = py.version_info();
    version.major == 3 && (11..=13).contains(&version.minor)
}

/// What threads do together.
struct Work<'a, T> {
    list: *mut ffi::PyObject,
    from: usize,
    head: &'a [u64],
    n_blocks: usize,
    /// The first block that nobody took.
    next: AtomicUsize,
    /// The first block that is not whole, so far.
    n_whole: AtomicUsize,
    made: Mutex<Vec<(usize, EncodedBlock)>>,
    failed: Mutex<Option<Error>>,
    of: PhantomData<T>,
}

// SAFETY: the pointers are read through in `make` alone, whose callers answer for it.
unsafe impl<T> Sync for Work<'_, T> {}

impl<T: Number> Work<'_, T> {
    /// Makes blocks that nobody else makes, until there are none or one is not whole.
    ///
    /// # Safety
    /// The list has the items of all blocks, and nothing changes it or them meanwhile.
    unsafe fn make(&self, encoder: &mut NumberEncoder) {
        loop {
            let first = self.next.fetch_add(TOGETHER, Ordering::Relaxed);
            encoder.begin_run();
            for number in first..self.n_blocks.min(first + TOGETHER) {
                // SAFETY: as the caller promises.
                let is_whole = number < self.n_whole.load(Ordering::Relaxed)
                    && unsafe { self.fill(number, encoder.words()) };
                if !is_whole {
                    self.n_whole.fetch_min(number, Ordering::Relaxed);
                    return;
                }
                match encoder.encode(T::PHYSICAL) {
                    Ok(block) => {
                        self.made.lock().unwrap_or_else(PoisonError::into_inner).push((number, block))
                    }
                    Err(error) => {
                        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        return;
                    }
                }
            }
            if first >= self.n_blocks {
                return;
            }
        }
    }

    /// Puts the numbers of a block into memory for them; false when an item is none.
    ///
    /// # Safety
    /// As of `make`.
    unsafe fn fill(&self, block: usize, words: &mut [u64]) -> bool {
        let at = block * BLOCK;
        let head = self.head.get(at..).unwrap_or(&[]);
        let head = &head[..head.len().min(BLOCK)];
        let (before, places) = words.split_at_mut(head.len());
        before.copy_from_slice(head);
        let first = self.from + at.saturating_sub(self.head.len());
        (first..).zip(places).all(|(i, place)| {
            // SAFETY: as the caller promises.
            let found = unsafe { number::<T>(self.list, i) };
            found.is_some_and(|value| {
                *place = value.word();
                true
            })
        })
    }
}
