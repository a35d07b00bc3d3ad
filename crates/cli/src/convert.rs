//! `entasis convert`: files of one format into files of another.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use entasis::{Durable, Error, WriteOptions};
use entasis_csv::problems::{OnError, Problems};
use entasis_csv::{Job, Outcome as Read};

use crate::clobber::ClobberArgs;
use crate::convert_args::Args;
use crate::csv::{self, is_stdin};
use crate::failure::{Failure, Outcome, refuse_given};
use crate::format::{Format, Source};
use crate::from_r;
use crate::hosted;
use crate::lend::store;
use crate::level;
use crate::output::Out;
use crate::progress::Watch;
use crate::target::{self, differ, refuse_other};
use crate::text::{count, escape, size};
use crate::through_host;
use crate::to_r;
use crate::to_text;

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
    args.clobber.check(&args.output)?;
    if let Some(problems) = &args.problems {
        args.clobber.check(problems)?;
    }
    refuse_other(&args.output, target, args.to, source)?;
    if let Some(work) = through_host::reason(args, &paths, source, target) {
        let host = hosted::required(&work)?;
        return through_host::run(args, paths, source, target, host, out);
    }
    match (source, &paths[..]) {
        (_, [input]) if target == Format::Rds => to_rds(args, input, durable, out),
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
                    write_problems(path, args.clobber, &refused.problems, &refused.names, is_single)?;
                }
                return Err(job.error(&refused).into());
            }
        }
    };
    csv::warn(&found.warnings);
    if let Some(path) = problems {
        write_problems(path, args.clobber, &found.problems, &found.names, is_single)?;
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
    let mut options = WriteOptions {
        threads: args.csv.threads,
        durable,
        wait: Duration::from_secs_f64(args.wait),
        must_be_new: args.clobber.must_be_new(),
        secret: args.secrets.given()?,
        ..WriteOptions::default()
    };
    level::set(&args.compression, &mut options)?;
    Ok(options)
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

/// Writes an Entasis file, or a file of R, as an RDS file.
fn to_rds(args: &Args, input: &Path, durable: Durable, out: &mut Out) -> Outcome {
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (args.functions, "--functions"),
        (args.csv.drop.is_some(), "--drop"),
    ];
    refuse_given(&others, || format!("not for an RDS file, into which {} is written", input.display()))?;
    args.csv.format()?;
    let packing = level::of_rds(&args.compression)?;
    to_r::run(input, args, packing, durable, out)
}

/// Writes an Entasis file, or a file of R, as a text.
fn from_file(args: &Args, input: &Path, durable: Durable, out: &mut Out) -> Outcome {
    let others = [
        (args.id.is_some(), "--id"),
        (args.problems.is_some(), "--problems"),
        (!args.compression.is_empty(), "--compression"),
    ];
    refuse_given(&others, || format!("for texts that are read, and {} is not a text", input.display()))?;
    to_text::run(input, args, durable, out)
}

/// Writes problems as CSV. Those of several texts have the name of their text.
fn write_problems(
    path: &Path,
    clobber: ClobberArgs,
    problems: &Problems,
    names: &[String],
    is_single: bool,
) -> entasis::Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file =
            BufWriter::new(if clobber.must_be_new() { File::create_new(path)? } else { File::create(path)? });
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
