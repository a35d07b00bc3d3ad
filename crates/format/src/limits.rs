//! The lengths and bounds of the format, and the limits of a reader that does not trust a file.

/// Bytes of the header.
pub const HEADER_LEN: usize = 256;
/// Bytes of a slot.
pub const SLOT_LEN: usize = 64;
/// Bytes of the trailer.
pub const TRAILER_LEN: usize = 64;
/// The longest root, in bytes.
pub const MAX_ROOT_LEN: usize = 4096;
/// Bytes of a root before its section records.
pub(crate) const ROOT_HEAD_LEN: usize = 64;
/// Bytes of a section record.
pub(crate) const SECTION_LEN: usize = 48;
/// Bytes of a directory before its page entries.
pub const DIRECTORY_HEAD_LEN: u32 = 40;
/// Bytes of a page entry.
pub const PAGE_ENTRY_LEN: u32 = 24;

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
/// Most depth of a value; one that holds no other has depth 1.
pub const MAX_DEPTH: u32 = 64;

/// Whether a root can have this length.
pub(crate) fn is_root_len(len: u32) -> bool {
    usize::try_from(len).is_ok_and(|len| {
        len <= MAX_ROOT_LEN
            && len.checked_sub(ROOT_HEAD_LEN).is_some_and(|records| records % SECTION_LEN == 0)
    })
}

/// The most that the numbers of a file may ask for. A file that needs more gives an error of kind
/// [`Limit`](crate::Kind::Limit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one read of records of a section.
    pub metadata_len: u64,
    /// Columns of one file.
    pub n_columns: u64,
    /// Depth of a value tree (the format's own bound is 64).
    pub depth: u32,
    /// Bytes of a column's name.
    pub name_len: u32,
    /// Bytes of a page or a dictionary before the codec.
    pub page_payload_len: u32,
    /// Nodes of one value.
    pub n_nodes: u64,
    /// Bytes of all strings and bytes of one value together.
    pub value_len: u64,
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
        }
    }
}
