//! A file on disk as a source.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::Source;

/// A regular file, opened once.
///
/// The handle stays open, so this reads the old file whole even if the path is given a new file.
/// The length was measured on opening, or by the last [`measure`](Source::measure).
#[derive(Debug)]
pub struct FileSource {
    file: File,
    len: u64,
}

impl FileSource {
    /// Opens the file at `path`, following symbolic links.
    ///
    /// # Errors
    /// [`ErrorKind::IsADirectory`] for a directory, [`ErrorKind::InvalidInput`] for pipes, devices
    /// and the like. These are detected before opening, so that nothing waits for their other end.
    /// Otherwise errors of the system.
    pub fn open(path: impl AsRef<Path>) -> io::Result<FileSource> {
        let path = path.as_ref();
        check_regular(&fs::metadata(path)?)?;
        Self::of(File::open(path)?)
    }

    /// An open file.
    ///
    /// # Errors
    /// As [`open`](Self::open), and for pipes, devices and directories.
    pub fn of(file: File) -> io::Result<FileSource> {
        let metadata = file.metadata()?;
        check_regular(&metadata)?;
        Ok(FileSource { file, len: metadata.len() })
    }
}

/// Refuses files without positioned reads and writes.
pub(crate) fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "this is a directory, not a file"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "this is not a regular file but a pipe, a socket or a device",
        ));
    }
    Ok(())
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn measure(&mut self) -> io::Result<u64> {
        self.len = self.file.metadata()?.len();
        Ok(self.len)
    }

    fn changed(&self) -> Option<SystemTime> {
        changed(&self.file.metadata().ok()?)
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        if at.checked_add(out.len() as u64).is_none_or(|end| i64::try_from(end).is_err()) {
            return Ok(0); // no file reaches this far, and systems count positions with a sign
        }
        read_at(&self.file, at, out)
    }
}

/// When the content or the metadata of a file changed last. Programs that copy or synchronise files
/// can set the time of modification, but not this one.
#[cfg(unix)]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = Duration::from_secs(u64::try_from(metadata.ctime()).ok()?);
    let nanoseconds = Duration::from_nanos(u64::try_from(metadata.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds + nanoseconds)
}

#[cfg(not(unix))]
fn changed(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

#[cfg(unix)]
fn read_at(file: &File, at: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_at(file: &File, at: u64, out: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}
