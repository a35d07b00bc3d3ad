//! Finds the fields and checksums of a file, to change a field and repair every checksum above it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::naive::bytes::{checksum, is_zero};
use crate::naive::header::{SLOT_PAGES_END, SLOTS, TRAILER_MAGIC};
use crate::naive::section::kind;

/// An integer field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, as `record.field`.
    pub name: &'static str,
    /// The offset.
    pub at: usize,
    /// The length: 1, 2, 4 or 8 bytes.
    pub len: usize,
}

/// A checksum, or those of a segment.
#[derive(Clone, Copy, Debug)]
enum Sum {
    /// The offset of the checksum, the first byte that it covers, and their number.
    Fixed(usize, usize, usize),
    /// The offsets of the checksum and of two fields: an offset (u64) and a length (u32).
    Named(usize, usize, usize),
    /// The offsets of four fields of a part of a section: its checksum, offset, length, and stored
    /// length, which is 0 unless the part is a compressed leaf.
    Part([usize; 4]),
    /// As for `Named`, but a length of 0 means no checksum.
    Optional(usize, usize, usize),
    /// The offset of a slot. Its checksum is not repaired while it is empty.
    Slot(usize),
    /// The checksums of the dictionary and of the pages of a block.
    Segment(Segment),
}

/// The offsets of a block's metadata.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The offset of the block record.
    block: usize,
    /// The offset of the directory.
    directory: usize,
    has_dictionary: bool,
    n_pages: usize,
}

impl Segment {
    /// The offsets of the stored lengths and of the checksums, in the order of the stored bytes.
    fn stored(self) -> impl Iterator<Item = (usize, usize)> {
        let dictionary = self.has_dictionary.then_some((self.directory + 24, self.directory + 32));
        let entries = (0..self.n_pages).map(move |i| self.directory + 40 + 24 * i);
        dictionary.into_iter().chain(entries.map(|entry| (entry, entry + 16)))
    }
}

/// The fields of a sound file, and its checksums from the innermost to the outermost.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// All integer fields.
    pub fields: Vec<Field>,
    /// The offsets of the block records.
    pub blocks: Vec<usize>,
    /// Bytes before this offset belong to header and segments.
    pub footer_at: usize,
    sums: Vec<Sum>,
    /// The trailer of each slot.
    trailers: BTreeMap<usize, usize>,
    /// The records whose fields were added.
    seen: BTreeSet<usize>,
}

/// (name as `record.field`, offset, bytes) of the fields of a record.
type Fields = &'static [(&'static str, usize, usize)];

