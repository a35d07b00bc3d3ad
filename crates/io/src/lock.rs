//! Locks on files, so that two writers exclude each other.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};

/// The result of trying to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// The lock was taken.
    Taken,
    /// Another process or handle holds it.
    Held,
    /// The file system has no locks.
    Unsupported,
}

/// Tries to take the exclusive lock of `file` without waiting.
pub(crate) fn try_lock(file: &File) -> io::Result<Lock> {
    match file.try_lock() {
        Ok(()) => Ok(Lock::Taken),
        Err(TryLockError::WouldBlock) => Ok(Lock::Held),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(Lock::Unsupported),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn has_no_locks(error: &io::Error) -> bool {
    const ENOLCK: i32 = 37;
    const EOPNOTSUPP: i32 = 95;
    error.kind() == ErrorKind::Unsupported
        || cfg!(target_os = "linux") && matches!(error.raw_os_error(), Some(ENOLCK | EOPNOTSUPP))
}

/// A file whose lock, if it has one, is released on drop.
///
/// Closing alone would not release it, because a forked child inherits the open file with its lock.
#[derive(Debug)]
pub(crate) struct LockedFile(pub(crate) File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
