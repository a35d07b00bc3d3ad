//! The bytes of an open file and its footer, read part by part on demand.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use entasis_encodings::restore_part;
use entasis_format::{
    Error, Header, Limits, Location, MIN_COLUMN_LEN, Part, Result, Room, Root, Runs, Section, SectionKind,
    Slot, SlotState, Thousands, Value, fallible, parse_value, read_records, read_whole_records,
    visit_known_parts,
};
use entasis_io::{Announced, Source};
use entasis_seal::{SealedSource, Unlocked};

use super::cell_columns::CellColumns;
use super::known_blocks::KnownBlocks;
use super::known_pieces::KnownPieces;
use super::lock;

/// The maximum number of cached bytes of section parts.
const PARTS_LEN: usize = 16 << 20;

/// The maximum number of parts that are read together. Their records fit the cache many times.
const TOGETHER: u64 = 64;

/// No section has more levels of index parts.
const MAX_HEIGHT: u8 = 8;

/// Reads records of a section.
type ReadRecords =
    fn(&Section, Range<u64>, Room, &Limits, &mut dyn FnMut(&Part) -> Result<Arc<Vec<u8>>>) -> Result<Vec<u8>>;

/// The use of the memory, in messages.
pub(super) const BYTES: &str = "bytes of the file";

/// Records of a section: its kind, its tier, and the numbers of the records.
pub(super) type Wanted = (SectionKind, u16, Range<u64>);

/// Parts of sections that were checked and restored.
#[derive(Default)]
pub(crate) struct CachedParts {
    /// By their offset.
    parts: HashMap<u64, (Part, Arc<Vec<u8>>)>,
    /// The bytes of all parts.
    len: usize,
}

/// The state that all views of an open file share.
pub(crate) struct OpenFile {
    pub path: PathBuf,
    pub source: Arc<dyn Source>,
    /// The source, if the file is encrypted.
    pub sealed: Option<Arc<SealedSource>>,
    /// The opened keys of the first encrypted file that this one is joined from.
    pub joined: Option<Arc<Unlocked>>,
    pub limits: Limits,
    pub header: Header,
    /// Slots A and B; empty without slot pages.
    pub slots: [SlotState; 2],
    /// The slot of the current generation.
    pub slot: Slot,
    pub root: Root,
    /// The columns that each column record stands for.
    pub runs: Runs,
    pub value: Value,
    pub cells: Option<CellColumns>,
    /// Head and tail of the file, as (offset, bytes), read when the file was opened.
    pub cached: Vec<(u64, Vec<u8>)>,
    /// The cached parts of all states of the file.
    pub parts: Arc<Mutex<CachedParts>>,
    /// Blocks whose pages were verified one by one.
    pub known_blocks: KnownBlocks,
    /// The pieces of tables.
    pub known_pieces: KnownPieces,
    /// Whether a newer generation was not written completely.
    pub is_passed_over: bool,
    /// Whether this state was opened by its number, or from a file with a later state.
    pub is_earlier: bool,
    /// The damage of the current state, if an earlier state was opened instead.
    pub lost: Option<LostState>,
}

/// The damaged current state, if an earlier state was opened instead.
#[derive(Debug)]
pub(crate) struct LostState {
    /// Its number; 0 when unknown.
    pub generation: u64,
    message: String,
    location: Location,
}

impl LostState {
    pub(super) fn new(generation: u64, error: &Error) -> Self {
        Self { generation, message: error.message().to_owned(), location: error.location().clone() }
    }

    /// The error of opening this state.
    pub(crate) fn to_error(&self) -> Error {
        let mut error = Error::corrupt(self.message.clone());
        if let Some(at) = self.location.at {
            error = error.at(at);
        }
        if let Some(section) = self.location.section {
            error = error.in_section(section);
        }
        error
    }
}

impl OpenFile {
    /// The part of the file for segments and footers.
    pub fn room(&self) -> Room {
        Room { start: self.header.room_start(), end: self.slot.end }
    }

    /// The number of records of a section.
    pub fn n_records(&self, kind: SectionKind) -> u64 {
        self.root.section(kind, 0).map_or(0, |section| section.n_records)
    }

    /// The number of columns.
    pub fn n_columns(&self) -> u64 {
        self.runs.n_columns(self.n_records(SectionKind::Columns))
    }