const HEADER: Fields = &[
    ("header.major", 8, 2),
    ("header.minor", 10, 2),
    ("header.reserved", 12, 4),
    ("header.flags", 16, 8),
    ("header.ignore", 24, 8),
    ("header.reserved2", 128, 8),
];
const SLOT: Fields = &[
    ("slot.generation", 0, 8),
    ("slot.root_at", 8, 8),
    ("slot.root_len", 16, 4),
    ("slot.flags", 20, 4),
    ("slot.end", 24, 8),
    ("slot.root_checksum", 32, 8),
    ("slot.reserved", 40, 8),
];
const TRAILER: Fields = &[
    ("trailer.generation", 8, 8),
    ("trailer.root_at", 16, 8),
    ("trailer.root_len", 24, 4),
    ("trailer.major", 28, 2),
    ("trailer.minor", 30, 2),
    ("trailer.end", 32, 8),
    ("trailer.flags", 48, 8),
];
const ROOT: Fields = &[
    ("root.generation", 8, 8),
    ("root.previous_at", 16, 8),
    ("root.previous_len", 24, 4),
    ("root.n_sections", 28, 4),
    ("root.previous_checksum", 32, 8),
    ("root.value_node", 40, 8),
    ("root.time", 48, 8),
    ("root.operation", 56, 2),
    ("root.edition", 59, 1),
    ("root.keep_kind", 60, 1),
    ("root.reserved", 61, 2),
    ("root.file_id", 64, 8),
    ("root.program", 80, 8),
    ("root.readers", 112, 8),
    ("root.writers", 120, 8),
    ("root.may_ignore", 128, 8),
    ("root.major", 136, 2),
    ("root.minor", 138, 2),
    ("root.reserved2", 140, 4),
    ("root.footer_at", 144, 8),
    ("root.keep", 152, 8),
];
const SECTION: Fields = &[
    ("section.kind", 0, 2),
    ("section.tier", 2, 2),
    ("section.record_len", 4, 4),
    ("section.n_records", 8, 8),
    ("section.part_at", 16, 8),
    ("section.part_len", 24, 4),
    ("section.height", 28, 1),
    ("section.codec", 29, 1),
    ("section.filter", 30, 1),
    ("section.flags", 31, 1),
    ("section.checksum", 32, 8),
    ("section.stored_len", 40, 4),
    ("section.reserved2", 44, 4),
];
const INDEX: Fields = &[
    ("index.part_at", 0, 8),
    ("index.part_len", 8, 4),
    ("index.stored_len", 12, 4),
    ("index.checksum", 16, 8),
];
const TABLE: Fields = &[
    ("table.first_column", 0, 8),
    ("table.n_columns", 8, 8),
    ("table.n_rows", 16, 8),
    ("table.first_slot", 24, 8),
    ("table.n_slots", 32, 8),
    ("table.host_node", 40, 8),
    ("table.sort_order", 48, 8),
    ("table.metadata", 56, 8),
    ("table.first_piece", 64, 8),
    ("table.n_pieces", 72, 4),
    ("table.reserved", 76, 4),
    ("table.first_column_range", 80, 8),
    ("table.n_column_ranges", 88, 4),
    ("table.reserved2", 92, 4),
];
const COLUMN: Fields = &[
    ("column.id", 0, 8),
    ("column.name_at", 8, 8),
    ("column.name_len", 16, 4),
    ("column.physical", 20, 1),
    ("column.logical", 21, 1),
    ("column.unit", 22, 1),
    ("column.missing", 23, 1),
    ("column.value_len", 24, 4),
    ("column.flags", 28, 4),
    ("column.n_values", 32, 8),
    ("column.storage", 40, 8),
    ("column.first_value", 48, 8),
    ("column.first_child", 56, 8),
    ("column.n_children", 64, 4),
    ("column.precision", 68, 1),
    ("column.scale", 69, 1),
    ("column.host_variant", 70, 1),
    ("column.reserved", 71, 1),
    ("column.dictionary", 72, 8),
    ("column.detail", 80, 8),
    ("column.n_missing", 88, 8),
    ("column.metadata", 96, 8),
    ("column.first_range", 104, 8),
    ("column.host_detail", 112, 8),
];
const NAME: Fields = &[("name.hash", 0, 8), ("name.position", 8, 8)];
const RANGE: Fields = &[
    ("range.column", 0, 8),
    ("range.first_block", 8, 8),
    ("range.n_blocks", 16, 4),
    ("range.tier", 20, 2),
    ("range.reserved", 22, 2),
];
const RUN: Fields = &[("run.first_column", 0, 8)];
const PIECE: Fields = &[("piece.n_rows", 0, 8)];
const BLOCK: Fields = &[
    ("block.first_value", 0, 8),
    ("block.n_values", 8, 4),
    ("block.packing", 12, 1),
    ("block.transform", 13, 1),
    ("block.codec", 14, 1),
    ("block.filter", 15, 1),
    ("block.directory_at", 16, 8),
    ("block.pages_at", 24, 8),
    ("block.directory_len", 32, 4),
    ("block.pages_len", 36, 4),
    ("block.decoded_len", 40, 8),
    ("block.directory_checksum", 48, 8),
    ("block.first_child", 56, 8),
];
const STATISTICS: Fields = &[
    ("statistics.n_missing", 0, 4),
    ("statistics.flags", 4, 2),
    ("statistics.reserved", 6, 2),
    ("statistics.n_distinct", 8, 4),
    ("statistics.n_nan", 12, 4),
    ("statistics.min", 16, 8),
    ("statistics.max", 32, 8),
];
const NODE: Fields = &[
    ("node.kind", 0, 1),
    ("node.reserved", 1, 1),
    ("node.n_children", 4, 4),
    ("node.a", 8, 8),
    ("node.b", 16, 8),
    ("node.key_hash", 24, 8),
];
const DIRECTORY: Fields = &[
    ("directory.packing", 0, 1),
    ("directory.transform", 1, 1),
    ("directory.codec", 2, 1),
    ("directory.filter", 3, 1),
    ("directory.width", 4, 1),
    ("directory.e", 5, 1),
    ("directory.f", 6, 1),
    ("directory.flags", 7, 1),
    ("directory.base", 8, 8),
    ("directory.n_pages", 16, 4),
    ("directory.n_dictionary", 20, 4),
    ("directory.dictionary_stored_len", 24, 4),
    ("directory.dictionary_payload_len", 28, 4),
    ("directory.dictionary_checksum", 32, 8),
];
const PAGE: Fields = &[
    ("page.stored_len", 0, 4),
    ("page.payload_len", 4, 4),
    ("page.n_values", 8, 4),
    ("page.decoded_len", 12, 4),
    ("page.checksum", 16, 8),
];

