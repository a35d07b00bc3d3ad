//! Sections: arrays of records in a tree of parts.

use std::ops::Range;

use super::bytes::{Kind, Room, Wrong, checksum, is_zero, known, rule, u16_at, u32_at, u64_at, wrong};
use super::header::Version;
use super::payload::{restored, unshuffle};

/// The kinds of section.
#[allow(missing_docs, reason = "the names say it")]
pub mod kind {
    pub const TABLES: u16 = 1;
    pub const COLUMNS: u16 = 2;
    pub const NAMES: u16 = 3;
    pub const NAME_INDEX: u16 = 4;
    pub const RANGES: u16 = 5;
    pub const BLOCKS: u16 = 6;
    pub const STATISTICS: u16 = 7;
    pub const NODES: u16 = 8;
    pub const VALUE_HEAP: u16 = 9;
    pub const RUNS: u16 = 10;
    pub const PIECES: u16 = 11;
    pub const COLUMN_RANGES: u16 = 12;
}

/// The record lengths of kinds 1 to 12.
pub const RECORD_LEN: [u32; 12] = [96, 120, 1, 16, 24, 64, 48, 32, 1, 8, 8, 16];
/// The lengths of a table and of a column record in files of 0.2.
pub const OLD_LEN: [u32; 2] = [64, 104];
/// The most tiers of a file.
pub const TIERS: u16 = 24;

/// The largest part, in bytes.
const PART: u64 = 65_536;
/// The most entries of an index part.
const FAN: u64 = 2_730;

/// The records of a section as bytes, and the ranges of its parts: offset and length.
pub type Records = (Vec<u8>, Vec<(u64, u64)>);

/// A section record.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The kind.
    pub kind: u16,
    /// The tier.
    pub tier: u16,
    /// Bytes of a record.
    pub record_len: u32,
    /// The number of records.
    pub n_records: u64,
    part_at: u64,
    part_len: u32,
    /// The levels above the leaves.
    pub height: u8,
    /// Whether parts may be short.
    pub is_counted: bool,
    checksum: u64,
    codec: u8,
    filter: u8,
    stored_len: u32,
}

/// Offset, length, stored length and checksum of a part, as its parent records them.
type Entry = (u64, u32, u32, u64);

