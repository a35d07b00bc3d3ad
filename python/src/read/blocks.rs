//! Blocks of a StaticFrame frame: all arrays of a frame in one call, without work per column in Python.

use std::ffi::c_void;
use std::ptr::NonNull;

use entasis::{
    Array, Chunk, Column, ColumnType, Error, Group, HostRead, HostValidity, HostValues, Logical, Matrix,
    MissingTo, NameGroup, Output, Physical, Request, Rows, Side,
};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::array::{self, ArrayStruct, NumpyArray};
use crate::handle::Handle;
use crate::write::builder::Builder;
use crate::write::runs::{self, Axes};
use crate::{errors, monitor};

/// The memory of an array of one or two axes: rows, then columns.
struct View {
    start: usize,
    width: usize,
    n_rows: usize,
    n_columns: usize,
    row_stride: isize,
    column_stride: isize,
}

impl View {
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule =
            array.getattr(pyo3::intern!(array.py(), "__array_struct__"))?.cast_into::<PyCapsule>()?;
        let pointer: NonNull<c_void> = capsule.pointer_checked(None)?;
        // SAFETY: a capsule of this protocol points to such a structure and lives until the end of this function.
        let array = unsafe { pointer.cast::<ArrayStruct>().as_ref() };
        let unknown = || pyo3::exceptions::PyTypeError::new_err("a block has one or two axes");
        if array.two != 2 || !(1..=2).contains(&array.n_axes) {
            return Err(unknown());
        }
        let n_axes = array.n_axes as usize;
        // SAFETY: both have an entry for each axis.
        let (shape, strides) = unsafe {
            (
                std::slice::from_raw_parts(array.shape, n_axes),
                std::slice::from_raw_parts(array.strides, n_axes),
            )
        };
        let length = |axis: usize| usize::try_from(shape[axis]).map_err(|_| unknown());
        let is_wide = n_axes == 2;
        Ok(Self {
            start: array.data as usize,
            width: usize::try_from(array.width).map_err(|_| unknown())?,
            n_rows: length(0)?,
            n_columns: if is_wide { length(1)? } else { 1 },
            row_stride: strides[0],
            column_stride: if is_wide { strides[1] } else { 0 },
        })
    }

    /// The memory of a column, from its lowest address on.
    ///
    /// # Safety
    /// The array this looks at is alive as long as the memory is used.
    unsafe fn column(&self, index: usize) -> HostRead {
        if self.n_rows == 0 {
            return crate::write::builder::nothing();
        }
        let walk = (self.n_rows - 1) as isize * self.row_stride;
        let first = self.start.wrapping_add_signed(index as isize * self.column_stride);
        let start = first.wrapping_add_signed(walk.min(0));
        // SAFETY: NumPy tells memory of the array, which the caller keeps alive; the walk over the rows stays inside.
        unsafe { HostRead::new(start as *const u8, walk.unsigned_abs() + self.width) }
    }
}

/// What a dtype stands for.
struct Known<'py> {
    dtype: Bound<'py, PyAny>,
    /// None for objects, strings, records and bytes in another order, which are added otherwise.
    column_type: Option<ColumnType>,
    has_metadata: bool,
}

/// Number and first column of blocks.
type Numbers = Vec<(usize, usize)>;

