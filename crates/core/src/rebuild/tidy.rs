//! Numbers the columns of a rebuilt file in order, and drops what changes in place left in its
//! footer: column ranges, free columns, and dead names, values and name indexes.

use std::collections::HashMap;

use entasis_format::{
    BlockRange, ColumnRecord, Error, NameSlot, Result, Runs, SectionKind, TableRecord, Value, ValueTree,
    Version, fallible,
};

use super::PARTS;
use super::records::{ColumnSections, Records, Values};
use crate::column_owners::{ColumnOwners, is_blank, unusual};
use crate::file::{ColumnInfo, File};
use crate::write::footer::LONG;

/// The sections of a rebuilt footer that name columns, values or names.
pub(super) struct Described {
    pub tables: Records,
    pub columns: ColumnSections,
    pub names: Records,
    pub name_index: Records,
    pub column_ranges: Records,
    pub ranges: Vec<u8>,
    pub values: Values,
    pub value_node: u64,
}

/// Whether the footer of a file may have something to drop.
pub(super) fn is_untidy(file: &File, columns: &[ColumnInfo]) -> bool {
    let root = file.root();
    let is_changed = root.previous.is_some() && file.n_columns_total() > LONG;
    let has_ranges = file.n_records(SectionKind::ColumnRanges) > 0;
    root.version() > Version::OLDEST && (is_changed || has_ranges || columns.iter().any(is_blank))
}

/// The sections with columns in order.
///
/// # Errors
/// *Unsupported* when the footer has values or records of a later version, or nothing shows where a
/// column belongs; otherwise as for reading.
pub(super) fn tidied(file: &File, columns: &[ColumnInfo], old: &Described) -> Result<Described> {
    let known = [(&old.names, SectionKind::Names), (&old.name_index, SectionKind::NameIndex)];
    let nodes = (&old.values.nodes, SectionKind::Nodes);
    if known.into_iter().chain([nodes]).any(|(section, kind)| section.record_len() != kind.record_len()) {
        return Err(Error::unsupported("records of a later version are stored as they are"));
    }
    let mut tables = Vec::new();
    for number in 0..file.n_tables() {
        fallible::push(&mut tables, file.table(number)?, PARTS)?;
    }
    let owners = ColumnOwners::of(file, columns, &tables)?;
    let mut numbers = HashMap::new();
    for (new, number) in (0..).zip(owners.in_order()) {
        fallible::insert(&mut numbers, number, new, PARTS)?;
    }
    let mut tidy = Tidy { file, old, numbers, names: Vec::new(), tree: ValueTree::new() };
    let value_node = tidy.value(Some(file.root().value_node))?.unwrap_or(0);
    let (ranges, first_ranges) = tidy.ranges()?;
    let columns = tidy.columns(&owners, &first_ranges)?;
    let (tables, name_index) = tidy.tables(&owners)?;
    let (nodes, heap) = tidy.tree.into_parts();
    let made = |kind: SectionKind, bytes| Records::new(kind.record_len(), bytes);
    Ok(Described {
        tables,
        columns,
        names: made(SectionKind::Names, tidy.names),
        name_index: made(SectionKind::NameIndex, name_index),
        column_ranges: made(SectionKind::ColumnRanges, Vec::new()),
        ranges,
        values: Values {
            nodes: made(SectionKind::Nodes, nodes),
            heap: made(SectionKind::ValueHeap, heap),
            details: HashMap::new(),
        },
        value_node,
    })
}

/// The new sections, as far as they are made.
struct Tidy<'a> {
    file: &'a File,
    old: &'a Described,
    /// The new number of each column that stays.
    numbers: HashMap<u64, u64>,
    names: Vec<u8>,
    tree: ValueTree,
}

