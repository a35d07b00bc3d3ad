//! Looks up functions of CPython at run time.
//!
//! The extension is built against the stable interface, so that one binary serves all versions.
//! Some documented functions are not part of that interface, and can only be found by their name.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// The address of a symbol of this process, if there is one.
#[cfg(target_os = "linux")]
pub fn find(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends with a zero, and `dlsym` accepts any name.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// The address of a symbol: not looked up on this platform.
#[cfg(not(target_os = "linux"))]
pub fn find(_: &CStr) -> Option<NonNull<c_void>> {
    None
}

/// The base address of the library that contains an address.
#[cfg(target_os = "linux")]
pub fn library(function: usize) -> Option<usize> {
    // SAFETY: the record consists of numbers and pointers, for which zeros are valid.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `dladdr` accepts any address, and fills the record only if it finds a library.
    let is_found = unsafe { libc::dladdr(std::ptr::without_provenance(function), &raw mut found) };
    (is_found != 0).then(|| found.dli_fbase.addr())
}