/// Adds the blocks of a frame side by side: an array of one axis is a column, one of two has a column in each place of its second
/// axis. Returns those that are not added: objects, strings, and what NumPy alone has; and those with metadata in their dtype.
#[pyfunction]
pub fn add_blocks<'py>(builder: &mut Builder, arrays: &Bound<'py, PyList>) -> PyResult<(Numbers, Numbers)> {
    let py = arrays.py();
    let mut known: Vec<Known<'py>> = Vec::new();
    let (mut left, mut with_metadata) = (Vec::new(), Vec::new());
    let mut position = 0;
    for (number, array) in arrays.iter().enumerate() {
        let dtype = array.getattr(pyo3::intern!(py, "dtype"))?;
        let view = View::new(&array)?;
        let (column_type, has_metadata) = match known.iter().find(|known| known.dtype.is(&dtype)) {
            Some(known) => (known.column_type, known.has_metadata),
            None => {
                let typestr: String = dtype.getattr(pyo3::intern!(py, "str"))?.extract()?;
                // Records are bytes too, with a dtype to be kept.
                let column_type = array::column_type(&typestr).filter(|_| typestr.get(1..2) != Some("V"));
                // Dtypes of times are many objects.
                if known.len() >= 64 {
                    known.clear();
                }
                let has_metadata = !dtype.getattr(pyo3::intern!(py, "metadata"))?.is_none();
                known.push(Known { dtype, column_type, has_metadata });
                (column_type, has_metadata)
            }
        };
        let end = position + view.n_columns;
        if view.n_rows as u64 != builder.n_rows || end > builder.names.len() {
            return Err(pyo3::exceptions::PyValueError::new_err("blocks don't fit the frame"));
        }
        if has_metadata {
            with_metadata.push((number, position));
        }
        let Some(column_type) = column_type else {
            left.push((number, position));
            position = end;
            continue;
        };
        let stride = view.row_stride;
        if runs::is_run(&column_type, view.n_rows, position..end) {
            let axes = Axes {
                start: view.start,
                width: view.width,
                rows: (view.n_rows, view.row_stride),
                columns: (view.n_columns, view.column_stride),
            };
            let names = builder.names.part(position..end);
            // SAFETY: the list keeps the array, and the builder keeps a copy of the list until the file is written.
            builder.columns.push((position, unsafe { runs::run(&axes, column_type, names) }));
            position = end;
            continue;
        }
        for index in 0..view.n_columns {
            // SAFETY: the list keeps the array, and the builder keeps a copy of the list until the file is written.
            let memory = unsafe { view.column(index) };
            let values = match column_type.physical {
                Physical::Bool => HostValues::Bools { memory, stride },
                _ => HostValues::Words { memory, stride },
            };
            let validity = match column_type.logical {
                Logical::Timestamp | Logical::Duration => HostValidity::Mark(i64::MIN as u64),
                _ => HostValidity::AllValid,
            };
            let column = Column {
                run: None,
                name: builder.names.get(position + index).unwrap_or_default().to_owned(),
                column_type,
                detail: None,
                dictionary: None,
                children: Vec::new(),
                array: Array::new(Chunk { n: view.n_rows, values, validity }),
            };
            builder.columns.push((position + index, column));
        }
        position = end;
    }
    // A list of our own: nobody takes arrays from it.
    builder.arrays.push(PyList::new(py, arrays.iter())?.into_any().unbind());
    Ok((left, with_metadata))
}

/// Columns of one dtype: their positions, and an array with a row for each.
type Rowwise<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// What a group of columns has, of which those in matrices were taken out.
struct Part<'a> {
    group: &'a Group,
    /// The indices in the group of those that are left.
    members: Vec<usize>,
}

/// Reads all columns of a table that have a fixed width, for NumPy; of a table of pandas those that are numbers and booleans of
/// NumPy's dtypes, without missing values.
///
/// `matrices` are `(first column, number of columns)`, ascending: each becomes an array in rows' order. Returns the other columns by
/// dtype, the arrays of the matrices, and the columns that are left to read otherwise. None instead when columns of a matrix are not
/// of one dtype. `meanwhile` is called while other threads read, or by itself, and told which.
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
    let no_memory = || errors::new(py, "LimitError", "not enough memory for the columns");
    let n_rows = usize::try_from(file.n_rows()).map_err(|_| no_memory())?;
    let mut others = found.others.clone();
    let mut parts = Vec::new();
    for group in &found.groups {
        let kind = &group.record.column_type;
        let is_plain = kind.logical == Logical::Plain && !group.has_missing && kind.flavour == 0;
        let is_time = matches!(kind.logical, Logical::Timestamp | Logical::Duration);
        let is_wanted = match pandas {
            true => is_plain && kind.physical != Physical::FixedBytes,
            false => is_plain || (is_time && kind.flavour == 0),
        };
        if is_wanted {
            parts.push(Part { members: Vec::new(), group });
        } else {
            others.extend(&group.columns);
        }
    }
    others.sort_unstable();
    let mut sides = Vec::with_capacity(matrices.len());
    let mut taken: Vec<Vec<(usize, usize)>> = parts.iter().map(|_| Vec::new()).collect();
    for (first, n) in matrices {
        let place = parts.iter().enumerate().find_map(|(at, part)| {
            let from = part.group.columns.binary_search(&first).ok()?;
            let to = from.checked_add(usize::try_from(n).ok()?)?;
            let last = first.checked_add(n)?.checked_sub(1)?;
            (part.group.columns.get(to.checked_sub(1)?) == Some(&last)).then_some((at, from, to))
        });
        let Some((at, from, to)) = place else { return Ok(None) };
        if taken[at].last().is_some_and(|&(_, end)| from < end) {
            return Ok(None);
        }
        taken[at].push((from, to));
        sides.push((at, from, to));
    }
    for (part, taken) in parts.iter_mut().zip(taken) {
        let mut from = 0;
        for (start, end) in taken.into_iter().chain([(part.group.columns.len(), 0)]) {
            part.members.extend(from..start);
            from = end;
        }
    }
    let dtype = |part: &Part<'_>| array::dtype(&part.group.record.column_type);
    let left: Vec<&Part<'_>> = parts.iter().filter(|part| !part.members.is_empty()).collect();
    let mut rowwise = Vec::with_capacity(left.len());
    for part in &left {
        let values = array::empty(py, (part.members.len(), n_rows), &dtype(part))?;
        rowwise.push((part.positions(py)?, values));
    }
    let mut arrays = Vec::with_capacity(sides.len());
    for &(at, from, to) in &sides {
        arrays.push(array::empty(py, (n_rows, to - from), &dtype(&parts[at]))?);
    }
    let mut requests = Vec::new();
    for (part, (_, values)) in left.iter().zip(&rowwise) {
        // SAFETY: the array was just made, nothing else knows it; each request gets a part of its own.
        part.requests(n_rows, unsafe { array::memory(values) }?, &mut requests);
    }
    let mut wanted = Vec::with_capacity(sides.len());
    for ((at, from, to), values) in sides.into_iter().zip(&arrays) {
        let group = parts[at].group;
        let columns = match group.storage {
            Some(column) => Side::Stored { column, first: from as u64 * n_rows as u64, n: to - from },
            None => Side::Each(group.columns[from..to].to_vec()),
        };
        // SAFETY: the array was just made, nothing else knows it.
        wanted.push(Matrix { columns, out: unsafe { array::memory(values) }?, mark: mark(group) });
    }
    monitor::run_beside(py, Some(meanwhile), |monitor| {
        if !requests.is_empty() {
            file.read(requests, threads, monitor)?;
        }
        if wanted.is_empty() { Ok(()) } else { file.read_matrices(wanted, threads, monitor) }
    })?;
    Ok(Some((rowwise, arrays, others)))
}

