//! Memory of a host from which a table is written, in every form that the core accepts.

use entasis::{Column, Frame};

use super::chunk_memory::ChunkMemory;
use super::models::{Model, Table};
use super::nested::{self, NestedMemory};
use super::runs::{self, RunMemory};

/// Memory of all columns of a table. The form (strides, bits, masks, views, chunks) differs from
/// column to column.
#[derive(Debug)]
pub struct Memory {
    columns: Vec<ColumnMemory>,
    extra: Vec<ColumnMemory>,
    runs: Vec<RunMemory>,
}

/// Memory of one column.
#[derive(Debug)]
enum ColumnMemory {
    Plain(Vec<ChunkMemory>),
    Nested(Vec<NestedMemory>),
}

impl Memory {
    /// Memory with the values of a table.
    pub fn of(table: &Table) -> Self {
        let memory = |(i, model): (usize, &Model)| {
            // Every third column is in two chunks.
            let middle = if i % 3 == 2 { model.cells.len() / 2 } else { model.cells.len() };
            let ranges = [0..middle, middle..model.cells.len()];
            if model.of.physical.is_nested() {
                return ColumnMemory::Nested(nested::chunks(model, &ranges, i));
            }
            ColumnMemory::Plain(ranges.map(|range| ChunkMemory::new(model, range, i)).into())
        };
        Self {
            columns: table.columns.iter().enumerate().map(memory).collect(),
            extra: table.extra.iter().enumerate().map(memory).collect(),
            runs: runs::of(table),
        }
    }

    /// The frame. It must not be used after `self` is gone.
    pub fn frame(&self, table: &Table) -> Frame {
        let column = |(model, memory): (&Model, &ColumnMemory)| Column {
            run: None,
            name: model.name.clone(),
            column_type: model.of,
            detail: model.detail.clone(),
            host_detail: model.host_detail.clone(),
            dictionary: model.dictionary,
            children: nested::fields(&model.children),
            array: match memory {
                ColumnMemory::Plain(memories) => {
                    memories.iter().map(ChunkMemory::chunk).collect::<Vec<_>>().into()
                }
                ColumnMemory::Nested(memories) => nested::array(memories),
            },
        };
        let mut columns = Vec::new();
        let mut left = table.columns.iter().zip(&self.columns).enumerate().peekable();
        while let Some((i, of)) = left.next() {
            let Some(run) = self.runs.iter().find(|run| run.columns.start == i) else {
                columns.push(column(of));
                continue;
            };
            columns.push(run.column(table));
            while left.next_if(|(k, _)| run.columns.contains(k)).is_some() {}
        }
        Frame {
            n_rows: table.n_rows as u64,
            columns,
            extra: table.extra.iter().zip(&self.extra).map(column).collect(),
            host: table.host.clone(),
        }
    }
}
