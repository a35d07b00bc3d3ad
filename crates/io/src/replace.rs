//! Replaces a file by a new one, all or nothing.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::file::check_regular;
use crate::lock::LockedFile;
use crate::old::OldFile;
use crate::stale;
use crate::target::Target;
use crate::temp_name::TempNames;
use crate::{Disk, Lock, NativeDisk, Sink};

const ATTEMPTS: usize = 64;

/// Space is reserved for files longer than this.
const ROOM_FROM: u64 = 1 << 20;
/// If the final length is expected, space is reserved for files longer than this.
const EXPECTED_FROM: u64 = 1 << 18;
/// Space is reserved in steps of this length. Without an expected length a step is at most the
/// current length, because releasing unused space takes time.
const ROOM: u64 = 8 << 20;

/// Whether a new file is forced to the medium, so that it survives a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durable {
    /// If it replaces an old file: then the medium has the old or the new file at any time. A file
    /// that did not exist before may be missing or broken after a power failure.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: after a power failure, old and new file may both be lost.
    Never,
}

/// A new file that takes the place of an old one when it is complete.
///
/// It is written under another name in the same directory and gets its final name with
/// [`commit`](Self::commit). Until then the target is untouched. On any failure it stays untouched
/// and the temporary file is removed. Readers that have the old file open continue to see it.
///
/// Symbolic links are followed, and the file that they lead to is replaced. Other hard links keep
/// the old content. The new file gets mode, access control list and `user.` attributes of the old
/// one, and its owner and group if the system permits. Nobody has more access than before.
///
/// It belongs to the process that began it. In a forked child each call fails, and dropping it
/// does nothing.
#[derive(Debug)]
pub struct Replacement {
    disk: Arc<dyn Disk>,
    target: Target,
    temp: PathBuf,
    file: LockedFile,
    old: Option<OldFile>,
    /// Without an old file, the new file gets the access of this file, if any.
    like: Option<File>,
    durable: bool,
    end: AtomicU64,
    reserved: AtomicU64,
    /// The expected length of the file; 0 if unknown.
    expected: AtomicU64,
    /// The offset up to which space is reserved; the maximum after a failed reservation.
    room: AtomicU64,
    failed: AtomicBool,
    renamed: bool,
    is_new: bool,
}

/// A new file in the folder of its target, which takes its place later.
pub(crate) struct TempFile {
    pub(crate) path: PathBuf,
    pub(crate) file: LockedFile,
}

impl TempFile {
    /// Creates the file. Removes those that ended processes left.
    pub(crate) fn create(disk: &dyn Disk, target: &Target, is_private: bool) -> io::Result<TempFile> {
        let names = TempNames::of(&target.name);
        stale::clean(disk, &target.directory, &names);
        let (path, file) = create_temp(disk, &target.directory, &names, is_private)?;
        Ok(TempFile { path, file })
    }
}

impl Replacement {
    /// Begins to replace the file at `target`, or to create it.
    ///
    /// # Errors
    /// - [`ErrorKind::NotFound`] if the directory does not exist
    /// - [`ErrorKind::PermissionDenied`] if the directory or the old file may not be written
    /// - [`ErrorKind::IsADirectory`] if the target is a directory
    /// - [`ErrorKind::InvalidInput`] if the target is a pipe, a device or the like
    /// - [`ErrorKind::WouldBlock`] if another writer is replacing or changing the old file
    /// - otherwise errors of the system
    pub fn create(target: &Path, durable: Durable) -> io::Result<Replacement> {
        Replacement::create_on(Arc::new(NativeDisk), target, durable)
    }

