//! A whole file, from the header to the values.

use std::ops::Range;

use super::bytes::{Kind, Room, Wrong, range, rule, u32_at, u64_at, wrong};
use super::column::{Column, Sections};
use super::header::{Header, Slot, Version, header};
use super::records::{ColumnRecord, Statistics, TableRecord};
use super::root::{Root, root};
use super::section::{Section, kind};
use super::types;
use super::value::{Nodes, Tree};

/// A table of a decoded file.
#[derive(Clone, Debug)]
pub struct Table {
    /// The record.
    pub record: TableRecord,
    /// The numbers of its columns.
    pub columns: Vec<Range<u64>>,
    /// The host map, or null.
    pub host: Tree,
    /// The sort order, or null.
    pub sort_order: Tree,
    /// The user's metadata, or null.
    pub metadata: Tree,
    /// The number of rows of each piece; empty without pieces.
    pub pieces: Vec<u64>,
}

/// A decoded file.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The header and the slots.
    pub header: Header,
    /// The root of the current generation.
    pub root: Root,
    /// The file's value.
    pub value: Tree,
    /// All tables.
    pub tables: Vec<Table>,
    /// All columns of the file.
    pub columns: Vec<Column>,
    /// The name index.
    pub name_index: Vec<u8>,
    /// Offset and length of all parts of the known sections.
    pub parts: Vec<(u64, u64)>,
    /// Sections of kinds that version 0.3 does not define.
    pub unknown: Vec<Section>,
    /// The sections that describe blocks.
    pub of_blocks: Sections,
}

impl Decoded {
    /// The columns of a table.
    pub fn columns_of(&self, table: usize) -> Vec<&Column> {
        let of = |range: &Range<u64>| &self.columns[range.start as usize..range.end as usize];
        self.tables[table].columns.iter().flat_map(of).collect()
    }
}

/// Decodes a whole file.
///
/// # Errors
/// The first rule that is broken.
pub fn decode(file: &[u8]) -> Result<Decoded, Wrong> {
    let header = header(file)?;
    decode_at(file, header, header.current)
}

/// Decodes a file at the generation that a slot names.
///
/// # Errors
/// The first rule that is broken.
pub fn decode_at(file: &[u8], header: Header, slot: Slot) -> Result<Decoded, Wrong> {
    let header = Header { current: slot, ..header };
    let room = header.room(file);
    let root = root(room, &header.current)?;
    let mut parts = Vec::new();
    let mut all: [Vec<u8>; 13] = Default::default();
    let mut tiers: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for section in root.sections.iter().filter(|section| section.is_known()) {
        let (records, of_section) = section.read(room)?;
        parts.extend(of_section);
        let tier = usize::from(section.tier);
        if section.kind == kind::BLOCKS || section.kind == kind::STATISTICS {
            tiers.resize(tiers.len().max(tier + 1), Default::default());
        }
        match section.kind {
            kind::BLOCKS => tiers[tier].0 = records,
            kind::STATISTICS => tiers[tier].1 = records,
            kind => all[kind as usize] = records,
        }
    }
    let unknown = root.sections.iter().filter(|section| !section.is_known()).copied().collect();

    let [_, tables, columns, names, name_index, ranges, _, _, nodes, heap, runs, pieces, column_ranges] =
        &all;
    let of_blocks = Sections::new(ranges, tiers)?;
    let runs = runs_of(runs, columns.len() / 120)?;
    let n_columns = runs.last().map_or(0, |run| run.end);
    rule(n_columns <= room.file.len() as u64 / 4, "a column takes 4 bytes of the file")?;
    let n_tables = tables.len() as u64 / 96;
    let mut nodes = Nodes::new(nodes, heap, n_columns, n_tables);
    let mut in_pieces = Vec::new();
    for bytes in tables.chunks_exact(96) {
        let record = TableRecord::parse(bytes, root.version)?;
        if let Some(lens) = pieces_of(&record, pieces)? {
            in_pieces.push(InPieces { columns: ranges_of(&record, column_ranges, n_columns)?, lens });
        }
    }
    let columns =
        read_columns((room, root.version), columns, &runs, names, (&of_blocks, &in_pieces), &mut nodes)?;
    let mut read_tables = Vec::new();
    for bytes in tables.chunks_exact(96) {
        let record = TableRecord::parse(bytes, root.version)?;
        let mut value = |node: Option<u64>| node.map_or(Ok(Tree::Null), |node| nodes.value(node));
        let (host, sort_order) = (value(record.host_node)?, value(record.sort_order)?);
        let metadata = value(record.metadata)?;
        let is_map = record.metadata.is_none() || matches!(metadata, Tree::Map(_));
        rule(is_map, "the metadata of a table are a map")?;
        let columns = ranges_of(&record, column_ranges, n_columns)?;
        let n_own = |run: &Range<u64>| -> u64 {
            let of = |range: &Range<u64>| range.end.min(run.end).saturating_sub(range.start.max(run.start));
            columns.iter().map(of).sum()
        };
        let fits = runs.iter().all(|run| [0, run.end - run.start].contains(&n_own(run)));
        rule(fits, "the columns of a run are of one table")?;
        let slots = record.first_slot.checked_add(record.n_slots);
        let inside = record.n_slots == 0 || slots.is_some_and(|end| end <= name_index.len() as u64 / 16);
        rule(inside, "the slots of a table are in the name index")?;
        let pieces = pieces_of(&record, pieces)?.unwrap_or_default();
        read_tables.push(Table { record, columns, host, sort_order, metadata, pieces });
    }
    let value = nodes.value(root.value_node)?;
    let is_held = match &value {
        Tree::Table(_) => true,
        Tree::Map(pairs) => pairs.iter().any(|(key, value)| {
            *key == Tree::Str("value".into()) && matches!(value, Tree::Table(_) | Tree::Cell(_))
        }),
        _ => false,
    };
    if !is_held {
        return wrong(Kind::Unsupported, "the value is neither a table nor a cell");
    }
    let decoded = Decoded {
        header,
        root,
        value,
        tables: read_tables,
        columns,
        name_index: name_index.clone(),
        parts,
        unknown,
        of_blocks,
    };
    for (i, table) in decoded.tables.iter().enumerate() {
        for column in decoded.columns_of(i) {
            rule(column.record.n_values == table.record.n_rows, "n_rows equals n_values of each column")?;
            rule(!column.record.is_bundle, "a storage column belongs to no table")?;
            rule(!column.is_child, "a child belongs to no table")?;
        }
    }
    Ok(decoded)
}

