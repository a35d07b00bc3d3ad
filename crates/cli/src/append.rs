//! `entasis append`: adds the rows of another file.

use std::path::PathBuf;

use entasis::{AppendOptions, Kind, Value, WriteOptions};
use entasis_dataset::column_labels;

use crate::change::ChangeArgs;
use crate::failure::Outcome;
use crate::open::require_table;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis append flights.entasis today.entasis
  entasis append --fill --widen flights.entasis today.entasis
  entasis append --no-sync --wait 60 flights.entasis today.entasis
  cat today.entasis | entasis append flights.entasis -

Both files have columns of the same names, in any order. Rows of another type are converted if the type of FILE holds \
each value exactly. A column of FILE without values takes the type of ROWS. Categories become the union of both. \
Metadata and attributes are those of FILE. The first change of a file of less than about 1 MiB copies it.

Nested columns, columns of objects, and an index other than 0, 1, 2 ... are appended in Python and R.";

/// Add the rows of another file to a table
///
/// Takes time for the new rows alone. Reads them into memory.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The Entasis file to change
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An Entasis file with the rows to add, or - for the standard input
    #[arg(value_name = "ROWS")]
    rows: PathBuf,
    /// Make columns that only one of the files has missing in the rows of the other
    #[arg(long)]
    fill: bool,
    /// Store a column of FILE anew in a wider type, if its own does not hold the rows
    #[arg(long)]
    widen: bool,
    /// The compression of the rows that are written: 0 (raw) to 100 (smallest) [default: as the
    /// last write of FILE]
    #[arg(short, long, value_name = "C", value_parser = clap::value_parser!(u8).range(0..=100))]
    compression: Option<u8>,
    /// The edition of the format: the set of encodings that may be used [default: the newest]
    #[arg(long, value_name = "N")]
    edition: Option<u8>,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.change.change_and_report_columns(&args.file, "appending", out, |watch| {
        let (compression, edition, threads) = (args.compression, args.edition, args.threads);
        let options = WriteOptions { compression, edition, threads, ..args.change.options() };
        let rows = args.change.limits.open_input(&args.rows)?;
        require_table(&rows, &args.rows)?;
        let change = args.change.begin_table(&args.file, &options, watch)?;
        let host = change.file().host()?;
        let labels = |host: &Value, names: &[String]| {
            column_labels::check(host)?;
            Ok(column_labels::joined(host, names))
        };
        let rules = AppendOptions { fill: args.fill, widen: args.widen, labels: Some(&labels) };
        let appended = change.append_file(&rows, &rules, watch).map_err(|error| match error.advice() {
            Some(advice) => {
                // The options of the core, as those of the command.
                let advice = advice.replace("`widen`", "--widen").replace("`fill`", "--fill");
                error.advise(advice)
            }
            None if error.kind() == Kind::Argument => {
                let python = "use en.append(rows, path) in Python";
                column_labels::advise(error, &host, python, "use append_entasis(rows, path) in R")
            }
            None => error,
        })?;
        change.commit(appended.content, appended.operation, &options, watch)?;
        Ok(appended.anew)
    })
}
