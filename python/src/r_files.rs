//! Files of R as files of Entasis, and back.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use entasis::Error;
use entasis_convert::r::PlanOptions;
use entasis_convert::{Packing, RdsOptions, ReadOptions, convert, has_value_of, write_rds_to};
use pyo3::prelude::*;

use crate::handle::open::{Source, lend, open_any};
use crate::monitor;
use crate::secrets::{Secret, of_core};
use crate::write::destination::Destination;

/// Writes the value of a file of R into a file, as the R package does. Functions are kept only with
/// `functions`, as data.
#[pyfunction]
pub fn store_r(
    py: Python<'_>,
    source: Source,
    functions: bool,
    to: Destination,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let options = to.options();
    let (path, _) = to.into_path()?;
    let mut reading = ReadOptions::default();
    if let Some(threads) = options.threads {
        reading.threads = threads;
    }
    monitor::run_watched(py, progress, |monitor| {
        let source = match &source {
            Source::Path(path) => entasis_convert::Source::Path(path),
            Source::Bytes(bytes) => entasis_convert::Source::Bytes(bytes),
        };
        convert(source, &path, &reading, PlanOptions { functions }, &options, &lend, monitor)
    })
}

/// Writes the value of a file of Entasis, or of R, into the file at `path`, which exists, as RDS.
/// Returns what the values of R lack: columns, and reasons.
#[pyfunction]
pub fn store_rds(
    py: Python<'_>,
    source: Source,
    path: PathBuf,
    compression: &str,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    secret: Option<Secret>,
) -> PyResult<Vec<(Option<String>, String)>> {
    let (compression, secret) = (compression.to_owned(), of_core(secret.as_ref()));
    monitor::run_watched(py, progress, |monitor| {
        let mut options = RdsOptions { packing: Packing::named(&compression)?, ..RdsOptions::default() };
        options.threads = threads.unwrap_or(options.threads);
        let refused = |error| Error::io(error, "write");
        let mut target = OpenOptions::new().write(true).open(&path).map_err(refused)?;
        let file = open_any(source, secret, monitor)?;
        let mut put = |bytes: &[u8]| target.write_all(bytes).map_err(refused);
        let written = write_rds_to(&file, &options, &mut put, monitor)?;
        Ok(written.losses.into_iter().map(|loss| (loss.column, loss.reason)).collect())
    })
}

/// Whether the RDS file at `path` has the value that a file of Entasis, or of R, has in R.
#[pyfunction]
pub fn is_rds_of(py: Python<'_>, source: Source, path: PathBuf, secret: Option<Secret>) -> PyResult<bool> {
    let secret = of_core(secret.as_ref());
    monitor::run(py, |monitor| has_value_of(&open_any(source, secret, monitor)?, &path, monitor))
}
