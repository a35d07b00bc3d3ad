//! Reads all columns of fixed width in one call, for StaticFrame and pandas, without Python code
//! per column.

use entasis::{Error, Group, Logical, Matrix, MissingTo, NameGroup, Output, Physical, Request, Rows, Side};
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
#[allow(clippy::type_complexity)]
pub fn read_blocks<'py>(
    py: Python<'py>,
    handle: &Handle,
    matrices: Vec<(u64, u64)>,
    threads: Option<usize>,
    meanwhile: Bound<'py, PyAny>,
    pandas: bool,
) -> PyResult<Option<(Vec<Rowwise<'py>>, Vec<Bound<'py, PyAny>>, Vec<u64>)>> {
    let file = &handle.file;
    let found = handle.groups(py)?;
    let no_memory = || errors::out_of_memory(py, usize::MAX, 1, "the columns");
    let n_rows = file.n_rows();
    let len_of = |group: &Group| {
        group.record.column_type.memory_len(n_rows).saturating_mul(group.columns.len() as u64)
    };
    let len = found.groups.iter().map(len_of).fold(0, u64::saturating_add);
    file.check_decoded_len(len).map_err(|error| errors::raise(py, &error))?;
    let n_rows = usize::try_from(n_rows).map_err(|_| no_memory())?;
    let mut others = found.others.clone();
    let mut loose = Vec::new();
    for group in &found.groups {
        let kind = &group.record.column_type;
        let is_plain = kind.logical == Logical::Plain && !group.has_missing && kind.host_variant == 0;
        let is_time = matches!(kind.logical, Logical::Timestamp | Logical::Duration);
        let is_wanted = match pandas {
            true => is_plain && kind.physical != Physical::FixedBytes,
            false => is_plain || (is_time && kind.host_variant == 0),
        };
        if is_wanted {
            loose.push(LooseColumns { members: Vec::new(), group });
        } else {
            others.extend(&group.columns);
        }
    }
    others.sort_unstable();
    let mut sides = Vec::with_capacity(matrices.len());
    let mut taken: Vec<Vec<(usize, usize)>> = loose.iter().map(|_| Vec::new()).collect();
    for (first, n) in matrices {
        let found = loose.iter().enumerate().find_map(|(at, of_group)| {
            let from = of_group.group.columns.binary_search(&first).ok()?;
            let to = from.checked_add(usize::try_from(n).ok()?)?;
            let last = first.checked_add(n)?.checked_sub(1)?;
            (of_group.group.columns.get(to.checked_sub(1)?) == Some(&last)).then_some((at, from, to))
        });
        let Some((at, from, to)) = found else { return Ok(None) };
        if taken[at].last().is_some_and(|&(_, end)| from < end) {
            return Ok(None);
        }
        taken[at].push((from, to));
        sides.push((at, from, to));
    }
    for (of_group, taken) in loose.iter_mut().zip(taken) {
        let mut from = 0;
        for (start, end) in taken.into_iter().chain([(of_group.group.columns.len(), 0)]) {
            of_group.members.extend(from..start);
            from = end;
        }
    }
    let dtype = |of_group: &LooseColumns<'_>| array::dtype(&of_group.group.record.column_type);
    let left: Vec<&LooseColumns<'_>> = loose.iter().filter(|of_group| !of_group.members.is_empty()).collect();
    let mut rowwise = Vec::with_capacity(left.len());
    for of_group in &left {
        let values = array::empty(py, (of_group.members.len(), n_rows), &dtype(of_group))?;
        rowwise.push((of_group.positions(py)?, values));
    }
    let mut arrays = Vec::with_capacity(sides.len());
    for &(at, from, to) in &sides {
        arrays.push(array::empty(py, (n_rows, to - from), &dtype(&loose[at]))?);
    }
    let mut requests = Vec::new();
    for (of_group, (_, values)) in left.iter().zip(&rowwise) {
        // SAFETY: nothing else knows the new array, and each request gets a slice of its own.
        of_group.requests(n_rows, unsafe { array::memory(values) }?, &mut requests);
    }
    let mut wanted = Vec::with_capacity(sides.len());
    for ((at, from, to), values) in sides.into_iter().zip(&arrays) {
        let group = loose[at].group;
        let columns = match group.storage {
            Some(column) => Side::Stored { column, first: from as u64 * n_rows as u64, n: to - from },
            None => Side::Each(group.columns[from..to].to_vec()),
        };
        // SAFETY: nothing else knows the new array.
        wanted.push(Matrix { columns, out: unsafe { array::memory(values) }?, sentinel: sentinel(group) });
    }
    monitor::run_with(py, Some(meanwhile), |monitor| {
        if !requests.is_empty() {
            file.read(requests, threads, monitor)?;
        }
        if wanted.is_empty() { Ok(()) } else { file.read_matrices(wanted, threads, monitor) }
    })?;
    Ok(Some((rowwise, arrays, others)))
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
    let (file, view) = (&handle.file, NumpyArray::new(array)?);
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