/// The numbers of the columns of a table.
fn ranges_of(table: &TableRecord, section: &[u8], n_columns: u64) -> Result<Vec<Range<u64>>, Wrong> {
    let (first, n) = table.column_ranges;
    if n == 0 {
        let end = table.first_column.checked_add(table.n_columns);
        rule(end.is_some_and(|end| end <= n_columns), "the columns of a table are there")?;
        return Ok(Vec::from_iter(Some(table.first_column..table.first_column + table.n_columns)));
    }
    rule(table.first_column == 0, "the first column of a table with column ranges")?;
    rule(first + u64::from(n) <= section.len() as u64 / 16, "the column ranges of a table are there")?;
    let mut ranges = Vec::new();
    for i in first as usize..first as usize + n as usize {
        let (start, len) = (u64_at(section, 16 * i), u64_at(section, 16 * i + 8));
        let end = start.checked_add(len);
        rule(len > 0 && end.is_some_and(|end| end <= n_columns), "a column range is in the file")?;
        ranges.push(start..start + len);
    }
    let mut sorted = ranges.clone();
    sorted.sort_unstable_by_key(|range| range.start);
    rule(sorted.windows(2).all(|pair| pair[0].end <= pair[1].start), "column ranges do not overlap")?;
    let len: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    rule(len == table.n_columns, "the column ranges have the columns of the table")?;
    Ok(ranges)
}

/// A table whose rows lie in pieces.
struct InPieces {
    columns: Vec<Range<u64>>,
    /// The number of rows of each piece.
    lens: Vec<u64>,
}

/// The numbers of rows of the pieces of a table, if it has pieces.
fn pieces_of(table: &TableRecord, section: &[u8]) -> Result<Option<Vec<u64>>, Wrong> {
    let (first, n) = table.pieces;
    if n == 0 {
        return Ok(None);
    }
    rule(n <= 64, "a table has at most 64 pieces")?;
    let is_inside = first + u64::from(n) <= section.len() as u64 / 8;
    rule(is_inside, "the pieces of a table are there")?;
    let lens: Vec<u64> = (first..first + u64::from(n)).map(|i| u64_at(section, 8 * i as usize)).collect();
    rule(lens.iter().all(|&len| len >= 1), "a piece has a row")?;
    let sum: u128 = lens.iter().map(|&len| u128::from(len)).sum();
    rule(sum == u128::from(table.n_rows), "the pieces of a table have its rows")?;
    Ok(Some(lens))
}

