//! Strings of cells: those that come often are made once, others are cut out of a string that has many of them.
//!
//! A string that Python makes of bytes is looked through for what is no ASCII, which for a short one takes as long as to make it. Of a string that is all ASCII each part is,
//! and Python knows that.

use std::ops::Range;

use entasis::cells::Texts;
use entasis::checksum;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::objects::Items;

/// Places of the cache of short strings.
const CACHE: usize = 1 << 12;
/// The longest string in it.
const SHORT: usize = 32;
/// Strings that are looked for before it is given up, when few of them are found.
const TRIES: u32 = 512;

/// Strings that are cut out of one.
const TOGETHER: usize = 1024;
/// Fewer are made as quickly one by one.
const LEAST: usize = 8;
/// Bytes of a string that others are cut out of: it stays in the first caches. Longer strings gain nothing.
const WHOLE: usize = 32 << 10;

/// What strings are made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Values.
    Any,
    /// Keys of a dict, which are hashed at once, while they are in the caches.
    Keys,
}

/// A string. Python looks whether it is UTF-8.
#[inline]
fn string<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: as many bytes as there are; gives a new reference to a string, or null with an error set.
    unsafe {
        let made = ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as isize);
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

/// A part of a string.
#[inline]
fn cut<'py>(whole: &Bound<'py, PyString>, place: Range<usize>) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: Python sees to it that the part is inside; gives a new reference to a string, or null with an error set.
    unsafe {
        let made = ffi::PyUnicode_Substring(whole.as_ptr(), place.start as isize, place.end as isize);
        Ok(Bound::from_owned_ptr_or_err(whole.py(), made)?.cast_into_unchecked())
    }
}

/// What a string is put to use for.
#[inline]
fn ready(string: Bound<'_, PyString>, of: Use) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: hashes a live object; a string keeps its hash.
    if of == Use::Keys && unsafe { ffi::PyObject_Hash(string.as_ptr()) } == -1 {
        return Err(PyErr::fetch(string.py()));
    }
    Ok(string.into_any())
}

/// Short strings that come often are made once.
#[derive(Default)]
pub struct Strings<'py> {
    /// By hash; empty until one is looked for.
    slots: Vec<Option<(u64, Bound<'py, PyString>)>>,
}

/// How often strings of one place were looked for in the cache, and found.
#[derive(Clone, Copy, Default)]
pub struct Luck {
    asked: u32,
    found: u32,
}

impl Luck {
    #[inline]
    fn is_hopeless(self) -> bool {
        self.asked >= TRIES && self.found < self.asked / 4
    }
}

impl<'py> Strings<'py> {
    /// A string of these bytes, which are UTF-8. It is not looked for where those before were not found.
    #[inline]
    pub fn get(&mut self, py: Python<'py>, luck: &mut Luck, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
        if text.len() > SHORT || luck.is_hopeless() {
            return string(py, text);
        }
        if self.slots.is_empty() {
            self.slots.resize_with(CACHE, || None);
        }
        let hash = checksum(text);
        luck.asked += 1;
        let place = &mut self.slots[hash as usize % CACHE];
        if let Some((known, string)) = place
            && *known == hash
            && string.to_str().is_ok_and(|known| known.as_bytes() == text)
        {
            luck.found += 1;
            return Ok(string.clone());
        }
        let string = string(py, text)?;
        *place = Some((hash, string.clone()));
        Ok(string)
    }

    /// Puts strings of these bytes behind others, as [`get`](Self::get) makes them.
    pub fn fill(
        &mut self,
        py: Python<'py>,
        luck: &mut Luck,
        texts: Texts<'_>,
        of: Use,
        items: &mut Items<'py>,
    ) -> PyResult<()> {
        let n = texts.len();
        let mut next = 0;
        while next < n && !luck.is_hopeless() {
            items.push(ready(self.get(py, luck, texts.get(next))?, of)?)?;
            next += 1;
        }
        while next < n {
            let texts = texts.part(next..n.min(next + TOGETHER));
            let all = texts.joined();
            if texts.len() >= LEAST && all.len() <= WHOLE && all.is_ascii() {
                let whole = string(py, all)?;
                items.extend(texts.len(), |i| ready(cut(&whole, texts.place(i))?, of))?;
            } else {
                items.extend(texts.len(), |i| ready(string(py, texts.get(i))?, of))?;
            }
            next += texts.len();
        }
        Ok(())
    }
}
