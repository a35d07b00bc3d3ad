//! Puts columns into a frame: at which position, and how fields of Arrow become columns.

use entasis::{Array, Chunk, Column, ColumnType, HostValidity, HostValues, Missing, Physical, Value};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::Builder;
use crate::array::NumpyArray;
use crate::arrow::import::Field;

/// The host variant of an Arrow column.
#[derive(Clone, Copy)]
pub(super) enum Variant {
    /// This variant.
    Only(u8),
    /// The sum of this variant and the column's own.
    Plus(u8),
}

/// The destination of columns: positions in the table, or the extra columns.
pub(super) enum Target {
    Table(Vec<usize>),
    Extra,
}

impl Builder {
    /// The destination of `n_columns` columns. Without a position they are extra columns.
    pub(super) fn target(&self, position: Option<&Bound<'_, PyAny>>, n_columns: usize) -> PyResult<Target> {
        let Some(position) = position.filter(|position| !position.is_none()) else {
            return Ok(Target::Extra);
        };
        let view = if position.is_instance_of::<PyInt>() { None } else { NumpyArray::new(position).ok() };
        let positions: Vec<usize> = match view.filter(|view| !view.shape.is_empty()) {
            None => vec![position.extract()?],
            Some(view) => {
                let mut numbers = vec![0u64; view.n()];
                // SAFETY: the caller keeps `position` alive, and its memory is used in this
                // function alone.
                let memory = unsafe { view.column(0) };
                let first = if view.stride() < 0 { memory.len().saturating_sub(8) } else { 0 };
                if view.width != 8 || !memory.copy_strided(first, view.stride(), &mut numbers) {
                    return Err(pyo3::exceptions::PyTypeError::new_err("positions are int64"));
                }
                numbers.into_iter().map(|number| number as usize).collect()
            }
        };
        if positions.len() != n_columns || positions.iter().any(|&position| position >= self.names.len()) {
            return Err(pyo3::exceptions::PyValueError::new_err("positions don't fit the columns"));
        }
        Ok(Target::Table(positions))
    }

    /// The name of the column at `position` in errors.
    pub(super) fn called(&self, position: Option<&Bound<'_, PyAny>>, name: &str) -> String {
        let first = |p: &Bound<'_, PyAny>| p.extract::<usize>().or_else(|_| p.get_item(0)?.extract()).ok();
        let found = position.and_then(first).and_then(|p| self.names.get(p));
        format!("column '{}'", found.unwrap_or(name))
    }

    /// Adds a column. Returns its number if it is an extra column.
    pub(super) fn put(
        &mut self,
        target: &Target,
        index: usize,
        name: &str,
        mut column: Column,
    ) -> Option<u64> {
        match target {
            Target::Table(positions) => {
                let position = positions[index];
                self.names.get(position).unwrap_or_default().clone_into(&mut column.name);
                self.columns.push((position, column));
                None
            }
            Target::Extra => {
                name.clone_into(&mut column.name);
                self.extra.push(column);
                Some(self.extra.len() as u64 - 1)
            }
        }
    }

    /// Adds strings of fixed width. The column stores the width in characters.
    pub(super) fn padded(
        &mut self,
        view: &NumpyArray,
        array: Bound<'_, PyAny>,
        position: Option<Bound<'_, PyAny>>,
        name: &str,
        host_variant: u8,
    ) -> PyResult<Option<u64>> {
        let target = self.target(position.as_ref(), 1)?;
        // SAFETY: the array is kept with the builder until the file is written.
        let (memory, stride, width) = (unsafe { view.column(0) }, view.stride(), view.width);
        let (physical, values, width) = match view.typestr.get(1..2) {
            Some("U") => (Physical::Utf8, HostValues::Ucs4 { memory, width, stride }, width / 4),
            _ => (Physical::Binary, HostValues::Padded { memory, width, stride }, width),
        };
        let column = Column {
            run: None,
            name: String::new(),
            column_type: ColumnType { host_variant, ..ColumnType::plain(physical) },
            detail: None,
            host_detail: Some(Value::Int(width as i64)),
            dictionary: None,
            children: Vec::new(),
            array: Array::new(Chunk { n: view.n(), values, validity: HostValidity::AllValid }),
        };
        self.arrays.push(array.unbind());
        Ok(self.put(&target, 0, name, column))
    }

    /// Adds a column of a stream, after its dictionary.
    pub(super) fn put_field(
        &mut self,
        target: &Target,
        name: &str,
        field: Field,
        host_variant: Variant,
        missing: Missing,
    ) -> Option<u64> {
        let Field { column_type, detail, host_detail, dictionary, children, array, .. } = field;
        let children = children.into_iter().map(|child| self.core_field(child, host_variant)).collect();
        let dictionary = dictionary.map(|dictionary| {
            self.put_field(&Target::Extra, "", *dictionary, host_variant, Missing::Null).unwrap_or_default()
                as usize
        });
        let host_variant = match host_variant {
            Variant::Only(host_variant) => host_variant,
            Variant::Plus(host_variant) => host_variant | column_type.host_variant,
        };
        let column_type = ColumnType { host_variant, missing, ..column_type };
        let column = Column {
            run: None,
            name: String::new(),
            column_type,
            detail,
            host_detail,
            dictionary,
            children,
            array,
        };
        self.put(target, 0, name, column)
    }

    /// A field of a nested column. Dictionaries in it become extra columns.
    pub(super) fn core_field(&mut self, field: Field, host_variant: Variant) -> entasis::Field {
        let Field { name, column_type, detail, host_detail, dictionary, children, .. } = field;
        let dictionary = dictionary.map(|dictionary| {
            let put = self.put_field(&Target::Extra, "", *dictionary, host_variant, Missing::Null);
            put.unwrap_or_default() as usize
        });
        let children = children.into_iter().map(|child| self.core_field(child, host_variant)).collect();
        let host_variant = match host_variant {
            Variant::Only(host_variant) => host_variant,
            Variant::Plus(host_variant) => host_variant | column_type.host_variant,
        };
        let column_type = ColumnType { host_variant, missing: Missing::Null, ..column_type };
        entasis::Field { name, column_type, detail, host_detail, dictionary, children }
    }
}
