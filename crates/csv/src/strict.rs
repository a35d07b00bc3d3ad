//! The rules of fields and rows, byte by byte. They hold for any text.
//!
//! They are those of csv-core and of Python's `csv`: a quote opens a quoted field only as its first
//! byte. After the closing quote, other bytes continue the field, and quotes among them are plain
//! bytes.

use crate::dialect::{Blanks, Dialect};

/// The state of a scan between two bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Before the first byte of a row.
    #[default]
    RowStart,
    /// Before the first byte of a field.
    FieldStart,
    /// In a field, outside of quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// After a quote between quotes: it closes the field, or the next quote makes them one.
    QuoteInQuoted,
    /// After an escape, outside of quotes.
    EscapePlain,
    /// After an escape, between quotes.
    EscapeQuoted,
    /// In a line that is left out.
    Comment,
    /// After `\r`: a `\n` belongs to the same line end.
    AfterCr,
}

/// The role of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Part of a field, or of a line that is left out.
    Inside,
    /// A separator: a field ends before it.
    FieldEnd,
    /// A line end: a field and a row end before it.
    RowEnd,
    /// The `\n` of `\r\n`, the end of a line that is left out, or a blank before the first field.
    Nothing,
    /// A blank before another field, which begins after it.
    Gap,
    /// A line end after blanks that separate: a row ends, and no field before it.
    LineEnd,
}

impl State {
    /// Whether a new row begins here.
    pub fn is_row_start(self) -> bool {
        matches!(self, State::RowStart | State::AfterCr)
    }

    /// Whether a text that ends here has another field, which may be empty.
    pub fn has_field(self, dialect: &Dialect) -> bool {
        !(self == State::FieldStart && dialect.blanks == Blanks::Separate)
    }

    /// Whether a quoted field is open.
    pub fn is_open(self) -> bool {
        matches!(self, State::Quoted | State::EscapeQuoted)
    }

    /// Takes one byte.
    #[inline]
    pub fn take(&mut self, byte: u8, dialect: &Dialect) -> Event {
        match *self {
            State::AfterCr if byte == b'\n' => {
                *self = State::RowStart;
                return Event::Nothing;
            }
            State::RowStart | State::AfterCr if Some(byte) == dialect.comment => {
                *self = State::Comment;
                return Event::Inside;
            }
            State::RowStart | State::AfterCr if dialect.is_gap(byte) => {
                *self = State::RowStart;
                return Event::Nothing;
            }
            State::FieldStart if dialect.blanks != Blanks::Kept => {
                if dialect.is_gap(byte) {
                    return Event::Gap;
                }
                if dialect.blanks == Blanks::Separate
                    && let Some(next) = line_end(byte)
                {
                    *self = next;
                    return Event::LineEnd;
                }
                if Some(byte) == dialect.quote {
                    *self = State::Quoted;
                    return Event::Inside;
                }
            }
            State::Comment => {
                if let Some(next) = line_end(byte) {
                    *self = next;
                    return Event::Nothing;
                }
                return Event::Inside;
            }
            State::Quoted => {
                if Some(byte) == dialect.escape && dialect.escape != dialect.quote {
                    *self = State::EscapeQuoted;
                } else if Some(byte) == dialect.quote {
                    *self = State::QuoteInQuoted;
                }
                return Event::Inside;
            }
            State::EscapeQuoted => {
                *self = State::Quoted;
                return Event::Inside;
            }
            State::EscapePlain => {
                *self = State::Plain;
                return Event::Inside;
            }
            State::QuoteInQuoted if Some(byte) == dialect.quote => {
                *self = State::Quoted;
                return Event::Inside;
            }
            State::RowStart | State::AfterCr | State::FieldStart if Some(byte) == dialect.quote => {
                *self = State::Quoted;
                return Event::Inside;
            }
            _ => {}
        }
        if byte == dialect.separator || (dialect.blanks == Blanks::Separate && byte == b'\t') {
            *self = State::FieldStart;
            return Event::FieldEnd;
        }
        if let Some(next) = line_end(byte) {
            *self = next;
            return Event::RowEnd;
        }
        *self = if Some(byte) == dialect.escape { State::EscapePlain } else { State::Plain };
        Event::Inside
    }
}

/// The state after a line end; `None` for other bytes.
fn line_end(byte: u8) -> Option<State> {
    match byte {
        b'\n' => Some(State::RowStart),
        b'\r' => Some(State::AfterCr),
        _ => None,
    }
}

/// Appends the text of a field to `text`: without its quotes, doubled quotes made one, escapes
/// resolved.
pub fn unquote(field: &[u8], dialect: &Dialect, text: &mut Vec<u8>) {
    let mut state = State::FieldStart;
    for &byte in field {
        let before = state;
        match before {
            State::EscapePlain | State::EscapeQuoted => {}
            State::Quoted if Some(byte) == dialect.quote => {
                state = State::QuoteInQuoted;
                continue;
            }
            State::FieldStart if Some(byte) == dialect.quote => {
                state = State::Quoted;
                continue;
            }
            _ if Some(byte) == dialect.escape && dialect.escape != dialect.quote => {
                state = if before == State::Quoted { State::EscapeQuoted } else { State::EscapePlain };
                continue;
            }
            _ => {}
        }
        state = match before {
            State::Quoted | State::EscapeQuoted => State::Quoted,
            State::QuoteInQuoted if Some(byte) == dialect.quote => State::Quoted,
            _ => State::Plain,
        };
        text.push(byte);
    }
}

/// The rows of a text that is wholly in memory, as ranges of fields.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    text: &'a [u8],
    dialect: Dialect,
    at: usize,
    state: State,
}

impl<'a> Rows<'a> {
    /// The rows of `text`.
    pub fn new(text: &'a [u8], dialect: Dialect) -> Self {
        Self { text, dialect, at: 0, state: State::RowStart }
    }

    /// Puts the ranges of the next row's fields into `fields`, with their quotes. An empty line is
    /// a row of one empty field. Returns `false` at the end of the text.
    pub fn next(&mut self, fields: &mut Vec<std::ops::Range<usize>>) -> bool {
        fields.clear();
        let mut start = None;
        while let Some(&byte) = self.text.get(self.at) {
            let at = self.at;
            self.at += 1;
            match self.state.take(byte, &self.dialect) {
                Event::Inside if self.state == State::Comment => {}
                Event::Inside => {
                    start.get_or_insert(at);
                }
                Event::FieldEnd => {
                    fields.push(start.unwrap_or(at)..at);
                    start = Some(at + 1);
                }
                Event::RowEnd => {
                    fields.push(start.unwrap_or(at)..at);
                    return true;
                }
                Event::Nothing => start = None,
                Event::Gap => start = Some(at + 1),
                Event::LineEnd => return true,
            }
        }
        let end = self.text.len();
        if (start.is_some() || !fields.is_empty()) && self.state.has_field(&self.dialect) {
            fields.push(start.unwrap_or(end)..end);
        }
        !fields.is_empty()
    }

    /// The offset after the rows so far.
    pub fn at(&self) -> usize {
        // The `\n` of `\r\n` belongs to the row before it.
        self.at + usize::from(self.state == State::AfterCr && self.text.get(self.at) == Some(&b'\n'))
    }

    /// Whether the text ended inside quotes.
    pub fn is_open(&self) -> bool {
        self.at == self.text.len() && self.state.is_open()
    }
}
