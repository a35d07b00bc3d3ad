//! Columns of numbers, times, booleans and fixed bytes, from the memory of NumPy arrays.

use entasis::{
    Array, Chunk, Column, ColumnType, HostValidity, HostValues, Logical, Missing, Physical, Value,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyString};

use super::put::Target;
use super::{Builder, missing_of};
use crate::array::{self, NumpyArray};
use crate::write::runs;
use crate::{errors, value};

/// The keyword arguments of [`Builder::words`].
#[derive(Default)]
pub(super) struct WordsOptions<'py> {
    /// The name of an extra column. Columns of the table have theirs from the builder.
    name: String,
    missing: Option<Missing>,
    host_variant: u8,
    /// An array of the same shape. Its bytes are 1 where a value is missing.
    mask: Option<Bound<'py, PyAny>>,
    /// The number of the extra column with the categories. The array has their codes.
    categories: Option<usize>,
    /// Whether the categories are ordered.
    ordered: bool,
    /// The zone of times. It is a short form of `detail`.
    zone: Option<String>,
    detail: Option<Bound<'py, PyAny>>,
    host_detail: Option<Bound<'py, PyAny>>,
    /// The logical type, unless the dtype or the categories imply it.
    logical: Option<Logical>,
}

impl<'py> WordsOptions<'py> {
    pub(super) fn from_keywords(keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let mut options = Self::default();
        let Some(keywords) = keywords else { return Ok(options) };
        for (key, value) in keywords {
            match key.cast::<PyString>()?.to_str()? {
                "name" => options.name = value.extract()?,
                "missing" => {
                    let name: Option<PyBackedStr> = value.extract()?;
                    options.missing = name.map(|name| missing_of(&name)).transpose()?;
                }
                "host_variant" => options.host_variant = value.extract()?,
                "mask" => options.mask = value.extract()?,
                "categories" => options.categories = value.extract()?,
                "ordered" => options.ordered = value.extract()?,
                "zone" => options.zone = value.extract()?,
                "detail" => options.detail = value.extract()?,
                "host_detail" => options.host_detail = value.extract()?,
                "logical" => {
                    let name: Option<PyBackedStr> = value.extract()?;
                    options.logical = name.map(|name| logical_of(&name)).transpose()?;
                }
                unknown => {
                    let message = format!("Builder.words() got an unexpected keyword argument '{unknown}'");
                    return Err(PyTypeError::new_err(message));
                }
            }
        }
        Ok(options)
    }

    /// The type of columns of an array, or `None` if its dtype is not supported.
    fn column_type(&self, view: &NumpyArray) -> Option<ColumnType> {
        let mut column_type = array::column_type(&view.typestr)?;
        column_type.host_variant = self.host_variant;
        if let Some(missing) = self.missing {
            column_type.missing = missing;
        }
        if self.categories.is_some() {
            column_type.logical = Logical::Categorical;
            column_type.ordered = self.ordered;
        }
        if let Some(logical) = self.logical {
            column_type.logical = logical;
        }
        Some(column_type)
    }
}

fn logical_of(name: &str) -> PyResult<Logical> {
    let found = Logical::ALL.iter().find(|logical| logical.name() == name);
    found.copied().ok_or_else(|| PyValueError::new_err("no such logical type"))
}

