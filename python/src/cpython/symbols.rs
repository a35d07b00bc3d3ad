//! Functions of CPython that are in all of its versions and not in all of its stable interfaces: looked up when the program runs.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// What the process knows by a name, if anything.
#[cfg(target_os = "linux")]
pub fn find(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: looks for a symbol of the process.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// What the process knows by a name: here it is not asked.
#[cfg(not(target_os = "linux"))]
pub fn find(_: &CStr) -> Option<NonNull<c_void>> {
    None
}

/// Where the library begins that a function is in.
#[cfg(target_os = "linux")]
pub fn library(function: usize) -> Option<usize> {
    // SAFETY: numbers and pointers, which may be zero.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: looks an address up, which need not be one of a library, and fills the record.
    let is_found = unsafe { libc::dladdr(std::ptr::without_provenance(function), &raw mut found) };
    (is_found != 0).then(|| found.dli_fbase.addr())
}
