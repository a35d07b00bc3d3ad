//! The file that is about to be replaced.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::file::check_regular;
use crate::holder::holder;
use crate::identity::same_file;
use crate::lock::LockedFile;
use crate::{Disk, Lock};

const ATTEMPTS: usize = 16;

/// An old file, locked if possible.
#[derive(Debug)]
pub(crate) struct OldFile {
    pub(crate) metadata: Metadata,
    /// The open file; none on Windows.
    pub(crate) file: Option<LockedFile>,
    /// Whether the file is locked: false on Windows and on a file system without locks.
    pub(crate) is_locked: bool,
}

impl OldFile {
    /// Takes the lock of the file at `path`, if it exists.
    ///
    /// A lock belongs to the file, not to the path. So the path is checked again after locking:
    /// another writer may have replaced the file just before.
    pub(crate) fn take(disk: &dyn Disk, path: &Path) -> io::Result<Option<OldFile>> {
        for _ in 0..ATTEMPTS {
            let Some(metadata) = found(disk.metadata(path))? else { return Ok(None) };
            check_regular(&metadata)?;
            if cfg!(windows) {
                // On this system locks also bind readers, who must be able to go on reading the old
                // file.
                return Ok(Some(OldFile { metadata, file: None, is_locked: false }));
            }
            let Some(file) = found(disk.open(path))? else { continue };
            let opened = file.metadata()?;
            let is_locked = match disk.try_lock(&file)? {
                Lock::Taken => true,
                Lock::Held => return Err(busy(holder(&opened))),
                Lock::Unsupported => false,
            };
            let file = Some(LockedFile::new(file));
            let Some(now) = found(disk.metadata(path))? else { continue };
            if same_file(&opened, &now) {
                return Ok(Some(OldFile { metadata: now, file, is_locked }));
            }
        }
        Err(busy(None))
    }
}

/// Maps an absent file to `None`.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

fn busy(holder: Option<u32>) -> io::Error {
    let who = match holder {
        Some(id) if id == std::process::id() => " (in this process)".to_owned(),
        Some(id) => format!(" (process {id})"),
        None => String::new(),
    };
    io::Error::new(ErrorKind::WouldBlock, format!("another writer is at work on this file{who}"))
}
