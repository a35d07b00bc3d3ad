//! Extended attributes of files, on Linux. Elsewhere files have none.

use std::ffi::CStr;
use std::fs::File;
use std::io;

/// The attribute with the access control list of a file.
pub const ACL: &CStr = c"system.posix_acl_access";

/// The names of the attributes of `file`.
///
/// # Errors
/// Errors of the system; [`Unsupported`](io::ErrorKind::Unsupported) if the file system has none.
pub fn names(file: &File) -> io::Result<Vec<Vec<u8>>> {
    let all = sys::names(file)?;
    Ok(all.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The value of an attribute of `file`; `None` if it has no such attribute.
///
/// # Errors
/// Errors of the system; [`Unsupported`](io::ErrorKind::Unsupported) if the file system has none.
pub fn value(file: &File, name: &CStr) -> io::Result<Option<Vec<u8>>> {
    absent_as_none(sys::value(file, name))
}

/// Sets an attribute of `file`.
///
/// # Errors
/// Errors of the system; [`Unsupported`](io::ErrorKind::Unsupported) if the file system has none.
pub fn set(file: &File, name: &CStr, value: &[u8]) -> io::Result<()> {
    sys::set(file, name, value)
}

/// Removes an attribute of `file`, if it has it.
///
/// # Errors
/// Errors of the system; [`Unsupported`](io::ErrorKind::Unsupported) if the file system has none.
pub fn remove(file: &File, name: &CStr) -> io::Result<()> {
    absent_as_none(sys::remove(file, name)).map(|_| ())
}

/// Maps the system's "no such attribute" to `None`.
fn absent_as_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    const ENODATA: i32 = 61;
    match result {
        Err(error) if error.raw_os_error() == Some(ENODATA) => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod sys {
    use std::ffi::{CStr, c_char, c_void};
    use std::fs::File;
    use std::io::{self, ErrorKind};
    use std::os::fd::AsRawFd;

    /// Attempts to read a value that grows between the calls for its length and for its bytes.
    const ATTEMPTS: usize = 8;

    pub(super) fn names(file: &File) -> io::Result<Vec<u8>> {
        // SAFETY: `file` keeps the descriptor open, and the system writes at most `len` bytes to
        // `into`, which has as many, or none if `len` is 0.
        read(|into, len| unsafe { libc::flistxattr(file.as_raw_fd(), into.cast::<c_char>(), len) })
    }

    pub(super) fn value(file: &File, name: &CStr) -> io::Result<Vec<u8>> {
        // SAFETY: as above; `name` ends with a zero.
        read(|into, len| unsafe { libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), into, len) })
    }

    pub(super) fn set(file: &File, name: &CStr, value: &[u8]) -> io::Result<()> {
        let bytes = value.as_ptr().cast::<c_void>();
        // SAFETY: `file` keeps the descriptor open, `name` ends with a zero, and `bytes` are as
        // many as the call is given.
        done(unsafe { libc::fsetxattr(file.as_raw_fd(), name.as_ptr(), bytes, value.len(), 0) })
    }

    pub(super) fn remove(file: &File, name: &CStr) -> io::Result<()> {
        // SAFETY: `file` keeps the descriptor open, and `name` ends with a zero.
        done(unsafe { libc::fremovexattr(file.as_raw_fd(), name.as_ptr()) })
    }

    /// Asks for the length of a value, then for its bytes.
    fn read(call: impl Fn(*mut c_void, usize) -> isize) -> io::Result<Vec<u8>> {
        for _ in 0..ATTEMPTS {
            let len = count(call(std::ptr::null_mut(), 0))?;
            let mut bytes = vec![0; len];
            match count(call(bytes.as_mut_ptr().cast(), len)) {
                // Without room the system reports the length, which may have changed.
                Ok(now) if now <= len => {
                    bytes.truncate(now);
                    return Ok(bytes);
                }
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::ERANGE) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::Interrupted.into())
    }

    fn count(result: isize) -> io::Result<usize> {
        usize::try_from(result).map_err(|_| io::Error::last_os_error())
    }

    fn done(result: i32) -> io::Result<()> {
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod sys {
    use std::ffi::CStr;
    use std::fs::File;
    use std::io::{self, ErrorKind};

    pub(super) fn names(_: &File) -> io::Result<Vec<u8>> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(super) fn value(_: &File, _: &CStr) -> io::Result<Vec<u8>> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(super) fn set(_: &File, _: &CStr, _: &[u8]) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(super) fn remove(_: &File, _: &CStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_set_read_and_removed() {
        let path = std::env::temp_dir().join(format!("entasis-platform-xattr-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let long = vec![7; 3000];
        match set(&file, c"user.one", &long) {
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Unsupported),
            Ok(()) => {
                set(&file, c"user.two", b"").unwrap();
                let mut found = names(&file).unwrap();
                found.retain(|name| name.starts_with(b"user."));
                found.sort();
                assert_eq!(found, [b"user.one", b"user.two"]);
                assert_eq!(value(&file, c"user.one").unwrap(), Some(long));
                assert_eq!(value(&file, c"user.two").unwrap(), Some(Vec::new()));
                assert_eq!(value(&file, c"user.three").unwrap(), None);
                remove(&file, c"user.one").unwrap();
                remove(&file, c"user.one").unwrap();
                assert_eq!(value(&file, c"user.one").unwrap(), None);
            }
        }
    }
}
