//! Files as a later version may write them: with features, sections and fields that this version
//! does not know.

use std::ops::Range;
use std::sync::Arc;

use entasis_encodings::restore_part;
use entasis_format::{
    BlockRecord, COPY, Features, Header, Limits, Part, Result, Room, Root, Section, SectionKind, Slot,
    SlotState, TableRecord, Trailer, Version, checksum, emit_like, read_whole_records, visit_part_entries,
};

/// The kind of the sections that no version defines.
pub const UNKNOWN: u16 = 0x77;

/// What a later version adds to a file.
#[derive(Clone, Debug)]
pub struct Future {
    /// The version of the header.
    pub version: Version,
    /// The features of the root.
    pub features: Features,
    /// Sections of the kinds [`UNKNOWN`], `UNKNOWN + 1` and so on: flags, bytes of a record, records.
    pub sections: Vec<(u8, u32, Vec<u8>)>,
    /// Known sections whose records get so many more bytes.
    pub longer: Vec<(SectionKind, u32)>,
    /// Bytes after the page entries of each directory.
    pub parameters_len: u32,
    /// The columns of the first table, as column ranges; empty to leave them.
    pub column_ranges: Vec<Range<u64>>,
}

impl Default for Future {
    fn default() -> Self {
        Self {
            version: Version::CURRENT,
            features: Features::CURRENT,
            sections: Vec::new(),
            longer: Vec::new(),
            parameters_len: 0,
            column_ranges: Vec::new(),
        }
    }
}

impl Future {
    /// Every addition that a change can keep.
    pub fn kept() -> Self {
        use SectionKind::{Blocks, Columns, Statistics, Tables};
        let records = (0..7_000u32).flat_map(u32::to_le_bytes).collect();
        Self {
            sections: vec![(COPY, 20, records), (0, 8, vec![7; 80]), (COPY, 1, b"text".to_vec())],
            longer: vec![(Tables, 8), (Columns, 24), (Blocks, 16), (Statistics, 8)],
            ..Self::default()
        }
    }

    /// The file of a later version. The additions are in its current generation, whose slot must not
    /// be in the slot pages.
    ///
    /// # Panics
    /// When the file is damaged.
    pub fn forge(&self, file: &[u8]) -> Vec<u8> {
        let header = Header::parse(file).unwrap();
        let SlotState::Valid(slot) = header.first else { panic!("the file has no first slot") };
        let at = slot.root_at as usize;
        let room = Room { start: header.room_start(), end: slot.end };
        let mut root = Root::read(&file[at..][..slot.root_len as usize], &slot, room.start).unwrap();
        let mut bytes = file[..at].to_vec();
        let earlier = root.previous.map_or(0, |(at, len, _)| at + u64::from(len) + 64);
        for section in root.sections.iter_mut().filter(|section| section.n_records > 0) {
            let kind = SectionKind::from_code(section.kind).unwrap();
            let more = self.longer.iter().find(|(longer, _)| *longer == kind).map_or(0, |(_, more)| *more);
            let has_parameters = kind == SectionKind::Blocks && self.parameters_len > 0;
            let has_ranges = kind == SectionKind::Tables && !self.column_ranges.is_empty();
            if more == 0 && !has_parameters && !has_ranges {
                continue;
            }
            let mut records = whole_records(section, file, room);
            clear_parts(section, room, earlier, file, &mut bytes);
            if has_parameters {
                let blocks = records.chunks_exact_mut(BlockRecord::LEN);
                blocks.for_each(|block| self.lengthen_directory(block, earlier, &mut bytes));
            }
            if has_ranges {
                self.set_column_ranges(&mut records);
            }
            let long = lengthened(&records, section.record_len, more);
            let section_of = Section { record_len: section.record_len + more, ..*section };
            let end = bytes.len() as u64;
            *section = emit_like(&section_of, &long, end, &mut bytes);
        }
        if !self.column_ranges.is_empty() {
            let numbers = self.column_ranges.iter().flat_map(|range| [range.start, range.end - range.start]);
            let records: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
            let kind = SectionKind::ColumnRanges.code();
            let section = Section { kind, record_len: 16, ..Section::default() };
            let end = bytes.len() as u64;
            root.sections.push(emit_like(&section, &records, end, &mut bytes));
        }
        for (kind, (flags, record_len, records)) in (UNKNOWN..).zip(&self.sections) {
            let section = Section { kind, flags: *flags, record_len: *record_len, ..Section::default() };
            let end = bytes.len() as u64;
            root.sections.push(emit_like(&section, records, end, &mut bytes));
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        root.features = self.features;
        let root_bytes = root.emit();
        let slot = Slot {
            root_at: bytes.len() as u64,
            root_len: root_bytes.len() as u32,
            end: (bytes.len() + root_bytes.len() + 64) as u64,
            root_checksum: checksum(&root_bytes),
            ..slot
        };
        bytes.extend(root_bytes);
        let header = Header { version: self.version, first: SlotState::Valid(slot), ..header };
        bytes.extend(Trailer::new(&slot, &header, root.version()).emit());
        bytes[..256].copy_from_slice(&header.emit());
        bytes
    }
}

impl Future {
    /// Gives the first table column ranges. It must have no name index.
    fn set_column_ranges(&self, records: &mut [u8]) {
        let first = &mut records[..TableRecord::LEN];
        let table = TableRecord::parse(first, Version::CURRENT).unwrap();
        assert_eq!(table.n_slots, 0, "the table has a name index");
        let n_columns = self.column_ranges.iter().map(|range| range.end - range.start).sum();
        let n_column_ranges = self.column_ranges.len() as u32;
        let mut emitted = Vec::new();
        TableRecord { first_column: 0, n_columns, n_column_ranges, ..table }.emit(&mut emitted);
        first.copy_from_slice(&emitted);
    }

