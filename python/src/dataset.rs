//! Folders of files: their paths, and the keys in these.

use std::path::PathBuf;

use entasis_dataset::{KeyType, Keys, Wanted};
use pyo3::prelude::*;

use crate::errors::raise;

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
