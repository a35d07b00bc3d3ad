//! A file that is gone when the measurement is.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

/// The path of a file that may be written, and is removed in the end.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A path in `dir`, or in the system's folder for temporary files.
    pub(super) fn new(dir: Option<&Path>) -> Self {
        let dir = dir.map_or_else(env::temp_dir, Path::to_path_buf);
        // A name that nobody could have put a link at, as far as the clock is not known to the nanosecond.
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |t| t.as_nanos());
        Self(dir.join(format!("entasis-bench-{}-{now}.entasis", process::id())))
    }

    /// The path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes the file, if there is one.
    pub(super) fn clear(&self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.clear();
    }
}
