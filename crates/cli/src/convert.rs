//! `entasis convert`: a text file to an Entasis file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use entasis::{Error, WriteOptions};
use entasis_csv::problems::Problems;
use entasis_csv::{Job, Outcome as Read};

use crate::csv::{self, CsvArgs};
use crate::failure::{Failure, Outcome};
use crate::lend::store;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

const EXAMPLES: &str = "Examples:
  entasis convert flights.csv flights.entasis
  entasis convert --sep ';' --decimal , umsatz.csv umsatz.entasis
  entasis convert --on-error skip --problems bad.csv big.csv.gz big.entasis
  zcat flights.csv.gz | entasis convert - flights.entasis

gzip, BGZF, bzip2, xz and Zstandard are recognised by their content. The type of a column is the narrowest that \
holds all its values. Memory does not grow with the text. A text whose types change late is read twice.";

/// Write the rows of a text file (CSV) into an Entasis file
///
/// The file takes its place only when all rows are written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A text file, or - for the standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The Entasis file to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Write places that do not fit into this file, as CSV
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// The compression: 0 (raw) to 100 (smallest) [default: 50]
    #[arg(short, long, value_name = "C", value_parser = clap::value_parser!(u8).range(0..=100))]
    compression: Option<u8>,
    #[command(flatten)]
    csv: CsvArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let options = args.csv.options()?;
    let write =
        WriteOptions { compression: args.compression, threads: args.csv.threads, ..WriteOptions::default() };
    // The text is read while its file is written.
    for (one, other) in [
        (Some(&args.input), Some(&args.output)),
        (Some(&args.input), args.problems.as_ref()),
        (Some(&args.output), args.problems.as_ref()),
    ] {
        if let (Some(one), Some(other)) = (one, other)
            && is_same(one, other)
        {
            let other = other.to_string_lossy();
            return Err(Failure::Other(format!("{} and {other} are the same file", one.display())));
        }
    }
    let name = args.input.to_string_lossy();
    let found = {
        let watch = Watch::new(format!("converting {}", escape(&name)));
        let mut job = Job::open(csv::origin(&args.input), &options)?;
        match store(&mut job, &args.output, &write, &watch)? {
            Read::Table(table) => table,
            Read::Refused(refused) => {
                if let Some(path) = &args.problems {
                    write_problems(path, &refused.problems, &refused.names)?;
                }
                return Err(job.error(&refused).into());
            }
        }
    };
    csv::warn(&found.warnings);
    if let Some(path) = &args.problems {
        write_problems(path, &found.problems, &found.names)?;
    }
    if found.problems.n > 0 {
        let what = count(found.problems.n, "place");
        let where_listed = if args.problems.is_some() { "" } else { ": --problems FILE lists them" };
        csv::warn(&[format!("{what} did not fit{where_listed}")]);
    }
    let len = std::fs::metadata(&args.output).map_err(|e| Error::io(e, "open").in_file(&args.output))?.len();
    let (rows, columns) = (count(found.n_rows, "row"), count(found.columns.len() as u64, "column"));
    writeln!(out, "{}: {rows} x {columns}, {}", escape(&args.output.to_string_lossy()), size(len))?;
    Ok(())
}

/// Whether two paths name one file, or one place where none is.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (std::fs::metadata(one), std::fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        // Devices such as /dev/null may be both.
        return one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let place = |path: &Path| {
        std::fs::canonicalize(path).or_else(|error| {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
            path.file_name().map(|name| folder.join(name)).ok_or(error)
        })
    };
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

/// Writes problems as CSV.
fn write_problems(path: &Path, problems: &Problems, names: &[String]) -> entasis::Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        writeln!(file, "row,line,byte,column,text,expected")?;
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        for problem in &problems.kept {
            let column = problem.column.and_then(|column| names.get(column)).map(|name| quoted(name));
            writeln!(
                file,
                "{},{},{},{},{},{}",
                problem.row,
                problem.line,
                problem.byte,
                column.unwrap_or_default(),
                quoted(&problem.text),
                quoted(&problem.expected)
            )?;
        }
        file.flush()
    };
    write().map_err(|error| Error::io(error, "write").in_file(path))
}
