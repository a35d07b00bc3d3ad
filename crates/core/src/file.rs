//! An open file, and views of its tables.

mod block_records;
pub(crate) mod cell_columns;
mod chain;
mod columns;
pub(crate) mod details;
mod footer;
mod generations;
mod known_blocks;
mod known_pieces;
mod names;
mod numbering;
mod numbers_in_file;
mod open;
mod pieces;
mod ranges;
mod whole_section;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use entasis_format::{
    BlockRecord, Error, Header, Kind, Limits, Part, Result, Room, Root, Section, SectionKind, Slot,
    SlotState, Statistics, TableRecord, Thousands, Trailer, Value, Version, checksum,
};
use entasis_io::{Announced, FileSource, Source};
use entasis_seal::{Key, SealedSource, Unlocked};

pub(crate) use block_records::LastBlocks;
use cell_columns::CellColumns;
pub(crate) use chain::{Lost, is_part};
pub use columns::ColumnInfo;
pub(crate) use columns::ColumnRun;
use footer::OpenFile;
pub use generations::Generation;
pub(crate) use known_blocks::KnownBlock;
pub(crate) use names::NameRange;
use names::Names;
pub use names::{NameGroup, NameRanges};
use numbering::Numbering;
pub(crate) use pieces::{Member, Stretch};

use crate::opening::Opening;

/// The use of memory for block records, in messages.
const BLOCKS: &str = "the block records";

/// A file that is open for reading. Opening reads its head and tail; the rest is read on demand.
///
/// The handle always shows the state that it opened, even after another file replaces this one.
/// Threads can share it.
///
/// A file has one table, or several tables inside other values ([`value`](Self::value)).
/// [`table`](Self::table) returns a view of one table, with columns numbered from 0.
pub struct File {
    opened: Arc<OpenFile>,
    /// The table of this view; [`NO_TABLE`] if the view has none.
    table: TableRecord,
    /// Whether the view has a table.
    is_table: bool,
    /// The numbers of the file's columns in the view.
    numbering: Numbering,
    columns: Mutex<HashMap<u64, Arc<ColumnInfo>>>,
    blocks: Mutex<HashMap<u64, Arc<Vec<BlockRecord>>>>,
    statistics: Mutex<HashMap<u64, Arc<Vec<Statistics>>>>,
    names: Names,
}

/// Used for a view without a table. It has no columns.
const NO_TABLE: TableRecord = TableRecord {
    first_column: 0,
    n_columns: 0,
    n_rows: 0,
    first_slot: 0,
    n_slots: 0,
    host_node: None,
    sort_order: None,
    metadata: None,
    first_piece: 0,
    n_pieces: 0,
    first_column_range: 0,
    n_column_ranges: 0,
};

