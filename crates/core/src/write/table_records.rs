//! The records of the tables of a new generation, with their name indexes.

use entasis_format::{NameSlot, Result, TableRecord, ValueTree, build_name_index, n_name_slots};

use super::contents::Contents;
use crate::frame::{Column, Frame};

/// Tables with at most this many column records have no name index, unless they have more than
/// [`MANY`] columns.
const FEW: usize = 8;
/// Column runs can give a table more columns than this in few records. It then has a name index.
const MANY: usize = 1 << 16;

/// The sections of tables and of their name indexes.
#[derive(Default)]
pub(super) struct TableRecords {
    pub tables: Vec<u8>,
    pub name_index: Vec<u8>,
}

impl TableRecords {
    /// The records of all frames. Adds their host maps to `tree`.
    pub(super) fn of(contents: &Contents<'_>, tree: &mut ValueTree) -> Result<Self> {
        let mut records = Self::default();
        for &(first, frame) in &contents.plan.parts.frames {
            let n_columns = frame.n_columns() as u64;
            let has_index = has_name_index(frame);
            let host_node = (!frame.host.is_null()).then(|| tree.add(&contents.in_file(&frame.host, first)));
            let table = TableRecord {
                first_column: contents.number(first),
                n_columns,
                n_rows: frame.n_rows,
                first_slot: (records.name_index.len() / NameSlot::LEN) as u64,
                n_slots: if has_index { n_name_slots(n_columns) } else { 0 },
                sort_order: None,
                host_node,
            };
            table.emit(&mut records.tables);
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
