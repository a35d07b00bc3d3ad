//! The table of a large dict, made and filled at once.
//!
//! Python's interface looks for each key before it puts it in, in a table that is made anew each time that it is full: half of the time of
//! a dict of 10^5 floats. Here the table has room for all from the beginning, and entries are written into it some hundreds at a time,
//! while their objects are in the caches. It is what CPython's `new_keys_object`, `insertdict` and `build_indices_unicode` do.
//!
//! That takes how CPython lays a dict out, which is the same in the versions of [`known`]; and it is looked for in a dict that Python made,
//! before the first one is made here. Elsewhere, for fewer keys or other ones than strings, and for values that Python's collector has to look
//! after, dicts are filled by Python's interface.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::NonNull;

use entasis::cells::BriefVec;
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::large;

/// Fewer keys are put in as quickly by Python: all that is looked at stays in the caches.
pub const LEAST: u64 = 1 << 15;

/// `PyDictObject`.
#[repr(C)]
struct Object {
    references: isize,
    class: *mut c_void,
    used: isize,
    version: u64,
    keys: *mut Keys,
    /// Null where each value stands beside its key.
    values: *mut c_void,
}

/// `PyDictKeysObject`. Behind it are the places, which have numbers of entries, and then the entries.
#[derive(Clone, Copy)]
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
/// Tables whose places have four bytes, and whose entries CPython (to 3.12) counts in as many.
const LOG2_PLACES: std::ops::RangeInclusive<u8> = 16..=29;
/// Pairs of entries that are kept before they are compared.
const MET: usize = 1 << 15;

/// Entries that a table of so many places has: `USABLE_FRACTION`.
const fn usable(log2_places: u8) -> usize {
    (2 << log2_places) / 3
}

/// Where a key of this hash is looked for, place after place.
fn probe(hash: isize, log2_places: u8) -> impl Iterator<Item = usize> {
    let mask = (1 << log2_places) - 1;
    let mut perturb = hash.cast_unsigned();
    let mut at = perturb & mask;
    std::iter::once(at).chain(std::iter::repeat_with(move || {
        perturb >>= 5;
        at = at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
        at
    }))
}

/// A new dict, which nobody else knows, while it is filled.
pub struct Table<'py> {
    dict: Bound<'py, PyDict>,
    keys: NonNull<Keys>,
    log2_places: u8,
    /// The hashes of all keys that are there.
    hashes: BriefVec<isize>,
    /// Entries whose places others wanted, and those.
    met: Vec<(u32, u32)>,
}

impl<'py> Table<'py> {
    /// With room for `n` keys; none where dicts may be laid out in another way, or for too many.
    pub fn new(py: Python<'py>, n: usize) -> PyResult<Option<Self>> {
        let Some(allocate) = known(py)? else { return Ok(None) };
        let dict = PyDict::new(py);
        let object = dict.as_ptr().cast::<Object>();
        // SAFETY: a dict is such an object, by `known`, and has a table always.
        let is_empty = unsafe {
            let Keys { usable, n_entries, .. } = *(*object).keys;
            (*object).used == 0 && (*object).values.is_null() && usable == 0 && n_entries == 0
        };
        let log2_places = LOG2_PLACES.into_iter().find(|&log2| usable(log2) >= n).filter(|_| is_empty);
        let Some(log2_places) = log2_places else { return Ok(None) };
        let (n_places, n_entries) = (1usize << log2_places, usable(log2_places));
        let bytes = size_of::<Keys>() + size_of::<i32>() * n_places + size_of::<Entry>() * n_entries;
        // SAFETY: gives memory of so many bytes, aligned for any object, or null.
        let keys = large::make(py, bytes, || unsafe { allocate(bytes) }).cast::<Keys>();
        let keys = NonNull::new(keys)
            .ok_or_else(|| PyMemoryError::new_err("no memory for a dict of so many keys"))?;
        // SAFETY: the memory has room for the numbers, the places and the entries, each aligned where the one before ends. What comes
        // to be entries is written before it counts. The table that an empty dict has is static; that 3.11 counts who has it is of no matter.
        unsafe {
            keys.write(Keys {
                references: 1,
                log2_places,
                log2_bytes: log2_places + 2,
                kind: STRINGS,
                version: 0,
                usable: n_entries as isize,
                n_entries: 0,
            });
            let places = places(keys);
            places.write_bytes(0xff, n_places);
            let entries = places.add(n_places).cast::<Entry>();
            entries.add(n).write_bytes(0, n_entries - n);
            (*object).keys = keys.as_ptr();
        }
        let mut hashes = BriefVec::new();
        hashes.reserve(n);
        Ok(Some(Self { dict, keys, log2_places, hashes, met: Vec::new() }))
    }

