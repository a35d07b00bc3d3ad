//! Writes the footer of a new file: sections, root and trailer, then the header that names them.

use std::borrow::Cow;

use entasis_format::{
    BlockRange, ColumnRecord, ColumnType, Header, NameSlot, Physical, Result, Root, SLOT_PAGES_END, Section,
    SectionKind, Slot, TRAILER_LEN, TableRecord, Trailer, Value, ValueTree, build_name_index, checksum,
    n_name_slots,
};

use super::bundle::Bundle;
use super::input::Scratch;
use super::nested::{ChildColumns, Nested};
use super::placement::{Placed, Placement};
use super::sections;
use super::tiers::Tiers;
use super::{Parts, Stored};
use crate::file::File;
use crate::frame::{Array, Column};
use entasis_io::Sink;

/// Tables with at most this many column records have no name index, ...
const FEW: usize = 8;
/// ... unless column runs make them more columns than this.
const MANY: usize = 1 << 16;

/// The number of the first column of each record; empty if each record is one column.
struct Numbers(Vec<u64>);

impl Numbers {
    fn of(parts: &Parts<'_>) -> Self {
        let mut numbers = Vec::new();
        if parts.columns().any(|(column, ..)| column.run.is_some()) {
            let mut next = 0;
            for (column, ..) in parts.columns() {
                numbers.push(next);
                next += column.n_columns() as u64;
            }
            numbers.push(next);
        }
        Self(numbers)
    }

    fn of_record(&self, record: usize) -> u64 {
        match (self.0.get(record), self.0.last()) {
            (Some(&number), _) => number,
            // Children and bundles come after the columns, one per record.
            (None, Some(&last)) => last + (record + 1 - self.0.len()) as u64,
            (None, None) => record as u64,
        }
    }

    /// The section of runs for a file with this many records.
    fn emit(&self, n_records: usize) -> Vec<u8> {
        if self.0.is_empty() {
            return Vec::new();
        }
        (0..=n_records).flat_map(|record| self.of_record(record).to_le_bytes()).collect()
    }
}

/// The records of the sections, so far.
#[derive(Default)]
struct Records {
    columns: Vec<u8>,
    names: Vec<u8>,
    ranges: Vec<u8>,
    blocks: Vec<u8>,
    statistics: Vec<u8>,
}

/// The state that a new generation builds on.
#[derive(Default)]
pub(crate) struct Ground<'a> {
    /// The file that is changed, as the view of all its columns; none for a new file.
    pub file: Option<&'a File>,
    /// The committed generation before; none for a new file.
    pub base: Option<Base>,
    /// Whether the new generation refers to bytes of that file.
    pub is_in_place: bool,
    /// Whether the generation before is in the same file.
    pub is_linked: bool,
    /// The code of the operation.
    pub operation: u16,
    /// The compression of values that are written; none for that of the file.
    pub compression: Option<u8>,
    /// The time of the change; 0 when unknown.
    pub time: i64,
    /// Whether the bytes will not be synced.
    pub not_synced: bool,
}

impl Ground<'_> {
    fn compression(&self) -> Option<u8> {
        self.compression.or_else(|| self.file?.compression())
    }
}

/// The generation before a new one.
#[derive(Clone, Copy)]
pub(crate) struct Base {
    generation: u64,
    file_id: [u8; 16],
    /// Place, length and checksum of its root.
    root: (u64, u32, u64),
}

impl Base {
    /// The current generation of a file.
    pub(crate) fn of(file: &File) -> Self {
        let slot = file.slot();
        Self {
            generation: slot.generation,
            file_id: file.root().file_id,
            root: (slot.root_at, slot.root_len, slot.root_checksum),
        }
    }
}

/// Writes the root of a new generation whose sections are those of an earlier one. Returns the slot
/// that makes it current.
pub(crate) fn write_root(sections_of: &Root, ground: &Ground<'_>, sink: &dyn Sink, at: u64) -> Result<Slot> {
    let root = Root {
        generation: ground.base.map_or(0, |base| base.generation) + 1,
        previous: ground.base.map(|base| base.root),
        time: ground.time,
        operation: ground.operation,
        program: program(),
        ..sections_of.clone()
    };
    finish(&root, at, Vec::new(), ground, Placement::new(sink, at, 0, 0)).append()
}

