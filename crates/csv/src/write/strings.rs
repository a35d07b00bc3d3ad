//! Strings and their quotes.

use super::format::{Format, Quoting};
use crate::convert::kind;
use crate::types::Type;
use crate::values::PADDING;

/// The string has a byte with a meaning.
const SPECIAL: u8 = 1;
/// A string that begins with the byte may be read as another type.
const FIRST: u8 = 2;
/// Numbers, dates and words of at most so many bytes are looked at without new memory.
const SHORT: usize = 64;

/// Appends strings.
#[derive(Clone, Debug)]
pub struct Strings {
    marks: [u8; 256],
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
        for byte in [format.separator, format.quote, b'\n', b'\r'] {
            marks[usize::from(byte)] |= SPECIAL;
        }
        for byte in *b"0123456789+-.,tTfFnNiI" {
            marks[usize::from(byte)] |= FIRST;
        }
        Self {
            marks,
            quote: format.quote,
            quoting: format.quoting,
            missing: format.missing.clone().into_bytes(),
            has_commas: format.separator != b',',
            disarms: format.disarms,
        }
    }

    /// Appends a string. `is_first`: whether it is the first field of its row.
    ///
    /// # Errors
    /// If it needs quotes and has to go without. Nothing is appended then.
    pub fn append(&self, text: &[u8], is_first: bool, out: &mut Vec<u8>) -> Result<(), NeedsQuotes> {
        let is_formula =
            self.disarms && matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
        let is_quoted = match self.quoting {
            Quoting::All | Quoting::NonNumeric => true,
            Quoting::Auto => self.needs_quotes(text, is_first),
            Quoting::Never if self.has_special(text) => return Err(NeedsQuotes),
            Quoting::Never => false,
        };
        if !is_quoted {
            if is_formula {
                out.push(b'\'');
            }
            out.extend_from_slice(text);
            return Ok(());
        }
        out.push(self.quote);
        if is_formula {
            out.push(b'\'');
        }
        let mut rest = text;
        while let Some(at) = memchr::memchr(self.quote, rest) {
            out.extend_from_slice(&rest[..=at]);
            out.push(self.quote);
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
        out.push(self.quote);
        Ok(())
    }

    #[inline(always)]
    fn has_special(&self, text: &[u8]) -> bool {
        text.iter().fold(0, |marks, &byte| marks | self.marks[usize::from(byte)]) & SPECIAL != 0
    }

    #[inline(always)]
    fn needs_quotes(&self, text: &[u8], is_first: bool) -> bool {
        let (Some(&first), Some(&last)) = (text.first(), text.last()) else { return true };
        let is_blank = |byte| matches!(byte, b' ' | b'\t' | 0x1a);
        self.has_special(text)
            || is_blank(first)
            || is_blank(last)
            || text == self.missing
            || (self.marks[usize::from(first)] & FIRST != 0 && self.is_other(text))
            || (is_first && matches!(first, b'#' | b'%' | 0xef))
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
    use super::*;

    fn written(text: &str, format: &Format) -> Option<String> {
        let mut out = Vec::new();
        Strings::new(format).append(text.as_bytes(), true, &mut out).ok()?;
        Some(String::from_utf8(out).unwrap())
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
}
