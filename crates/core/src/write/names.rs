//! Collects the names of columns. In a change of a long footer, equal names stay where they are.

use entasis_format::{ColumnRecord, Result, SectionKind};

use super::waste::is_wasteful;
use crate::file::File;

/// The section *names*.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub bytes: Vec<u8>,
    old: Option<Old<'a>>,
    /// Bytes of the names that were added.
    live_len: usize,
}

/// The names of the old footer.
struct Old<'a> {
    file: &'a File,
    /// The column records, and the length of one.
    columns: Vec<u8>,
    record_len: usize,
}

impl<'a> Names<'a> {
    /// No names yet. Those of `old` stay where they are, if they are added again.
    ///
    /// # Errors
    /// As for reading.
    pub(super) fn after(old: Option<&'a File>) -> Result<Self> {
        let Some(file) = old else { return Ok(Self::default()) };
        let columns = file.section_bytes(SectionKind::Columns)?;
        let record_len = file.record_len(SectionKind::Columns, 0) as usize;
        let bytes = file.section_bytes(SectionKind::Names)?;
        Ok(Self { bytes, old: Some(Old { file, columns, record_len }), live_len: 0 })
    }

    /// Adds the names of a record of `n` columns from `number` on, in the form of the section.
    /// Returns their offset.
    pub(super) fn add(&mut self, names: &[u8], number: u64, n: u64) -> u64 {
        self.live_len += names.len();
        if let Some(at) = self.old_place(names, number, n) {
            return at;
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(names);
        at as u64
    }

    /// The offset of the old names of the same columns, if these are equal.
    fn old_place(&self, names: &[u8], number: u64, n: u64) -> Option<u64> {
        let old = self.old.as_ref()?;
        let record = old.file.record_of(number);
        if old.file.columns_of_record(record) != (number..number.checked_add(n)?) {
            return None;
        }
        let at = usize::try_from(record).ok()?.checked_mul(old.record_len)?;
        let (name_at, name_len) = ColumnRecord::name_of(old.columns.get(at..)?.first_chunk()?);
        let from = usize::try_from(name_at).ok()?;
        let old_names = self.bytes.get(from..from.checked_add(name_len as usize)?)?;
        (old_names == names).then_some(name_at)
    }

    /// Whether most bytes are of no name.
    pub(super) fn is_wasteful(&self) -> bool {
        is_wasteful(self.bytes.len(), self.live_len)
    }
}
