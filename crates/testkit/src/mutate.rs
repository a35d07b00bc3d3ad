//! Finds the fields and checksums of a file, to change a field and repair every checksum above it.

use crate::naive::bytes::{checksum, u32_at, u64_at};
use crate::naive::section::kind;

/// An integer field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, as `record.field`.
    pub name: String,
    /// The offset.
    pub at: usize,
    /// The length: 1, 2, 4 or 8 bytes.
    pub len: usize,
}

/// The bytes that a checksum covers.
#[derive(Clone, Debug)]
enum Target {
    /// An offset and a length.
    Fixed(usize, usize),
    /// The offsets of two fields: a place (u64) and a length (u32).
    Named(usize, usize),
    /// A stored page or dictionary: the offsets of the field `pages_at`, of the lengths before it,
    /// and of its own length.
    Stored(usize, Vec<usize>, usize),
}

/// The fields of a sound file, and its checksums from the innermost to the outermost.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// All integer fields.
    pub fields: Vec<Field>,
    /// The offsets of the block records.
    pub blocks: Vec<usize>,
    /// Bytes before this place belong to header and segments.
    pub footer_at: usize,
    /// The offset of each checksum, and the bytes that it covers.
    sums: Vec<(usize, Target)>,
}

/// (name, offset, bytes) of the fields of a record.
type Fields = &'static [(&'static str, usize, usize)];

const HEADER: Fields =
    &[("major", 8, 2), ("minor", 10, 2), ("reserved", 12, 4), ("flags", 16, 8), ("ignore", 24, 8)];
const SLOT: Fields = &[
    ("generation", 0, 8),
    ("root_at", 8, 8),
    ("root_len", 16, 4),
    ("reserved", 20, 4),
    ("end", 24, 8),
    ("root_checksum", 32, 8),
    ("reserved2", 40, 8),
];
const TRAILER: Fields =
    &[("generation", 8, 8), ("root_at", 16, 8), ("root_len", 24, 4), ("reserved", 28, 4), ("end", 32, 8)];
