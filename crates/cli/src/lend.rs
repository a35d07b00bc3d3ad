//! Lends the command's own columns and cells to the writer. Only this file touches raw memory.
#![allow(unsafe_code)]

use std::path::Path;

use entasis::cells::CellWriter;
use entasis::{
    Array as Lent, Change, Chunk, Column, Document, Frame, HostRead, HostValidity, HostValues, Monitor,
    Operation, Result, Value, WriteOptions,
};

use crate::array::{Array, Values};
use crate::nested;

/// Writes a table of these columns.
pub(crate) fn write(
    path: &Path,
    n_rows: u64,
    arrays: &[Array],
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    let mut frame = Frame { n_rows, columns: Vec::new(), extra: Vec::new(), host: Value::Null };
    for array in arrays {
        let mut column = lend_column(array)?;
        if let Some(categories) = &array.categories {
            column.dictionary = Some(frame.extra.len());
            frame.extra.push(lend_column(categories)?);
        }
        frame.columns.push(column);
    }
    // The frame ends here, before the memory that it borrows.
    entasis::write(path, &frame, options, monitor)
}

/// Makes the first of these cells the metadata of a file. `is_r` says whether they are those of R.
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

fn lend_column(array: &Array) -> Result<Column> {
    let stride =
        array.column_type.layout().width().and_then(|width| isize::try_from(width).ok()).unwrap_or(1);
    let values = match &array.values {
        Values::Null => HostValues::Null,
        Values::Nested(_) | Values::Objects(_) => return Err(nested::unsupported(array)),
        Values::Words(words) => HostValues::Words { memory: lend(words), stride },
        Values::Bools(bytes) => HostValues::Bools { memory: lend(bytes), stride: 1 },
        Values::Text(text) => {
            HostValues::Offsets64 { offsets: lend(&text.offsets), bytes: lend(text.joined()) }
        }
    };
    let validity = match &array.missing {
        Some(mask) => HostValidity::Mask { memory: lend(mask), stride: 1 },
        None => HostValidity::AllValid,
    };
    Ok(Column {
        run: None,
        name: array.name.clone(),
        column_type: array.column_type,
        detail: array.detail.clone(),
        dictionary: None,
        children: Vec::new(),
        array: Lent::new(Chunk { n: array.n, values, validity }),
    })
}

fn lend(buffer: &[u8]) -> HostRead {
    // SAFETY: a buffer's bytes are initialised and no longer than isize::MAX. The handle goes into
    // the frame of `write` or the content of `set_metadata`, which ends before the borrow of the
    // memory, and nobody writes to it meanwhile.
    unsafe { HostRead::new(buffer.as_ptr(), buffer.len()) }
}
