//! NumPy arrays: their memory, and the column types of their dtypes.

use std::ffi::c_void;
use std::ptr::NonNull;

use entasis::{
    Buffer, Chunk, ColumnType, HostRead, HostValidity, HostValues, Logical, Missing, Physical, Unit,
};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict};

use crate::errors;

/// The structure `PyArrayInterface` that NumPy's `__array_struct__` points to, without its last
/// field.
#[repr(C)]
pub struct ArrayStruct {
    pub two: i32,
    pub n_axes: i32,
    pub kind: u8,
    pub width: i32,
    pub flags: i32,
    pub shape: *const isize,
    pub strides: *const isize,
    pub data: *const c_void,
}

impl ArrayStruct {
    /// The flag of arrays in the byte order of this machine.
    const IS_NATIVE: i32 = 0x200;
}

/// The memory of a NumPy array of one or two dimensions.
pub struct NumpyArray {
    start: usize,
    /// The length of each axis.
    pub shape: Vec<usize>,
    strides: Vec<isize>,
    /// The dtype in the notation of NumPy's array interface.
    pub typestr: String,
    /// Bytes of an element.
    pub width: usize,
}

/// The layout of an array of two axes.
#[derive(Clone, Copy)]
pub struct Axes {
    /// The address of the first value of the first column.
    pub start: usize,
    /// Bytes of a value.
    pub width: usize,
    /// The number of rows, and bytes from one row to the next.
    pub rows: (usize, isize),
    /// The number of columns, and bytes from one column to the next.
    pub columns: (usize, isize),
}

impl NumpyArray {
    /// Describes an array by its `__array_struct__`. Unlike `__array_interface__`, that creates no
    /// Python objects for shape and type.
    pub fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = array.py();
        let capsule = array.getattr(pyo3::intern!(py, "__array_struct__"))?.cast_into::<PyCapsule>()?;
        let pointer: NonNull<c_void> = capsule.pointer_checked(None)?;
        // SAFETY: a capsule of this protocol points to such a structure, and lives until this
        // function ends.
        let seen = unsafe { pointer.cast::<ArrayStruct>().as_ref() };
        let unknown = || pyo3::exceptions::PyTypeError::new_err("no array interface");
        let n_axes = usize::try_from(seen.n_axes).map_err(|_| unknown())?;
        if seen.two != 2 {
            return Err(unknown());
        }
        let (shape, strides) = match n_axes {
            0 => (Vec::new(), Vec::new()),
            // SAFETY: both pointers have an entry for each axis.
            _ => unsafe {
                (
                    std::slice::from_raw_parts(seen.shape, n_axes).iter().map(|&n| n as usize).collect(),
                    std::slice::from_raw_parts(seen.strides, n_axes).to_vec(),
                )
            },
        };
        let width = usize::try_from(seen.width).map_err(|_| unknown())?;
        let typestr = match seen.kind {
            // The structure has no units of times.
            b'M' | b'm' => {
                let dtype = array.getattr(pyo3::intern!(py, "dtype"))?;
                dtype.getattr(pyo3::intern!(py, "str"))?.extract()?
            }
            b'O' => "|O".to_owned(),
            kind => {
                let order = match kind {
                    b'S' | b'V' => '|',
                    _ if width <= 1 => '|',
                    _ if seen.flags & ArrayStruct::IS_NATIVE != 0 => '<',
                    _ => '>',
                };
                let n = if kind == b'U' { width / 4 } else { width };
                format!("{order}{}{n}", char::from(kind))
            }
        };
        Ok(Self { start: seen.data as usize, shape, strides, typestr, width })
    }

    /// The address of the first element.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Bytes from one element to the next along the last axis.
    pub fn stride(&self) -> isize {
        self.strides.last().copied().unwrap_or(0)
    }

    /// The number of rows: the length of the last axis.
    pub fn n(&self) -> usize {
        self.shape.last().copied().unwrap_or(0)
    }

    /// The number of columns: the length of the first of two axes.
    pub fn n_columns(&self) -> usize {
        if self.shape.len() == 2 { self.shape[0] } else { 1 }
    }

    /// The layout of the columns of an array.
    pub fn axes(&self) -> Axes {
        let along = if self.shape.len() == 2 { self.strides[0] } else { 0 };
        Axes {
            start: self.start,
            width: self.width,
            rows: (self.n(), self.stride()),
            columns: (self.n_columns(), along),
        }
    }

    /// The memory of a column, from its lowest address on.
    ///
    /// # Safety
    /// The array must stay alive as long as the memory is used.
    pub unsafe fn column(&self, index: usize) -> HostRead {
        let n = self.n();
        if n == 0 {
            // SAFETY: no bytes are lent.
            return unsafe { HostRead::new(std::ptr::null(), 0) };
        }
        let first_axis = if self.shape.len() == 2 { self.strides[0] } else { 0 };
        let walk = (n - 1) as isize * self.stride();
        let first = self.start.wrapping_add_signed(index as isize * first_axis);
        let start = first.wrapping_add_signed(walk.min(0));
        // SAFETY: the interface describes memory of the array, which the caller keeps alive. All
        // elements of a column are inside it.
        unsafe { HostRead::new(start as *const u8, walk.unsigned_abs() + self.width) }
    }

    /// The address of each element of a one-dimensional array.
    pub fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.n()).map(|i| self.start.wrapping_add_signed(i as isize * self.stride()))
    }
}

