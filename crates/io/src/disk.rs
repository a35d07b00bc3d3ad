//! The calls to the file system that a replacement makes.

use std::fmt::Debug;
use std::fs::{self, File, Metadata, OpenOptions, ReadDir};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::Lock;
use crate::lock;

/// Every call to the file system that a [`Replacement`](crate::Replacement) makes, one method each.
///
/// [`NativeDisk`] makes them; a test puts something between that fails at a chosen call.
pub trait Disk: Debug + Send + Sync {
    /// What is at `path`, symbolic links followed.
    ///
    /// # Errors
    /// What the system reports.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// Where `path` points if it is a symbolic link; `None` for anything else and for nothing.
    ///
    /// # Errors
    /// What the system reports.
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>>;

    /// The entries of a directory.
    ///
    /// # Errors
    /// What the system reports.
    fn list(&self, directory: &Path) -> io::Result<ReadDir>;

    /// Opens an existing file for writing, its content untouched.
    ///
    /// # Errors
    /// What the system reports.
    fn open(&self, path: &Path) -> io::Result<File>;

    /// Creates a file that must not exist yet, for its owner alone if `private`.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if it does; otherwise what the system reports.
    fn create_new(&self, path: &Path, private: bool) -> io::Result<File>;

    /// Asks for the lock of `file` without waiting.
    ///
    /// # Errors
    /// What the system reports.
    fn try_lock(&self, file: &File) -> io::Result<Lock>;

    /// Writes some of `bytes` at position `at`.
    ///
    /// # Errors
    /// What the system reports.
    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Has room set aside for `len` bytes of `file` from `at` on; its length stays what it is.
    ///
    /// # Errors
    /// What the system reports, also when it can't do that.
    fn allocate(&self, file: &File, at: u64, len: u64) -> io::Result<()>;

    /// Sets the length of `file`; room behind it is given back.
    ///
    /// # Errors
    /// What the system reports.
    fn set_len(&self, file: &File, len: u64) -> io::Result<()>;

    /// Gives `file` the mode of `old`, and its owner and group where that is allowed.
    ///
    /// # Errors
    /// What the system reports, except about owner and group.
    fn adopt(&self, file: &File, old: &Metadata) -> io::Result<()>;

    /// Waits until content and metadata of `file` are on the medium.
    ///
    /// # Errors
    /// What the system reports.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Waits until the names in `directory` are on the medium, where a system can do that.
    ///
    /// # Errors
    /// What the system reports.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Gives the file at `from` the name `to`, in the place of what was there.
    ///
    /// # Errors
    /// What the system reports.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes the name `path`.
    ///
    /// # Errors
    /// What the system reports.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// No call writes to both sides of a multiple of this place in the file.
///
/// The cache of Linux keeps what one call writes in pages as large as fit, each at a multiple of its size: pieces that begin and end
/// anywhere become small pages, which take twice the time to write, to read and to drop. Those of 128 KiB and more a virtual machine
/// may have given back to its host (free page reporting): to fetch them again takes ten times as long as to write them. Where nothing
/// of the kind happens, more calls cost 6 ms in 100 MB.
pub const PIECE: usize = 64 << 10;

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
        let bytes = &bytes[..bytes.len().min(PIECE - (at % PIECE as u64) as usize)];
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

    fn adopt(&self, file: &File, old: &Metadata) -> io::Result<()> {
        adopt(file, old)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        if !cfg!(unix) {
            return Ok(());
        }
        match File::open(directory)?.sync_all() {
            // Some file systems do not know this call for directories.
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

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// A mode is only set where it differs: some file systems have one mode for all files and refuse the call.
#[cfg(unix)]
fn adopt(file: &File, old: &Metadata) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let ours = file.metadata()?;
    let same_group = ours.gid() == old.gid() || fchown(file, None, Some(old.gid())).is_ok();
    let mut mode = old.mode() & 0o777;
    if !same_group {
        // What the old group was allowed is nothing to the new one, beyond what everybody is.
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    if ours.mode() & 0o777 != mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    if ours.uid() != old.uid() {
        let _ = fchown(file, Some(old.uid()), None); // only the administrator may give files away
    }
    Ok(())
}

#[cfg(not(unix))]
fn adopt(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(()) // a new file takes the permissions of its directory
}
