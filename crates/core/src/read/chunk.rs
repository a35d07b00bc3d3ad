//! Reads values of a column into new memory, in the form that the writer takes.

use std::ops::Range;

use entasis_format::{Error, Physical, Result, fallible};

use super::{MissingTo, Output, Request, Text};
use crate::file::{ColumnInfo, File};
use crate::frame::{Chunk, HostValidity, HostValues, OwnedValues};
use crate::monitor::Monitor;
use crate::rows::Rows;

/// The use of the memory, in messages.
const VALUES: &str = "values that are stored again";

/// Decodes some values of a column, or its structure values if it is nested. Also returns the
/// number of missing values.
pub(crate) fn read_chunk(
    file: &File,
    info: &ColumnInfo,
    values: Range<u64>,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<(Chunk, u64)> {
    read_rows(file, info, Rows::Range(values), threads, monitor)
}

/// Decodes any values of a column, as [`read_chunk`].
pub(crate) fn read_rows(
    file: &File,
    info: &ColumnInfo,
    rows: Rows,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<(Chunk, u64)> {
    let of = info.record.column_type.layout();
    let too_many = || Error::out_of_memory(usize::MAX, VALUES);
    let n = usize::try_from(rows.n(info.record.n_values)).map_err(|_| too_many())?;
    let width = of.width().unwrap_or(1);
    let is_var = of.physical.is_var();
    let len = if is_var { Some(0) } else { n.checked_mul(width) };
    let mut bytes: Vec<u8> = fallible::defaults(len.ok_or_else(too_many)?, VALUES)?;
    let mut mask: Vec<u8> = fallible::defaults(n, VALUES)?;
    let mut text = Text::default();
    let output = match of.physical {
        Physical::Bool => Output::Bools(&mut bytes),
        _ if is_var => Output::Text(&mut text),
        _ => Output::Words(&mut bytes),
    };
    let request = Request { column: info.index, rows, output, missing: MissingTo::Mask(&mut mask) };
    file.read(vec![request], threads, monitor)?;
    let values = if is_var {
        let offsets: &[i64] = bytemuck::cast_slice(&text.offsets);
        let offsets = offsets.iter().map(|&offset| offset.cast_unsigned());
        OwnedValues::strings(fallible::collect(offsets, VALUES)?, text.joined().to_vec())
    } else {
        OwnedValues::fixed(width, bytes)
    };
    let n_missing = mask.iter().map(|&missing| u64::from(missing)).sum();
    let validity = if n_missing > 0 { HostValidity::Owned(mask.into()) } else { HostValidity::AllValid };
    Ok((Chunk { n, values: HostValues::Owned(values), validity }, n_missing))
}

/// `n` missing values of a column.
pub(crate) fn missing_chunk(info: &ColumnInfo, n: usize) -> Result<Chunk> {
    let of = info.record.column_type.layout();
    let values = if of.physical.is_var() {
        OwnedValues::strings(fallible::defaults(n.saturating_add(1), VALUES)?, Vec::new())
    } else {
        let width = of.width().unwrap_or(1);
        OwnedValues::fixed(width, fallible::defaults(n.saturating_mul(width), VALUES)?)
    };
    let mut mask: Vec<u8> = Vec::new();
    fallible::resize(&mut mask, n, 1, VALUES)?;
    Ok(Chunk { n, values: HostValues::Owned(values), validity: HostValidity::Owned(mask.into()) })
}