fn mark(group: &Group) -> Option<u64> {
    group.has_missing.then_some(i64::MIN as u64)
}

impl Part<'_> {
    /// The columns that are left.
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let positions = array::empty(py, (1, self.members.len()), "i8")?.get_item(0)?;
        // SAFETY: the array was just made.
        let bytes = unsafe { array::memory(&positions) }?;
        for (bytes, &member) in bytes.chunks_exact_mut(8).zip(&self.members) {
            bytes.copy_from_slice(&self.group.columns[member].to_ne_bytes());
        }
        Ok(positions)
    }

    /// Adds requests for the columns that are left, whose rows fill the memory.
    fn requests<'m>(&self, n_rows: usize, memory: &'m mut [u8], requests: &mut Vec<Request<'m>>) {
        let group = self.group;
        let row = memory.len() / self.members.len();
        let mut rest = memory;
        let mut at = 0;
        while at < self.members.len() {
            let first = self.members[at];
            // Neighbours in a storage column are read together.
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
            let missing = mark(group).map_or(MissingTo::Ignore, MissingTo::Mark);
            requests.push(Request { column, rows, output, missing });
            at += n;
        }
    }
}

/// Puts a string of UTF-8 as UCS-4, or bytes as they are, in a place of zeros; false when it is too narrow.
pub fn put_fixed(value: &[u8], is_text: bool, out: &mut [u8]) -> bool {
    if !is_text {
        let Some(out) = out.get_mut(..value.len()) else { return false };
        out.copy_from_slice(value);
        return true;
    }
    let mut places = out.chunks_exact_mut(4);
    // Labels are short: a look at all of their bytes costs less than a call.
    if value.iter().fold(0, |all, byte| all | byte) < 0x80 {
        if value.len() > places.len() {
            return false;
        }
        for (place, &byte) in places.zip(value) {
            place.copy_from_slice(&u32::from(byte).to_ne_bytes());
        }
        return true;
    }
    let Ok(text) = std::str::from_utf8(value) else { return false };
    text.chars().all(|char| match places.next() {
        Some(place) => {
            place.copy_from_slice(&u32::from(char).to_ne_bytes());
            true
        }
        None => false,
    })
}

/// Puts the names of all columns of the table into an array of dtype `U` that was just made of zeros, an element for each.
#[pyfunction]
pub fn fixed_names(py: Python<'_>, handle: &Handle, array: &Bound<'_, PyAny>) -> PyResult<()> {
    let (file, view) = (&handle.file, NumpyArray::new(array)?);
    if view.n() as u64 != file.n_columns() {
        return Err(pyo3::exceptions::PyValueError::new_err("the array doesn't fit the names"));
    }
    // SAFETY: the array was just made.
    let memory = unsafe { array::memory(array) }?;
    let mut places = memory.chunks_exact_mut(view.width.max(1));
    let mut put = |name: &[u8]| put_fixed(name, true, places.next().unwrap_or_default());
    let visited = file.visit_name_groups(&handle.groups(py)?.names, |names| {
        let is_put = match names {
            NameGroup::One(name) => put(name.as_bytes()),
            NameGroup::Run(names) => {
                let (text, mut start) = (names.text().as_bytes(), 0);
                names.ends().all(|end| {
                    let name = text.get(std::mem::replace(&mut start, end as usize)..end as usize);
                    put(name.unwrap_or_default())
                })
            }
        };
        if is_put { Ok(()) } else { Err(Error::corrupt("a name is wider than the labels")) }
    });
    visited.map_err(|e| errors::raise(py, &e.in_file(file.path())))
}
