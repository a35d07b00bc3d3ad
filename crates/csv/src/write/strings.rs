//! Strings and their quotes.

use super::cells::Cells;
use super::format::{Format, Quoting};
use crate::convert::kind;
use crate::types::Type;
use crate::values::PADDING;

/// A string that begins with the byte may be read as another type.
const FIRST: u8 = 1;
/// The byte may occur in a value of another type that begins with a digit, a point or a comma.
const LATER: u8 = 2;
/// Numbers, dates and words of at most so many bytes are looked at without new memory.
const SHORT: usize = 64;
/// The longest word of another type, such as `Infinity`.
const WORD: usize = 8;

/// Appends strings.
#[derive(Clone, Debug)]
pub struct Strings {
    marks: [u8; 256],
    separator: u8,
    quote: u8,
    quoting: Quoting,
    missing: Vec<u8>,
    /// Whether a number may have a decimal comma, for a reader that guesses.
    has_commas: bool,
    disarms: bool,
}

/// A string that needs quotes, and has to go without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsQuotes;

impl Strings {
    /// Strings for a format.
    pub fn new(format: &Format) -> Self {
        let mut marks = [0; 256];
        for byte in *b"0123456789+-.,tTfFnNiI" {
            marks[usize::from(byte)] |= FIRST;
        }
        for byte in *b"0123456789+-.,:eEtTzZ /" {
            marks[usize::from(byte)] |= LATER;
        }
        Self {
            marks,
            separator: format.separator,
            quote: format.quote,
            quoting: format.quoting,
            missing: format.missing.clone().into_bytes(),
            has_commas: format.separator != b',',
            disarms: format.disarms,
        }
    }

    /// The most bytes that `n` strings with these bytes take together, without endings.
    /// `has_special`: whether a byte has a meaning.
    pub fn most(&self, bytes: &[u8], n: usize, has_special: bool) -> usize {
        let n_quotes = if has_special { memchr::memchr_iter(self.quote, bytes).count() } else { 0 };
        bytes.len() + n_quotes + (3 + self.missing.len()) * n
    }

    /// Adds the string `from[start..end]` to the field at hand. `is_first`: whether it is the first
    /// field of its row. `has_special`: whether `from` has a byte with a meaning.
    ///
    /// # Errors
    /// If it needs quotes and has to go without. Nothing is added then.
    #[inline(always)]
    pub fn append(
        &self,
        from: &[u8],
        (start, end): (usize, usize),
        (is_first, has_special): (bool, bool),
        cells: &mut Cells,
    ) -> Result<(), NeedsQuotes> {
        let text = &from[start..end];
        let is_quoted = match self.quoting {
            Quoting::All | Quoting::NonNumeric => true,
            Quoting::Auto => self.needs_quotes(text, is_first, has_special),
            Quoting::Never if has_special && self.has_special(text) => return Err(NeedsQuotes),
            Quoting::Never => false,
        };
        if self.disarms || (is_quoted && memchr::memchr(self.quote, text).is_some()) {
            self.changed(text, is_quoted, cells);
        } else if is_quoted {
            cells.push(&[self.quote]);
            cells.push_part(from, start, end);
            cells.push(&[self.quote]);
        } else {
            cells.push_part(from, start, end);
        }
        Ok(())
    }

