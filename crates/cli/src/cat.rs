//! `entasis cat`: all rows of tables as lines of JSON.

use std::path::{Path, PathBuf};

use entasis::{File, Result};
use entasis_query::{Predicate, Scan};

use crate::failure::Outcome;
use crate::head::{self, ReadArgs};
use crate::output::Out;
use crate::progress::Step;
use crate::row_set::RowSet;
use crate::select;

/// The rows that a condition is tested on together. Their numbers take 8 bytes each.
const WINDOW: u64 = 1 << 20;

const EXAMPLES: &str = "Examples:
  entasis cat flights.entasis | jq .delay
  entasis cat 2024.entasis 2025.entasis | gzip > flights.json.gz
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
    /// Entasis files, or - for the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the rows for which this condition is true, as for `entasis select`
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    crate::for_each(&args.files, out, |path, out| one(path, args, out))
}

fn one(path: &Path, args: &Args, out: &mut Out) -> Outcome {
    let file = args.read.open.open_table(path)?;
    let rows = 0..file.n_rows();
    let Some(condition) = &args.condition else {
        return head::print_lines(&file, [Ok(RowSet::from(rows.clone()))], rows, &args.read, out);
    };
    let predicate = select::predicate(&file, condition)?;
    head::print_lines(&file, passing(&file, &predicate, args.read.threads), rows, &args.read, out)
}

/// The rows for which a condition is true, found as they are asked for.
fn passing(
    file: &File,
    predicate: &Predicate,
    threads: Option<usize>,
) -> impl Iterator<Item = Result<RowSet>> {
    let n = file.n_rows();
    // The condition of an empty table is checked too.
    let starts = (0..n.div_ceil(WINDOW).max(1)).map(|window| window * WINDOW);
    starts.map(move |start| {
        let rows = start..n.min(start + WINDOW);
        let found = Scan::of_rows(file, predicate, rows)?.row_numbers(threads, &Step)?;
        Ok(found.into_iter().collect())
    })
}
