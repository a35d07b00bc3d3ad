//! Makes the records of the footer of a file whose blocks are stored anew.
//!
//! A rebuild keeps all numbers: column 7 stays column 7, and node 12 stays node 12. So most
//! sections are copied byte by byte, with the fields of later versions that this release does not
//! know ([`section`]). Three things change:
//!
//! - the record of a column names its new ranges, and its new number of values if that changed
//!   ([`ColumnEdits`]),
//! - the record of a table may join the pieces of its rows ([`tables`]),
//! - records of format 0.2 become those of the current version.

use std::collections::HashMap;

use entasis_format::{
    ColumnRecord, Error, Kind, Result, RunNames, SectionKind, SectionRecords, TableRecord, Value, ValueTree,
    Version, fallible,
};

use super::PARTS;
use crate::file::{ColumnInfo, ColumnRun, File, NameRange};

/// The records of a section.
#[derive(Default)]
pub(super) struct Records {
    record_len: u32,
    pub bytes: Vec<u8>,
}

impl Records {
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
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.record_len.max(1) as usize)
    }

    fn n(&self) -> usize {
        self.iter().count()
    }
}

/// A stored record, split after the `LEN` bytes that this version knows.
struct Split<'a, const LEN: usize> {
    /// Fields that a record of an older version lacks are none.
    known: [u8; LEN],
    /// Fields of a later version.
    later: &'a [u8],
}

impl<'a, const LEN: usize> Split<'a, LEN> {
    fn new(record: &'a [u8]) -> Self {
        let mut known = [u8::MAX; LEN];
        known.iter_mut().zip(record).for_each(|(to, from)| *to = *from);
        Self { known, later: record.get(LEN..).unwrap_or_default() }
    }
}

/// A copy of all records of a section.
pub(super) fn section(file: &File, kind: SectionKind) -> Result<Records> {
    let record_len = file.record_len(kind, 0);
    if record_len == 0 {
        return Ok(Records { record_len: kind.record_len(), bytes: Vec::new() });
    }
    Ok(Records { record_len, bytes: file.section_bytes(kind)? })
}

/// A table that gets rows.
pub(crate) struct ChangedTable {
    /// Its number.
    pub number: u64,
    /// The new number of rows.
    pub n_rows: u64,
    /// The new host map, if it changes.
    pub host: Option<Value>,
}

impl ChangedTable {
    /// Adds the host map to the values.
    pub(super) fn edit(&self, values: &mut Values) -> Result<TableEdit> {
        let host_node = self.host.as_ref().map(|host| values.add(host)).transpose()?;
        Ok(TableEdit { number: self.number, n_rows: self.n_rows, host_node })
    }
}

/// A change of the record of a table.
#[derive(Clone, Copy)]
pub(super) struct TableEdit {
    number: u64,
    n_rows: u64,
    host_node: Option<u64>,
}

/// The records of all tables, in the form of the current version. With `joins_pieces`, the rows of
/// each table are one piece.
pub(super) fn tables(file: &File, joins_pieces: bool, edit: Option<TableEdit>) -> Result<Records> {
    let old = section(file, SectionKind::Tables)?;
    let version = file.root().version();
    if version > Version::OLDEST && !joins_pieces && edit.is_none() {
        return Ok(old);
    }
    let record_len = old.record_len.max(SectionKind::Tables.record_len());
    let mut bytes = fallible::with_capacity(old.n().saturating_mul(record_len as usize), PARTS)?;
    for (number, record) in (0..).zip(old.iter()) {
        let Split { known, later } = Split::<{ TableRecord::LEN }>::new(record);
        let mut table = TableRecord::parse(&known, version)?;
        if joins_pieces {
            (table.first_piece, table.n_pieces) = (0, 0);
        }
        if let Some(edit) = edit.filter(|edit| edit.number == number) {
            (table.n_rows, table.sort_order) = (edit.n_rows, None);
            table.host_node = edit.host_node.or(table.host_node);
        }
        table.emit(&mut bytes);
        bytes.extend_from_slice(later);
    }
    Ok(Records { record_len, bytes })
}

