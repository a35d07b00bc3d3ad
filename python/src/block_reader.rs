//! Reads all columns of fixed width in one call, for StaticFrame and pandas, without Python code
//! per column.

use std::ops::Range;

use entasis::{
    Error, File, Group, Logical, Matrix, MissingTo, NameGroup, Output, Physical, Request, Rows, Side,
};
use pyo3::prelude::*;

use crate::array::{self, NumpyArray};
use crate::fixed_width::put;
use crate::handle::Handle;
use crate::{errors, monitor};

/// Columns of one dtype: their positions, and an array with a row per column.
type Rowwise<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The columns of a group outside of all matrices.
struct LooseColumns<'a> {
    group: &'a Group,
    /// Their indices in the group.
    members: Vec<usize>,
}

/// The columns of a matrix.
struct MatrixColumns {
    /// The index of their group.
    group: usize,
    /// Their indices in the group.
    members: Range<usize>,
}

/// Columns by dtype, the arrays of matrices, and the columns that were not read.
type Blocks<'py> = (Vec<Rowwise<'py>>, Vec<Bound<'py, PyAny>>, Vec<u64>);

/// Reads all columns of a table that have a fixed width, for NumPy. With `pandas`, reads numbers
/// and booleans without missing values only.
///
/// `matrices` are pairs `(first column, number of columns)` in ascending order. Each becomes an
/// array in row-major order. Returns the other columns by dtype, the arrays of the matrices, and
/// the columns that were not read. Returns None if the columns of a matrix differ in their dtype.
///
/// `meanwhile` is called once. Its argument is whether other threads are reading at the same time.
#[pyfunction]
#[pyo3(signature = (handle, matrices, threads, meanwhile, *, pandas=false))]
pub fn read_blocks<'py>(
    py: Python<'py>,
    handle: &Handle,
    matrices: Vec<(u64, u64)>,
    threads: Option<usize>,
    meanwhile: Bound<'py, PyAny>,
    pandas: bool,
) -> PyResult<Option<Blocks<'py>>> {
    let file = &handle.file(py)?;
    let found = handle.groups(py)?;
    check_len(file, &found.groups).map_err(|error| errors::raise(py, &error))?;
    let n_rows = usize::try_from(file.n_rows())
        .map_err(|_| errors::out_of_memory(py, usize::MAX, 1, "the columns"))?;
    let (groups, unread): (Vec<&Group>, Vec<&Group>) =
        found.groups.iter().partition(|group| is_wanted(group, pandas));
    let mut others = found.others.clone();
    others.extend(unread.iter().flat_map(|group| &group.columns));
    others.sort_unstable();
    let Some(matrices) = matrices_of(&groups, matrices) else { return Ok(None) };
    let loose = outside_of(&groups, &matrices);
    let dtype = |group: &Group| array::dtype(&group.record.column_type);
    let mut rowwise = Vec::with_capacity(loose.len());
    for columns in &loose {
        let values = array::empty(py, (columns.members.len(), n_rows), &dtype(columns.group))?;
        rowwise.push((columns.positions(py)?, values));
    }
    let mut arrays = Vec::with_capacity(matrices.len());
    for matrix in &matrices {
        arrays.push(array::empty(py, (n_rows, matrix.members.len()), &dtype(groups[matrix.group]))?);
    }
    let mut requests = Vec::new();
    for (columns, (_, values)) in loose.iter().zip(&rowwise) {
        // SAFETY: nothing else knows the new array, and each request gets a slice of its own.
        columns.requests(n_rows, unsafe { array::memory(values) }?, &mut requests);
    }
    let mut wanted = Vec::with_capacity(matrices.len());
    for (matrix, values) in matrices.into_iter().zip(&arrays) {
        let group = groups[matrix.group];
        // SAFETY: nothing else knows the new array.
        let out = unsafe { array::memory(values) }?;
        wanted.push(Matrix { columns: matrix.side(group, n_rows), out, sentinel: sentinel(group) });
    }
    monitor::run_with(py, Some(meanwhile), |monitor| {
        if !requests.is_empty() {
            file.read(requests, threads, monitor)?;
        }
        if wanted.is_empty() { Ok(()) } else { file.read_matrices(wanted, threads, monitor) }
    })?;
    Ok(Some((rowwise, arrays, others)))
}

/// Checks that the columns of the groups are not longer than the limit of memory.
fn check_len(file: &File, groups: &[Group]) -> entasis::Result<()> {
    let len_of = |group: &Group| {
        group.record.column_type.memory_len(file.n_rows()).saturating_mul(group.columns.len() as u64)
    };
    file.check_decoded_len(groups.iter().map(len_of).fold(0, u64::saturating_add))
}

fn is_wanted(group: &Group, pandas: bool) -> bool {
    let kind = &group.record.column_type;
    let is_plain = kind.logical == Logical::Plain && !group.has_missing && kind.host_variant == 0;
    let is_time = matches!(kind.logical, Logical::Timestamp | Logical::Duration);
    match pandas {
        true => is_plain && kind.physical != Physical::FixedBytes,
        false => is_plain || (is_time && kind.host_variant == 0),
    }
}

