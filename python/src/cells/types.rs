//! Types of the standard library and NumPy that have a kind of cell, and how their values are made.

use std::collections::HashMap;

use entasis::CellKind;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

/// The address of an object's type.
#[inline]
pub fn type_of(object: &Bound<'_, PyAny>) -> usize {
    object.get_type_ptr() as usize
}

/// Types of the standard library and NumPy whose values are cells of one kind.
pub struct Types {
    /// The kind of each, by the address of the type.
    kinds: HashMap<usize, CellKind>,
    /// The types by kind. Kept alive so that no other object gets their addresses.
    classes: HashMap<u8, Py<PyType>>,
    epoch: Py<PyAny>,
    microsecond: Py<PyAny>,
    ndarray: Option<Py<PyType>>,
}

const STANDARD: [(CellKind, &str, &str); 11] = [
    (CellKind::Date, "datetime", "date"),
    (CellKind::Time, "datetime", "time"),
    (CellKind::Datetime, "datetime", "datetime"),
    (CellKind::Timedelta, "datetime", "timedelta"),
    (CellKind::Decimal, "decimal", "Decimal"),
    (CellKind::Fraction, "fractions", "Fraction"),
    (CellKind::Uuid, "uuid", "UUID"),
    (CellKind::PurePosixPath, "pathlib", "PurePosixPath"),
    (CellKind::PureWindowsPath, "pathlib", "PureWindowsPath"),
    (CellKind::PosixPath, "pathlib", "PosixPath"),
    (CellKind::WindowsPath, "pathlib", "WindowsPath"),
];
const NUMPY: [(CellKind, &str); 14] = [
    (CellKind::Int8, "int8"),
    (CellKind::Int16, "int16"),
    (CellKind::Int32, "int32"),
    (CellKind::Int64, "int64"),
    (CellKind::UInt8, "uint8"),
    (CellKind::UInt16, "uint16"),
    (CellKind::UInt32, "uint32"),
    (CellKind::UInt64, "uint64"),
    (CellKind::Float64, "float64"),
    (CellKind::Float32, "float32"),
    (CellKind::Float16, "float16"),
    (CellKind::NumpyStr, "str_"),
    (CellKind::NumpyBytes, "bytes_"),
    (CellKind::NumpyTrue, "bool_"),
];

