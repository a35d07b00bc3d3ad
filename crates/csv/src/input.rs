//! The texts that the reader reads.

use entasis::Result;

/// A text in UTF-8, from front to back.
pub trait Input: Send {
    /// Fills the start of `into`, and returns the number of bytes; 0 at the end.
    ///
    /// # Errors
    /// *Io*, and what the source of the text meets.
    fn read(&mut self, into: &mut [u8]) -> Result<usize>;

    /// Begins anew with the first byte.
    ///
    /// # Errors
    /// As [`Input::read`], and *unsupported* for a source that can be read only once.
    fn rewind(&mut self) -> Result<()>;

    /// Bytes of the source that were read, and its length where it is known.
    fn progress(&self) -> (u64, Option<u64>) {
        (0, None)
    }
}

/// A text in memory.
#[derive(Clone, Debug)]
pub struct Bytes<T> {
    bytes: T,
    at: usize,
}

impl<T: AsRef<[u8]>> Bytes<T> {
    /// The text in `bytes`.
    pub fn new(bytes: T) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<T: AsRef<[u8]> + Send> Input for Bytes<T> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let rest = &self.bytes.as_ref()[self.at..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.at as u64, Some(self.bytes.as_ref().len() as u64))
    }
}
