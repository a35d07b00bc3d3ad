//! Writes a file from frames and cells.

use entasis::{Column, Document, Error, Frame, Result, Value};

use crate::build::{Builder, path};
use crate::cells::Cells;
use crate::change::{self, Change};
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};
use crate::options::Options;

/// The contents of a file: frames, and cells or none.
#[repr(C)]
pub struct NewFile {
    path: Text,
    frames: *const *mut Builder,
    n_frames: usize,
    /// Null for a file of a single frame.
    cells: *mut Cells,
    /// The root cell, or -1 for a file whose value is the first frame.
    root: f64,
    /// The cell with the environments, or -1.
    environments: f64,
    /// The cell with the metadata, or -1.
    metadata: f64,
    options: Options,
    /// The change that replaces the file; null for a file that is not locked yet.
    change: *mut Change,
    /// The code of the operation of the change.
    operation: i32,
}

/// Writes a file. Returns 0, or -1 with an error. The builders and cells are empty afterwards, and
/// the change is over.
///
/// # Safety
/// [`ent_builder_new`], `ent_cells_new` and `ent_change_begin` must have returned the frames, cells
/// and the change. The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_write(
    file: *const NewFile,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, -1, || write(&*file, interrupted).map(|()| 0)) }
}

/// # Safety
/// As for [`ent_write`].
unsafe fn write(file: &NewFile, interrupted: Option<Interrupted>) -> Result<()> {
    let (options, signals) = (file.options.of_core(), Signals::new(interrupted));
    // SAFETY: as the caller promises.
    let path = unsafe { path(file.path) }?;
    // SAFETY: as the caller promises.
    let locked = unsafe { file.change.as_mut() }.map(Change::take).transpose()?;
    // SAFETY: as the caller promises.
    let frames = unsafe { slice(file.frames, file.n_frames) };
    // SAFETY: as the caller promises; each frame is there once.
    let mut frames: Vec<Frame> = frames.iter().map(|&frame| unsafe { (*frame).take() }).collect();
    if file.cells.is_null() {
        let frame = frames.pop().filter(|_| frames.is_empty());
        let frame = frame.ok_or_else(|| Error::argument("frames without cells"))?;
        return match locked {
            Some(locked) => locked.replace(frame, change::operation(file.operation)?, &options, &signals),
            None => entasis::write(&path, &frame, &options, &signals),
        };
    }
    // SAFETY: as the caller promises.
    let cells = unsafe { &mut *file.cells };
    let root = if file.root < 0.0 { Value::Table(0) } else { Value::Cell(file.root as u64) };
    // SAFETY: the cells stay unchanged until this function ends.
    let (columns, value) = unsafe { value_of(cells, root, file.environments, file.metadata) }?;
    let document = Document { frames, columns, value };
    match locked {
        Some(locked) => locked.replace(document, change::operation(file.operation)?, &options, &signals),
        None => entasis::write_document(&path, &document, &options, &signals),
    }
}

/// The columns of cells, and the value of a file with them. The cells of environments and metadata
/// are -1 for none.
///
/// # Safety
/// The cells must stay unchanged while the columns are used.
pub unsafe fn value_of(
    cells: &mut Cells,
    root: Value,
    environments: f64,
    metadata: f64,
) -> Result<(Vec<Column>, Value)> {
    cells.finish();
    // SAFETY: as the caller promises.
    let (columns, names) = unsafe { cells.columns() }?;
    let mut pairs = vec![
        (Value::from("value"), root),
        (Value::from("host"), Value::from("r")),
        (Value::from("cells"), names),
    ];
    for (key, cell) in [("environments", environments), ("metadata", metadata)] {
        if cell >= 0.0 {
            pairs.push((Value::from(key), Value::Cell(cell as u64)));
        }
    }
    Ok((columns, Value::Map(pairs)))
}
