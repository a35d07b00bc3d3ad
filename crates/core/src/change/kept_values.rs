//! Reads all values of kept columns, to store them again.

use entasis_format::{Error, Logical, Physical, Result};

use super::keep::decode;
use crate::file::{ColumnInfo, File};
use crate::frame::kept::Kept;
use crate::frame::{Chunk, Column, HostValidity, HostValues};
use crate::monitor::Monitor;

/// Checks that the values of a column are neither nested nor objects.
pub(super) fn check_flat(column: &Column) -> Result<()> {
    let refused = |what: String| Err(Error::argument(what).in_column(&column.name));
    let of = &column.column_type;
    if of.physical.is_nested() {
        return refused(format!("nested values ({}) are not copied", of.physical.name()));
    }
    if of.logical == Logical::Object {
        return refused("objects are not copied".to_owned());
    }
    Ok(())
}

/// All values of a kept column.
pub(super) fn values(file: &File, column: &Column, monitor: &dyn Monitor) -> Result<Chunk> {
    let Some(Kept::Column(number)) = column.array.kept else {
        return Err(Error::argument("a column is not in the file"));
    };
    let info = file.column(number)?;
    if info.record.column_type.physical == Physical::Null {
        return nulls(&info);
    }
    Ok(decode(file, &info, 0, monitor)?.0)
}

pub(super) fn nulls(info: &ColumnInfo) -> Result<Chunk> {
    let n = usize::try_from(info.record.n_values).map_err(|_| Error::argument("too many rows"))?;
    Ok(Chunk { n, values: HostValues::Null, validity: HostValidity::AllValid })
}