/// The length and the fields of a record of a kind of section.
fn records_of(of: u16) -> Option<(usize, Fields)> {
    Some(match of {
        kind::TABLES => (96, TABLE),
        kind::COLUMNS => (120, COLUMN),
        kind::NAME_INDEX => (16, NAME),
        kind::RANGES => (24, RANGE),
        kind::BLOCKS => (64, BLOCK),
        kind::RUNS => (8, RUN),
        kind::PIECES => (8, PIECE),
        kind::STATISTICS => (48, STATISTICS),
        kind::NODES => (32, NODE),
        _ => return None,
    })
}

/// The fields of a section record that a walk needs.
#[derive(Clone, Copy, Debug)]
struct Section {
    kind: u16,
    record_len: usize,
}

/// The most roots of a map.
const MOST_ROOTS: usize = 64;
/// The most checksums of a map. Damaged index parts can name each other in circles.
const MOST_SUMS: usize = 1 << 14;
/// The most fields of a map, for the same reason.
const MOST_FIELDS: usize = 1 << 18;

/// A number in the file; `None` outside of it.
fn number(file: &[u8], at: usize, len: usize) -> Option<usize> {
    let bytes = file.get(at..at.checked_add(len)?)?;
    usize::try_from(crate::naive::bytes::word(bytes, 0, len)).ok()
}

/// The offset and length in two fields; `None` if they name no bytes of the file.
fn extent(file: &[u8], at: usize, len: usize) -> Option<(usize, usize)> {
    let (at, len) = (number(file, at, 8)?, number(file, len, 4)?);
    (len > 0 && at.checked_add(len)? <= file.len()).then_some((at, len))
}

/// The offset of a part of a section, and the number of its bytes in the file.
fn part_extent(file: &[u8], [_, at, len, stored_len]: [usize; 4]) -> Option<(usize, usize)> {
    let (at, len) = (number(file, at, 8)?, number(file, len, 4)?);
    let stored_len = number(file, stored_len, 4)?;
    Some((at, if stored_len > 0 { stored_len } else { len }))
}

