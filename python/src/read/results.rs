//! Decoded columns as Python objects.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::array;
use crate::arrow::c_string::c_string;
use crate::arrow::column::{ArrowColumn, ArrowTable};
use crate::arrow::export::{Data, Dictionaries, Kind};
use crate::column::Column;
use crate::read::columns::{Decoded, Memory};
use crate::read::finished::Finished;
use crate::read::nested;
use crate::read::plan::Target;

/// A list of entries `(kind, positions, column, values, mask)`. The kinds are:
///
/// - `block`: an array of positions, and a two-dimensional array with a row for each.
/// - `array`: one position, with one-dimensional values and mask.
/// - `arrow`: a list of positions, and an [`ArrowColumn`] of their values one after the other.
/// - `null`: one position, without values.
/// - `categories`: the number of the column with the categories of a pandas categorical, the number
///   of categories, and their own entries.
pub fn entries<'py>(py: Python<'py>, decoded: Decoded<'py>, own: bool) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let Decoded { infos, units, blocks, memory, n_rows, dictionaries, categories } = decoded;
    for (index, of) in categories {
        let n = of.n_rows;
        list.append(("categories", index, n, entries(py, of, own)?, py.None()))?;
    }
    for block in blocks {
        let positions = array::empty(py, (1, block.n_columns), "i8")?.get_item(0)?;
        // SAFETY: nothing else knows the new array.
        let bytes = unsafe { array::memory(&positions) }?;
        let members = block.units.iter().flat_map(|&(unit, _)| &units[unit].members);
        for (bytes, &member) in bytes.chunks_exact_mut(8).zip(members) {
            bytes.copy_from_slice(&(member as i64).to_ne_bytes());
        }
        let first = block.units.first().map_or(0, |&(unit, _)| units[unit].first);
        list.append(("block", positions, Column::new(&infos[first]), block.array, py.None()))?;
    }
    let dictionaries = finish_dictionaries(py, dictionaries, own)?;
    for (unit, memory) in units.into_iter().zip(memory) {
        let info = &infos[unit.first];
        match memory {
            Memory::None if unit.target == Target::Null => {
                list.append(("null", unit.first, Column::new(info), py.None(), py.None()))?;
            }
            Memory::None => {}
            Memory::Arrays { values, mask } => {
                for (row, &member) in unit.members.iter().enumerate() {
                    let mask = mask.as_ref().map(|mask| mask.get_item(row)).transpose()?;
                    let column = Column::new(&infos[member]);
                    list.append(("array", member, column, values.get_item(row)?, mask))?;
                }
            }
            Memory::Nested(nested) => {
                let (Some(nested), Target::Nested(layout)) = (nested, &unit.target) else { continue };
                let physical = info.record.column_type.physical;
                let (kind, data) = nested::finish(py, nested, finish(own, own, *layout, &dictionaries))?;
                let column = ArrowColumn { kind: Arc::new(kind), data, physical };
                list.append(("arrow", unit.members, Column::new(info), Bound::new(py, column)?, py.None()))?;
            }
            memory @ (Memory::Arrow { .. } | Memory::Shared(_)) => {
                let n = n_rows * unit.members.len();
                let column = match memory {
                    Memory::Shared(shared) => {
                        Finished::shared(py, info, &unit.target, own, n, shared, &dictionaries)?
                    }
                    Memory::Arrow { words, validity, text } => {
                        Finished::new(py, info, &unit.target, own, n, words, validity, text, &dictionaries)?
                    }
                    _ => continue,
                };
                let physical = info.record.column_type.physical;
                let column = ArrowColumn { kind: Arc::new(column.kind), data: column.data, physical };
                list.append(("arrow", unit.members, Column::new(info), Bound::new(py, column)?, py.None()))?;
            }
        }
    }
    Ok(list)
}

fn finish(own: bool, metadata: bool, layout: u8, dictionaries: &Dictionaries) -> nested::Finish<'_> {
    nested::Finish { own, metadata, layout, dictionaries }
}

/// All columns as one Arrow table. Every target must be Arrow. `known` dictionaries were not
/// decoded again.
#[allow(clippy::too_many_arguments)]
pub fn table(
    py: Python<'_>,
    decoded: Decoded<'_>,
    own: bool,
    metadata: bool,
    mut field_metadata: HashMap<usize, Vec<u8>>,
    schema_metadata: Option<Vec<u8>>,
    known: &Dictionaries,
) -> PyResult<ArrowTable> {
    let Decoded { infos, units, memory, n_rows, dictionaries, .. } = decoded;
    let mut dictionaries = finish_dictionaries(py, dictionaries, own)?;
    dictionaries.extend(known.iter().map(|(&index, dictionary)| (index, dictionary.clone())));
    let mut fields: Vec<Option<(Kind, Data)>> = Vec::new();
    fields.resize_with(infos.len(), || None);
    for (unit, memory) in units.into_iter().zip(memory) {
        let info = &infos[unit.first];
        let n = n_rows * unit.members.len();
        let column = match (memory, &unit.target) {
            (Memory::Arrow { words, validity, text }, target) => {
                Finished::new(py, info, target, own, n, words, validity, text, &dictionaries)?
            }
            (Memory::Shared(shared), target) => {
                Finished::shared(py, info, target, own, n, shared, &dictionaries)?
            }
            (Memory::Nested(Some(nested)), Target::Nested(layout)) => {
                let (kind, data) = nested::finish(py, nested, finish(own, metadata, *layout, &dictionaries))?;
                Finished { kind, data }
            }
            _ => continue,
        };
        for (row, &member) in unit.members.iter().enumerate() {
            let mut kind = column.kind.clone();
            kind.name = c_string(py, &infos[member].name, &infos[member].name)?;
            // The metadata of the fields include the names of extension types.
            kind.metadata = field_metadata.remove(&member).or(kind.metadata);
            let mut data = Data { n: n_rows, offset: row * n_rows, ..column.data.clone() };
            if unit.target == Target::NullableFloats && !data.has_missing() {
                // A column without NaN needs no bitmap.
                data.buffers[0] = None;
            }
            fields[member] = Some((kind, data));
        }
    }
    let (kinds, children) = fields.into_iter().flatten().unzip();
    let kind =
        Kind { children: kinds, metadata: schema_metadata, required: true, ..Kind::new(c"+s".to_owned()) };
    let data = Data { n: n_rows, buffers: vec![None], children, ..Data::default() };
    Ok(ArrowTable { kind: Arc::new(kind), data, dictionaries: Arc::new(dictionaries) })
}

fn finish_dictionaries(
    py: Python<'_>,
    dictionaries: Vec<(u64, Decoded<'_>)>,
    own: bool,
) -> PyResult<Dictionaries> {
    let mut finished = Dictionaries::new();
    for (index, Decoded { infos, units, memory, n_rows, .. }) in dictionaries {
        for (unit, memory) in units.into_iter().zip(memory) {
            let (info, none) = (&infos[unit.first], Dictionaries::new());
            let column = match (memory, &unit.target) {
                (Memory::Arrow { words, validity, text }, target) => {
                    Finished::new(py, info, target, own, n_rows, words, validity, text, &none)?
                }
                (Memory::Nested(Some(nested)), Target::Nested(layout)) => {
                    let (kind, data) = nested::finish(py, nested, finish(own, own, *layout, &none))?;
                    Finished { kind, data }
                }
                _ => continue,
            };
            finished.insert(index, (Arc::new(column.kind), Arc::new(column.data)));
        }
    }
    Ok(finished)
}
