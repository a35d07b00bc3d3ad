//! The records of the tables of a new generation, with their name indexes.

use entasis_format::{NameSlot, Pieces, Result, TableRecord, ValueTree, build_name_index, n_name_slots};

use super::contents::Contents;
use super::tails::Tails;
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
    pub name_index: Vec<u8>,
    pub pieces: Vec<u8>,
}

impl TableRecords {
    /// The records of all frames. Adds their host maps to `tree`. `file` is the file that changes.
    pub(super) fn of(contents: &Contents<'_>, file: Option<&File>, tree: &mut ValueTree) -> Result<Self> {
        let tails = Tails::of_tables(file)?;
        let record_len = tails.record_len;
        let mut records = Self { tables: Vec::new(), record_len, name_index: Vec::new(), pieces: Vec::new() };
        for (number, &(first, frame)) in contents.plan.parts.frames.iter().enumerate() {
            let first_piece = records.pieces.len() / Pieces::RECORD_LEN;
            let pieces = contents.plan.pieces(number)?;
            pieces.iter().for_each(|pieces| pieces.emit(&mut records.pieces));
            let n_columns = frame.n_columns() as u64;
            let has_index = has_name_index(frame);
            let host_node = (!frame.host.is_null()).then(|| tree.add(&contents.in_file(&frame.host, first)));
            let mut table = TableRecord {
                first_column: contents.number(first),
                n_columns,
                n_rows: frame.n_rows,
                first_slot: (records.name_index.len() / NameSlot::LEN) as u64,
                n_slots: if has_index { n_name_slots(n_columns) } else { 0 },
                sort_order: None,
                host_node,
                metadata: None,
                first_piece: pieces.as_ref().map_or(0, |_| first_piece as u64),
                n_pieces: pieces.map_or(0, |pieces| pieces.n() as u32),
                first_column_range: 0,
                n_column_ranges: 0,
            };
            let old = tails.of_table(&frame.columns, &mut table, tree)?;
            table.emit(&mut records.tables);
            tails.push(old, &mut records.tables)?;
            if has_index {
                let names = frame.columns.iter().flat_map(Column::names);
                records.name_index.extend(build_name_index(names)?);
            }
        }
        Ok(records)
    }
}

fn has_name_index(frame: &Frame) -> bool {
    frame.columns.len() > FEW || frame.n_columns() > MANY
}
