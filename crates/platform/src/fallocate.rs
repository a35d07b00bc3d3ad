//! Reserves disk space for files.

use std::fs::File;
use std::io;

/// Reserves space for `len` bytes of `file` at offset `at`, if the file system can do that without
/// writing. The length and the bytes of the file stay the same.
///
/// Files in memory (tmpfs) are left alone: there, reserving clears memory, which takes longer than
/// it saves.
///
/// # Errors
/// Errors of the system; [`Unsupported`](io::ErrorKind::Unsupported) on other systems and for files
/// in memory.
pub fn reserve(file: &File, at: u64, len: u64) -> io::Result<()> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use std::os::fd::AsRawFd;

        let (Ok(at), Ok(len)) = (at.try_into(), len.try_into()) else {
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        if is_in_memory(file) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: `file` keeps the descriptor open during the call, and no memory is passed.
        let done = unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, at, len) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = (file, at, len);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether the file system of `file` is in memory; false if the system does not report it.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_in_memory(file: &File) -> bool {
    use std::mem::MaybeUninit;
    use std::os::fd::AsRawFd;

    let mut found = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: `file` keeps the descriptor open during the call, and `found` has room for the
    // result.
    let told = unsafe { libc::fstatfs(file.as_raw_fd(), found.as_mut_ptr()) } == 0;
    // SAFETY: the call succeeded, so the system has written `found`.
    let of = told.then(|| unsafe { found.assume_init() }.f_type as u64);
    of == Some(libc::TMPFS_MAGIC as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn nothing_is_reserved_in_memory() {
        use std::os::unix::fs::MetadataExt;

        let path = std::path::Path::new("/dev/shm").join(format!("entasis-kernels-{}", std::process::id()));
        // Without such a file system there is nothing to test.
        let Ok(file) = File::create_new(&path) else { return };
        let (is_in_memory, done) = (is_in_memory(&file), reserve(&file, 0, 8 << 20));
        let blocks = file.metadata().unwrap().blocks();
        std::fs::remove_file(&path).unwrap();
        if is_in_memory {
            assert_eq!((done.unwrap_err().kind(), blocks), (io::ErrorKind::Unsupported, 0));
        }
    }

    #[test]
    fn reserving_changes_neither_length_nor_bytes() {
        let path = std::env::temp_dir().join(format!("entasis-kernels-{}", std::process::id()));
        std::fs::write(&path, b"some bytes").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        // Whether this succeeds depends on the file system.
        let _ = reserve(&file, 0, 1 << 20);
        let _ = reserve(&file, 1 << 20, 1);
        assert!(reserve(&file, u64::MAX, 1).is_err());
        assert!(reserve(&file, 0, u64::MAX).is_err());
        assert!(reserve(&file, 0, 0).is_err());
        let bytes = std::fs::read(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bytes.unwrap(), b"some bytes");
    }
}
