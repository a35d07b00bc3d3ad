//! Column runs: neighbouring columns of one dtype that are written as one. Also reads the names of
//! columns.

use entasis::{Array, Chunk, Column, ColumnType, HostRead, HostValidity, HostValues, Logical, NameList};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::array::{Axes, NumpyArray};

/// Fewer neighbours are written as single columns.
const MIN_COLUMNS: usize = 16;
/// Tables of this many rows or more have no runs.
const MAX_ROWS: usize = 8192;

/// Whether columns of this type at these positions form a run. They must have no missing values.
pub fn is_run(
    column_type: &ColumnType,
    n_rows: usize,
    mut positions: impl ExactSizeIterator<Item = usize>,
) -> bool {
    if positions.len() < MIN_COLUMNS
        || n_rows == 0
        || n_rows >= MAX_ROWS
        || column_type.logical != Logical::Plain
    {
        return false;
    }
    let first = positions.next().unwrap_or(0);
    (first + 1..).zip(positions).all(|(next, position)| next == position)
}

/// All columns of an array as a run.
///
/// # Safety
/// The array has this layout, and stays alive as long as the run is used.
pub unsafe fn run(axes: &Axes, column_type: ColumnType, names: NameList) -> Column {
    let walk = |(n, stride): (usize, isize)| n.saturating_sub(1) as isize * stride;
    let walks = [walk(axes.rows), walk(axes.columns)];
    let first: usize = walks.iter().map(|walk| walk.min(&0).unsigned_abs()).sum();
    let len = walks.iter().map(|walk| walk.unsigned_abs()).sum::<usize>() + axes.width;
    // SAFETY: all elements along both axes are inside the array, which the caller keeps alive.
    let memory = unsafe { HostRead::new((axes.start - first) as *const u8, len) };
    let values = HostValues::Matrix {
        memory,
        first,
        row_stride: axes.rows.1,
        column_stride: axes.columns.1,
        n_rows: axes.rows.0,
    };
    let n = axes.rows.0 * axes.columns.0;
    Column {
        name: String::new(),
        run: Some(names),
        column_type,
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::new(Chunk { n, values, validity: HostValidity::AllValid }),
    }
}

/// Splits runs into single columns.
pub fn split(columns: Vec<Column>) -> Vec<Column> {
    let mut found = Vec::with_capacity(columns.iter().map(Column::n_columns).sum());
    for column in columns {
        let (Some(names), [chunk]) = (&column.run, &column.array.chunks[..]) else {
            found.push(column);
            continue;
        };
        let HostValues::Matrix { memory, first, row_stride, column_stride, n_rows } = chunk.values else {
            found.push(column);
            continue;
        };
        found.extend(names.iter().enumerate().map(|(k, name)| {
            let first = first.wrapping_add_signed(k as isize * column_stride);
            let values = HostValues::Matrix { memory, first, row_stride, column_stride, n_rows };
            Column {
                name: name.to_owned(),
                run: None,
                column_type: column.column_type,
                detail: None,
                host_detail: None,
                dictionary: None,
                children: Vec::new(),
                array: Array::new(Chunk { n: n_rows, values, validity: HostValidity::AllValid }),
            }
        }));
    }
    found
}

/// The names of columns, from one of:
///
/// - a list of `str` objects, subclasses excluded;
/// - an array of dtype `U`;
/// - a tuple `(offsets, text, first, end)` for the names `first..end`. `offsets` is a buffer of
///   64-bit integers, one more than there are names, and `text` is their UTF-8.
pub fn names(names: &Bound<'_, PyAny>) -> PyResult<NameList> {
    let too_long =
        || pyo3::exceptions::PyOverflowError::new_err("the names of all columns together have 4 GiB or more");
    if let Ok(list) = names.cast::<PyList>() {
        let mut found = NameList::with_capacity(list.len());
        for name in list.iter() {
            if !found.push(name.cast_exact::<PyString>()?.to_str()?) {
                return Err(too_long());
            }
        }
        return Ok(found);
    }
    if let Ok(parts) = names.cast::<PyTuple>() {
        let (ends, text, from, to): (Bound<'_, PyAny>, Bound<'_, PyAny>, usize, usize) = parts.extract()?;
        return joined(&ends, &text, from, to)?.ok_or_else(wrong);
    }
    let view = NumpyArray::new(names)?;
    if view.typestr.as_bytes().get(1) != Some(&b'U') || view.shape.len() != 1 {
        return Err(wrong());
    }
    // SAFETY: the caller keeps the array alive, and its memory is used in this function alone.
    let memory = unsafe { view.column(0) };
    let first = if view.stride() < 0 { memory.len().saturating_sub(view.width) } else { 0 };
    let mut found = NameList::with_capacity(view.n());
    let (mut row, mut name) = (vec![0u8; view.width], String::new());
    for i in 0..view.n() {
        if !memory.copy_to(first.wrapping_add_signed(i as isize * view.stride()), &mut row) {
            return Err(wrong());
        }
        name.clear();
        let (codes, _) = row.as_chunks::<4>();
        let len = codes.iter().rposition(|code| *code != [0; 4]).map_or(0, |last| last + 1);
        for code in &codes[..len] {
            name.push(char::from_u32(u32::from_ne_bytes(*code)).ok_or_else(wrong)?);
        }
        if !found.push(&name) {
            return Err(too_long());
        }
    }
    Ok(found)
}

fn wrong() -> PyErr {
    pyo3::exceptions::PyValueError::new_err("invalid names of columns")
}

fn joined(
    ends: &Bound<'_, PyAny>,
    text: &Bound<'_, PyAny>,
    from: usize,
    to: usize,
) -> PyResult<Option<NameList>> {
    let (ends, text) = (PyUntypedBuffer::get(ends)?, PyUntypedBuffer::get(text)?);
    // SAFETY: both buffers are held until this function ends, and are used in it alone.
    let lend =
        |buffer: &PyUntypedBuffer| unsafe { HostRead::new(buffer.buf_ptr().cast(), buffer.len_bytes()) };
    let (ends_memory, text_memory) = (lend(&ends), lend(&text));
    let Some(n) = to.checked_sub(from).filter(|n| *n < ends.len_bytes() / 8) else { return Ok(None) };
    let mut offsets = vec![0i64; n + 1];
    if !ends_memory.copy_strided(8 * from, 8, &mut offsets) {
        return Ok(None);
    }
    let start = offsets[0];
    let len = usize::try_from(offsets[n].wrapping_sub(start)).ok().filter(|len| *len <= text.len_bytes());
    let (Some(len), Ok(at)) = (len, usize::try_from(start)) else { return Ok(None) };
    let mut bytes = vec![0; len];
    if !text_memory.copy_to(at, &mut bytes) {
        return Ok(None);
    }
    let ends = offsets[1..].iter().map(|end| u32::try_from(end.wrapping_sub(start)));
    let (Ok(ends), Ok(text)) = (ends.collect::<Result<Vec<u32>, _>>(), String::from_utf8(bytes)) else {
        return Ok(None);
    };
    Ok(NameList::from_parts(text, ends))
}