impl Map {
    /// The map of a file, with all generations whose roots can be found. For a damaged file, the
    /// map has the records that were found.
    pub fn of(file: &[u8]) -> Self {
        let mut map = Self { footer_at: file.len(), ..Self::default() };
        if file.len() < 256 {
            return map;
        }
        let has_slot_pages = file[16] & 2 != 0 && file.len() >= SLOT_PAGES_END;
        let slots = &SLOTS[..if has_slot_pages { 3 } else { 1 }];
        map.add(file, 0, HEADER);
        let mut roots = BTreeMap::new();
        let mut trailers = BTreeSet::from([file.len() - 64]);
        for &slot in slots {
            if is_zero(&file[slot..slot + 64]) {
                continue;
            }
            map.add(file, slot, SLOT);
            roots.extend(extent(file, slot + 8, slot + 16));
            if let Some(trailer) = number(file, slot + 24, 8).and_then(|end| end.checked_sub(64)) {
                map.trailers.insert(slot, trailer);
                trailers.insert(trailer);
            }
        }
        roots.extend(extent(file, file.len() - 48, file.len() - 40));
        let mut parts = Vec::new();
        let mut known = BTreeSet::new();
        while let Some((root, len)) = roots.pop_last() {
            if known.len() < MOST_ROOTS && known.insert(root) && map.add(file, root, ROOT) {
                trailers.insert(root + len);
                roots.extend(extent(file, root + 16, root + 24));
                map.sections(file, root, &mut parts);
            }
        }
        for block in map.blocks.clone() {
            map.segment(file, block);
        }
        // Parts were found top down, and are repaired bottom up. A root names the previous root.
        map.sums.extend(parts.into_iter().rev());
        map.sums.extend(known.into_iter().map(|root| Sum::Optional(root + 32, root + 16, root + 24)));
        map.sums.extend(slots.iter().map(|slot| Sum::Optional(slot + 32, slot + 8, slot + 16)));
        map.sums.extend(slots.iter().map(|&slot| Sum::Slot(slot)));
        for trailer in trailers {
            let has_magic = file.get(trailer..).is_some_and(|bytes| bytes.starts_with(&TRAILER_MAGIC));
            if (has_magic || trailer + 64 == file.len()) && map.add(file, trailer, TRAILER) {
                map.sums.push(Sum::Named(trailer + 40, trailer + 16, trailer + 24));
                map.sums.push(Sum::Fixed(trailer + 56, trailer, 56));
            }
        }
        map.sums.push(Sum::Fixed(56, 0, 56));
        map
    }

    /// Adds the sections of a root.
    fn sections(&mut self, file: &[u8], root: usize, parts: &mut Vec<Sum>) {
        for i in 0..number(file, root + 28, 4).unwrap_or(0).min(file.len() / 48) {
            let record = root + 160 + 48 * i;
            if !self.add(file, record, SECTION) {
                break;
            }
            if number(file, record + 8, 8) != Some(0) {
                let section = Section {
                    kind: word16(file, record),
                    record_len: number(file, record + 4, 4).unwrap_or(0),
                };
                let offsets = [record + 32, record + 16, record + 24, record + 40];
                self.part(file, section, file[record + 28], offsets, parts);
            }
        }
    }

    /// Adds the fields of a record; false if the record exceeds the file or the map is full.
    fn add(&mut self, file: &[u8], at: usize, fields: Fields) -> bool {
        let end = fields.last().map_or(0, |&(_, offset, len)| offset + len);
        let is_inside = at.checked_add(end).is_some_and(|end| end <= file.len());
        if !is_inside || self.fields.len() >= MOST_FIELDS {
            return false;
        }
        // Add a record once: generations share parts, and tiers share segments.
        if self.seen.insert(at) {
            let of_record = fields.iter().map(|&(name, offset, len)| Field { name, at: at + offset, len });
            self.fields.extend(of_record);
        }
        true
    }

    fn part(&mut self, file: &[u8], of: Section, height: u8, offsets: [usize; 4], parts: &mut Vec<Sum>) {
        let Some((at, len)) = part_extent(file, offsets) else { return };
        let is_inside = at.checked_add(len).is_some_and(|end| end <= file.len());
        if !is_inside || parts.len() >= MOST_SUMS {
            return;
        }
        parts.push(Sum::Part(offsets));
        self.footer_at = self.footer_at.min(at);
        if height > 0 {
            for entry in (at..at + len).step_by(24) {
                if !self.add(file, entry, INDEX) {
                    break;
                }
                let offsets = [entry + 16, entry, entry + 8, entry + 12];
                self.part(file, of, height - 1, offsets, parts);
            }
        } else if number(file, offsets[3], 4) != Some(0) {
            // The fields of a compressed leaf have no offsets.
        } else if let Some((record_len, fields)) = records_of(of.kind) {
            for record in (at..at + len).step_by(record_len.max(of.record_len)) {
                let is_new = !self.seen.contains(&record);
                let is_inside = self.add(file, record, fields);
                if of.kind == kind::BLOCKS && is_inside && is_new {
                    self.blocks.push(record);
                }
            }
        }
    }

