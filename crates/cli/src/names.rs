//! Errors about names of columns.

use std::path::Path;

use entasis::{Error, File};

use crate::labels;

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
