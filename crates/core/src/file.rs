//! An open file, and views of its tables.

mod opened;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use entasis_format::{
    BlockRecord, ColumnRecord, Error, HEADER_LEN, Header, Limits, NameSlot, Physical, Result, Root, Section,
    SectionKind, Slot, Statistics, TRAILER_LEN, TableRecord, Trailer, Value, checksum, first_slot, name_hash,
    parse_block_index,
};
use entasis_io::{FileSource, Source};

use crate::cells::CellColumns;
use opened::{Opened, read};

/// Bytes read from the end of a file when it is opened, in the hope that the footer is among them.
const TAIL: u64 = 64 << 10;

/// From this many columns on, their records are read together before they are used.
const PREFETCH: u64 = 16;

/// A file that is open for reading. Opening reads its head and tail; everything else is read when it is asked for.
///
/// The handle keeps showing the file that it opened, also when another one takes its place. It can be shared between threads.
///
/// A file has one table, or several beside other values ([`value`](Self::value)): each is a view by itself ([`table`](Self::table)).
/// Columns are numbered from the view's first one on.
pub struct File {
    opened: Arc<Opened>,
    /// The table of this view; one without columns where the file's value is none.
    table: TableRecord,
    /// Whether it has a table.
    is_table: bool,
    columns: Mutex<HashMap<u64, Arc<ColumnInfo>>>,
    blocks: Mutex<HashMap<u64, Arc<[BlockRecord]>>>,
}

/// The view of a file that is no table.
const NO_TABLE: TableRecord =
    TableRecord { first_column: 0, n_columns: 0, n_rows: 0, first_slot: 0, n_slots: 0, host_node: None };

/// A column of an open file.
#[derive(Clone, Debug)]
pub struct ColumnInfo {
    /// The number among all columns of the file.
    pub index: u64,
    /// The name.
    pub name: String,
    /// The record.
    pub record: ColumnRecord,
    /// What the type needs beside its codes: the time zone (a string).
    pub detail: Option<Value>,
}

impl File {
    /// Opens the file at `path`, with the default [`Limits`].
    ///
    /// # Errors
    /// *Io*, *not Entasis*, *newer*, *corrupt*, *unsupported*, each with the path.
    pub fn open(path: &Path) -> Result<Self> {
        let source = FileSource::open(path).map_err(|e| Error::io(e, "open").in_file(path))?;
        Self::from_source(Box::new(source), path, Limits::default())
    }

