//! The table of a large dict, filled where it lies.
//!
//! Python's interface looks for each key before it puts it in, in a table that grows full and is made anew: half of the time of a dict
//! of 10^5 floats. Here Python makes the table, with room for many from the beginning, and entries are written into it, a thousand at a
//! time while their objects are in the caches. It is what CPython's `insertdict` and `build_indices_unicode` do.
//!
//! That takes how CPython lays a dict out, which is the same in the versions of [`is_known`]; and what is relied on is looked for in each table
//! before it is filled. Elsewhere, and for values that Python's collector has to look after, dicts are filled by Python's interface.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::NonNull;

use entasis::cells::BriefVec;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::dicts::of_keywords;
use crate::large;

/// Fewer keys are put in as quickly by names: all that is looked at stays in the caches.
pub const LEAST: u64 = 1 << 15;

/// `PyDictObject`.
#[repr(C)]
struct Object {
    references: isize,
    class: *mut c_void,
    used: isize,
    version: u64,
    keys: *mut Keys,
    /// Null where values stand beside their keys.
    values: *mut c_void,
}

/// `PyDictKeysObject`. Behind it are the places, which have numbers of entries, and then the entries.
#[repr(C)]
struct Keys {
    references: isize,
    log2_places: u8,
    /// Of all places together.
    log2_bytes: u8,
    kind: u8,
    version: u32,
    usable: isize,
    n_entries: isize,
}

/// `PyDictUnicodeEntry`.
#[repr(C)]
struct Entry {
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
}

/// `DICT_KEYS_UNICODE`.
const STRINGS: u8 = 1;
/// Tables whose places have four bytes.
const LOG2_PLACES: std::ops::RangeInclusive<u8> = 16..=30;
/// The largest table that Python makes for names at once.
const LOG2_MOST: u8 = 17;

/// Entries that a table of so many places has: `USABLE_FRACTION`.
const fn usable(log2_places: u8) -> usize {
    (2 << log2_places) / 3
}

/// As few entries as Python makes a table of so many places for, also when they are in one that is half as large.
const fn least(log2_places: u8) -> usize {
    (1 << (log2_places - 1)) / 3 + 1
}

/// A new dict, which nobody else knows, while it is filled.
pub struct Table<'py> {
    dict: Bound<'py, PyDict>,
    /// Keys that it will have.
    n: usize,
    /// The hashes of those that it has.
    hashes: BriefVec<isize>,
    /// Entries whose places others wanted, and those.
    met: Vec<(u32, u32)>,
    /// Where entries are written; nowhere when Python has made a table that is not as told here.
    place: Option<Place>,
}

/// Where a table is, until Python makes another one.
struct Place {
    keys: NonNull<Keys>,
    log2_places: u8,
    /// Entries that are written before it grows.
    room: usize,
}

impl<'py> Table<'py> {
    /// For `n` keys, of which one is there; none where dicts are laid out in another way.
    pub fn new(key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>, n: usize) -> PyResult<Option<Self>> {
        let py = key.py();
        if !is_known(py)? {
            return Ok(None);
        }
        let log2_places = (*LOG2_PLACES.start()..LOG2_MOST).find(|&log2| usable(log2) >= n);
        // Python makes a table for as many names as there are, also when they are one.
        let n_names = least(log2_places.unwrap_or(LOG2_MOST));
        let names = PyTuple::new(py, [key])?.as_sequence().repeat(n_names)?.cast_into::<PyTuple>()?;
        let mut hashes = BriefVec::new();
        hashes.reserve(n);
        let mut values = BriefVec::new();
        values.resize(n_names, value.as_ptr());
        // SAFETY: as many values as names, all of them one that is alive.
        let Some(dict) = (unsafe { of_keywords(&names, values.as_ptr())? }) else { return Ok(None) };
        let mut table = Self { dict, n, hashes, met: Vec::new(), place: None };
        table.hashes.push(hash(key)?);
        table.place = table.find();
        Ok(table.place.is_some().then_some(table))
    }