const ROOT: Fields = &[
    ("generation", 8, 8),
    ("previous_at", 16, 8),
    ("previous_len", 24, 4),
    ("n_sections", 28, 4),
    ("previous_checksum", 32, 8),
    ("value_node", 40, 8),
    ("writer", 48, 4),
    ("reserved", 52, 4),
];
const SECTION: Fields = &[
    ("kind", 0, 2),
    ("tier", 2, 2),
    ("record_len", 4, 4),
    ("n_records", 8, 8),
    ("part_at", 16, 8),
    ("part_len", 24, 4),
    ("height", 28, 1),
    ("reserved", 29, 1),
    ("checksum", 32, 8),
    ("reserved2", 40, 8),
];
const INDEX: Fields = &[("part_at", 0, 8), ("part_len", 8, 4), ("reserved", 12, 4), ("checksum", 16, 8)];
const TABLE: Fields = &[
    ("first_column", 0, 8),
    ("n_columns", 8, 8),
    ("n_rows", 16, 8),
    ("first_slot", 24, 8),
    ("n_slots", 32, 8),
    ("host_node", 40, 8),
    ("reserved", 48, 8),
];
const COLUMN: Fields = &[
    ("id", 0, 8),
    ("name_at", 8, 8),
    ("name_len", 16, 4),
    ("physical", 20, 1),
    ("logical", 21, 1),
    ("unit", 22, 1),
    ("missing", 23, 1),
    ("value_len", 24, 4),
    ("flags", 28, 4),
    ("n_values", 32, 8),
    ("storage", 40, 8),
    ("first_value", 48, 8),
    ("first_child", 56, 8),
    ("n_children", 64, 4),
    ("precision", 68, 1),
    ("scale", 69, 1),
    ("host_variant", 70, 1),
    ("reserved", 71, 1),
    ("dictionary", 72, 8),
    ("detail", 80, 8),
    ("n_missing", 88, 8),
];
const NAME: Fields = &[("hash", 0, 8), ("position", 8, 8)];
const BLOCK_INDEX: Fields = &[("first_block", 0, 8)];
const RUN: Fields = &[("first_column", 0, 8)];
const BLOCK: Fields = &[
    ("first_value", 0, 8),
    ("n_values", 8, 4),
    ("packing", 12, 1),
    ("transform", 13, 1),
    ("codec", 14, 1),
    ("filter", 15, 1),
    ("directory_at", 16, 8),
    ("pages_at", 24, 8),
    ("directory_len", 32, 4),
    ("pages_len", 36, 4),
    ("decoded_len", 40, 8),
    ("directory_checksum", 48, 8),
    ("first_child", 56, 8),
];
const STATISTICS: Fields = &[
    ("n_missing", 0, 4),
    ("flags", 4, 2),
    ("reserved", 6, 2),
    ("n_distinct", 8, 4),
    ("reserved2", 12, 4),
    ("min", 16, 8),
    ("max", 32, 8),
];
const NODE: Fields = &[
    ("kind", 0, 1),
    ("reserved", 1, 1),
    ("n_children", 4, 4),
    ("a", 8, 8),
    ("b", 16, 8),
    ("key_hash", 24, 8),
];
const DIRECTORY: Fields = &[
    ("packing", 0, 1),
    ("transform", 1, 1),
    ("codec", 2, 1),
    ("filter", 3, 1),
    ("width", 4, 1),
    ("e", 5, 1),
    ("f", 6, 1),
    ("flags", 7, 1),
    ("base", 8, 8),
    ("n_pages", 16, 4),
    ("n_dictionary", 20, 4),
    ("dictionary_stored_len", 24, 4),
    ("dictionary_payload_len", 28, 4),
    ("dictionary_checksum", 32, 8),
];
const PAGE: Fields = &[
    ("stored_len", 0, 4),
    ("payload_len", 4, 4),
    ("n_values", 8, 4),
    ("decoded_len", 12, 4),
    ("checksum", 16, 8),
];

/// The record name, length and fields of a kind of section.
fn records_of(of: u16) -> Option<(&'static str, usize, Fields)> {
    Some(match of {
        kind::TABLES => ("table", 64, TABLE),
        kind::COLUMNS => ("column", 96, COLUMN),
        kind::NAME_INDEX => ("name", 16, NAME),
        kind::BLOCK_INDEX => ("block_index", 8, BLOCK_INDEX),
        kind::BLOCKS => ("block", 64, BLOCK),
        kind::RUNS => ("run", 8, RUN),
        kind::STATISTICS => ("statistics", 48, STATISTICS),
        kind::NODES => ("node", 32, NODE),
        _ => return None,
    })
}

impl Map {
    /// The map of a sound file that was written whole.
    pub fn of(file: &[u8]) -> Self {
        let mut map = Self { footer_at: file.len(), ..Self::default() };
        map.add("header", 0, HEADER);
        let (slot, trailer) = (64, file.len() - 64);
        map.add("slot", slot, SLOT);
        map.add("trailer", trailer, TRAILER);
        let root = u64_at(file, slot + 8) as usize;
        map.add("root", root, ROOT);
        let mut parts = Vec::new();
        for i in 0..u32_at(file, root + 28) as usize {
            let record = root + 64 + 48 * i;
            map.add("section", record, SECTION);
            if u64_at(file, record + 8) > 0 {
                let (of, height) = (word16(file, record), file[record + 28]);
                map.part(file, of, height, (record + 16, record + 24, record + 32), &mut parts);
            }
        }
        for block in map.blocks.clone() {
            map.segment(file, block);
        }
        // Parts were found from the top down, and are repaired from the bottom up.
        map.sums.extend(parts.into_iter().rev());
        map.sums.push((slot + 32, Target::Named(slot + 8, slot + 16)));
        map.sums.push((trailer + 40, Target::Named(trailer + 16, trailer + 24)));
        map.sums.push((slot + 56, Target::Fixed(slot, 56)));
        map.sums.push((trailer + 56, Target::Fixed(trailer, 56)));
        map.sums.push((56, Target::Fixed(0, 56)));
        map
    }

