//! Converts errors of the core to Python exceptions. No other file does.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use entasis::{Damage, Error, Kind, Survey};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};

use crate::remote::{self, Raised};

/// The name of the class in `entasis.errors` for a kind.
fn class_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Io(ErrorKind::NotFound) => "MissingFileError",
        Kind::Io(ErrorKind::AlreadyExists) => "ExistingFileError",
        Kind::Io(ErrorKind::IsADirectory) => "DirectoryError",
        Kind::Io(ErrorKind::NotADirectory) => "NotADirectoryFileError",
        Kind::Io(ErrorKind::PermissionDenied) => "FilePermissionError",
        Kind::Io(ErrorKind::WouldBlock) => "BusyError",
        Kind::Io(_) => "FileError",
        Kind::NotEntasis => "NotEntasisError",
        Kind::Newer => "NewerVersionError",
        Kind::Corrupt => "CorruptFileError",
        Kind::Tampered => "TamperedError",
        Kind::WrongKey => "WrongKeyError",
        Kind::Unsupported => "UnsupportedTypeError",
        Kind::Text => "ProblemError",
        Kind::NoColumn => "ColumnNotFoundError",
        Kind::Limit => "LimitError",
        Kind::OutOfMemory => "OutOfMemoryError",
        _ => "ArgumentError",
    }
}

/// An exception of a class in `entasis.errors`.
pub fn new(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("entasis.errors")?.getattr(class)?.cast_into::<PyType>()?;
        Ok(PyErr::from_type(class, message.into()))
    };
    make().unwrap_or_else(|error| error)
}

/// An `OutOfMemoryError` for `n` times `width` bytes; `what` names their use, in the plural.
pub fn out_of_memory(py: Python<'_>, n: usize, width: usize, what: &'static str) -> PyErr {
    raise(py, &Error::out_of_memory(n.saturating_mul(width), what))
}

/// Does work that unwinds if scratch memory is refused. The refusal becomes an exception.
pub fn catch_refusal<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| match entasis::refusal(&*payload) {
        Some(error) => Err(raise(py, &error)),
        None => resume_unwind(payload),
    })
}

/// An `UnsupportedTypeError`.
pub fn unsupported(py: Python<'_>, message: impl Into<String>) -> PyErr {
    new(py, "UnsupportedTypeError", message)
}

/// The exception for an error of the core. Its attributes contain the location of the error.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    raise_as(py, class_name(error.kind()), error)
}

/// The exception for a damaged file. Its attributes list the damaged places.
pub fn raise_damages(py: Python<'_>, error: &Error, survey: &Survey) -> PyErr {
    let exception = raise(py, error);
    let value = exception.value(py);
    let set = || -> PyResult<()> {
        value.setattr("damages", damages(py, &survey.damages)?)?;
        value.setattr("n_damages", survey.n_damages)?;
        value.setattr("generations", PyTuple::new(py, &survey.generations)?)?;
        value.setattr("n_columns", survey.report.n_columns)?;
        value.setattr("n_sound_columns", survey.n_sound)
    };
    set().err().unwrap_or(exception)
}

/// The damage of a generation that cannot be opened, as a `Damage`.
pub fn lost<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("entasis._damage")?.getattr("Damage")?;
    let (nothing, generation) = (py.None(), error.generations().first());
    class.call1((&nothing, &nothing, &nothing, error.to_string(), generation))
}

/// The damaged places as a list of `Damage`.
pub fn damages<'py>(py: Python<'py>, damages: &[Damage]) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("entasis._damage")?.getattr("Damage")?;
    let list = PyList::empty(py);
    for damage in damages {
        let values = damage.values.as_ref();
        let (start, stop) = (values.map(|values| values.start), values.map(|values| values.end));
        list.append(class.call1((
            damage.column.as_deref(),
            start,
            stop,
            damage.describe(0),
            damage.generation,
        ))?)?;
    }
    Ok(list)
}

/// The exception for an error of the core while a file is mapped. A column that cannot be mapped
/// has a class of its own.
pub fn raise_map(py: Python<'_>, error: &Error) -> PyErr {
    let is_sound = matches!(error.kind(), Kind::Unsupported);
    raise_as(py, if is_sound { "NotMappableError" } else { class_name(error.kind()) }, error)
}

fn raise_as(py: Python<'_>, class: &str, error: &Error) -> PyErr {
    if error.kind() == Kind::Interrupted {
        return pyo3::exceptions::PyKeyboardInterrupt::new_err(error.to_string());
    }
    // An object of Python that was read from has raised it.
    let raised = error.io_source().and_then(|source| source.get_ref()?.downcast_ref::<Raised>());
    if let Some(raised) = raised {
        return raised.exception.clone_ref(py);
    }
    let file = error.location().file.as_ref().map(|file| file.to_string_lossy());
    if error.kind() == Kind::Corrupt
        && let Some(replaced) = file.and_then(|name| remote::replaced(py, &name))
    {
        return replaced;
    }
    let message = match error.exceeded_limit() {
        Some(limit) => {
            error.to_string_with(&format!("if you trust the file, open it with limits={{'{limit}': ...}}"))
        }
        None if error.is_of_text() => error.to_string_with("read a text with en.read_csv(path)"),
        None => error.to_string(),
    };
    let exception = new(py, class, message);
    let location = error.location();
    let file = location.file.as_ref().map(|file| file.display().to_string());
    let value = exception.value(py);
    let set = || -> PyResult<()> {
        if error.kind() == Kind::Corrupt {
            value.setattr("generations", PyTuple::new(py, error.generations())?)?;
        }
        value.setattr("column", location.column.as_deref())?;
        value.setattr("block", location.block)?;
        value.setattr("page", location.page)?;
        value.setattr("offset", location.at)?;
        value.setattr("file", file.as_deref())?;
        if matches!(error.kind(), Kind::Io(_)) {
            let number = |name: &str| -> PyResult<Option<i32>> {
                Ok(Some(py.import("errno")?.getattr(name)?.extract()?))
            };
            let errno = match error.kind() {
                Kind::Io(ErrorKind::WouldBlock) => number("EAGAIN")?,
                Kind::Io(ErrorKind::AlreadyExists) => number("EEXIST")?,
                _ => error.raw_os_error(),
            };
            value.setattr("errno", errno)?;
            value.setattr("strerror", error.io_source().map(ToString::to_string))?;
            value.setattr("filename", file.as_deref())?;
        }
        Ok(())
    };
    set().err().unwrap_or(exception)
}
