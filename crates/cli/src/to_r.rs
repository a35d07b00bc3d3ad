//! Files of Entasis and of R as RDS files.

use std::io::Write;
use std::path::Path;

use entasis::{Durable, Error, default_threads};
use entasis_convert::{Packing, RdsOptions, write_rds};

use crate::convert_args::Args;
use crate::failure::Outcome;
use crate::lend;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

/// Writes the value of the file at `input` into the file that `args` names.
pub(crate) fn run(input: &Path, args: &Args, packing: Packing, durable: Durable, out: &mut Out) -> Outcome {
    let (output, threads) = (&args.output, args.csv.threads);
    let must_be_new = args.clobber.must_be_new();
    let watch = Watch::new(format!("converting {}", escape(&input.to_string_lossy())));
    let options = RdsOptions { packing, threads: threads.unwrap_or_else(default_threads), must_be_new };
    let file = args.secrets.open(|opening| lend::open(input, opening, &watch))?;
    let written = write_rds(&file, output, &options, durable, &watch)?;
    drop(watch);
    let lost = written.losses.iter().map(|loss| match &loss.column {
        Some(column) => format!("column {}: {}", escape(column), loss.reason),
        None => loss.reason.clone(),
    });
    crate::csv::warn(&lost.collect::<Vec<_>>());
    let len = std::fs::metadata(output).map_err(|e| Error::io(e, "open").in_file(output))?.len();
    let what = match written.shape {
        Some((rows, columns)) => format!("{} x {}", count(rows, "row"), count(columns as u64, "column")),
        None => "a value".to_owned(),
    };
    writeln!(out, "{}: {what}, {}", escape(&output.to_string_lossy()), size(len))?;
    Ok(())
}
