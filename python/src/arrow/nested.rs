//! Nested types of Arrow: their format strings, their details in a column, and their arrays as
//! chunks.
//!
//! Bits 0 and 1 of a host variant are the layout of a list ([`SMALL`], [`LARGE`], [`VIEW`],
//! [`LARGE_VIEW`]), or the width of the ends of runs.

use std::sync::Arc;

use entasis::{Chunk, ColumnType, HostRead, HostValidity, HostValues, Physical, Value};
use pyo3::prelude::*;

use super::ffi::{ArrowArray, ArrowSchema};
use super::format::{LARGE, LAYOUT, SMALL, VIEW};
use super::import::{Field, field, lend, text, validity};
use crate::errors;

/// Lists with offsets and sizes of 64 bits.
pub const LARGE_VIEW: u8 = 3;

/// The greatest depth of a type in Arrow's C data interface. pyarrow imports 64 levels, and a table
/// is one of them.
pub const MAX_DEPTH: usize = 63;

/// Bytes of the end of a run, by the bits of the host variant.
const ENDS: [usize; 4] = [4, 8, 2, 4];

/// The key of a union's codes in a detail.
const CODES: &str = "codes";
/// The key of the metadata of fields in a detail.
const FIELDS: &str = "fields";

/// Bytes of the end of a run.
pub fn end_width(host_variant: u8) -> usize {
    ENDS[usize::from(host_variant & LAYOUT)]
}

/// Whether lists of a host variant have offsets of 64 bits, and whether they are views.
pub fn list_layout(host_variant: u8) -> (bool, bool) {
    let layout = host_variant & LAYOUT;
    (layout == LARGE || layout == LARGE_VIEW, layout == VIEW || layout == LARGE_VIEW)
}

/// The type of a format string, and the codes of a union.
pub fn parse(format: &str) -> Option<(ColumnType, Vec<u8>)> {
    let plain = |physical| Some((ColumnType::plain(physical), Vec::new()));
    let list =
        |host_variant| Some((ColumnType { host_variant, ..ColumnType::plain(Physical::List) }, Vec::new()));
    let union = |codes: &str, value_len| {
        let codes = codes.split(',').filter(|code| !code.is_empty()).map(|code| code.parse::<u8>().ok());
        let codes: Vec<u8> = codes.collect::<Option<_>>()?;
        Some((ColumnType { value_len, ..ColumnType::plain(Physical::Union) }, codes))
    };
    match format {
        "+l" => list(SMALL),
        "+L" => list(LARGE),
        "+vl" => list(VIEW),
        "+vL" => list(LARGE_VIEW),
        "+s" => plain(Physical::Struct),
        "+m" => plain(Physical::Map),
        "+r" => plain(Physical::RunEnd),
        _ => match format.split_at_checked(format.find(':')? + 1)? {
            ("+w:", len) => {
                let value_len = len.parse().ok()?;
                Some((ColumnType { value_len, ..ColumnType::plain(Physical::FixedSizeList) }, Vec::new()))
            }
            ("+ud:", codes) => union(codes, 0),
            ("+us:", codes) => union(codes, 1),
            _ => None,
        },
    }
}

/// The format string of a nested type. None for other types.
pub fn format(column_type: &ColumnType, layout: u8, codes: &[u8]) -> Option<String> {
    let codes = || codes.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    Some(match column_type.physical {
        Physical::List => ["+l", "+L", "+vl", "+vL"][usize::from(layout & LAYOUT)].to_owned(),
        Physical::FixedSizeList => format!("+w:{}", column_type.value_len),
        Physical::Struct => "+s".to_owned(),
        Physical::Map => "+m".to_owned(),
        Physical::RunEnd => "+r".to_owned(),
        Physical::Union if column_type.is_sparse() => format!("+us:{}", codes()),
        Physical::Union | Physical::ValueColumn => format!("+ud:{}", codes()),
        _ => return None,
    })
}

/// The codes of a union of `n` types, from its detail. None if they are invalid.
pub fn codes(detail: Option<&Value>, n: usize) -> Option<Vec<u8>> {
    let Some(codes) = detail.and_then(|detail| detail.get(CODES)) else {
        return (0..n).map(|code| u8::try_from(code).ok()).collect();
    };
    let codes: Vec<u8> =
        codes.as_list()?.iter().map(|code| u8::try_from(code.as_int()?).ok()).collect::<Option<_>>()?;
    // Arrow requires that codes differ.
    let is_unique = codes.iter().enumerate().all(|(i, code)| !codes[..i].contains(code));
    (codes.len() == n && is_unique && codes.iter().all(|&code| code < 128)).then_some(codes)
}

/// The metadata of field `k`, from the detail of its parent.
pub fn field_metadata(detail: Option<&Value>, k: usize) -> Option<&[u8]> {
    detail?.get(FIELDS)?.as_list()?.get(k)?.as_bytes()
}

/// The path of a field of a column, for error messages.
fn inside(what: &str, name: &str) -> String {
    match what.strip_suffix('\'') {
        Some(start) => format!("{start}.{name}'"),
        None => format!("{what}.{name}"),
    }
}