/// The nodes of a column's details in the section *nodes*.
#[derive(Clone, Copy)]
pub(super) struct DetailNodes {
    detail: Option<u64>,
    host_detail: Option<u64>,
}

/// The sections *nodes* and *value heap*.
pub(super) struct Values {
    pub nodes: Records,
    pub heap: Records,
    /// The detail nodes of each column whose record names others.
    pub details: HashMap<u64, DetailNodes>,
}

impl Values {
    /// A copy of the values of a file. For a file of 0.2, the details of its columns are split.
    pub(super) fn of(file: &File, columns: &[ColumnInfo]) -> Result<Self> {
        let (nodes, heap) = (section(file, SectionKind::Nodes)?, section(file, SectionKind::ValueHeap)?);
        let mut values = Self { nodes, heap, details: HashMap::new() };
        if file.root().version() <= Version::OLDEST {
            values.split_details(columns)?;
        }
        Ok(values)
    }

    /// Adds a value. Returns the number of its node.
    fn add(&mut self, value: &Value) -> Result<u64> {
        if self.nodes.record_len != SectionKind::Nodes.record_len() {
            return Err(Error::unsupported("values of a later version stay as they are"));
        }
        let (nodes, heap) = (std::mem::take(&mut self.nodes.bytes), std::mem::take(&mut self.heap.bytes));
        let mut tree = ValueTree::after(nodes, heap);
        let number = tree.add(value);
        (self.nodes.bytes, self.heap.bytes) = tree.into_parts();
        Ok(number)
    }

    /// Adds nodes for the detail and the host detail of each column: in 0.2 one value holds both.
    fn split_details(&mut self, columns: &[ColumnInfo]) -> Result<()> {
        let needs_nodes =
            columns.iter().any(|column| column.detail.is_some() && column.host_detail.is_some());
        if needs_nodes && self.nodes.record_len != SectionKind::Nodes.record_len() {
            return Err(Error::unsupported("a file of 0.2 with longer nodes cannot be stored anew"));
        }
        let (nodes, heap) = (std::mem::take(&mut self.nodes.bytes), std::mem::take(&mut self.heap.bytes));
        let mut tree = ValueTree::after(nodes, heap);
        for column in columns {
            let Some(host_detail) = &column.host_detail else { continue };
            let nodes = match &column.detail {
                // The whole value is the host's.
                None => DetailNodes { detail: None, host_detail: column.record.detail },
                Some(detail) => {
                    DetailNodes { detail: Some(tree.add(detail)), host_detail: Some(tree.add(host_detail)) }
                }
            };
            fallible::insert(&mut self.details, column.index, nodes, PARTS)?;
        }
        (self.nodes.bytes, self.heap.bytes) = tree.into_parts();
        Ok(())
    }
}

/// The new numbers of values in the record of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed {
    pub n_values: u64,
    pub n_missing: u64,
}

/// The changes to the records of a file's columns. The keys of the maps are numbers of columns. A
/// column that is not in a map keeps what its record says, except its first range.
pub(super) struct ColumnEdits<'a> {
    pub file: &'a File,
    pub changed: &'a HashMap<u64, Changed>,
    /// The number of the first range of each column with blocks; all other columns get none.
    pub first_ranges: &'a HashMap<u64, u64>,
    pub details: &'a HashMap<u64, DetailNodes>,
}

/// The sections *columns* and *runs*.
pub(super) struct ColumnSections {
    pub records: Records,
    pub runs: Vec<u8>,
}

