//! `entasis select`, `entasis count` and `entasis sample`: rows by a condition, or at random.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use entasis::{Error, File, Monitor};
use entasis_query::{Plan, Scan};

use crate::clobber::ClobberArgs;
use crate::copy::copy;
use crate::failure::Outcome;
use crate::found::{Found, predicate};
use crate::fst;
use crate::head::{self, PrintArgs};
use crate::limits::parse_n_rows;
use crate::open::OpenArgs;
use crate::output::Out;
use crate::progress::Watch;
use crate::row_set::RowSet;
use crate::text::{count, escape, thousands};
use crate::to_text;

const EXAMPLES: &str = "Examples:
  entasis select flights.entasis --where \"delay > 60 and carrier in ('LX', 'OS')\"
  entasis select flights.entasis --where \"day between '2024-01-05' and '2024-01-07'\" --columns day,delay
  entasis select flights.entasis --where \"not cancelled and tail is not null\" --json | jq .tail
  entasis select flights.entasis --where \"delay > 60\" --to entasis --output late.entasis
  entasis select flights.entasis --where \"delay > 60\" --to csv --output late.csv.gz
  entasis select flights.entasis --where \"\\\"air time\\\" < 30\" --explain

Conditions: = != < <= > >=, in (...), between ... and ..., like 'x%_', is null, is nan, a column of booleans, and, or, \
not, parentheses. Texts and times stand in single quotes, columns with other characters than letters, digits, points \
and underscores in double quotes. A comparison with a missing value is unknown, and leaves the row out.";

/// The rows of the default table.
const TABLE: u64 = 100;

/// Show the rows for which a condition is true
///
/// Statistics decide first which parts of the file are read.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The condition, as after WHERE in SQL [default: all rows]
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<String>,
    /// The greatest number of rows [default: 100 in a printed table, otherwise all]
    #[arg(short = 'n', long, alias = "n-rows", value_name = "N", value_parser = parse_n_rows)]
    limit: Option<u64>,
    /// Print how many rows statistics decide, and no rows
    #[arg(long, conflicts_with_all = ["json", "limit", "to"])]
    explain: bool,
    /// The form of the rows: a printed table, JSON (as --json), a text with commas and a header, or
    /// an Entasis file with the same types and labels [default: table]
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    to: Option<Form>,
    /// The file for `--to entasis` and `--to csv`; one that exists is replaced. A text whose name
    /// ends with .gz or .zst is compressed [default for csv: the standard output]
    #[arg(long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    clobber: ClobberArgs,
    /// Write the values of lists and structs as JSON with `--to csv`, where they are refused
    /// otherwise
    #[arg(long, value_name = "FORM")]
    nested: Option<crate::nested_text::Form>,
    #[command(flatten)]
    print: PrintArgs,
}

/// The form of the rows that are found.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A table for people
    Table,
    /// A JSON object per row
    Json,
    /// A text file, which `entasis convert` reads
    Csv,
    /// An Entasis file
    Entasis,
}

/// Print the number of rows, or of those for which a condition is true
#[derive(clap::Args)]
#[command(after_help = "Example:\n  entasis count flights.entasis --where \"delay > 60\"")]
pub(crate) struct CountArgs {
    /// A file of Entasis or R, a folder of Entasis files, the address of one of them on a store, a
    /// file that `entasis convert` takes, or - for the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The condition, as for `entasis select`
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<String>,
    /// Threads to read with [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    open: OpenArgs,
}

/// Show rows that are drawn at random, in the order of the file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  entasis sample flights.entasis -n 20 --seed 1")]
pub(crate) struct SampleArgs {
    /// The number of rows; all rows, if the table has no more
    #[arg(
        short = 'n', long, alias = "n-rows", value_name = "N", value_parser = parse_n_rows,
        default_value_t = 10
    )]
    limit: u64,
    /// Equal seeds give equal rows [default: other rows each time]
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    print: PrintArgs,
}

