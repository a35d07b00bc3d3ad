//! Neighbouring columns in one array of a host, written as runs.

use std::ops::Range;

use entasis::{Array, Chunk, Column, HostValidity, HostValues, Physical};

use super::chunk_memory::lend;
use super::models::{Model, Table};

/// Memory of a run. The order (by columns or by rows, from the end, with gaps) differs from run to
/// run.
#[derive(Debug)]
pub(super) struct RunMemory {
    /// The columns of the table.
    pub columns: Range<usize>,
    values: Vec<u8>,
    first: usize,
    row_stride: isize,
    column_stride: isize,
}

/// The runs of a table.
pub(super) fn of(table: &Table) -> Vec<RunMemory> {
    let mut runs = Vec::new();
    if !table.in_runs || !(1..8192).contains(&table.n_rows) {
        return runs;
    }
    let mut start = 0;
    while start < table.columns.len() {
        let first = &table.columns[start];
        let n =
            table.columns[start..].iter().take_while(|model| can_be(model) && is_like(model, first)).count();
        if n > 1 {
            runs.push(memory(table, start..start + n, runs.len()));
        }
        start += n.max(1);
    }
    runs
}

fn can_be(model: &Model) -> bool {
    let is_fixed = model.of.layout().width().is_some() || model.of.physical == Physical::Bool;
    is_fixed
        && !model.of.physical.is_nested()
        && model.detail.is_none()
        && model.host_detail.is_none()
        && model.dictionary.is_none()
        && model.cells.iter().all(Option::is_some)
}

fn is_like(a: &Model, b: &Model) -> bool {
    a.of == b.of
}

fn memory(table: &Table, columns: Range<usize>, form: usize) -> RunMemory {
    let width = table.columns[columns.start].of.layout().width().unwrap_or(1) as isize;
    let (n_rows, n) = (table.n_rows as isize, columns.len() as isize);
    let (row_stride, column_stride) = match form % 4 {
        0 => (width, width * n_rows),
        1 => (width * n, width),
        2 => (-width, width * (n_rows + 3)),
        _ => (2 * width * n, -2 * width),
    };
    let walks = [(n_rows - 1) * row_stride, (n - 1) * column_stride];
    let first: usize = walks.iter().map(|walk| walk.min(&0).unsigned_abs()).sum();
    let len = walks.iter().map(|walk| walk.unsigned_abs()).sum::<usize>() + width as usize;
    let mut values = vec![0x5A; len];
    for (c, model) in table.columns[columns.clone()].iter().enumerate() {
        for (r, cell) in model.cells.iter().flatten().enumerate() {
            let at = first.wrapping_add_signed(c as isize * column_stride + r as isize * row_stride);
            values[at..at + width as usize].copy_from_slice(cell);
        }
    }
    RunMemory { columns, values, first, row_stride, column_stride }
}

impl RunMemory {
    /// The run. It must not be used after `self` is gone.
    pub fn column(&self, table: &Table) -> Column {
        let models = &table.columns[self.columns.clone()];
        let values = HostValues::Matrix {
            memory: lend(&self.values),
            first: self.first,
            row_stride: self.row_stride,
            column_stride: self.column_stride,
            n_rows: table.n_rows,
        };
        Column {
            name: String::new(),
            run: Some(models.iter().map(|model| model.name.as_str()).collect()),
            column_type: models[0].of,
            detail: None,
            host_detail: None,
            dictionary: None,
            children: Vec::new(),
            array: Array::new(Chunk {
                n: models.len() * table.n_rows,
                values,
                validity: HostValidity::AllValid,
            }),
        }
    }
}