    /// Opens the bytes of a source; `name` stands for it in errors.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_source(source: Box<dyn Source>, name: &Path, limits: Limits) -> Result<Self> {
        Self::open_source(source, name, limits).map_err(|e| e.in_file(name))
    }

    fn open_source(source: Box<dyn Source>, name: &Path, limits: Limits) -> Result<Self> {
        let len = source.len();
        let mut cached = Vec::new();
        let head = read(&*source, 0, if len <= TAIL { len } else { HEADER_LEN as u64 })?;
        let header = Header::parse(&head, &limits)?;
        let slot = match header.current()? {
            Some(slot) => slot,
            None => {
                let at = len
                    .checked_sub(TRAILER_LEN as u64)
                    .ok_or_else(|| Error::corrupt("the file is truncated"))?;
                Trailer::parse(&read(&*source, at, TRAILER_LEN as u64)?)?.slot()
            }
        };
        if slot.end > len {
            let message = format!("the file is truncated: it has {len} of {} bytes", slot.end);
            return Err(Error::corrupt(message).at(len));
        }
        cached.push((0, head));
        if slot.end > TAIL {
            let at = slot.end - TAIL;
            cached.push((at, read(&*source, at, TAIL)?));
        }
        let mut opened = Opened {
            path: name.to_path_buf(),
            source,
            limits,
            header,
            slot,
            root: Root {
                generation: 0,
                previous: None,
                value_node: 0,
                writer_version: 0,
                sections: Vec::new(),
            },
            value: Value::Null,
            cells: None,
            cached,
            parts: Mutex::default(),
        };
        let root = opened.fetch(slot.root_at, slot.root_len as usize)?;
        opened.root = Root::read(&root, &slot)?;
        opened.value = opened.read_value(opened.root.value_node)?;
        opened.cells = CellColumns::of(&opened.value)?;
        let opened = Arc::new(opened);
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

    fn base(opened: &Arc<Opened>) -> Self {
        Self {
            opened: Arc::clone(opened),
            table: NO_TABLE,
            is_table: false,
            columns: Mutex::default(),
            blocks: Mutex::default(),
        }
    }

    /// The file without a table: its columns are numbered from the first one on, and belong to none.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::base(&self.opened)
    }

    /// The number of tables.
    pub fn n_tables(&self) -> u64 {
        self.section(SectionKind::Tables).map_or(0, |section| section.n_records)
    }

    /// A table, as a file of its own. Costs what opening a file costs, without the file.
    ///
    /// # Errors
    /// *Corrupt* when there is none of this number; *io*.
    pub fn table(&self, number: u64) -> Result<Self> {
        let table = TableRecord::parse(&self.record(SectionKind::Tables, number)?)?;
        let n_columns = self.section(SectionKind::Columns).map_or(0, |section| section.n_records);
        if table.first_column.checked_add(table.n_columns).is_none_or(|end| end > n_columns) {
            return Err(Error::corrupt("the table has columns that the file has not"));
        }
        if table.n_columns > 0 && table.n_slots == 0 {
            return Err(Error::corrupt("the table has columns and no name index"));
        }
        Ok(Self { table, is_table: true, ..Self::base(&self.opened) })
    }

    /// The numbers in the file of the table's columns.
    pub(crate) fn columns_in_file(&self) -> Range<u64> {
        self.in_file(&(0..self.table.n_columns))
    }

    /// Whether the view has a table: the file's value is one, or it was asked for.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// What the file holds (format, section 5.1): a table, or a map.
    pub fn value(&self) -> &Value {
        &self.opened.value
    }

    /// Where the file's cells are.
    pub(crate) fn cell_columns(&self) -> Option<&CellColumns> {
        self.opened.cells.as_ref()
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.opened.path
    }

    /// The length of the file's current generation, in bytes.
    pub fn file_len(&self) -> u64 {
        self.opened.slot.end
    }

    /// The generation.
    pub fn generation(&self) -> u64 {
        self.opened.slot.generation
    }

    /// Major and minor version of the format.
    pub fn format_version(&self) -> (u16, u16) {
        (self.opened.header.major, self.opened.header.minor)
    }

    /// The rows of the table.
    pub fn n_rows(&self) -> u64 {
        self.table.n_rows
    }

    /// The columns of the table.
    pub fn n_columns(&self) -> u64 {
        self.table.n_columns
    }

    /// All columns: the table's, labels, dictionaries, and all that follow them: of other tables, of cells, bundles.
    pub fn n_columns_total(&self) -> u64 {
        let n_columns = self.section(SectionKind::Columns).map_or(0, |section| section.n_records);
        n_columns.saturating_sub(self.table.first_column)
    }

    /// The numbers in the file of columns of this view.
    fn in_file(&self, columns: &Range<u64>) -> Range<u64> {
        let first = self.table.first_column;
        columns.start.saturating_add(first)..columns.end.saturating_add(first)
    }

    /// The number in this view of a column of the file, which its table names.
    fn in_view(&self, column: u64) -> Result<u64> {
        column
            .checked_sub(self.table.first_column)
            .ok_or_else(|| Error::corrupt("a table names a column that stands before it"))
    }

    /// A value of this view's table: its columns are those of the view.
    pub(crate) fn table_value(&self, node: u64) -> Result<Value> {
        let mut value = self.opened.read_value(node)?;
        if self.table.first_column > 0 {
            let mut problem = None;
            value.visit_mut(&mut |scalar| {
                if let Value::Column(column) = scalar {
                    match self.in_view(*column) {
                        Ok(number) => *column = number,
                        Err(error) => problem = Some(error),
                    }
                }
            });
            problem.map_or(Ok(()), Err)?;
        }
        Ok(value)
    }

    /// What the host keeps beside the columns; null when nothing.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*, *limit*.
    pub fn host(&self) -> Result<Value> {
        self.table
            .host_node
            .map_or(Ok(Value::Null), |node| self.table_value(node))
            .map_err(|e| e.in_file(self.path()))
    }

    /// A column, by its number: those of the table first. O(1).
    ///
    /// # Errors
    /// *Unsupported* for a type that this release doesn't know; *corrupt*, *io*.
    pub fn column(&self, index: u64) -> Result<Arc<ColumnInfo>> {
        if let Some(column) = lock(&self.columns).get(&index) {
            return Ok(Arc::clone(column));
        }
        let record = self.column_records(index..index.saturating_add(1))?;
        let column = Arc::new(self.column_of(index, &record, None).map_err(|e| e.in_file(self.path()))?);
        lock(&self.columns).insert(index, Arc::clone(&column));
        Ok(column)
    }

    /// Neighbouring columns, in one piece of work.
    ///
    /// # Errors
    /// As [`column`](Self::column).
    pub fn columns(&self, range: Range<u64>) -> Result<Vec<ColumnInfo>> {
        let mut columns = Vec::new();
        // In pieces that stay below the limits on metadata, however many columns there are.
        for start in range.clone().step_by(1 << 16) {
            let part = start..range.end.min(start + (1 << 16));
            let records = self.column_records(part.clone())?;
            let parsed: Vec<_> = records.chunks_exact(ColumnRecord::LEN).map(ColumnRecord::parse).collect();
            let known = || parsed.iter().filter_map(|r| r.as_ref().ok());
            let from = known().map(|r| r.name_at).min().unwrap_or(0);
            let to = known().map(|r| r.name_at.saturating_add(u64::from(r.name_len))).max().unwrap_or(0);
            let total: u64 = known().map(|r| u64::from(r.name_len)).sum();
            // Names of neighbours are neighbours, and equal ones may be shared; a file where they lie far apart is read name by name.
            let is_dense = to - from <= total.saturating_mul(2).saturating_add(1 << 16);
            let names = if is_dense { Some(self.records(SectionKind::Names, from..to)?) } else { None };
            for (index, record) in part.zip(records.chunks_exact(ColumnRecord::LEN)) {
                let names = names.as_ref().map(|names| (from, names.as_slice()));
                columns.push(self.column_of(index, record, names).map_err(|e| e.in_file(self.path()))?);
            }
        }
        Ok(columns)
    }

    fn column_of(&self, index: u64, record: &[u8], names: Option<(u64, &[u8])>) -> Result<ColumnInfo> {
        let record = self.parse_column(index, record)?;
        if record.name_len > self.limits().name_len {
            return Err(Error::limit("a column name is longer than name_len").in_column(&format!("#{index}")));
        }
        let place = record.name_at..record.name_at.saturating_add(u64::from(record.name_len));
        let name = match names {
            Some((from, names)) => {
                let at = (place.start - from) as usize;
                names.get(at..at + record.name_len as usize).map(<[u8]>::to_vec)
            }
            None => Some(self.records(SectionKind::Names, place)?),
        };
        let name = name.and_then(|name| String::from_utf8(name).ok());
        let name = name.ok_or_else(|| Error::corrupt("a column name is not UTF-8").in_section("names"))?;
        if index < self.table.n_columns && record.n_values != self.table.n_rows {
            let message =
                format!("a column has {} values, its table {} rows", record.n_values, self.table.n_rows);
            return Err(Error::corrupt(message).in_column(&name));
        }
        let detail =
            record.detail.map(|node| self.table_value(node)).transpose().map_err(|e| e.in_column(&name))?;
        Ok(ColumnInfo { index, name, record, detail })
    }

    /// The number of the table's column with this name. O(1).
    ///
    /// # Errors
    /// *Argument* when there is none, or more than one.
    pub fn find(&self, name: &str) -> Result<u64> {
        let found = self.find_all(name).map_err(|e| e.in_file(self.path()))?;
        match found[..] {
            [column] => Ok(column),
            [] => Err(Error::argument("there is no such column").in_column(name).in_file(self.path())),
            _ => {
                let message =
                    format!("the name stands for {} columns: select by position instead", found.len());
                Err(Error::argument(message).in_column(name).in_file(self.path()))
            }
        }
    }

    /// The numbers of all of the table's columns with this name, ascending.
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn find_all(&self, name: &str) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        let n_slots = self.table.n_slots;
        if n_slots == 0 {
            return Ok(found);
        }
        let hash = name_hash(name);
        let mut slot = first_slot(hash, n_slots);
        let mut probed = 0;
        while probed < n_slots {
            let n = 64.min(n_slots - slot).min(n_slots - probed);
            let first = self.table.first_slot.saturating_add(slot);
            let slots = self.records(SectionKind::NameIndex, first..first.saturating_add(n))?;
            for bytes in slots.chunks_exact(NameSlot::LEN) {
                let entry = NameSlot::parse(bytes)?;
                let Some(position) = entry.position else { return Ok(found) };
                if position >= self.table.n_columns {
                    return Err(Error::corrupt("a name stands for a column that is not there")
                        .in_section("name index"));
                }
                if entry.hash == hash && self.column(position)?.name == name {
                    found.push(position);
                }
            }
            probed += n;
            slot = (slot + n) % n_slots;
        }
        Ok(found)
    }

    /// The blocks of a column, in order. They cover its values without a gap.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn blocks(&self, column: u64) -> Result<Arc<[BlockRecord]>> {
        if let Some(blocks) = lock(&self.blocks).get(&column) {
            return Ok(Arc::clone(blocks));
        }
        let info = self.column(column)?;
        let at = self.block_range(column)?;
        let blocks = self.blocks_of(&info, &self.records(SectionKind::Blocks, at)?)?;
        lock(&self.blocks).insert(column, Arc::clone(&blocks));
        Ok(blocks)
    }

    /// The blocks of a column in the bytes of their records.
    fn blocks_of(&self, info: &ColumnInfo, records: &[u8]) -> Result<Arc<[BlockRecord]>> {
        let mut blocks = Vec::with_capacity(records.len() / BlockRecord::LEN);
        let mut next = 0u64;
        for (i, bytes) in records.chunks_exact(BlockRecord::LEN).enumerate() {
            let here = |e: Error| e.in_file(self.path()).in_column(&info.name).in_block(i as u64);
            let block = BlockRecord::parse(bytes).map_err(here)?;
            block.check_place(self.opened.slot.end).map_err(here)?;
            if block.first_value != next {
                return Err(here(Error::corrupt("the blocks of a column don't follow one another")));
            }
            next = block.end_value();
            let before = blocks.last().map(|last: &BlockRecord| last.first_child);
            let fits = match (info.record.column_type.physical, before) {
                (Physical::List | Physical::Map | Physical::RunEnd, Some(before)) => {
                    before <= block.first_child
                }
                _ => block.first_child == 0,
            };
            if !fits {
                return Err(here(Error::corrupt(
                    "the blocks of a column don't follow one another in its child",
                )));
            }
            blocks.push(block);
        }
        let expected = if info.record.column_type.physical == Physical::Null || info.record.is_bundled {
            0
        } else {
            info.record.n_values
        };
        if next != expected {
            let message = format!("the blocks of a column hold {next} values, not {expected}");
            return Err(Error::corrupt(message).in_file(self.path()).in_column(&info.name));
        }
        Ok(blocks.into())
    }

    /// The statistics of a column's blocks.
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn statistics(&self, column: u64) -> Result<Vec<Statistics>> {
        let at = self.block_range(column)?;
        let bytes = self.records(SectionKind::Statistics, at)?;
        let parsed = bytes.chunks_exact(Statistics::LEN).map(Statistics::parse).enumerate();
        parsed
            .map(|(i, statistics)| {
                statistics.map_err(|e| e.in_block(i as u64).in_section("statistics").in_file(self.path()))
            })
            .collect()
    }

    fn block_range(&self, column: u64) -> Result<Range<u64>> {
        let index =
            self.records(SectionKind::BlockIndex, self.in_file(&(column..column.saturating_add(2))))?;
        match parse_block_index(&index).map_err(|e| e.in_file(self.path()))?[..] {
            [start, end] if start <= end => Ok(start..end),
            _ => Err(Error::corrupt("the block index is not in order")
                .in_section("block index")
                .in_file(self.path())),
        }
    }

    fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.opened.root.section(kind, 0)
    }

    pub(crate) fn sections(&self) -> &[Section] {
        &self.opened.root.sections
    }

    pub(crate) fn header(&self) -> &Header {
        &self.opened.header
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.opened.slot
    }

    pub(crate) fn writer_version(&self) -> u32 {
        self.opened.root.writer_version
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.opened.limits
    }

    /// A column of this view in the bytes of its record: what it names are columns of the view too.
    pub(crate) fn parse_column(&self, index: u64, bytes: &[u8]) -> Result<ColumnRecord> {
        let here = |e: Error| e.in_section("columns").in_column(&format!("#{index}"));
        let mut record = ColumnRecord::parse(bytes).map_err(here)?;
        if self.table.first_column > 0 {
            let ColumnRecord { storage, dictionary, first_child, parent, .. } = &mut record;
            for named in [storage, dictionary, first_child, parent] {
                *named = named.map(|column| self.in_view(column)).transpose().map_err(here)?;
            }
        }
        Ok(record)
    }

    /// The records of columns of this view.
    pub(crate) fn column_records(&self, columns: Range<u64>) -> Result<Vec<u8>> {
        self.records(SectionKind::Columns, self.in_file(&columns))
    }

    fn record(&self, kind: SectionKind, number: u64) -> Result<Vec<u8>> {
        self.records(kind, number..number.saturating_add(1))
    }

    pub(crate) fn records(&self, kind: SectionKind, range: Range<u64>) -> Result<Vec<u8>> {
        self.opened.records(kind, range)
    }

    /// Bytes of the file, from what was read before when they are there.
    pub(crate) fn fetch(&self, at: u64, len: usize) -> Result<Arc<[u8]>> {
        self.opened.fetch(at, len)
    }

    /// Reads bytes of the file into `out`, whose old contents are dropped.
    pub(crate) fn read_bytes(&self, at: u64, len: usize, out: &mut Vec<u8>) -> Result<()> {
        self.opened.read_bytes(at, len, out)
    }

    /// Reads bytes of the file straight into memory.
    pub(crate) fn read_into(&self, at: u64, out: &mut [u8]) -> Result<()> {
        self.opened.read_into(at, out)
    }

    /// Reads the records of many columns together.
    pub(crate) fn prefetch(&self, columns: impl Iterator<Item = u64> + Clone) -> Result<()> {
        let (Some(first), Some(last)) = (columns.clone().min(), columns.clone().max()) else { return Ok(()) };
        let n = columns.count() as u64;
        // Columns that lie far apart are read one by one: as much work as they are.
        if n < PREFETCH || (last - first) / 8 > n || last >= self.n_columns_total() {
            return Ok(());
        }
        let infos = self.columns(first..last + 1)?;
        lock(&self.columns).extend(infos.into_iter().map(|info| (info.index, Arc::new(info))));
        Ok(())
    }

    /// Reads the block records of many columns together. What is wrong with a column is told when it is asked for.
    pub(crate) fn prefetch_blocks(&self, columns: &[u64]) -> Result<()> {
        let (Some(&first), Some(&last)) = (columns.iter().min(), columns.iter().max()) else { return Ok(()) };
        if (columns.len() as u64) < PREFETCH || (last - first) / 8 > columns.len() as u64 {
            return Ok(());
        }
        for start in (first..=last).step_by(1 << 10) {
            let columns = start..last.saturating_add(1).min(start + (1 << 10));
            let index =
                self.records(SectionKind::BlockIndex, self.in_file(&(start..columns.end.saturating_add(1))))?;
            let index = parse_block_index(&index).map_err(|e| e.in_file(self.path()))?;
            let (Some(&from), Some(&to)) = (index.first(), index.last()) else { continue };
            // What has many blocks takes its time anyway, and what has none needs none.
            if to == from || to - from > 1 << 14 {
                continue;
            }
            let records = self.records(SectionKind::Blocks, from..to)?;
            for (column, of) in columns.zip(index.windows(2)) {
                let at = |block: u64| (block - from) as usize * BlockRecord::LEN;
                if let Ok(info) = self.column(column)
                    && let Ok(blocks) = self.blocks_of(&info, &records[at(of[0])..at(of[1])])
                {
                    lock(&self.blocks).insert(column, blocks);
                }
            }
        }
        Ok(())
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

/// The checksum of a directory, compared.
pub(crate) fn check_directory(bytes: &[u8], block: &BlockRecord) -> Result<()> {
    if checksum(bytes) == block.directory_checksum {
        Ok(())
    } else {
        Err(Error::corrupt("the checksum of a directory doesn't match").at(block.directory_at))
    }
}