    /// As [`create`](Self::create), on the given file system.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_on(disk: Arc<dyn Disk>, target: &Path, durable: Durable) -> io::Result<Replacement> {
        let target = Target::find(&*disk, target)?;
        let old = OldFile::take(&*disk, &target.path)?;
        Replacement::begin(disk, target, old, None, durable)
    }

    /// As [`create`](Self::create). Without an old file, the new file gets the access of the file
    /// at `like`, if any.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_like(target: &Path, like: &Path, durable: Durable) -> io::Result<Replacement> {
        let disk = Arc::new(NativeDisk);
        let target = Target::find(&*disk, target)?;
        let old = OldFile::take(&*disk, &target.path)?;
        let like = if old.is_none() { File::open(like).ok() } else { None };
        Replacement::begin(disk, target, old, like, durable)
    }

    /// Begins to create the file at `target`, which must not exist, neither now nor at the end.
    ///
    /// Symbolic links are followed, also one to a file that does not exist yet.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if it exists, also while another writer is at work on it;
    /// otherwise as [`create`](Self::create).
    pub fn create_new(target: &Path, durable: Durable) -> io::Result<Replacement> {
        Replacement::create_new_on(Arc::new(NativeDisk), target, durable)
    }

    /// As [`create_new`](Self::create_new), on the given file system.
    ///
    /// # Errors
    /// As [`create_new`](Self::create_new).
    pub fn create_new_on(disk: Arc<dyn Disk>, target: &Path, durable: Durable) -> io::Result<Replacement> {
        check_new_on(&*disk, target)?;
        let mut replacement = Replacement::create_on(disk, target, durable)?;
        replacement.must_be_new()?;
        Ok(replacement)
    }

    /// Begins to replace a file whose lock is taken.
    pub(crate) fn begin(
        disk: Arc<dyn Disk>,
        target: Target,
        old: Option<OldFile>,
        like: Option<File>,
        durable: Durable,
    ) -> io::Result<Replacement> {
        let temp = TempFile::create(&*disk, &target, old.is_some() || like.is_some())?;
        Ok(Replacement::of_temp(disk, target, old, like, temp, durable))
    }

    /// Begins to replace a file whose lock is taken by a file that was made for it.
    pub(crate) fn of_temp(
        disk: Arc<dyn Disk>,
        target: Target,
        old: Option<OldFile>,
        like: Option<File>,
        TempFile { path: temp, file }: TempFile,
        durable: Durable,
    ) -> Replacement {
        let durable = match durable {
            Durable::Auto => old.is_some(),
            Durable::Always => true,
            Durable::Never => false,
        };
        Replacement {
            disk,
            target,
            temp,
            file,
            old,
            like,
            durable,
            end: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            room: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            renamed: false,
            is_new: false,
        }
    }

    /// Gives up the new file. Returns the old one with its lock, if there is one.
    pub(crate) fn into_old(mut self) -> Option<(Arc<dyn Disk>, Target, OldFile)> {
        let old = self.old.take()?;
        Some((Arc::clone(&self.disk), self.target.clone(), old))
    }

    /// The file that will be replaced or created, with all symbolic links followed.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target.path
    }

    /// The new file, as long as it has another name.
    #[must_use]
    pub fn temp(&self) -> &Path {
        &self.temp
    }

    /// Whether there is an old file.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.old.is_some()
    }

    /// Replaces nothing: [`commit`](Self::commit) fails if the target exists by then.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if it exists now.
    pub fn must_be_new(&mut self) -> io::Result<()> {
        self.is_new = true;
        if self.replaces() { Err(exists()) } else { Ok(()) }
    }

    /// Returns an error in a forked child of the process that began the replacement: every other
    /// call fails there, too.
    ///
    /// # Errors
    /// [`ErrorKind::Other`], with a message that names the process.
    pub fn check_process(&self) -> io::Result<()> {
        self.file.owner().check()
    }

    /// Announces that about `len` bytes will be written. Some systems report a lack of space here.
    /// The final length depends on the writes alone.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn reserve(&self, len: u64) -> io::Result<()> {
        if len <= self.end.load(Ordering::Acquire).max(self.reserved.load(Ordering::Acquire)) {
            return Ok(());
        }
        self.attempt(|disk, file| disk.set_len(file, len))?;
        self.reserved.fetch_max(len, Ordering::AcqRel);
        Ok(())
    }

    /// Puts the new file in the place of the old one.
    ///
    /// # Errors
    /// Errors of the system, or the failure of an earlier write or sync;
    /// [`ErrorKind::AlreadyExists`] after [`must_be_new`](Self::must_be_new). The target is then
    /// untouched, with one exception: if the directory cannot be synced, the new file is in place
    /// but may not survive a power failure.
    pub fn commit(mut self) -> io::Result<()> {
        let end = self.end.load(Ordering::Acquire);
        if self.reserved.load(Ordering::Acquire).max(self.room.load(Ordering::Acquire)) > end {
            self.attempt(|disk, file| disk.set_len(file, end))?;
        }
        let old = self.old.as_ref().and_then(|old| old.file.as_ref()).map(LockedFile::file);
        if let Some(like) = old.or(self.like.as_ref()) {
            self.attempt(|disk, file| disk.adopt(file, like))?;
        }
        if self.durable {
            self.sync()?;
        }
        self.attempt(|disk, file| {
            if cfg!(windows) {
                file.unlock()?; // there, a lock would block readers of the new file
            }
            if self.is_new {
                disk.rename_new(&self.temp, &self.target.path).map_err(|error| match error.kind() {
                    ErrorKind::AlreadyExists => exists(),
                    _ => error,
                })
            } else {
                disk.rename(&self.temp, &self.target.path)
            }
        })?;
        self.renamed = true;
        if self.durable {
            self.disk.sync_directory(&self.target.directory)?;
        }
        Ok(())
    }

    /// Reserves space before `len` bytes are written at `at`. File systems spend a third of a write
    /// on finding space for each page, so space is reserved for many pages at once. A failure here
    /// is left to the write. Nothing is reserved beyond the expected length, because releasing it
    /// takes as long as a dozen writes.
    fn make_room(&self, at: u64, len: u64) {
        let room = self.room.load(Ordering::Acquire);
        let end = at.saturating_add(len);
        let from = room.max(at);
        let needed = end.saturating_sub(from);
        let (least, more) = match self.expected.load(Ordering::Acquire) {
            0 => (ROOM_FROM, ROOM.min(end).max(needed)),
            expected => (EXPECTED_FROM, ROOM.max(needed).min(expected.saturating_sub(from))),
        };
        if end > room.max(least) && from.saturating_add(more) >= end {
            let done = self.disk.allocate(self.file.file(), from, more);
            self.room.fetch_max(done.map_or(u64::MAX, |()| from.saturating_add(more)), Ordering::AcqRel);
        }
    }

    /// Performs one call on the new file. After the first failure no further call is made: above
    /// all, a sync after a failed one may succeed although the bytes are lost.
    fn attempt<T>(&self, act: impl FnOnce(&dyn Disk, &File) -> io::Result<T>) -> io::Result<T> {
        self.check_process()?;
        if self.failed.load(Ordering::Acquire) {
            return Err(io::Error::other("an earlier write to this file has failed, so it is given up"));
        }
        let result = act(&*self.disk, self.file.file());
        if result.is_err() {
            self.failed.store(true, Ordering::Release);
        }
        result
    }
}