/// Runs `entasis select`.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    use std::io::Write;

    let mut print = args.print.clone();
    print.json |= args.to == Some(Form::Json);
    let output = output(args)?;
    if let Some(path) = output {
        args.clobber.check(path)?;
    }
    let is_printed = matches!(args.to, None | Some(Form::Table)) && !print.json;
    let limit = args.limit.unwrap_or(if is_printed { TABLE } else { u64::MAX });
    let fst = if args.explain { None } else { print.read.open.open_fst(&print.file)? };
    let (file, n_rows) = match fst {
        Some(parts) => {
            let n_rows = parts.n_rows();
            let file = match &args.condition {
                Some(condition) => fst::tested(&parts, Some(print.names()), condition)?,
                None => fst::part(&parts, print.names(), 0..limit.min(n_rows))?,
            };
            (Arc::new(file), n_rows)
        }
        None => {
            let file = Arc::new(print.read.open.open_table(&print.file)?);
            let n_rows = file.n_rows();
            (file, n_rows)
        }
    };
    if args.explain {
        return explain(&file, args.condition.as_deref(), out);
    }
    let mut found = Found::new(&file, args.condition.as_deref(), limit, print.read.threads)?;
    if args.to == Some(Form::Csv) {
        let indices = print.indices(&file)?;
        let info = |column| file.column(column as u64).map(Arc::unwrap_or_clone);
        let infos = indices.into_iter().map(info).collect::<entasis::Result<_>>()?;
        let has_labels = !print.has_no_index();
        let to = output.map(|path| (path, args.clobber.old_text()));
        let (n, n_columns) =
            to_text::write_found(&file, found, infos, has_labels, to, args.nested, print.read.threads)?;
        if let Some(path) = output {
            let shape = format!("{}, {}", count(n, "row"), count(n_columns, "column"));
            writeln!(out, "{}: {shape}", escape(&path.to_string_lossy()))?;
        }
        return Ok(());
    }
    if let Some(path) = output {
        let indices = print.indices(&file)?;
        let n_columns = indices.len() as u64;
        let n = copy(&file, found, indices, path, args.clobber, print.read.threads)?;
        let shape = format!("{}, {}", count(n, "row"), count(n_columns, "column"));
        writeln!(out, "{}: {shape}", escape(&path.to_string_lossy()))?;
        return Ok(());
    }
    if print.json {
        return head::print_lines(&file, found, 0..file.n_rows(), &print.read, out);
    }
    let mut shown = RowSet::default();
    let n_found = {
        let watch = Watch::new("filtering");
        while let Some(rows) = found.next() {
            shown.append(rows?);
            watch.check()?;
            watch.progress(found.n_tested(), file.n_rows());
        }
        shown.n() + found.n_beyond(&watch)?
    };
    let all = count(n_rows, "row");
    let note = match shown.n() {
        n if n < n_found && args.condition.is_some() => {
            format!("{} of {} that pass, of {all}; show more with -n", thousands(n), thousands(n_found))
        }
        n => format!("{} of {all}", thousands(n)),
    };
    head::print(&file, &shown, Some(note), &print, out)
}

/// The file to write, if the form is that of a file.
fn output(args: &Args) -> entasis::Result<Option<&Path>> {
    let wrong = |what: &'static str, advice| Err(Error::argument(what).advise(advice));
    let (is_entasis, is_text) = (args.to == Some(Form::Entasis), args.to == Some(Form::Csv));
    if args.nested.is_some() && !is_text {
        return wrong("--nested is for --to csv", "leave it out: the other forms have nested values");
    }
    match (is_entasis || is_text, &args.output) {
        (false, None) => Ok(None),
        (true, Some(_)) if is_entasis && args.print.has_no_index() => {
            wrong("--no-index is for printed rows", "leave it out: the labels are written to the new file")
        }
        (true, Some(path)) => {
            let same = (args.print.file.canonicalize(), path.canonicalize());
            if matches!(same, (Ok(a), Ok(b)) if a == b) {
                return wrong("the rows of a file cannot replace it", "name another file after --output");
            }
            Ok(Some(path))
        }
        (true, None) if is_text => Ok(None),
        (true, None) => wrong("--to entasis needs a file to write", "name it after --output"),
        (false, Some(_)) => {
            wrong("--output is for --to entasis and --to csv", "write --to entasis --output OUT")
        }
    }
}

