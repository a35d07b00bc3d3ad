//! `entasis cat`: all rows of tables as lines of JSON.

use std::path::{Path, PathBuf};

use crate::failure::Outcome;
use crate::files;
use crate::found::Found;
use crate::head::{self, ReadArgs};
use crate::limits::parse_n_rows;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis cat flights.entasis | jq .delay
  entasis cat 2024.entasis 2025.entasis | gzip > flights.json.gz
  entasis cat -n 1000 flights.entasis
  entasis cat --columns carrier,delay --where \"delay > 60\" flights.entasis
  cat flights.entasis | entasis cat -

The objects are those of `entasis head --json`. The rows of several files follow each other; their columns may differ. \
A file that cannot be read is reported, and the others follow.";

/// Print all rows of tables as JSON, one object per row on a line of its own
///
/// Reads a part of the rows at a time, so that files may be larger than memory. The standard input
/// is read into memory first.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files of Entasis or R, others that `entasis convert` takes, or - for the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the rows for which this condition is true, as for `entasis select`
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<String>,
    /// The greatest number of rows of all files together [default: all]
    #[arg(short = 'n', long, alias = "n-rows", value_name = "N", value_parser = parse_n_rows)]
    limit: Option<u64>,
    #[command(flatten)]
    read: ReadArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let mut n_left = args.limit.unwrap_or(u64::MAX);
    files::for_each(&args.files, out, |path, out| one(path, args, &mut n_left, out))
}

/// Prints at most `n_left` rows of a file, and subtracts their number.
fn one(path: &Path, args: &Args, n_left: &mut u64, out: &mut Out) -> Outcome {
    let file = args.read.open.open_table(path)?;
    let mut found = Found::new(&file, args.condition.as_deref(), *n_left, args.read.threads)?;
    let printed = head::print_lines(&file, &mut found, 0..file.n_rows(), &args.read, out);
    *n_left = found.n_left();
    printed
}
