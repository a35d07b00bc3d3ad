//! Other columns for the table of a file that is going to change, or of a stream.

use std::ffi::c_int;

use entasis::{ColumnSource, Error, Kind, NewColumns, Operation, Result};

use crate::build::Builder;
use crate::change::{self, Change};
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};
use crate::options::Options;

/// The columns of a table after a change, as C passes them.
#[repr(C)]
pub struct FinalColumns {
    /// For each column its position among those of the file, or among new ones.
    positions: *const f64,
    /// For each column whether it is new.
    is_new: *const c_int,
    names: *const Text,
    n: usize,
    /// The code of the operation.
    operation: c_int,
}

impl FinalColumns {
    /// # Safety
    /// The arrays must have `n` values, and the texts must be valid.
    unsafe fn parts(&self) -> Result<(Vec<ColumnSource>, Vec<String>, Operation)> {
        // SAFETY: as the caller promises.
        let (positions, is_new, names) =
            unsafe { (slice(self.positions, self.n), slice(self.is_new, self.n), slice(self.names, self.n)) };
        let source = |(&position, &is_new): (&f64, &c_int)| {
            if is_new != 0 {
                ColumnSource::New(position as usize)
            } else {
                ColumnSource::Kept(position as usize)
            }
        };
        // SAFETY: as the caller promises.
        let name = |name: &Text| Ok(unsafe { name.text() }?.to_owned());
        Ok((
            positions.iter().zip(is_new).map(source).collect(),
            names.iter().map(name).collect::<Result<_>>()?,
            change::operation(self.operation)?,
        ))
    }
}

/// Gives the table of a file or stream other columns, some of them from `builder`. This ends a
/// change but not a stream. Returns 1; 0 if the file must be written anew, which leaves the change
/// or stream as it is; or -1 with an error. The builder is empty afterwards.
///
/// # Safety
/// `ent_change_begin` and `ent_builder_new` must have returned `change` and `builder`. The arrays
/// of `columns` must have `n` values. `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_columns(
    change: *mut Change,
    builder: *mut Builder,
    columns: *const FinalColumns,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let (sources, names, operation) = (*columns).parts()?;
            set_columns(&mut *change, &mut *builder, &sources, names, operation, options, interrupted)
                .map(c_int::from)
        })
    }
}

fn set_columns(
    change: &mut Change,
    builder: &mut Builder,
    sources: &[ColumnSource],
    names: Vec<String>,
    operation: Operation,
    options: Options,
    interrupted: Option<Interrupted>,
) -> Result<bool> {
    let (options, signals) = (options.of_core(), Signals::new(interrupted));
    if change.is_stream() {
        let columns = NewColumns { sources, names, levels: Vec::new() };
        return change.on_stream(Kind::Unsupported, |stream| {
            stream.set_columns(builder.take(), columns, operation, &options, &signals)
        });
    }
    let of_core = change.get().ok_or_else(|| Error::argument("the change is over"))?;
    let content = match of_core.with_columns(builder.take(), sources, names) {
        Err(error) if error.kind() == Kind::Unsupported => return Ok(false),
        content => content?,
    };
    change.take()?.commit(content, operation, &options, &signals)?;
    Ok(true)
}
