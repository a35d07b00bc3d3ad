//! A text in UTF-8, made from the bytes of a source.

use entasis::{Error, Result};

use super::ahead::ahead;
use super::encoding::{Charset, Transcoder};
use super::raw::{Raw, Stage, read_full};

/// The first bytes that are read in advance. Most texts are short.
const FIRST_LEN: usize = 16 << 10;

/// Decompressed bytes, some of them read in advance.
pub(super) struct Lookahead {
    head: Vec<u8>,
    at: usize,
    stage: Box<dyn Stage>,
}

impl Lookahead {
    pub(super) fn new(stage: Box<dyn Stage>) -> Self {
        Self { head: Vec::new(), at: 0, stage }
    }

    /// Up to `n` bytes from the start, and whether they are all. Only before the first read.
    pub(super) fn peek(&mut self, n: usize) -> Result<(&[u8], bool)> {
        // One more byte shows whether the bytes end here.
        while self.head.len() <= n {
            let len = self.head.len();
            let more = (2 * len).max(FIRST_LEN).min(n + 1 - len);
            self.head.resize(len + more, 0);
            let read = read_full(&mut self.stage, &mut self.head[len..])?;
            self.head.truncate(len + read);
            if read < more {
                break;
            }
        }
        Ok((&self.head[..n.min(self.head.len())], self.head.len() <= n))
    }

    /// Goes past `n` bytes that were peeked at.
    pub(super) fn skip(&mut self, n: usize) {
        self.at += n.min(self.head.len() - self.at);
    }
}

impl Stage for Lookahead {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.at == self.head.len() {
            return self.stage.read(into);
        }
        let n = into.len().min(self.head.len() - self.at);
        into[..n].copy_from_slice(&self.head[self.at..self.at + n]);
        self.at += n;
        if self.at == self.head.len() {
            (self.head, self.at) = (Vec::new(), 0);
        }
        Ok(n)
    }
}

/// Decompressed bytes up to a limit.
pub(super) struct Limited {
    stage: Box<dyn Stage>,
    limit: u64,
    left: u64,
}

impl Limited {
    pub(super) fn new(stage: Box<dyn Stage>, limit: u64) -> Self {
        Self { stage, limit, left: limit }
    }
}

impl Stage for Limited {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let n = self.stage.read(into)? as u64;
        if n > self.left {
            let limit = self.limit;
            let message = format!("the decompressed content is longer than max_bytes allows ({limit} bytes)");
            return Err(Error::limit(message).advise("raise max_bytes if you trust the source"));
        }
        self.left -= n;
        Ok(n as usize)
    }
}

/// The mark that old programs of DOS write after the last line.
const DOS_END: u8 = 0x1A;

/// A text in UTF-8, without byte order mark and DOS's mark of the end.
pub(super) struct Text {
    stage: Box<dyn Stage>,
    /// The byte after a [`DOS_END`] that was not the end.
    held: Option<u8>,
}

impl Default for Text {
    /// An empty text.
    fn default() -> Self {
        Self { stage: Box::new(Raw::empty()), held: None }
    }
}

impl Text {
    /// The text of bytes without byte order mark. `has_thread`: a thread may convert them.
    pub(super) fn new(bytes: Lookahead, charset: Charset, has_thread: bool) -> Self {
        let stage: Box<dyn Stage> = match Transcoder::new(bytes, charset) {
            Ok(transcoder) if has_thread => ahead(Box::new(transcoder)),
            Ok(transcoder) => Box::new(transcoder),
            Err(bytes) => Box::new(bytes),
        };
        Self { stage, held: None }
    }
}

impl Stage for Text {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut n = 0;
        if let (Some(first), Some(byte)) = (into.first_mut(), self.held) {
            *first = byte;
            self.held = None;
            n = 1;
        }
        n += self.stage.read(&mut into[n..])?;
        if n > 0 && into[n - 1] == DOS_END {
            let mut next = [0];
            match self.stage.read(&mut next)? {
                0 => n -= 1,
                _ => self.held = Some(next[0]),
            }
        }
        Ok(n)
    }
}

/// The bytes of a text without [`DOS_END`].
pub(super) fn without_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(&[DOS_END]).unwrap_or(bytes)
}
