//! The form of a written text.

use entasis::{Error, Result};

use crate::values::formats::Own;

/// The form of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The byte between fields.
    pub separator: u8,
    /// The byte around quoted fields. A quote inside is doubled.
    pub quote: u8,
    /// Which fields are quoted.
    pub quoting: Quoting,
    /// The word for missing values.
    pub missing: String,
    /// The decimal mark.
    pub decimal: u8,
    /// Whether the first row has the names.
    pub has_header: bool,
    /// Whether lines end with `\r\n`, not with `\n`.
    pub has_returns: bool,
    /// Whether the text begins with a byte order mark.
    pub has_mark: bool,
    /// Whether floats have at most 15 significant digits, not as many as they need to come back.
    pub is_short: bool,
    /// Whether strings that a spreadsheet would run get an apostrophe before them.
    pub disarms: bool,
    /// Formats of dates and times by the names of columns; `None` for all columns that they fit.
    pub dates: Vec<(Option<String>, Own)>,
}

/// Which fields are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Strings that would be read as something else.
    Auto,
    /// All that are not missing, and the names.
    All,
    /// All but numbers and booleans, and the names.
    NonNumeric,
    /// None. A string that needs quotes is an error.
    Never,
}

impl Default for Format {
    /// Commas, a header, quotes where they are needed, and all digits.
    fn default() -> Self {
        Self {
            separator: b',',
            quote: b'"',
            quoting: Quoting::Auto,
            missing: String::new(),
            decimal: b'.',
            has_header: true,
            has_returns: false,
            has_mark: false,
            is_short: false,
            disarms: false,
            dates: Vec::new(),
        }
    }
}

impl Format {
    /// Refuses bytes with two meanings, and words that would be read as something else.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check(&self) -> Result<()> {
        let bytes = [(self.separator, "separator"), (self.quote, "quote"), (self.decimal, "decimal mark")];
        for (i, &(byte, what)) in bytes.iter().enumerate() {
            let is_common = byte.is_ascii_alphanumeric() || matches!(byte, b'\n' | b'\r' | b'-' | 0);
            if is_common || !byte.is_ascii() {
                return Err(Error::argument(format!("{:?} cannot be the {what}", char::from(byte))));
            }
            if let Some((_, other)) = bytes[..i].iter().find(|(other, _)| *other == byte) {
                let byte = char::from(byte);
                return Err(Error::argument(format!("{byte:?} is both the {other} and the {what}")));
            }
        }
        if !matches!(self.decimal, b'.' | b',') {
            return Err(Error::argument("the decimal mark is . or ,"));
        }
        let needs_quotes = |byte: u8| byte == self.separator || byte == self.quote || byte < b' ';
        if let Some(byte) =
            self.dates.iter().flat_map(|(_, own)| own.bytes()).find(|byte| needs_quotes(*byte))
        {
            let message =
                format!("a format of dates has {:?}, so that dates would need quotes", char::from(byte));
            return Err(Error::argument(message).advise("use another separator, or another format"));
        }
        if self.missing.bytes().any(needs_quotes) {
            return Err(Error::argument(format!(
                "the word for missing values, {:?}, would need quotes",
                self.missing
            )));
        }
        Ok(())
    }

    /// The bytes at the end of a line.
    pub fn line_end(&self) -> &'static [u8] {
        if self.has_returns { b"\r\n" } else { b"\n" }
    }
}
