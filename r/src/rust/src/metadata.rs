//! Changes the metadata of a file.

use std::ffi::c_int;

use entasis::{Document, Error, Kind, Operation, Result, Value};

use crate::cells::Cells;
use crate::change::Change;
use crate::guard::{self, Failure, Interrupted, Signals};
use crate::options::Options;
use crate::write;

/// Metadata, as C passes them.
#[repr(C)]
pub struct Metadata {
    /// Null removes the metadata.
    cells: *mut Cells,
    /// The cell of their value.
    value: f64,
    /// The cell with their environments, or -1.
    environments: f64,
}

/// Gives a file other metadata, which ends the change. Returns 1; 0 if the file must be written
/// anew, which leaves the change as it is; or -1 with an error.
///
/// # Safety
/// `ent_change_begin` and `ent_cells_new` must have returned `change` and the cells. `failure` must
/// be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_metadata(
    change: *mut Change,
    metadata: *const Metadata,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || set(&mut *change, &*metadata, options, interrupted).map(c_int::from))
    }
}

/// # Safety
/// As for [`ent_change_metadata`].
unsafe fn set(
    change: &mut Change,
    metadata: &Metadata,
    options: Options,
    interrupted: Option<Interrupted>,
) -> Result<bool> {
    // SAFETY: as the caller promises.
    let cells = unsafe { metadata.cells.as_mut() };
    let document = match cells {
        None => None,
        Some(cells) => {
            // SAFETY: the cells stay unchanged until this function ends.
            let of_cells =
                unsafe { write::value_of(cells, Value::Null, metadata.environments, metadata.value) };
            let (columns, value) = of_cells?;
            Some(Document { frames: Vec::new(), columns, value })
        }
    };
    let of_core = change.get().ok_or_else(|| Error::argument("the change is over"))?;
    let content = match of_core.with_metadata(document) {
        Err(error) if error.kind() == Kind::Unsupported => return Ok(false),
        content => content?,
    };
    change.take()?.commit(content, Operation::Metadata, &options.of_core(), &Signals::new(interrupted))?;
    Ok(true)
}
