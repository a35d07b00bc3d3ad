//! The texts that the reader reads.

use std::sync::Arc;

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

impl<T: Input + ?Sized> Input for &mut T {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        (**self).read(into)
    }

    fn rewind(&mut self) -> Result<()> {
        (**self).rewind()
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (**self).progress()
    }
}

/// Texts whose rows form one table.
pub trait Inputs: Send {
    /// The number of texts.
    fn n(&self) -> usize;

    /// Text `i` from its first byte on.
    ///
    /// # Errors
    /// As for opening a text, and as [`Input::rewind`] if it was open before.
    fn open(&mut self, i: usize) -> Result<&mut dyn Input>;

    /// The name of text `i` in errors and problems; `None` for a single one.
    fn name(&self, i: usize) -> Option<Arc<str>>;

    /// The origin of text `i`, such as its path.
    fn origin(&self, _: usize) -> Arc<str> {
        "".into()
    }

    /// The bytes of the texts before text `i`, and the bytes of all texts where they are known.
    fn place(&self, i: usize) -> (u64, Option<u64>);
}

/// A single text.
pub struct Single<'a> {
    input: &'a mut dyn Input,
    is_new: bool,
}

impl<'a> Single<'a> {
    /// The text of `input`, which is at its first byte.
    pub fn new(input: &'a mut dyn Input) -> Self {
        Self { input, is_new: true }
    }
}

impl Inputs for Single<'_> {
    fn n(&self) -> usize {
        1
    }

    fn open(&mut self, _: usize) -> Result<&mut dyn Input> {
        if !std::mem::take(&mut self.is_new) {
            self.input.rewind()?;
        }
        Ok(self.input)
    }

    fn name(&self, _: usize) -> Option<Arc<str>> {
        None
    }

    fn place(&self, _: usize) -> (u64, Option<u64>) {
        (0, self.input.progress().1)
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
