//! `entasis convert`: text files and files of R to an Entasis file, and Entasis files to text and
//! RDS.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use entasis::{Durable, Error, MAGIC, WriteOptions, has_name_of_text};
use entasis_csv::problems::{OnError, Problems};
use entasis_csv::source::Origin;
use entasis_csv::{Job, Outcome as Read};

use crate::change::parse_seconds;
use crate::csv::{self, CsvArgs};
use crate::failure::{Failure, Outcome};
use crate::from_r;
use crate::lend::store;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};
use crate::to_r;
use crate::to_text;

const EXAMPLES: &str = "Examples:
  entasis convert flights.csv flights.entasis
  entasis convert --sep ';' --decimal , umsatz.csv umsatz.entasis
  entasis convert --on-error skip --problems bad.csv big.csv.gz big.entasis
  entasis convert --id file --dates day=%d.%m.%Y sales-*.csv sales.entasis
  zcat flights.csv.gz | entasis convert - flights.entasis
  entasis convert flights.entasis flights.csv
  entasis convert --sep ';' --columns day,delay flights.entasis days.csv.gz
  entasis convert model.rds model.entasis
  entasis convert flights.entasis flights.rds

Several texts are one table: all have the same columns. gzip, BGZF, bzip2, xz and Zstandard are recognised by their content. The type of a column is the narrowest that \
holds all its values. Memory does not grow with the text. A text whose types change late is read twice.

RDS, RData, qs2, qdata and fst are recognised by their content too. Their values are read whole, nothing in them is run, and what R has \
comes back exactly. An RDS file has what read_entasis() gives in R. It is compressed with gzip, with -c 0 not at \
all, from -c 80 on with xz.";

/// Write text files (CSV) or a file of R into an Entasis file, or an Entasis file as a text
///
/// The file takes its place only when all rows are written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Text files, patterns in quotes such as 'sales-*.csv', - for the standard input, or one file
    /// of R or of Entasis
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// The Entasis file to write. If IN is an Entasis file: an RDS file, or the text, gzip for .gz,
    /// Zstandard for .zst, and - for the standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The name of a first column in addition, with the path of the text of each row
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// The rows to write, from START on and before STOP. Each may be absent
    #[arg(long, value_name = "START:STOP", value_parser = parse_rows)]
    rows: Option<Range<u64>>,
    /// Write places that do not fit into this file, as CSV
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// The compression, 0 (raw) to 100 (smallest), of all columns or of one: price=90. May be
    /// repeated [default: 50]
    #[arg(short, long, value_name = "[NAME=]C", value_parser = parse_compression)]
    compression: Vec<(Option<String>, u8)>,
    /// How long to wait for another writer of OUT
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_seconds)]
    wait: f64,
    /// Don't wait for the disk: after a power failure OUT may be damaged
    #[arg(long)]
    no_sync: bool,
    /// Keep functions of a file of R as data, which is never run. Without it they are refused
    #[arg(long)]
    functions: bool,
    #[command(flatten)]
    csv: CsvArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let durable = if args.no_sync { Durable::Never } else { Durable::default() };
    if let [input] = &args.inputs[..]
        && to_r::is_rds(&args.output)
        && (to_text::is_entasis(input) || entasis_convert::detect(input).is_some())
    {
        return to_rds(args, input, durable, out);
    }
    if let [input] = &args.inputs[..]
        && to_text::is_entasis(input)
    {
        return from_file(args, input, durable, out);
    }
    if let [input] = &args.inputs[..]
        && entasis_convert::detect(input).is_some()
    {
        return from_r_file(args, input, durable, out);
    }
    if args.functions {
        return Err(Failure::Other("--functions is for files of R".to_owned()));
    }
    let mut options = args.csv.options()?;
    if args.rows.is_some() && options.on_error == OnError::Skip {
        let message = "--rows counts all rows: choose other rows, or another --on-error";
        return Err(Failure::Other(message.to_owned()));
    }
    options.id.clone_from(&args.id);
    options.rows.clone_from(&args.rows);
    let write = write_options(args, durable);
    let origins = csv::origins(&args.inputs)?;
    // The texts are read while the file is written.
    let paths = origins.iter().filter_map(|(_, origin)| match origin {
        Origin::Path(path) => Some(path.as_path()),
        _ => None,
    });
    let problems = args.problems.as_deref();
    for one in paths {
        for other in [Some(args.output.as_path()), problems].into_iter().flatten() {
            differ(one, other)?;
        }
    }
    if let Some(problems) = problems {
        differ(&args.output, problems)?;
    }
    refuse_other(&args.output)?;
    let is_single = origins.len() == 1;
    let label = match &origins[..] {
        [(name, _)] => format!("converting {}", escape(name)),
        _ => format!("converting {}", count(origins.len() as u64, "text")),
    };
    let found = {
        let watch = Watch::new(label);
        let mut job = Job::open_all(origins, &options)?;
        match store(&mut job, &args.output, &write, &watch)? {
            Read::Table(table) => table,
            Read::Refused(refused) => {
                if let Some(path) = problems {
                    write_problems(path, &refused.problems, &refused.names, is_single)?;
                }
                return Err(job.error(&refused).into());
            }
        }
    };
    csv::warn(&found.warnings);
    if let Some(path) = problems {
        write_problems(path, &found.problems, &found.names, is_single)?;
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

fn write_options(args: &Args, durable: Durable) -> WriteOptions {
    let of_column = |(name, c): &(Option<String>, u8)| Some((name.clone()?, *c));
    WriteOptions {
        compression: args.compression.iter().rev().find(|(name, _)| name.is_none()).map(|(_, c)| *c),
        column_compression: args.compression.iter().filter_map(of_column).collect(),
        threads: args.csv.threads,
        durable,
        wait: Duration::from_secs_f64(args.wait),
        ..WriteOptions::default()
    }
}

/// Writes a file of R as an Entasis file, or as a text if OUT names one.
fn from_r_file(args: &Args, input: &Path, durable: Durable, out: &mut Out) -> Outcome {
    if args.output == Path::new("-") || has_name_of_text(&args.output) {
        return from_file(args, input, durable, out);
    }
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (args.rows.is_some(), "--rows"),
        (args.csv.selects(), "--columns and --drop"),
    ];
    if let Some((_, option)) = others.iter().find(|(is_given, _)| *is_given) {
        let message = format!("{option}: not for {}, a file of R, which is read whole", input.display());
        return Err(Failure::Other(message));
    }
    args.csv.format()?;
    differ(input, &args.output)?;
    refuse_other(&args.output)?;
    from_r::run(input, &args.output, args.functions, &write_options(args, durable), out)
}

