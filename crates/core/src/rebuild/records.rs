//! The copied sections of the footer, and the records of changed columns.

use std::collections::HashMap;

use entasis_format::{
    ColumnRecord, Error, Kind, Result, RunNames, SectionKind, SectionRecords, TableRecord, ValueTree,
    Version, fallible,
};

use super::PARTS;
use crate::file::{ColumnInfo, File};

/// The new numbers in the record of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed {
    pub n_values: u64,
    pub n_missing: u64,
}

/// All records of a section, with their further bytes.
#[derive(Default)]
pub(super) struct Copied {
    record_len: u32,
    pub bytes: Vec<u8>,
}

impl Copied {
    /// Records of this length.
    pub(super) fn new(record_len: u32, bytes: Vec<u8>) -> Self {
        Self { record_len, bytes }
    }

    /// Bytes of a record.
    pub(super) fn record_len(&self) -> u32 {
        self.record_len
    }

    /// A record by its number.
    pub(super) fn get(&self, number: u64) -> Option<&[u8]> {
        let len = self.record_len.max(1) as usize;
        let at = usize::try_from(number).ok()?.checked_mul(len)?;
        self.bytes.get(at..)?.get(..len)
    }

    /// The records as a section of this kind.
    pub(super) fn of(&self, kind: SectionKind) -> SectionRecords<'_> {
        SectionRecords { kind, tier: 0, record_len: self.record_len, bytes: &self.bytes }
    }

    /// All records.
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.record_len.max(1) as usize)
    }
}

/// All records of a section.
pub(super) fn section(file: &File, kind: SectionKind) -> Result<Copied> {
    let record_len = file.record_len(kind, 0);
    if record_len == 0 {
        return Ok(Copied { record_len: kind.record_len(), bytes: Vec::new() });
    }
    Ok(Copied { record_len, bytes: file.section_bytes(kind)? })
}

/// The records of all tables, in the form of the current version. With `joins_pieces`, the rows of
/// each table are one piece.
pub(super) fn tables(file: &File, joins_pieces: bool) -> Result<Copied> {
    let copied = section(file, SectionKind::Tables)?;
    let version = file.root().version();
    if version > Version::OLDEST && !joins_pieces {
        return Ok(copied);
    }
    let record_len = copied.record_len.max(SectionKind::Tables.record_len());
    let n = copied.records().count();
    let mut bytes = fallible::with_capacity(n.saturating_mul(record_len as usize), PARTS)?;
    for record in copied.records() {
        let mut known = [u8::MAX; TableRecord::LEN];
        known.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
        let mut table = TableRecord::parse(&known, version)?;
        if joins_pieces {
            (table.first_piece, table.n_pieces) = (0, 0);
        }
        table.emit(&mut bytes);
        bytes.extend_from_slice(record.get(TableRecord::LEN..).unwrap_or_default());
    }
    Ok(Copied { bytes, record_len })
}

/// The sections *nodes* and *value heap*.
pub(super) struct Values {
    pub nodes: Copied,
    pub heap: Copied,
    /// See [`Columns::details`].
    pub details: HashMap<u64, [Option<u64>; 2]>,
}

/// The values of a file. In a file of 0.2 the details of a column are one value, which is taken
/// apart.
pub(super) fn values(file: &File, columns: &[ColumnInfo]) -> Result<Values> {
    let (nodes, heap) = (section(file, SectionKind::Nodes)?, section(file, SectionKind::ValueHeap)?);
    let mut values = Values { nodes, heap, details: HashMap::new() };
    if file.root().version() > Version::OLDEST {
        return Ok(values);
    }
    let mut tree: Option<ValueTree> = None;
    for column in columns {
        let Some(host_detail) = &column.host_detail else { continue };
        let nodes = match &column.detail {
            None => [None, column.record.detail],
            Some(_) if values.nodes.record_len != SectionKind::Nodes.record_len() => {
                return Err(Error::unsupported("a file of 0.2 with longer nodes cannot be stored anew"));
            }
            Some(detail) => {
                let tree = tree.get_or_insert_with(|| {
                    let [nodes, heap] = [&mut values.nodes, &mut values.heap];
                    ValueTree::after(std::mem::take(&mut nodes.bytes), std::mem::take(&mut heap.bytes))
                });
                [Some(tree.add(detail)), Some(tree.add(host_detail))]
            }
        };
        fallible::insert(&mut values.details, column.index, nodes, PARTS)?;
    }
    if let Some(tree) = tree {
        (values.nodes.bytes, values.heap.bytes) = tree.into_parts();
    }
    Ok(values)
}

/// The records of all columns of a file, with other numbers.
pub(super) struct Columns<'a> {
    pub file: &'a File,
    pub changed: &'a HashMap<u64, Changed>,
    /// The number of the first range of each column with blocks.
    pub first_ranges: &'a HashMap<u64, u64>,
    /// The nodes of detail and host detail, where they differ from those of the old record.
    pub details: &'a HashMap<u64, [Option<u64>; 2]>,
}