    pub fn into_dict(self) -> Bound<'py, PyDict> {
        self.dict
    }

    /// Puts in strings, with as many values, with which Python's collector has nothing to do. Returns whether they are strings, each another one
    /// than all before.
    ///
    /// # Panics
    /// If there is no room for as many.
    pub fn put(&mut self, keys: Vec<Bound<'py, PyAny>>, values: Vec<Bound<'py, PyAny>>) -> PyResult<bool> {
        let (first, n) = (self.hashes.len(), keys.len());
        assert!(n == values.len() && n <= usable(self.log2_places) - first, "a value for each key, and room");
        for key in &keys {
            if !key.is_exact_instance_of::<PyString>() {
                self.hashes.truncate(first);
                return Ok(false);
            }
            // SAFETY: hashes a live object; -1 is an error that is set.
            let hash = unsafe { ffi::PyObject_Hash(key.as_ptr()) };
            if hash == -1 {
                self.hashes.truncate(first);
                return Err(PyErr::fetch(key.py()));
            }
            self.hashes.push(hash);
        }
        let hashes: &[isize] = &self.hashes;
        let mask = (1 << self.log2_places) - 1;
        // SAFETY: as the table was made.
        let (places, entries) = unsafe {
            let places = places(self.keys);
            (places, places.add(mask + 1).cast::<Entry>())
        };
        // Nothing here waits for what is read, so that all places are on their way to the caches at once.
        let touched = hashes[first..].iter().fold(0, |sum: i32, hash| {
            // SAFETY: within the places.
            sum.wrapping_add(unsafe { *places.add(hash.cast_unsigned() & mask) })
        });
        black_box(touched);
        let mut differ = true;
        for (next, (key, value)) in (first..).zip(keys.into_iter().zip(values)) {
            for at in probe(hashes[next], self.log2_places) {
                // SAFETY: within the places, of which a third is empty at least; and room for the entry, by the assertion. Who has references to the
                // objects from here on is the table.
                unsafe {
                    let place = places.add(at);
                    if *place < 0 {
                        place.write(next as i32);
                        entries.add(next).write(Entry { key: key.into_ptr(), value: value.into_ptr() });
                        break;
                    }
                    self.met.push((*place as u32, next as u32));
                }
            }
            if self.met.len() >= MET {
                // SAFETY: entries up to this one are written.
                differ &= unsafe { all_differ(&self.met, hashes, entries) };
                self.met.clear();
            }
        }
        // SAFETY: as above.
        differ &= unsafe { all_differ(&self.met, hashes, entries) };
        self.met.clear();
        // SAFETY: the table and the dict are alive; nothing came in between that would look at them.
        unsafe {
            let keys = self.keys.as_mut();
            keys.n_entries += n as isize;
            keys.usable -= n as isize;
            (*self.dict.as_ptr().cast::<Object>()).used += n as isize;
        }
        Ok(differ)
    }
}