fn explain(file: &File, condition: Option<&str>, out: &mut Out) -> Outcome {
    use std::io::Write;

    let n_rows = file.n_rows();
    let plan = match condition {
        None => Plan { n_rows, n_passed: n_rows, ..Plan::default() },
        Some(condition) => {
            let predicate = predicate(file, condition)?;
            Scan::new(file, &predicate)?.plan()
        }
    };
    writeln!(out, "{plan}")?;
    Ok(())
}

/// Runs `entasis count`.
pub(crate) fn run_count(args: &CountArgs, out: &mut Out) -> Outcome {
    use std::io::Write;

    let parts = args.open.open_fst(&args.file)?;
    if args.condition.is_none()
        && let Some(found) = args.open.folder(&args.file)?
    {
        writeln!(out, "{}", found.n_rows()?)?;
        return Ok(());
    }
    let n = match (&args.condition, parts) {
        (None, Some(parts)) => parts.n_rows(),
        (None, None) => match args.open.open_first(&args.file, 0)? {
            (_, Some(n)) => n,
            (_, None) => args.open.open_table(&args.file)?.n_rows(),
        },
        (Some(condition), parts) => {
            let file = match parts {
                Some(parts) => fst::tested(&parts, None, condition)?,
                None => args.open.open_table(&args.file)?,
            };
            let watch = Watch::new("counting");
            let predicate = predicate(&file, condition)?;
            Scan::new(&file, &predicate)?.count(args.threads, &watch)?
        }
    };
    writeln!(out, "{n}")?;
    Ok(())
}

/// Runs `entasis sample`.
pub(crate) fn run_sample(args: &SampleArgs, out: &mut Out) -> Outcome {
    let file = args.print.read.open.open_table(&args.print.file)?;
    let n_rows = file.n_rows();
    let mut random = args.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
    let rows = draw(n_rows, args.limit.min(n_rows), &mut random)?;
    let note = format!("{} at random of {}", thousands(rows.n()), count(n_rows, "row"));
    head::print(&file, &rows, Some(note), &args.print, out)
}

/// Draws `n` of `n_rows` rows, each at most once. Floyd's algorithm, from Bentley and Floyd: "A
/// sample of brilliance", 1987.
fn draw(n_rows: u64, n: u64, random: &mut fastrand::Rng) -> entasis::Result<RowSet> {
    if usize::try_from(n).is_err() {
        return Err(Error::argument("the sample has more rows than memory"));
    }
    let mut drawn = std::collections::BTreeSet::new();
    for last in n_rows - n..n_rows {
        let row = random.u64(0..=last);
        if !drawn.insert(row) {
            drawn.insert(last);
        }
    }
    Ok(drawn.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_each_row_once() {
        let mut random = fastrand::Rng::with_seed(1);
        for (n_rows, n) in [(0, 0), (1, 1), (10, 0), (10, 10), (1000, 7)] {
            let rows = draw(n_rows, n, &mut random).unwrap();
            assert_eq!(rows.n(), n);
            assert!(rows.ranges().all(|rows| rows.end <= n_rows));
        }
        let mut seen = [0; 4];
        for _ in 0..4000 {
            let rows = draw(4, 1, &mut random).unwrap();
            seen[rows.span().start as usize] += 1;
        }
        assert!(seen.iter().all(|&times| times > 800), "{seen:?}");
    }
}