    fn segment(&mut self, file: &[u8], block: usize) {
        let Some(directory) = number(file, block + 16, 8) else { return };
        if self.sums.len() >= MOST_SUMS || !self.add(file, directory, DIRECTORY) {
            return;
        }
        // Only entries that fit the directory, because other records may follow it.
        let room = number(file, block + 32, 4).map_or(0, |len| len.saturating_sub(40) / 24);
        let n_pages = number(file, directory + 16, 4).unwrap_or(0).min(room);
        let added = (0..n_pages).take_while(|i| self.add(file, directory + 40 + 24 * i, PAGE)).count();
        let has_dictionary = number(file, directory + 20, 4) != Some(0);
        let segment = Segment { block, directory, has_dictionary, n_pages: added };
        self.sums.push(Sum::Segment(segment));
        self.sums.push(Sum::Named(block + 48, block + 16, block + 32));
    }

    /// Repairs every checksum, for the bytes that the fields name now.
    pub fn repair(&self, file: &mut [u8]) {
        for sum in &self.sums {
            match *sum {
                Sum::Fixed(sum_at, at, len) => seal(file, sum_at, at, len),
                Sum::Slot(at) => {
                    if file.get(at..at + 64).is_some_and(|slot| !is_zero(slot)) {
                        seal(file, at + 56, at, 56);
                    }
                }
                Sum::Part(offsets) => {
                    if let Some((at, len)) = part_extent(file, offsets) {
                        seal(file, offsets[0], at, len);
                    }
                }
                Sum::Optional(_, _, len) if number(file, len, 4) == Some(0) => {}
                Sum::Named(sum_at, at, len) | Sum::Optional(sum_at, at, len) => {
                    if let (Some(at), Some(len)) = (number(file, at, 8), number(file, len, 4)) {
                        seal(file, sum_at, at, len);
                    }
                }
                Sum::Segment(segment) => {
                    let mut at = number(file, segment.block + 24, 8);
                    for (len_at, sum_at) in segment.stored() {
                        let len = number(file, len_at, 4);
                        if let (Some(at), Some(len)) = (at, len) {
                            seal(file, sum_at, at, len);
                        }
                        at = at.zip(len).and_then(|(at, len)| at.checked_add(len));
                    }
                }
            }
        }
    }

    /// The fields of this name (`record.field`).
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Field> {
        self.fields.iter().filter(move |field| field.name == name)
    }

    /// A copy of `file` with a field changed and all checksums repaired. A change of a slot changes
    /// its trailer too.
    pub fn changed(&self, file: &[u8], field: &Field, value: u64) -> Vec<u8> {
        let mut bytes = file.to_vec();
        put(&mut bytes, field, value);
        if let Some(name) = field.name.strip_prefix("slot.") {
            let twin = format!("trailer.{name}");
            let slot = SLOTS.into_iter().rev().find(|&slot| slot <= field.at);
            let trailer = slot.and_then(|slot| self.trailers.get(&slot)).copied().unwrap_or(usize::MAX);
            let is_twin = |twin: &&Field| twin.at >= trailer && twin.at - trailer < 64;
            self.named(&twin).filter(is_twin).for_each(|twin| put(&mut bytes, twin, value));
        }
        self.repair(&mut bytes);
        bytes
    }
}

/// Repairs the checksums of a segment: its pages, dictionary and directory. `block` is the offset
/// of the block record.
pub fn repair_segment(file: &mut [u8], block: usize) {
    let mut map = Map::default();
    map.segment(file, block);
    map.repair(file);
}

/// Writes the checksum of `len` bytes from `at` on to `sum_at`, if all of them are inside the file.
fn seal(file: &mut [u8], sum_at: usize, at: usize, len: usize) {
    let Some(covered) = at.checked_add(len).and_then(|end| file.get(at..end)) else { return };
    let sum = checksum(covered);
    if let Some(stored) = file.get_mut(sum_at..sum_at + 8) {
        stored.copy_from_slice(&sum.to_le_bytes());
    }
}

fn word16(file: &[u8], at: usize) -> u16 {
    crate::naive::bytes::u16_at(file, at)
}

