//! What a reader is willing to spend on a file that it does not trust.

/// Limits on what the numbers of a file may ask for. A file that needs more gives an error of kind
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
