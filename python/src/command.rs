//! The command, with the libraries of Python as its host.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use entasis::{Error, Source};
use entasis_cli::{Host, Input, Listed, Objects, Progress, Reply, Request};
use pyo3::exceptions::{PyImportError, PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::remote;
use crate::secrets::to_python;

/// Runs the command line. Returns the exit code.
#[pyfunction]
pub fn cli_main(py: Python<'_>, args: Vec<OsString>) -> i32 {
    py.detach(|| entasis_cli::run_with(args, Some(&Libraries)))
}

/// The libraries of Python. The module that calls them is imported for the first request.
struct Libraries;

impl Host for Libraries {
    fn source(&self, address: &str) -> entasis::Result<(Box<dyn Source>, PathBuf)> {
        Python::attach(|py| {
            let open = || -> PyResult<(Box<dyn Source>, PathBuf)> {
                let object = py.import("entasis._arguments.sources")?.getattr("remote")?.call1((address,))?;
                let (source, name) = remote::source(&object)?;
                Ok((Box::new(source), name))
            };
            open().map_err(|error| failed(py, error, "open"))
        })
    }

    fn folder(&self, address: &str) -> entasis::Result<Option<Arc<dyn Objects>>> {
        Python::attach(|py| {
            let find = || -> PyResult<Option<Arc<dyn Objects>>> {
                let found = py.import("entasis._command.folder")?.getattr("on_store")?.call1((address,))?;
                if found.is_none() {
                    return Ok(None);
                }
                let name = found.getattr(intern!(py, "name"))?.extract()?;
                Ok(Some(Arc::new(Folder { object: found.unbind(), name })))
            };
            find().map_err(|error| failed(py, error, "open"))
        })
    }

    fn call(&self, request: &Request, progress: Progress) -> Reply {
        Python::attach(|py| {
            let answer = ask(py, request, progress);
            match answer {
                Ok((text, content)) => Reply::from_json(&text, content),
                Err(error) => Reply::failed(error.to_string()),
            }
        })
    }
}

/// A folder on a store: `entasis._stores.listing.Folder`.
#[derive(Debug)]
struct Folder {
    object: Py<PyAny>,
    name: String,
}

impl Objects for Folder {
    fn name(&self) -> &str {
        &self.name
    }

    fn list(&self, prefix: &str) -> entasis::Result<Vec<Listed>> {
        Python::attach(|py| {
            let list = || -> PyResult<Vec<Listed>> {
                let found = self.object.bind(py).call_method1(intern!(py, "list"), (prefix,))?;
                found.try_iter()?.map(|entry| listed(&entry?)).collect()
            };
            list().map_err(|error| failed(py, error, "list"))
        })
    }

    fn open(&self, path: &str, listed: Option<&Listed>) -> entasis::Result<Box<dyn Source>> {
        Python::attach(|py| {
            let open = || -> PyResult<Box<dyn Source>> {
                let stat = py.import("entasis._stores.reader")?.getattr("Stat")?;
                let listed = listed.map(|one| stat.call1((one.len, &one.identity))).transpose()?;
                let object = self.object.bind(py).call_method1(intern!(py, "open"), (path, listed))?;
                Ok(Box::new(remote::source(&object)?.0))
            };
            open().map_err(|error| failed(py, error, "open"))
        })
    }
}

/// An entry of the list of a store.
fn listed(entry: &Bound<'_, PyAny>) -> PyResult<Listed> {
    let py = entry.py();
    Ok(Listed {
        path: entry.getattr(intern!(py, "path"))?.extract()?,
        len: entry.getattr(intern!(py, "size"))?.extract()?,
        identity: entry.getattr(intern!(py, "identity"))?.extract()?,
    })
}

/// The error for an exception, whose message has the address.
fn failed(py: Python<'_>, error: PyErr, doing: &'static str) -> Error {
    if !error.is_instance_of::<PyOSError>(py) {
        let message = error.value(py).to_string();
        if error.is_instance_of::<PyImportError>(py) {
            return Error::unsupported(message);
        }
        if error.is_instance_of::<PyValueError>(py) {
            return Error::argument(message);
        }
    }
    let error = remote::to_io(py, error);
    let message = error.to_string();
    match message.rsplit_once("; ") {
        // The advice for files on the disk is another one.
        Some((message, advice)) => {
            Error::io(io::Error::new(error.kind(), message), doing).advise(advice.to_owned())
        }
        None => Error::io(error, doing),
    }
}

/// The answer as JSON, and the content of a file.
fn ask(py: Python<'_>, request: &Request, progress: Progress) -> PyResult<(String, Option<Vec<u8>>)> {
    let inputs = PyList::empty(py);
    for input in &request.inputs {
        match input {
            Input::Path(path) => inputs.append(path.as_os_str())?,
            Input::Content(bytes) => inputs.append(PyBytes::new(py, bytes))?,
        }
    }
    let output = request.output.as_ref().map(|path| path.as_os_str());
    let report = Bound::new(py, Report(progress))?;
    let call = py.import("entasis._command.host")?.getattr("call")?;
    let secret = request.secret.as_ref().map(|secret| to_python(py, secret)).transpose()?;
    let (text, content): (String, Option<Bound<'_, PyBytes>>) =
        call.call1((request.verb, inputs, output, request.options_json(), report, secret))?.extract()?;
    Ok((text, content.map(|content| content.as_bytes().to_vec())))
}

/// Shows the progress of the command.
#[pyclass(frozen)]
struct Report(Progress);

#[pymethods]
impl Report {
    fn __call__(&self, done: u64, total: Option<u64>) {
        (self.0)(done, total);
    }
}