/// The column of a one-row array, by the buffer protocol. `None` if only the array interface
/// describes its type.
///
/// The array must stay alive until the column is written.
pub fn row(array: &Bound<'_, PyAny>) -> PyResult<Option<(ColumnType, Chunk)>> {
    let Ok(buffer) = PyUntypedBuffer::get(array) else { return Ok(None) };
    let (Some(&n), Some(&stride)) = (buffer.shape().last(), buffer.strides().last()) else { return Ok(None) };
    let width = buffer.item_size();
    let typestr = match (buffer.format().to_bytes(), width) {
        (b"?", _) => "|b1",
        (b"b" | b"h" | b"i" | b"l" | b"q", _) => {
            ["<i1", "<i2", "<i4", "<i8"][width.trailing_zeros() as usize & 3]
        }
        (b"B" | b"H" | b"I" | b"L" | b"Q", _) => {
            ["<u1", "<u2", "<u4", "<u8"][width.trailing_zeros() as usize & 3]
        }
        (b"e", _) => "<f2",
        (b"f", _) => "<f4",
        (b"d", _) => "<f8",
        (b"Zf", _) => "<c8",
        (b"Zd", _) => "<c16",
        _ => return Ok(None),
    };
    let Some(column_type) = column_type(typestr).filter(|_| n > 0 && stride >= 0 && buffer.item_count() == n)
    else {
        return Ok(None);
    };
    let len = (n - 1) * stride.unsigned_abs() + width;
    // SAFETY: the buffer's shape and strides describe memory of the array, which the caller keeps
    // alive.
    let memory = unsafe { HostRead::new(buffer.buf_ptr() as *const u8, len) };
    let values = match column_type.physical {
        Physical::Bool => HostValues::Bools { memory, stride },
        _ => HostValues::Words { memory, stride },
    };
    Ok(Some((column_type, Chunk { n, values, validity: HostValidity::AllValid })))
}

/// Whether NumPy's `longdouble` is the type that files store: 80 bits in 16 bytes.
pub const LONG_DOUBLE: bool = cfg!(all(target_arch = "x86_64", not(windows)));

