//! The file that a text is written into.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use entasis::{Durable, Error, Monitor, Result, Sink};
use entasis_io::Replacement;

use super::packed::Compression;
use crate::source::{Origin, Source, SourceOptions};

/// Bytes that are copied at once.
const COPIED: usize = 1 << 20;
/// The time between two calls of the monitor.
const INTERVAL: Duration = Duration::from_millis(50);

/// Whether a text begins with these bytes, decompressed and without a byte order mark.
fn begins_with(path: &Path, start: &[u8]) -> Result<bool> {
    if start.is_empty() {
        return Ok(true);
    }
    let mut source = Source::open(Origin::Path(path.to_path_buf()), &SourceOptions::default())?;
    let (mut found, mut n) = (vec![0; start.len()], 0);
    while n < found.len() {
        match source.read(&mut found[n..])? {
            0 => break,
            more => n += more,
        }
    }
    Ok(found[..n] == *start)
}

/// A file that replaces an old one when all is written.
pub struct Target {
    file: Replacement,
    len: u64,
}

impl Target {
    /// An empty file for `path`. With `is_new`, a file that exists is an error, also at the end.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create(path: &Path, durable: Durable, is_new: bool) -> Result<Self> {
        let create = if is_new { Replacement::create_new } else { Replacement::create };
        let file = create(path, durable).map_err(|error| Error::io(error, "write").in_file(path))?;
        Ok(Self { file, len: 0 })
    }

    /// Copies the old file. A line end follows if there is none at the end. Returns whether there
    /// is an old file with some bytes.
    ///
    /// # Errors
    /// Errors of the system; *argument* for an old file of another compression, or that does not
    /// begin with `header`, and for a compressed file of one column, whose blank lines at the end
    /// may be missing values or none; *interrupted*.
    pub fn begin_with_old(
        &mut self,
        path: &Path,
        compression: Compression,
        header: &[u8],
        is_one_column: bool,
        monitor: &dyn Monitor,
    ) -> Result<bool> {
        let refused = |message: &'static str| Err(Error::argument(message).in_file(path));
        let mut old = match File::open(path) {
            Ok(old) => old,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::io(error, "read").in_file(path)),
        };
        let (mut part, mut last) = (vec![0; COPIED], [0; 2]);
        let mut polled = Instant::now();
        loop {
            if polled.elapsed() >= INTERVAL {
                polled = Instant::now();
                stop_if_interrupted(monitor)?;
            }
            let n = match old.read(&mut part) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io(error, "read").in_file(path)),
            };
            if self.len == 0 && Compression::of_start(&part[..n]) != compression.without_level() {
                return refused("the file to append to has another compression");
            }
            self.write(&part[..n])?;
            for &byte in &part[n.saturating_sub(2)..n] {
                last = [last[1], byte];
            }
        }
        if self.len == 0 {
            return Ok(false);
        }
        if !begins_with(path, header)? {
            let error = Error::argument("the file to append to has other names").in_file(path);
            return Err(error.advise("leave the header out to append anyway"));
        }
        if compression != Compression::None {
            return if is_one_column {
                refused("a compressed file of one column cannot grow")
            } else {
                Ok(true)
            };
        }
        if last[1] != b'\n' {
            self.write(b"\n")?;
        } else if is_one_column && last[0] == b'\n' {
            // A blank line at the end is none for a reader. Before other rows it would be one.
            self.len -= 1;
        }
        Ok(true)
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
    /// Errors of the system, *interrupted*.
    pub fn commit(self, monitor: &dyn Monitor) -> Result<()> {
        // The last progress report may ask to stop.
        stop_if_interrupted(monitor)?;
        let path = self.file.target().to_path_buf();
        self.file.commit().map_err(|error| Error::io(error, "write").in_file(&path))
    }
}

fn stop_if_interrupted(monitor: &dyn Monitor) -> Result<()> {
    if monitor.interrupted() { Err(Error::interrupted()) } else { Ok(()) }
}
