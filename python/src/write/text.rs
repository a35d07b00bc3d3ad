//! Strings in NumPy arrays of objects, and checks of arrays of fixed width.

use entasis::{HostRead, HostValidity, HostValues, Missing};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};

use crate::array::NumpyArray;
use crate::errors;
use crate::monitor;

/// Strings that are copied, and lent to the core until the file is written.
#[derive(Default)]
pub struct OwnText {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    validity: Vec<u8>,
    /// The code of the [`Missing`] kind of each cell, 0 for a string.
    pub kinds: Vec<u8>,
    n_missing: usize,
}

impl OwnText {
    fn with_capacity(n: usize) -> Self {
        let mut text = Self::default();
        text.offsets.reserve(n + 1);
        text.offsets.push(0);
        text
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.end(Missing::Unspecified);
    }

    fn end(&mut self, missing: Missing) {
        let i = self.kinds.len();
        if i.is_multiple_of(8) {
            self.validity.push(0);
        }
        if missing == Missing::Unspecified {
            self.validity[i / 8] |= 1 << (i % 8);
        } else {
            self.n_missing += 1;
        }
        self.kinds.push(missing.code());
        self.offsets.push(self.bytes.len() as i64);
    }

    /// The number of strings.
    pub fn n(&self) -> usize {
        self.kinds.len()
    }

    /// The kind of all missing cells; `None` if there are several kinds.
    pub fn missing(&self) -> Option<Missing> {
        let mut found = Missing::Unspecified;
        for &kind in self.kinds.iter().filter(|&&kind| kind != 0) {
            let kind = Missing::from_code(kind)?;
            if found != Missing::Unspecified && found != kind {
                return None;
            }
            found = kind;
        }
        Some(found)
    }

    /// The memory of the strings.
    ///
    /// # Safety
    /// `self` is neither changed nor dropped as long as the memory is used. It may move.
    pub unsafe fn lend(&self) -> (HostValues, HostValidity) {
        let validity = if self.n_missing == 0 {
            HostValidity::AllValid
        } else {
            // SAFETY: as the caller promises.
            HostValidity::Bits { memory: unsafe { lend(&self.validity) }, first_bit: 0 }
        };
        // SAFETY: these are the bytes of the offsets, and they stay as the caller promises.
        let offsets = unsafe { HostRead::new(self.offsets.as_ptr().cast(), self.offsets.len() * 8) };
        // SAFETY: as above.
        (HostValues::Offsets64 { offsets, bytes: unsafe { lend(&self.bytes) } }, validity)
    }

    /// The kinds of all cells, a byte each.
    ///
    /// # Safety
    /// As for `lend`.
    pub unsafe fn lend_kinds(&self) -> HostRead {
        // SAFETY: as the caller promises.
        unsafe { lend(&self.kinds) }
    }
}

/// # Safety
/// The bytes stay in place and unchanged as long as the memory is used.
unsafe fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: as the caller promises.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

/// Copies the strings of an object array, or its bytes objects if `binary`.
///
/// # Errors
/// *Unsupported* if a cell is neither of the wanted type nor a missing value.
pub fn from_objects(array: &Bound<'_, PyAny>, what: &str, binary: bool) -> PyResult<OwnText> {
    let py = array.py();
    let view = NumpyArray::new(array)?;
    let mut text = OwnText::with_capacity(view.n());
    for (i, address) in view.addresses().enumerate() {
        if i % 65_536 == 65_535 {
            monitor::check(py)?;
        }
        // SAFETY: an element of an object array is a pointer to an object, or null for None. Its
        // address may be unaligned, as the array may be a field of packed records. We hold the GIL.
        let cell = unsafe { (address as *const *mut ffi::PyObject).read_unaligned() };
        // SAFETY: the array keeps the object alive, as no other thread can change it while we hold
        // the GIL.
        let Some(cell) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, cell) }) else {
            text.end(Missing::None);
            continue;
        };
        match cell.cast_exact::<PyString>() {
            Ok(string) if !binary => {
                let string = string.to_str().map_err(|_| {
                    errors::unsupported(py, format!("{what}: the string in row {i} has lone surrogates"))
                })?;
                text.push(string.as_bytes());
                continue;
            }
            _ => {}
        }
        match cell.cast_exact::<PyBytes>() {
            Ok(bytes) if binary => text.push(bytes.as_bytes()),
            _ => text.end(missing_kind(&cell).ok_or_else(|| refuse(&cell, what, i))?),
        }
    }
    Ok(text)
}

/// The kind of missing value that a cell is, if any.
fn missing_kind(cell: &Bound<'_, PyAny>) -> Option<Missing> {
    if cell.is_none() {
        return Some(Missing::None);
    }
    if let Ok(float) = cell.cast_exact::<PyFloat>() {
        // Only the default NaN is a missing value. Others are values, so that their bits are
        // preserved.
        return (float.value().to_bits() == f64::NAN.to_bits()).then_some(Missing::NaN);
    }
    let name = cell.get_type().fully_qualified_name().ok()?;
    match name.to_str().ok()? {
        "pandas._libs.missing.NAType" | "pandas.api.typing.NAType" => Some(Missing::NA),
        "pandas._libs.tslibs.nattype.NaTType" | "pandas.api.typing.NaTType" => Some(Missing::NaT),
        _ => None,
    }
}

fn refuse(cell: &Bound<'_, PyAny>, what: &str, row: usize) -> PyErr {
    let kind = cell.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let message = format!("{what}: object cells of type {kind} are not supported yet, only str (row {row})");
    errors::unsupported(cell.py(), message)
}

/// Whether all code units of an array of dtype `U` are valid code points: no surrogates, and none
/// above U+10FFFF.
pub fn is_unicode(view: &NumpyArray) -> bool {
    // SAFETY: the caller keeps the array alive, and its memory is used in this function alone.
    let memory = unsafe { view.column(0) };
    let (stride, width) = (view.stride(), view.width);
    let mut at = if stride < 0 { (view.n().saturating_sub(1)) * stride.unsigned_abs() } else { 0 };
    let together = if stride == width as isize { (1 << 14) / width.max(1) } else { 1 }.max(1);
    let mut units = Vec::new();
    let mut left = view.n();
    while left > 0 {
        let now = together.min(left);
        units.resize(now * width / 4, 0u32);
        if !memory.copy_strided::<u32>(at, 4, &mut units) {
            return false;
        }
        let largest = units.iter().copied().max().unwrap_or(0);
        if largest >= 0xD800 && units.iter().any(|&unit| char::from_u32(unit).is_none()) {
            return false;
        }
        at = at.wrapping_add_signed((now as isize).wrapping_mul(stride));
        left -= now;
    }
    true
}
