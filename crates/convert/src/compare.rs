//! Compares an RDS file with the file of Entasis that it was written from.

use std::path::Path;

use entasis::{File, Monitor, Result};

use crate::open::read_path;
use crate::r::Reading;
use crate::read::ReadOptions;

/// Whether the file at `path` has the value that a file of Entasis has in R.
///
/// # Errors
/// As [`write_rds`](crate::write_rds), and as [`read_path`].
pub fn has_value_of(file: &File, path: &Path, monitor: &dyn Monitor) -> Result<bool> {
    let found = read_path(path, &ReadOptions::default(), monitor)?.value;
    Ok(Reading::new(file, None, monitor).whole()? == found)
}
