//! The records of the tables of a new generation, with their name indexes.

use entasis_format::{NameSlot, Pieces, Result, TableRecord, build_name_index};

use super::column_ranges::ColumnRanges;
use super::contents::Contents;
use super::name_indexes::NameIndexes;
use super::tails::Tails;
use super::values::Values;
use crate::file::File;
use crate::frame::{Column, Frame};

/// Tables with at most this many column records have no name index, unless they have more than
/// [`MANY`] columns.
const FEW: usize = 8;
/// Column runs can give a table more columns than this in few records. It then has a name index.
const MANY: usize = 1 << 16;

/// The sections of tables and of their name indexes.
pub(super) struct TableRecords {
    pub tables: Vec<u8>,
    /// Bytes of a table record.
    pub record_len: u32,
    pub name_indexes: NameIndexes,
    pub pieces: Vec<u8>,
    pub column_ranges: ColumnRanges,
}

impl TableRecords {
    /// The records of all frames. Adds their host maps to `values`. `file` is the file that
    /// changes. The name indexes of `old` stay where they are.
    pub(super) fn of(
        contents: &Contents<'_>,
        file: Option<&File>,
        old: Option<&File>,
        values: &mut Values,
    ) -> Result<Self> {
        let tails = Tails::of_tables(file)?;
        let mut records = Self {
            tables: Vec::new(),
            record_len: tails.record_len,
            name_indexes: NameIndexes::after(old)?,
            pieces: Vec::new(),
            column_ranges: ColumnRanges::default(),
        };
        for number in 0..contents.plan.parts.frames.len() {
            records.add(contents, number, &tails, values)?;
        }
        Ok(records)
    }

    /// Adds the record of frame `number`.
    fn add(
        &mut self,
        contents: &Contents<'_>,
        number: usize,
        tails: &Tails<'_>,
        values: &mut Values,
    ) -> Result<()> {
        let (first, frame) = contents.plan.parts.frames[number];
        let old_number = tails.old_table(&frame.columns);
        let old = old_number.map(|table| tails.table(table)).transpose()?.flatten();
        let first_piece = self.pieces.len() / Pieces::RECORD_LEN;
        let pieces = contents.plan.pieces(number)?;
        pieces.iter().for_each(|pieces| pieces.emit(&mut self.pieces));
        let host_node = if frame.host.is_null() {
            None
        } else {
            let node = old.as_ref().and_then(File::host_node);
            let old_host = match (node, &old) {
                (Some(node), Some(old)) if values.keeps_nodes() => Some((node, old.node_value(Some(node))?)),
                _ => None,
            };
            let old_host = old_host.as_ref().map(|(node, host)| (*node, host));
            Some(values.add(&contents.in_file(&frame.host, first), old_host))
        };
        let metadata = tails.copied(old.as_ref().and_then(File::metadata_node), values)?;
        let names = frame.columns.iter().flat_map(Column::names);
        let index = if has_name_index(frame) { build_name_index(names)? } else { Vec::new() };
        let ranges = contents.column_ranges(number);
        let (first_column, n_column_ranges) = match &*ranges {
            [] => (0, 0),
            [range] if contents.first_number(number) >= range.start => (range.start, 0),
            _ => (0, ranges.len()),
        };
        let table = TableRecord {
            first_column,
            n_columns: frame.n_columns() as u64,
            n_rows: frame.n_rows,
            first_slot: self.name_indexes.add(&index, old.as_ref().map(File::name_slots)),
            n_slots: (index.len() / NameSlot::LEN) as u64,
            sort_order: None,
            host_node,
            metadata,
            first_piece: pieces.as_ref().map_or(0, |_| first_piece as u64),
            n_pieces: pieces.map_or(0, |pieces| pieces.n() as u32),
            first_column_range: if n_column_ranges > 0 { self.column_ranges.add(&ranges) } else { 0 },
            n_column_ranges: n_column_ranges as u32,
        };
        table.emit(&mut self.tables);
        tails.push(old_number, &mut self.tables)
    }
}

fn has_name_index(frame: &Frame) -> bool {
    frame.columns.len() > FEW || frame.n_columns() > MANY
}