/// The footer of a new generation, with root and trailer.
pub(crate) struct Footer<'a> {
    bytes: Vec<u8>,
    slot: Slot,
    placement: Placement<'a>,
}

impl Footer<'_> {
    /// Writes the footer of a whole file, then its header. Returns the length of the file.
    pub(crate) fn commit(self, start: u64) -> Result<u64> {
        let header = Header::whole(self.slot, start == SLOT_PAGES_END);
        self.placement.finish(&self.bytes, &header.emit())?;
        Ok(self.slot.end)
    }

    /// Writes the footer of a change. Returns the slot that makes it current.
    pub(crate) fn append(self) -> Result<Slot> {
        self.placement.append(&self.bytes)?;
        Ok(self.slot)
    }
}

/// Makes the footer of a new generation.
pub(super) fn make<'p>(
    (parts, nested, bundles): (&Parts<'_>, &Nested<'_>, &[Bundle]),
    stored: &[Stored<'_>],
    blocks: &[Vec<Placed>],
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Result<Footer<'p>> {
    let n_own = parts.n_columns;
    let numbers = Numbers::of(parts);
    let number = |record: usize| numbers.of_record(record);
    let n_before_bundles = n_own + nested.children.len();
    let n_total = n_before_bundles + bundles.len();
    let mut blocks_of: Vec<&[Placed]> = vec![&[]; n_total];
    let mut kept_of: Vec<&[BlockRange]> = vec![&[]; n_total];
    for (column, blocks) in stored.iter().zip(blocks) {
        blocks_of[column.column] = blocks;
        kept_of[column.column] = column.array.keep().map_or(&[], |keep| &keep.ranges);
    }
    let mut tree = ValueTree::new();
    let n_loose = parts.loose.len();
    let value_node = match parts.value {
        None => tree.add(&Value::Table(0)),
        Some(value) => tree.add(&in_file(value, number(n_own - n_loose))),
    };
    let mut records = Records::default();
    records.columns.reserve(n_total * ColumnRecord::LEN);
    records.ranges.reserve(n_total * BlockRange::LEN);
    let mut members = member_places(parts, bundles)?;
    let mut tops = nested.tops.iter().peekable();
    // For each column, the number of the first column after its table.
    let mut all_first_extra = Vec::with_capacity(n_own);
    for (i, (column, first_extra, _)) in parts.columns().enumerate() {
        all_first_extra.push(first_extra);
        let mut record = ColumnRecord {
            id: number(i),
            name_at: records.names.len() as u64,
            name_len: 0,
            column_type: column.column_type,
            is_bundled: false,
            is_bundle: false,
            n_values: column.array.n_total() / column.n_columns() as u64,
            storage: None,
            parent: None,
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: column.dictionary.map(|d| number(first_extra + d)),
            detail: column.detail.as_ref().map(|detail| tree.add(detail)),
            n_missing: n_missing(&column.column_type, &column.array, blocks_of[i]),
            metadata: None,
        };
        if let Some(member) = members.get_mut(i).and_then(Option::take) {
            record.is_bundled = true;
            record.storage = Some(number(n_before_bundles + member.bundle));
            record.first_value = member.first_value;
            record.n_missing = member.n_missing;
        }
        if let Some((_, child_columns)) = tops.next_if(|(top, _)| *top == i) {
            link_children(&mut record, child_columns, number(n_own));
        }
        match &column.run {
            Some(names) => names.emit(&mut records.names),
            None => records.names.extend_from_slice(column.name.as_bytes()),
        }
        let name_len = records.names.len() as u64 - record.name_at;
        record.name_len = u32::try_from(name_len).map_err(|_| too_long(&column.name))?;
        record.emit(&mut records.columns);
    }
    for (i, child) in nested.children.iter().enumerate() {
        let (n_values, blocks) = (child.array.n_total(), blocks_of[n_own + i]);
        let mut record = ColumnRecord {
            id: number(n_own + i),
            name_at: records.names.len() as u64,
            name_len: u32::try_from(child.name.len()).map_err(|_| too_long(&child.path))?,
            column_type: child.column_type,
            is_bundled: false,
            is_bundle: false,
            n_values,
            storage: None,
            parent: Some(number(child.parent.map_or(child.top, |parent| n_own + parent))),
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: child.dictionary.map(|d| number(all_first_extra[child.top] + d)),
            detail: child.detail.map(|detail| tree.add(detail)),
            n_missing: n_missing(&child.column_type, &child.array, blocks),
            metadata: None,
        };
        link_children(&mut record, &child.child_columns, number(n_own));
        records.names.extend_from_slice(child.name.as_bytes());
        record.emit(&mut records.columns);
    }
    for (i, bundle) in bundles.iter().enumerate() {
        let first = &parts.frames[bundle.frame].1.columns[bundle.members[0]];
        let record = ColumnRecord {
            id: number(n_before_bundles + i),
            name_at: records.names.len() as u64,
            name_len: 0,
            column_type: bundle.column_type,
            is_bundled: false,
            is_bundle: true,
            n_values: bundle.array.n_values(),
            storage: None,
            parent: None,
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: None,
            detail: first.detail.as_ref().map(|detail| tree.add(detail)),
            n_missing: blocks_of[n_before_bundles + i]
                .iter()
                .map(|b| u64::from(b.statistics.n_missing))
                .sum(),
            metadata: None,
        };
        record.emit(&mut records.columns);
    }
    let n_new = blocks_of.iter().map(|blocks| blocks.len() as u64).sum();
    let tiers = Tiers::plan(&kept_of, n_new);
    let mut n_blocks = 0u64;
    for (i, (blocks, kept)) in blocks_of.iter().zip(&kept_of).enumerate() {
        let column = number(i);
        let (stay, merged) = tiers.split(kept);
        stay.for_each(|range| BlockRange { column, ..range }.emit(&mut records.ranges));
        let n_merged: u64 = merged.iter().map(|range| u64::from(range.n_blocks)).sum();
        if let (Some(file), true) = (ground.file, n_merged > 0) {
            records.blocks.extend(file.range_records(SectionKind::Blocks, merged)?);
            records.statistics.extend(file.range_records(SectionKind::Statistics, merged)?);
        }
        let n = n_merged + blocks.len() as u64;
        if n > 0 {
            let n_blocks_of = u32::try_from(n).map_err(|_| too_many_blocks())?;
            let range =
                BlockRange { column, first_block: n_blocks, n_blocks: n_blocks_of, tier: tiers.number() };
            range.emit(&mut records.ranges);
        }
        n_blocks += n;
        for block in *blocks {
            block.record.emit(&mut records.blocks);
            block.statistics.emit(&mut records.statistics);
        }
    }
    let (mut tables, mut name_index) = (Vec::new(), Vec::new());
    for &(first, frame) in &parts.frames {
        let n_columns = frame.n_columns() as u64;
        let has_index = frame.columns.len() > FEW || frame.n_columns() > MANY;
        let table = TableRecord {
            first_column: number(first),
            n_columns,
            n_rows: frame.n_rows,
            first_slot: (name_index.len() / NameSlot::LEN) as u64,
            n_slots: if has_index { n_name_slots(n_columns) } else { 0 },
            sort_order: None,
            host_node: (!frame.host.is_null()).then(|| tree.add(&in_file(&frame.host, number(first)))),
        };
        table.emit(&mut tables);
        if has_index {
            name_index.extend(build_name_index(frame.columns.iter().flat_map(Column::names))?);
        }
    }
    let (nodes, heap) = tree.into_parts();
    let runs = numbers.emit(n_total);
    let sections = [
        (SectionKind::Tables, &*tables),
        (SectionKind::Columns, &records.columns),
        (SectionKind::Names, &records.names),
        (SectionKind::NameIndex, &name_index),
        (SectionKind::Ranges, &records.ranges),
        (SectionKind::Blocks, &records.blocks),
        (SectionKind::Statistics, &records.statistics),
        (SectionKind::Nodes, &nodes),
        (SectionKind::ValueHeap, &heap),
        (SectionKind::Runs, &runs),
    ];
    let kept = ground.file.filter(|_| ground.is_in_place).map(|file| tiers.sections(file.root()));
    let kept: Vec<Section> = kept.into_iter().flatten().collect();
    Ok(seal(&sections, (tiers.number(), kept), value_node, ground, placement))
}

