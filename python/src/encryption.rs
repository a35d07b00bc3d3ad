//! Encrypts and decrypts files, and shows and changes their keys.

use std::path::PathBuf;

use entasis::{Error, FileSource, KeyChange, Limits, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::secrets::{Key, Secret, of_core};
use crate::write::destination::Destination;
use crate::{errors, monitor, remote};

/// The key that opens a file: at a path, in memory, or on a store.
#[pyfunction]
pub fn unlock(py: Python<'_>, source: Bytes<'_>, secret: Option<Secret>) -> PyResult<Key> {
    let secret = of_core(secret.as_ref());
    let (source, name) = source.open().map_err(|e| errors::raise(py, &e))?;
    let found = py.detach(|| entasis::unlock(&*source, secret.as_ref(), &Limits::default()));
    found.map(Key).map_err(|e| errors::raise(py, &e.in_file(&name)))
}

/// The cipher of a file, the kinds of its keys, and the costs of passwords: passes, memory in KiB,
/// lanes. None for a plain file.
#[pyfunction]
pub fn keys_of<'py>(py: Python<'py>, source: Bytes<'_>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (source, name) = source.open().map_err(|e| errors::raise(py, &e))?;
    let found = py.detach(|| entasis::keys(&*source)).map_err(|e| errors::raise(py, &e.in_file(&name)))?;
    let Some(found) = found else { return Ok(None) };
    let out = PyDict::new(py);
    out.set_item("cipher", found.suite.name())?;
    out.set_item("kinds", found.kinds)?;
    out.set_item("costs", found.costs.map(|costs| (costs.passes, costs.memory, costs.lanes)))?;
    Ok(Some(out))
}

/// Encrypts a file with the secret of `to`, in its place or at the path of `to`.
#[pyfunction]
pub fn encrypt(py: Python<'_>, path: PathBuf, to: Destination) -> PyResult<()> {
    rewrite(py, path, to, entasis::encrypt)
}

/// Decrypts a file with the secret of `to`, in its place or at the path of `to`.
#[pyfunction]
pub fn decrypt(py: Python<'_>, path: PathBuf, to: Destination) -> PyResult<()> {
    rewrite(py, path, to, entasis::decrypt)
}

type Rewrite = fn(
    &std::path::Path,
    Option<&std::path::Path>,
    &entasis::WriteOptions,
    &dyn entasis::Monitor,
) -> entasis::Result<()>;

fn rewrite(py: Python<'_>, path: PathBuf, to: Destination, work: Rewrite) -> PyResult<()> {
    let options = to.options();
    let (out, progress) = to.into_optional_path();
    let progress = progress.map(|progress| progress.into_bound(py));
    monitor::run_watched(py, progress, |monitor| work(&path, out.as_deref(), &options, monitor))
}

/// Adds the secret `new` to the keys of a file, which `to` opens.
#[pyfunction]
pub fn add_key(py: Python<'_>, path: PathBuf, new: Secret, to: Destination) -> PyResult<()> {
    change_keys(py, path, KeyChange::Add(new.of_core()), to)
}

/// Removes a key of a file, which `to` opens: that with a number, or the one that opens it.
#[pyfunction]
pub fn remove_key(py: Python<'_>, path: PathBuf, number: Option<usize>, to: Destination) -> PyResult<()> {
    change_keys(py, path, KeyChange::Remove(number), to)
}

fn change_keys(py: Python<'_>, path: PathBuf, change: KeyChange, to: Destination) -> PyResult<()> {
    let options = to.options();
    monitor::run(py, |monitor| entasis::change_keys(&path, &change, &options, monitor))
}

/// The bytes of a file: at a path, in memory, or on a store.
#[derive(FromPyObject)]
pub enum Bytes<'py> {
    /// In memory.
    Memory(pyo3::pybacked::PyBackedBytes),
    /// At a path.
    Path(PathBuf),
    /// On a store.
    Remote(Bound<'py, PyAny>),
}

impl Bytes<'_> {
    /// The bytes, and a name for errors.
    fn open(self) -> entasis::Result<(Box<dyn Source>, PathBuf)> {
        Ok(match self {
            Self::Memory(bytes) => (Box::new(entasis::MemorySource::new(bytes)), PathBuf::from("<bytes>")),
            Self::Path(path) => {
                let source = FileSource::open(&path).map_err(|e| Error::io(e, "open").in_file(&path))?;
                (Box::new(source), path)
            }
            Self::Remote(object) => {
                let found = remote::source(&object);
                let (source, name) =
                    found.map_err(|_| Error::argument("the object gives no ranges of bytes"))?;
                (Box::new(source), name)
            }
        })
    }
}