/// The edges that a field can hold, each once, without its present value.
pub fn edges_of(file: &[u8], field: &Field) -> Vec<u64> {
    let now = get(file, field);
    let most = u64::MAX >> (64 - 8 * field.len);
    let mut seen = HashSet::from([now]);
    let fitting = edges(file.len() as u64, now).into_iter().map(|value| value & most);
    fitting.filter(|value| seen.insert(*value)).collect()
}

/// Writes the low bytes of a value into a field.
pub fn put(file: &mut [u8], field: &Field, value: u64) {
    file[field.at..field.at + field.len].copy_from_slice(&value.to_le_bytes()[..field.len]);
}

/// The value of a field.
pub fn get(file: &[u8], field: &Field) -> u64 {
    crate::naive::bytes::word(file, field.at, field.len) as u64
}

/// Values at the edges of ranges, which careless checks of a field miss.
pub fn edges(file_len: u64, now: u64) -> Vec<u64> {
    let (p31, p32) = (1u64 << 31, 1u64 << 32);
    let mut values = vec![
        0,
        1,
        2,
        0xFF,
        0xFE,
        0xFFFF,
        0xFFFE,
        p31 - 1,
        p31,
        p31 + 1,
        p32 - 1,
        p32,
        p32 + 1,
        1 << 63,
        (1 << 63) - 1,
        u64::MAX,
        u64::MAX - 1,
        file_len,
        file_len + 1,
        file_len - 1,
        now.wrapping_add(1),
        now.wrapping_sub(1),
        now.wrapping_mul(2),
    ];
    values.extend((0..16).map(|low| low + 3));
    values
}

/// An endless sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        crate::frames::noise(1, self.0.wrapping_mul(0xD134_2543_DE82_EF95))[0]
    }

    /// A number below `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_number() % n.max(1) as u64) as usize
    }
}

/// Makes one to four changes of a file, and repairs all checksums. A change alters a bit, a byte or
/// a run of bytes, sets a field to an edge or to the value of another field of its name, or swaps
/// blocks.
pub fn damage(file: &mut [u8], dice: &mut Dice) {
    let map = Map::of(file);
    for _ in 0..=dice.below(4) {
        let at = dice.below(file.len());
        match dice.below(8) {
            _ if file.is_empty() => {}
            0 => file[at] ^= 1 << dice.below(8),
            1 => file[at] = dice.next_number() as u8,
            2 => {
                let from = dice.below(file.len());
                let n = dice.below(24).min(file.len() - from.max(at));
                file.copy_within(from..from + n, at);
            }
            3 if map.blocks.len() > 1 => {
                let [a, b] = [0; 2].map(|_| map.blocks[dice.below(map.blocks.len())]);
                let (from, to) = [(0, 64), (12, 16), (16, 56), (56, 64)][dice.below(4)];
                (from..to).for_each(|k| file.swap(a + k, b + k));
            }
            _ if map.fields.is_empty() => {}
            4 => {
                let field = map.fields[dice.below(map.fields.len())];
                let others: Vec<&Field> = map.named(field.name).collect();
                let value = get(file, others[dice.below(others.len())]);
                put(file, &field, value);
            }
            _ => {
                let field = map.fields[dice.below(map.fields.len())];
                let values = edges(file.len() as u64, get(file, &field));
                put(file, &field, values[dice.below(values.len())]);
            }
        }
    }
    // Changed offsets lead to other records.
    Map::of(file).repair(file);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::small;
    use crate::probe::contents;

    #[test]
    fn maps_of_damaged_files_end() {
        let mut dice = Dice(1);
        for small in small::all() {
            let mut file = small.bytes.clone();
            for _ in 0..300 {
                damage(&mut file, &mut dice);
            }
            for len in (0..file.len()).step_by(97) {
                damage(&mut file[..len], &mut dice);
            }
        }
    }

    /// If all files failed the first checksum, readers would test nothing else.
    #[test]
    fn many_damaged_files_are_read() {
        let mut dice = Dice(1);
        let mut n_read = 0;
        for small in small::all() {
            for _ in 0..50 {
                let mut file = small.bytes.clone();
                damage(&mut file, &mut dice);
                n_read += usize::from(contents(&file).is_ok());
            }
        }
        assert!(n_read > 50, "{n_read}");
    }
}
