//! Lends the command's own cells and columns to the writer. Only this file touches raw memory.
#![allow(unsafe_code)]

use std::ops::Range;
use std::path::Path;

use entasis::cells::CellWriter;
use entasis::{Change, Document, File, HostRead, Monitor, Opening, Operation, Result, Value, WriteOptions};
use entasis_convert::r::PlanOptions;
use entasis_convert::{Parts, ReadOptions, Source};
use entasis_csv::Job;

/// Makes the first of these cells the metadata of a file. `is_r` says whether the
/// cells are those of R.
pub(crate) fn set_metadata(
    change: Change,
    cells: &CellWriter,
    is_r: bool,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (columns, names) = cells.columns(0, &lend);
    let mut pairs =
        vec![(Value::from("metadata"), Value::Cell(0)), (Value::from("cells"), Value::Map(names))];
    if is_r {
        pairs.push((Value::from("host"), Value::from("r")));
    }
    let document = Document { frames: Vec::new(), columns, value: Value::Map(pairs) };
    let content = change.with_metadata(Some(document))?;
    // The content ends here, before the memory that it borrows.
    change.commit(content, Operation::Metadata, options, monitor)
}

/// Writes a text into a file.
pub(crate) fn store(
    job: &mut Job,
    path: &Path,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<entasis_csv::Outcome> {
    // The columns of a window outlive the frame that borrows them.
    job.store(path, options, &lend, monitor)
}

/// Opens a file of Entasis, or one of R.
pub(crate) fn open(path: &Path, opening: Opening, monitor: &dyn Monitor) -> Result<File> {
    entasis_convert::open_path(path, opening, &lend, monitor)
}

/// Writes the value of a file of R into a file.
pub(crate) fn convert_r(
    source: &Path,
    path: &Path,
    reading: &ReadOptions,
    plan: PlanOptions,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    // The values outlive the document that borrows them.
    entasis_convert::convert(Source::Path(source), path, reading, plan, options, &lend, monitor)
}

/// The columns of a table of fst, without rows.
pub(crate) fn schema_of_fst(parts: &Parts, monitor: &dyn Monitor) -> Result<File> {
    parts.schema(&lend, monitor)
}

/// Some columns and rows of a table of fst.
pub(crate) fn part_of_fst(
    parts: &Parts,
    columns: Option<&[usize]>,
    rows: Range<u64>,
    monitor: &dyn Monitor,
) -> Result<File> {
    parts.part(columns, rows, &lend, monitor)
}

fn lend(buffer: &[u8]) -> HostRead {
    // SAFETY: a buffer's bytes are initialised and no longer than isize::MAX. The handle goes into
    // the content of `set_metadata`, into the frame of a window, or into a document of values. All
    // of these end before the borrow of the memory, and nobody writes to it meanwhile.
    unsafe { HostRead::new(buffer.as_ptr(), buffer.len()) }
}
