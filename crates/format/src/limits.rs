//! The lengths and bounds of the format, and the limits of a reader that does not trust a file.

use crate::error::{Error, Result};

/// Bytes of the header.
pub const HEADER_LEN: usize = 256;
/// Bytes of a slot.
pub const SLOT_LEN: usize = 64;
/// The places of slots A and B, which changes in place write.
pub const SLOT_OFFSETS: [u64; 2] = [4_096, 8_192];
/// Where the room of a file with slot pages begins.
pub const SLOT_PAGES_END: u64 = 12_288;
/// Where the room of a sealed file begins, after its key pages.
pub const KEY_PAGES_END: u64 = 20_480;
/// The most tiers of a file.
pub const MAX_TIERS: u16 = 24;
/// Bytes of the trailer.
pub const TRAILER_LEN: usize = 64;
/// The longest root, in bytes. With the trailer it fits into the last 64 KiB of a file.
pub const MAX_ROOT_LEN: usize = 65_472;
/// Bytes of a root before its section records.
pub(crate) const ROOT_HEAD_LEN: usize = 160;
/// Bytes of a section record.
pub(crate) const SECTION_LEN: usize = 48;
/// Bytes of a directory before its page entries.
pub const DIRECTORY_HEAD_LEN: u32 = 40;
/// Bytes of a page entry.
pub const PAGE_ENTRY_LEN: u32 = 24;
/// The most bytes after the page entries of a directory.
pub const MAX_PARAMETERS_LEN: u32 = 65_536;

/// Values of a vector.
pub const VECTOR_VALUES: u32 = 1_024;
/// Most values of a page.
pub const MAX_PAGE_VALUES: u32 = 8_192;
/// Most decoded bytes of a page that has more than one value.
pub const MAX_PAGE_LEN: u32 = 256 << 10;
/// Most values of a block.
pub const MAX_BLOCK_VALUES: u32 = 65_536;
/// Most decoded bytes of a block that has more than one value.
pub const MAX_BLOCK_LEN: u64 = 16 << 20;
/// Most entries of a block's dictionary.
pub const MAX_DICTIONARY: u32 = 65_536;
/// Tables with fewer rows bundle their columns of equal type.
pub const BUNDLE_ROWS: u64 = 8_192;
/// The most pieces of a table.
pub const MAX_PIECES: u32 = 64;
/// The fewest bytes of a file for each of its columns.
pub const MIN_COLUMN_LEN: u64 = 4;
/// Greatest depth of a value. A value without children has depth 1.
pub const MAX_DEPTH: u32 = 64;

/// The part of a file for segments and footers: all but header and slot pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its first byte.
    pub start: u64,
    /// The length of the file in this generation.
    pub end: u64,
}

impl Room {
    /// Whether these bytes lie in the room.
    #[inline]
    pub const fn has(&self, at: u64, len: u64) -> bool {
        at >= self.start
            && match at.checked_add(len) {
                Some(end) => end <= self.end,
                None => false,
            }
    }
}

/// Whether a root can have this length.
pub(crate) fn is_root_len(len: u32) -> bool {
    usize::try_from(len).is_ok_and(|len| {
        len <= MAX_ROOT_LEN
            && len.checked_sub(ROOT_HEAD_LEN).is_some_and(|records| records % SECTION_LEN == 0)
    })
}

/// The shortest decoded values that a file of any length may ask for, unless
/// [`Limits::decoded_len`] is set: 4 GiB.
pub const MIN_DECODED_LEN: u64 = 4 << 30;
/// How many bytes of decoded values each byte of a file may ask for, unless
/// [`Limits::decoded_len`] is set.
pub const MAX_EXPANSION: u64 = 1_000;

