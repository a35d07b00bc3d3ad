//! Reads values of a column into new memory, in the form that the writer takes.

use std::ops::Range;
use std::sync::Arc;

use entasis_format::{Error, Layout, Physical, Result, fallible};

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
    let mut room = Room::new(info, &rows)?;
    file.read(vec![room.request(rows)], threads, monitor)?;
    room.chunk()
}

/// Decodes some rows of columns together, as [`read_chunk`].
pub(crate) fn read_chunks(
    file: &File,
    infos: &[Arc<ColumnInfo>],
    rows: Range<u64>,
    monitor: &dyn Monitor,
) -> Result<Vec<(Chunk, u64)>> {
    let mut found =
        fallible::try_collect(infos.iter().map(|info| Room::new(info, &Rows::Range(rows.clone()))), VALUES)?;
    let requests = found.iter_mut().map(|room| room.request(Rows::Range(rows.clone())));
    file.read(fallible::collect(requests, VALUES)?, None, monitor)?;
    fallible::try_collect(found.into_iter().map(Room::chunk), VALUES)
}

/// Memory for values of a column.
struct Room {
    column: u64,
    of: Layout,
    n: usize,
    bytes: Vec<u8>,
    mask: Vec<u8>,
    text: Text,
}

impl Room {
    fn new(info: &ColumnInfo, rows: &Rows) -> Result<Self> {
        let of = info.record.column_type.layout();
        let too_many = || Error::out_of_memory(usize::MAX, VALUES);
        let n = usize::try_from(rows.n(info.record.n_values)).map_err(|_| too_many())?;
        let width = of.width().unwrap_or(1);
        let len = if of.physical.is_var() { Some(0) } else { n.checked_mul(width) };
        let bytes = fallible::defaults(len.ok_or_else(too_many)?, VALUES)?;
        let mask = fallible::defaults(n, VALUES)?;
        Ok(Self { column: info.index, of, n, bytes, mask, text: Text::default() })
    }

    fn request(&mut self, rows: Rows) -> Request<'_> {
        let output = match self.of.physical {
            Physical::Bool => Output::Bools(&mut self.bytes),
            physical if physical.is_var() => Output::Text(&mut self.text),
            _ => Output::Words(&mut self.bytes),
        };
        Request { column: self.column, rows, output, missing: MissingTo::Mask(&mut self.mask) }
    }

    /// The values that were read, and the number of missing ones.
    fn chunk(self) -> Result<(Chunk, u64)> {
        let Self { of, n, bytes, mask, text, .. } = self;
        let values = if of.physical.is_var() {
            let offsets: &[i64] = bytemuck::cast_slice(&text.offsets);
            let offsets = offsets.iter().map(|&offset| offset.cast_unsigned());
            OwnedValues::strings(fallible::collect(offsets, VALUES)?, text.joined().to_vec())
        } else {
            OwnedValues::fixed(of.width().unwrap_or(1), bytes)
        };
        let n_missing = mask.iter().map(|&missing| u64::from(missing)).sum();
        let validity = if n_missing > 0 { HostValidity::Owned(mask.into()) } else { HostValidity::AllValid };
        Ok((Chunk { n, values: HostValues::Owned(values), validity }, n_missing))
    }
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
