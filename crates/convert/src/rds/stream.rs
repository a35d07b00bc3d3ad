//! Integers, doubles and texts of a stream in its coding.

use std::borrow::Cow;

use entasis::{Error, Result};

use super::ascii;
use super::flags::Flags;
use crate::input::Input;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// Big-endian, as XDR.
    Big,
    /// Little-endian.
    Little,
    /// As text.
    Ascii,
}

/// A stream of items.
pub(super) struct Stream<'a> {
    pub(super) input: Input<'a>,
    coding: Coding,
}

impl<'a> Stream<'a> {
    pub(super) fn new(input: Input<'a>, coding: Coding) -> Self {
        Self { input, coding }
    }

    /// The least bytes of an integer.
    fn int_len(&self) -> usize {
        if self.coding == Coding::Ascii { 2 } else { 4 }
    }

    #[inline]
    pub(super) fn int(&mut self) -> Result<i32> {
        match self.coding {
            Coding::Big => Ok(i32::from_be_bytes(self.input.array()?)),
            Coding::Little => Ok(i32::from_le_bytes(self.input.array()?)),
            Coding::Ascii => ascii::int(&mut self.input),
        }
    }

    #[inline]
    pub(super) fn flags(&mut self) -> Result<Flags> {
        Ok(Flags(self.int()? as u32))
    }

    /// A length that is not negative.
    pub(super) fn count(&mut self) -> Result<usize> {
        let n = self.int()?;
        usize::try_from(n).map_err(|_| self.damaged("a length is negative"))
    }

    /// The length of a vector. Those of 2^31 elements or more have two words.
    pub(super) fn vector_len(&mut self) -> Result<u64> {
        match self.int()? {
            -1 => {
                let (high, low) = (self.int()? as u32, self.int()? as u32);
                Ok(u64::from(high) << 32 | u64::from(low))
            }
            n => u64::try_from(n).map_err(|_| self.damaged("a length is negative")),
        }
    }

    /// Refuses a list of `n` items that each have `words` integers or more, if the rest is shorter.
    pub(super) fn check(&self, n: u64, words: usize) -> Result<usize> {
        self.input.check(n, words * self.int_len())
    }

    pub(super) fn ints(&mut self, n: u64) -> Result<Vec<i32>> {
        match self.coding {
            Coding::Big => self.input.vector(n, i32::from_be_bytes),
            Coding::Little => self.input.vector(n, i32::from_le_bytes),
            Coding::Ascii => ascii::vector(&mut self.input, n, ascii::int),
        }
    }

    pub(super) fn doubles(&mut self, n: u64) -> Result<Vec<f64>> {
        match self.coding {
            Coding::Big => self.input.vector(n, f64::from_be_bytes),
            Coding::Little => self.input.vector(n, f64::from_le_bytes),
            Coding::Ascii => ascii::vector(&mut self.input, n, ascii::double),
        }
    }

    pub(super) fn complex(&mut self, n: u64) -> Result<Vec<[f64; 2]>> {
        let parts = |bytes: [u8; 16]| {
            let (words, _) = bytes.as_chunks::<8>();
            [words[0], words[1]]
        };
        match self.coding {
            Coding::Big => self.input.vector(n, |bytes| parts(bytes).map(f64::from_be_bytes)),
            Coding::Little => self.input.vector(n, |bytes| parts(bytes).map(f64::from_le_bytes)),
            Coding::Ascii => {
                ascii::vector(&mut self.input, n, |input| Ok([ascii::double(input)?, ascii::double(input)?]))
            }
        }
    }

    pub(super) fn raw(&mut self, n: u64) -> Result<Vec<u8>> {
        match self.coding {
            Coding::Ascii => ascii::vector(&mut self.input, n, ascii::byte),
            _ => self.input.vector(n, |[byte]: [u8; 1]| byte),
        }
    }

    /// Appends a text of `len` bytes.
    pub(super) fn text(&mut self, len: usize, into: &mut Vec<u8>) -> Result<()> {
        if self.coding == Coding::Ascii {
            return ascii::text(&mut self.input, len, into);
        }
        self.input.check(len as u64, 1)?;
        self.input.append(len, into)
    }

    /// Passes strings that begin in the buffer of the input to `push`: flags and text, `None` for a
    /// missing one. Stops after `n`, or before one that is not a plain string or not whole. Returns
    /// how many it passed.
    pub(super) fn some_strings(
        &mut self,
        n: usize,
        mut push: impl FnMut(Flags, Option<&[u8]>),
    ) -> Result<usize> {
        let word: fn([u8; 4]) -> u32 = match self.coding {
            Coding::Big => u32::from_be_bytes,
            Coding::Little => u32::from_le_bytes,
            Coding::Ascii => return Ok(0),
        };
        let bytes = self.input.fill(8)?;
        let (mut rest, mut done) = (bytes, 0);
        while done < n
            && let Some((head, tail)) = rest.split_first_chunk::<8>()
        {
            let [a, b, c, d, e, f, g, h] = *head;
            let (flags, len) = (Flags(word([a, b, c, d])), word([e, f, g, h]) as i32);
            if flags.kind() != super::flags::kind::CHAR || flags.has_attributes() {
                break;
            }
            if len == -1 {
                push(flags, None);
                rest = tail;
            } else {
                let Some((text, after)) =
                    usize::try_from(len).ok().and_then(|len| tail.split_at_checked(len))
                else {
                    break;
                };
                push(flags, Some(text));
                rest = after;
            }
            done += 1;
        }
        let n_read = bytes.len() - rest.len();
        self.input.consume(n_read);
        self.input.poll()?;
        Ok(done)
    }

    #[cold]
    pub(super) fn damaged(&self, message: impl Into<Cow<'static, str>>) -> Error {
        self.input.damaged(message)
    }
}