    /// Adds a string with doubled quotes, or with an apostrophe.
    fn changed(&self, text: &[u8], is_quoted: bool, cells: &mut Cells) {
        if is_quoted {
            cells.push(&[self.quote]);
        }
        if self.disarms && matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) {
            cells.push(b"'");
        }
        let mut rest = text;
        while let Some(at) = memchr::memchr(self.quote, rest).filter(|_| is_quoted) {
            cells.push(&rest[..=at]);
            cells.push(&[self.quote]);
            rest = &rest[at + 1..];
        }
        cells.push(rest);
        if is_quoted {
            cells.push(&[self.quote]);
        }
    }

    /// Whether some byte has a meaning: a separator, a quote, or a part of a line end.
    #[inline(always)]
    pub fn has_special(&self, text: &[u8]) -> bool {
        let is_special =
            |byte: u8| (byte == self.separator) | (byte == self.quote) | (byte == b'\n') | (byte == b'\r');
        let (chunks, rest) = text.as_chunks::<32>();
        let any = |chunk: &[u8; 32]| chunk.iter().fold(false, |found, &byte| found | is_special(byte));
        chunks.iter().any(any) || rest.iter().fold(false, |found, &byte| found | is_special(byte))
    }

    #[inline(always)]
    fn needs_quotes(&self, text: &[u8], is_first: bool, has_special: bool) -> bool {
        let (Some(&first), Some(&last)) = (text.first(), text.last()) else { return true };
        let is_blank = |byte| matches!(byte, b' ' | b'\t' | 0x1a);
        (has_special && self.has_special(text))
            || is_blank(first)
            || is_blank(last)
            || (text.len() == self.missing.len() && text == self.missing)
            || (self.marks[usize::from(first)] & FIRST != 0 && self.may_be_other(text) && self.is_other(text))
            || (is_first && matches!(first, b'#' | b'%' | 0xef))
    }

    /// Whether a string whose first byte says so may be a value of another type: a look at its
    /// other bytes, which most names, codes and comments fail.
    #[inline(always)]
    fn may_be_other(&self, text: &[u8]) -> bool {
        match text[0] {
            b'+' | b'-' => true,
            first if first.is_ascii_alphabetic() => (2..=WORD).contains(&text.len()),
            _ => text.iter().fold(LATER, |marks, &byte| marks & self.marks[usize::from(byte)]) != 0,
        }
    }

    /// Whether a string without quotes is a value of another type.
    #[inline(never)]
    fn is_other(&self, text: &[u8]) -> bool {
        if crate::read::MISSING.iter().any(|word| word.as_bytes() == text) {
            return true;
        }
        let is_other = |padded: &[u8]| {
            let kind = |decimal| kind(padded, 0, text.len(), decimal) != Type::Text;
            kind(b'.') || (self.has_commas && kind(b','))
        };
        let mut short = [0; SHORT + PADDING];
        if let Some(start) = short.get_mut(..text.len()).filter(|_| text.len() <= SHORT) {
            start.copy_from_slice(text);
            return is_other(&short);
        }
        let mut padded = text.to_vec();
        padded.resize(text.len() + PADDING, 0);
        is_other(&padded)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cells::Ending;
    use super::*;

    fn written(text: &str, format: &Format) -> Option<String> {
        let (mut cells, ending) = (Cells::default(), Ending::separator(b'|'));
        let strings = Strings::new(format);
        let has_special = strings.has_special(text.as_bytes());
        cells.clear(strings.most(text.as_bytes(), 1, has_special) + 1);
        strings.append(text.as_bytes(), (0, text.len()), (true, has_special), &mut cells).ok()?;
        cells.end(ending);
        Some(String::from_utf8(cells.field(0, ending).to_vec()).unwrap())
    }

    #[test]
    fn only_strings_that_need_quotes_get_some() {
        let auto = Format::default();
        for text in ["x", "abc def", "007", "+1", "é", "a#", "2020-13-01"] {
            assert_eq!(written(text, &auto).as_deref(), Some(text));
        }
        for text in [
            "",
            "1",
            "-2.5",
            "1e5",
            "true",
            "NA",
            "null",
            "2020-01-01",
            "inf",
            " x",
            "x ",
            "#x",
            "a,b",
            "a\nb",
            "a\rb",
        ] {
            assert_eq!(written(text, &auto), Some(format!("\"{text}\"")));
        }
        assert_eq!(written("a\"b", &auto).as_deref(), Some("\"a\"\"b\""));
        let semicolons = Format { separator: b';', ..Format::default() };
        assert_eq!(written("1,5", &semicolons).as_deref(), Some("\"1,5\""));
        assert_eq!(written("a,b", &semicolons).as_deref(), Some("a,b"));
        let missing = Format { missing: "-".to_owned(), ..Format::default() };
        assert_eq!(written("-", &missing).as_deref(), Some("\"-\""));
    }

    #[test]
    fn quotes_on_request() {
        let all = Format { quoting: Quoting::All, ..Format::default() };
        assert_eq!(written("x", &all).as_deref(), Some("\"x\""));
        let never = Format { quoting: Quoting::Never, ..Format::default() };
        assert_eq!(written("1", &never).as_deref(), Some("1"));
        assert_eq!(written("a,b", &never), None);
    }

    #[test]
    fn formulas_are_disarmed() {
        let format = Format { disarms: true, ..Format::default() };
        assert_eq!(written("=A1", &format).as_deref(), Some("'=A1"));
        assert_eq!(written("=A1,B1", &format).as_deref(), Some("\"'=A1,B1\""));
        assert_eq!(written("a=1", &format).as_deref(), Some("a=1"));
    }

    proptest! {
        #[test]
        fn the_first_look_leaves_out_no_value(
            text in "[0-9.,+-]{1,3}[0-9a-zA-Z:+ ./-]{0,24}|[0-9TZ:. +-]{1,30}|[-+]?[a-zA-Z/]{1,9}",
            separator in prop::sample::select(&[b',', b';'][..]),
        ) {
            let strings = Strings::new(&Format { separator, ..Format::default() });
            let is_first = strings.marks[usize::from(text.as_bytes()[0])] & FIRST != 0;
            if strings.is_other(text.as_bytes()) {
                prop_assert!(is_first && strings.may_be_other(text.as_bytes()));
            }
        }
    }
}
