//! A file that is going to change, with its lock.

use std::ffi::c_int;
use std::ptr::null_mut;

use entasis::{Error, Kind, Operation, Result};

use crate::build::{self, Builder};
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::options::Options;

/// A change, until it is committed.
pub struct Change(Option<entasis::Change>);

impl Change {
    /// The change, which can be committed once.
    pub fn take(&mut self) -> Result<entasis::Change> {
        self.0.take().ok_or_else(|| Error::argument("the change is over"))
    }

    /// The change, unless it is over.
    pub fn get(&self) -> Option<&entasis::Change> {
        self.0.as_ref()
    }

    /// Adds the rows of a frame to the file's table. False if its columns are stored in another
    /// form than those of the file; the file is then unchanged, and the change goes on.
    fn append(
        &mut self,
        builder: &mut Builder,
        options: Options,
        interrupted: Option<Interrupted>,
    ) -> Result<bool> {
        let Some(change) = &self.0 else { return Err(Error::argument("the change is over")) };
        // Encodings are recorded for each string, in columns that no other rows could extend.
        if builder.has_encodings() || !change.is_single_table() {
            return Ok(false);
        }
        let frame = match change.append(builder.take(), &[]) {
            Err(error) if error.kind() == Kind::Argument => return Ok(false),
            appended => appended?,
        };
        let options = options.of_core();
        self.take()?.commit(frame, Operation::Append, &options, &Signals::new(interrupted))?;
        Ok(true)
    }
}

/// The operation with a code.
pub fn operation(code: c_int) -> Result<Operation> {
    let operation = u16::try_from(code).ok().and_then(Operation::from_code);
    operation.ok_or_else(|| Error::argument("no such operation"))
}

/// Takes the lock of the file at a path. Waits for another writer.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_begin(
    path: Text,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut Change {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let path = build::path(path)?;
            let change = entasis::Change::begin(&path, &options.of_core(), &Signals::new(interrupted))?;
            Ok(Box::into_raw(Box::new(Change(Some(change)))))
        })
    }
}

/// Adds the rows of a frame to the file's table, which ends the change. Returns 1; 0 if the columns
/// are stored in another form, which leaves the change as it is; or -1 with an error. The builder
/// is empty afterwards.
///
/// # Safety
/// [`ent_change_begin`] and `ent_builder_new` must have returned `change` and `builder`; `failure`
/// must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_append(
    change: *mut Change,
    builder: *mut Builder,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || (*change).append(&mut *builder, options, interrupted).map(c_int::from))
    }
}

/// Goes back to an earlier generation, which ends the change. Returns 0, or -1 with an error.
///
/// # Safety
/// [`ent_change_begin`] must have returned `change`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_rollback(
    change: *mut Change,
    generation: f64,
    options: Options,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            (*change).take()?.rollback(generation as u64, &options.of_core()).map(|()| 0)
        })
    }
}

/// Stores the value of the file anew without what earlier changes left, which ends the change.
/// Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_change_rollback`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_compact(
    change: *mut Change,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            (*change).take()?.compact(&options.of_core(), &Signals::new(interrupted)).map(|()| 0)
        })
    }
}

/// Gives the lock back. The file stays as it is unless the change was committed.
///
/// # Safety
/// [`ent_change_begin`] must have returned `change`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_free(change: *mut Change) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(change) });
}