/// The columns that each of the column records stands for.
fn runs_of(section: &[u8], n_records: usize) -> Result<Vec<Range<u64>>, Wrong> {
    if section.is_empty() {
        return Ok((0..n_records as u64).map(|column| column..column + 1).collect());
    }
    let starts: Vec<u64> = section.chunks_exact(8).map(|bytes| u64_at(bytes, 0)).collect();
    rule(starts.len() == n_records + 1 && starts[0] == 0, "a run for each column record")?;
    rule(starts.windows(2).all(|pair| pair[0] < pair[1]), "runs ascend")?;
    Ok(starts.windows(2).map(|pair| pair[0]..pair[1]).collect())
}

/// The names of the columns that a record stands for.
fn names_of(bytes: &[u8], n: u64) -> Result<Vec<String>, Wrong> {
    let text_of = |text: &[u8]| match String::from_utf8(text.to_vec()) {
        Ok(name) => Ok(name),
        Err(_) => wrong(Kind::Corrupt, "a name is UTF-8"),
    };
    if n == 1 {
        return Ok(vec![text_of(bytes)?]);
    }
    rule(u128::from(n) * 4 <= bytes.len() as u128, "each name of a run has an end")?;
    let text = &bytes[4 * n as usize..];
    let mut names = Vec::new();
    let mut start = 0;
    for k in 0..n as usize {
        let end = u64::from(u32_at(bytes, 4 * k));
        rule(start <= end, "the ends of names ascend")?;
        names.push(text_of(range(text, start, end - start)?)?);
        start = end;
    }
    rule(start == text.len() as u64, "the last name ends with the text")?;
    Ok(names)
}

fn read_columns(
    (room, version): (Room<'_>, Version),
    records: &[u8],
    runs: &[Range<u64>],
    names: &[u8],
    (of_blocks, in_pieces): (&Sections, &[InPieces]),
    nodes: &mut Nodes<'_>,
) -> Result<Vec<Column>, Wrong> {
    let mut columns = Vec::new();
    for (i, bytes) in records.chunks_exact(120).enumerate() {
        let mut record = ColumnRecord::parse(bytes)?;
        if version == (0, 2) {
            record.of = types::of_0_2(record.of);
        }
        let n = runs[i].end - runs[i].start;
        let of_names = range(names, record.name_at, u64::from(record.name_len))?;
        rule(n == 1 || record.is_bundled, "the columns of a run are bundled")?;
        for (k, name) in (0..n).zip(names_of(of_names, n)?) {
            let mut value = |node: Option<u64>| node.map(|node| nodes.value(node)).transpose();
            let (detail, metadata) = (value(record.detail)?, value(record.metadata)?);
            let host_detail = value(record.host_detail)?;
            let is_map = matches!(metadata, None | Some(Tree::Map(_)));
            rule(is_map, "the metadata of a column are a map")?;
            let (ranges, blocks, statistics, cells) = Default::default();
            let first = k.checked_mul(record.n_values).and_then(|skip| skip.checked_add(record.first_value));
            let (Some(first_value), Some(id)) = (first, record.id.checked_add(k)) else {
                return wrong(Kind::Corrupt, "numbers of a run");
            };
            let record = ColumnRecord { id, first_value, ..record.clone() };
            let mut column = Column {
                name,
                record,
                detail,
                host_detail,
                metadata,
                ranges,
                blocks,
                statistics,
                cells,
                is_child: false,
            };
            column.find_blocks(runs[i].start + k, of_blocks, version)?;
            if version == (0, 2) && column.record.of.physical == types::physical::U128 {
                column.statistics =
                    column.statistics.into_iter().map(Statistics::without_order).collect::<Result<_, _>>()?;
            }
            if !column.record.is_bundled {
                column.decode(room)?;
            }
            columns.push(column);
        }
    }
    let n = columns.len() as u64;
    for i in 0..columns.len() {
        if let Some(storage) = columns[i].record.storage {
            rule(storage < n, "a storage column that is not there")?;
            let table =
                in_pieces.iter().find(|table| table.columns.iter().any(|range| range.contains(&(i as u64))));
            columns[i].cells =
                columns[i].cells_of(&columns[storage as usize], table.map(|table| &*table.lens))?;
        }
    }
    for column in &columns {
        let n_categories = match column.record.dictionary {
            None => 0,
            Some(dictionary) => {
                rule(dictionary < n, "a dictionary column that is not there")?;
                columns[dictionary as usize].record.n_values
            }
        };
        column.check_values(n_categories)?;
    }
    super::nested::check(&mut columns)?;
    Ok(columns)
}
