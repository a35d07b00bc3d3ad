//! Makes the frame from the collected columns.

use entasis::{Column, Frame, Value};
use pyo3::prelude::*;

use super::Builder;
use crate::value;
use crate::write::runs;

impl Builder {
    /// The frame. The builder keeps its memory until it is cleared. `cells` are the numbers of the
    /// cells of its trees.
    pub fn frame(&mut self, host: &Bound<'_, PyAny>, cells: &[u64]) -> PyResult<Frame> {
        let mut host = value::from_python(host, "the frame", self.names.len() as u64, 0)?;
        let mut columns = self.take_columns()?;
        let mut extra = self.take_extra();
        let mut are_known = true;
        let mut renumber = |value: &mut Value| {
            if let Value::Cell(number) = value {
                match cells.get(*number as usize) {
                    Some(&cell) => *number = cell,
                    None => are_known = false,
                }
            }
        };
        host.visit_mut(&mut renumber);
        for column in columns.iter_mut().chain(&mut extra) {
            for detail in [&mut column.detail, &mut column.host_detail].into_iter().flatten() {
                detail.visit_mut(&mut renumber);
            }
        }
        if !are_known {
            return Err(pyo3::exceptions::PyValueError::new_err("a tree of a frame has no cell"));
        }
        Ok(Frame { n_rows: self.n_rows, columns, extra, host })
    }

    /// The frame of a change. The cells that the host map names are cells of the file.
    pub fn frame_of_change(&mut self, host: &Bound<'_, PyAny>) -> PyResult<Frame> {
        if !self.trees.is_empty() {
            return Err(pyo3::exceptions::PyValueError::new_err("a change in place has no trees"));
        }
        let host = value::from_python(host, "the frame", self.names.len() as u64, 0)?;
        Ok(Frame { n_rows: self.n_rows, columns: self.take_columns()?, extra: self.take_extra(), host })
    }

    /// The single columns of the table and the extra ones, for a text.
    pub fn table(&mut self) -> PyResult<Frame> {
        let columns = runs::split(self.take_columns()?);
        Ok(Frame { n_rows: self.n_rows, columns, extra: self.take_extra(), host: Value::Null })
    }

    /// The columns of the table, in their order.
    fn take_columns(&mut self) -> PyResult<Vec<Column>> {
        let mut columns = std::mem::take(&mut self.columns);
        columns.sort_by_key(|(position, _)| *position);
        // A column that was added again replaces the earlier one.
        columns.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        let (mut next, mut in_runs, mut follow) = (0, 0, true);
        for (position, column) in &columns {
            let n = column.n_columns();
            follow &= *position == next;
            next += n;
            in_runs += if column.run.is_some() { n } else { 0 };
        }
        if !follow || next != self.names.len() {
            return Err(pyo3::exceptions::PyValueError::new_err("a column is not there"));
        }
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        // If few columns are in runs, recording the runs costs more than it saves.
        Ok(if 2 * in_runs < next { runs::split(columns) } else { columns })
    }

    /// The extra columns.
    pub fn take_extra(&mut self) -> Vec<Column> {
        std::mem::take(&mut self.extra)
    }

    /// Releases all memory.
    pub fn clear(&mut self) {
        self.arrays.clear();
        self.trees.clear();
        self.texts.clear();
        self.streams.clear();
    }
}
