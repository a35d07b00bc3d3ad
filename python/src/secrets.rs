//! Keys and passwords.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use crate::errors;

/// A key of 32 bytes that opens encrypted files. It shows none of its bytes, and is not pickled.
#[pyclass(frozen, module = "entasis")]
pub struct Key(pub(crate) entasis::Key);

/// A password of encrypted files.
#[pyclass(frozen, module = "entasis._entasis")]
pub struct Password(entasis::Password);

/// A key or a password.
#[derive(FromPyObject)]
pub enum Secret {
    /// A key.
    Key(Py<Key>),
    /// A password.
    Password(Py<Password>),
}

impl Secret {
    /// The secret of the core.
    pub fn of_core(&self) -> entasis::Secret {
        match self {
            Self::Key(key) => entasis::Secret::Key(key.get().0.clone()),
            Self::Password(password) => entasis::Secret::Password(password.get().0.clone()),
        }
    }
}

/// A secret of the core as an object of Python.
pub fn to_python<'py>(py: Python<'py>, secret: &entasis::Secret) -> PyResult<Bound<'py, PyAny>> {
    Ok(match secret {
        entasis::Secret::Key(key) => Bound::new(py, Key(key.clone()))?.into_any(),
        entasis::Secret::Password(password) => Bound::new(py, Password(password.clone()))?.into_any(),
    })
}

/// The secret of the core, if there is one.
pub fn of_core(secret: Option<&Secret>) -> Option<entasis::Secret> {
    secret.map(Secret::of_core)
}

#[pymethods]
impl Key {
    /// A key of these 32 bytes.
    #[new]
    fn new(py: Python<'_>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = bytes.cast::<PyBytes>().map_err(|_| PyTypeError::new_err("a key is made of bytes"))?;
        entasis::Key::new(bytes.as_bytes()).map(Self).map_err(|e| errors::raise(py, &e))
    }

    /// A key of random bytes.
    #[staticmethod]
    fn random(py: Python<'_>) -> PyResult<Self> {
        entasis::Key::random().map(Self).map_err(|e| errors::raise(py, &e))
    }

    /// The key in a file, which has 32 bytes or 64 hexadecimal digits.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        entasis::Key::from_file(&path).map(Self).map_err(|e| errors::raise(py, &e))
    }

    /// The bytes themselves.
    fn expose<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.expose())
    }

    fn __repr__(&self) -> &'static str {
        "Key(...)"
    }

    fn __reduce__(&self) -> PyResult<()> {
        let message =
            "a Key is not pickled: pass key= a function of a module that returns it, or set ENTASIS_KEY_FILE";
        Err(PyTypeError::new_err(message))
    }
}

#[pymethods]
impl Password {
    #[new]
    fn new(py: Python<'_>, text: PyBackedStr) -> PyResult<Self> {
        entasis::Password::new(&text).map(Self).map_err(|e| errors::raise(py, &e))
    }

    fn __repr__(&self) -> &'static str {
        "Password(...)"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a password is not pickled"))
    }
}
