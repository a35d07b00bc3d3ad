//! `entasis verify`: checks that every byte is unchanged since it was written.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

use entasis::{Damage, Error, Kind, Report, Survey};
use entasis_dataset::{Dataset, Whole};

use crate::failure::{Failure, Outcome, say};
use crate::files::FilesArgs;
use crate::folder;
use crate::json::Object;
use crate::limits::LimitArgs;
use crate::open::at_generation;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

const EXAMPLES: &str = "Examples:
  entasis verify flights.entasis
  entasis verify backup/*.entasis && echo all is well
  entasis verify --json *.entasis | jq 'select(.sound | not)'

A damaged file is reported on standard error with all damaged places, at most 100 of them. The exit
status is then 1, also if only an earlier generation is damaged. Rows count from 0.

Bytes that a change left which was interrupted or still goes on are no damage: their number is
reported, and the exit status is 0.";

/// Check that every byte of the files is unchanged since it was written
///
/// Reads the whole file, with all generations that can be read: verifies every checksum, decodes
/// every value, and checks bytes that no reader needs, such as padding. Changes nothing.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    files: FilesArgs,
    /// Check one generation alone; `entasis generations` lists them
    #[arg(long, value_name = "N")]
    generation: Option<u64>,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.files.for_each(out, |path, out| one(path, args, out))
}

fn one(path: &Path, args: &Args, out: &mut Out) -> Outcome {
    if let Some(found) = folder::open(path, args.generation, &args.limits)? {
        return folder(&found, args, out);
    }
    let name = path.to_string_lossy();
    let started = Instant::now();
    let surveyed = {
        let watch = Watch::new(format!("checking {}", escape(&name)));
        args.limits.open_whole(path).and_then(|file| match args.generation {
            Some(number) => at_generation(&file, number)?.survey_generation(args.threads, &watch),
            None => file.survey(args.threads, &watch),
        })
    };
    let mut survey = match surveyed {
        Ok(survey) => survey,
        Err(error) => {
            if args.files.json && error.kind() != Kind::Interrupted {
                writeln!(out, "{}", failed_json(&name, &error).end())?;
            }
            return Err(error.into());
        }
    };
    if let Some(error) = survey.take_error() {
        if args.files.json {
            writeln!(out, "{}", damaged_json(&name, &error, &survey))?;
        } else {
            out.flush()?;
            list(&name, &survey);
        }
        return Err(error.into());
    }
    let report = &survey.report;
    if args.files.json {
        writeln!(out, "{}", sound_json(&name, report))?;
    } else {
        let seconds = started.elapsed().as_secs_f64();
        writeln!(
            out,
            "{}: sound ({}{}, {}, {}, {}; {}checked in {seconds:.2} s)",
            escape(&name),
            if report.n_generations > 1 {
                count(report.n_generations, "generation") + ", "
            } else {
                String::new()
            },
            count(report.n_columns, "column"),
            count(report.n_blocks, "block"),
            count(report.n_values, "value"),
            size(report.checked_len),
            leftover(report.leftover_len),
        )?;
    }
    Ok(())
}

/// Checks all files of a folder, and reports the damaged ones.
fn folder(found: &Dataset, args: &Args, out: &mut Out) -> Outcome {
    let name = found.folder().to_string_lossy();
    let started = Instant::now();
    let n_files = (found.files().len() + usize::from(found.manifest().is_some())) as u64;
    let (mut total, mut n_damaged, mut n_later) = (Report::default(), 0, 0);
    for (number, whole) in (0..).zip(found.whole()) {
        let watch = folder::watch("checking", found.folder());
        watch.count(number, Some(n_files));
        let checked = whole.and_then(|Whole { file, is_later }| {
            n_later += u64::from(is_later);
            let mut survey = file.survey(args.threads, &watch)?;
            match survey.take_error() {
                Some(error) => Err(error),
                None => Ok(survey.report),
            }
        });
        drop(watch);
        match checked {
            Ok(report) => {
                total.n_columns = total.n_columns.max(report.n_columns);
                total.n_blocks += report.n_blocks;
                total.n_values += report.n_values;
                total.checked_len += report.checked_len;
                total.n_generations = total.n_generations.max(report.n_generations);
                total.leftover_len += report.leftover_len;
            }
            Err(error) if error.kind() == Kind::Interrupted => return Err(error.into()),
            // A store that can't be read says nothing about the files.
            Err(error) if found.is_on_store() && is_of_store(&error) => return Err(error.into()),
            Err(error) => {
                n_damaged += 1;
                out.flush()?;
                say(&error.to_string());
            }
        }
    }
    if n_later > 0 {
        let files = count(n_later, "file");
        say(&format!(
            "{name}: {files} changed after the manifest named them: their new rows are not in the table"
        ));
    }
    if args.files.json {
        let report = sound_json(&name, &total);
        let is_sound = n_damaged == 0;
        let report =
            report.replacen("\"sound\":true", &format!("\"sound\":{is_sound},\"n_files\":{n_files}"), 1);
        writeln!(out, "{report}")?;
    }
    if n_damaged > 0 {
        return Err(Failure::Other(format!("{name}: {n_damaged} of {} are damaged", count(n_files, "file"))));
    }
    if !args.files.json {
        let seconds = started.elapsed().as_secs_f64();
        writeln!(
            out,
            "{}: sound ({}, {}, {}, {}; checked in {seconds:.2} s)",
            escape(&name),
            count(n_files, "file"),
            count(total.n_blocks, "block"),
            count(total.n_values, "value"),
            size(total.checked_len),
        )?;
    }
    Ok(())
}

/// Whether an error is that of a store and not of an object.
fn is_of_store(error: &Error) -> bool {
    matches!(error.kind(), Kind::Io(kind) if kind != ErrorKind::NotFound)
}

/// Prints the damaged places, if there are several. The error reports a single one.
fn list(name: &str, survey: &Survey) {
    if survey.n_damages < 2 {
        return;
    }
    for damage in &survey.damages {
        say(&format!("{name}: {}", damage.describe(0)));
    }
    let n_more = survey.n_damages - survey.damages.len() as u64;
    if n_more > 0 {
        say(&format!("{name}: and {}", count(n_more, "more damaged place")));
    }
}

/// Bytes that belong to no generation, as words.
fn leftover(len: u64) -> String {
    match len {
        0 => String::new(),
        len => format!("{} of an interrupted or running change; ", count(len, "leftover byte")),
    }
}

fn sound_json(name: &str, report: &Report) -> String {
    Object::new()
        .text("file", name)
        .raw("sound", true)
        .raw("n_columns", report.n_columns)
        .raw("n_blocks", report.n_blocks)
        .raw("n_values", report.n_values)
        .raw("checked_len", report.checked_len)
        .raw("n_generations", report.n_generations)
        .raw("leftover_len", report.leftover_len)
        .end()
}

fn damaged_json(name: &str, error: &Error, survey: &Survey) -> String {
    let damages: Vec<String> = survey.damages.iter().map(damage_json).collect();
    failed_json(name, error)
        .raw("n_columns", survey.report.n_columns)
        .raw("n_sound_columns", survey.n_sound)
        .raw("n_damages", survey.n_damages)
        .raw("generations", numbers(&survey.generations))
        .raw("is_newest_sound", survey.is_newest_sound)
        .raw("damages", format!("[{}]", damages.join(",")))
        .end()
}

/// A JSON array of numbers.
fn numbers(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn damage_json(damage: &Damage) -> String {
    let object = Object::new().maybe_text("column", damage.column.as_deref());
    let values = damage.values.as_ref();
    let numbers = [
        ("generation", damage.generation),
        ("table", damage.table),
        ("start", values.map(|values| values.start)),
        ("stop", values.map(|values| values.end)),
        ("block", damage.location.block),
        ("page", damage.location.page),
        ("offset", damage.location.at),
    ];
    numbers
        .into_iter()
        .fold(object, |object, (key, number)| maybe_number(object, key, number))
        .text("message", &damage.message)
        .end()
}

fn maybe_number(object: Object, key: &str, number: Option<u64>) -> Object {
    match number {
        Some(number) => object.raw(key, number),
        None => object.raw(key, "null"),
    }
}

fn failed_json(name: &str, error: &Error) -> Object {
    let location = error.location();
    let message = match error.io_source() {
        Some(source) => format!("{}: {source}", error.message()),
        None => error.message().to_owned(),
    };
    let object = Object::new()
        .text("file", name)
        .raw("sound", false)
        .text("kind", kind_name(error.kind()))
        .text("message", &message)
        .maybe_text("section", location.section)
        .maybe_text("column", location.column.as_deref());
    let numbers = [("block", location.block), ("page", location.page), ("offset", location.at)];
    numbers.into_iter().fold(object, |object, (key, number)| maybe_number(object, key, number))
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
