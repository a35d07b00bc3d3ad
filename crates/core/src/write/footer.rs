//! The footer of a file written whole: sections, root, trailer, and the header that names them.

use entasis_format::{
    BlockRecord, ColumnRecord, ColumnType, Header, Physical, Result, Root, SectionKind, Slot, Statistics,
    TRAILER_LEN, TableRecord, Trailer, Value, ValueTree, build_name_index, checksum, emit_section,
    n_name_slots,
};

use super::Stored;
use super::nested::{Family, Nested};
use super::output::{Output, Placed};
use crate::bundle::Bundle;
use crate::frame::Frame;
use crate::load::Scratch;

/// Records of the sections, in the making.
#[derive(Default)]
struct Records {
    columns: Vec<u8>,
    names: Vec<u8>,
    block_index: Vec<u8>,
    blocks: Vec<u8>,
    statistics: Vec<u8>,
}

/// Writes footer and header; returns the length of the file.
pub(super) fn write(
    frame: &Frame,
    nested: &Nested<'_>,
    bundles: &[Bundle],
    stored: &[Stored<'_>],
    blocks: &[Vec<Placed>],
    output: &Output<'_>,
) -> Result<u64> {
    let n_table = frame.columns.len();
    let n_own = n_table + frame.extra.len();
    let n_before_bundles = n_own + nested.children.len();
    let n_total = n_before_bundles + bundles.len();
    let mut blocks_of: Vec<&[Placed]> = vec![&[]; n_total];
    for (column, blocks) in stored.iter().zip(blocks) {
        blocks_of[column.column] = blocks;
    }
    let mut tree = ValueTree::new();
    let value_node = tree.add(&Value::Table(0));
    let host_node = if frame.host.is_null() { None } else { Some(tree.add(&frame.host)) };
    let mut records = Records::default();
    let mut members = member_places(frame, bundles)?;
    let mut tops = nested.tops.iter().peekable();
    for (i, column) in frame.columns.iter().chain(&frame.extra).enumerate() {
        let mut record = ColumnRecord {
            id: i as u64,
            name_at: records.names.len() as u64,
            name_len: u32::try_from(column.name.len()).map_err(|_| too_long(&column.name))?,
            column_type: column.column_type,
            is_bundled: false,
            is_bundle: false,
            n_values: column.array.n_values(),
            storage: None,
            parent: None,
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: column.dictionary.map(|d| (n_table + d) as u64),
            detail: column.detail.as_ref().map(|detail| tree.add(detail)),
            n_missing: n_missing(&column.column_type, column.array.n_values(), blocks_of[i]),
        };
        if let Some(member) = members.get_mut(i).and_then(Option::take) {
            record.is_bundled = true;
            record.storage = Some((n_before_bundles + member.bundle) as u64);
            record.first_value = member.first_value;
            record.n_missing = member.n_missing;
        }
        if let Some((_, family)) = tops.next_if(|(top, _)| *top == i) {
            adopt(&mut record, family, n_own);
        }
        records.names.extend_from_slice(column.name.as_bytes());
        record.emit(&mut records.columns);
    }
    for (i, child) in nested.children.iter().enumerate() {
        let (n_values, blocks) = (child.array.n_values(), blocks_of[n_own + i]);
        let mut record = ColumnRecord {
            id: (n_own + i) as u64,
            name_at: records.names.len() as u64,
            name_len: u32::try_from(child.name.len()).map_err(|_| too_long(&child.path))?,
            column_type: child.column_type,
            is_bundled: false,
            is_bundle: false,
            n_values,
            storage: None,
            parent: Some(child.parent.map_or(child.top, |parent| n_own + parent) as u64),
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: child.dictionary.map(|d| (n_table + d) as u64),
            detail: child.detail.map(|detail| tree.add(detail)),
            n_missing: n_missing(&child.column_type, n_values, blocks),
        };
        adopt(&mut record, &child.family, n_own);
        records.names.extend_from_slice(child.name.as_bytes());
        record.emit(&mut records.columns);
    }
    for (i, bundle) in bundles.iter().enumerate() {
        let first = &frame.columns[bundle.members[0]];
        let record = ColumnRecord {
            id: (n_before_bundles + i) as u64,
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
        };
        record.emit(&mut records.columns);
    }
    let mut n_blocks = 0u64;
    for blocks in &blocks_of {
        records.block_index.extend_from_slice(&n_blocks.to_le_bytes());
        n_blocks += blocks.len() as u64;
        for block in *blocks {
            emit_block(&block.record, &block.statistics, &mut records);
        }
    }
    records.block_index.extend_from_slice(&n_blocks.to_le_bytes());
    let table = TableRecord {
        first_column: 0,
        n_columns: n_table as u64,
        n_rows: frame.n_rows,
        first_slot: 0,
        n_slots: n_name_slots(n_table as u64),
        host_node,
    };
    let mut tables = Vec::new();
    table.emit(&mut tables);
    let name_index = build_name_index(frame.columns.iter().map(|c| c.name.as_str()));
    let (nodes, heap) = tree.into_parts();
    let at = output.end();
    let mut footer = Vec::new();
    let sections = [
        (SectionKind::Tables, &tables),
        (SectionKind::Columns, &records.columns),
        (SectionKind::Names, &records.names),
        (SectionKind::NameIndex, &name_index),
        (SectionKind::BlockIndex, &records.block_index),
        (SectionKind::Blocks, &records.blocks),
        (SectionKind::Statistics, &records.statistics),
        (SectionKind::Nodes, &nodes),
        (SectionKind::ValueHeap, &heap),
    ]
    .map(|(kind, records)| {
        emit_section(kind, 0, kind.record_len(), records, at + footer.len() as u64, &mut footer)
    });
    let root = Root {
        generation: 1,
        previous: None,
        value_node,
        writer_version: writer_version(),
        sections: sections.to_vec(),
    };
    commit(&root, at, footer, output)
}

/// Writes the footer with its root and trailer, then the header that names them.
fn commit(root: &Root, at: u64, mut footer: Vec<u8>, output: &Output<'_>) -> Result<u64> {
    let root_at = at + footer.len() as u64;
    let root = root.emit();
    footer.extend_from_slice(&root);
    let slot = Slot {
        generation: 1,
        root_at,
        root_len: root.len() as u32,
        end: at + (footer.len() + TRAILER_LEN) as u64,
        root_checksum: checksum(&root),
    };
    let trailer = Trailer {
        generation: slot.generation,
        root_at,
        root_len: slot.root_len,
        end: slot.end,
        root_checksum: slot.root_checksum,
    };
    footer.extend_from_slice(&trailer.emit());
    output.append(&footer)?;
    output.write(0, &Header::whole(slot).emit())?;
    Ok(slot.end)
}

/// Where a bundled column's values are.
struct Member {
    bundle: usize,
    first_value: u64,
    n_missing: u64,
}

fn member_places(frame: &Frame, bundles: &[Bundle]) -> Result<Vec<Option<Member>>> {
    let mut scratch = Scratch::default();
    let mut places: Vec<Option<Member>> = frame.columns.iter().map(|_| None).collect();
    for (bundle, of) in bundles.iter().enumerate() {
        for (k, &i) in of.members.iter().enumerate() {
            let n_missing = scratch.count_missing(&frame.columns[i].array, of.column_type.layout())?;
            places[i] = Some(Member { bundle, first_value: k as u64 * frame.n_rows, n_missing });
        }
    }
    Ok(places)
}

/// Tells the record of a column of its children.
fn adopt(record: &mut ColumnRecord, family: &Family, n_own: usize) {
    if !family.children.is_empty() {
        record.first_child = Some((n_own + family.children.start) as u64);
        record.n_children = family.children.len() as u32;
    }
}

fn n_missing(of: &ColumnType, n_values: u64, blocks: &[Placed]) -> u64 {
    if of.physical == Physical::Null {
        n_values
    } else {
        blocks.iter().map(|block| u64::from(block.statistics.n_missing)).sum()
    }
}

fn emit_block(record: &BlockRecord, statistics: &Statistics, records: &mut Records) {
    record.emit(&mut records.blocks);
    statistics.emit(&mut records.statistics);
}

fn too_long(name: &str) -> entasis_format::Error {
    entasis_format::Error::argument("a column name of 4 GiB or more").in_column(&name[..64])
}

/// This release, as the root keeps it.
fn writer_version() -> u32 {
    let mut parts = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    next() << 16 | next() << 8 | next()
}
