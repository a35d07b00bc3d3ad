//! Locks on files, so that two writers exclude each other.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};

use crate::owner::Owner;

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
/// Lock and file belong to the process that opened it: a child leaves both alone.
#[derive(Debug)]
pub(crate) struct LockedFile {
    file: File,
    owner: Owner,
}

impl LockedFile {
    pub(crate) fn new(file: File) -> Self {
        Self { file, owner: Owner::this_process() }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The process that opened the file.
    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.owner.is_here() {
            let _ = self.file.unlock();
        }
    }
}
