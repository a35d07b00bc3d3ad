//! `entasis diff`: whether two files have the same table.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::csv::{expanded, is_stdin};
use crate::failure::{Failure, Outcome};
use crate::host::Request;
use crate::hosted;
use crate::output::Out;
use crate::secrets::SecretArgs;
use crate::text::escape;

const EXAMPLES: &str = "Examples:
  entasis diff flights.entasis flights.parquet
  entasis diff --key id old.csv new.csv
  entasis diff --columns day,delay --tolerance 0.5 old.entasis new.entasis
  entasis diff --json old.parquet new.parquet | jq .columns
  entasis diff old.entasis new.entasis > /dev/null || echo changed

Columns are matched by name, and rows by position or by --key. NaN equals NaN and differs from a missing value, and 0.0 from -0.0. \
By position, and by keys in ascending order, memory does not grow with the files. Needs the command of the Python package, and pyarrow.

Exit status: 0 the tables are equal; 1 they differ; 2 an error.";

/// Compare the tables of two files of any formats
///
/// Compares the types of the columns first, then the values.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A file of any format that `entasis convert` takes, or - for the standard input
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The other file
    #[arg(value_name = "B")]
    b: PathBuf,
    /// A column that identifies rows. May be repeated [default: the position of the row]
    #[arg(short, long, value_name = "NAME")]
    key: Vec<String>,
    /// The columns to compare [default: all]
    #[arg(short, long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// The greatest distance of floats that count as equal [default: they have the same bits]
    #[arg(long, value_name = "X", value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// How many differences to list at most. All are counted
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: u64,
    /// Print the differences as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    secrets: SecretArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let host = hosted::required("`entasis diff`")?;
    let paths = [args.a.clone(), args.b.clone()];
    if paths.iter().all(|path| is_stdin(path)) {
        // The error for a second use of the standard input.
        expanded(&paths)?;
    }
    let label =
        format!("comparing {} and {}", escape(&args.a.to_string_lossy()), escape(&args.b.to_string_lossy()));
    let request = Request {
        verb: "diff",
        inputs: hosted::inputs(&paths)?,
        output: None,
        options: options(args),
        secret: args.secrets.for_host(&paths)?,
    };
    let result = hosted::call(host, &request, label)?;
    let differs = result.get("differs").and_then(Value::as_bool);
    let (Some(differs), Some(Value::Array(lines))) = (differs, result.get("lines")) else {
        return Err(Failure::Other("the host compared nothing".to_owned()));
    };
    if differs {
        out.set_failed();
    }
    for line in lines.iter().filter_map(Value::as_str) {
        // JSON has escaped its control characters.
        if args.json { writeln!(out, "{line}")? } else { writeln!(out, "{}", escape(line))? }
    }
    Ok(())
}

fn options(args: &Args) -> Map<String, Value> {
    let names = |names: &[String]| (!names.is_empty()).then(|| Value::from(names.to_vec()));
    let given = [
        ("key", names(&args.key)),
        ("columns", names(&args.columns)),
        ("tolerance", args.tolerance.map(Value::from)),
        ("limit", Some(args.limit.into())),
        ("json", Some(args.json.into())),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(distance) if distance >= 0.0 && f64::is_finite(distance) => Ok(distance),
        _ => Err("a number, 0 or more".to_owned()),
    }
}