    pub fn into_dict(self) -> Bound<'py, PyDict> {
        self.dict
    }

    /// Puts in keys, which are strings, with as many values, with which Python's collector has nothing to do. Returns whether no key was
    /// there before.
    pub fn put(&mut self, keys: Vec<Bound<'py, PyAny>>, values: Vec<Bound<'py, PyAny>>) -> PyResult<bool> {
        assert_eq!(keys.len(), values.len(), "a value for each key");
        let (mut keys, mut values) = (keys.into_iter(), values.into_iter());
        loop {
            let n = keys.len().min(self.place.as_ref().map_or(0, |place| place.room));
            let first = self.hashes.len();
            for key in &keys.as_slice()[..n] {
                self.hashes.push(hash(key)?);
            }
            // SAFETY: `find` saw that the table is as told here and has so much room. Nobody else has had the dict since.
            let differ = unsafe { self.fill(first, keys.by_ref().zip(values.by_ref()).take(n)) };
            if !differ {
                return Ok(false);
            }
            let Some((key, value)) = keys.next().zip(values.next()) else { return Ok(true) };
            if !self.grow(&key, &value)? {
                return Ok(false);
            }
        }
    }

    /// Writes entries, whose hashes are there from `first` on. Returns whether their keys differ from those before and from each other.
    ///
    /// # Safety
    /// The table is as told here, of `first` entries, and has room for these.
    unsafe fn fill(
        &mut self,
        first: usize,
        entries: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    ) -> bool {
        let Some(place) = &mut self.place else { return true };
        let hashes: &[isize] = &self.hashes;
        let mask = (1 << place.log2_places) - 1;
        let keys = place.keys.as_ptr();
        // SAFETY: behind the numbers are as many places of four bytes, and behind them the entries.
        let (places, table) = unsafe {
            let places = keys.add(1).cast::<i32>();
            (places, places.add(mask + 1).cast::<Entry>())
        };
        // Nothing here waits for what is read, so that all places are on their way to the caches at once.
        let touched = hashes[first..].iter().fold(0, |sum: i32, hash| {
            // SAFETY: within the places.
            sum.wrapping_add(unsafe { *places.add(hash.cast_unsigned() & mask) })
        });
        black_box(touched);
        self.met.clear();
        let mut next = first;
        for (key, value) in entries {
            let mut perturb = hashes[next].cast_unsigned();
            let mut at = perturb & mask;
            loop {
                // SAFETY: within the places.
                let found = unsafe { *places.add(at) };
                if found < 0 {
                    break;
                }
                self.met.push((found as u32, next as u32));
                perturb >>= 5;
                at = (5 * at + perturb + 1) & mask;
            }
            // SAFETY: an empty place, and room for the entry, by the caller. The references are the table's from here on.
            unsafe {
                places.add(at).write(next as i32);
                table.add(next).write(Entry { key: key.into_ptr(), value: value.into_ptr() });
            }
            next += 1;
        }
        let n = next - first;
        place.room -= n;
        // SAFETY: the dict and its table are alive.
        unsafe {
            (*keys).n_entries += n as isize;
            (*keys).usable -= n as isize;
            (*self.dict.as_ptr().cast::<Object>()).used += n as isize;
        }
        // Hashes lie anywhere, and are not waited for one after the other either.
        let has_alike = |pairs: &[(u32, u32)]| {
            pairs.iter().fold(false, |any, &(a, b)| any | (hashes[a as usize] == hashes[b as usize]))
        };
        !has_alike(&self.met)
            || !self.met.iter().any(|&(a, b)| {
                // SAFETY: entries that were written, of strings that are alive; comparing these does not fail.
                unsafe {
                    ffi::PyUnicode_Compare((*table.add(a as usize)).key, (*table.add(b as usize)).key) == 0
                }
            })
    }

    /// Has Python put an entry in, and make a larger table where there is no room. Returns whether the key was not there.
    fn grow(&mut self, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        let py = self.dict.py();
        let mut bytes = 0;
        if let Some(place) = self.place.take() {
            bytes = 32 << place.log2_places;
            // Python makes the table twice as large when this one has no room.
            // SAFETY: the table is alive, and that it has less room than there is takes nothing from it.
            unsafe { (*place.keys.as_ptr()).usable = 0 };
        }
        large::make(py, bytes, || self.dict.set_item(key, value))?;
        self.hashes.push(hash(key)?);
        self.place = self.find();
        Ok(self.dict.len() == self.hashes.len())
    }

    /// Where the table is, if it is one of strings and as told here.
    fn find(&self) -> Option<Place> {
        let n = self.hashes.len();
        let object = self.dict.as_ptr().cast::<Object>();
        // SAFETY: `is_known` saw that a dict is an object of this size. In these versions it points to its table, which never is null and begins with these numbers;
        // the entries are where they say.
        unsafe {
            let keys = NonNull::new((*object).keys)?;
            let Keys { references, log2_places, log2_bytes, kind, usable: left, n_entries, .. } =
                *keys.as_ptr();
            let is_as_told = (*object).values.is_null()
                && (*object).used == n as isize
                && references == 1
                && LOG2_PLACES.contains(&log2_places)
                && log2_bytes == log2_places + 2
                && kind == STRINGS
                && n_entries == n as isize
                && left == usable(log2_places) as isize - n as isize;
            if !is_as_told {
                return None;
            }
            // Where it will be made larger, that is done as early as it can be: fewer entries are moved.
            let most =
                if self.n > usable(log2_places) { least(log2_places + 1) } else { usable(log2_places) };
            Some(Place { keys, log2_places, room: most.saturating_sub(n) })
        }
    }
}

fn hash(key: &Bound<'_, PyAny>) -> PyResult<isize> {
    // SAFETY: hashes a live object; -1 is an error that is set.
    match unsafe { ffi::PyObject_Hash(key.as_ptr()) } {
        -1 => Err(PyErr::fetch(key.py())),
        hash => Ok(hash),
    }
}

/// Whether dicts are laid out as told here: in these versions, in which that was looked up, unless objects have more than usual.
fn is_known(py: Python<'_>) -> PyResult<bool> {
    static KNOWN: PyOnceLock<bool> = PyOnceLock::new();
    KNOWN
        .get_or_try_init(py, || {
            let version = py.version_info();
            let size: usize = py.get_type::<PyDict>().getattr(intern!(py, "__basicsize__"))?.extract()?;
            let is_cpython = py.import("sys")?.getattr("implementation")?.getattr("name")?.eq("cpython")?;
            Ok(cfg!(target_pointer_width = "64")
                && is_cpython
                && version.major == 3
                && (11..=13).contains(&version.minor)
                && size == size_of::<Object>())
        })
        .copied()
}