/// Emits the records of all sections, and root and trailer. `tier` is the number of the new tier,
/// and `kept` has the sections of the tiers before it.
pub(crate) fn seal<'p>(
    sections: &[(SectionKind, &[u8])],
    (tier, kept): (u16, Vec<Section>),
    value_node: u64,
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Footer<'p> {
    let at = placement.end();
    let (footer, mut sections) = sections::emit(sections, tier, ground.compression(), at);
    sections.extend(kept);
    let root = Root {
        generation: ground.base.map_or(0, |base| base.generation) + 1,
        previous: ground.base.filter(|_| ground.is_linked).map(|base| base.root),
        value_node,
        time: ground.time,
        operation: ground.operation,
        compression: ground.compression().map_or(0, |compression| compression.saturating_add(1)),
        file_id: ground.base.map_or_else(|| file_id(&footer), |base| base.file_id),
        program: program(),
        sections,
    };
    finish(&root, at, footer, ground, placement)
}

/// Adds root and trailer to a footer.
fn finish<'p>(
    root: &Root,
    at: u64,
    mut footer: Vec<u8>,
    ground: &Ground<'_>,
    placement: Placement<'p>,
) -> Footer<'p> {
    footer.resize(footer.len() + (at + footer.len() as u64).wrapping_neg() as usize % 8, 0);
    let root_at = at + footer.len() as u64;
    let bytes = root.emit();
    footer.extend_from_slice(&bytes);
    let slot = Slot {
        generation: root.generation,
        root_at,
        root_len: bytes.len() as u32,
        end: at + (footer.len() + TRAILER_LEN) as u64,
        root_checksum: checksum(&bytes),
        not_synced: ground.not_synced,
    };
    footer.extend_from_slice(&Trailer::from(slot).emit());
    Footer { bytes: footer, slot, placement }
}

