//! Strings from cells. Frequent short strings are made once, and others are substrings of a long
//! one.
//!
//! When Python makes a string from bytes, it checks whether they are ASCII. For a short string that
//! takes as long as making it. A substring of an ASCII string needs no check.

use std::ops::Range;

use entasis::cells::Texts;
use entasis::checksum;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::items::Items;

/// Slots of the cache of short strings.
const CACHE: usize = 1 << 12;
/// The most bytes of a string in the cache.
const SHORT: usize = 32;
/// Look-ups before the cache is given up because of a low hit rate.
const TRIES: u32 = 512;

/// The most substrings that are made from one string.
const TOGETHER: usize = 1024;
/// Fewer strings are made one by one just as quickly.
const LEAST: usize = 8;
/// The most bytes of a string from which substrings are made. It then stays in the L1 cache.
const WHOLE: usize = 32 << 10;

/// The purpose of strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Values.
    Any,
    /// Keys of a dict. They are hashed at once, while they are in the cache.
    Keys,
}

/// A new string. Python checks that the bytes are UTF-8.
#[inline]
fn string<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: the pointer and the length are those of a slice. Returns a new reference to a string,
    // or null with an exception set.
    unsafe {
        let made = ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as isize);
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

/// A substring.
#[inline]
fn substring<'py>(whole: &Bound<'py, PyString>, range: Range<usize>) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: Python checks that the range is inside. Returns a new reference to a string, or null
    // with an exception set.
    unsafe {
        let made = ffi::PyUnicode_Substring(whole.as_ptr(), range.start as isize, range.end as isize);
        Ok(Bound::from_owned_ptr_or_err(whole.py(), made)?.cast_into_unchecked())
    }
}

/// Hashes a string that is a key.
#[inline]
fn hashed(string: Bound<'_, PyString>, of: Use) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the object is alive. A string caches its hash.
    if of == Use::Keys && unsafe { ffi::PyObject_Hash(string.as_ptr()) } == -1 {
        return Err(PyErr::fetch(string.py()));
    }
    Ok(string.into_any())
}

/// A cache of short strings.
#[derive(Default)]
pub struct Strings<'py> {
    /// The strings by their hash. Empty until the first look-up.
    slots: Vec<Option<(u64, Bound<'py, PyString>)>>,
}

/// The hit rate of the cache for the strings of one container or column.
#[derive(Clone, Copy, Default)]
pub struct HitRate {
    asked: u32,
    found: u32,
}

impl HitRate {
    #[inline]
    fn is_low(self) -> bool {
        self.asked >= TRIES && self.found < self.asked / 4
    }
}

impl<'py> Strings<'py> {
    /// A string of these bytes. Skips the cache if its hit rate is low.
    #[inline]
    pub fn get(
        &mut self,
        py: Python<'py>,
        hit_rate: &mut HitRate,
        text: &[u8],
    ) -> PyResult<Bound<'py, PyString>> {
        if text.len() > SHORT || hit_rate.is_low() {
            return string(py, text);
        }
        if self.slots.is_empty() {
            self.slots.resize_with(CACHE, || None);
        }
        let hash = checksum(text);
        hit_rate.asked += 1;
        let slot = &mut self.slots[hash as usize % CACHE];
        if let Some((known, string)) = slot
            && *known == hash
            && string.to_str().is_ok_and(|known| known.as_bytes() == text)
        {
            hit_rate.found += 1;
            return Ok(string.clone());
        }
        let string = string(py, text)?;
        *slot = Some((hash, string.clone()));
        Ok(string)
    }

    /// Adds the strings to `items`. Once the hit rate of the cache is low, makes them in groups.
    pub fn fill(
        &mut self,
        py: Python<'py>,
        hit_rate: &mut HitRate,
        texts: Texts<'_>,
        of: Use,
        items: &mut Items<'py>,
    ) -> PyResult<()> {
        let n = texts.len();
        let mut next = 0;
        while next < n && !hit_rate.is_low() {
            items.push(hashed(self.get(py, hit_rate, texts.get(next))?, of)?)?;
            next += 1;
        }
        while next < n {
            let texts = texts.part(next..n.min(next + TOGETHER));
            let all = texts.joined();
            if texts.len() >= LEAST && all.len() <= WHOLE && all.is_ascii() {
                let whole = string(py, all)?;
                items.extend(texts.len(), |i| hashed(substring(&whole, texts.range(i))?, of))?;
            } else {
                items.extend(texts.len(), |i| hashed(string(py, texts.get(i))?, of))?;
            }
            next += texts.len();
        }
        Ok(())
    }
}