/// Writes an Entasis file, or a file of R, as an RDS file.
fn to_rds(args: &Args, input: &Path, durable: Durable, out: &mut Out) -> Outcome {
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (args.rows.is_some(), "--rows"),
        (args.functions, "--functions"),
        (args.csv.selects(), "--columns and --drop"),
        (args.compression.iter().any(|(name, _)| name.is_some()), "--compression of a column"),
    ];
    if let Some((_, option)) = others.iter().find(|(is_given, _)| *is_given) {
        let message =
            format!("{option}: not for an RDS file, into which {} is written whole", input.display());
        return Err(Failure::Other(message));
    }
    args.csv.format()?;
    differ(input, &args.output)?;
    let compression = args.compression.last().map(|(_, compression)| *compression);
    to_r::run(input, &args.output, compression, args.csv.threads, durable, out)
}

/// Writes an Entasis file as a text.
fn from_file(args: &Args, input: &Path, durable: Durable, out: &mut Out) -> Outcome {
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (!args.compression.is_empty(), "--compression"),
    ];
    if let Some((_, option)) = others.iter().find(|(is_given, _)| *is_given) {
        let message =
            format!("{option} is for texts that are read, and {} is an Entasis file", input.display());
        return Err(Failure::Other(message));
    }
    differ(input, &args.output)?;
    to_text::run(input, &args.output, args.rows.as_ref(), &args.csv, durable, out)
}

/// Rows from the first one on: START:STOP, where each may be absent.
fn parse_rows(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str, default| match text.replace('_', "").as_str() {
        "" => Ok(default),
        digits => digits.parse().map_err(|_| format!("{text:?} is not a number of rows from the start")),
    };
    let (start, stop) = text.split_once(':').ok_or("write START:STOP, such as 1000:1010")?;
    let (start, stop) = (number(start, 0)?, number(stop, u64::MAX)?);
    if stop < start { Err("STOP is before START".to_owned()) } else { Ok(start..stop) }
}

/// A compression, after the name of a column or alone.
fn parse_compression(text: &str) -> Result<(Option<String>, u8), String> {
    let (name, number) = match text.rsplit_once('=') {
        Some((name, number)) => (Some(name.to_owned()), number),
        None => (None, text),
    };
    match number.parse() {
        Ok(compression @ 0..=100) => Ok((name, compression)),
        _ => Err(format!("{number:?} is not an integer from 0 to 100")),
    }
}

/// Returns an error if two paths name one file.
fn differ(one: &Path, other: &Path) -> Outcome {
    if !is_same(one, other) {
        return Ok(());
    }
    Err(Failure::Other(format!("{} and {} are the same file", one.display(), other.display())))
}

/// Returns an error if `path` is a file of another format. A command without its last word would
/// replace a text.
fn refuse_other(path: &Path) -> Outcome {
    let mut start = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
        && file.take(MAGIC.len() as u64).read_to_end(&mut start).is_ok()
        && !start.is_empty()
        && start != MAGIC
    {
        let message = format!(
            "{} exists and is not an Entasis file: remove it, or pass another OUT after the texts",
            path.display()
        );
        return Err(Failure::Other(message));
    }
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

/// Writes problems as CSV. Those of several texts have the name of their text.
fn write_problems(
    path: &Path,
    problems: &Problems,
    names: &[String],
    is_single: bool,
) -> entasis::Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "row,line,byte,column,text,expected{}", if is_single { "" } else { ",file" })?;
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        for problem in &problems.kept {
            let column = problem.column.and_then(|column| names.get(column)).map(|name| quoted(name));
            let of_text = match &problem.file {
                Some(name) if !is_single => format!(",{}", quoted(name)),
                _ => String::new(),
            };
            writeln!(
                file,
                "{},{},{},{},{},{}{of_text}",
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
