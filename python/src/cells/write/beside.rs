//! The numbers that a large dict has for values, found by a second thread while the first one looks at the keys.
//!
//! Keys and values lie apart in memory, and to look at them is mostly to wait for it. As with the numbers of a list, Python has no word for what
//! the second thread does, so it is done only where it is known what its calls do (`may_help`).

use std::thread;

use entasis::cells::{CellWriter, Scalars};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::atoms::{Atom, atom, put};
use super::numbers::Number;
use super::rows::next_item;

/// Items of a dict that are left where it pays to start a thread.
pub const MANY: usize = 1 << 15;

/// A dict that another thread may look at.
#[derive(Clone, Copy)]
struct Items(*mut ffi::PyObject);

// SAFETY: the pointer is read through in `next` alone, whose callers answer for it.
unsafe impl Send for Items {}

impl Items {
    /// The next value, if it is a number of the very type and has a value.
    ///
    /// # Safety
    /// A live dict, and nothing changes it or its values meanwhile.
    #[inline]
    unsafe fn next<T: Number>(self, at: &mut isize) -> Option<T> {
        let mut value = std::ptr::null_mut();
        // SAFETY: the dict is live, as the caller promises, and the places are of our own; a value that it has is live.
        unsafe {
            let has_one = ffi::PyDict_Next(self.0, at, std::ptr::null_mut(), &raw mut value) != 0;
            if has_one && ffi::Py_TYPE(value) == T::class() { T::value(value) } else { None }
        }
    }
}

/// Puts up to `n` items of a dict from a position on, as long as their keys are strings and their values numbers as one thread or the other
/// can put them. Returns how many, and moves the position there.
pub fn put_by_two<T: Number + Send>(
    dict: &Bound<'_, PyDict>,
    position: &mut isize,
    n: usize,
    keys: &mut Scalars,
    out: &mut CellWriter,
) -> usize {
    let (items, from) = (Items(dict.as_ptr()), *position);
    let (mut n_keys, mut end) = (0, from);
    let done = T::put(out, n, |values| {
        let before = values.len();
        thread::scope(|scope| {
            let values = &mut *values;
            let help = move || {
                // The whole of it, not its pointer alone.
                let (items, mut at) = (items, from);
                // SAFETY: the dict stays as it is until this thread has ended, as the scope waits for it with the lock held and runs no code of
                // Python; and the calls that are made of its values are of no matter to others, as `may_help` said.
                values.extend(std::iter::from_fn(|| unsafe { items.next::<T>(&mut at) }).take(n));
            };
            // Without a thread none is found, and all is left to the caller.
            let _ = thread::Builder::new().spawn_scoped(scope, help);
            (n_keys, end) = put_keys(dict, from, n, keys);
        });
        values.truncate(before + n_keys);
    });
    if done == n_keys {
        *position = end;
    } else {
        keys.drop_texts(n_keys - done);
        for _ in 0..done {
            next_item(dict, position);
        }
    }
    done
}

/// Puts up to `n` keys that are strings. Returns how many, and the position behind them.
fn put_keys(dict: &Bound<'_, PyDict>, from: isize, n: usize, keys: &mut Scalars) -> (usize, isize) {
    let (mut done, mut end) = (0, from);
    let mut at = from;
    while done < n
        && let Some((key, _)) = next_item(dict, &mut at)
        && atom(key) == Atom::Str
        && put(key, keys)
    {
        (done, end) = (done + 1, at);
    }
    (done, end)
}
