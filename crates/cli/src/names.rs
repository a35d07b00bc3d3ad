//! Finds columns by their names.

use std::path::Path;

use entasis::{Error, File};

use crate::labels;

/// The indices of all table columns with this name, at least one.
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

/// As [`find_columns`], for a change that Python's function `function` also makes to row labels.
pub(crate) fn find_to_change(
    file: &File,
    path: &Path,
    name: &str,
    function: &str,
) -> entasis::Result<Vec<usize>> {
    find_columns(file, path, name).map_err(|error| {
        let is_label = labels::of(file).is_ok_and(|found| found.iter().any(|label| label.name == name));
        if is_label { error.advise(format!("use {function} in Python")) } else { error }
    })
}

/// The indices in the table of the requested columns, or of all columns if no names are given. A
/// name may have commas, so a whole name wins. All columns of one name count.
pub(crate) fn requested_columns(file: &File, path: &Path, names: &[String]) -> entasis::Result<Vec<usize>> {
    if names.is_empty() {
        return (0..file.n_columns()).map(|index| usize::try_from(index).map_err(|_| too_many())).collect();
    }
    let mut requested = Vec::new();
    for names in names {
        let found = file.find_all(names)?;
        if found.is_empty() {
            for name in names.split(',') {
                requested.extend(find_columns(file, path, name)?);
            }
        } else {
            requested.extend(found.into_iter().filter_map(|number| usize::try_from(number).ok()));
        }
    }
    Ok(requested)
}

fn too_many() -> Error {
    Error::limit("too many columns")
}

/// The error for a missing column. It suggests a similar name.
pub(crate) fn unknown_column(file: &File, path: &Path, name: &str) -> Error {
    no_column(file, name).in_file(path)
}

/// As [`unknown_column`], without the path.
pub(crate) fn no_column(file: &File, name: &str) -> Error {
    let other = similar(file, name).map(|other| format!("did you mean {other:?}?"));
    let advice = other.unwrap_or_else(|| "`entasis schema` shows the names".to_owned());
    let shown: String = name.chars().take(100).collect();
    Error::argument(format!("there is no column {shown:?}")).advise(advice)
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
