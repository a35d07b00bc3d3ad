//! `entasis drop`: drops columns.

use std::collections::HashSet;
use std::path::PathBuf;

use entasis::{Error, Operation};
use entasis_dataset::column_labels;

use crate::change::{self, ChangeArgs};
use crate::failure::Outcome;
use crate::names::find_to_change;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis drop flights.entasis delay carrier
  entasis drop --no-sync flights.entasis delay

All columns of a name are dropped. Their values stay in the file, and in its earlier generations, until `entasis \
compact` drops them.

Files whose labels of columns are not text are changed in Python, frames with groups or keys in R.";

/// Drop columns of a table
///
/// The values of the other columns are neither read nor written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An Entasis file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The names of the columns
    #[arg(required = true, value_name = "COLUMN")]
    columns: Vec<String>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.change.change_and_report(&args.file, "dropping columns", out, |watch| {
        let options = args.change.options();
        let (python, r) = ("use en.drop_columns in Python", "drop it in R, and write the file again");
        let (change, host) = args.change.begin_columns(&args.file, &options, watch, python, r)?;
        let file = change.file();
        let mut kept: Vec<(usize, String)> = change::names(file)?.into_iter().enumerate().collect();
        let mut dropped = HashSet::new();
        for name in &args.columns {
            dropped.extend(find_to_change(file, &args.file, name, "en.drop_columns")?);
        }
        kept.retain(|(index, _)| !dropped.contains(index));
        if kept.is_empty() {
            let error = Error::argument("a table keeps at least one column").in_file(&args.file);
            return Err(error.advise("name fewer columns").into());
        }
        let labels = column_labels::of_kept(&host);
        change::set_columns(change, kept, labels, Operation::DropColumns, &options, watch)?;
        Ok(())
    })
}
