//! Opens a file by its path, a file whose content is in memory, or an object that gives ranges of
//! bytes. Files of R become files of Entasis in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use entasis::{File, HostRead, Limits, MAGIC, MemorySource, Monitor, Opening};
use entasis_convert::{Opened, hold_other, recognise};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::secrets::{self, Secret};
use crate::{errors, monitor, remote};

/// The argument that a file is opened from.
#[derive(FromPyObject)]
pub enum Source {
    /// The content of a file.
    Bytes(PyBackedBytes),
    /// The path of a file.
    Path(PathBuf),
}

/// The argument of a handle.
#[derive(FromPyObject)]
pub enum FileSource {
    /// A file on this machine.
    Local(Source),
    /// An object that gives ranges of bytes; see `remote`.
    Remote(Py<PyAny>),
}

/// The name of a file in memory, for error messages.
const IN_MEMORY: &str = "<bytes>";

/// Opens a file; see `Handle`.
pub fn open(
    py: Python<'_>,
    source: FileSource,
    limits: Option<HashMap<String, u64>>,
    whole: bool,
    secret: Option<&Secret>,
) -> PyResult<Opened> {
    let mut of_file = Limits::default();
    for (name, value) in limits.unwrap_or_default() {
        of_file.set(&name, value).map_err(|e| errors::raise(py, &e))?;
    }
    let opening = Opening { limits: of_file.clone(), secret: secrets::of_core(secret) };
    let source = match source {
        FileSource::Local(source) => source,
        FileSource::Remote(object) => {
            let (source, name) = remote::source(object.bind(py))?;
            let opened = py.detach(|| match whole {
                true => File::whole_from_source(Box::new(source), &name, opening),
                false => File::from_source(Box::new(source), &name, opening),
            });
            return opened.map(Opened::File).map_err(|e| errors::raise(py, &e));
        }
    };
    let opened = match source {
        Source::Bytes(bytes) if !bytes.starts_with(&MAGIC) && recognise(&bytes).is_some() => {
            let open = |monitor: &dyn Monitor| {
                entasis_convert::hold(&bytes, Path::new(IN_MEMORY), of_file, &lend, monitor)
            };
            return monitor::run(py, open);
        }
        Source::Bytes(bytes) => py.detach(|| {
            let (source, name) = (Box::new(MemorySource::new(bytes)), Path::new(IN_MEMORY));
            match whole {
                true => File::whole_from_source(source, name, opening),
                false => File::from_source(source, name, opening),
            }
        }),
        Source::Path(path) if whole => py.detach(|| File::open_whole(&path, opening)),
        Source::Path(path) => match py.detach(|| File::open_with(&path, opening)) {
            Err(error) => {
                let open = |monitor: &dyn Monitor| hold_other(&path, error, of_file, &lend, monitor);
                return monitor::run(py, open);
            }
            opened => opened,
        },
    };
    opened.map(Opened::File).map_err(|e| errors::raise(py, &e))
}

/// Opens a file of Entasis, or one of R.
///
/// # Errors
/// As [`entasis_convert::open_path`].
pub fn open_any(
    source: Source,
    secret: Option<entasis::Secret>,
    monitor: &dyn Monitor,
) -> entasis::Result<File> {
    let opening = Opening { secret, ..Opening::default() };
    match source {
        Source::Bytes(bytes) if !bytes.starts_with(&MAGIC) => {
            entasis_convert::open(&bytes, Path::new(IN_MEMORY), opening.limits, &lend, monitor)
        }
        Source::Bytes(bytes) => {
            File::from_source(Box::new(MemorySource::new(bytes)), Path::new(IN_MEMORY), opening)
        }
        Source::Path(path) => entasis_convert::open_path(&path, opening, &lend, monitor),
    }
}

/// Lends values of R to the writer.
pub fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the bytes are initialised. A document that has the handle ends within the call that
    // owns them, and a held table owns them itself, which `Held::new` checks. Nobody writes to them
    // meanwhile.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}
