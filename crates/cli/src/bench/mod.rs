//! `entasis bench`: how fast this machine writes and reads, compared with filling memory.

mod compare;
mod floor;
mod headline;
mod scratch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use entasis::{ColumnInfo, Rows, WriteOptions};

use crate::array::{self, Array};
use crate::failure::{Failure, Outcome};
use crate::json::Object;
use crate::lend;
use crate::limits::LimitArgs;
use crate::nested;
use crate::output::Out;
use crate::progress::Watch;
use crate::table::{self, Column};
use crate::text::{count, escape, ratio, size};

use scratch::Scratch;

const EXAMPLES: &str = "Examples:
  entasis bench
  entasis bench --rows 50000000 --compression 1,50
  entasis bench flights.entasis --threads 4

Without FILE the table is generated, always with the same values: booleans (85 % true, 10 % false, 5 % missing), \
integers from 1 to 100, 20 different prices, and 10 cities as categories. Files are written to --dir and removed.

Times are medians of the rounds, in which the compressions take turns.

MB       of the file (1 MB is 10^6 bytes)
GB/s     bytes of the table in memory, per second
floor    time to copy these bytes to new memory with as many threads: a lower bound for every reader
x floor  time to read, as a multiple of the floor";

/// Measure how fast a table is written and read back
///
/// Before the measurement, the values read back are compared with those written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An Entasis file with the table to use; none: a generated table
    #[arg(value_name = "FILE", conflicts_with = "rows")]
    file: Option<PathBuf>,
    /// Rows of the generated table
    #[arg(long, value_name = "N", default_value = "10_000_000", value_parser = parse_rows)]
    rows: u64,
    /// Compressions to measure: 0 (raw) to 100 (smallest)
    #[arg(
        short, long, value_name = "C,C", value_delimiter = ',', default_value = "0,50,80",
        value_parser = clap::value_parser!(u8).range(0..=100)
    )]
    compression: Vec<u8>,
    /// The number of rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    /// Folder for the files [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object per compression, on a line of its own
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

fn parse_rows(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(0) => Err("the table to measure must have rows".to_owned()),
        Ok(n) => Ok(n),
        Err(error) => Err(format!("{error}")),
    }
}

/// The times measured at one compression.
struct Measured {
    compression: u8,
    file_len: u64,
    write: Vec<f64>,
    read: Vec<f64>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let watch = Watch::new("measuring");
    let (n_rows, table) = match &args.file {
        None => (args.rows, headline::table(args.rows, &watch)?),
        Some(path) => read_table(path, args, &watch)?,
    };
    let threads = args.threads.unwrap_or_else(entasis::default_threads);
    let scratch = Scratch::new(args.dir.as_deref());
    let mut all: Vec<Measured> = Vec::new();
    for &compression in &args.compression {
        let path = scratch.path();
        let options =
            WriteOptions { compression: Some(compression), threads: args.threads, ..WriteOptions::default() };
        lend::write(path, n_rows, &table, &options, &watch)?;
        let (_, back) = read_table(path, args, &watch)?;
        if let Some(problem) = compare::difference(&table, &back) {
            let message = format!("what was read back at compression {compression} differs: {problem}");
            return Err(Failure::Other(message));
        }
        let file_len = args.limits.open(path)?.file_len();
        scratch.clear();
        all.push(Measured { compression, file_len, write: Vec::new(), read: Vec::new() });
    }
    let mut floor = Vec::new();
    for round in 0..args.rounds {
        for measured in &mut all {
            watch.check()?;
            measure(measured, n_rows, &table, args, &scratch, &watch)?;
        }
        floor.push(floor::seconds(&table, threads)?);
        entasis::Monitor::progress(&watch, u64::from(round) + 1, u64::from(args.rounds));
    }
    drop(watch);
    let in_memory = table.iter().map(|array| array.len() as u64).sum();
    let report =
        Report { n_rows, n_columns: table.len() as u64, in_memory, floor: median(&mut floor), threads };
    if args.json { report.print_json(&mut all, out) } else { report.print(args, &mut all, out) }
}

