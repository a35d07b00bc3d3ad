//! Neighbours in a list that are numbers of one kind: a loop that looks at nothing else, and a second thread where they are many.
//!
//! The second thread looks at objects while the first holds Python's lock, does the same, and waits. Python has no word for that, so it is done
//! only where it was looked at what the three calls do that are made of it (`may_help`).

use std::mem::MaybeUninit;
use std::slice::ChunksMut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use entasis::CellKind;
use entasis::cells::CellWriter;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::atoms::{float, int};

/// Numbers that a thread takes together.
const RUN: usize = 1 << 14;
/// Numbers that have to be left for a second thread.
const MANY: usize = 1 << 16;
/// Numbers after which it is looked whether the caller wants to stop.
const TOGETHER: usize = 1 << 21;

/// How the numbers of a list are looked at.
pub struct Numbers {
    /// Whether a second thread helps, which has met nothing else so far.
    is_helped: bool,
}

impl Numbers {
    /// Of a list; a second thread helps if it may.
    pub fn new(may_help: bool) -> Self {
        Self { is_helped: may_help }
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
        let mut i = from;
        loop {
            // Code that a signal runs may have changed the list.
            let n = n.min(list.len());
            if i >= n {
                return Ok(i);
            }
            // A list that begins so mostly goes on so: the first run tells.
            let is_first = i == from;
            let together = if is_first { RUN } else { TOGETHER };
            let end = n.min(i + together);
            let is_helped = self.is_helped && !is_first && end - i >= MANY;
            let run = Run { list, from: i, n: end - i, is_helped };
            let room = if is_first { end - i } else { n - i };
            let found = if are_ints {
                // SAFETY: `Run::add` calls it of objects of this type.
                let value = |object| unsafe { int(object) };
                out.ints_by(CellKind::Int, room, |values| run.add(&raw mut ffi::PyLong_Type, values, value))
            } else {
                // SAFETY: as above.
                let value = |object| Some(unsafe { float(object) });
                out.floats_by(CellKind::Float, room, |values| {
                    run.add(&raw mut ffi::PyFloat_Type, values, value)
                })
            };
            i += found;
            if i < end || i == n {
                self.is_helped &= !is_helped || i == n;
                return Ok(i);
            }
            if !is_first {
                list.py().check_signals()?;
            }
        }
    }
}

/// Whether the calls that a second thread makes are known to be of no matter to anything else.
///
/// `PyList_GetItem` of a place that there is, `PyLong_AsLongLongAndOverflow` of an int and `PyFloat_AsDouble` of a float read the object and nothing else in these
/// versions: they count no reference, raise nothing, and don't ask whose thread it is. Builds without a lock have no stable interface, and so not this package.
pub fn may_help(py: Python<'_>) -> bool {
    let version = py.version_info();
    version.major == 3 && (11..=13).contains(&version.minor)
}

/// Some neighbours in a list.
struct Run<'a, 'py> {
    list: &'a Bound<'py, PyList>,
    from: usize,
    n: usize,
    is_helped: bool,
}

impl Run<'_, '_> {
    /// Adds the values of those that are of this very type and have one, up to the first that is not or has none. There is room for all.
    fn add<T: Send>(
        &self,
        of: *mut ffi::PyTypeObject,
        values: &mut Vec<T>,
        value: impl Fn(*mut ffi::PyObject) -> Option<T> + Sync,
    ) {
        let before = values.len();
        let run = if self.is_helped { RUN } else { self.n };
        let places = values.spare_capacity_mut()[..self.n].chunks_mut(run);
        let work = Work {
            list: self.list.as_ptr(),
            from: self.from,
            run,
            of,
            // No items need no look.
            n_found: AtomicUsize::new(self.n),
            left: Mutex::new((0, self.n.div_ceil(run), places)),
        };
        thread::scope(|scope| {
            if self.is_helped {
                let (work, value) = (&work, &value);
                // SAFETY: `self.list` has the items until this thread has ended, as the scope waits for it with the lock held; and the calls that are
                // made of them are of no matter to others, as `may_help` said.
                let help = move || while unsafe { work.next(Side::Back, value) } {};
                // Without a thread all is done here.
                let _ = thread::Builder::new().spawn_scoped(scope, help);
            }
            // SAFETY: the list is live, and this thread has the lock.
            while unsafe { work.next(Side::Front, &value) } {}
        });
        let n_found = work.n_found.into_inner();
        // SAFETY: all places before the first that has no value were filled: of each run that begins there, by the thread that took it.
        unsafe { values.set_len(before + n_found) };
    }
}

/// From where a thread takes what is left. Each fills neighbouring memory: two that come to a huge page for the first time at once would each clear one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Front,
    Back,
}

/// What threads do together.
struct Work<'a, T> {
    list: *mut ffi::PyObject,
    from: usize,
    run: usize,
    of: *mut ffi::PyTypeObject,
    /// The first that has no value, so far.
    n_found: AtomicUsize,
    /// The first run that nobody took, the end of them, and their places.
    left: Mutex<(usize, usize, ChunksMut<'a, MaybeUninit<T>>)>,
}

// SAFETY: the pointers are read through in `next` alone, whose callers answer for it; the places are of one thread each.
unsafe impl<T: Send> Sync for Work<'_, T> {}

impl<T> Work<'_, T> {
    /// Looks at the items of one run; false when none is left, or all that are stand behind the first that has no value.
    ///
    /// # Safety
    /// The list has these items, and nothing changes it or them meanwhile.
    unsafe fn next(&self, side: Side, value: impl Fn(*mut ffi::PyObject) -> Option<T>) -> bool {
        let (first, places) = {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            let (front, back, places) = &mut *left;
            let taken = if side == Side::Front { places.next() } else { places.next_back() };
            let Some(taken) = taken else { return false };
            let at = if side == Side::Front { *front } else { *back - 1 };
            if side == Side::Front {
                *front += 1
            } else {
                *back -= 1
            }
            (at * self.run, taken)
        };
        if first > self.n_found.load(Ordering::Relaxed) {
            return false;
        }
        for (k, place) in (first..).zip(places) {
            // SAFETY: the list has the item, and the item its type, as the caller promises.
            let found = unsafe {
                let object = ffi::PyList_GetItem(self.list, (self.from + k) as isize);
                if ffi::Py_TYPE(object) == self.of { value(object) } else { None }
            };
            let Some(found) = found else {
                self.n_found.fetch_min(k, Ordering::Relaxed);
                break;
            };
            place.write(found);
        }
        true
    }
}
