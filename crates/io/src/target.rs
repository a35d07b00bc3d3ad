//! Resolves a path to the file that it stands for.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{self, Path, PathBuf};

use crate::Disk;

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// The path of a file that may or may not exist, in a directory that exists.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) name: OsString,
}

impl Target {
    /// Follows symbolic links, also those to files that do not exist yet.
    ///
    /// The result is absolute, so that it stays valid after a change of the working directory.
    pub(crate) fn find(disk: &dyn Disk, path: &Path) -> io::Result<Target> {
        if ends_with_separator(path) {
            return Err(io::Error::new(ErrorKind::IsADirectory, "the path names a directory, not a file"));
        }
        let mut path = path::absolute(path)?;
        let mut links = 0;
        while let Some(next) = disk.link(&path)? {
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::new(
                    ErrorKind::InvalidInput,
                    "too many symbolic links, perhaps in a circle",
                ));
            }
            path = path.parent().unwrap_or(&path).join(next);
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(ErrorKind::IsADirectory, "this is a directory, not a file"));
        };
        check_directory(disk, directory)?;
        Ok(Target { directory: directory.to_owned(), name: name.to_owned(), path })
    }
}

fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&last| path::is_separator(last.into()))
}

fn check_directory(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    match disk.metadata(directory) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::new(
            ErrorKind::NotADirectory,
            format!("{} is a file, not a directory", directory.display()),
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(io::Error::new(
            ErrorKind::NotFound,
            format!("the directory {} does not exist", directory.display()),
        )),
        Err(error) => Err(error),
    }
}
