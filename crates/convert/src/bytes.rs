//! The bytes of a file at positions, which are checked.

use std::borrow::Cow;
use std::fmt;

use entasis::{Error, Result, Source};

/// The bytes of a file: in memory, or read when they are needed.
#[derive(Clone, Copy)]
pub(crate) enum Bytes<'a> {
    Memory(&'a [u8]),
    Source(&'a dyn Source),
}

impl<'a> Bytes<'a> {
    pub(crate) fn len(self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Source(source) => source.len(),
        }
    }

    /// `len` bytes at a position.
    pub(crate) fn slice(self, at: u64, len: u64) -> Result<Cow<'a, [u8]>> {
        if let Self::Memory(bytes) = self {
            let range = self.range(at, len)?;
            return Ok(Cow::Borrowed(&bytes[range]));
        }
        let mut buffer = Vec::new();
        self.read(at, len, &mut buffer)?;
        buffer.truncate(len as usize);
        Ok(Cow::Owned(buffer))
    }

    /// `len` bytes at a position: those in memory, or the beginning of the buffer.
    pub(crate) fn read<'b>(self, at: u64, len: u64, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        let range = self.range(at, len)?;
        match self {
            Self::Memory(bytes) => Ok(&bytes[range]),
            Self::Source(source) => {
                let n = range.len();
                if buffer.len() < n {
                    let more = n - buffer.len();
                    buffer.try_reserve(more).map_err(|_| Error::out_of_memory(more, "stored blocks"))?;
                    buffer.resize(n, 0);
                }
                let into = &mut buffer[..n];
                source.read_exact_at(at, into).map_err(|error| Error::io(error, "read").at(at))?;
                Ok(into)
            }
        }
    }

    /// Checks that `len` bytes at a position are in the file.
    pub(crate) fn check(self, at: u64, len: u64) -> Result<()> {
        self.range(at, len).map(drop)
    }

    fn range(self, at: u64, len: u64) -> Result<std::ops::Range<usize>> {
        let end = at.checked_add(len).filter(|&end| end <= self.len());
        let range = end.and_then(|end| Some(usize::try_from(at).ok()?..usize::try_from(end).ok()?));
        range.ok_or_else(|| Error::corrupt("a position leads outside of the file").at(at))
    }

    pub(crate) fn array<const N: usize>(self, at: u64) -> Result<[u8; N]> {
        let mut array = [0; N];
        match self {
            Self::Memory(bytes) => array.copy_from_slice(&bytes[self.range(at, N as u64)?]),
            Self::Source(source) => {
                self.check(at, N as u64)?;
                source.read_exact_at(at, &mut array).map_err(|error| Error::io(error, "read").at(at))?;
            }
        }
        Ok(array)
    }

    pub(crate) fn u32(self, at: u64) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(at)?))
    }

    pub(crate) fn u64(self, at: u64) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(at)?))
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bytes").field("len", &self.len()).finish()
    }
}

/// A position that is a sum.
pub(crate) fn sum(at: u64, more: u64) -> Result<u64> {
    at.checked_add(more).ok_or_else(|| Error::corrupt("a position leads outside of the file"))
}
