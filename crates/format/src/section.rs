//! Sections: arrays of records in checksummed parts (`docs/format/container.md`).

mod emit;
mod walk;

use std::ops::Range;

use crate::bytes::{Reader, len64, put};
use crate::checksum::checksum;
use crate::encoding::{Codec, Filter};
use crate::error::{Error, Result};
use crate::features::Version;
use crate::limits::{MAX_TIERS, Room, SECTION_LEN};

pub use emit::{Compress, LeafSource, SectionEmitter, SectionRecords, emit_like, emit_section};
pub use walk::{
    TryFetch, read_records, read_whole_records, visit_known_parts, visit_leaves, visit_part_entries,
    visit_parts,
};

codes! {
    /// The contents of a section.
    SectionKind: u16 {
        /// Tables.
        Tables = 1, "tables";
        /// Columns.
        Columns = 2, "columns";
        /// The heap of column names.
        Names = 3, "names";
        /// Hash tables of names.
        NameIndex = 4, "name index";
        /// Which blocks each column has.
        Ranges = 5, "ranges";
        /// Block records.
        Blocks = 6, "blocks";
        /// Statistics of blocks.
        Statistics = 7, "statistics";
        /// Nodes of the value tree.
        Nodes = 8, "nodes";
        /// Strings and bytes of the value tree.
        ValueHeap = 9, "value heap";
        /// The columns that each column record stands for.
        Runs = 10, "runs";
        /// The numbers of rows of the pieces of tables.
        Pieces = 11, "pieces";
        /// The columns of tables whose columns are not consecutive.
        ColumnRanges = 12, "column ranges";
    }
}

impl SectionKind {
    /// Bytes of a record.
    pub const fn record_len(self) -> u32 {
        match self {
            Self::Tables => 96,
            Self::Blocks => 64,
            Self::Columns => 120,
            Self::Names | Self::ValueHeap => 1,
            Self::NameIndex | Self::ColumnRanges => 16,
            Self::Ranges => 24,
            Self::Runs | Self::Pieces => 8,
            Self::Statistics => 48,
            Self::Nodes => 32,
        }
    }

    /// Bytes of a record in the oldest version that this release reads. Fields that a record lacks
    /// are none, so all their bits are set.
    pub const fn oldest_record_len(self) -> u32 {
        match self {
            Self::Tables => 64,
            Self::Columns => 104,
            _ => self.record_len(),
        }
    }

    /// Whether changes in place add sections of this kind next to the ones before.
    pub const fn has_tiers(self) -> bool {
        matches!(self, Self::Blocks | Self::Statistics)
    }
}

/// The records of one kind and tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Section {
    /// The code of a [`SectionKind`], or an unknown one.
    pub kind: u16,
    /// 0 for kinds without tiers.
    pub tier: u16,
    /// Bytes of a record.
    pub record_len: u32,
    /// The number of records.
    pub n_records: u64,
    /// The offset of the top part.
    pub part_at: u64,
    /// Bytes of the top part.
    pub part_len: u32,
    /// Index levels above the leaves.
    pub height: u8,
    /// Checksum of the top part.
    pub checksum: u64,
    /// The code of the leaves' [`Codec`]: none or LZ4.
    pub codec: u8,
    /// The code of the [`Filter`] of compressed leaves.
    pub filter: u8,
    /// Stored bytes of the top part if it is a compressed leaf; else 0.
    pub stored_len: u32,
    /// A sum of [`COUNTED`], and of what a program does that does not know the kind:
    /// [`READERS_MUST_KNOW`], [`WRITERS_MUST_KNOW`] and [`COPY`]. Without one of these, a change
    /// leaves the section out.
    pub flags: u8,
}

/// Flag of a section: a reader that does not know the kind refuses the file.
pub const READERS_MUST_KNOW: u8 = 1;
/// Flag of a section: a writer that does not know the kind refuses to change the file.
pub const WRITERS_MUST_KNOW: u8 = 2;
/// Flag of a section: a writer that does not know the kind keeps the section as it is.
pub const COPY: u8 = 4;
/// Flag of a section: parts may be short, and index entries count the records before theirs.
pub const COUNTED: u8 = 8;

