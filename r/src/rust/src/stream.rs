//! Files that are written batch by batch. `ent_change_append` adds a batch to a stream.

use std::ffi::c_int;
use std::ptr::null_mut;

use entasis::{File, Stream};

use crate::build;
use crate::change::Change;
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::options::Options;

/// Begins a new file, which replaces one at the path when the stream is finished.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_stream_create(
    path: Text,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut Change {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let path = build::path(path)?;
            let stream = Stream::create(&path, &options.of_core(), &Signals::new(interrupted))?;
            Ok(Box::into_raw(Box::new(Change::of_stream(stream))))
        })
    }
}

/// Makes a change a stream that adds rows to the file. Returns 0, or -1 with an error.
///
/// # Safety
/// `ent_change_begin` must have returned `change`; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_stream_extend(
    change: *mut Change,
    options: Options,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let change = &mut *change;
            *change = Change::of_stream(Stream::extend(change.take()?, &options.of_core())?);
            Ok(0)
        })
    }
}

/// Returns -1 with an error in a forked child of the process that made the stream, else 0.
///
/// # Safety
/// As for [`ent_stream_view`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_stream_check(stream: *const Change, failure: *mut *mut Failure) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, -1, || (*stream).check_process().map(|()| 0)) }
}

/// A view of the table so far, which has to be closed before the stream is finished. Null without
/// an error before the first batch.
///
/// # Safety
/// [`ent_stream_create`] must have returned `stream`, or [`ent_stream_extend`] made it; `failure`
/// must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_stream_view(stream: *const Change, failure: *mut *mut Failure) -> *mut File {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let view = (*stream).stream()?.view()?;
            Ok(view.map_or(null_mut(), |view| Box::into_raw(Box::new(view))))
        })
    }
}

/// Makes the batches the value of the file. Returns 0, or -1 with an error. The stream is over.
///
/// # Safety
/// As for [`ent_stream_view`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_stream_finish(stream: *mut Change, failure: *mut *mut Failure) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, -1, || (*stream).take_stream()?.finish().map(|()| 0)) }
}