    /// Reads which columns each record stands for.
    pub fn read_runs(&self) -> Result<Runs> {
        let n = self.n_records(SectionKind::Runs);
        let n_records = self.n_records(SectionKind::Columns);
        let runs = match n {
            0 => Runs::default(),
            _ => Runs::parse(&self.records(SectionKind::Runs, 0..n)?, n_records)?,
        };
        let n_columns = runs.n_columns(n_records);
        // Each column of a run stores the end of its name, so there cannot be more columns than
        // ends.
        let n_ends = self.n_records(SectionKind::Names) / 4;
        if n > 0 && n_columns > n_records.saturating_add(n_ends) {
            return Err(Error::corrupt("runs have more columns than names").in_section("runs"));
        }
        if n_columns > self.slot.end / MIN_COLUMN_LEN {
            return Err(Error::corrupt("the file has more columns than it has room for"));
        }
        if n_columns > self.limits.n_columns {
            let asked = format!("the file has {} columns", Thousands(n_columns));
            return Err(Error::over_limit("n_columns", self.limits.n_columns, asked));
        }
        Ok(runs)
    }

    pub fn records(&self, kind: SectionKind, range: Range<u64>) -> Result<Vec<u8>> {
        self.tier_records(kind, 0, range)
    }

    pub fn tier_records(&self, kind: SectionKind, tier: u16, range: Range<u64>) -> Result<Vec<u8>> {
        self.read_tier(kind, tier, range, read_records)
    }

    /// As [`tier_records`](Self::tier_records), with all bytes of each record.
    pub fn whole_records(&self, kind: SectionKind, tier: u16, range: Range<u64>) -> Result<Vec<u8>> {
        self.read_tier(kind, tier, range, read_whole_records)
    }