/// The most that the numbers of a file may ask for. A file that asks for more gives an error of
/// kind [`Limit`](crate::Kind::Limit), whose message names the limit.
///
/// ```
/// use entasis_format::Limits;
///
/// let mut limits = Limits::default();
/// limits.metadata_len = 256 << 20;
/// limits.set("n_columns", 1_000)?;
/// # Ok::<(), entasis_format::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one read of records of a section. 64 MiB by default.
    pub metadata_len: u64,
    /// Columns of one file. 10,000,000 by default.
    pub n_columns: u64,
    /// Depth of a value tree. 64 by default, which is the format's own bound.
    pub depth: u64,
    /// Bytes of a column's name. 64 KiB by default.
    pub name_len: u64,
    /// Bytes of a page or a dictionary after its codec is undone. 1 GiB by default.
    pub page_payload_len: u64,
    /// Nodes of one value. 10,000,000 by default.
    pub n_nodes: u64,
    /// Bytes of all strings and binary values in one value together. 1 GiB by default.
    pub value_len: u64,
    /// Bytes of the values that one read decodes. The default, none, is 4 GiB or 1,000 times the
    /// length of the file, whichever is more: see [`decoded_len_of`](Self::decoded_len_of).
    pub decoded_len: Option<u64>,
    /// Bytes of memory, times passes, for deriving a key from a password. 1 GiB by default.
    pub derivation_len: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            metadata_len: 64 << 20,
            n_columns: 10_000_000,
            depth: 64,
            name_len: 64 << 10,
            page_payload_len: 1 << 30,
            n_nodes: 10_000_000,
            value_len: 1 << 30,
            decoded_len: None,
            derivation_len: 1 << 30,
        }
    }
}

impl Limits {
    /// The names of the limits, which are the same in all languages.
    pub const NAMES: [&str; 9] = [
        "metadata_len",
        "n_columns",
        "depth",
        "name_len",
        "page_payload_len",
        "n_nodes",
        "value_len",
        "decoded_len",
        "derivation_len",
    ];

    /// Sets a limit by its name.
    ///
    /// # Errors
    /// *Argument* for an unknown name. The message lists all names.
    pub fn set(&mut self, name: &str, value: u64) -> Result<()> {
        let field = match name {
            "metadata_len" => &mut self.metadata_len,
            "n_columns" => &mut self.n_columns,
            "depth" => &mut self.depth,
            "name_len" => &mut self.name_len,
            "page_payload_len" => &mut self.page_payload_len,
            "n_nodes" => &mut self.n_nodes,
            "value_len" => &mut self.value_len,
            "decoded_len" => self.decoded_len.insert(value),
            "derivation_len" => &mut self.derivation_len,
            _ => {
                let names = Self::NAMES.join(", ");
                return Err(Error::argument(format!("there is no limit '{name}', only {names}")));
            }
        };
        *field = value;
        Ok(())
    }

    /// Bytes of the values that one read of a file of this length decodes at most.
    pub fn decoded_len_of(&self, file_len: u64) -> u64 {
        self.decoded_len.unwrap_or_else(|| file_len.saturating_mul(MAX_EXPANSION).max(MIN_DECODED_LEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn every_limit_is_set_by_its_name() {
        for name in Limits::NAMES {
            let mut limits = Limits::default();
            limits.set(name, 99).unwrap();
            let shown = format!("{limits:?}");
            assert!(
                shown.contains(&format!("{name}: 99")) || shown.contains(&format!("{name}: Some(99)")),
                "{shown}"
            );
            assert_eq!(shown.matches("99").count(), 1, "{shown}");
        }
        let mut limits = Limits::default();
        let error = limits.set("metadata", 7).unwrap_err();
        assert_eq!((error.kind(), limits), (Kind::Argument, Limits::default()));
        assert!(Limits::NAMES.iter().all(|name| error.message().contains(name)), "{error}");
    }

    #[test]
    fn longer_files_decode_to_more() {
        let mut limits = Limits::default();
        assert_eq!(limits.decoded_len_of(0), 4 << 30);
        assert_eq!(limits.decoded_len_of(10_000_000), 10_000_000_000);
        assert_eq!(limits.decoded_len_of(u64::MAX), u64::MAX);
        limits.decoded_len = Some(100);
        assert_eq!(limits.decoded_len_of(10_000_000), 100);
    }
}
