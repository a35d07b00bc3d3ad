//! Decoded columns as Python objects.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

use entasis::{Buffer, ColumnInfo, ColumnType, Logical, Physical, Text, TextLayout, Value, json_string};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::array;
use crate::arrow::column::{ArrowColumn, ArrowTable};
use crate::arrow::export::{Data, Kind};
use crate::arrow::format::{self, LARGE, LAYOUT, REQUIRED, SMALL, VIEW};
use crate::arrow::metadata;
use crate::errors;
use crate::handle::Column;
use crate::read::columns::{Decoded, Memory};
use crate::read::nested;
use crate::read::plan::Target;

/// The dictionaries of Arrow columns, by their number.
pub type Dictionaries = HashMap<u64, (Arc<Kind>, Arc<Data>)>;

/// A list of entries `(kind, positions, column, values, mask)`. The kinds are:
///
/// - `block`: an array of positions, and a two-dimensional array with a row for each.
/// - `array`: one position, with one-dimensional values and mask.
/// - `arrow`: a list of positions, and an [`ArrowColumn`] of their values one after the other.
/// - `null`: one position, without values.
/// - `categories`: of a pandas categorical. The number of their column, their number, and their own
///   entries.
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
            Memory::Arrow { words, validity, text } => {
                let n = n_rows * unit.members.len();
                let column =
                    Finished::new(py, info, &unit.target, own, n, words, validity, text, &dictionaries)?;
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

/// All columns as one Arrow table. Every target must be Arrow.
pub fn table(
    py: Python<'_>,
    decoded: Decoded<'_>,
    own: bool,
    metadata: bool,
    mut field_metadata: HashMap<usize, Vec<u8>>,
    schema_metadata: Option<Vec<u8>>,
) -> PyResult<ArrowTable> {
    let Decoded { infos, units, memory, n_rows, dictionaries, .. } = decoded;
    let dictionaries = finish_dictionaries(py, dictionaries, own)?;
    let mut fields: Vec<Option<(Kind, Data)>> = Vec::new();
    fields.resize_with(infos.len(), || None);
    for (unit, memory) in units.into_iter().zip(memory) {
        let info = &infos[unit.first];
        let n = n_rows * unit.members.len();
        let column = match (memory, &unit.target) {
            (Memory::Arrow { words, validity, text }, target) => {
                Finished::new(py, info, target, own, n, words, validity, text, &dictionaries)?
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
            fields[member] = Some((kind, Data { n: n_rows, offset: row * n_rows, ..column.data.clone() }));
        }
    }
    let (kinds, children) = fields.into_iter().flatten().unzip();
    let kind =
        Kind { children: kinds, metadata: schema_metadata, required: true, ..Kind::new(c"+s".to_owned()) };
    let data = Data { n: n_rows, buffers: vec![None], children, ..Data::default() };
    Ok(ArrowTable { kind: Arc::new(kind), data })
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

/// A name or format as a C string, which cannot contain a zero.
pub fn c_string(py: Python<'_>, text: &str, column: &str) -> PyResult<CString> {
    let zero = |_| errors::unsupported(py, format!("column {column:?}: Arrow can't hold a name with a zero"));
    CString::new(text).map_err(zero)
}

/// The metadata of a column of an extension type. None for other columns, and if the file has no
/// name.
pub fn extension(info: &ColumnInfo) -> Option<Vec<u8>> {
    let detail = info.detail.as_ref()?;
    let (name, more) = match info.record.column_type.logical {
        // pandas registers its extension type by this name.
        Logical::Period => {
            let freq = format!("{{\"freq\": {}}}", json_string(detail.as_str()?));
            ("pandas.period", freq.into_bytes())
        }
        Logical::Uuid | Logical::Json | Logical::Extension => {
            let more = match detail.get("metadata") {
                Some(Value::Bytes(bytes)) => bytes.clone(),
                _ => Vec::new(),
            };
            (detail.get("name")?.as_str()?, more)
        }
        _ => return None,
    };
    let pairs = [(metadata::EXTENSION_NAME, name.as_bytes()), (metadata::EXTENSION_METADATA, &more)];
    metadata::build(&pairs)
}

/// A column in Arrow's layout.
pub struct Finished {
    pub kind: Kind,
    pub data: Data,
}

impl Finished {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        py: Python<'_>,
        info: &ColumnInfo,
        target: &Target,
        own: bool,
        n: usize,
        words: Buffer,
        validity: Option<Buffer>,
        text: Text,
        dictionaries: &Dictionaries,
    ) -> PyResult<Self> {
        let column_type = &info.record.column_type;
        let layout = if let Target::Arrow(layout) = target { layout & LAYOUT } else { LARGE };
        let (layout, buffers) = match column_type.physical {
            Physical::Null => (layout, Vec::new()),
            Physical::Utf8 | Physical::Binary => {
                let strings = strings(text, n);
                let (layout, mut buffers) =
                    strings.ok_or_else(|| errors::out_of_memory(py, n, 8, "the strings"))?;
                buffers.insert(0, validity.map(Arc::new));
                (layout, buffers)
            }
            _ => (layout, vec![validity.map(Arc::new), Some(Arc::new(words))]),
        };
        let codes = ColumnType { logical: Logical::Plain, ..*column_type };
        let is_categorical = column_type.logical == Logical::Categorical;
        let zone = info.detail.as_ref().and_then(|detail| detail.as_str());
        let format = format::format(if is_categorical { &codes } else { column_type }, layout, zone);
        let is_of_polars = format.as_deref().is_some_and(|format| format.starts_with("_pl"));
        let format = format.filter(|_| !(own && is_of_polars));
        let format = format.ok_or_else(|| {
            let type_name = crate::handle::type_name(info);
            errors::unsupported(
                py,
                format!("column '{}': type {type_name} has no counterpart in Arrow", info.name),
            )
        })?;
        let mut kind = Kind::new(c_string(py, &format, &info.name)?);
        kind.metadata = extension(info);
        kind.ordered = column_type.ordered;
        kind.required = own && column_type.host_variant & REQUIRED != 0;
        let mut data = Data { n, buffers, ..Data::default() };
        if let Some((of, values)) = info.record.dictionary.and_then(|index| dictionaries.get(&index)) {
            kind.dictionary = Some(Arc::clone(of));
            data.dictionary = Some(Arc::clone(values));
        }
        Ok(Self { kind, data })
    }
}

/// The layout and the buffers of strings.
fn strings(text: Text, n: usize) -> Option<(u8, Vec<Option<Arc<Buffer>>>)> {
    let Text { layout, mut offsets, mut bytes, dictionaries, .. } = text;
    let (layout, offset_len) = match layout {
        TextLayout::Small => (SMALL, 4),
        TextLayout::Large => (LARGE, 8),
        TextLayout::Views => (VIEW, 0),
    };
    if offsets.is_empty() {
        offsets = Buffer::zeroed(offset_len * (n + 1))?;
    }
    if layout == VIEW {
        bytes.extend(dictionaries);
        let mut lens = Buffer::zeroed(8 * bytes.len())?;
        for (len, buffer) in lens.chunks_exact_mut(8).zip(&bytes) {
            len.copy_from_slice(&(buffer.len() as i64).to_le_bytes());
        }
        bytes.push(lens);
    } else if bytes.is_empty() {
        bytes.push(Buffer::default());
    }
    let buffers = std::iter::once(offsets).chain(bytes);
    Some((layout, buffers.map(|buffer| Some(Arc::new(buffer))).collect()))
}