    /// Moves the directory of a block to the end of the file, with more bytes.
    fn lengthen_directory(&self, record: &mut [u8], earlier: u64, bytes: &mut Vec<u8>) {
        let block = BlockRecord::parse(record).unwrap();
        let old = block.directory_at as usize..(block.directory_at + u64::from(block.directory_len)) as usize;
        let mut directory = bytes[old.clone()].to_vec();
        directory.resize(directory.len() + self.parameters_len as usize, 0xAB);
        if block.directory_at >= earlier {
            bytes[old].fill(0);
        }
        let block = BlockRecord {
            directory_at: bytes.len() as u64,
            directory_len: directory.len() as u32,
            directory_checksum: checksum(&directory),
            ..block
        };
        bytes.extend(directory);
        let mut emitted = Vec::new();
        block.emit(&mut emitted);
        record.copy_from_slice(&emitted);
    }
}

/// The records with `more` bytes each: 1s after the first record, 2s after the second one, and so on.
fn lengthened(records: &[u8], record_len: u32, more: u32) -> Vec<u8> {
    let mut long = Vec::new();
    for (i, record) in (1..=255u8).cycle().zip(records.chunks_exact(record_len as usize)) {
        long.extend_from_slice(record);
        long.resize(long.len() + more as usize, i);
    }
    long
}

/// Writes zeros over the parts of a section that lie after earlier generations.
fn clear_parts(section: &Section, room: Room, earlier: u64, file: &[u8], bytes: &mut [u8]) {
    let fetch = &mut |part: &Part| restore(part, file);
    visit_part_entries(section, room, fetch, &mut |part| {
        if part.at >= earlier {
            bytes[part.at as usize..][..part.stored_len as usize].fill(0);
        }
        Ok(())
    })
    .unwrap();
}

fn restore(part: &Part, file: &[u8]) -> Result<Arc<Vec<u8>>> {
    let stored = file[part.at as usize..][..part.stored_len as usize].to_vec();
    part.check(&stored)?;
    restore_part(part, stored).map(Arc::new)
}

/// All bytes of the records of a section.
///
/// # Panics
/// When the file is damaged.
pub fn whole_records(section: &Section, file: &[u8], room: Room) -> Vec<u8> {
    let fetch = &mut |part: &Part| restore(part, file);
    read_whole_records(section, 0..section.n_records, room, &Limits::default(), fetch).unwrap()
}

/// The sections of the current generation of a file, with all bytes of their records.
///
/// # Panics
/// When the file is damaged.
pub fn sections(bytes: &[u8]) -> Vec<(Section, Vec<u8>)> {
    let current = crate::naive::header::header(bytes).unwrap().current;
    let header = Header::parse(bytes).unwrap();
    let room = Room { start: header.room_start(), end: current.end };
    let root = Root::parse(&bytes[current.root_at as usize..][..current.root_len as usize]).unwrap();
    root.sections.iter().map(|section| (*section, whole_records(section, bytes, room))).collect()
}
