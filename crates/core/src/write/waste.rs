//! Limits the bytes that changes leave in a section without a record that names them.

/// Sections may always have this many dead bytes.
const SLACK: usize = 64 << 10;

/// Whether more than half of a section's bytes are dead. It is then stored anew.
pub(super) fn is_wasteful(len: usize, live: usize) -> bool {
    len > live.saturating_mul(2).saturating_add(SLACK)
}
