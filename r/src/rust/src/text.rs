//! The C interface to strings that were read, which C converts to R's: all of them, or one on its
//! first access.

use std::ptr::null;

pub use entasis_convert::r::StoredText as Strings;

/// The number of strings.
///
/// # Safety
/// `ent_found_strings` must have returned `strings`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_n(strings: *const Strings) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*strings).len() }
}

/// The views of all strings: equal views are equal strings.
///
/// # Safety
/// As for [`ent_text_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_views(strings: *const Strings) -> *const u64 {
    // SAFETY: as the caller promises.
    unsafe { (*strings).views().as_ptr().cast() }
}

/// The validity bits; null if no string is missing.
///
/// # Safety
/// As for [`ent_text_n`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_text_validity(strings: *const Strings) -> *const u8 {
    // SAFETY: as the caller promises.
    unsafe { (*strings).validity().map_or(null(), <[u8]>::as_ptr) }
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
