//! `entasis rename`: renames a column.

use std::path::PathBuf;

use entasis::{Error, Operation};
use entasis_dataset::column_labels;

use crate::change::{self, ChangeArgs};
use crate::failure::Outcome;
use crate::names::find_to_change;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis rename flights.entasis delay delay_minutes

All columns of the old name are renamed. The first change of a file of less than about 1 MiB copies it.

Files whose labels of columns are not text are changed in Python, frames with groups or keys in R.";

/// Rename a column of a table
///
/// Values are neither read nor written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An Entasis file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The name of the column
    #[arg(value_name = "OLD")]
    old: String,
    /// The new name
    #[arg(value_name = "NEW")]
    new: String,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.change.change_and_report(&args.file, "renaming a column", out, |watch| {
        let options = args.change.options();
        let (python, r) = ("use en.rename_columns in Python", "rename it in R, and write the file again");
        let (change, host) = args.change.begin_columns(&args.file, &options, watch, python, r)?;
        let file = change.file();
        let indices = find_to_change(file, &args.file, &args.old, "en.rename_columns")?;
        if args.new != args.old && !file.find_all(&args.new)?.is_empty() {
            let error = Error::argument("the file has a column of the new name already");
            return Err(error.in_file(&args.file).in_column(&args.new).advise("choose another name").into());
        }
        let mut names = change::names(file)?;
        for index in indices {
            if let Some(name) = names.get_mut(index) {
                name.clone_from(&args.new);
            }
        }
        let labels = column_labels::renamed(&host, &names);
        let columns = names.into_iter().enumerate().collect();
        change::set_columns(change, columns, labels, Operation::RenameColumns, &options, watch)?;
        Ok(())
    })
}
