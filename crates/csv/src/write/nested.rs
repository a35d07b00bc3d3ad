//! Strings of values that a text does not have, such as lists.

use entasis::{File, Result, Rows};

/// Makes strings of the values of nested columns.
pub trait Nested: std::fmt::Debug + Send + Sync {
    /// Appends the string of each row of a column.
    ///
    /// # Errors
    /// Errors of reading, *out of memory*.
    fn append(&self, file: &File, column: u64, rows: &Rows, to: &mut Strings) -> Result<()>;
}

/// Strings of rows, some of them missing.
#[derive(Debug)]
pub struct Strings {
    bytes: Vec<u8>,
    offsets: Vec<i64>,
    validity: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0], validity: Vec::new() }
    }
}

impl Strings {
    /// Appends a string; `None` for a missing one.
    pub fn push(&mut self, string: Option<&str>) {
        let row = self.offsets.len() - 1;
        if row.is_multiple_of(8) {
            self.validity.push(0);
        }
        if let (Some(string), Some(bits)) = (string, self.validity.last_mut()) {
            *bits |= 1 << (row % 8);
            self.bytes.extend_from_slice(string.as_bytes());
        }
        self.offsets.push(self.bytes.len() as i64);
    }

    /// The offsets of the strings.
    pub(super) fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The bytes of all strings.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One bit for each string, 0 where it is missing.
    pub(super) fn validity(&self) -> &[u8] {
        &self.validity
    }
}
