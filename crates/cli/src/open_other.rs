//! Opens files that a host reads, for the verbs that show tables.

use std::path::Path;

use entasis::{Error, File, Kind, Limits, MemorySource, Result, has_name_of_text};
use serde_json::Value;

use crate::csv::{is_stdin, warn};
use crate::format::{Format, Source};
use crate::host::{self, Input, Reply, Request};
use crate::hosted;
use crate::text::escape;

/// Opens a file that is not an Entasis file, or returns the error about that.
///
/// `n` is the number of first rows that are wanted; `None` reads all. The rows are in memory. Also
/// returns the number of all rows, if it is known.
pub(crate) fn open(path: &Path, error: Error, n: Option<u64>, limits: Limits) -> Result<(File, Option<u64>)> {
    let Some(form) = form_of(path, &error) else { return Err(error) };
    let Some(host) = host::current() else {
        return Err(error.advise(format!(
            "the command of the Python package reads files of {}: pip install 'entasis[all]'",
            form.name()
        )));
    };
    let rows = n.map(|n| vec![Value::from(0), n.into()]);
    let options = rows.map(|rows| ("rows".to_owned(), rows.into())).into_iter().collect();
    let request = Request {
        verb: "read",
        inputs: vec![Input::Path(path.to_owned())],
        output: None,
        options,
        secret: None,
    };
    let label = format!("reading {}", escape(&path.to_string_lossy()));
    let (notes, result, content) = match hosted::answer(host, &request, label) {
        Reply::Done { notes, result, content: Some(content) } => (notes, result, content),
        Reply::Done { .. } => return Err(Error::argument("the host read nothing").in_file(path)),
        Reply::Failed { notes, message } => {
            warn(&notes);
            return Err(Error::argument(message));
        }
        Reply::Stopped | Reply::Closed => return Err(Error::interrupted()),
    };
    warn(&notes);
    let file = File::from_source(Box::new(MemorySource::new(content)), path, limits)?;
    Ok((file, result.get("n_rows").and_then(Value::as_u64)))
}

/// The format of a file that only a host reads; `None` for others, and for other errors.
pub(crate) fn form_of(path: &Path, error: &Error) -> Option<Format> {
    if is_stdin(path) || !matches!(error.kind(), Kind::NotEntasis | Kind::Corrupt) {
        return None;
    }
    match Source::of_file(path) {
        // Any file may be a text.
        Source::Known(Format::Csv) => {
            (has_name_of_text(path) && host::current().is_some()).then_some(Format::Csv)
        }
        Source::Known(form) => form.is_of_host().then_some(form),
        Source::Other => None,
    }
}