/// Finds the columns of matrices. Returns `None` if a matrix is not in one group, or if matrices of
/// a group overlap or do not ascend.
fn matrices_of(groups: &[&Group], matrices: Vec<(u64, u64)>) -> Option<Vec<MatrixColumns>> {
    let mut ends = vec![0; groups.len()];
    let mut found = Vec::with_capacity(matrices.len());
    for (first, n) in matrices {
        let matrix = groups.iter().enumerate().find_map(|(at, group)| {
            let from = group.columns.binary_search(&first).ok()?;
            let to = from.checked_add(usize::try_from(n).ok()?)?;
            let last = first.checked_add(n)?.checked_sub(1)?;
            let is_whole = group.columns.get(to.checked_sub(1)?) == Some(&last);
            is_whole.then_some(MatrixColumns { group: at, members: from..to })
        })?;
        if matrix.members.start < ends[matrix.group] {
            return None;
        }
        ends[matrix.group] = matrix.members.end;
        found.push(matrix);
    }
    Some(found)
}

/// The columns of each group outside of all matrices, without groups that have none.
fn outside_of<'a>(groups: &[&'a Group], matrices: &[MatrixColumns]) -> Vec<LooseColumns<'a>> {
    let mut loose = Vec::with_capacity(groups.len());
    for (at, &group) in groups.iter().enumerate() {
        let (mut members, mut from) = (Vec::new(), 0);
        for matrix in matrices.iter().filter(|matrix| matrix.group == at) {
            members.extend(from..matrix.members.start);
            from = matrix.members.end;
        }
        members.extend(from..group.columns.len());
        if !members.is_empty() {
            loose.push(LooseColumns { group, members });
        }
    }
    loose
}

impl MatrixColumns {
    /// Where the core finds the columns in the file.
    fn side(&self, group: &Group, n_rows: usize) -> Side {
        match group.storage {
            Some(column) => Side::Stored {
                column,
                first: self.members.start as u64 * n_rows as u64,
                n: self.members.len(),
            },
            None => Side::Each(group.columns[self.members.clone()].to_vec()),
        }
    }
}

fn sentinel(group: &Group) -> Option<u64> {
    group.has_missing.then_some(i64::MIN as u64)
}

impl LooseColumns<'_> {
    /// The numbers of the columns.
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let positions = array::empty(py, (1, self.members.len()), "i8")?.get_item(0)?;
        // SAFETY: nothing else knows the new array.
        let bytes = unsafe { array::memory(&positions) }?;
        for (bytes, &member) in bytes.chunks_exact_mut(8).zip(&self.members) {
            bytes.copy_from_slice(&self.group.columns[member].to_ne_bytes());
        }
        Ok(positions)
    }

    /// Adds requests that decode the columns into `memory`, a row per column.
    fn requests<'m>(&self, n_rows: usize, memory: &'m mut [u8], requests: &mut Vec<Request<'m>>) {
        let group = self.group;
        let row = memory.len() / self.members.len();
        let mut rest = memory;
        let mut at = 0;
        while at < self.members.len() {
            let first = self.members[at];
            // Neighbours in a storage column are decoded by one request.
            let n = match group.storage {
                Some(_) => self.members[at..]
                    .iter()
                    .zip(first..)
                    .take_while(|&(&member, next)| member == next)
                    .count(),
                None => 1,
            };
            let (now, later) = std::mem::take(&mut rest).split_at_mut(n * row);
            rest = later;
            let (column, rows) = match group.storage {
                Some(storage) => {
                    let (first, n) = (first as u64 * n_rows as u64, n as u64 * n_rows as u64);
                    (storage, Rows::Range(first..first + n))
                }
                None => (group.columns[first], Rows::All),
            };
            let is_bool = group.record.column_type.physical == Physical::Bool;
            let output = if is_bool { Output::Bools(now) } else { Output::Words(now) };
            let missing = sentinel(group).map_or(MissingTo::Ignore, MissingTo::Sentinel);
            requests.push(Request { column, rows, output, missing });
            at += n;
        }
    }
}

/// Writes the names of all columns of the table into a new array of dtype `U`, one per element.
#[pyfunction]
pub fn fixed_names(py: Python<'_>, handle: &Handle, array: &Bound<'_, PyAny>) -> PyResult<()> {
    let (file, view) = (handle.file(py)?, NumpyArray::new(array)?);
    if view.n() as u64 != file.n_columns() {
        return Err(pyo3::exceptions::PyValueError::new_err("the array doesn't fit the names"));
    }
    // SAFETY: nothing else knows the new array.
    let memory = unsafe { array::memory(array) }?;
    let mut elements = memory.chunks_exact_mut(view.width.max(1));
    let mut put_next = |name: &[u8]| put(name, true, elements.next().unwrap_or_default());
    let visited = file.visit_name_groups(&handle.groups(py)?.names, |names| {
        let is_put = match names {
            NameGroup::One(name) => put_next(name.as_bytes()),
            NameGroup::Run(names) => {
                let (text, mut start) = (names.text().as_bytes(), 0);
                names.ends().all(|end| {
                    let name = text.get(std::mem::replace(&mut start, end as usize)..end as usize);
                    put_next(name.unwrap_or_default())
                })
            }
        };
        if is_put { Ok(()) } else { Err(Error::corrupt("a name is wider than the labels")) }
    });
    visited.map_err(|e| errors::raise(py, &e.in_file(file.path())))
}
