//! Block records (`docs/format/columns.md`).

use crate::bytes::{Reader, put};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::limits::{
    DIRECTORY_HEAD_LEN, MAX_BLOCK_LEN, MAX_BLOCK_VALUES, MAX_PARAMETERS_LEN, PAGE_ENTRY_LEN, Room,
};

/// A block: consecutive values of a column, and where they are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockRecord {
    /// The number of its first value in the column.
    pub first_value: u64,
    /// The number of values.
    pub n_values: u32,
    /// How they are encoded.
    pub encoding: Encoding,
    /// The offset of the directory.
    pub directory_at: u64,
    /// The offset of the dictionary and the pages.
    pub pages_at: u64,
    /// Bytes of the directory.
    pub directory_len: u32,
    /// Bytes of the dictionary and the pages.
    pub pages_len: u32,
    /// Bytes of the decoded values.
    pub decoded_len: u64,
    /// Checksum of the directory.
    pub directory_checksum: u64,
    /// The child offset: where its values begin in the child of a list, map or run-end column;
    /// otherwise 0.
    pub first_child: u64,
}

impl BlockRecord {
    /// Bytes of the record.
    pub const LEN: usize = 64;

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.first_value, self.n_values);
        out.extend_from_slice(&self.encoding.codes());
        put!(out, self.directory_at, self.pages_at, self.directory_len, self.pages_len);
        put!(out, self.decoded_len, self.directory_checksum, self.first_child);
    }

    /// Parses the record in exactly these bytes. An unknown encoding is an error of kind
    /// *unsupported*.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a block record")?;
        let (first_value, n_values, codes) = (reader.u64()?, reader.u32()?, reader.array::<4>()?);
        let (directory_at, pages_at) = (reader.u64()?, reader.u64()?);
        let (directory_len, pages_len) = (reader.u32()?, reader.u32()?);
        let (decoded_len, directory_checksum, first_child) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let encoding = Encoding::from_codes(codes)?;
        let record = Self {
            first_value,
            n_values,
            encoding,
            directory_at,
            pages_at,
            directory_len,
            pages_len,
            decoded_len,
            directory_checksum,
            first_child,
        };
        match record.problem() {
            None => Ok(record),
            Some(problem) => Err(Error::corrupt(problem)),
        }
    }

    /// The number of the first value after the block.
    #[inline]
    pub const fn end_value(&self) -> u64 {
        self.first_value.saturating_add(self.n_values as u64)
    }

    /// Checks that directory and pages are in the room of the file.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check_in_room(&self, room: Room) -> Result<()> {
        if !room.has(self.directory_at, self.directory_len.into()) {
            return Err(
                Error::corrupt("the directory of a block is outside of the file").at(self.directory_at)
            );
        }
        if !room.has(self.pages_at, self.pages_len.into()) {
            return Err(Error::corrupt("the pages of a block are outside of the file").at(self.pages_at));
        }
        Ok(())
    }

    #[inline]
    fn problem(&self) -> Option<&'static str> {
        if self.n_values == 0 || self.n_values > MAX_BLOCK_VALUES {
            return Some("the number of values of a block is impossible");
        }
        if self.decoded_len > MAX_BLOCK_LEN && self.n_values != 1 {
            return Some("a block is too long");
        }
        // Every page has a value, so there are no more pages than values.
        let longest = PAGE_ENTRY_LEN.saturating_mul(self.n_values).saturating_add(MAX_PARAMETERS_LEN);
        let len = self.directory_len.checked_sub(DIRECTORY_HEAD_LEN);
        if len.is_none_or(|len| len > longest) {
            return Some("the length of a directory is impossible");
        }
        let sums = [
            self.first_value.checked_add(self.n_values.into()),
            self.directory_at.checked_add(self.directory_len.into()),
            self.pages_at.checked_add(self.pages_len.into()),
        ];
        if sums.contains(&None) {
            return Some("a number in a block record is too large");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::{Codec, Filter, Packing, Transform};
    use crate::testing::exact;

    const GOOD: BlockRecord = BlockRecord {
        first_value: 65_536,
        n_values: 10,
        encoding: Encoding::new(Packing::Delta),
        directory_at: 256,
        pages_at: 320,
        directory_len: 64,
        pages_len: 80,
        decoded_len: 80,
        directory_checksum: 3,
        first_child: 0,
    };

    #[test]
    fn impossible_numbers() {
        let ok = |record: BlockRecord| {
            let mut out = Vec::new();
            record.emit(&mut out);
            BlockRecord::parse(&out).is_ok()
        };
        assert!(ok(GOOD));
        assert!(!ok(BlockRecord { n_values: 0, ..GOOD }));
        assert!(!ok(BlockRecord { n_values: 65_537, ..GOOD }));
        assert!(!ok(BlockRecord { decoded_len: MAX_BLOCK_LEN + 1, ..GOOD }));
        assert!(ok(BlockRecord { decoded_len: MAX_BLOCK_LEN + 1, n_values: 1, ..GOOD }));
        assert!(!ok(BlockRecord { directory_len: 39, ..GOOD }));
        assert!(ok(BlockRecord { directory_len: 63, ..GOOD }));
        assert!(ok(BlockRecord { directory_len: 40 + 24 * 10 + 65_536, ..GOOD }));
        assert!(!ok(BlockRecord { directory_len: 40 + 24 * 10 + 65_537, ..GOOD }));
        assert!(!ok(BlockRecord { first_value: u64::MAX - 9, ..GOOD }));
        assert!(!ok(BlockRecord { directory_at: u64::MAX, ..GOOD }));
        assert!(!ok(BlockRecord { pages_at: u64::MAX, ..GOOD }));
        assert_eq!(GOOD.end_value(), 65_546);
    }

    #[test]
    fn blocks_lie_in_the_room() {
        let room = |start, end| Room { start, end };
        assert!(GOOD.check_in_room(room(256, 400)).is_ok());
        assert!(GOOD.check_in_room(room(256, 399)).is_err());
        assert!(GOOD.check_in_room(room(257, 400)).is_err());
        assert!(BlockRecord { pages_at: u64::MAX, ..GOOD }.check_in_room(room(256, u64::MAX)).is_err());
    }

    proptest! {
        #[test]
        fn records_are_exact(first_value in 0u64..1 << 60, n_values in 1u32..=65_536, codes in (0usize..6, 0usize..3, 0usize..3, 0usize..2),
                             directory_at in 0u64..1 << 60, pages_at in 0u64..1 << 60, pages in 0u32..1000,
                             pages_len: u32, decoded_len in 0..=MAX_BLOCK_LEN, directory_checksum: u64, first_child: u64) {
            let encoding = Encoding {
                packing: Packing::ALL[codes.0],
                transform: Transform::ALL[codes.1],
                codec: Codec::ALL[codes.2],
                filter: Filter::ALL[codes.3],
            };
            let directory_len = 40 + 24 * pages.min(n_values);
            let record = BlockRecord {
                first_value, n_values, encoding, directory_at, pages_at, directory_len, pages_len, decoded_len, directory_checksum,
                first_child,
            };
            exact(&record, BlockRecord::emit, BlockRecord::parse);
        }
    }
}
