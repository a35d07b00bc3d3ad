//! Finds columns by their names.

use std::path::Path;

use entasis::{Error, File};

use crate::labels;

/// The places in the table of all columns with a name, at least one.
pub(crate) fn find_columns(file: &File, path: &Path, name: &str) -> entasis::Result<Vec<usize>> {
    let found = file.find_all(name)?;
    if !found.is_empty() {
        return Ok(found.into_iter().filter_map(|number| usize::try_from(number).ok()).collect());
    }
    if labels::of(file)?.iter().any(|label| label.name == name) {
        let error = Error::argument("the name is that of the labels of rows, which are not a column");
        return Err(error.in_file(path).in_column(name));
    }
    Err(unknown_column(file, path, name))
}

/// The error for a column that is not there. It suggests a similar name.
pub(crate) fn unknown_column(file: &File, path: &Path, name: &str) -> Error {
    let other = similar(file, name).map(|other| format!("did you mean {other:?}?"));
    let advice = other.unwrap_or_else(|| "`entasis schema` shows the names".to_owned());
    let shown: String = name.chars().take(100).collect();
    Error::argument(format!("there is no column {shown:?}")).in_file(path).advise(advice)
}

/// The name that is most similar to another one.
fn similar(file: &File, name: &str) -> Option<String> {
    let wanted = name.trim().to_lowercase();
    let columns = file.columns(0..file.n_columns().min(10_000)).ok()?;
    let names = columns
        .into_iter()
        .map(|info| info.name)
        .chain(labels::of(file).ok()?.into_iter().map(|label| label.name));
    names
        .map(|name| (strsim::jaro_winkler(&name.trim().to_lowercase(), &wanted), name))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}
