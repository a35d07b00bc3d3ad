//! `entasis verify`: checks that every byte is unchanged since it was written.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use entasis::{Error, Kind, Report};

use crate::failure::Outcome;
use crate::json::Object;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

const EXAMPLES: &str = "Examples:
  entasis verify flights.entasis
  entasis verify backup/*.entasis && echo all is well
  entasis verify --json *.entasis | jq 'select(.sound | not)'

A damaged file is reported on standard error with the place of the damage. The exit status is then 1.";

/// Check that every byte of the files is unchanged since it was written
///
/// Reads the whole file: verifies every checksum, decodes every value, and checks bytes that no
/// reader needs, such as padding. Changes nothing.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Entasis files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object per file, on a line of its own
    #[arg(long)]
    json: bool,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    crate::for_each(&args.files, out, |path, out| one(path, args, out))
}

fn one(path: &Path, args: &Args, out: &mut Out) -> Outcome {
    let name = path.to_string_lossy();
    let started = Instant::now();
    let report = {
        let watch = Watch::new(format!("checking {}", escape(&name)));
        crate::open(path).and_then(|file| file.verify(args.threads, &watch))
    };
    if args.json {
        match &report {
            Ok(report) => writeln!(out, "{}", sound_json(&name, report))?,
            Err(error) if error.kind() == Kind::Interrupted => {}
            Err(error) => writeln!(out, "{}", failed_json(&name, error))?,
        }
    }
    let report = report?;
    if !args.json {
        let seconds = started.elapsed().as_secs_f64();
        writeln!(
            out,
            "{}: sound ({}, {}, {}, {}; checked in {seconds:.2} s)",
            escape(&name),
            count(report.n_columns, "column"),
            count(report.n_blocks, "block"),
            count(report.n_values, "value"),
            size(report.checked_len),
        )?;
    }
    Ok(())
}

fn sound_json(name: &str, report: &Report) -> String {
    Object::new()
        .text("file", name)
        .raw("sound", true)
        .raw("n_columns", report.n_columns)
        .raw("n_blocks", report.n_blocks)
        .raw("n_values", report.n_values)
        .raw("checked_len", report.checked_len)
        .end()
}

fn failed_json(name: &str, error: &Error) -> String {
    let place = error.place();
    let message = match error.io_source() {
        Some(source) => format!("{}: {source}", error.message()),
        None => error.message().to_owned(),
    };
    let mut object = Object::new()
        .text("file", name)
        .raw("sound", false)
        .text("kind", kind_name(error.kind()))
        .text("message", &message)
        .maybe_text("section", place.section)
        .maybe_text("column", place.column.as_deref());
    for (key, number) in [("block", place.block), ("page", place.page), ("offset", place.at)] {
        object = match number {
            Some(number) => object.raw(key, number),
            None => object.raw(key, "null"),
        };
    }
    object.end()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Io(_) => "io",
        Kind::NotEntasis => "not_entasis",
        Kind::Newer => "newer",
        Kind::Corrupt => "corrupt",
        Kind::Unsupported => "unsupported",
        Kind::Limit => "limit",
        Kind::OutOfMemory => "out_of_memory",
        _ => "other",
    }
}
