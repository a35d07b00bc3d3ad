//! `entasis replace`: replaces columns by those of another file.

use std::collections::HashMap;

use entasis::{ColumnSource, Error, File, Operation};

use crate::failure::Outcome;
use crate::names::no_column;
use crate::new_columns::{self, NewColumns, Verb};
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis replace flights.entasis corrected.entasis
  entasis replace --columns delay flights.entasis corrected.entasis

Columns of FILE are replaced by those of the same names, of any type. Names that FILE lacks are refused; `entasis add` \
adds them. The old values stay in the file until `entasis compact` drops them.

Both files have the same number of rows, whose order stays, and are of the same library. Attributes and metadata are \
those of FILE. Nested columns, columns of objects, and labels that are not text are replaced in Python and R.";

/// Replace columns of a table by those of another file
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
        doing: "replacing columns",
        operation: Operation::ReplaceColumns,
        python: "use en.replace_columns in Python",
        r: "use replace_columns_entasis in R",
        sources,
    };
    new_columns::run(&args.new, &verb, out)
}

/// The columns of the file, with new ones in place of old ones of the same names.
fn sources(file: &File, old: &[String], new: &[String]) -> entasis::Result<Vec<ColumnSource>> {
    let mut sources: Vec<_> = (0..old.len()).map(ColumnSource::Kept).collect();
    let mut indices: HashMap<&String, Vec<usize>> = HashMap::new();
    for (index, name) in old.iter().enumerate() {
        indices.entry(name).or_default().push(index);
    }
    for (from, name) in new.iter().enumerate() {
        match indices.get(name).map(Vec::as_slice) {
            Some(&[index]) => {
                if let Some(source) = sources.get_mut(index) {
                    *source = ColumnSource::New(from);
                }
            }
            Some(_) => {
                return Err(Error::argument("the file has several columns of this name").in_column(name));
            }
            None => return Err(no_column(file, name)),
        }
    }
    Ok(sources)
}
