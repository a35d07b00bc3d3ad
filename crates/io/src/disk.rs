//! The file system calls of a replacement.

use std::fmt::Debug;
use std::fs::{self, File, Metadata, OpenOptions, ReadDir};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::identity::same_file;
use crate::lock::{self, LockedFile};
use crate::{Lock, access};

/// The file system calls of a [`Replacement`](crate::Replacement), one method each.
///
/// [`NativeDisk`] makes them. A test can insert a disk that fails at a chosen call.
pub trait Disk: Debug + Send + Sync {
    /// Metadata of the file at `path`, symbolic links followed.
    ///
    /// # Errors
    /// Errors of the system.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// The target of `path` if it is a symbolic link; `None` if it is another file or missing.
    ///
    /// # Errors
    /// Errors of the system.
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>>;

    /// The entries of a directory.
    ///
    /// # Errors
    /// Errors of the system.
    fn list(&self, directory: &Path) -> io::Result<ReadDir>;

    /// The shortest time between two searches of a directory for files of killed writers.
    fn recheck_after(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Opens an existing file for writing, with its content unchanged.
    ///
    /// # Errors
    /// Errors of the system.
    fn open(&self, path: &Path) -> io::Result<File>;

    /// Creates a file that must not exist yet; with `private`, only its owner may access it.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if it exists; otherwise errors of the system.
    fn create_new(&self, path: &Path, private: bool) -> io::Result<File>;

    /// Tries to lock `file` without waiting.
    ///
    /// # Errors
    /// Errors of the system.
    fn try_lock(&self, file: &File) -> io::Result<Lock>;

    /// Writes some of `bytes` at offset `at`; returns how many.
    ///
    /// # Errors
    /// Errors of the system.
    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Reserves space for `len` bytes of `file` at offset `at`. The length of the file stays the
    /// same.
    ///
    /// # Errors
    /// Errors of the system, also if it cannot reserve space.
    fn allocate(&self, file: &File, at: u64, len: u64) -> io::Result<()>;

    /// Sets the length of `file` and releases reserved space beyond it.
    ///
    /// # Errors
    /// Errors of the system.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;

    /// Gives `file` the access of `old`: its mode, access control list and `user.` attributes, and
    /// its owner and group if permitted.
    ///
    /// # Errors
    /// Errors of the system, except those about owner and group.
    fn adopt(&self, file: &File, old: &File) -> io::Result<()>;

    /// Waits until content and metadata of `file` are on the medium.
    ///
    /// # Errors
    /// Errors of the system.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Waits until the names in `directory` are on the medium, on systems that support it.
    ///
    /// # Errors
    /// Errors of the system.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Renames the file at `from` to `to`, replacing any file there.
    ///
    /// # Errors
    /// Errors of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames the file at `from` to `to`, which must not exist.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if it exists; otherwise errors of the system.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        rename_to_claim(self, from, to)
    }

    /// Removes the name `path`.
    ///
    /// # Errors
    /// Errors of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// No call writes across a multiple of this offset.
///
/// Linux caches each write in pages as large as fit, aligned to their size. Unaligned writes become
/// small pages, which take twice as long to write, to read and to drop. Larger ones risk pages
/// that a virtual machine has returned to its host (free page reporting): fetching these takes ten
/// times as long as writing. Smaller ones cost more calls.
pub const WRITE_UNIT: usize = 64 << 10;

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeDisk;

impl Disk for NativeDisk {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        fs::metadata(path)
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => fs::read_link(path).map(Some),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<ReadDir> {
        fs::read_dir(directory)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).open(path)
    }

    fn create_new(&self, path: &Path, private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o666 });
        #[cfg(not(unix))]
        let _ = private;
        options.open(path)
    }

    fn try_lock(&self, file: &File) -> io::Result<Lock> {
        lock::try_lock(file)
    }

    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(WRITE_UNIT - (at % WRITE_UNIT as u64) as usize)];
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_at(file, bytes, at);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_write(file, bytes, at);
    }

    fn allocate(&self, file: &File, at: u64, len: u64) -> io::Result<()> {
        entasis_platform::fallocate::reserve(file, at, len)
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    fn adopt(&self, file: &File, old: &File) -> io::Result<()> {
        access::adopt(file, old)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        if !cfg!(unix) {
            return Ok(());
        }
        match File::open(directory)?.sync_all() {
            // Some file systems do not support this call for directories.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
            result => result,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        #[cfg(windows)]
        for _ in 0..20 {
            // Virus scanners and indexers hold files open for a moment.
            match fs::rename(from, to) {
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                result => return result,
            }
        }
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::hard_link(from, to) {
            // The file has its new name. If the old name cannot be removed now, it is removed later
            // as the file of a dead writer.
            Ok(()) => fs::remove_file(from).or(Ok(())),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            // The file system has no hard links.
            Err(_) => rename_to_claim(self, from, to),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// Renames the file at `from` to `to`, which must not exist, without hard links.
///
/// An empty file claims the name first. If the process is killed before the rename, that file
/// stays.
fn rename_to_claim<D: Disk + ?Sized>(disk: &D, from: &Path, to: &Path) -> io::Result<()> {
    let claim = disk.create_new(to, true)?;
    // Windows renames no file to one that is open.
    let claim = (!cfg!(windows)).then(|| LockedFile::new(claim));
    let rename = || {
        if let Some(claim) = &claim {
            // Other writers may replace the claim until it is locked.
            let is_held = disk.try_lock(claim.file())? == Lock::Held;
            if is_held || !same_file(&claim.file().metadata()?, &disk.metadata(to)?) {
                return Ok(false);
            }
        }
        disk.rename(from, to).map(|()| true)
    };
    match rename() {
        Ok(true) => Ok(()),
        Ok(false) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) => {
            let _ = disk.remove(to);
            Err(error)
        }
    }
}
