//! `entasis rollback`: goes back to an earlier generation.

use std::path::PathBuf;

use crate::change::ChangeArgs;
use crate::failure::Outcome;
use crate::open::at_generation;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis generations flights.entasis
  entasis rollback flights.entasis 3

The newer generations stay in the file, so another rollback undoes this one.";

/// Go back to an earlier generation of a file
///
/// The file gets a new generation with the value of the earlier one. No values are written. The
/// earlier generation is verified first: a damaged one is an error, and the file stays as it was.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An Entasis file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The number of the generation, as `entasis generations` lists it
    #[arg(value_name = "GENERATION")]
    generation: u64,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.change.change_and_report(
        &args.file,
        format!("checking generation {}", args.generation),
        out,
        |watch| {
            let options = args.change.options();
            let change = args.change.begin(&args.file, &options, watch)?;
            at_generation(change.file(), args.generation)?;
            change.rollback(args.generation, &options, watch)?;
            Ok(())
        },
    )
}
