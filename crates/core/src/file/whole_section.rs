//! Reads all records of a section, in steps below the limits on metadata.

use entasis_format::{Result, SectionKind, fallible};

use super::File;

/// Bytes that are read together.
const STEP: u64 = 1 << 20;
/// The use of memory, in messages.
const RECORDS: &str = "the records of a section";

impl File {
    /// All bytes of the records of a section, also of fields that this release does not know. Empty
    /// for an absent section. For a kind with tiers these are the records of tier 0.
    ///
    /// # Errors
    /// As for reading.
    pub(crate) fn section_bytes(&self, kind: SectionKind) -> Result<Vec<u8>> {
        let (n, record_len) = (self.n_records(kind), self.record_len(kind, 0));
        let step = (STEP / u64::from(record_len.max(1))).max(1);
        let mut bytes = Vec::new();
        for from in (0..n).step_by(step as usize) {
            let some = self.whole_records(kind, 0, from..n.min(from.saturating_add(step)))?;
            fallible::extend(&mut bytes, some.into_iter(), RECORDS)?;
        }
        Ok(bytes)
    }
}
