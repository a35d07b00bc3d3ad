//! Whether two sets of metadata belong to one file.

use std::fs::Metadata;

/// Compares device and inode.
#[cfg(unix)]
pub(crate) fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Compares times and length, the best possible without a handle.
#[cfg(not(unix))]
pub(crate) fn same_file(one: &Metadata, other: &Metadata) -> bool {
    let key = |m: &Metadata| (m.created().ok(), m.modified().ok(), m.len());
    key(one) == key(other)
}