impl Sink for Replacement {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let written = self.attempt(|disk, file| {
            self.make_room(at, bytes.len() as u64);
            loop {
                match disk.write_at(file, at, bytes) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    result => return result,
                }
            }
        })?;
        if written > 0 {
            self.end.fetch_max(at.saturating_add(written as u64), Ordering::AcqRel);
        }
        Ok(written)
    }

    fn expect(&self, len: u64) {
        self.expected.store(len, Ordering::Release);
    }

    fn sync(&self) -> io::Result<()> {
        self.attempt(|disk, file| disk.sync(file))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.renamed && self.file.owner().is_here() {
            let _ = self.disk.remove(&self.temp);
        }
    }
}

/// Returns an error if the target of a new file exists: a check before long work, which
/// [`Replacement::create_new`] repeats.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`], or as [`Replacement::create`] if no file can be created there.
pub fn check_new(target: &Path) -> io::Result<()> {
    check_new_on(&NativeDisk, target)
}

fn check_new_on(disk: &dyn Disk, target: &Path) -> io::Result<()> {
    match disk.metadata(&Target::find(disk, target)?.path) {
        Ok(found) if found.is_dir() => check_regular(&found),
        Ok(_) => Err(exists()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn exists() -> io::Error {
    io::Error::new(ErrorKind::AlreadyExists, "the file exists")
}

/// Creates and locks a temporary file.
fn create_temp(
    disk: &dyn Disk,
    directory: &Path,
    names: &TempNames,
    private: bool,
) -> io::Result<(PathBuf, LockedFile)> {
    for _ in 0..ATTEMPTS {
        let path = directory.join(names.fresh());
        let file = match disk.create_new(&path, private) {
            Ok(file) => LockedFile::new(file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        match secure(disk, &path, file.file()) {
            Ok(true) => return Ok((path, file)),
            Ok(false) => {}
            Err(error) => {
                let _ = disk.remove(&path);
                return Err(error);
            }
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

/// Locks a new temporary file; false if another process removed it as the file of a dead writer.
fn secure(disk: &dyn Disk, path: &Path, file: &File) -> io::Result<bool> {
    if disk.try_lock(file)? == Lock::Held {
        return Ok(false);
    }
    match disk.metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
