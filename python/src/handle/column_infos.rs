//! The columns of an open file: their records, names and groups.

use std::collections::HashSet;
use std::sync::Arc;

use entasis::{ColumnInfo, Error, Groups, Logical, NameGroup, NameRanges, Physical};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Handle;
use crate::arrow::{format, zones};
use crate::column::type_name;
use crate::errors;

impl Handle {
    /// All columns of the table.
    pub(super) fn infos(&self, py: Python<'_>) -> PyResult<Arc<Vec<ColumnInfo>>> {
        if let Some(infos) = self.infos.get() {
            return Ok(Arc::clone(infos));
        }
        let file = self.schema_file();
        let found = py.detach(|| file.columns(0..file.n_columns()));
        let mut infos = found.map_err(|e| errors::raise(py, &e))?;
        if let Some(held) = self.held() {
            infos.iter_mut().for_each(|info| held.correct(info));
        }
        Ok(Arc::clone(self.infos.get_or_init(|| Arc::new(infos))))
    }

    /// All columns of the table, grouped by type.
    pub fn groups(&self, py: Python<'_>) -> PyResult<&Groups> {
        if let Some(groups) = self.groups.get() {
            return Ok(groups);
        }
        let file = self.file(py)?;
        let groups = py.detach(|| file.groups()).map_err(|e| errors::raise(py, &e))?;
        Ok(self.groups.get_or_init(|| groups))
    }

    /// The columns with these numbers, or all columns of the table.
    pub fn select(&self, py: Python<'_>, columns: Option<&[u64]>) -> PyResult<Vec<ColumnInfo>> {
        let Some(columns) = columns else { return Ok((*self.infos(py)?).clone()) };
        // Reading one column checks the whole part of the footer that contains it. So many columns
        // are read together.
        let file = self.schema_file();
        if self.held().is_some() || (columns.len() > 16 && columns.len() as u64 > file.n_columns() / 64) {
            // The failing column may not be requested. Requested columns that are still missing are
            // read one by one below, and report their own errors.
            _ = self.infos(py);
        }
        let mut infos = Vec::with_capacity(columns.len());
        for &column in columns {
            infos.push(match self.infos.get().and_then(|infos| infos.get(usize::try_from(column).ok()?)) {
                Some(info) => info.clone(),
                None => (*file.column(column).map_err(|e| errors::raise(py, &e))?).clone(),
            });
        }
        Ok(infos)
    }

    /// The names in these ranges, as a list.
    pub(super) fn names_at<'py>(&self, py: Python<'py>, ranges: &NameRanges) -> PyResult<Bound<'py, PyList>> {
        let names = PyList::empty(py);
        let mut failed = Ok(());
        let visited = self.schema_file().visit_names(ranges, |name| {
            failed = names.append(name);
            if failed.is_ok() { Ok(()) } else { Err(Error::out_of_memory(name.len(), "the names")) }
        });
        failed?;
        visited.map_err(|e| errors::raise(py, &e))?;
        Ok(names)
    }

    /// The names of all columns of the table: the bytes of their offsets as 64-bit integers, one
    /// more than there are names, and their UTF-8.
    pub(super) fn joined(&self, py: Python<'_>) -> PyResult<(Vec<u8>, Vec<u8>)> {
        let (mut ends, mut text) = (vec![0; 8], Vec::new());
        let add = |name: &str, ends: &mut Vec<u8>, text: &mut Vec<u8>| {
            text.extend_from_slice(name.as_bytes());
            ends.extend_from_slice(&(text.len() as i64).to_ne_bytes());
        };
        let infos = if self.held().is_some() { Some(self.infos(py)?) } else { self.infos.get().cloned() };
        match infos {
            Some(infos) => infos.iter().for_each(|info| add(&info.name, &mut ends, &mut text)),
            None => {
                let visited = self.schema_file().visit_name_groups(&self.groups(py)?.names, |names| {
                    match names {
                        NameGroup::One(name) => add(name, &mut ends, &mut text),
                        NameGroup::Run(names) => {
                            let before = text.len() as i64;
                            text.extend_from_slice(names.text().as_bytes());
                            let (at, all) = (ends.len(), names.ends());
                            ends.resize(at + 8 * all.len(), 0);
                            for (stored, end) in ends[at..].as_chunks_mut::<8>().0.iter_mut().zip(all) {
                                *stored = (before + i64::from(end)).to_ne_bytes();
                            }
                        }
                    }
                    Ok(())
                });
                visited.map_err(|e| errors::raise(py, &e))?;
            }
        }
        Ok((ends, text))
    }

    /// Returns an error for a column whose type Polars does not have.
    pub(super) fn check_polars(&self, py: Python<'_>, info: &ColumnInfo) -> PyResult<()> {
        let inside = info.record.dictionary.map(|index| self.schema_file().column(index)).transpose();
        let inside = inside.map_err(|e| errors::raise(py, &e))?;
        let values = inside.as_deref().unwrap_or(info);
        let is_time = values.record.column_type.logical == Logical::Timestamp;
        let zone = values.detail.as_ref().and_then(|detail| detail.as_str()).filter(|_| is_time);
        if format::is_polars(&values.record.column_type) && zone.is_none_or(zones::is_polars) {
            let children = self.schema_file().children(values).map_err(|e| errors::raise(py, &e))?;
            let names: HashSet<&str> = children.iter().map(|child| child.name.as_str()).collect();
            if values.record.column_type.physical == Physical::Struct && names.len() < children.len() {
                let message = format!(
                    "column '{}': a struct with one name twice has no counterpart in Polars",
                    info.name
                );
                return Err(errors::unsupported(py, message));
            }
            return children.iter().try_for_each(|child| self.check_polars(py, child));
        }
        let type_name = type_name(values);
        let message = format!("column '{}': type {type_name} has no counterpart in Polars", info.name);
        Err(errors::unsupported(py, message))
    }
}