impl File {
    /// Opens the file at `path` with the default [`Limits`].
    ///
    /// # Errors
    /// *Io*, *not Entasis*, *newer*, *corrupt*, *unsupported*, *limit*, each with the path.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, Limits::default())
    }

    /// Opens the file at `path` with other [`Limits`], or with the key or password of an encrypted
    /// file ([`Opening`]).
    ///
    /// # Errors
    /// As [`open`](Self::open); *wrong key* and *tampered* for encrypted files; *argument* for a
    /// key of a file that is not encrypted.
    pub fn open_with<O: Into<Opening>>(path: &Path, opening: O) -> Result<Self> {
        let source = FileSource::open(path).map_err(|e| Error::io(e, "open").in_file(path))?;
        Self::from_source(Box::new(source), path, opening)
    }

    /// Opens the bytes of a source. Errors show `name` as the path.
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with).
    pub fn from_source<O: Into<Opening>>(source: Box<dyn Source>, name: &Path, opening: O) -> Result<Self> {
        Self::open_source(source, name, opening.into()).map_err(|e| e.in_file(name))
    }

    fn open_source(source: Box<dyn Source>, name: &Path, opening: Opening) -> Result<Self> {
        Self::of_opened(Arc::new(open::open(source, name, opening)?))
    }

    /// As [`open_with`](Self::open_with). If the current generation is too damaged to open, for
    /// example because the file was cut, this opens the newest whole generation that a slot or an
    /// intact chain of roots names. [`lost`](Self::lost) then returns the damage.
    ///
    /// # Errors
    /// As [`open`](Self::open), *corrupt* only if the file has no whole generation.
    pub fn open_whole<O: Into<Opening>>(path: &Path, opening: O) -> Result<Self> {
        let source = FileSource::open(path).map_err(|e| Error::io(e, "open").in_file(path))?;
        Self::whole_from_source(Box::new(source), path, opening)
    }

    /// As [`open_whole`](Self::open_whole), for the bytes of a source. Errors show `name` as the
    /// path.
    ///
    /// # Errors
    /// As [`open_whole`](Self::open_whole).
    pub fn whole_from_source<O: Into<Opening>>(
        source: Box<dyn Source>,
        name: &Path,
        opening: O,
    ) -> Result<Self> {
        let opened = open::open_whole(source, name, opening.into());
        opened.and_then(|opened| Self::of_opened(Arc::new(opened))).map_err(|e| e.in_file(name))
    }

    /// The damage of the current generation, if this is an earlier generation
    /// ([`open_whole`](Self::open_whole)).
    pub fn lost(&self) -> Option<Error> {
        let lost = self.opened.lost.as_ref()?;
        let error = lost.to_error().in_file(self.path());
        Some(error.of_generations(Vec::from_iter((lost.generation > 0).then_some(lost.generation))))
    }

    /// The view of the file's value.
    fn of_opened(opened: Arc<OpenFile>) -> Result<Self> {
        let base = Self::base(&opened);
        let value = match base.value() {
            Value::Map(_) => base.value().get("value"),
            value => Some(value),
        };
        match value {
            Some(&Value::Table(table)) => base.table(table),
            Some(Value::Cell(_)) => Ok(base),
            _ => Err(Error::unsupported("the file holds a value that is neither a table nor a tree")),
        }
    }

    fn base(opened: &Arc<OpenFile>) -> Self {
        Self {
            opened: Arc::clone(opened),
            table: NO_TABLE,
            is_table: false,
            numbering: Numbering::From(0),
            columns: Mutex::default(),
            blocks: Mutex::default(),
            statistics: Mutex::default(),
            names: Names::default(),
        }
    }

    /// A view of all columns of the file, without a table.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::base(&self.opened)
    }

    /// The number of tables.
    pub fn n_tables(&self) -> u64 {
        self.opened.n_records(SectionKind::Tables)
    }

    /// A view of table number `number`. Costs as much as opening a file in memory.
    ///
    /// # Errors
    /// *Corrupt* when the file has no table with this number; *io*.
    pub fn table(&self, number: u64) -> Result<Self> {
        let table = TableRecord::parse(&self.record(SectionKind::Tables, number)?, self.root().version())?;
        let numbering = Numbering::of(&self.opened, &table)?;
        let end_of_pieces = table.first_piece.saturating_add(table.n_pieces.into());
        if table.n_pieces > 0 && end_of_pieces > self.n_records(SectionKind::Pieces) {
            return Err(Error::corrupt("the table has pieces that are not in the file").in_section("pieces"));
        }
        Ok(Self { table, is_table: true, numbering, ..Self::base(&self.opened) })
    }

    /// Whether the view has a table.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// The file's value (`docs/format/values.md`): a table, or a map.
    pub fn value(&self) -> &Value {
        &self.opened.value
    }

    /// The columns of the file's cells.
    pub(crate) fn cell_columns(&self) -> Option<&CellColumns> {
        self.opened.cells.as_ref()
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.opened.path
    }

    /// Bytes of the file up to the end of its current generation.
    pub fn file_len(&self) -> u64 {
        self.opened.slot.end
    }

    /// Bytes of the file on its medium up to the end of its current generation. More than
    /// [`file_len`](Self::file_len) if it is encrypted.
    pub fn stored_len(&self) -> u64 {
        let end = self.file_len();
        if self.sealed().is_some() { entasis_seal::chunk_end(end) } else { end }
    }

    /// Bytes of the source, which may continue after the current generation.
    pub fn source_len(&self) -> u64 {
        self.opened.source.len()
    }

    /// The program that wrote the current generation, for example `entasis 0.2.0`.
    pub fn program(&self) -> &str {
        self.opened.root.program()
    }

    /// The compression setting of the last written values, from 0 (raw) to 100 (smallest). `None`
    /// if the writer did not record it.
    pub fn compression(&self) -> Option<u8> {
        self.opened.root.compression()
    }

    /// The number of the current generation.
    pub fn generation(&self) -> u64 {
        self.opened.slot.generation
    }

    /// The version of the format whose rules the current generation follows. A generation of a
    /// later version that needs nothing of it has the version that it needs.
    pub fn format_version(&self) -> Version {
        self.opened.root.version()
    }

    /// The newest edition, a named set of encodings, that the generation uses. 0 for a file of 0.2.
    pub fn edition(&self) -> u8 {
        self.opened.root.edition
    }

    /// Whether unsigned integers of 128 bits are stored as signed ones.
    pub(crate) fn is_before_0_3(&self) -> bool {
        self.format_version() == Version::OLDEST
    }

    /// The number of rows of the table.
    pub fn n_rows(&self) -> u64 {
        self.table.n_rows
    }

    /// The number of columns of the table.
    pub fn n_columns(&self) -> u64 {
        self.table.n_columns
    }

    /// The number of all columns: the table's, its labels and dictionaries, and all later columns
    /// (other tables, cells, bundles).
    pub fn n_columns_total(&self) -> u64 {
        self.numbering.n_columns(self.opened.n_columns())
    }

    /// A value of the value tree, with column numbers converted to this view.
    pub(crate) fn table_value(&self, node: u64) -> Result<Value> {
        let mut value = self.opened.read_value(node)?;
        if !self.numbering.is_of_file() {
            let mut problem = None;
            value.visit_mut(&mut |scalar| {
                if let Value::Column(column) = scalar {
                    match self.numbering.in_view(*column) {
                        Ok(number) => *column = number,
                        Err(error) => problem = Some(error),
                    }
                }
            });
            problem.map_or(Ok(()), Err)?;
        }
        Ok(value)
    }

    /// The host map of the table; null when there is none, and when a later version wrote it in a
    /// form that this release does not know.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*.
    pub fn host(&self) -> Result<Value> {
        match self.known_host() {
            Err(error) if error.kind() == Kind::Unsupported => Ok(Value::Null),
            host => host,
        }
    }

    /// The host map of the table; null when there is none.
    ///
    /// # Errors
    /// As [`host`](Self::host), and *unsupported* for a form that this release does not know.
    pub(crate) fn known_host(&self) -> Result<Value> {
        self.table
            .host_node
            .map_or(Ok(Value::Null), |node| self.table_value(node))
            .map_err(|e| e.in_file(self.path()))
    }

    /// The number of records of a section; 0 for an absent section.
    pub(crate) fn n_records(&self, kind: SectionKind) -> u64 {
        self.opened.n_records(kind)
    }

    /// The first slot of the table's name index, and the number of slots.
    pub(crate) fn name_slots(&self) -> (u64, u64) {
        (self.table.first_slot, self.table.n_slots)
    }

    pub(crate) fn sections(&self) -> &[Section] {
        &self.opened.root.sections
    }

    pub(crate) fn header(&self) -> &Header {
        &self.opened.header
    }

    /// The opened keys of an encrypted file; `None` for a plain one.
    pub fn unlocked(&self) -> Option<&Arc<Unlocked>> {
        self.sealed().map(|sealed| sealed.unlocked())
    }

    /// The key that opened the file, or the first encrypted one that it is joined from. Files that
    /// have values of it get this key, unless the user says otherwise.
    pub fn key(&self) -> Option<&Key> {
        self.unlocked().or(self.opened.joined.as_ref()).map(|unlocked| unlocked.key())
    }

    /// The source of an encrypted file.
    pub(crate) fn sealed(&self) -> Option<&Arc<SealedSource>> {
        self.opened.sealed.as_ref()
    }

    /// Where bytes may be written after this generation.
    pub(crate) fn next_start(&self) -> u64 {
        next_start(self.sealed().is_some(), self.slot().end)
    }

    /// Whether a slot names a newer generation that was not written completely.
    pub(crate) fn is_passed_over(&self) -> bool {
        self.opened.is_passed_over
    }

    /// Whether this is an earlier generation of a file.
    pub(crate) fn is_earlier(&self) -> bool {
        self.opened.is_earlier
    }

    /// The end of the newest generation that this state or a slot names.
    pub(crate) fn named_end(&self) -> u64 {
        self.opened.named_slots().iter().map(|slot| slot.end).fold(self.slot().end, u64::max)
    }

    /// The value of a node; null for none.
    pub(crate) fn node_value(&self, node: Option<u64>) -> Result<Value> {
        node.map_or(Ok(Value::Null), |node| self.opened.read_value(node))
    }

    /// The node of the table's host map.
    pub(crate) fn host_node(&self) -> Option<u64> {
        self.table.host_node
    }

    /// The node of the table's sort order.
    pub(crate) fn sort_order_node(&self) -> Option<u64> {
        self.table.sort_order
    }

    /// The node of the user's metadata of the table.
    pub(crate) fn metadata_node(&self) -> Option<u64> {
        self.table.metadata
    }

    /// Slots A and B.
    pub(crate) fn slots(&self) -> [SlotState; 2] {
        self.opened.slots
    }

    /// The trailer of the current generation.
    pub(crate) fn trailer(&self) -> Trailer {
        Trailer::new(self.slot(), self.header(), self.root().version())
    }

    pub(crate) fn root(&self) -> &Root {
        &self.opened.root
    }

    pub(crate) fn room(&self) -> Room {
        self.opened.room()
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.opened.slot
    }

    /// Checks that one read may decode values of this length. Call it before you allocate memory
    /// for a read.
    ///
    /// # Errors
    /// *Limit* if [`Limits::decoded_len`] allows less.
    pub fn check_decoded_len(&self, len: u64) -> Result<()> {
        let allowed = self.limits().decoded_len_of(self.source_len());
        if len <= allowed {
            return Ok(());
        }
        let asked = format!("the values to read need {} bytes of memory", Thousands(len));
        Err(Error::over_limit("decoded_len", allowed, asked).in_file(self.path()))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.opened.limits
    }

    fn record(&self, kind: SectionKind, number: u64) -> Result<Vec<u8>> {
        self.records(kind, number..number.saturating_add(1))
    }

    pub(crate) fn records(&self, kind: SectionKind, range: Range<u64>) -> Result<Vec<u8>> {
        self.opened.records(kind, range)
    }

    /// All bytes of these records of a tier, also those of fields that this release does not know.
    pub(crate) fn whole_records(&self, kind: SectionKind, tier: u16, range: Range<u64>) -> Result<Vec<u8>> {
        self.opened.whole_records(kind, tier, range)
    }

    /// The number of bytes of a record of this tier; 0 for an absent section.
    pub(crate) fn record_len(&self, kind: SectionKind, tier: u16) -> u32 {
        self.root().section(kind, tier).map_or(0, |section| section.record_len)
    }

    /// The number of the record of a column of the file.
    pub(crate) fn record_of(&self, column: u64) -> u64 {
        self.opened.runs.record_of(column)
    }

    /// The columns of the file that a column record stands for.
    pub(crate) fn columns_of_record(&self, record: u64) -> Range<u64> {
        self.opened.runs.columns_of(record)
    }

    /// The bytes of a part of a section, from the cache if possible.
    pub(crate) fn fetch(&self, part: &Part) -> Result<Arc<Vec<u8>>> {
        self.opened.fetch(part)
    }

    /// Bytes of the file.
    pub(crate) fn bytes_at(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        self.opened.bytes_at(at, len)
    }

    /// Reads bytes of the file into `out`. The old contents of `out` are dropped.
    pub(crate) fn read_bytes(&self, at: u64, len: usize, out: &mut Vec<u8>) -> Result<()> {
        self.opened.read_bytes(at, len, out)
    }

    /// Reads some bytes of the source, and returns how many.
    pub(crate) fn read_source_at(&self, at: u64, out: &mut [u8]) -> std::io::Result<usize> {
        self.opened.source.read_at(at, out)
    }

    /// Whether each read of bytes costs a request.
    pub fn is_remote(&self) -> bool {
        self.opened.source.is_remote()
    }

    /// The number of threads that may read, of this wish.
    pub(crate) fn threads(&self, threads: Option<usize>) -> Option<usize> {
        if self.opened.source.is_of_one_thread() { Some(1) } else { threads }
    }

    /// Lets a remote source fetch ranges ahead, until the returned value is dropped.
    pub(crate) fn announce(&self, ranges: &[Range<u64>]) -> Option<Announced> {
        self.opened.announce(ranges)
    }

    /// Memory for bytes of the file. Its contents are unspecified.
    pub(crate) fn room_for<'o>(&self, at: u64, len: usize, out: &'o mut Vec<u8>) -> Result<&'o mut [u8]> {
        self.opened.room_for(at, len, out)
    }

    /// Reads several ranges of the file, in one round of reads.
    pub(crate) fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> Result<()> {
        self.opened.read_many(parts)
    }

    /// Reads bytes of the file straight into memory.
    pub(crate) fn read_into(&self, at: u64, out: &mut [u8]) -> Result<()> {
        self.opened.read_into(at, out)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("path", &self.path())
            .field("n_rows", &self.n_rows())
            .field("n_columns", &self.n_columns())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// New generations of a plain file begin at a multiple of this.
const ALIGN: u64 = 64;

/// Where bytes may be written after a generation that ends at `end`.
pub(crate) fn next_start(is_sealed: bool, end: u64) -> u64 {
    if is_sealed { entasis_seal::next_start(end) } else { end.next_multiple_of(ALIGN) }
}

/// Verifies the checksum of a directory.
pub(crate) fn check_directory(bytes: &[u8], block: &BlockRecord) -> Result<()> {
    if checksum(bytes) == block.directory_checksum {
        Ok(())
    } else {
        Err(Error::corrupt("the checksum of a directory does not match").at(block.directory_at))
    }
}
