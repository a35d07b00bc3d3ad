//! A file that is going to change, with its lock, or a stream of rows to one.

use std::ffi::c_int;
use std::ptr::null_mut;

use entasis::{Error, File, Frame, Keep, Kind, Operation, Physical, Result, Stream};

use crate::build::{self, Builder};
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::options::Options;
use crate::secrets;

/// A change until it is committed, or a stream until it is finished.
pub struct Change(State);

enum State {
    Change(Box<entasis::Change>),
    Stream(Box<Stream>),
    Over,
}

impl Change {
    pub fn new(change: entasis::Change) -> Self {
        Self(State::Change(Box::new(change)))
    }

    pub fn of_stream(stream: Stream) -> Self {
        Self(State::Stream(Box::new(stream)))
    }

    /// The change, which can be committed once.
    pub fn take(&mut self) -> Result<entasis::Change> {
        match std::mem::replace(&mut self.0, State::Over) {
            State::Change(change) => Ok(*change),
            _ => Err(Error::argument("the change is over")),
        }
    }

    /// The change, unless it is over.
    pub fn get(&self) -> Option<&entasis::Change> {
        if let State::Change(change) = &self.0 { Some(change) } else { None }
    }

    /// The stream, which can be finished once.
    pub fn take_stream(&mut self) -> Result<Stream> {
        match std::mem::replace(&mut self.0, State::Over) {
            State::Stream(stream) => Ok(*stream),
            _ => Err(stream_is_over()),
        }
    }

    /// The stream, unless it is over.
    pub fn stream(&self) -> Result<&Stream> {
        if let State::Stream(stream) = &self.0 { Ok(stream) } else { Err(stream_is_over()) }
    }

    pub const fn is_stream(&self) -> bool {
        matches!(self.0, State::Stream(_))
    }

    /// Runs an operation of the stream. False after an error of kind `refusal`, which leaves the
    /// stream as it was. Other errors end the stream, which cannot continue after an error of
    /// writing.
    pub fn on_stream(
        &mut self,
        refusal: Kind,
        operation: impl FnOnce(&mut Stream) -> Result<()>,
    ) -> Result<bool> {
        let State::Stream(stream) = &mut self.0 else { return Err(stream_is_over()) };
        match operation(stream) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == refusal => Ok(false),
            Err(error) => {
                self.0 = State::Over;
                Err(error)
            }
        }
    }

    /// Returns an error in a forked child of the process that made the stream, unless the stream is
    /// over.
    pub fn check_process(&self) -> Result<()> {
        if let State::Stream(stream) = &self.0 { stream.check_process() } else { Ok(()) }
    }

    /// Adds the rows of a frame to the table. False if frame and table store columns in different
    /// forms: the table is then unchanged, and the change or stream goes on.
    fn append(
        &mut self,
        builder: &mut Builder,
        options: Options,
        interrupted: Option<Interrupted>,
    ) -> Result<bool> {
        // Encodings of strings are recorded in columns, which later rows could not extend.
        if builder.has_encodings() {
            return Ok(false);
        }
        let (options, signals) = (options.of_core(), Signals::new(interrupted));
        if self.is_stream() {
            let mut frame = builder.take();
            widen_codes(&mut frame, self.stream()?.view()?.as_ref())?;
            return self.on_stream(Kind::Argument, |stream| stream.append(frame, &[], &options, &signals));
        }
        let Some(change) = self.get() else { return Err(Error::argument("the change is over")) };
        if !change.is_single_table() {
            return Ok(false);
        }
        let mut frame = builder.take();
        widen_codes(&mut frame, Some(change.file()))?;
        let frame = match change.append(frame, &[]) {
            Err(error) if error.kind() == Kind::Argument => return Ok(false),
            appended => appended?,
        };
        self.take()?.commit(frame, Operation::Append, &options, &signals)?;
        Ok(true)
    }
}

/// Widens the codes of categories to the code type of the table so far, if it is wider. The codes
/// of the first batch of a stream get room for any number of levels.
fn widen_codes(frame: &mut Frame, so_far: Option<&File>) -> Result<()> {
    for (number, column) in (0..).zip(&mut frame.columns) {
        let wide = match so_far {
            _ if column.dictionary.is_none() => continue,
            None => Physical::I32,
            Some(file) if number < file.n_columns() => file.column(number)?.record.column_type.physical,
            Some(_) => continue,
        };
        let of_column = &mut column.column_type.physical;
        let is_narrower = matches!(
            (*of_column, wide),
            (Physical::I8, Physical::I16 | Physical::I32) | (Physical::I16, Physical::I32)
        );
        if is_narrower {
            *of_column = wide;
        }
    }
    Ok(())
}

fn stream_is_over() -> Error {
    Error::argument("the writer has ended: make another one")
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
            let signals = Signals::new(interrupted);
            let begin = |secret| entasis::Change::begin(&path, &options.opening(secret), &signals);
            let change = secrets::opened(begin)?;
            secrets::note(change.file());
            Ok(Box::into_raw(Box::new(Change::new(change))))
        })
    }
}

/// Adds the rows of a frame to the file's table, which ends a change but not a stream. Returns 1; 0
/// if the columns are stored in another form, which leaves the change as it is; or -1 with an
/// error. The builder is empty afterwards.
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
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let signals = Signals::new(interrupted);
            (*change).take()?.rollback(generation as u64, &options.of_core(), &signals).map(|()| 0)
        })
    }
}

/// States how many generations later changes keep, which ends the change. `unit` is the code of a
/// unit of the format. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_change_rollback`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_keep(
    change: *mut Change,
    unit: c_int,
    value: f64,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let keep = Keep { kind: unit as u8, value: value as u64 };
            (*change).take()?.keep(keep, &options.of_core(), &Signals::new(interrupted)).map(|()| 0)
        })
    }
}

/// Stores the value of the file anew without what earlier changes left, which ends the change. With
/// `rekey`, an encrypted file gets another file key. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_change_rollback`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_change_compact(
    change: *mut Change,
    rekey: c_int,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let (change, signals) = ((*change).take()?, Signals::new(interrupted));
            let work = if rekey == 0 { entasis::Change::compact } else { entasis::Change::rekey };
            work(change, &options.of_core(), &signals).map(|()| 0)
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
