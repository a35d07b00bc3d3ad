//! Strings that were read, which C converts to R's: all of them, or one on its first access.

use std::ptr::null;

use entasis::{Buffer, Error, Result, Text, TextLayout};

use crate::parallel;

/// Longest string that a view holds inline.
const INLINE: usize = 12;

/// The strings of a column as 16-byte views, and their validity.
pub struct Strings {
    n: usize,
    text: Text,
    validity: Option<Buffer>,
}

impl Strings {
    /// Strings with their views.
    pub fn of(n: usize, text: Text, validity: Option<Buffer>) -> Self {
        Self { n, text, validity }
    }

    /// Room for `n` strings; `None` without enough memory.
    pub fn new(n: usize, has_missing: bool, layout: TextLayout) -> Option<Self> {
        let validity = if has_missing { Some(Buffer::zeroed(n.div_ceil(8))?) } else { None };
        Some(Self { n, text: Text::new(layout), validity })
    }

    /// The memory that the reader fills.
    pub fn parts(&mut self) -> (&mut Text, Option<&mut [u8]>) {
        (&mut self.text, self.validity.as_deref_mut())
    }

    /// The buffer with the number that views use.
    fn buffer(&self, i: usize) -> Option<&Buffer> {
        let n = self.text.bytes.len();
        if i < n { self.text.bytes.get(i) } else { self.text.dictionaries.get(i - n) }
    }

    /// The bytes of string `i`, which may be missing.
    fn get(&self, i: usize) -> Option<&[u8]> {
        let view = self.text.offsets.as_chunks::<16>().0.get(i)?;
        let word =
            |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]) as usize;
        let len = word(0);
        if len <= INLINE {
            return view.get(4..4 + len);
        }
        self.buffer(word(8))?.get(word(12)..)?.get(..len)
    }

    /// Checks that there is a string for each row. Strings of R end at the first zero byte, so text
    /// must contain none.
    pub fn check(&self, are_text: bool) -> Result<()> {
        if self.text.offsets.as_chunks::<16>().0.len() < self.n {
            return Err(Error::corrupt("there are fewer strings than rows"));
        }
        if !are_text {
            return Ok(());
        }
        let buffers = || self.text.bytes.iter().chain(&self.text.dictionaries);
        let has_zero_in = |buffer: &Buffer| {
            parallel::parts(buffer.len(), |range| buffer[range].contains(&0)).contains(&true)
        };
        let outside = buffers().any(has_zero_in);
        let has_zero = |i: usize, view: &[u8; 16]| {
            let len = usize::from(view[0]);
            if view[1..4] == [0; 3] && len <= INLINE {
                // The mask skips the zero bytes after a short string.
                let bytes = u128::from_le_bytes(*view) >> 32 | u128::MAX << (8 * len);
                const ONES: u128 = u128::MAX / 255;
                return bytes.wrapping_sub(ONES) & !bytes & (ONES << 7) != 0;
            }
            outside && self.get(i).is_some_and(|bytes| bytes.contains(&0))
        };
        let views = self.text.offsets.as_chunks::<16>().0;
        let found = parallel::parts(views.len(), |range| {
            let start = range.start;
            views[range].iter().enumerate().any(|(i, view)| has_zero(start + i, view))
        });
        if found.contains(&true) {
            return Err(Error::unsupported("a string has a zero character, which strings of R can't have")
                .advise("read other columns"));
        }
        Ok(())
    }
}

/// The number of strings.
///
/// # Safety
/// `ent_found_strings` must have returned `strings`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_n(strings: *const Strings) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*strings).n }
}

/// The views of all strings: equal views are equal strings.
///
/// # Safety
/// As for [`ent_text_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_views(strings: *const Strings) -> *const u64 {
    // SAFETY: as the caller promises.
    unsafe { (*strings).text.offsets.as_ptr().cast() }
}

/// The validity bits; null if no string is missing.
///
/// # Safety
/// As for [`ent_text_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_validity(strings: *const Strings) -> *const u8 {
    // SAFETY: as the caller promises.
    unsafe { (*strings).validity.as_ref().map_or(null(), Buffer::as_ptr) }
}

/// The bytes of string `i`, valid until the strings are freed; stores their number in `len`. Null
/// for a greater `i`.
///
/// # Safety
/// As for [`ent_text_n`]; `len` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_get(strings: *const Strings, i: usize, len: *mut usize) -> *const u8 {
    // SAFETY: as the caller promises.
    unsafe {
        match (*strings).get(i) {
            Some(bytes) => {
                *len = bytes.len();
                bytes.as_ptr()
            }
            None => null(),
        }
    }
}

/// Frees strings.
///
/// # Safety
/// `ent_found_strings` must have returned `strings`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_free(strings: *mut Strings) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(strings) });
}
