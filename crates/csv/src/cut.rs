//! Cuts a text into chunks of whole rows, one after the other.
//!
//! Only this step depends on what came before. Every chunk begins with a row, so threads index and
//! convert chunks on their own. Finding the last row end of a chunk takes one pass of masks, which
//! is many times faster than the rest of the work.

use std::collections::VecDeque;
use std::io::Read;

use entasis::{Error, Result};
use entasis_kernels::fields::{Marks, survey};

use crate::dialect::{Blanks, Dialect};
use crate::input::Input;
use crate::strict::{Event, State};
use crate::values::PADDING;

/// The most bytes of a chunk and of a row. Places of fields have 32 bits.
const MOST: usize = 1 << 30;
/// The most bytes of a row, unless a field may have more. A row of separators alone takes many
/// times its length.
const LONGEST_ROW: usize = 64 << 20;

/// How a chunk's rows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// By masks: quotes are where they belong.
    Regular,
    /// Byte by byte.
    Strict,
}

/// Whole rows of a text.
#[derive(Debug)]
pub struct Chunk {
    /// The rows, then [`PADDING`] zeros.
    text: Vec<u8>,
    /// The number of the chunk.
    pub number: usize,
    /// The offset of the first byte in the text.
    pub offset: u64,
    /// How its rows are found.
    pub rules: Rules,
    /// Whether the text ends with it.
    pub is_last: bool,
}

impl Chunk {
    /// The rows.
    pub fn rows(&self) -> &[u8] {
        &self.text[..self.text.len() - PADDING]
    }

    /// The rows and the zeros after them.
    pub fn padded(&self) -> &[u8] {
        &self.text
    }

    /// The memory, for another chunk.
    pub fn into_memory(self) -> Vec<u8> {
        self.text
    }
}

/// Cuts a text.
pub struct Cutter<'a> {
    input: Box<dyn Input + 'a>,
    dialect: Dialect,
    /// Bytes of a chunk, unless a row is longer.
    chunk_len: usize,
    /// The longest field that is looked for.
    most: usize,
    /// The longest row that is looked for.
    most_of_row: usize,
    /// Bytes that were read before the text was cut.
    ahead: VecDeque<u8>,
    /// Bytes that were read and belong to the next chunk.
    rest: Vec<u8>,
    /// The offset of `rest` in the text.
    offset: u64,
    number: usize,
    at_end: bool,
}

impl<'a> Cutter<'a> {
    /// Cuts `input` after its first `skip` lines. A row that is longer than a chunk is an error if
    /// one of its fields has more than `most` bytes. A row has at most 64 MiB, or `most` bytes if
    /// these are more, and no chunk or row has more than 1 GiB.
    ///
    /// # Errors
    /// As [`Input::read`].
    pub fn new(
        input: impl Input + 'a,
        dialect: Dialect,
        skip: usize,
        chunk_len: usize,
        most: usize,
    ) -> Result<Self> {
        let most = most.clamp(1, MOST);
        let mut cutter = Self {
            input: Box::new(input),
            dialect,
            chunk_len: chunk_len.clamp(1, MOST),
            most,
            most_of_row: most.max(LONGEST_ROW),
            ahead: VecDeque::new(),
            rest: Vec::new(),
            offset: 0,
            number: 0,
            at_end: false,
        };
        cutter.skip_lines(skip)?;
        Ok(cutter)
    }

    /// Makes later chunks at least this long.
    pub fn lengthen(&mut self, chunk_len: usize) {
        self.chunk_len = self.chunk_len.max(chunk_len).min(MOST);
    }

    /// Bytes of a chunk, unless a row is longer.
    pub fn chunk_len(&self) -> usize {
        self.chunk_len
    }

