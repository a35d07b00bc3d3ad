//! Folders of files: their paths, and the keys in these.

use std::path::PathBuf;
use std::sync::Arc;

use entasis::Limits;
use entasis_dataset::{Dataset, KeyType, Keys, Pin, Wanted};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::handle::Handle;
use crate::monitor;

/// The keys of files: names, names of types, and values of each key by file.
type Found = (Vec<String>, Vec<&'static str>, Vec<Vec<Option<String>>>);

/// The relative paths of the files below a folder, in their order.
#[pyfunction]
pub fn folder_files(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
    py.detach(|| entasis_dataset::list(&folder)).map_err(|error| raise(py, &error))
}

/// The keys in relative paths. `types` has names of keys with names of types.
#[pyfunction]
pub fn path_keys(py: Python<'_>, paths: Vec<String>, types: Vec<(String, String)>) -> PyResult<Found> {
    let types = types
        .into_iter()
        .map(|(name, kind)| {
            KeyType::of_name(&kind).map(|found| (name.clone(), found)).ok_or_else(|| {
                let text =
                    format!("hive: the key '{name}' has one of the types 'int64', 'date' and 'string'");
                raise(py, &entasis::Error::argument(text))
            })
        })
        .collect::<PyResult<_>>()?;
    let found = Keys::of(&paths, &Wanted { types }).map_err(|error| raise(py, &error))?;
    Ok((found.names, found.types.iter().map(|kind| kind.name()).collect(), found.values))
}

/// The name of the folder for a key and the text of its value.
#[pyfunction]
pub fn folder_name(py: Python<'_>, key: &str, value: Option<&str>) -> PyResult<String> {
    entasis_dataset::encode(key, value).map_err(|error| raise(py, &error))
}

/// The state of a file: its length, its last bytes, its generation and its number of rows.
type State = (u64, Vec<u8>, u64, u64);

/// The files of a folder as one, with the keys as its last columns. None if their columns have
/// different forms: then they can't be one file without a copy.
#[pyfunction]
pub fn joined_files(
    py: Python<'_>,
    folder: PathBuf,
    files: Vec<PathBuf>,
    states: Option<Vec<State>>,
    keys: (Vec<String>, Vec<String>, Vec<Vec<Option<String>>>),
) -> PyResult<Option<Handle>> {
    let pin = |(length, end, generation, n_rows)| Pin { length, end, generation, n_rows };
    let pins = states.map(|states| states.into_iter().map(pin).collect());
    let (names, types, values) = keys;
    let types = types.iter().map(|name| KeyType::of_name(name).unwrap_or(KeyType::Text)).collect();
    let keys = Keys { names, types, values };
    let dataset = Dataset::of_files(&folder, files, pins, keys, Limits::default());
    let joined = monitor::run(py, |monitor| dataset.by_reference(monitor))?;
    Ok(joined.map(|file| Handle::of(Arc::new(file))))
}
