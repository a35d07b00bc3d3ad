//! The file that a text is written into.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use entasis::{Durable, Error, Result, Sink};
use entasis_io::Replacement;

use super::packed::Compression;

/// Bytes that are copied at once.
const COPIED: usize = 1 << 20;

/// A file that replaces an old one when all is written.
pub struct Target {
    file: Replacement,
    len: u64,
}

impl Target {
    /// A file for `path`. With `appends` it begins with the bytes of the old file, and a line end
    /// if these have none at their end.
    ///
    /// # Errors
    /// Errors of the system; *argument* for an old file of another compression.
    pub fn create(path: &Path, durable: Durable, appends: bool, compression: Compression) -> Result<Self> {
        let named = |error| Error::io(error, "write").in_file(path);
        let file = Replacement::create(path, durable).map_err(named)?;
        let mut target = Self { file, len: 0 };
        if !appends {
            return Ok(target);
        }
        let mut old = match File::open(path) {
            Ok(old) => old,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(Error::io(error, "read").in_file(path)),
        };
        let (mut part, mut last) = (vec![0; COPIED], None);
        loop {
            let n = match old.read(&mut part) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io(error, "read").in_file(path)),
            };
            if target.len == 0 && Compression::of_start(&part[..n]) != compression.without_level() {
                let message = "the file to append to has another compression";
                return Err(Error::argument(message).in_file(path));
            }
            target.write(&part[..n])?;
            last = part[..n].last().copied();
        }
        if compression == Compression::None && last.is_some_and(|last| last != b'\n') {
            target.write(b"\n")?;
        }
        Ok(target)
    }

    /// Whether the file has no bytes so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all_at(self.len, bytes);
        written.map_err(|error| Error::io(error, "write").in_file(self.file.target()))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Replaces the old file.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn commit(self) -> Result<()> {
        let path = self.file.target().to_path_buf();
        self.file.commit().map_err(|error| Error::io(error, "write").in_file(&path))
    }
}