/// The sections *columns* and *runs*.
#[derive(Default)]
pub(super) struct ColumnSections {
    pub records: Copied,
    pub runs: Vec<u8>,
}

impl Columns<'_> {
    /// The sections *columns* and *runs*. If a column in a run changes, each column of the run gets
    /// a record.
    pub(super) fn records(&self, columns: &[ColumnInfo]) -> Result<ColumnSections> {
        let (old, runs) = (section(self.file, SectionKind::Columns)?, section(self.file, SectionKind::Runs)?);
        let record_len = old.record_len.max(SectionKind::Columns.record_len());
        let mut out = Copied { record_len, bytes: Vec::new() };
        let n = if self.changed.is_empty() { old.records().count() } else { columns.len() };
        fallible::reserve(&mut out.bytes, n.saturating_mul(record_len as usize), PARTS)?;
        if self.changed.is_empty() || runs.bytes.is_empty() {
            let firsts = runs.bytes.as_chunks::<8>().0.iter().map(|first| u64::from_le_bytes(*first));
            // Without runs, records have the numbers of their columns.
            let numbers = firsts.chain(if runs.bytes.is_empty() { 0..u64::MAX } else { 0..0 });
            for (number, record) in numbers.zip(old.records()) {
                self.put(number, record, &mut out)?;
            }
            return Ok(ColumnSections { records: out, runs: runs.bytes });
        }
        let mut records = old.records();
        self.file.visit_runs(0..self.file.n_columns_total(), |run| {
            let tail = records.next().and_then(|record| record.get(ColumnRecord::LEN..)).unwrap_or_default();
            let names = run.names();
            let bytes = if run.n > 1 {
                self.file.records(SectionKind::Names, names.at..names.at.saturating_add(names.len.into()))?
            } else {
                Vec::new()
            };
            // The names of a run are consecutive, so a record of one column can refer to its own.
            let mut name_at = names.at.saturating_add(run.n.saturating_mul(4));
            let ends = if run.n > 1 { Some(RunNames::parse(&bytes, run.n)?) } else { None };
            let mut start = 0;
            let mut ends = ends.iter().flat_map(RunNames::ends);
            for column in run.columns.clone() {
                let mut record = run.member(column)?;
                if run.n > 1 {
                    let end = ends.next().unwrap_or(start);
                    (record.name_at, record.name_len) = (name_at, end.saturating_sub(start));
                    name_at = name_at.saturating_add(u64::from(record.name_len));
                    start = end;
                }
                self.emit(column, record, tail, &mut out);
            }
            Ok(())
        })?;
        Ok(ColumnSections { records: out, runs: Vec::new() })
    }

    /// Appends the record of column `number`, which `record` stands for.
    fn put(&self, number: u64, record: &[u8], out: &mut Copied) -> Result<()> {
        // Fields that a record of an older version lacks are none.
        let mut known = [u8::MAX; ColumnRecord::LEN];
        known.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
        let tail = record.get(ColumnRecord::LEN..).unwrap_or_default();
        match ColumnRecord::parse(&known) {
            Err(error) if error.kind() == Kind::Unsupported => {
                // A column of an unknown type. It has no changes, and its blocks are not copied.
                ColumnRecord::clear_first_range(&mut known);
                out.bytes.extend_from_slice(&known);
                out.bytes.extend_from_slice(tail);
            }
            parsed => {
                let mut record = parsed?;
                record.column_type = self.file.upgraded(record.column_type);
                self.emit(number, record, tail, out);
            }
        }
        Ok(())
    }

    fn emit(&self, number: u64, mut record: ColumnRecord, tail: &[u8], out: &mut Copied) {
        if let Some(&Changed { n_values, n_missing }) = self.changed.get(&number) {
            (record.n_values, record.n_missing) = (n_values, n_missing);
        }
        if let Some(&[detail, host_detail]) = self.details.get(&number) {
            (record.detail, record.host_detail) = (detail, host_detail);
        }
        record.first_range = self.first_ranges.get(&number).copied();
        record.emit(&mut out.bytes);
        out.bytes.extend_from_slice(tail);
    }
}

/// Checks that records that are made anew have no fields of a later version: those of ranges,
/// blocks, runs and pieces.
pub(crate) fn check_made_records(file: &File) -> Result<()> {
    use SectionKind::{Blocks, Pieces, Ranges, Runs, Statistics};
    for section in file.sections() {
        let Some(kind) = SectionKind::from_code(section.kind) else { continue };
        if matches!(kind, Ranges | Blocks | Statistics | Runs | Pieces)
            && section.record_len > kind.record_len()
        {
            let message = "the file has records of a newer version, which cannot be stored anew";
            return Err(Error::unsupported(message).in_section(kind.name()).advise("update Entasis"));
        }
    }
    Ok(())
}