/// Whether entries that wanted the same places have other keys.
///
/// # Safety
/// All of them are written, with strings.
unsafe fn all_differ(met: &[(u32, u32)], hashes: &[isize], entries: *const Entry) -> bool {
    // Hashes lie anywhere, and are not waited for one after the other.
    let are_alike = |&(a, b): &(u32, u32)| hashes[a as usize] == hashes[b as usize];
    let is_same = |&(a, b): &(u32, u32)| {
        // SAFETY: as the caller promises; to compare strings does not fail.
        unsafe { ffi::PyUnicode_Compare((*entries.add(a as usize)).key, (*entries.add(b as usize)).key) == 0 }
    };
    !met.iter().fold(false, |any, pair| any | are_alike(pair))
        || !met.iter().any(|pair| are_alike(pair) && is_same(pair))
}

/// What a table has behind its numbers.
///
/// # Safety
/// There is a table.
unsafe fn places(keys: NonNull<Keys>) -> *mut i32 {
    // SAFETY: as the caller promises.
    unsafe { keys.as_ptr().add(1).cast() }
}

type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;

/// What gives memory for tables, if dicts are laid out as told here: in these versions, in which that was looked up, and where a dict of Python's
/// is found to be so.
fn known(py: Python<'_>) -> PyResult<Option<Allocate>> {
    static KNOWN: PyOnceLock<Option<Allocate>> = PyOnceLock::new();
    KNOWN
        .get_or_try_init(py, || {
            let version = py.version_info();
            let name = py.import("sys")?.getattr("implementation")?.getattr("name")?;
            let allocate: Allocate = match (version.major, version.minor) {
                (3, 11 | 12) => ffi::PyObject_Malloc,
                (3, 13) => ffi::PyMem_Malloc,
                _ => return Ok(None),
            };
            let size: usize = py.get_type::<PyDict>().getattr(intern!(py, "__basicsize__"))?.extract()?;
            let may_be =
                cfg!(target_pointer_width = "64") && name.eq("cpython")? && size == size_of::<Object>();
            Ok((may_be && is_as_told(py)?).then_some(allocate))
        })
        .copied()
}

/// Whether a dict that Python fills is what it would be here.
fn is_as_told(py: Python<'_>) -> PyResult<bool> {
    const N: usize = 300;
    const LOG2_SAMPLE: u8 = 9;
    let objects: Vec<_> = (0..N).map(|i| PyString::new(py, &format!("entasis {i}"))).collect();
    let dict = PyDict::new(py);
    for (key, value) in objects.iter().zip(objects.iter().rev()) {
        dict.set_item(key, value)?;
    }
    let object = dict.as_ptr().cast::<Object>();
    // SAFETY: an object of this size, which in these versions points to its table.
    let (keys, used, values) = unsafe { ((*object).keys, (*object).used, (*object).values) };
    let is_table = used == N as isize && values.is_null() && keys.is_aligned();
    let Some(table) = NonNull::new(keys).filter(|_| is_table) else {
        return Ok(false);
    };
    // SAFETY: a table begins with these numbers.
    let Keys { references, log2_places, log2_bytes, kind, usable: left, n_entries, .. } =
        unsafe { table.read() };
    let has_numbers = references == 1
        && log2_places == LOG2_SAMPLE
        && log2_bytes == LOG2_SAMPLE + 1
        && kind == STRINGS
        && n_entries == N as isize
        && left == usable(LOG2_SAMPLE) as isize - N as isize;
    if !has_numbers {
        return Ok(false);
    }
    for (i, (key, value)) in objects.iter().zip(objects.iter().rev()).enumerate() {
        // SAFETY: hashes a live object; behind the numbers are as many places of two bytes, and then as many entries as they say.
        let is_there = unsafe {
            let places = table.as_ptr().add(1).cast::<i16>();
            let Entry { key: its_key, value: its_value } =
                &*places.add(1 << LOG2_SAMPLE).cast::<Entry>().add(i);
            let found = probe(ffi::PyObject_Hash(key.as_ptr()), LOG2_SAMPLE).map(|at| *places.add(at));
            *its_key == key.as_ptr()
                && *its_value == value.as_ptr()
                && found
                    .take(1 << LOG2_SAMPLE)
                    .take_while(|&found| found >= 0)
                    .any(|found| found as usize == i)
        };
        if !is_there {
            return Ok(false);
        }
    }
    Ok(true)
}