    fn read_tier(
        &self,
        kind: SectionKind,
        tier: u16,
        range: Range<u64>,
        read: ReadRecords,
    ) -> Result<Vec<u8>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let missing = || Error::corrupt("the section is missing").in_section(kind.name());
        let section = self.root.section(kind, tier).ok_or_else(missing).map_err(|e| e.in_file(&self.path))?;
        if section.n_leaves(&range) > 1 {
            self.prefetch(&[(kind, tier, range.clone())]);
        }
        read(section, range, self.room(), &self.limits, &mut |part| self.fetch(part))
            .map_err(|e| e.in_section(kind.name()).in_file(&self.path))
    }

    pub fn read_value(&self, node: u64) -> Result<Value> {
        parse_value(
            node,
            (self.n_records(SectionKind::Nodes), self.n_records(SectionKind::ValueHeap)),
            &mut |range| self.records(SectionKind::Nodes, range),
            &mut |range| self.records(SectionKind::ValueHeap, range),
            &self.limits,
        )
    }

    /// The bytes of a part of a section.
    pub fn fetch(&self, part: &Part) -> Result<Arc<Vec<u8>>> {
        if let Some(bytes) = self.cached_part(part) {
            return Ok(bytes);
        }
        let stored = self.bytes_at(part.at, part.stored_len as usize)?;
        self.keep(part, stored)
    }

    fn cached_part(&self, part: &Part) -> Option<Arc<Vec<u8>>> {
        let cached = lock(&self.parts);
        cached.parts.get(&part.at).filter(|(known, _)| known == part).map(|(_, bytes)| Arc::clone(bytes))
    }

    /// Checks and restores the stored bytes of a part, and caches the part.
    fn keep(&self, part: &Part, stored: Vec<u8>) -> Result<Arc<Vec<u8>>> {
        part.check(&stored)?;
        let bytes = Arc::new(restore_part(part, stored)?);
        let mut cached = lock(&self.parts);
        if cached.len + bytes.len() > PARTS_LEN {
            *cached = CachedParts::default();
        }
        cached.len += bytes.len();
        fallible::insert(&mut cached.parts, part.at, (*part, Arc::clone(&bytes)), BYTES)?;
        Ok(bytes)
    }

    /// Whether these records can be read without I/O.
    pub fn has(&self, wanted: &Wanted) -> bool {
        self.missing(std::slice::from_ref(wanted)).is_ok_and(|missing| missing.is_empty())
    }

    /// Caches the parts of sections that hold these records, with one round of reads per level of
    /// their trees. Does nothing for very many parts.
    ///
    /// Ignores errors: the read of the damaged part reports them.
    pub fn prefetch(&self, wanted: &[Wanted]) {
        for _ in 0..=MAX_HEIGHT {
            match self.missing(wanted) {
                Ok(missing) if !missing.is_empty() && self.read_missing(&missing).is_ok() => {}
                _ => return,
            }
        }
    }

    /// The parts to read next on the way to records.
    fn missing(&self, wanted: &[Wanted]) -> Result<Vec<Part>> {
        let mut missing = Vec::new();
        let too_many = || Error::argument("the records have too many parts");
        for (kind, tier, records) in wanted {
            let Some(section) = self.root.section(*kind, *tier) else { continue };
            if section.n_leaves(records) > TOGETHER {
                return Err(too_many());
            }
            visit_known_parts(section, records.clone(), self.room(), &mut |part| {
                if let Some(bytes) = self.cached_part(part) {
                    return Ok(Some(bytes));
                }
                if self.opened(part.at, part.stored_len as usize).is_some() {
                    return self.fetch(part).map(Some);
                }
                if missing.len() as u64 >= TOGETHER {
                    return Err(too_many());
                }
                if !missing.contains(part) {
                    fallible::push(&mut missing, *part, BYTES)?;
                }
                Ok(None)
            })?;
        }
        Ok(missing)
    }

    /// Reads and caches parts.
    fn read_missing(&self, missing: &[Part]) -> Result<()> {
        let stored = missing.iter().map(|part| fallible::defaults(part.stored_len as usize, BYTES));
        let mut stored: Vec<Vec<u8>> = fallible::try_collect(stored, BYTES)?;
        let parts = missing.iter().zip(&mut stored).map(|(part, out)| (part.at, out.as_mut_slice()));
        self.read_many(&mut fallible::collect(parts, BYTES)?)?;
        let len: usize = missing.iter().map(|part| part.len as usize).sum();
        let mut cached = lock(&self.parts);
        if cached.len + len > PARTS_LEN {
            *cached = CachedParts::default();
        }
        drop(cached);
        missing.iter().zip(stored).try_for_each(|(part, stored)| self.keep(part, stored).map(|_| ()))
    }

    pub fn bytes_at(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_bytes(at, len, &mut bytes)?;
        Ok(bytes)
    }

    /// Bytes of the file that were read at opening.
    pub(super) fn opened(&self, at: u64, len: usize) -> Option<&[u8]> {
        self.cached.iter().find_map(|(start, bytes)| {
            let skip = usize::try_from(at.checked_sub(*start)?).ok()?;
            bytes.get(skip..)?.get(..len)
        })
    }

    pub fn read_bytes(&self, at: u64, len: usize, out: &mut Vec<u8>) -> Result<()> {
        self.room_for(at, len, out)?;
        self.read_into(at, out)
    }

    /// Memory for bytes of the file. Its contents are unspecified.
    pub fn room_for<'o>(&self, at: u64, len: usize, out: &'o mut Vec<u8>) -> Result<&'o mut [u8]> {
        if at.checked_add(len as u64).is_none_or(|end| end > self.slot.end) {
            return Err(Error::corrupt("a place is outside of the file").at(at));
        }
        // Every byte is overwritten or the call fails, so only new memory needs zeros.
        out.truncate(len);
        fallible::resize(out, len, 0, BYTES)?;
        Ok(out)
    }

    pub fn read_into(&self, at: u64, out: &mut [u8]) -> Result<()> {
        if let Some(bytes) = self.opened(at, out.len()) {
            out.copy_from_slice(bytes);
            return Ok(());
        }
        self.source.read_exact_at(at, out).map_err(|e| read_error(e, at))
    }

    /// Lets a remote source fetch ranges ahead, without those that were read at opening.
    pub fn announce(&self, ranges: &[Range<u64>]) -> Option<Announced> {
        let len = |range: &Range<u64>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let unknown = ranges.iter().filter(|range| self.opened(range.start, len(range)).is_none());
        self.source.announce(&Vec::from_iter(unknown.cloned()))
    }

    /// Reads several ranges of the file, in one round of reads.
    pub fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> Result<()> {
        let mut others = Vec::new();
        for (at, out) in parts {
            match self.opened(*at, out.len()) {
                Some(bytes) => out.copy_from_slice(bytes),
                None => fallible::push(&mut others, (*at, &mut **out), BYTES)?,
            }
        }
        read_many(&*self.source, &mut others)
    }
}

/// Reads several ranges of a source, in one round of reads.
pub(super) fn read_many(source: &dyn Source, parts: &mut [(u64, &mut [u8])]) -> Result<()> {
    let Some(first) = parts.first().map(|(at, _)| *at) else { return Ok(()) };
    source.read_many(parts).map_err(|error| {
        // The error does not say which part it is of.
        let failed = parts.iter_mut().find_map(|(at, out)| source.read_exact_at(*at, out).err().map(|_| *at));
        read_error(error, failed.unwrap_or(first))
    })
}

fn read_error(error: std::io::Error, at: u64) -> Error {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        Error::corrupt("the file became shorter after it was opened").at(at)
    } else {
        Error::io(error, "read").at(at)
    }
}

pub(super) fn read(source: &dyn Source, at: u64, len: u64) -> Result<Vec<u8>> {
    let len = len.min(source.len().saturating_sub(at)) as usize;
    let mut bytes = fallible::defaults(len, BYTES)?;
    source.read_exact_at(at, &mut bytes).map_err(|e| read_error(e, at))?;
    Ok(bytes)
}
