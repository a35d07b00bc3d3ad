//! `entasis repair`: saves the intact values of a damaged file.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use entasis::WriteOptions;

use crate::clobber::ClobberArgs;
use crate::failure::{Outcome, say};
use crate::limits::LimitArgs;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape};

const EXAMPLES: &str = "Examples:
  entasis repair damaged.entasis repaired.entasis
  entasis verify damaged.entasis; entasis repair damaged.entasis repaired.entasis

Damaged places are listed on standard error. The exit status is 0 if the new file was written.";

/// Write the intact values of a damaged file to a new file
///
/// Values of damaged blocks are missing there. Damaged labels, categories and parts of trees cannot
/// be missing: no file is then written. Of a file that was cut, the newest whole generation is
/// written. The damaged file is not changed. A new file gets its mode.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The damaged file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file to write; one that exists is replaced
    #[arg(value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    clobber: ClobberArgs,
    /// Seconds to wait for another writer of OUT
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    wait: u32,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let (from, to) = (args.file.to_string_lossy(), args.out.to_string_lossy());
    let options = WriteOptions {
        threads: args.threads,
        wait: Duration::from_secs(args.wait.into()),
        must_be_new: args.clobber.must_be_new(),
        ..WriteOptions::default()
    };
    let survey = {
        let watch = Watch::new(format!("repairing {}", escape(&from)));
        args.limits.open_whole(&args.file)?.repair(&args.out, &options, &watch)?
    };
    for damage in &survey.damages {
        say(&format!("{from}: {}", damage.describe(0)));
    }
    let n_more = survey.n_damages - survey.damages.len() as u64;
    if n_more > 0 {
        say(&format!("{from}: and {}", count(n_more, "more damaged place")));
    }
    writeln!(
        out,
        "{}: written ({} in {})",
        escape(&to),
        count(survey.n_damages, "damaged place"),
        escape(&from)
    )?;
    Ok(())
}
