//! How a text separates, quotes and ends its fields.

/// The dialect of a text.
///
/// A row ends at `\n`, `\r\n` or a lone `\r`, in any mixture, except inside quotes.
///
/// ```
/// use entasis_csv::Dialect;
///
/// let semicolons = Dialect { separator: b';', ..Dialect::default() };
/// assert_eq!(semicolons.quote, Some(b'"'));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between two fields, in ASCII.
    pub separator: u8,
    /// The byte around fields that may hold separators and line ends. `None`: no field is quoted.
    /// Inside quotes, a doubled quote stands for one.
    pub quote: Option<u8>,
    /// The byte that takes the meaning from the byte after it.
    pub escape: Option<u8>,
    /// A line that begins with this byte, outside of quotes, is left out.
    pub comment: Option<u8>,
    /// The meaning of blanks before fields.
    pub blanks: Blanks,
}

/// The meaning of blanks before fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blanks {
    /// They are part of the fields.
    #[default]
    Kept,
    /// They are left out, so that a quote after them opens a quoted field.
    Skipped,
    /// Blanks and tabs between two fields are one separator, and those at the ends of a row none.
    Separate,
}

impl Dialect {
    /// The separator and the meaning of blanks of a text: one character of ASCII, one and a blank
    /// for [`Blanks::Skipped`], or `blanks` for [`Blanks::Separate`].
    ///
    /// ```
    /// use entasis_csv::{Blanks, Dialect};
    ///
    /// assert_eq!(Dialect::parse_separator(", "), Some((b',', Blanks::Skipped)));
    /// assert_eq!(Dialect::parse_separator("::"), None);
    /// ```
    pub fn parse_separator(text: &str) -> Option<(u8, Blanks)> {
        match *text.as_bytes() {
            [byte] if byte.is_ascii() => Some((byte, Blanks::Kept)),
            [byte, b' '] if byte.is_ascii() && byte != b' ' => Some((byte, Blanks::Skipped)),
            _ if text == "blanks" => Some((b' ', Blanks::Separate)),
            _ => None,
        }
    }

    /// The text of the separator, as [`Dialect::parse_separator`] takes it.
    pub fn separator_text(&self) -> String {
        match self.blanks {
            Blanks::Kept => char::from(self.separator).to_string(),
            Blanks::Skipped => format!("{} ", char::from(self.separator)),
            Blanks::Separate => "blanks".to_owned(),
        }
    }

    /// Whether a byte before a field is left out.
    #[inline]
    pub(crate) fn is_gap(&self, byte: u8) -> bool {
        match self.blanks {
            Blanks::Kept => false,
            Blanks::Skipped => byte == b' ',
            Blanks::Separate => matches!(byte, b' ' | b'\t'),
        }
    }
}

impl Default for Dialect {
    /// Commas and double quotes.
    fn default() -> Self {
        Self { separator: b',', quote: Some(b'"'), escape: None, comment: None, blanks: Blanks::Kept }
    }
}
