//! The bytes of a source as they are stored, before decompression.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis::{Error, Result};

/// Bytes with an owner that several readers share. `as_ref` must return the same bytes each time.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Bytes from front to back: stored bytes, or the output of a decoder.
pub(super) trait Stage: Send {
    /// Reads some bytes; 0 means the end, or that `into` is empty. Reading at the end is allowed.
    fn read(&mut self, into: &mut [u8]) -> Result<usize>;
}

impl<S: Stage + ?Sized> Stage for Box<S> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        (**self).read(into)
    }
}

/// Fills `into` as far as the stage has bytes.
pub(super) fn read_full(stage: &mut impl Stage, into: &mut [u8]) -> Result<usize> {
    let mut n = 0;
    while n < into.len() {
        match stage.read(&mut into[n..])? {
            0 => break,
            read => n += read,
        }
    }
    Ok(n)
}

/// Where stored bytes come from.
pub(super) enum Raw {
    /// A regular file, up to the length that it had on opening. Its position is that of the handle.
    File { file: Arc<File>, left: u64 },
    /// Bytes in memory.
    Bytes { bytes: SharedBytes, at: usize },
    /// A stream, which is read in the thread of the caller alone.
    Stream(Box<dyn Read + Send>),
    /// Bytes that another thread reads.
    Fed(Box<dyn Stage>),
}

impl Raw {
    /// No bytes.
    pub(super) fn empty() -> Self {
        Self::Bytes { bytes: Arc::new([]), at: 0 }
    }

    /// The number of bytes that are left, if known.
    fn len(&self) -> Option<u64> {
        match self {
            Raw::File { left, .. } => Some(*left),
            Raw::Bytes { bytes, at } => Some((**bytes).as_ref().len().saturating_sub(*at) as u64),
            Raw::Stream(_) | Raw::Fed(_) => None,
        }
    }
}

impl Stage for Raw {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        match self {
            Raw::File { file, left } => {
                let len = usize::try_from(*left).map_or(into.len(), |left| left.min(into.len()));
                let n = read_some(&mut &**file, &mut into[..len])?;
                if n == 0 && len > 0 {
                    let error = Error::corrupt("the file became shorter while it was read");
                    return Err(error.advise("read it again when no program writes to it"));
                }
                *left -= n as u64;
                Ok(n)
            }
            Raw::Bytes { bytes, at } => {
                let rest = (**bytes).as_ref().get(*at..).unwrap_or_default();
                let n = rest.len().min(into.len());
                into[..n].copy_from_slice(&rest[..n]);
                *at += n;
                Ok(n)
            }
            Raw::Stream(stream) => read_some(stream, into),
            Raw::Fed(fed) => fed.read(into),
        }
    }
}

/// One read, which is tried again if a signal interrupted it.
fn read_some(reader: &mut impl Read, into: &mut [u8]) -> Result<usize> {
    loop {
        match reader.read(into) {
            Ok(n) if n > into.len() => {
                return Err(Error::io(
                    io::Error::other("more bytes read than asked for"),
                    "reading the source",
                ));
            }
            Ok(n) => return Ok(n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A stream may carry an error of this project.
            Err(error) => {
                return Err(match error.downcast::<Error>() {
                    Ok(error) => error,
                    Err(error) => Error::io(error, "reading the source"),
                });
            }
        }
    }
}

/// Stored bytes with a buffer, for decoders.
pub(super) struct RawInput {
    raw: Raw,
    buffer: Vec<u8>,
    /// The bytes of the buffer that are not consumed yet.
    start: usize,
    end: usize,
    /// The offset of `start` in the source.
    at: u64,
    /// The bytes read so far, for those who watch the progress.
    n_read: Arc<AtomicU64>,
}

impl RawInput {
    /// Length of the buffer.
    const LEN: usize = 256 << 10;

    pub(super) fn new(raw: Raw, n_read: Arc<AtomicU64>) -> Self {
        Self { raw, buffer: Vec::new(), start: 0, end: 0, at: 0, n_read }
    }

    /// Reads the rest from another place, and returns the former one. Bytes in the buffer stay.
    pub(super) fn replace(&mut self, raw: Raw) -> Raw {
        std::mem::replace(&mut self.raw, raw)
    }

    /// The offset in the source of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The next bytes; none means the end.
    pub(super) fn fill(&mut self) -> Result<&[u8]> {
        self.peek(1)
    }

    /// At least the next `n` bytes, fewer only at the end. `n` is at most 64 KiB.
    pub(super) fn peek(&mut self, n: usize) -> Result<&[u8]> {
        debug_assert!(n <= Self::LEN / 4);
        if self.buffer.is_empty() {
            let len = self.raw.len().and_then(|len| usize::try_from(len).ok());
            self.buffer = vec![0; len.map_or(Self::LEN, |len| len.clamp(n, Self::LEN))];
        }
        if self.buffer.len() < n {
            self.buffer.resize(n, 0);
        }
        if self.buffer.len() - self.start < n {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < n {
            if self.start == self.end {
                (self.start, self.end) = (0, 0);
            }
            let read = self.raw.read(&mut self.buffer[self.end..])?;
            if read == 0 {
                break;
            }
            self.n_read.fetch_add(read as u64, Ordering::Relaxed);
            self.end += read;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Goes past `n` bytes that were returned last.
    pub(super) fn consume(&mut self, n: usize) {
        self.start += n;
        self.at += n as u64;
        debug_assert!(self.start <= self.end);
    }
}

impl Stage for RawInput {
    /// Reads past the buffer if it is empty, straight into place.
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let n = if self.start < self.end {
            let n = into.len().min(self.end - self.start);
            into[..n].copy_from_slice(&self.buffer[self.start..self.start + n]);
            self.start += n;
            n
        } else {
            let n = self.raw.read(into)?;
            self.n_read.fetch_add(n as u64, Ordering::Relaxed);
            n
        };
        self.at += n as u64;
        Ok(n)
    }
}