impl Builder {
    /// Adds the column of an array, or the rows of a two-dimensional array as columns. Returns the
    /// number of an extra column.
    pub(super) fn put_words(
        &mut self,
        array: Bound<'_, PyAny>,
        position: Option<&Bound<'_, PyAny>>,
        options: WordsOptions<'_>,
    ) -> PyResult<Option<u64>> {
        let view = NumpyArray::new(&array)?;
        let what = || self.called(position, &options.name);
        let as_value = |detail: &Option<Bound<'_, PyAny>>| {
            detail.as_ref().map(|detail| value::from_python(detail, &what(), 0, 0)).transpose()
        };
        let detail = as_value(&options.detail)?.or_else(|| options.zone.as_deref().map(Value::from));
        let host_detail = as_value(&options.host_detail)?;
        let Some(column_type) = options.column_type(&view) else {
            let message = format!("{}: dtype {} is not supported yet", what(), array.getattr("dtype")?);
            return Err(errors::unsupported(array.py(), message));
        };
        let mask = options.mask.map(|mask| self.keep_mask(mask, &view)).transpose()?;
        let target = self.target(position, view.n_columns())?;
        let is_bare = mask.is_none() && detail.is_none() && host_detail.is_none();
        if is_bare && let Some(first) = first_of_run(&target, &view, &column_type) {
            let names = self.names.part(first..first + view.n_columns());
            // SAFETY: the builder keeps the array alive until the file is written.
            self.columns.push((first, unsafe { runs::run(&view.axes(), column_type, names) }));
            self.arrays.push(array.unbind());
            return Ok(None);
        }
        let mut put = None;
        for index in 0..view.n_columns() {
            // SAFETY: the builder keeps the array and its mask alive until the file is written.
            let chunk = unsafe { chunk(&view, index, &column_type, mask.as_ref()) };
            let column = Column {
                run: None,
                name: String::new(),
                column_type,
                detail: detail.clone(),
                host_detail: host_detail.clone(),
                dictionary: options.categories,
                children: Vec::new(),
                array: Array::new(chunk),
            };
            put = self.put(&target, index, &options.name, column);
        }
        self.arrays.push(array.unbind());
        Ok(put)
    }

    /// Keeps the mask of an array alive until the file is written.
    fn keep_mask(&mut self, mask: Bound<'_, PyAny>, of: &NumpyArray) -> PyResult<NumpyArray> {
        let view = NumpyArray::new(&mask)?;
        if view.width != 1 || view.shape != of.shape {
            return Err(PyValueError::new_err("a mask has a byte per value"));
        }
        self.arrays.push(mask.unbind());
        Ok(view)
    }
}

/// The first position of the columns of an array, if they form a column run.
fn first_of_run(target: &Target, view: &NumpyArray, column_type: &ColumnType) -> Option<usize> {
    let Target::Table(positions) = target else { return None };
    let is_run = view.shape.len() == 2 && runs::is_run(column_type, view.n(), positions.iter().copied());
    is_run.then(|| positions[0])
}

/// The values of a column of an array.
///
/// # Safety
/// The array stays alive and unchanged as long as the values are used.
pub(super) unsafe fn values(view: &NumpyArray, index: usize, physical: Physical) -> HostValues {
    // SAFETY: as the caller promises.
    let (memory, stride) = (unsafe { view.column(index) }, view.stride());
    match physical {
        Physical::Bool => HostValues::Bools { memory, stride },
        _ => HostValues::Words { memory, stride },
    }
}

/// A column of an array, with its missing values.
///
/// # Safety
/// The array and the mask stay alive and unchanged as long as the chunk is used.
unsafe fn chunk(
    view: &NumpyArray,
    index: usize,
    column_type: &ColumnType,
    mask: Option<&NumpyArray>,
) -> Chunk {
    let validity = match (mask, column_type.logical) {
        (Some(mask), _) => {
            // SAFETY: as the caller promises.
            HostValidity::Mask { memory: unsafe { mask.column(index) }, stride: mask.stride() }
        }
        (None, Logical::Categorical) => HostValidity::Sentinel(u64::MAX >> (64 - 8 * view.width)),
        (None, Logical::Timestamp | Logical::Duration | Logical::Period) => {
            HostValidity::Sentinel(i64::MIN as u64)
        }
        _ => HostValidity::AllValid,
    };
    // SAFETY: as the caller promises.
    let values = unsafe { values(view, index, column_type.physical) };
    Chunk { n: view.n(), values, validity }
}