    /// The number of chunks so far.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Bytes that were read of the source, and its length where it is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        self.input.progress()
    }

    /// The next chunk, in memory that may be used again; `None` at the end.
    ///
    /// # Errors
    /// [`Failure::Unclosed`] at the end of the text, [`Failure::Long`]; otherwise as
    /// [`Input::read`], and *text* for a row that is too long.
    pub fn next(&mut self, mut memory: Vec<u8>) -> std::result::Result<Option<Chunk>, Failure> {
        memory.clear();
        memory.append(&mut self.rest);
        let mut wanted = self.chunk_len;
        loop {
            self.fill(&mut memory, wanted)?;
            if memory.is_empty() {
                return Ok(None);
            }
            let Ends { rules, last, is_open } = self.ends(&memory);
            let end = if self.at_end && !is_open { memory.len() } else { last };
            if end > 0 {
                return Ok(Some(self.cut(memory, end, rules)?));
            }
            if let Some(failure) = self.long_field(&memory) {
                return Err(failure);
            }
            if is_open && self.at_end {
                return Err(self.unclosed(&memory));
            }
            if memory.len() > self.most_of_row {
                return Err(self.long_row());
            }
            wanted = self.more_than(memory.len());
        }
    }

    /// The bytes to look at after `len` were not enough. One byte more than `most` decides about a
    /// field.
    fn more_than(&self, len: usize) -> usize {
        let most = if len > self.most { self.most_of_row } else { self.most };
        (2 * len).min(most + 1)
    }

    fn cut(&mut self, mut text: Vec<u8>, end: usize, rules: Rules) -> Result<Chunk> {
        let mut rest = text.split_off(end);
        self.fill(&mut rest, 1)?;
        self.rest = rest;
        if rules == Rules::Regular && text.last() != Some(&b'\n') {
            // The last row may lack its end.
            text.push(b'\n');
        }
        text.resize(text.len() + PADDING, 0);
        let is_last = self.at_end && self.rest.is_empty();
        let chunk = Chunk { text, number: self.number, offset: self.offset, rules, is_last };
        self.offset += end as u64;
        self.number += 1;
        Ok(chunk)
    }

    /// Reads until `memory` has `wanted` bytes, or the text ends.
    fn fill(&mut self, memory: &mut Vec<u8>, wanted: usize) -> Result<()> {
        let mut len = memory.len();
        if len >= wanted || self.at_end {
            return Ok(());
        }
        memory.try_reserve(wanted + PADDING + 1 - len).map_err(|_| Error::out_of_memory(wanted, "rows"))?;
        memory.resize(wanted, 0);
        while len < wanted && !self.at_end {
            let n = self.read(&mut memory[len..])?;
            self.at_end = n == 0;
            len += n;
        }
        memory.truncate(len);
        Ok(())
    }

    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.ahead.is_empty() {
            return self.input.read(into);
        }
        self.ahead.read(into).map_err(|error| Error::io(error, "read"))
    }

    /// The start of the text that is cut, and whether it is all: `len` bytes, or as many more as
    /// `is_enough` asks for, up to the longest row or field. Only before the first chunk.
    ///
    /// # Errors
    /// As [`Input::read`].
    pub fn peek(&mut self, len: usize, is_enough: impl Fn(&[u8]) -> bool) -> Result<(&[u8], bool)> {
        let mut memory = Vec::new();
        let mut wanted = len;
        loop {
            self.fill(&mut memory, wanted)?;
            let is_all = self.at_end || memory.len() > self.most_of_row;
            if is_all || is_enough(&memory) || self.long_field(&memory).is_some() {
                break;
            }
            wanted = self.more_than(memory.len());
        }
        let is_all = self.at_end;
        self.put_back(memory);
        Ok((self.ahead.make_contiguous(), is_all))
    }

    /// The next bytes are these.
    fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.extend(&self.ahead);
        self.ahead = bytes.into();
        // The end is met again after them.
        self.at_end = false;
    }

    fn ends(&self, text: &[u8]) -> Ends {
        let Dialect { separator, quote, escape, comment, blanks } = self.dialect;
        if escape.is_none() && comment.is_none() && blanks == Blanks::Kept {
            let survey = survey(text, Marks { separator, quote });
            if survey.is_regular {
                return Ends { rules: Rules::Regular, last: survey.last_end, is_open: survey.is_open };
            }
        }
        let mut state = State::RowStart;
        let mut last = 0;
        for (i, &byte) in text.iter().enumerate() {
            if state == State::AfterCr && byte != b'\n' {
                last = i;
            }
            state.take(byte, &self.dialect);
            if state == State::RowStart {
                last = i + 1;
            }
        }
        Ends { rules: Rules::Strict, last, is_open: state.is_open() }
    }

    /// Leaves out the first `n` lines, without regard to quotes.
    fn skip_lines(&mut self, n: usize) -> Result<()> {
        let (mut left, mut after_cr) = (n, false);
        while left > 0 || after_cr {
            let mut memory = Vec::new();
            self.fill(&mut memory, 1 << 16)?;
            if memory.is_empty() {
                break;
            }
            let mut at = 0;
            while let Some(&byte) = memory.get(at) {
                let ends_cr = after_cr && byte == b'\n';
                if left == 0 && !ends_cr {
                    after_cr = false;
                    break;
                }
                after_cr = byte == b'\r';
                left -= usize::from(!ends_cr && (after_cr || byte == b'\n'));
                at += 1;
            }
            self.offset += at as u64;
            self.put_back(memory.split_off(at));
        }
        Ok(())
    }

    #[cold]
    fn long_row(&self) -> Failure {
        let message = format!("the row at byte {} has more than {} bytes", self.offset, self.most_of_row);
        let error = Error::text(message);
        (if self.most_of_row < MOST { error.advise("raise max_field") } else { error }).into()
    }

    /// The failure for the first field of `text` that has more than `most` bytes so far. The first
    /// byte of `text` begins a row.
    fn long_field(&self, text: &[u8]) -> Option<Failure> {
        if text.len() <= self.most {
            return None;
        }
        let (mut state, mut start) = (State::RowStart, 0);
        for (i, &byte) in text.iter().enumerate() {
            match state.take(byte, &self.dialect) {
                Event::Inside if state != State::Comment => {
                    if i - start == self.most {
                        break;
                    }
                }
                _ => start = i + 1,
            }
        }
        let is_long = text.len() - start > self.most;
        is_long.then(|| Failure::long(text, start, self.offset, self.most, &self.dialect))
    }

    /// Where the quoted field begins that is open at the end of `text`, whose first byte begins a
    /// row.
    #[cold]
    fn unclosed(&self, text: &[u8]) -> Failure {
        let mut state = State::RowStart;
        let mut opened = 0;
        for (i, &byte) in text.iter().enumerate() {
            let was_open = state.is_open() || state == State::QuoteInQuoted;
            state.take(byte, &self.dialect);
            if !was_open && state.is_open() {
                opened = i;
            }
        }
        Failure::Unclosed { at: self.offset + opened as u64, lines: count_lines(&text[..opened]) }
    }
}

