//! A folder on an object store, which a host lists and reads.

use std::fmt;

use entasis::{Result, Source};

/// A folder on an object store. Paths are within the folder, with `/`.
pub trait Objects: fmt::Debug + Send + Sync {
    /// The address of the folder for messages, without secrets.
    fn name(&self) -> &str;

    /// The objects whose path begins with `prefix`, in all folders below, in the order of the bytes
    /// of their paths. A folder that does not exist has none.
    ///
    /// # Errors
    /// *Io* if the store can't be read.
    fn list(&self, prefix: &str) -> Result<Vec<Listed>>;

    /// Opens an object. If `listed` says that it is short, the host may read it whole at once.
    /// Threads call this at the same time.
    ///
    /// # Errors
    /// *Io*, of kind `NotFound` if the object does not exist.
    fn open(&self, path: &str, listed: Option<&Listed>) -> Result<Box<dyn Source>>;
}

/// An object as a list of a store, or a manifest, describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The path within the folder.
    pub path: String,
    /// The length in bytes.
    pub len: u64,
    /// The ETag or version; empty if it is not known.
    pub identity: String,
}