/// The fields of a nested type.
pub fn fields(
    py: Python<'_>,
    schema: &ArrowSchema,
    column_type: &mut ColumnType,
    what: &str,
    depth: usize,
) -> PyResult<Vec<Field>> {
    let n = usize::try_from(schema.n_children).unwrap_or(0);
    let mut fields = Vec::with_capacity(n);
    for i in 0..n {
        // SAFETY: a valid schema has `n_children` valid children.
        let child = unsafe { &**schema.children.add(i) };
        // SAFETY: the name and the format of a valid schema are null or end with a zero.
        let (name, format) = unsafe { (text(child.name), text(child.format)) };
        if column_type.physical == Physical::RunEnd && i == 0 {
            let layout = ["i", "l", "s"].iter().position(|known| *known == format);
            column_type.host_variant = layout.unwrap_or(0) as u8;
            continue;
        }
        let mut field = field(py, child, &inside(what, &name), depth + 1)?;
        if (column_type.physical, field.column_type.physical) == (Physical::RunEnd, Physical::RunEnd) {
            // pyarrow does not import them from the interface.
            return Err(errors::unsupported(py, format!("{what}: runs of runs are not supported")));
        }
        field.name = name;
        fields.push(field);
    }
    Ok(fields)
}

/// The detail of a nested column: its present entries, codes other than 0, 1, 2 ..., and the
/// metadata of fields.
pub fn detail(detail: Option<Value>, codes: &[u8], fields: &[Field]) -> Option<Value> {
    let mut pairs = match detail {
        Some(Value::Map(pairs)) => pairs,
        _ => Vec::new(),
    };
    if codes.iter().enumerate().any(|(i, &code)| i != usize::from(code)) {
        let codes = codes.iter().map(|&code| Value::Int(code.into())).collect();
        pairs.push((Value::from(CODES), Value::List(codes)));
    }
    if fields.iter().any(|field| field.metadata.is_some()) {
        let metadata = fields.iter().map(|field| field.metadata.clone().map_or(Value::Null, Value::Bytes));
        pairs.push((Value::from(FIELDS), Value::List(metadata.collect())));
    }
    if pairs.is_empty() { None } else { Some(Value::Map(pairs)) }
}

/// Child `k` of an array.
fn child(array: &ArrowArray, k: usize) -> Option<&ArrowArray> {
    // SAFETY: a valid array has `n_children` valid children.
    ((k as i64) < array.n_children).then(|| unsafe { &**array.children.add(k) })
}

impl Field {
    /// `n` values of an array of a nested type, from `offset` in its buffers on.
    pub(super) fn nested_chunk(
        &mut self,
        py: Python<'_>,
        array: &ArrowArray,
        offset: i64,
        n: i64,
        what: &str,
    ) -> PyResult<Chunk> {
        let bad = || {
            pyo3::exceptions::PyValueError::new_err(format!(
                "{what}: the buffers, offsets and children of an Arrow array do not fit its length"
            ))
        };
        let of = self.column_type;
        let (first, len) =
            (usize::try_from(offset).map_err(|_| bad())?, usize::try_from(n).map_err(|_| bad())?);
        let is_run_end = of.physical == Physical::RunEnd;
        let mut children = Vec::with_capacity(self.children.len());
        for (k, field) in self.children.iter_mut().enumerate() {
            let child = child(array, k + usize::from(is_run_end)).ok_or_else(bad)?;
            let (skip, n_child) = match of.physical {
                Physical::FixedSizeList => {
                    let len = i64::from(of.value_len);
                    let skip = offset.checked_mul(len).ok_or_else(bad)?;
                    (skip, n.checked_mul(len).ok_or_else(bad)?)
                }
                Physical::Struct => (offset, n),
                Physical::Union if of.is_sparse() => (offset, n),
                _ => (0, child.length),
            };
            let start = child.offset.checked_add(skip).ok_or_else(bad)?;
            children.push(field.chunk(py, child, start, n_child, what)?);
        }
        if len == 0 {
            return Ok(Chunk { n: 0, values: HostValues::Null, validity: HostValidity::AllValid });
        }
        let values = values(&of, array, (first, len), children, &self.codes).ok_or_else(bad)?;
        let validity = match of.physical {
            Physical::Union | Physical::RunEnd => HostValidity::AllValid,
            _ => validity(array, first, len).ok_or_else(bad)?,
        };
        Ok(Chunk { n: len, values, validity })
    }
}

fn values(
    of: &ColumnType,
    array: &ArrowArray,
    (first, n): (usize, usize),
    mut children: Vec<Chunk>,
    codes: &[u8],
) -> Option<HostValues> {
    Some(match of.physical {
        Physical::List | Physical::Map => {
            let (is_large, is_view) = list_layout(of.host_variant);
            let width = if is_large { 8 } else { 4 };
            let child = Arc::new(children.pop()?);
            if is_view {
                let (offsets, sizes) =
                    (lend(array, 1, first * width, n * width)?, lend(array, 2, first * width, n * width)?);
                HostValues::ListViews { offsets, sizes, is_large, child }
            } else {
                let offsets = lend(array, 1, first * width, (n + 1) * width)?;
                HostValues::Lists { offsets, is_large, child }
            }
        }
        Physical::FixedSizeList | Physical::Struct => HostValues::Children(children.into()),
        Physical::Union => {
            let mut types = [u8::MAX; 256];
            for (k, &code) in codes.iter().enumerate() {
                types[usize::from(code)] = k as u8;
            }
            let offsets = if of.is_sparse() { None } else { Some(lend(array, 1, first * 4, n * 4)?) };
            HostValues::Union {
                codes: lend(array, 0, first, n)?,
                types: Arc::new(types),
                offsets,
                children: children.into(),
            }
        }
        Physical::RunEnd => {
            let ends = child(array, 0)?;
            let width = end_width(of.host_variant);
            let (skip, n_runs) = (usize::try_from(ends.offset).ok()?, usize::try_from(ends.length).ok()?);
            let memory: HostRead = lend(ends, 1, skip * width, n_runs * width)?;
            HostValues::Runs { ends: memory, width, first: first as u64, child: Arc::new(children.pop()?) }
        }
        _ => return None,
    })
}
