//! Files of R (RDS, RData, qs2, qdata, fst) as Entasis files.

use std::io::Write;
use std::path::Path;

use entasis::{Error, File, Opening, WriteOptions};
use entasis_convert::ReadOptions;
use entasis_convert::r::PlanOptions;

use crate::failure::Outcome;
use crate::lend::convert_r;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

/// Writes the value of a file of R into the file at `output`.
pub(crate) fn run(
    input: &Path,
    output: &Path,
    functions: bool,
    options: &WriteOptions,
    out: &mut Out,
) -> Outcome {
    let watch = Watch::new(format!("converting {}", escape(&input.to_string_lossy())));
    let mut reading = ReadOptions::default();
    if let Some(threads) = options.threads {
        reading.threads = threads;
    }
    convert_r(input, output, &reading, PlanOptions { functions }, options, &watch)?;
    drop(watch);
    let len = std::fs::metadata(output).map_err(|e| Error::io(e, "open").in_file(output))?.len();
    let file = File::open_with(output, Opening { secret: options.secret.clone(), ..Opening::default() })?;
    let what = if file.is_table() {
        let (rows, columns) = (file.n_rows(), file.n_columns());
        format!("{} x {}", count(rows, "row"), count(columns, "column"))
    } else {
        "a tree of values".to_owned()
    };
    writeln!(out, "{}: {what}, {}", escape(&output.to_string_lossy()), size(len))?;
    Ok(())
}
