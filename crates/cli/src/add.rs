//! `entasis add`: adds columns of another file.

use std::collections::HashSet;

use entasis::{ColumnSource, Error, File, Operation};

use crate::failure::Outcome;
use crate::new_columns::{self, NewColumns, Verb};
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis add flights.entasis delays.entasis
  entasis add --columns delay,reason flights.entasis delays.entasis

The new columns come after those of FILE. Names that FILE has are refused; `entasis replace` replaces them.

Both files have the same number of rows, whose order stays, and are of the same library. Attributes and metadata are \
those of FILE. Nested columns, columns of objects, and labels that are not text are added in Python and R.";

/// Add columns of another file to a table
///
/// The other columns are neither read nor written. Reads the new ones into memory.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    new: NewColumns,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let verb = Verb {
        doing: "adding columns",
        operation: Operation::AddColumns,
        python: "use en.add_columns in Python",
        r: "use add_columns_entasis in R",
        sources,
    };
    new_columns::run(&args.new, &verb, out)
}

/// All columns of the file, then the new ones.
fn sources(_: &File, old: &[String], new: &[String]) -> entasis::Result<Vec<ColumnSource>> {
    let known: HashSet<&String> = old.iter().collect();
    if let Some(name) = new.iter().find(|name| known.contains(name)) {
        let error = Error::argument("the file has a column of this name already").in_column(name);
        return Err(error.advise("`entasis replace` replaces it"));
    }
    let old = (0..old.len()).map(ColumnSource::Kept);
    Ok(old.chain((0..new.len()).map(ColumnSource::New)).collect())
}
