//! `entasis sniff`: how a text file is written.

use std::io::Write;
use std::path::PathBuf;

use entasis::Error;
use entasis_csv::problems::OnError;
use entasis_csv::{Job, Outcome as Read};

use crate::csv::{self, CsvArgs};
use crate::failure::Outcome;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::escape;

const EXAMPLES: &str = "Examples:
  entasis sniff flights.csv
  entasis sniff --json flights.csv > flights.json
  entasis convert --spec flights.json flights.csv flights.entasis
  entasis sniff --all-rows flights.csv

Types hold for the first 10,000 rows, or for all with --all-rows.";

/// The rows whose types are found.
const ROWS: u64 = 10_000;

/// Find out how a text file (CSV) is written, and the types of its columns
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A text file, or - for the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the spec as JSON, for `entasis convert --spec`
    #[arg(long)]
    json: bool,
    /// Read the whole text
    #[arg(long)]
    all_rows: bool,
    #[command(flatten)]
    csv: CsvArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let mut options = args.csv.options()?;
    options.on_error = OnError::Missing;
    let watch = Watch::new("sniffing");
    let mut job = Job::open(csv::origin(&args.file), &options)?;
    job.plan.has_header = job.sniffed.header.is_header;
    if !args.all_rows {
        job.plan.rows = Some(0..ROWS);
    }
    let table = match job.read(&watch)? {
        Read::Table(table) => table,
        Read::Refused(refused) => return Err(job.error(&refused).into()),
    };
    let spec = job.spec(&table);
    if args.json {
        out.write_all(spec.to_json().as_bytes())?;
        return Ok(());
    }
    let style = out.style();
    if let Some(compression) = job.compression() {
        writeln!(out, "{:<12}{compression}", "compression")?;
    }
    writeln!(out, "{:<12}{}", "encoding", job.encoding())?;
    for reason in &job.sniffed.reasons {
        let confidence = format!("{:.0} %", 100.0 * reason.confidence);
        let why = style.dim(&format!("{} ({confidence})", reason.reason));
        writeln!(out, "{:<12}{:<8}{why}", reason.what, escape(&reason.value))?;
    }
    writeln!(out)?;
    let width = table.columns.iter().map(|column| escape(&column.name).chars().count()).max().unwrap_or(0);
    for column in &table.columns {
        writeln!(out, "{:<width$}  {}", escape(&column.name), column.of.name())?;
    }
    if table.problems.n > 0 {
        let error = Error::text(format!("{} places do not fit", table.problems.n));
        csv::warn(&[error.to_string()]);
    }
    Ok(())
}
