//! A temporary file that is removed after the measurement.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

/// The path of a file that may be written. Dropping it removes the file.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A path in `dir`, or in the system's folder for temporary files.
    pub(super) fn new(dir: Option<&Path>) -> Self {
        let dir = dir.map_or_else(env::temp_dir, Path::to_path_buf);
        // The clock makes the name hard to guess, so that nobody can put a link there.
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
