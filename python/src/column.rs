//! Columns of a file, as Python sees them.

use entasis::{ColumnInfo, ColumnType, File, Logical, Unit, Value};
use pyo3::prelude::*;

use crate::{array, errors, value};

/// A column of a file: its name and type.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct Column {
    info: ColumnInfo,
    /// The whole type of a nested column, with the types of its children.
    type_name: Option<String>,
}

impl Column {
    /// A column whose type is described without its children.
    pub fn new(info: &ColumnInfo) -> Self {
        Self { info: info.clone(), type_name: None }
    }

    /// A column with the types of its children.
    pub fn of(py: Python<'_>, file: &File, info: &ColumnInfo) -> PyResult<Self> {
        let is_nested = info.record.column_type.physical.is_nested();
        let type_name = is_nested.then(|| file.type_name(info, &type_name)).transpose();
        Ok(Self { info: info.clone(), type_name: type_name.map_err(|e| errors::raise(py, &e))? })
    }
}

/// A readable type of a column without children.
pub fn type_name(info: &ColumnInfo) -> String {
    type_of(&info.record.column_type, info.detail.as_ref())
}

pub fn type_of(t: &ColumnType, detail: Option<&Value>) -> String {
    let zone = detail.and_then(|detail| detail.as_str());
    match (t.logical, t.unit) {
        (Logical::Plain, _) => entasis::type_name(t, detail),
        (Logical::Date, _) => "date".to_owned(),
        (
            Logical::Period
            | Logical::Interval
            | Logical::Uuid
            | Logical::Json
            | Logical::Extension
            | Logical::Object,
            _,
        ) => entasis::type_name(t, detail),
        (Logical::Decimal, _) => format!("decimal({}, {})", t.precision, t.scale),
        (Logical::Categorical, _) if t.ordered => "categorical (ordered)".to_owned(),
        (logical, Unit::None) => logical.name().to_owned(),
        (logical, unit) => match zone {
            Some(zone) => format!("{}[{}, {zone}]", logical.name(), unit.name()),
            None => format!("{}[{}]", logical.name(), unit.name()),
        },
    }
}

#[pymethods]
impl Column {
    #[getter]
    fn index(&self) -> u64 {
        self.info.index
    }

    #[getter]
    fn name(&self) -> &str {
        &self.info.name
    }

    #[getter]
    fn type_name(&self) -> String {
        self.type_name.clone().unwrap_or_else(|| type_name(&self.info))
    }

    #[getter]
    fn physical(&self) -> &'static str {
        self.info.record.column_type.physical.name()
    }

    /// Whether its values are in child columns.
    #[getter]
    fn is_nested(&self) -> bool {
        self.info.record.column_type.physical.is_nested()
    }

    /// The dtype with the same memory layout as the values. None for types that NumPy does not
    /// have.
    #[getter]
    fn dtype(&self) -> Option<String> {
        let dtype = array::dtype(&self.info.record.column_type);
        (dtype != "O" && (dtype != "f16" || array::LONG_DOUBLE)).then_some(dtype)
    }

    #[getter]
    fn logical(&self) -> &'static str {
        self.info.record.column_type.logical.name()
    }

    #[getter]
    fn unit(&self) -> &'static str {
        self.info.record.column_type.unit.name()
    }

    #[getter]
    fn missing(&self) -> &'static str {
        self.info.record.column_type.missing.name()
    }

    #[getter]
    fn ordered(&self) -> bool {
        self.info.record.column_type.ordered
    }

    #[getter]
    fn precision(&self) -> u8 {
        self.info.record.column_type.precision
    }

    #[getter]
    fn scale(&self) -> i8 {
        self.info.record.column_type.scale
    }

    #[getter]
    fn host_variant(&self) -> u8 {
        self.info.record.column_type.host_variant
    }

    #[getter]
    fn n_values(&self) -> u64 {
        self.info.record.n_values
    }

    #[getter]
    fn n_missing(&self) -> u64 {
        self.info.record.n_missing
    }

    #[getter]
    fn dictionary(&self) -> Option<u64> {
        self.info.record.dictionary
    }

    #[getter]
    fn detail<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let detail = self.info.detail.as_ref();
        detail.map_or_else(|| Ok(py.None().into_bound(py)), |detail| value::to_python(py, detail))
    }

    fn __repr__(&self) -> String {
        format!("<column '{}': {}>", self.info.name, type_name(&self.info))
    }
}