/// Writes and reads once.
fn measure(
    measured: &mut Measured,
    n_rows: u64,
    table: &[Array],
    args: &Args,
    scratch: &Scratch,
    watch: &Watch,
) -> Outcome {
    let options = WriteOptions {
        compression: Some(measured.compression),
        threads: args.threads,
        ..WriteOptions::default()
    };
    let started = Instant::now();
    lend::write(scratch.path(), n_rows, table, &options, watch)?;
    measured.write.push(started.elapsed().as_secs_f64());
    let started = Instant::now();
    let back = read_table(scratch.path(), args, watch)?;
    measured.read.push(started.elapsed().as_secs_f64());
    drop(back);
    scratch.clear();
    Ok(())
}

/// All rows of all columns.
fn read_table(path: &Path, args: &Args, watch: &Watch) -> entasis::Result<(u64, Vec<Array>)> {
    let (file, threads) = (args.limits.open(path)?, args.threads);
    let columns: Vec<ColumnInfo> = file.columns(0..file.n_columns())?;
    let rows = Rows::All;
    let load_nested = |columns: &[&ColumnInfo]| nested::load(&file, columns, &rows, threads, watch);
    let mut arrays = array::load(&file, &columns, &rows, threads, watch, &load_nested)?;
    let categories = array::load_categories(&file, &columns, threads, watch)?;
    for (array, categories) in arrays.iter_mut().zip(categories) {
        array.categories = categories;
    }
    Ok((file.n_rows(), arrays))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    match (times.get(middle), times.len() % 2) {
        (Some(upper), 0) => (upper + times.get(middle.wrapping_sub(1)).unwrap_or(upper)) / 2.0,
        (Some(middle), _) => *middle,
        (None, _) => f64::NAN,
    }
}

/// The results, and the table that was measured.
struct Report {
    n_rows: u64,
    n_columns: u64,
    in_memory: u64,
    floor: f64,
    threads: usize,
}

impl Report {
    fn print(&self, args: &Args, all: &mut [Measured], out: &mut Out) -> Outcome {
        let style = out.style();
        let what = match &args.file {
            Some(path) => escape(&path.to_string_lossy()).into_owned(),
            None => "generated table".to_owned(),
        };
        writeln!(
            out,
            "{what}: {} x {}, {} in memory, {}, {}",
            count(self.n_rows, "row"),
            count(self.n_columns, "column"),
            size(self.in_memory),
            count(self.threads as u64, "thread"),
            count(args.rounds.into(), "round"),
        )?;
        writeln!(out)?;
        let mut columns = [
            "compression",
            "write s",
            "read s",
            "MB",
            "ratio",
            "write GB/s",
            "read GB/s",
            "floor s",
            "x floor",
        ]
        .map(|title| Column::right([title]));
        for measured in all {
            let (write, read) = (median(&mut measured.write), median(&mut measured.read));
            let cells = [
                measured.compression.to_string(),
                format!("{write:.3}"),
                format!("{read:.3}"),
                format!("{:.1}", measured.file_len as f64 / 1e6),
                ratio(self.in_memory, measured.file_len),
                format!("{:.2}", self.speed(write)),
                format!("{:.2}", self.speed(read)),
                format!("{:.3}", self.floor),
                format!("{:.1}", read / self.floor),
            ];
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.push(cell);
            }
        }
        table::print(columns.into(), style, out)?;
        Ok(())
    }

    fn print_json(&self, all: &mut [Measured], out: &mut Out) -> Outcome {
        for measured in all {
            let object = Object::new()
                .raw("compression", measured.compression)
                .raw("write_s", median(&mut measured.write))
                .raw("read_s", median(&mut measured.read))
                .raw("floor_s", self.floor)
                .raw("file_len", measured.file_len)
                .raw("memory_len", self.in_memory)
                .raw("n_rows", self.n_rows)
                .raw("n_columns", self.n_columns)
                .raw("threads", self.threads);
            writeln!(out, "{}", object.end())?;
        }
        Ok(())
    }

    /// GB of the table in memory per second.
    fn speed(&self, seconds: f64) -> f64 {
        self.in_memory as f64 / 1e9 / seconds
    }
}