impl Section {
    /// Parses a section record.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse(bytes: &[u8], version: Version) -> Result<Self, Wrong> {
        let section = Self {
            kind: u16_at(bytes, 0),
            tier: u16_at(bytes, 2),
            record_len: u32_at(bytes, 4),
            n_records: u64_at(bytes, 8),
            part_at: u64_at(bytes, 16),
            part_len: u32_at(bytes, 24),
            height: bytes[28],
            is_counted: bytes[31] & 8 != 0,
            checksum: u64_at(bytes, 32),
            codec: bytes[29],
            filter: bytes[30],
            stored_len: u32_at(bytes, 40),
        };
        let flags = bytes[31];
        known(flags <= if version == (0, 2) { 0 } else { 15 }, "flags of a section")?;
        known(is_zero(&bytes[44..48]), "reserved bytes of a section")?;
        if section.is_known() {
            section.check_codes()?;
            section.check(version)?;
        } else if flags & 1 != 0 {
            return wrong(Kind::Newer, "a section that readers must know");
        }
        Ok(section)
    }

    /// Whether leaves may be compressed.
    pub fn is_compressed(&self) -> bool {
        self.codec == 1
    }

    /// Whether compressed leaves are shuffled.
    pub fn is_shuffled(&self) -> bool {
        self.filter == 1
    }

    /// Whether the format defines the kind.
    pub fn is_known(&self) -> bool {
        (1..=12).contains(&self.kind)
    }

    /// Bytes of all records if the kind is known and leaves may be compressed; else 0.
    pub fn compressed_len(&self) -> u128 {
        if self.is_known() && self.is_compressed() {
            u128::from(self.n_records) * u128::from(self.record_len)
        } else {
            0
        }
    }

    fn check_codes(&self) -> Result<(), Wrong> {
        if self.codec > 1 || self.filter > 1 {
            return wrong(Kind::Unsupported, "codec and filter of a section");
        }
        Ok(())
    }

    fn check(&self, version: Version) -> Result<(), Wrong> {
        let has_tiers = [kind::BLOCKS, kind::STATISTICS].contains(&self.kind);
        rule(self.tier < if has_tiers { TIERS } else { 1 }, "the tier of a section")?;
        let number = self.kind as usize - 1;
        let old = OLD_LEN.get(number).filter(|_| version == (0, 2));
        let known = old.copied().unwrap_or(RECORD_LEN[number]);
        let fits = if known == 1 { self.record_len == 1 } else { (known..=4_096).contains(&self.record_len) };
        rule(fits, "the record length of a section")?;
        if self.n_records == 0 {
            let is_absent = self.part_at == 0 && self.part_len == 0 && self.height == 0 && self.checksum == 0;
            let empty = is_absent && self.codec == 0 && self.filter == 0 && self.stored_len == 0;
            return rule(empty, "an empty section has no part");
        }
        let fits =
            if self.is_counted { self.height <= 8 } else { u32::from(self.height) == self.smallest_height() };
        rule(fits, "the height of a section")
    }

    /// The most records under a part of this height.
    fn span(&self, height: u32) -> u128 {
        u128::from(FAN).pow(height) * u128::from(PART / u64::from(self.record_len))
    }

    fn smallest_height(&self) -> u32 {
        let mut height = 0;
        while self.span(height) < u128::from(self.n_records) {
            height += 1;
        }
        height
    }

    /// The bytes of the section's records, each as long as version 0.3 has them, and the ranges of
    /// its parts: offset and length.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn read(&self, room: Room<'_>) -> Result<Records, Wrong> {
        let mut records = Vec::new();
        let mut parts = Vec::new();
        rule((1..=4_096).contains(&self.record_len), "the record length of a section")?;
        if self.n_records > 0 {
            let len = u128::from(self.n_records) * u128::from(self.record_len);
            self.check_codes()?;
            let may_shuffle = self.codec == 1 && self.record_len > 1;
            rule(self.filter == 0 || may_shuffle, "a shuffled section")?;
            let most = if self.codec == 1 { 32 } else { 1 } * room.file.len() as u128;
            rule(len <= most, "a section is longer than the file")?;
            let top = (self.part_at, self.part_len, self.stored_len, self.checksum);
            self.part(room, top, u32::from(self.height), 0..self.n_records, &mut records, &mut parts)?;
        }
        if self.is_known() {
            let known = RECORD_LEN[self.kind as usize - 1] as usize;
            let whole = records.chunks_exact(self.record_len as usize);
            // A field that a record of 0.2 lacks is none.
            let fields = |record: &[u8]| {
                let mut fields = vec![0xFF; known];
                fields.iter_mut().zip(record).for_each(|(field, byte)| *field = *byte);
                fields
            };
            records = whole.flat_map(fields).collect();
        }
        Ok((records, parts))
    }

    fn part(
        &self,
        room: Room<'_>,
        (at, len, stored_len, sum): Entry,
        height: u32,
        covered: Range<u64>,
        records: &mut Vec<u8>,
        parts: &mut Vec<(u64, u64)>,
    ) -> Result<(), Wrong> {
        let n_records = covered.end - covered.start;
        let of_leaf = n_records * u64::from(self.record_len);
        let fits = match (height, self.is_counted) {
            (0, false) => u64::from(len) == of_leaf,
            (0, true) => {
                u64::from(len) == of_leaf && (1..=PART / u64::from(self.record_len)).contains(&n_records)
            }
            (_, false) => u64::from(len) == u128::from(n_records).div_ceil(self.span(height - 1)) as u64 * 24,
            (_, true) => len.is_multiple_of(32) && (1..=2_048).contains(&(len / 32)),
        };
        rule(fits, "the length of a part")?;
        let is_compressed = stored_len > 0;
        let fits = !is_compressed || height == 0 && self.codec == 1 && stored_len < len;
        rule(fits, "the stored length of a part")?;
        let stored_len = u64::from(if is_compressed { stored_len } else { len });
        let bytes = room.range(at, stored_len)?;
        rule(checksum(bytes) == sum, "the checksum of a part")?;
        parts.push((at, stored_len));
        if height == 0 {
            let mut leaf = bytes.to_vec();
            if is_compressed {
                leaf = restored(bytes, len as usize, self.codec)?;
                if self.filter == 1 {
                    leaf = unshuffle(&leaf, self.record_len as usize);
                }
            }
            records.extend(leaf);
            return Ok(());
        }
        if self.is_counted {
            return self.counted(room, bytes, height - 1, covered, records, parts);
        }
        let mut start = covered.start;
        for entry in bytes.chunks_exact(24) {
            let n = u128::from(covered.end - start).min(self.span(height - 1)) as u64;
            let child = (u64_at(entry, 0), u32_at(entry, 8), u32_at(entry, 12), u64_at(entry, 16));
            self.part(room, child, height - 1, start..start + n, records, parts)?;
            start += n;
        }
        Ok(())
    }

    /// The parts below an index part of a counted section.
    fn counted(
        &self,
        room: Room<'_>,
        index: &[u8],
        height: u32,
        covered: Range<u64>,
        records: &mut Vec<u8>,
        parts: &mut Vec<(u64, u64)>,
    ) -> Result<(), Wrong> {
        let starts: Vec<u64> = index.chunks_exact(32).map(|entry| u64_at(entry, 24)).collect();
        rule(starts[0] == covered.start, "an index part begins with its first record")?;
        let ends = starts[1..].iter().copied().chain([covered.end]);
        for ((entry, &start), end) in index.chunks_exact(32).zip(&starts).zip(ends) {
            rule(start < end, "the records before parts ascend")?;
            let child = (u64_at(entry, 0), u32_at(entry, 8), u32_at(entry, 12), u64_at(entry, 16));
            self.part(room, child, height, start..end, records, parts)?;
        }
        Ok(())
    }
}
