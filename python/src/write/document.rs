//! The Python entry point for writing a file of frames and trees.

use entasis::{Document, HostRead, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::cells::write::CellBuilder;
use crate::write::builder::Builder;
use crate::write::destination::Destination;
use crate::write::runs;

/// A builder, the host map of its frame, and the numbers of the cells of its trees.
type Part<'py> = (Bound<'py, Builder>, Bound<'py, PyAny>, Vec<u64>);

/// Writes a file of frames and trees. `table` or `cell` is the value of the file, and `metadata`
/// the cell of its metadata. The extra columns of `pools` hold the values of arrays. All builders
/// are empty afterwards.
#[pyfunction]
#[pyo3(signature = (to, parts, pools, cells, table, cell, metadata))]
#[allow(clippy::too_many_arguments)]
pub fn write_document<'py>(
    py: Python<'py>,
    to: Destination,
    parts: Vec<Part<'py>>,
    pools: Bound<'py, Builder>,
    cells: Bound<'py, CellBuilder>,
    table: Option<u64>,
    cell: Option<u64>,
    metadata: Option<u64>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let mut frames = Vec::with_capacity(parts.len());
    for (builder, host, numbers) in &parts {
        let mut frame = builder.borrow_mut().frame(host, numbers)?;
        if to.needs_single_columns(py) {
            frame.columns = runs::split(frame.columns);
        }
        frames.push(frame);
    }
    let mut columns = pools.borrow_mut().take_extra();
    let n_pools = columns.len() as u64;
    let cells = cells.borrow();
    // SAFETY: the writer of the cells stays borrowed until the file is written, so it is neither
    // changed nor dropped.
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
    let result = to.write(py, document.into());
    drop(cells);
    for (builder, ..) in &parts {
        builder.borrow_mut().clear();
    }
    pools.borrow_mut().clear();
    result
}
