//! Temporary files of writers that were killed.

use std::fs::DirEntry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::lock::LockedFile;
use crate::temp_name::{TempNames, random};
use crate::{Disk, Lock};

/// Each search reads this many directory entries, and one in `RARELY` searches reads all.
const GLANCE: usize = 1024;
const RARELY: u64 = 64;

/// Removes files that killed writers left. Failures are ignored.
///
/// A living writer holds the lock of its temporary file. Between creating and locking it, the file
/// may be taken for one of a dead writer. So the writer checks, once it has the lock, that its file
/// still exists. Removal happens with the lock held: either before that check, or not at all.
pub(crate) fn clean(disk: &dyn Disk, directory: &Path, names: &TempNames) {
    if looked_recently(directory, disk.recheck_after()) {
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

/// Whether this process looked through the directory within the time `after`. A process that writes
/// many files looks once. Atomics need no lock, which a forked child could find taken for ever.
fn looked_recently(directory: &Path, after: Duration) -> bool {
    static LAST_DIRECTORY: AtomicU64 = AtomicU64::new(0);
    static LAST_TIME: AtomicU64 = AtomicU64::new(0);
    let mut hasher = DefaultHasher::new();
    directory.hash(&mut hasher);
    let hash = hasher.finish();
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64);
    let since = now.abs_diff(LAST_TIME.load(Ordering::Relaxed));
    if LAST_DIRECTORY.load(Ordering::Relaxed) == hash && since < after.as_millis() as u64 {
        return true;
    }
    LAST_DIRECTORY.store(hash, Ordering::Relaxed);
    LAST_TIME.store(now, Ordering::Relaxed);
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