/// A value with `first` added to its column numbers.
fn in_file(value: &Value, first: u64) -> Cow<'_, Value> {
    if first == 0 {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    value.visit_mut(&mut |scalar| {
        if let Value::Column(number) = scalar {
            *number += first;
        }
    });
    Cow::Owned(value)
}

/// Where the values of a bundled column are.
struct Member {
    bundle: usize,
    first_value: u64,
    n_missing: u64,
}

fn member_places(parts: &Parts<'_>, bundles: &[Bundle]) -> Result<Vec<Option<Member>>> {
    let mut scratch = Scratch::default();
    let mut places: Vec<Option<Member>> = Vec::new();
    places.resize_with(if bundles.is_empty() { 0 } else { parts.n_columns }, || None);
    for (bundle, of) in bundles.iter().enumerate() {
        let frame = parts.frames[of.frame].1;
        let mut first_value = 0;
        for &i in &of.members {
            let array = &frame.columns[i].array;
            let n_missing = scratch.count_missing(array, of.column_type.layout())?;
            places[of.first + i] = Some(Member { bundle, first_value, n_missing });
            first_value += array.n_values();
        }
    }
    Ok(places)
}

/// Enters the children of a column in its record.
fn link_children(record: &mut ColumnRecord, child_columns: &ChildColumns, first_child: u64) {
    if !child_columns.children.is_empty() {
        record.first_child = Some(first_child + child_columns.children.start as u64);
        record.n_children = child_columns.children.len() as u32;
    }
}

fn n_missing(of: &ColumnType, array: &Array, blocks: &[Placed]) -> u64 {
    if of.physical == Physical::Null {
        array.n_total()
    } else {
        let kept = array.keep().map_or(0, |keep| keep.n_missing);
        kept + blocks.iter().map(|block| u64::from(block.statistics.n_missing)).sum::<u64>()
    }
}

fn too_many_blocks() -> entasis_format::Error {
    entasis_format::Error::unsupported("a column of 4,294,967,296 blocks or more").advise("split the table")
}

fn too_long(name: &str) -> entasis_format::Error {
    entasis_format::Error::argument("a column name of 4 GiB or more").in_column(&name[..64])
}

/// A file's id is made from its first footer, so that equal values give equal bytes.
fn file_id(footer: &[u8]) -> [u8; 16] {
    let half = checksum(footer);
    let other = checksum(&[footer.len() as u64, half].map(u64::to_le_bytes).concat());
    bytemuck::cast([half.to_le(), other.to_le()])
}

/// This program and its version, as roots store them.
fn program() -> [u8; 32] {
    let mut out = [0; 32];
    let name = concat!("entasis ", env!("CARGO_PKG_VERSION")).bytes();
    out.iter_mut().zip(name).for_each(|(out, byte)| *out = byte);
    out
}