/// The number of line ends of a text that ends after a line end or before a `\n`.
pub fn count_lines(text: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', text).count();
    let returns = memchr::memchr_iter(b'\r', text).filter(|&i| text.get(i + 1) != Some(&b'\n')).count();
    (feeds + returns) as u64
}

/// Where the rows of a text end.
struct Ends {
    rules: Rules,
    /// The offset after the last row, 0 if no row ends.
    last: usize,
    /// Whether a quoted field is open at the end.
    is_open: bool,
}

/// The reason why a chunk is missing.
#[derive(Debug)]
pub enum Failure {
    /// A quoted field does not end.
    Unclosed {
        /// The offset of its quote in the text.
        at: u64,
        /// Line ends between the start of the chunk and the quote.
        lines: u64,
    },
    /// A field has more bytes than allowed.
    Long {
        /// The offset of its first byte in the text.
        at: u64,
        /// Line ends between the start of the chunk and the field.
        lines: u64,
        /// The most bytes of a field.
        most: usize,
        /// Whether it begins with a quote.
        is_quoted: bool,
    },
    /// Another error.
    Error(Error),
}

impl Failure {
    /// The failure for a field that begins at byte `start` of the chunk `text`, which is at
    /// `offset`.
    pub fn long(text: &[u8], start: usize, offset: u64, most: usize, dialect: &Dialect) -> Self {
        Self::Long {
            at: offset + start as u64,
            lines: count_lines(&text[..start]),
            most,
            is_quoted: dialect.quote.is_some() && text.get(start) == dialect.quote.as_ref(),
        }
    }
}