/// The column type of a dtype, if it has one.
pub fn column_type(typestr: &str) -> Option<ColumnType> {
    let (order, rest) = typestr.split_at_checked(1)?;
    if order == ">" {
        return None;
    }
    let plain = |physical| Some(ColumnType::plain(physical));
    match rest {
        "b1" => plain(Physical::Bool),
        "i1" => plain(Physical::I8),
        "i2" => plain(Physical::I16),
        "i4" => plain(Physical::I32),
        "i8" => plain(Physical::I64),
        "u1" => plain(Physical::U8),
        "u2" => plain(Physical::U16),
        "u4" => plain(Physical::U32),
        "u8" => plain(Physical::U64),
        "f2" => plain(Physical::F16),
        "f4" => plain(Physical::F32),
        "f8" => plain(Physical::F64),
        "c8" => plain(Physical::Complex64),
        "c16" => plain(Physical::Complex128),
        // On other machines, a long double has another format.
        "f16" if LONG_DOUBLE => plain(Physical::LongDouble),
        _ if rest.starts_with('V') => {
            let column_type = ColumnType::fixed(rest[1..].parse().ok()?);
            column_type.check().is_ok().then_some(column_type)
        }
        _ => {
            let (kind, unit) = rest.split_at_checked(2)?;
            let unit = match unit.strip_prefix('[').and_then(|unit| unit.strip_suffix(']')) {
                Some(name) => *Unit::ALL.iter().find(|unit| unit.name() == name)?,
                None if unit.is_empty() => Unit::None,
                None => return None,
            };
            let logical = match kind {
                "M8" if unit != Unit::None => Logical::Timestamp,
                "m8" => Logical::Duration,
                _ => return None,
            };
            Some(ColumnType { logical, unit, missing: Missing::NaT, ..ColumnType::plain(Physical::I64) })
        }
    }
}

/// The dtype with the same memory layout as the values of a column type.
pub fn dtype(column_type: &ColumnType) -> String {
    let plain = match column_type.physical {
        Physical::Bool => "b1",
        Physical::I8 => "i1",
        Physical::I16 => "i2",
        Physical::I32 => "i4",
        Physical::I64 => "i8",
        Physical::U8 => "u1",
        Physical::U16 => "u2",
        Physical::U32 => "u4",
        Physical::U64 => "u8",
        Physical::F16 => "f2",
        Physical::F32 => "f4",
        Physical::F64 => "f8",
        Physical::Complex64 => "c8",
        Physical::Complex128 => "c16",
        Physical::LongDouble => "f16",
        Physical::FixedBytes => return format!("V{}", column_type.value_len),
        Physical::Null | Physical::Utf8 | Physical::Binary => "O",
        Physical::I128 | Physical::U128 | Physical::I256 => "O",
        // Nested types.
        _ => "O",
    };
    let letter = match (column_type.logical, column_type.physical) {
        (Logical::Timestamp, _) | (Logical::Date, Physical::I64) => "M8",
        (Logical::Duration, _) => "m8",
        _ => return plain.to_owned(),
    };
    match column_type.unit {
        Unit::None => letter.to_owned(),
        unit => format!("{letter}[{}]", unit.name()),
    }
}

/// A new C-contiguous array with undefined values. A large array is aligned to a huge page.
pub fn empty<'py>(py: Python<'py>, shape: (usize, usize), dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let empty = EMPTY
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.getattr("empty")?.unbind()))?
        .bind(py);
    if shape.0.saturating_mul(shape.1) >= LARGE / WIDEST
        && let Some(array) = on_huge_pages(py, empty, shape, dtype)?
    {
        return Ok(array);
    }
    empty.call1((shape, dtype))
}

/// The memory of an array.
#[pyclass(frozen)]
struct Memory {
    /// The array writes to it through its address.
    #[allow(dead_code)]
    buffer: Buffer,
    #[pyo3(get, name = "__array_interface__")]
    interface: Py<PyDict>,
}