impl Types {
    /// The types of imported modules: the others have no values yet. With `all`, imports all
    /// modules.
    pub fn new(py: Python<'_>, all: bool) -> PyResult<Self> {
        let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let (mut kinds, mut classes) = (HashMap::new(), HashMap::new());
        let mut add = |kind: CellKind, class: Bound<'_, PyAny>| -> PyResult<()> {
            let class = class.cast_into::<PyType>()?;
            kinds.insert(class.as_ptr() as usize, kind);
            classes.insert(kind.code(), class.unbind());
            Ok(())
        };
        for (kind, module, name) in STANDARD {
            if all || modules.contains(module)? {
                add(kind, py.import(module)?.getattr(name)?)?;
            }
        }
        let mut ndarray = None;
        if all || modules.contains("numpy")? {
            let numpy = py.import("numpy")?;
            for (kind, name) in NUMPY {
                add(kind, numpy.getattr(name)?)?;
            }
            ndarray = Some(numpy.getattr("ndarray")?.cast_into::<PyType>()?.unbind());
        }
        let datetime = py.import("datetime")?;
        let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1))?.unbind();
        let microsecond = datetime.getattr("timedelta")?.call1((0, 0, 1))?.unbind();
        Ok(Self { kinds, classes, epoch, microsecond, ndarray })
    }

    /// The kind of the values of a type.
    #[inline]
    pub fn kind(&self, object: &Bound<'_, PyAny>) -> Option<CellKind> {
        self.kinds.get(&type_of(object)).copied()
    }

    /// Whether an object is a NumPy array, and not of a subclass.
    pub fn is_array(&self, object: &Bound<'_, PyAny>) -> bool {
        self.ndarray.as_ref().is_some_and(|class| class.as_ptr() as usize == type_of(object))
    }

    fn class<'py>(&self, py: Python<'py>, kind: CellKind) -> PyResult<&Bound<'py, PyType>> {
        let class = self.classes.get(&kind.code()).map(|class| class.bind(py));
        class.ok_or_else(|| pyo3::exceptions::PyTypeError::new_err(format!("a {kind} can't be made here")))
    }

    /// Microseconds of a `timedelta`, if they fit.
    pub fn microseconds(&self, span: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
        let py = span.py();
        let days: i64 = span.getattr(pyo3::intern!(py, "days"))?.extract()?;
        let seconds: i64 = span.getattr(pyo3::intern!(py, "seconds"))?.extract()?;
        let rest: i64 = span.getattr(pyo3::intern!(py, "microseconds"))?.extract()?;
        let seconds = days.checked_mul(86_400).and_then(|whole| whole.checked_add(seconds));
        Ok(seconds.and_then(|whole| whole.checked_mul(1_000_000)).and_then(|whole| whole.checked_add(rest)))
    }

    /// Microseconds since 1970 of a naive `datetime`.
    pub fn since_epoch(&self, datetime: &Bound<'_, PyAny>) -> PyResult<i64> {
        let span = datetime.sub(self.epoch.bind(datetime.py()))?;
        Ok(self.microseconds(&span)?.unwrap_or_default())
    }

    /// The object of a cell of class integer.
    pub fn make_int<'py>(&self, py: Python<'py>, kind: CellKind, value: i64) -> PyResult<Bound<'py, PyAny>> {
        let class = || self.class(py, kind);
        match kind {
            CellKind::Date => {
                let days = value.checked_add(719_163);
                class()?.call_method1(pyo3::intern!(py, "fromordinal"), (days,))
            }
            CellKind::Time => {
                let (rest, seconds) = (value.rem_euclid(1_000_000), value.div_euclid(1_000_000));
                class()?.call1((seconds.div_euclid(3600), seconds / 60 % 60, seconds % 60, rest))
            }
            CellKind::Datetime => {
                let span = self.span(py, value)?;
                self.epoch.bind(py).add(span)
            }
            CellKind::Timedelta => self.span(py, value),
            CellKind::UInt64 => class()?.call1((value.cast_unsigned(),)),
            _ => class()?.call1((value,)),
        }
    }

    fn span<'py>(&self, py: Python<'py>, microseconds: i64) -> PyResult<Bound<'py, PyAny>> {
        let class = self.microsecond.bind(py).get_type();
        let (seconds, rest) = (microseconds.div_euclid(1_000_000), microseconds.rem_euclid(1_000_000));
        class.call1((seconds.div_euclid(86_400), seconds.rem_euclid(86_400), rest))
    }

    /// The object of a cell of class float.
    pub fn make_float<'py>(
        &self,
        py: Python<'py>,
        kind: CellKind,
        value: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.class(py, kind)?.call1((value,))
    }

    /// The object of a cell of class string.
    pub fn make_text<'py>(
        &self,
        py: Python<'py>,
        kind: CellKind,
        value: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A path of another system becomes a pure path.
        let kind = match kind {
            CellKind::PosixPath if cfg!(windows) => CellKind::PurePosixPath,
            CellKind::WindowsPath if !cfg!(windows) => CellKind::PureWindowsPath,
            kind => kind,
        };
        self.class(py, kind)?.call1((value,))
    }

    /// The object of a cell of class bytes.
    pub fn make_bytes<'py>(
        &self,
        py: Python<'py>,
        kind: CellKind,
        value: &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(py, value);
        match kind {
            CellKind::Uuid => self.class(py, kind)?.call1((py.None(), bytes)),
            CellKind::BigInt => {
                let kwargs = PyDict::new(py);
                kwargs.set_item("signed", true)?;
                py.get_type::<pyo3::types::PyInt>().call_method(
                    "from_bytes",
                    (bytes, "little"),
                    Some(&kwargs),
                )
            }
            CellKind::Surrogates => bytes.call_method1("decode", ("utf-8", "surrogatepass")),
            _ => self.class(py, kind)?.call1((bytes,)),
        }
    }

    /// A fraction of two integers.
    pub fn make_fraction<'py>(
        &self,
        py: Python<'py>,
        parts: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = self.class(py, CellKind::Fraction)?.call1((&parts[0], &parts[1]))?;
        if made.getattr("denominator")?.eq(&parts[1])? {
            Ok(made)
        } else {
            Err(pyo3::exceptions::PyValueError::new_err("a fraction that is not in lowest terms"))
        }
    }
}
