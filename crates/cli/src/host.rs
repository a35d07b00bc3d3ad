//! The host: libraries of another language, for formats and work that this command does not have.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entasis::{Error, Kind, Result, Secret, Source};
use entasis_dataset::Objects;
use serde_json::{Map, Value};

/// Does work of the command with the libraries of a language: the Python package is one.
pub trait Host {
    /// Does the work of a verb. `progress` may be called while it goes on.
    fn call(&self, request: &Request, progress: Progress) -> Reply;

    /// Opens the object of an address. Also returns its name in messages, which has no secrets.
    ///
    /// # Errors
    /// *Io*; *unsupported* if the host reads no stores.
    fn source(&self, address: &str) -> Result<(Box<dyn Source>, PathBuf)> {
        Err(Error::unsupported("the host reads no stores").in_file(Path::new(address)))
    }

    /// Opens the folder of an address; `None` if the address is that of an object.
    ///
    /// # Errors
    /// As [`source`](Self::source).
    fn folder(&self, address: &str) -> Result<Option<Arc<dyn Objects>>> {
        let _ = address;
        Ok(None)
    }
}

/// Opens the object of an address; `None` for paths.
pub(crate) fn source(path: &Path) -> Result<Option<(Box<dyn Source>, PathBuf)>> {
    let Some(address) = address(path) else { return Ok(None) };
    of_stores()?.source(address).map(Some).map_err(|error| match folder(path) {
        Ok(Some(folder)) if is_missing(&error) && folder.list("").is_ok_and(|found| !found.is_empty()) => {
            Error::io(io::Error::from(ErrorKind::IsADirectory), "open").in_file(Path::new(folder.name()))
        }
        _ => error,
    })
}

fn is_missing(error: &Error) -> bool {
    error.kind() == Kind::Io(ErrorKind::NotFound)
}

/// Opens the folder of an address; `None` for paths and for objects.
pub(crate) fn folder(path: &Path) -> Result<Option<Arc<dyn Objects>>> {
    let Some(address) = address(path).filter(|text| !text.ends_with(".entasis")) else { return Ok(None) };
    // A verb asks several times, and the host sends a request to find out.
    if let Some((known, found)) = FOLDER.with_borrow(Clone::clone)
        && known == address
    {
        return Ok(found);
    }
    let found = of_stores()?.folder(address)?;
    FOLDER.set(Some((address.to_owned(), found.clone())));
    Ok(found)
}

fn of_stores() -> Result<&'static dyn Host> {
    current().ok_or_else(|| {
        let error = Error::unsupported("objects on stores need the command of the Python package");
        error.advise("pip install 'entasis[cloud]'")
    })
}

/// Whether a path is the address of an object or a folder on a store.
pub(crate) fn is_address(path: &Path) -> bool {
    address(path).is_some()
}

/// The text of a path that is an address, which begins with a scheme such as `s3://`.
fn address(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| has_scheme(text) && !path.exists())
}

fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(is_of_scheme)
    })
}

/// An address, and its folder if it is one.
type Asked = (String, Option<Arc<dyn Objects>>);

thread_local! {
    static CURRENT: Cell<Option<&'static dyn Host>> = const { Cell::new(None) };
    /// The address that was asked for last.
    static FOLDER: RefCell<Option<Asked>> = const { RefCell::new(None) };
}

/// Sets the host of the command that this thread runs.
pub(crate) fn set(host: Option<&'static dyn Host>) {
    CURRENT.set(host);
    FOLDER.set(None);
}

/// The host of the command that this thread runs.
pub(crate) fn current() -> Option<&'static dyn Host> {
    CURRENT.get()
}

/// Is called with the number of rows or bytes that are done, and with all of them if that is known.
pub type Progress = Arc<dyn Fn(u64, Option<u64>) + Send + Sync>;

/// Work for a host.
#[derive(Clone, Debug)]
pub struct Request {
    /// The verb: `convert`, `diff` or `read`; of a folder also `compact` and `clean`.
    pub verb: &'static str,
    /// The files to read.
    pub inputs: Vec<Input>,
    /// The file to write; for `convert` none is the standard output.
    pub output: Option<PathBuf>,
    /// The other arguments, named as the parameters of the function in Python.
    pub options: Map<String, Value>,
    /// The key or password of encrypted files.
    pub secret: Option<Secret>,
}

impl Request {
    /// The options as a JSON object.
    #[must_use]
    pub fn options_json(&self) -> String {
        Value::Object(self.options.clone()).to_string()
    }
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A path.
    Path(PathBuf),
    /// The content of a file, from the standard input.
    Content(Vec<u8>),
}

/// The answer of a host.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The work is done.
    Done {
        /// Warnings.
        notes: Vec<String>,
        /// The result. Its members depend on the verb.
        result: Map<String, Value>,
        /// For `read` the Entasis file with the rows.
        content: Option<Vec<u8>>,
    },
    /// The work failed, and nothing was written.
    Failed {
        /// Warnings before that.
        notes: Vec<String>,
        /// The reason.
        message: String,
    },
    /// The user stopped the work.
    Stopped,
    /// The reader of the standard output closed it.
    Closed,
}

impl Reply {
    /// Reads a JSON object: `state` is "done", "failed", "stopped" or "closed"; `notes` is a list
    /// of strings, `message` the reason of a failure, and `result` an object.
    #[must_use]
    pub fn from_json(text: &str, content: Option<Vec<u8>>) -> Self {
        let mut found = match serde_json::from_str(text) {
            Ok(Value::Object(found)) => found,
            _ => return Self::failed("the host gave no answer"),
        };
        let mut notes = Vec::new();
        if let Some(Value::Array(listed)) = found.remove("notes") {
            notes.extend(listed.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        match found.get("state").and_then(Value::as_str) {
            Some("stopped") => Self::Stopped,
            Some("closed") => Self::Closed,
            Some("done") => {
                let result = match found.remove("result") {
                    Some(Value::Object(result)) => result,
                    _ => Map::new(),
                };
                Self::Done { notes, result, content }
            }
            _ => {
                let message = found.get("message").and_then(Value::as_str).unwrap_or("the host failed");
                Self::Failed { notes, message: message.to_owned() }
            }
        }
    }

    /// A failure without warnings.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { notes: Vec::new(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_from_json() {
        let read = |text| Reply::from_json(text, None);
        assert_eq!(read(r#"{"state": "stopped"}"#), Reply::Stopped);
        assert_eq!(read(r#"{"state": "closed", "notes": []}"#), Reply::Closed);
        let failed = Reply::Failed { notes: vec!["a".to_owned()], message: "b".to_owned() };
        assert_eq!(read(r#"{"state": "failed", "notes": ["a", 1], "message": "b"}"#), failed);
        let Reply::Done { notes, result, .. } = read(r#"{"state": "done", "result": {"n_rows": 3}}"#) else {
            panic!("the work is done")
        };
        assert!(notes.is_empty());
        assert_eq!(result.get("n_rows").and_then(Value::as_u64), Some(3));
        for wrong in ["", "[]", "{}", r#"{"state": 1}"#] {
            assert!(matches!(read(wrong), Reply::Failed { .. }), "{wrong}");
        }
    }
}