/// An array with the values of a buffer, which lives as long as the array. `shape` and `dtype` have
/// as many bytes as the buffer.
pub fn of_buffer<'py>(
    py: Python<'py>,
    mut buffer: Buffer,
    shape: (usize, usize),
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import(pyo3::intern!(py, "numpy"))?;
    let dtype = numpy.getattr(pyo3::intern!(py, "dtype"))?.call1((dtype,))?;
    let width: usize = dtype.getattr(pyo3::intern!(py, "itemsize"))?.extract()?;
    if shape.0.checked_mul(shape.1).and_then(|n| n.checked_mul(width)) != Some(buffer.len()) {
        return Err(errors::new(
            py,
            "InternalError",
            "a buffer has another length than its values".to_owned(),
        ));
    }
    let address = buffer.as_mut_ptr().expose_provenance();
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("shape", shape)?;
    interface.set_item("typestr", dtype.getattr(pyo3::intern!(py, "str"))?)?;
    interface.set_item("data", (address, false))?;
    let memory = Bound::new(py, Memory { buffer, interface: interface.unbind() })?;
    numpy.call_method1(pyo3::intern!(py, "asarray"), (memory,))
}

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;
/// NumPy requests huge pages for arrays of this many bytes and more.
const LARGE: usize = 2 * HUGE;
/// Arrays of wider elements are not aligned.
const WIDEST: usize = 64;

/// An array that is a view of a larger one, aligned to a huge page. None for a short array or one
/// of objects.
///
/// An unaligned array has up to 2 MiB of small pages at each end. Mapping these takes as long as
/// mapping the rest.
fn on_huge_pages<'py>(
    py: Python<'py>,
    empty: &Bound<'py, PyAny>,
    shape: (usize, usize),
    dtype: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static TYPES: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (ndarray, dtype_of) = TYPES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        Ok::<_, PyErr>((numpy.getattr("ndarray")?.unbind(), numpy.getattr("dtype")?.unbind()))
    })?;
    let dtype = dtype_of.bind(py).call1((dtype,))?;
    let width: usize = dtype.getattr(pyo3::intern!(py, "itemsize"))?.extract()?;
    let has_objects: bool = dtype.getattr(pyo3::intern!(py, "hasobject"))?.extract()?;
    let len = shape.0.checked_mul(shape.1).and_then(|n| n.checked_mul(width));
    let Some(len) = len.filter(|&len| len >= LARGE && !has_objects) else { return Ok(None) };
    // Rounds the end up to a huge page if that takes little more memory.
    let rest = len.next_multiple_of(HUGE) - len;
    let room = len + HUGE + if rest <= len / 16 { rest } else { 0 };
    let room = empty.call1((room, "u1"))?;
    // SAFETY: nothing else knows the new array, and only its address is used.
    let start = unsafe { memory(&room) }?.as_ptr().addr();
    let skip = start.next_multiple_of(HUGE) - start;
    ndarray.bind(py).call1((shape, dtype, room, skip)).map(Some)
}

/// The memory of a new array that nothing else uses yet.
///
/// # Safety
/// The array must be C-contiguous and writable, and nothing else may use its memory as long as the
/// slice is used.
// The slice does not alias the array: its memory is elsewhere, and the caller promises exclusive
// use.
#[allow(clippy::mut_from_ref)]
pub unsafe fn memory<'a>(array: &'a Bound<'_, PyAny>) -> PyResult<&'a mut [u8]> {
    // The buffer protocol is faster than the array interface, but has no times.
    let (start, len) = match PyUntypedBuffer::get(array) {
        Ok(buffer) => (buffer.buf_ptr() as usize, buffer.len_bytes()),
        Err(_) => {
            let array = NumpyArray::new(array)?;
            (array.start(), array.shape.iter().product::<usize>() * array.width)
        }
    };
    if len == 0 {
        // SAFETY: no bytes; the address is aligned for any of them.
        return Ok(unsafe { std::slice::from_raw_parts_mut(std::ptr::without_provenance_mut(64), 0) });
    }
    // SAFETY: the caller promises that the memory exists and is ours alone. It comes from another
    // allocator through its address, so the compiler must assume that its bytes are initialised.
    Ok(unsafe { std::slice::from_raw_parts_mut(start as *mut u8, len) })
}

/// The memory of a column without values.
pub fn nothing() -> HostRead {
    // SAFETY: no bytes are lent.
    unsafe { HostRead::new(std::ptr::null(), 0) }
}
