//! `entasis generations`: the states of a file that can still be read.

use std::io::Write;
use std::path::Path;

use entasis::{Generation, Unit};

use crate::calendar::{self, Form};
use crate::failure::Outcome;
use crate::files::FilesArgs;
use crate::json::{self, Object};
use crate::limits::LimitArgs;
use crate::output::{Out, WidthArgs};
use crate::table::{self, Column};
use crate::text::{size, thousands};

const EXAMPLES: &str = "Examples:
  entasis generations flights.entasis
  entasis generations --json flights.entasis | jq '.generations[-1].time'
  entasis head --generation 3 flights.entasis
  entasis rollback flights.entasis 3

time   when it was committed, in UTC; - when unknown, as after the first write
bytes  the length of the file with it

A change in place leaves the generations before it. Writing a file as a whole removes them.";

/// List the generations that a file still has, from the oldest on
///
/// Each change in place makes one. Reads no values.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    width: WidthArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.width.apply(out);
    args.files.for_each(out, |path, out| one(path, args, out))
}

fn one(path: &Path, args: &Args, out: &mut Out) -> Outcome {
    let generations = args.limits.open(path)?.generations()?;
    if args.files.json {
        let object = Object::new().text("file", &path.to_string_lossy());
        writeln!(out, "{}", object.raw("generations", json::array(generations.iter().map(to_json))).end())?;
        return Ok(());
    }
    args.files.print(path, out, |out| print(&generations, out))
}

fn print(generations: &[Generation], out: &mut Out) -> Outcome {
    let mut numbers = Column::right(["generation"]);
    let mut times = Column::left(["time"]);
    let mut operations = Column::left(["operation"]);
    let mut rows = Column::right(["rows"]);
    let mut bytes = Column::right(["bytes"]);
    for generation in generations {
        numbers.push(thousands(generation.number));
        times.push(time(generation, Unit::Millisecond).unwrap_or_else(|| "-".to_owned()));
        operations.push(generation.operation.name());
        rows.push(generation.n_rows.map_or_else(|| "-".to_owned(), thousands));
        bytes.push(size(generation.file_len));
    }
    table::print_all(vec![numbers, times, operations, rows, bytes], out.style(), out)?;
    Ok(())
}

/// The time of the commit as text, to the precision of this unit; `None` if unknown.
fn time(generation: &Generation, unit: Unit) -> Option<String> {
    let count =
        if unit == Unit::Millisecond { generation.time.div_euclid(1_000_000) } else { generation.time };
    (generation.time != 0).then(|| calendar::timestamp(count, unit, true, Form::Iso))
}

fn to_json(generation: &Generation) -> String {
    Object::new()
        .raw("generation", generation.number)
        .maybe_text("time", time(generation, Unit::Nanosecond).as_deref())
        .text("operation", generation.operation.name())
        .raw("n_rows", generation.n_rows.map_or_else(|| "null".to_owned(), |n| n.to_string()))
        .raw("file_len", generation.file_len)
        .end()
}
