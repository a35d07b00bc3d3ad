//! Changes a file in place: appends bytes, then makes them current with one small write.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::old::OldFile;
use crate::owner::Owner;
use crate::replace::{Durable, Replacement, TempFile};
use crate::target::Target;
use crate::{Disk, NativeDisk, Sink};

/// A file that is changed in place, with its lock.
///
/// Bytes are written from the end of its content on. Until [`commit`](Self::commit) the content is
/// untouched. If the change is dropped instead, the file gets its old length. A forked child can
/// neither go on with the change nor end it.
#[derive(Debug)]
pub struct InPlace {
    disk: Arc<dyn Disk>,
    target: Target,
    old: OldFile,
    file: File,
    owner: Owner,
    /// Bytes before this offset are content.
    start: u64,
    end: AtomicU64,
    failed: AtomicBool,
}

impl InPlace {
    /// Takes the lock of the file at `path`. Without `needs_lock`, a file system without locks is
    /// accepted.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`] if the file does not exist
    /// - [`ErrorKind::PermissionDenied`] if the file may not be written
    /// - [`ErrorKind::WouldBlock`] if another writer is replacing or changing the file
    /// - [`ErrorKind::Unsupported`] if the file system has no locks
    /// - otherwise errors of the system
    pub fn open(path: &Path, needs_lock: bool) -> io::Result<Self> {
        Self::open_on(Arc::new(NativeDisk), path, needs_lock)
    }