/// The error of a text that cannot be cut. `lines` are before its chunk.
pub fn described(failure: Failure, lines: u64) -> Error {
    match failure {
        Failure::Error(error) => error,
        Failure::Unclosed { at, lines: inside } => {
            let line = lines + inside + 1;
            let message = format!("the quoted field that opens in line {line}, byte {at}, does not end");
            Error::text(message)
                .advise("pass quote=None if quotes have no meaning, or raise max_field if it is very long")
        }
        Failure::Long { at, lines: inside, most, is_quoted } => {
            let line = lines + inside + 1;
            let (what, advice) = match is_quoted {
                true => (
                    "quoted field that opens",
                    "pass quote=None if quotes have no meaning, or raise max_field if it is very long",
                ),
                false => ("field", "raise max_field"),
            };
            let message = format!("the {what} in line {line}, byte {at}, has more than {most} bytes");
            Error::text(message).advise(advice)
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Bytes;

    fn chunks(text: &[u8], chunk_len: usize, skip: usize) -> Vec<(String, u64, Rules)> {
        let mut input = Bytes::new(text);
        let mut cutter = Cutter::new(&mut input, Dialect::default(), skip, chunk_len, 1 << 20).unwrap();
        let mut chunks = Vec::new();
        while let Some(chunk) = cutter.next(Vec::new()).unwrap() {
            assert_eq!(chunk.number, chunks.len());
            chunks.push((String::from_utf8_lossy(chunk.rows()).into_owned(), chunk.offset, chunk.rules));
        }
        chunks
    }

    #[test]
    fn chunks_are_whole_rows_for_every_length() {
        let texts = [
            "a,b\n1,2\n",
            "a\r\nb\r\n\r\nc",
            "a\rb\r\rc\r",
            "\"x\ny\",1\r\n\"\"\"\",2\n",
            "a\"b\n\"c\nd\"\n",
            "\n\n",
        ];
        for text in texts {
            let ends_rows = text.ends_with(['\n', '\r']);
            for chunk_len in 1..=text.len() + 1 {
                let found = chunks(text.as_bytes(), chunk_len, 0);
                let mut at = 0;
                for (i, (rows, offset, _)) in found.iter().enumerate() {
                    assert_eq!(*offset, at);
                    assert!(!rows.starts_with('\n') || text.starts_with('\n'), "{text:?} {chunk_len}");
                    let added = !ends_rows && i + 1 == found.len() && rows.ends_with('\n');
                    at += rows.len() as u64 - u64::from(added);
                    assert!(text[..at as usize].ends_with(&rows[..rows.len() - usize::from(added)]));
                }
                assert_eq!(at, text.len() as u64, "{text:?} {chunk_len}");
            }
        }
    }

    #[test]
    fn quotes_inside_fields_are_read_byte_by_byte() {
        let found = chunks(b"a\"b,\"c\n\"d\n7\n", 100, 0);
        assert_eq!(found, [("a\"b,\"c\n\"d\n7\n".to_owned(), 0, Rules::Strict)]);
    }

    #[test]
    fn skipped_lines_may_have_quotes() {
        assert_eq!(chunks(b"say \"hi\r\n\rx\n", 4, 2), [("x\n".to_owned(), 10, Rules::Regular)]);
        assert_eq!(chunks(b"one\r", 4, 1), []);
        assert_eq!(chunks(b"one", 4, 3), []);
    }

    #[test]
    fn an_open_quote_is_found_where_it_opens() {
        let text = b"a,b\n1,\"x\"\n2,\"y\n3,z\n";
        for chunk_len in [4, 100] {
            let mut input = Bytes::new(text);
            let mut cutter = Cutter::new(&mut input, Dialect::default(), 0, chunk_len, 1 << 20).unwrap();
            let failed = loop {
                match cutter.next(Vec::new()) {
                    Ok(chunk) => assert!(chunk.is_some()),
                    Err(failed) => break failed,
                }
            };
            let Failure::Unclosed { at, .. } = failed else { panic!() };
            assert_eq!(at, 12);
        }
    }
}
