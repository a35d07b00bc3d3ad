//! Temporary files of writers that were killed.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::LockedFile;
use crate::temp_name::{TempNames, random};
use crate::{Disk, Lock};

/// This many entries of a directory are looked at each time, and all of them once in `RARELY`
/// times.
const GLANCE: usize = 1024;
const RARELY: u64 = 64;
/// The time before a directory is looked at again.
const RECHECK_AFTER: Duration = if cfg!(feature = "fault") { Duration::ZERO } else { Duration::from_secs(1) };

/// Removes files that killed writers left. Failures are ignored.
///
/// A living writer holds the lock of its temporary file. Between creating and locking it, the file
/// may be taken for one of a dead writer. So the writer checks, once it has the lock, that its file
/// still exists. Removal happens with the lock held: either before that check, or not at all.
pub(crate) fn clean(disk: &dyn Disk, directory: &Path, names: &TempNames) {
    if looked_recently(directory) {
        return;
    }
    let Ok(entries) = disk.list(directory) else { return };
    let glance = if random().is_multiple_of(RARELY) { usize::MAX } else { GLANCE };
    for entry in entries.take(glance).flatten() {
        if names.contain(&entry.file_name()) {
            let _ = remove_if_dead(disk, &entry);
        }
    }
}

/// Whether this process looked through the directory within the last second. A process that writes
/// many files looks once.
fn looked_recently(directory: &Path) -> bool {
    static LAST: Mutex<Option<(PathBuf, Instant)>> = Mutex::new(None);
    // A forked child could find the lock taken for ever.
    let Ok(mut last) = LAST.try_lock() else { return true };
    if last.as_ref().is_some_and(|(path, when)| path == directory && when.elapsed() < RECHECK_AFTER) {
        return true;
    }
    *last = Some((directory.to_owned(), Instant::now()));
    false
}

fn remove_if_dead(disk: &dyn Disk, entry: &DirEntry) -> io::Result<()> {
    if !entry.file_type()?.is_file() {
        return Ok(());
    }
    let path = entry.path();
    let file = LockedFile::new(disk.open(&path)?);
    match disk.try_lock(file.file())? {
        Lock::Taken => disk.remove(&path),
        Lock::Held | Lock::Unsupported => Ok(()),
    }
}