    /// As [`open`](Self::open), on the given file system.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path, needs_lock: bool) -> io::Result<Self> {
        let target = Target::find(&*disk, path)?;
        let old = OldFile::take(&*disk, &target.path)?.ok_or(ErrorKind::NotFound)?;
        if needs_lock && !old.is_locked {
            let message = "the file system has no locks, so two writers could overwrite each other";
            return Err(io::Error::new(ErrorKind::Unsupported, message));
        }
        Self::of_old(disk, target, old)
    }

    /// Changes a file in place instead of replacing it, under the same lock.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without an old file; otherwise errors of the system.
    pub fn instead_of(replacement: Replacement) -> io::Result<Self> {
        let (disk, target, old) = replacement.into_old().ok_or(ErrorKind::NotFound)?;
        Self::of_old(disk, target, old)
    }

    /// A change of a file whose lock is taken.
    fn of_old(disk: Arc<dyn Disk>, target: Target, old: OldFile) -> io::Result<Self> {
        let file = match &old.file {
            Some(old) => old.file().try_clone()?,
            None => disk.open(&target.path)?,
        };
        let len = old.metadata.len();
        let (owner, end, failed) = (Owner::this_process(), AtomicU64::new(len), AtomicBool::new(false));
        Ok(Self { disk, target, old, file, owner, start: len, end, failed })
    }

    /// The file that is changed, with all symbolic links followed.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target.path
    }

    /// Returns an error in a forked child of the process that opened the file: every other call
    /// fails there, too.
    ///
    /// # Errors
    /// [`ErrorKind::Other`], with a message that names the process.
    pub fn check_process(&self) -> io::Result<()> {
        self.owner.check()
    }

    /// Sets the end of the content. Cuts bytes after it, which an interrupted change left.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn start_at(&mut self, start: u64) -> io::Result<()> {
        if self.old.metadata.len() > start {
            self.attempt(|disk, file| disk.set_len(file, start))?;
        }
        self.start = start;
        self.end = AtomicU64::new(start);
        Ok(())
    }

    /// Overwrites bytes before the end of the content, and waits until they are on the medium.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn rewrite(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all(at, bytes)?;
        self.sync()
    }

    /// Makes the appended bytes current by writing `slot` at `slot_at`. With `durable`, waits
    /// before and after the slot until all is on the medium.
    ///
    /// # Errors
    /// Errors of the system, or the failure of an earlier call. The file then has its old state;
    /// only after a failure to write or to sync the slot itself may it have the new one.
    pub fn commit(self, slot_at: u64, slot: &[u8], durable: bool) -> io::Result<()> {
        if durable {
            self.sync()?;
        }
        let written = self.write_all(slot_at, slot);
        // From here on the new bytes may be in use.
        self.failed.store(true, Ordering::Release);
        self.end.store(self.start, Ordering::Release);
        written?;
        if durable { self.disk.sync(&self.file) } else { Ok(()) }
    }

    /// Replaces the file instead of changing it, under the same lock.
    ///
    /// # Errors
    /// As [`Replacement::create`].
    pub fn replace(self, durable: Durable) -> io::Result<Replacement> {
        self.owner.check()?;
        let (disk, target, old) = self.into_old();
        Replacement::begin(disk, target, Some(old), None, durable)
    }

    /// As [`replace`](Self::replace), if no user would notice more than a shorter file. Otherwise
    /// returns the file to change: if it has other hard links, if the new file would get another
    /// owner or group, or if its directory takes no new file.
    pub fn replace_unasked(self, durable: Durable) -> Result<Replacement, Box<Self>> {
        if self.owner.check().is_err() || has_other_links(&self.old.metadata) {
            return Err(Box::new(self));
        }
        let Ok(temp) = TempFile::create(&*self.disk, &self.target, true) else { return Err(Box::new(self)) };
        if !temp.file.file().metadata().is_ok_and(|new| can_have_owner_of(&new, &self.old.metadata)) {
            let _ = self.disk.remove(&temp.path);
            return Err(Box::new(self));
        }
        let (disk, target, old) = self.into_old();
        Ok(Replacement::of_temp(disk, target, Some(old), None, temp, durable))
    }

    /// The parts that a replacement needs, with the lock.
    fn into_old(mut self) -> (Arc<dyn Disk>, Target, OldFile) {
        let (file, is_locked) = (self.old.file.take(), self.old.is_locked);
        let old = OldFile { metadata: self.old.metadata.clone(), file, is_locked };
        (Arc::clone(&self.disk), self.target.clone(), old)
    }

    fn write_all(&self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.attempt(|disk, file| {
                loop {
                    match disk.write_at(file, at, bytes) {
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Ok(0) => return Err(ErrorKind::WriteZero.into()),
                        result => return result,
                    }
                }
            })?;
            bytes = bytes.get(written..).unwrap_or_default();
            at = at.saturating_add(written as u64);
        }
        Ok(())
    }

    /// Performs one call. After the first failure no further call is made, as in [`Replacement`].
    fn attempt<T>(&self, act: impl FnOnce(&dyn Disk, &File) -> io::Result<T>) -> io::Result<T> {
        self.owner.check()?;
        if self.failed.load(Ordering::Acquire) {
            return Err(io::Error::other(
                "an earlier write to this file has failed, so the change is given up",
            ));
        }
        let result = act(&*self.disk, &self.file);
        if result.is_err() {
            self.failed.store(true, Ordering::Release);
        }
        result
    }
}

impl Sink for InPlace {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        if at < self.start {
            return Err(io::Error::other("a change in place would overwrite content"));
        }
        self.end.fetch_max(at.saturating_add(bytes.len() as u64), Ordering::AcqRel);
        self.write_all(at, bytes)?;
        Ok(bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        self.attempt(|disk, file| disk.sync(file))
    }
}

/// Whether a file has other hard links.
fn has_other_links(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata) > 1;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Whether a new file of this process can get owner and group of an old one.
fn can_have_owner_of(new: &Metadata, old: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // The administrator may give files away.
        new.uid() == 0 || (new.uid(), new.gid()) == (old.uid(), old.gid())
    }
    #[cfg(not(unix))]
    {
        let _ = (new, old);
        true
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        // Removes appended bytes. Any bytes that were there before are already cut by `start_at`.
        if self.owner.is_here() && self.end.load(Ordering::Acquire) > self.start {
            let _ = self.disk.set_len(&self.file, self.start);
        }
    }
}
