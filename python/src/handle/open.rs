//! Opens a file by its path, or a file whose content is in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use entasis::{File, Limits, MemorySource};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors;

/// The argument that a file is opened from.
#[derive(FromPyObject)]
pub enum Source {
    /// The content of a file.
    Bytes(PyBackedBytes),
    /// The path of a file.
    Path(PathBuf),
}

/// The name of a file in memory, for error messages.
const IN_MEMORY: &str = "<bytes>";

/// Opens a file; see `Handle`.
pub fn open(
    py: Python<'_>,
    source: Source,
    limits: Option<HashMap<String, u64>>,
    whole: bool,
) -> PyResult<File> {
    let mut of_file = Limits::default();
    for (name, value) in limits.unwrap_or_default() {
        of_file.set(&name, value).map_err(|e| errors::raise(py, &e))?;
    }
    let opened = py.detach(|| match source {
        Source::Bytes(bytes) => {
            let (source, name) = (Box::new(MemorySource::new(bytes)), Path::new(IN_MEMORY));
            match whole {
                true => File::whole_from_source(source, name, of_file),
                false => File::from_source(source, name, of_file),
            }
        }
        Source::Path(path) if whole => File::open_whole(&path, of_file),
        Source::Path(path) => File::open_with(&path, of_file),
    });
    opened.map_err(|e| errors::raise(py, &e))
}
