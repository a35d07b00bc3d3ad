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
}

impl Default for Dialect {
    /// Commas and double quotes.
    fn default() -> Self {
        Self { separator: b',', quote: Some(b'"'), escape: None, comment: None }
    }
}
