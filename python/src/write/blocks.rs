//! Adds the blocks of a StaticFrame frame to a file: all arrays in one call, without Python code
//! per column.

use std::ffi::c_void;
use std::ptr::NonNull;

use entasis::{Array, Chunk, Column, ColumnType, HostRead, HostValidity, HostValues, Logical, Physical};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use super::builder::Builder;
use super::runs;
use crate::array::{self, ArrayStruct, Axes, nothing};

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
        // SAFETY: a capsule of this protocol points to such a structure, and lives until this
        // function ends.
        let array = unsafe { pointer.cast::<ArrayStruct>().as_ref() };
        let unknown = || pyo3::exceptions::PyTypeError::new_err("a block has one or two axes");
        if array.two != 2 || !(1..=2).contains(&array.n_axes) {
            return Err(unknown());
        }
        let n_axes = array.n_axes as usize;
        // SAFETY: both pointers have an entry for each axis.
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
    /// The array must stay alive as long as the memory is used.
    unsafe fn column(&self, index: usize) -> HostRead {
        if self.n_rows == 0 {
            return nothing();
        }
        let walk = (self.n_rows - 1) as isize * self.row_stride;
        let first = self.start.wrapping_add_signed(index as isize * self.column_stride);
        let start = first.wrapping_add_signed(walk.min(0));
        // SAFETY: the interface describes memory of the array, which the caller keeps alive. All
        // rows of a column are inside it.
        unsafe { HostRead::new(start as *const u8, walk.unsigned_abs() + self.width) }
    }
}

/// The column type that stores a dtype.
#[derive(Clone, Copy)]
struct Dtype {
    /// None for objects, strings, records and big-endian values, which Python adds.
    column_type: Option<ColumnType>,
    has_metadata: bool,
}

/// The dtypes that were seen before.
#[derive(Default)]
struct Dtypes<'py> {
    known: Vec<(Bound<'py, PyAny>, Dtype)>,
}

impl<'py> Dtypes<'py> {
    fn describe(&mut self, dtype: Bound<'py, PyAny>) -> PyResult<Dtype> {
        if let Some((_, known)) = self.known.iter().find(|(known, _)| known.is(&dtype)) {
            return Ok(*known);
        }
        let py = dtype.py();
        let typestr: String = dtype.getattr(pyo3::intern!(py, "str"))?.extract()?;
        // Records are bytes as well, but their dtype has to be stored.
        let column_type = array::column_type(&typestr).filter(|_| typestr.get(1..2) != Some("V"));
        let has_metadata = !dtype.getattr(pyo3::intern!(py, "metadata"))?.is_none();
        let described = Dtype { column_type, has_metadata };
        // NumPy makes a new dtype object for each array of times.
        if self.known.len() >= 64 {
            self.known.clear();
        }
        self.known.push((dtype, described));
        Ok(described)
    }
}

/// The number and the first column of some blocks.
type Numbers = Vec<(usize, usize)>;

/// Adds the blocks of a frame. An array of one axis is a column. In an array of two axes, the
/// second axis counts columns.
///
/// Returns the blocks that were not added (objects, strings, and types that only NumPy has), and
/// the blocks whose dtype has metadata.
#[pyfunction]
pub fn add_blocks<'py>(builder: &mut Builder, arrays: &Bound<'py, PyList>) -> PyResult<(Numbers, Numbers)> {
    let py = arrays.py();
    let mut dtypes = Dtypes::default();
    let (mut left, mut with_metadata) = (Vec::new(), Vec::new());
    let mut position = 0;
    for (number, array) in arrays.iter().enumerate() {
        let dtype = array.getattr(pyo3::intern!(py, "dtype"))?;
        let view = View::new(&array)?;
        let Dtype { column_type, has_metadata } = dtypes.describe(dtype)?;
        let end = position + view.n_columns;
        if view.n_rows as u64 != builder.n_rows || end > builder.names.len() {
            return Err(pyo3::exceptions::PyValueError::new_err("blocks don't fit the frame"));
        }
        if has_metadata {
            with_metadata.push((number, position));
        }
        match column_type {
            // SAFETY: the list keeps the array alive, and the builder keeps a copy of the list
            // until the file is written.
            Some(column_type) => unsafe { add_block(builder, &view, column_type, position) },
            None => left.push((number, position)),
        }
        position = end;
    }
    // A copy of the list, as Python code may change the original.
    builder.arrays.push(PyList::new(py, arrays.iter())?.into_any().unbind());
    Ok((left, with_metadata))
}

/// Adds the columns of a block, the first of them at `position`.
///
/// # Safety
/// The array must stay alive until the file is written.
unsafe fn add_block(builder: &mut Builder, view: &View, column_type: ColumnType, position: usize) {
    let end = position + view.n_columns;
    let stride = view.row_stride;
    if runs::is_run(&column_type, view.n_rows, position..end) {
        let axes = Axes {
            start: view.start,
            width: view.width,
            rows: (view.n_rows, view.row_stride),
            columns: (view.n_columns, view.column_stride),
        };
        let names = builder.names.part(position..end);
        // SAFETY: as the caller promises.
        builder.columns.push((position, unsafe { runs::run(&axes, column_type, names) }));
        return;
    }
    for index in 0..view.n_columns {
        // SAFETY: as the caller promises.
        let memory = unsafe { view.column(index) };
        let values = match column_type.physical {
            Physical::Bool => HostValues::Bools { memory, stride },
            _ => HostValues::Words { memory, stride },
        };
        let validity = match column_type.logical {
            Logical::Timestamp | Logical::Duration => HostValidity::Sentinel(i64::MIN as u64),
            _ => HostValidity::AllValid,
        };
        let column = Column {
            run: None,
            name: builder.names.get(position + index).unwrap_or_default().to_owned(),
            column_type,
            detail: None,
            host_detail: None,
            dictionary: None,
            children: Vec::new(),
            array: Array::new(Chunk { n: view.n_rows, values, validity }),
        };
        builder.columns.push((position + index, column));
    }
}