/// Sizes of parts: the format's, or smaller ones in tests.
#[derive(Clone, Copy)]
struct Geometry {
    part_len: u64,
    fan_out: u64,
}

const FORMAT: Geometry = Geometry { part_len: 65_536, fan_out: 2_730 };

/// Parts begin at multiples of this.
const PART_ALIGN: u64 = 8;

/// The longest record of a known kind, in bytes.
const MAX_RECORD_LEN: u32 = 4096;

/// Bytes of an entry of an index part.
const ENTRY_LEN: usize = 24;

/// Bytes of an entry of an index part of a counted section.
const COUNTED_ENTRY_LEN: usize = 32;

/// The most entries of an index part of a counted section.
const COUNTED_FAN_OUT: usize = 2_048;

/// The most index levels of a counted section.
const MAX_HEIGHT: u8 = 8;

/// How many bytes of records each byte of a file may stand for in compressed sections.
pub const MAX_RATIO: u64 = 32;

/// A part: a leaf with records, or an index of parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its offset in the file.
    pub at: u64,
    /// Its bytes.
    pub len: u32,
    /// Its bytes in the file. They are fewer if it is a compressed leaf.
    pub stored_len: u32,
    /// The checksum of the bytes in the file.
    pub checksum: u64,
    /// The length of the records whose bytes are shuffled; 0 without shuffle.
    pub shuffle_len: u32,
}

impl Part {
    /// Whether the part is compressed with LZ4.
    pub const fn is_compressed(&self) -> bool {
        self.stored_len < self.len
    }

    /// Checks that these are its bytes in the file.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check(&self, stored: &[u8]) -> Result<()> {
        if len64(stored.len()) != u64::from(self.stored_len) {
            return Err(Error::corrupt("the file ends within a part of a section: it is truncated"));
        }
        if checksum(stored) != self.checksum {
            return Err(Error::corrupt("the checksum of a part of a section does not match"));
        }
        Ok(())
    }
}

/// A part as its parent describes it.
#[derive(Clone, Copy)]
struct Entry {
    at: u64,
    len: u32,
    /// 0 for a part that is stored as it is.
    stored_len: u32,
    checksum: u64,
}

impl Entry {
    fn of(part: &Part) -> Self {
        let stored_len = if part.is_compressed() { part.stored_len } else { 0 };
        Self { at: part.at, len: part.len, stored_len, checksum: part.checksum }
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.at, self.len, self.stored_len, self.checksum);
    }

    #[inline]
    fn parse(reader: &mut Reader<'_>) -> Result<Self> {
        let (at, len, stored_len) = (reader.u64()?, reader.u32()?, reader.u32()?);
        Ok(Self { at, len, stored_len, checksum: reader.u64()? })
    }
}

/// How the records of a section spread over its parts.
#[derive(Clone, Copy)]
struct Shape {
    record_len: u64,
    leaf_records: u64,
    fan_out: u64,
}

impl Shape {
    /// The spread; none when a leaf has no room for a record.
    fn new(geometry: Geometry, record_len: u32) -> Option<Self> {
        let record_len = u64::from(record_len);
        let leaf_records = geometry.part_len.checked_div(record_len).filter(|n| *n > 0)?;
        Some(Self { record_len, leaf_records, fan_out: geometry.fan_out })
    }

    /// The records under a part of this height, or `u64::MAX` if they are more.
    fn span(&self, height: u8) -> u64 {
        self.leaf_records.saturating_mul(self.fan_out.saturating_pow(height.into()))
    }

    /// The smallest height that covers `n_records`.
    fn height(&self, n_records: u64) -> u8 {
        (0..u8::MAX).find(|height| self.span(*height) >= n_records).unwrap_or(u8::MAX)
    }

    /// Bytes of a part of this height with `n_records` under it.
    fn part_len(&self, height: u8, n_records: u64) -> Option<u64> {
        match height.checked_sub(1) {
            None => n_records.checked_mul(self.record_len),
            Some(below) => n_records.div_ceil(self.span(below)).checked_mul(ENTRY_LEN as u64),
        }
    }