    fn add(&mut self, record: &str, at: usize, fields: Fields) {
        let field = |&(name, offset, len): &(&str, usize, usize)| {
            let name = format!("{record}.{name}");
            Field { name, at: at + offset, len }
        };
        self.fields.extend(fields.iter().map(field));
    }

    fn part(
        &mut self,
        file: &[u8],
        of: u16,
        height: u8,
        (at_at, len_at, sum_at): (usize, usize, usize),
        parts: &mut Vec<(usize, Target)>,
    ) {
        let (at, len) = (u64_at(file, at_at) as usize, u32_at(file, len_at) as usize);
        parts.push((sum_at, Target::Named(at_at, len_at)));
        self.footer_at = self.footer_at.min(at);
        if height > 0 {
            for entry in (at..at + len).step_by(24) {
                self.add("index", entry, INDEX);
                self.part(file, of, height - 1, (entry, entry + 8, entry + 16), parts);
            }
        } else if let Some((name, record_len, fields)) = records_of(of) {
            for record in (at..at + len).step_by(record_len) {
                self.add(name, record, fields);
                if of == kind::BLOCKS {
                    self.blocks.push(record);
                }
            }
        }
    }

    fn segment(&mut self, file: &[u8], block: usize) {
        let directory = u64_at(file, block + 16) as usize;
        self.add("directory", directory, DIRECTORY);
        let mut before = Vec::new();
        if u32_at(file, directory + 20) > 0 {
            self.sums.push((directory + 32, Target::Stored(block + 24, Vec::new(), directory + 24)));
            before.push(directory + 24);
        }
        for i in 0..u32_at(file, directory + 16) as usize {
            let entry = directory + 40 + 24 * i;
            self.add("page", entry, PAGE);
            self.sums.push((entry + 16, Target::Stored(block + 24, before.clone(), entry)));
            before.push(entry);
        }
        self.sums.push((block + 48, Target::Named(block + 16, block + 32)));
    }

    /// Repairs every checksum, for the bytes that the fields name now.
    pub fn repair(&self, file: &mut [u8]) {
        for (sum_at, target) in &self.sums {
            let read =
                |at: usize, len: usize| file.get(at..at + len).map(|b| crate::naive::bytes::word(b, 0, len));
            let place = match target {
                Target::Fixed(at, len) => Some((*at as u128, *len as u128)),
                Target::Named(at, len) => read(*at, 8).zip(read(*len, 4)),
                Target::Stored(at, before, len) => {
                    let skipped: Option<u128> = before.iter().map(|&at| read(at, 4)).sum();
                    read(*at, 8).zip(skipped).map(|(at, skipped)| at + skipped).zip(read(*len, 4))
                }
            };
            let Some((at, len)) = place else { continue };
            if at + len > file.len() as u128 || sum_at + 8 > file.len() {
                continue;
            }
            let sum = checksum(&file[at as usize..(at + len) as usize]);
            file[*sum_at..sum_at + 8].copy_from_slice(&sum.to_le_bytes());
        }
    }

    /// The fields of this name (`record.field`).
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Field> {
        self.fields.iter().filter(move |field| field.name == name)
    }

    /// A copy of `file` with a field changed and all checksums repaired. A change of the slot
    /// changes the trailer too.
    pub fn changed(&self, file: &[u8], field: &Field, value: u64) -> Vec<u8> {
        let mut bytes = file.to_vec();
        put(&mut bytes, field, value);
        if let Some(name) = field.name.strip_prefix("slot.") {
            let twin = format!("trailer.{name}");
            self.named(&twin).for_each(|twin| put(&mut bytes, twin, value));
        }
        self.repair(&mut bytes);
        bytes
    }
}

fn word16(file: &[u8], at: usize) -> u16 {
    crate::naive::bytes::u16_at(file, at)
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
