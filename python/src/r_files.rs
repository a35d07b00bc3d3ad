//! Files of R as files of Entasis.

use entasis_convert::r::PlanOptions;
use entasis_convert::{ReadOptions, convert};
use pyo3::prelude::*;

use crate::handle::open::{Source, lend};
use crate::monitor;
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
    let path = to.into_path()?;
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