    /// Whether a part of this height with `n_records` under it can have `len` bytes in a counted
    /// section.
    fn is_counted_len(&self, height: u8, n_records: u64, len: u32) -> bool {
        let entries = usize::try_from(len).unwrap_or(usize::MAX) / COUNTED_ENTRY_LEN;
        if height > 0 {
            let is_whole = usize::try_from(len).is_ok_and(|len| len % COUNTED_ENTRY_LEN == 0);
            return is_whole && (1..=COUNTED_FAN_OUT).contains(&entries);
        }
        (1..=self.leaf_records).contains(&n_records)
            && n_records.checked_mul(self.record_len) == Some(len.into())
    }
}

impl Section {
    /// Bytes of a section record.
    pub const LEN: usize = SECTION_LEN;

    /// The name of the kind, for messages.
    pub fn name(&self) -> &'static str {
        SectionKind::from_code(self.kind).map_or("unknown", SectionKind::name)
    }

    /// The number of leaves that hold these records.
    pub fn n_leaves(&self, records: &Range<u64>) -> u64 {
        let of_leaf = (FORMAT.part_len / u64::from(self.record_len.max(1))).max(1);
        if records.is_empty() {
            return 0;
        }
        (records.end.saturating_sub(1) / of_leaf).saturating_sub(records.start / of_leaf).saturating_add(1)
    }

    /// Bytes of all records.
    pub const fn records_len(&self) -> Option<u64> {
        self.n_records.checked_mul(self.record_len as u64)
    }

    /// Appends the section record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put!(out, self.kind, self.tier, self.record_len, self.n_records, self.part_at, self.part_len);
        put!(out, self.height, self.codec, self.filter, self.flags, self.checksum, self.stored_len, 0u32);
    }

    /// Parses the section record in exactly these bytes. [`Section::check`] checks its contents.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a section record")?;
        let (kind, tier, record_len) = (reader.u16()?, reader.u16()?, reader.u32()?);
        let (n_records, part_at, part_len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let (height, codec, filter, flags) = (reader.u8()?, reader.u8()?, reader.u8()?, reader.u8()?);
        let (checksum, stored_len) = (reader.u64()?, reader.u32()?);
        reader.reserved::<4>()?;
        Ok(Self {
            kind,
            tier,
            record_len,
            n_records,
            part_at,
            part_len,
            height,
            checksum,
            codec,
            filter,
            stored_len,
            flags,
        })
    }

    /// Whether this release knows the kind.
    pub fn is_known(&self) -> bool {
        SectionKind::from_code(self.kind).is_some()
    }

    /// Checks the flags of a section in a generation of this version.
    ///
    /// # Errors
    /// *Unsupported* for an unknown flag; *newer* when readers must know an unknown kind.
    pub fn check_flags(&self, version: Version) -> Result<()> {
        let all = READERS_MUST_KNOW | WRITERS_MUST_KNOW | COPY | COUNTED;
        let known = if version > Version::OLDEST { all } else { 0 };
        if self.flags & !known != 0 {
            let message = format!("a section has unknown flags ({:#x})", self.flags & !known);
            return Err(Error::unsupported(message).in_section(self.name()).advise("update Entasis"));
        }
        if self.flags & READERS_MUST_KNOW != 0 && !self.is_known() {
            return Err(self.newer("reads", version));
        }
        Ok(())
    }

    /// Checks that this release can change a file with this section, in a generation of this
    /// version.
    ///
    /// # Errors
    /// *Newer* when writers must know an unknown kind.
    pub fn check_writer(&self, version: Version) -> Result<()> {
        if self.flags & WRITERS_MUST_KNOW != 0 && !self.is_known() {
            return Err(self.newer("changes", version));
        }
        Ok(())
    }

    #[cold]
    fn newer(&self, verb: &str, needed: Version) -> Error {
        let (kind, current) = (self.kind, Version::CURRENT);
        Error::newer(format!(
            "the file has a section of kind {kind} that has to be known: it needs format version {needed}, \
             this release {verb} files up to {current}"
        ))
        .advise("update Entasis")
    }

    /// Checks that records of a known kind are as long as a generation of this version needs.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check_version(&self, version: Version) -> Result<()> {
        let shortest = match SectionKind::from_code(self.kind) {
            Some(kind) if version > Version::OLDEST => kind.record_len(),
            _ => 0,
        };
        if self.record_len < shortest {
            return Err(Error::corrupt("the record length of a section is wrong").in_section(self.name()));
        }
        Ok(())
    }

    /// Checks that a file with this room can have this section.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn check(&self, room: Room) -> Result<()> {
        self.shape(FORMAT, room).map(|_| ())
    }

    /// The checked shape.
    fn shape(&self, geometry: Geometry, room: Room) -> Result<Shape> {
        let damage = |problem: &'static str| Err(Error::corrupt(problem).in_section(self.name()));
        self.check_codes()?;
        if let Some(kind) = SectionKind::from_code(self.kind) {
            if self.tier >= if kind.has_tiers() { MAX_TIERS } else { 1 } {
                return damage("a section has an impossible tier");
            }
            // Longer records have fields of a later version.
            let len = kind.oldest_record_len();
            let is_longer = len > 1 && (len..=MAX_RECORD_LEN).contains(&self.record_len);
            if self.record_len != len && !is_longer {
                return damage("the record length of a section is wrong");
            }
        }
        let Some(shape) = Shape::new(geometry, self.record_len) else {
            return damage("the record length of a section is impossible");
        };
        if self.n_records == 0 {
            let top = (self.part_at, self.part_len, self.height, self.checksum);
            return if (top, self.codec, self.filter, self.stored_len) == ((0, 0, 0, 0), 0, 0, 0) {
                Ok(shape)
            } else {
                damage("an empty section has a place")
            };
        }
        if self.filter != Filter::None.code() && (!self.is_compressed() || self.record_len < 2) {
            return damage("a section is shuffled that can't be");
        }
        // Bounds the work of a walk: leaves that overlap are found only after it.
        let ratio = if self.is_compressed() { MAX_RATIO } else { 1 };
        if self.records_len().is_none_or(|len| len > room.end.saturating_mul(ratio)) {
            return damage("a section has more records than the file has room for");
        }
        let fits = if self.is_counted() {
            self.height <= MAX_HEIGHT && shape.is_counted_len(self.height, self.n_records, self.part_len)
        } else {
            self.height == shape.height(self.n_records)
                && shape.part_len(self.height, self.n_records) == Some(self.part_len.into())
        };
        if !fits {
            return damage("the height or length of a section does not match its records");
        }
        let top = self.top()?;
        if !room.has(top.at, top.stored_len.into()) {
            return damage("a part of a section is outside of the file");
        }
        Ok(shape)
    }

    /// Whether parts may be short, and index entries count records.
    pub const fn is_counted(&self) -> bool {
        self.flags & COUNTED != 0
    }

    /// Whether leaves may be compressed.
    pub const fn is_compressed(&self) -> bool {
        self.codec != Codec::None.code()
    }

    /// Checks that codec and filter are known.
    fn check_codes(&self) -> Result<()> {
        let is_codec = [Codec::None.code(), Codec::Lz4.code()].contains(&self.codec);
        let unknown = match Filter::from_code(self.filter) {
            _ if !is_codec => format!("codec {} is unknown for sections", self.codec),
            None => format!("filter {} is unknown for sections", self.filter),
            Some(_) => return Ok(()),
        };
        Err(Error::unsupported(unknown).in_section(self.name()))
    }

    /// A part of this height, as its parent describes it.
    fn part(&self, height: u8, entry: Entry) -> Result<Part> {
        let Entry { at, len, stored_len, checksum } = entry;
        let part = Part { at, len, stored_len: len, checksum, shuffle_len: 0 };
        if stored_len == 0 {
            return Ok(part);
        }
        if height > 0 || !self.is_compressed() || stored_len >= len {
            let problem = "the stored length of a part does not match its section";
            return Err(Error::corrupt(problem).in_section(self.name()));
        }
        let shuffle_len = if self.filter == Filter::Shuffle.code() { self.record_len } else { 0 };
        Ok(Part { stored_len, shuffle_len, ..part })
    }

    fn top(&self) -> Result<Part> {
        let &Self { part_at: at, part_len: len, stored_len, checksum, .. } = self;
        self.part(self.height, Entry { at, len, stored_len, checksum })
    }
}

#[cfg(test)]
mod tests;
