//! Writes a file of Entasis as an RDS file.

use std::path::Path;

use entasis::{Durable, File, Monitor, Result, default_threads};
use entasis_csv::write::Target;

use super::items::{Head, Writer, element};
use super::packed::Packing;
use crate::r::{Frame, Loss, Reading, Root};
use crate::rds::flags::kind;

/// How an RDS file is written.
#[derive(Clone, Debug)]
pub struct RdsOptions {
    /// Its compression.
    pub packing: Packing,
    /// The most threads.
    pub threads: usize,
    /// Whether a file that exists is an error (*io* of kind `AlreadyExists`) for [`write_rds`].
    pub must_be_new: bool,
}

impl Default for RdsOptions {
    fn default() -> Self {
        Self { packing: Packing::default(), threads: default_threads(), must_be_new: false }
    }
}

/// The result of writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RdsWritten {
    /// The rows and columns of a data frame.
    pub shape: Option<(u64, usize)>,
    /// The properties that the values of R lack.
    pub losses: Vec<Loss>,
}

/// Writes the value of a file of Entasis as an RDS file at `path`: `readRDS()` gives what
/// `read_entasis()` gives. A data frame is read and written column by column. An old file is
/// replaced when all is written.
///
/// # Errors
/// *Unsupported* with the path of a value that is not plain data, *interrupted*, errors of the
/// system, and as [`File::read`].
pub fn write_rds(
    file: &File,
    path: &Path,
    options: &RdsOptions,
    durable: Durable,
    monitor: &dyn Monitor,
) -> Result<RdsWritten> {
    let mut target = Target::create(path, durable, options.must_be_new)?;
    let written = write_rds_to(file, options, &mut |bytes| target.write(bytes), monitor)?;
    target.commit(monitor)?;
    Ok(written)
}

/// Writes the value of a file of Entasis as the bytes of an RDS file, which `put` takes in order.
///
/// # Errors
/// As [`write_rds`], and those of `put`.
pub fn write_rds_to(
    file: &File,
    options: &RdsOptions,
    put: &mut dyn FnMut(&[u8]) -> Result<()>,
    monitor: &dyn Monitor,
) -> Result<RdsWritten> {
    let reading = Reading::new(file, Some(options.threads), monitor);
    let mut writer = Writer::new(options.packing, options.threads, put, monitor)?;
    let mut written = RdsWritten::default();
    match reading.root()? {
        Root::Value(value) => writer.value(&value)?,
        Root::Frame(mut frame) => {
            written.shape = Some((frame.n_rows(), frame.n_columns()));
            write_frame(&reading, &mut frame, &mut writer, monitor)?;
        }
    }
    writer.end()?;
    written.losses = reading.losses();
    Ok(written)
}

fn write_frame(
    reading: &Reading<'_>,
    frame: &mut Frame,
    writer: &mut Writer<'_>,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (n, n_rows) = (frame.n_columns(), frame.n_rows());
    let head = Head { kind: kind::LIST, attributes: frame.attributes(), is_s4: false };
    writer.vector(head, n)?;
    for i in 0..n {
        let column = reading.column(frame, i)?;
        let names = frame.attributes().iter().find(|(name, _)| name == "names");
        let step = element(names.and_then(|(_, names)| names.strings()), i);
        writer.part(step, &column)?;
        monitor.progress((n_rows as u128 * (i as u128 + 1) / n as u128) as u64, n_rows);
    }
    writer.attributes(frame.attributes())
}
