//! `entasis convert`: files of one format into files of another.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use entasis::{Durable, Error, WriteOptions};
use entasis_csv::problems::{OnError, Problems};
use entasis_csv::{Job, Outcome as Read};

use crate::change::parse_seconds;
use crate::csv::{self, CsvArgs, is_stdin};
use crate::failure::{Failure, Outcome};
use crate::format::{Format, Source};
use crate::from_r;
use crate::hosted;
use crate::lend::store;
use crate::level::{self, Level};
use crate::output::Out;
use crate::progress::Watch;
use crate::target::{self, differ, refuse_other};
use crate::text::{count, escape, size};
use crate::through_host;
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
  entasis convert flights.parquet flights.entasis
  entasis convert --strict --verify flights.entasis flights.parquet
  entasis convert --where \"delay > 60\" flights.parquet late.feather
  entasis convert --to jsonl flights.arrow - | jq .delay

The format of IN is that of its first bytes, then of its name; that of OUT is that of its name. Every format of IN goes with every \
format of OUT, except that R writes its own. Parquet, Arrow, Feather, JSON lines, NPY and NPZ, --where, --verify, and --strict for texts need the command of the Python \
package, and pyarrow (pip install 'entasis[all]'). What OUT can't hold is listed by column.

Several texts or Parquet files are one table: all have the same columns. gzip, BGZF, bzip2, xz and Zstandard are recognised by their content. The type of a column is the narrowest that \
holds all its values. Memory does not grow with the text. A text whose types change late is read twice.

RDS, RData, qs2, qdata and fst are recognised by their content too. Their values are read whole, nothing in them is run, and what R has \
comes back exactly.";

/// Convert files of one format into a file of another: text, Parquet, Arrow, R and others
///
/// OUT takes its place only when all rows are written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A file; several texts or Parquet files; patterns in quotes such as 'sales-*.csv'; a folder of
    /// Parquet files; or - for the standard input
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write. A text is compressed if its name ends with .gz or .zst. - is the standard
    /// output, for a text, JSON lines or a stream of Arrow
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format of IN [default: by its first bytes, then by its name]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) from: Option<Format>,
    /// The format of OUT: entasis, csv, parquet, arrow, arrow_stream, feather, npy, npz or jsonl
    /// [default: by its name]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) to: Option<Format>,
    /// The name of a first column in addition, with the path of the text of each row
    #[arg(long, value_name = "NAME")]
    pub(crate) id: Option<String>,
    /// The rows to write, from START on and before STOP. Each may be absent
    #[arg(long, value_name = "START:STOP", value_parser = parse_rows)]
    pub(crate) rows: Option<Range<u64>>,
    /// The condition on the rows to write, as for `entasis select`
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) condition: Option<String>,
    /// Read OUT back and compare it with IN before it takes its place. Columns with a loss are not
    /// compared
    #[arg(long)]
    pub(crate) verify: bool,
    /// Fail if OUT can't hold everything, and write nothing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write places that do not fit into this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) problems: Option<PathBuf>,
    /// The compression of an Entasis file, 0 (raw) to 100 (smallest), of all columns or of one:
    /// price=90. May be repeated [default: 50]. Of other files none, snappy, gzip, brotli, lz4 or
    /// zstd, if they have it
    #[arg(short, long, value_name = "[NAME=]C", value_parser = level::parse)]
    pub(crate) compression: Vec<Level>,
    /// How long to wait for another writer of OUT
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_seconds)]
    pub(crate) wait: f64,
    /// Don't wait for the disk: after a power failure OUT may be damaged
    #[arg(long)]
    pub(crate) no_sync: bool,
    /// Keep functions of a file of R as data, which is never run. Without it they are refused
    #[arg(long)]
    pub(crate) functions: bool,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let durable = if args.no_sync { Durable::Never } else { Durable::default() };
    let paths = csv::expanded(&args.inputs)?;
    let source = source(args, &paths)?;
    let target = target::format(&args.output, args.to, source)?;
    // The inputs are read while the target is written.
    for one in paths.iter().filter(|path| !is_stdin(path)) {
        for other in [Some(args.output.as_path()), args.problems.as_deref()].into_iter().flatten() {
            differ(one, other)?;
        }
    }
    if let Some(problems) = &args.problems {
        differ(&args.output, problems)?;
    }
    refuse_other(&args.output, target, args.to, source)?;
    if let Some(work) = through_host::reason(args, &paths, source, target) {
        let host = hosted::required(&work)?;
        return through_host::run(args, paths, source, target, host, out);
    }
    match (source, &paths[..]) {
        (Source::Known(Format::Entasis), [input]) => from_file(args, input, durable, out),
        (Source::Known(form), [input]) if form.is_of_r() => from_r_file(args, input, target, durable, out),
        _ => from_text(args, paths, durable, out),
    }
}

/// The format of the inputs.
fn source(args: &Args, paths: &[PathBuf]) -> Outcome<Source> {
    if let Some(from) = args.from {
        return Ok(Source::Known(from));
    }
    let of = |path: &PathBuf| if is_stdin(path) { Source::of_stdin() } else { Source::of_file(path) };
    let Some((first, others)) = paths.split_first() else { return Ok(Source::Other) };
    let found = of(first);
    for other in others {
        if of(other) != found {
            let message = format!(
                "{} and {} have different formats: convert them one by one",
                first.display(),
                other.display()
            );
            return Err(Failure::Other(message));
        }
    }
    Ok(found)
}

/// Writes texts into an Entasis file.
fn from_text(args: &Args, paths: Vec<PathBuf>, durable: Durable, out: &mut Out) -> Outcome {
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
    let write = write_options(args, durable)?;
    let origins = csv::origins(paths);
    let problems = args.problems.as_deref();
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

fn write_options(args: &Args, durable: Durable) -> Outcome<WriteOptions> {
    let (compression, column_compression) = level::of_entasis(&args.compression)?;
    Ok(WriteOptions {
        compression,
        column_compression,
        threads: args.csv.threads,
        durable,
        wait: Duration::from_secs_f64(args.wait),
        ..WriteOptions::default()
    })
}

/// Writes a file of R as an Entasis file, or as a text.
fn from_r_file(args: &Args, input: &Path, target: Format, durable: Durable, out: &mut Out) -> Outcome {
    if target == Format::Csv {
        return from_file(args, input, durable, out);
    }
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (args.csv.selects(), "--columns and --drop"),
    ];
    refuse_given(&others, || format!("not for {}, a file of R, which is read whole", input.display()))?;
    args.csv.format()?;
    from_r::run(input, &args.output, args.functions, &write_options(args, durable)?, out)
}

/// Writes an Entasis file, or a file of R, as a text.
fn from_file(args: &Args, input: &Path, durable: Durable, out: &mut Out) -> Outcome {
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (!args.compression.is_empty(), "--compression"),
    ];
    refuse_given(&others, || format!("for texts that are read, and {} is no text", input.display()))?;
    to_text::run(input, &args.output, args.rows.as_ref(), &args.csv, durable, out)
}

/// Returns an error for the first option that is given.
pub(crate) fn refuse_given(options: &[(bool, &str)], why: impl Fn() -> String) -> Outcome {
    match options.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Failure::Other(format!("{option}: {}", why()))),
        None => Ok(()),
    }
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
