//! The arguments of `entasis convert`.

use std::ops::Range;
use std::path::PathBuf;

use crate::change::parse_seconds;
use crate::clobber::ClobberArgs;
use crate::csv::CsvArgs;
use crate::format::Format;
use crate::level::{self, Level};
use crate::secrets::SecretArgs;

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
  entasis convert flights.parquet flights.entasis
  entasis convert --strict --verify flights.entasis flights.parquet
  entasis convert --where \"delay > 60\" flights.parquet late.feather
  entasis convert --to jsonl flights.arrow - | jq .delay

The format of IN is that of its first bytes, then of its name; that of OUT is that of its name. Every format of IN goes with every \
format of OUT, except that R writes RData, qs2, qdata and fst. Parquet, Arrow, Feather, JSON lines, NPY and NPZ, --where, --verify, and --strict for texts need the command of the Python \
package, and pyarrow (pip install 'entasis[all]'). What OUT can't hold is listed by column.

Several files of text, Parquet, Arrow or Feather are one table: all texts have the same columns. gzip, BGZF, bzip2, xz and Zstandard are recognised by their content. The type of a column is the narrowest that \
holds all its values. Memory does not grow with the text. A text whose types change late is read twice.

RDS, RData, qs2, qdata and fst are recognised by their content too. Nothing in them is run, and what R has comes back exactly. \
Memory does not grow with a file of fst; the others are read whole. An RDS file has what read_entasis() gives in R.";

/// Convert files of one format into a file of another: text, Parquet, Arrow, R and others
///
/// OUT takes its place only when all rows are written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A file; several files of text, Parquet, Arrow or Feather; patterns in quotes such as
    /// 'sales-*.csv'; a folder of Parquet files; or - for the standard input
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write. A text is compressed if its name ends with .gz or .zst. - is the standard
    /// output, for a text, JSON lines or a stream of Arrow
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format of IN [default: by its first bytes, then by its name]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) from: Option<Format>,
    /// The format of OUT: entasis, csv, parquet, arrow, arrow_stream, feather, npy, npz, jsonl or
    /// rds [default: by its name]
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
    /// price=90. May be repeated [default: 50]. Of other files none, snappy, gzip, brotli, lz4,
    /// zstd or xz, if they have it
    #[arg(short, long, value_name = "[NAME=]C", value_parser = level::parse)]
    pub(crate) compression: Vec<Level>,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
    #[command(flatten)]
    pub(crate) clobber: ClobberArgs,
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