impl Tidy<'_> {
    /// The new number of a column.
    fn number(&self, column: u64) -> Result<u64> {
        let number = self.numbers.get(&column).copied();
        number.ok_or_else(|| Error::unsupported("a record names a column that nothing else names"))
    }

    /// Copies the value of a node. Returns its new node.
    fn value(&mut self, node: Option<u64>) -> Result<Option<u64>> {
        if node.is_none() {
            return Ok(None);
        }
        let mut value = self.file.node_value(node)?;
        let mut problem = None;
        value.visit_mut(&mut |scalar| {
            if let Value::Column(column) = scalar {
                match self.number(*column) {
                    Ok(number) => *column = number,
                    Err(error) => problem = Some(error),
                }
            }
        });
        problem.map_or(Ok(()), Err)?;
        Ok(Some(self.tree.add(&value)))
    }

    /// The section *ranges*, by column, and the number of the first range of each old column.
    fn ranges(&self) -> Result<(Vec<u8>, HashMap<u64, u64>)> {
        let mut all = Vec::new();
        for range in BlockRange::parse_all(&self.old.ranges)? {
            fallible::push(&mut all, (self.number(range.column)?, range), PARTS)?;
        }
        all.sort_by_key(|(number, _)| *number);
        let (mut bytes, mut first_ranges) = (Vec::new(), HashMap::new());
        for (i, (column, range)) in (0..).zip(all) {
            if !first_ranges.contains_key(&range.column) {
                fallible::insert(&mut first_ranges, range.column, i, PARTS)?;
            }
            BlockRange { column, ..range }.emit(&mut bytes);
        }
        Ok((bytes, first_ranges))
    }

    /// The records of all columns that stay, with their names and values.
    fn columns(&mut self, owners: &ColumnOwners, first_ranges: &HashMap<u64, u64>) -> Result<ColumnSections> {
        let old = &self.old.columns;
        let n_records = old.records.iter().count() as u64;
        let runs = if old.runs.is_empty() { Runs::default() } else { Runs::parse(&old.runs, n_records)? };
        let mut out = Records::new(old.records.record_len(), Vec::new());
        fallible::reserve(&mut out.bytes, old.records.bytes.len(), PARTS)?;
        let (mut starts, mut next) = (Vec::new(), 0u64);
        for column in owners.in_order() {
            let record = runs.record_of(column);
            let of_record = runs.columns_of(record);
            // The other columns of a run follow its first one.
            if of_record.start != column {
                continue;
            }
            let mut members = (next..).zip(of_record.clone());
            if !members.all(|(new, column)| self.numbers.get(&column) == Some(&new)) {
                return Err(unusual());
            }
            let bytes = old.records.get(record).ok_or_else(|| Error::corrupt("a column has no record"))?;
            let (known, tail) = bytes.split_at_checked(ColumnRecord::LEN).unwrap_or((bytes, &[]));
            let mut record = self.renumbered(ColumnRecord::parse(known)?)?;
            record.first_range = first_ranges.get(&column).copied();
            record.emit(&mut out.bytes);
            out.bytes.extend_from_slice(tail);
            fallible::push(&mut starts, next, PARTS)?;
            next += of_record.end - of_record.start;
        }
        if next != self.numbers.len() as u64 {
            return Err(unusual());
        }
        let has_runs = next > starts.len() as u64;
        fallible::push(&mut starts, next, PARTS)?;
        let runs =
            if has_runs { starts.iter().flat_map(|start| start.to_le_bytes()).collect() } else { Vec::new() };
        Ok(ColumnSections { records: out, runs })
    }

    /// A column record with the new numbers of columns and nodes.
    fn renumbered(&mut self, mut record: ColumnRecord) -> Result<ColumnRecord> {
        let ColumnRecord { storage, parent, first_child, dictionary, .. } = &mut record;
        for named in [storage, parent, first_child, dictionary] {
            *named = named.map(|column| self.number(column)).transpose()?;
        }
        for node in [&mut record.detail, &mut record.host_detail, &mut record.metadata] {
            *node = self.value(*node)?;
        }
        // The offset of an empty name has no meaning.
        let (from, len) = (record.name_at as usize, record.name_len as usize);
        let names =
            if len == 0 { Some(&[][..]) } else { self.old.names.bytes.get(from..from.saturating_add(len)) };
        let names = names.ok_or_else(|| Error::corrupt("a name is outside of the names"))?;
        record.name_at = self.names.len() as u64;
        fallible::reserve(&mut self.names, names.len(), PARTS)?;
        self.names.extend_from_slice(names);
        Ok(record)
    }

    /// The records of all tables, and the section *name index*.
    fn tables(&mut self, owners: &ColumnOwners) -> Result<(Records, Vec<u8>)> {
        let mut out = Records::new(self.old.tables.record_len(), Vec::new());
        let (mut name_index, mut first_column) = (Vec::new(), 0u64);
        for (bytes, owned) in self.old.tables.iter().zip(&owners.tables) {
            let (known, tail) = bytes.split_at_checked(TableRecord::LEN).unwrap_or((bytes, &[]));
            let mut table = TableRecord::parse(known, self.file.root().version())?;
            (table.first_column, table.first_column_range, table.n_column_ranges) = (first_column, 0, 0);
            first_column += (owned.columns.len() + owned.extra.len()) as u64;
            for node in [&mut table.host_node, &mut table.sort_order, &mut table.metadata] {
                *node = self.value(*node)?;
            }
            let at = |slot: u64| usize::try_from(slot).ok()?.checked_mul(NameSlot::LEN);
            let slots = at(table.first_slot).zip(at(table.first_slot.saturating_add(table.n_slots)));
            let slots = slots.filter(|_| table.n_slots > 0);
            table.first_slot = (name_index.len() / NameSlot::LEN) as u64;
            if let Some((from, to)) = slots {
                let slots = self.old.name_index.bytes.get(from..to);
                let slots = slots.ok_or_else(|| Error::corrupt("a name index is outside of its section"))?;
                fallible::reserve(&mut name_index, slots.len(), PARTS)?;
                name_index.extend_from_slice(slots);
            }
            table.emit(&mut out.bytes);
            out.bytes.extend_from_slice(tail);
        }
        Ok((out, name_index))
    }
}