impl ColumnEdits<'_> {
    /// The records of the file's `n_columns`. Column runs stay if no column changes. Otherwise each
    /// column gets a record, because those of a run may differ now.
    pub(super) fn sections(&self, n_columns: usize) -> Result<ColumnSections> {
        let old = section(self.file, SectionKind::Columns)?;
        let runs = section(self.file, SectionKind::Runs)?.bytes;
        if self.changed.is_empty() || runs.is_empty() {
            self.one_per_run(&old, runs)
        } else {
            self.one_per_column(&old, n_columns)
        }
    }

    /// The old records with their edits, and the old runs.
    fn one_per_run(&self, old: &Records, runs: Vec<u8>) -> Result<ColumnSections> {
        let mut out = ColumnWriter::new(self, old, old.n())?;
        let mut firsts = runs.as_chunks::<8>().0.iter().map(|first| u64::from_le_bytes(*first));
        for (number, record) in (0..).zip(old.iter()) {
            // Without runs, records have the numbers of their columns.
            let column = if runs.is_empty() { Some(number) } else { firsts.next() };
            let Some(column) = column else { break };
            out.push_stored(column, record)?;
        }
        Ok(ColumnSections { records: out.records, runs })
    }

    /// A record for each column. Those of a run are made from the record of the run.
    fn one_per_column(&self, old: &Records, n_columns: usize) -> Result<ColumnSections> {
        let mut out = ColumnWriter::new(self, old, n_columns)?;
        let mut records = old.iter();
        self.file.visit_runs(0..self.file.n_columns_total(), |run| {
            let later = Split::<{ ColumnRecord::LEN }>::new(records.next().unwrap_or_default()).later;
            let names = member_names(self.file, &run)?;
            for (column, name) in run.columns.clone().zip(names) {
                let record = ColumnRecord { name_at: name.at, name_len: name.len, ..run.member(column)? };
                out.push(column, record, later);
            }
            Ok(())
        })?;
        Ok(ColumnSections { records: out.records, runs: Vec::new() })
    }
}

/// Where the name of each column of a run is. The text of a run's names is consecutive in the heap,
/// so a record of one column can refer to its own part.
fn member_names(file: &File, run: &ColumnRun) -> Result<Vec<NameRange>> {
    let names = run.names();
    if run.n == 1 {
        return Ok(vec![names]);
    }
    let bytes = file.records(SectionKind::Names, names.at..names.at.saturating_add(names.len.into()))?;
    // The ends of the names, of 4 bytes each, come before the text.
    let text_at = names.at.saturating_add(run.n.saturating_mul(4));
    let mut start = 0u32;
    let parsed = RunNames::parse(&bytes, run.n)?;
    let ranges = parsed.ends().map(|end| {
        let at = text_at.saturating_add(u64::from(start));
        let len = end.saturating_sub(start);
        start = end;
        NameRange { at, len, n: 1 }
    });
    fallible::collect(ranges, PARTS)
}

/// Writes the section *columns*.
struct ColumnWriter<'a> {
    edits: &'a ColumnEdits<'a>,
    records: Records,
}

impl<'a> ColumnWriter<'a> {
    /// For `n` records, at least as long as the old ones.
    fn new(edits: &'a ColumnEdits<'a>, old: &Records, n: usize) -> Result<Self> {
        let record_len = old.record_len.max(SectionKind::Columns.record_len());
        let bytes = fallible::with_capacity(n.saturating_mul(record_len as usize), PARTS)?;
        Ok(Self { edits, records: Records { record_len, bytes } })
    }

    /// Appends a record of the file, which begins with column `number`.
    fn push_stored(&mut self, number: u64, record: &[u8]) -> Result<()> {
        let Split { mut known, later } = Split::<{ ColumnRecord::LEN }>::new(record);
        match ColumnRecord::parse(&known) {
            Err(error) if error.kind() == Kind::Unsupported => {
                // A column of an unknown type. It has no changes, and its blocks are not copied.
                ColumnRecord::clear_first_range(&mut known);
                self.records.bytes.extend_from_slice(&known);
                self.records.bytes.extend_from_slice(later);
            }
            parsed => {
                let mut record = parsed?;
                record.column_type = self.edits.file.upgraded(record.column_type);
                self.push(number, record, later);
            }
        }
        Ok(())
    }

    /// Appends a record, with the edits of column `number`. `later` are fields of a later version.
    fn push(&mut self, number: u64, mut record: ColumnRecord, later: &[u8]) {
        if let Some(&Changed { n_values, n_missing }) = self.edits.changed.get(&number) {
            (record.n_values, record.n_missing) = (n_values, n_missing);
        }
        if let Some(&DetailNodes { detail, host_detail }) = self.edits.details.get(&number) {
            (record.detail, record.host_detail) = (detail, host_detail);
        }
        record.first_range = self.edits.first_ranges.get(&number).copied();
        record.emit(&mut self.records.bytes);
        self.records.bytes.extend_from_slice(later);
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
