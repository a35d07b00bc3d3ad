//! Files of several frames and of trees.

use std::path::PathBuf;

use entasis::{Document, HostRead, Value};
use pyo3::prelude::*;

use crate::builder::{self, Builder};
use crate::cells::write::CellBuilder;
use crate::{monitor, runs};

/// A builder, what its frame keeps beside the columns, and the cells of its trees.
type Part<'py> = (Bound<'py, Builder>, Bound<'py, PyAny>, Vec<u64>);

/// Writes a file of frames and trees. `table` or `cell` is the file's value; the extra columns of `pools` are those of arrays. All builders are empty afterwards.
#[pyfunction]
#[pyo3(signature = (path, parts, pools, cells, table, cell, metadata, compression, column_compression, threads, durable))]
#[allow(clippy::too_many_arguments)]
pub fn write_document(
    py: Python<'_>,
    path: PathBuf,
    parts: Vec<Part<'_>>,
    pools: Bound<'_, Builder>,
    cells: Bound<'_, CellBuilder>,
    table: Option<u64>,
    cell: Option<u64>,
    metadata: Option<u64>,
    compression: u8,
    column_compression: Vec<(String, u8)>,
    threads: Option<usize>,
    durable: Option<bool>,
) -> PyResult<()> {
    let mut frames = Vec::with_capacity(parts.len());
    for (builder, host, numbers) in &parts {
        let mut frame = builder.borrow_mut().frame(host, numbers)?;
        if !column_compression.is_empty() {
            frame.columns = runs::split(frame.columns);
        }
        frames.push(frame);
    }
    let mut columns = pools.borrow_mut().take_extra();
    let n_pools = columns.len() as u64;
    let cells = cells.borrow();
    // SAFETY: the writer of the cells is borrowed until the file is written, and so neither changed nor dropped.
    let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
    let (of_cells, mut names) = cells.writer.columns(n_pools, &lend);
    columns.extend(of_cells);
    if n_pools > 0 {
        names.push((Value::from("pools"), Value::Column(0)));
        names.push((Value::from("n_pools"), Value::UInt(n_pools)));
    }
    let value = table.map(Value::Table).or(cell.map(Value::Cell)).unwrap_or(Value::Null);
    let mut pairs = vec![(Value::from("value"), value)];
    pairs.extend(metadata.map(|metadata| (Value::from("metadata"), Value::Cell(metadata))));
    pairs.push((Value::from("cells"), Value::Map(names)));
    let document = Document { frames, columns, value: Value::Map(pairs) };
    let options = builder::options(compression, column_compression, threads, durable);
    let result = monitor::run(py, |monitor| entasis::write_document(&path, &document, &options, monitor));
    drop(document);
    drop(cells);
    for (builder, ..) in &parts {
        builder.borrow_mut().clear();
    }
    pools.borrow_mut().clear();
    result
}
