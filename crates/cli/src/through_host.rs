//! Conversions that need libraries of the host.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use entasis::Error;
use serde_json::{Map, Value};

use crate::convert_args::Args;
use crate::csv::is_stdin;
use crate::failure::{Failure, Outcome, refuse_given};
use crate::format::{Format, Source};
use crate::host::{self, Host, Request};
use crate::hosted;
use crate::level;
use crate::output::Out;
use crate::text::{count, escape, size};

/// The work that only the host does, as the start of a sentence; `None` if the command does all.
pub(crate) fn reason(args: &Args, paths: &[PathBuf], source: Source, target: Format) -> Option<String> {
    let first = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    let (is_text, is_entasis, is_r) = match source {
        Source::Other => return Some(format!("reading {first}")),
        Source::Known(form) if form.is_of_host() => {
            return Some(format!("reading {first} ({})", form.name()));
        }
        Source::Known(form) => (form == Format::Csv, form == Format::Entasis, form.is_of_r()),
    };
    let is_stored = target == Format::Entasis;
    let has_parts = args.rows.is_some() || args.csv.columns.is_some() || args.condition.is_some();
    match () {
        () if target.is_of_host() => Some(format!("writing {} ({})", args.output.display(), target.name())),
        () if paths.iter().any(|path| host::is_address(path)) => Some(format!("reading {first}")),
        () if args.verify => Some("--verify".to_owned()),
        () if args.condition.is_some() => Some("--where".to_owned()),
        () if args.strict && !is_stored => Some("--strict for another format".to_owned()),
        () if target == Format::Rds && has_parts => {
            Some("--rows, --columns or --where for an RDS file".to_owned())
        }
        () if is_text && target == Format::Rds => Some("an RDS file from a text".to_owned()),
        () if is_text && !is_stored => Some("a text from a text".to_owned()),
        () if is_entasis && is_stored => Some("an Entasis file from another".to_owned()),
        () if is_r && is_stored && has_parts => {
            Some("--rows, --columns or --where for a file of R".to_owned())
        }
        () if is_r && paths.iter().any(|path| is_stdin(path)) => Some("a file of R from a pipe".to_owned()),
        () if paths.len() > 1 && !is_text => Some("a table of several files".to_owned()),
        () if target == Format::Csv
            && level::of_host(&args.compression).is_some_and(|value| value.is_string()) =>
        {
            Some("--compression of a text".to_owned())
        }
        () => None,
    }
}

/// Converts files with the host.
pub(crate) fn run(
    args: &Args,
    paths: Vec<PathBuf>,
    source: Source,
    target: Format,
    host: &dyn Host,
    out: &mut Out,
) -> Outcome {
    let is_pipe = is_stdin(&args.output);
    check(args, source, target, is_pipe)?;
    let label = match &paths[..] {
        [path] => format!("converting {}", escape(&path.to_string_lossy())),
        _ => format!("converting {}", count(paths.len() as u64, "file")),
    };
    let request = Request {
        verb: "convert",
        inputs: hosted::inputs(&paths)?,
        output: (!is_pipe).then(|| args.output.clone()),
        options: options(args, source, target),
        secret: args.secrets.for_host(&paths)?,
    };
    let result = hosted::call(host, &request, label)?;
    if is_pipe {
        return Ok(());
    }
    report(&args.output, result.get("n_rows").and_then(Value::as_u64), out)
}

/// Returns an error for options that do not go together.
fn check(args: &Args, source: Source, target: Format, is_pipe: bool) -> Outcome {
    let is_text = source == Source::Known(Format::Csv);
    refuse_given(&[(args.problems.is_some(), "--problems")], || {
        "only for texts that become an Entasis file, without --where and --verify".to_owned()
    })?;
    if !is_text {
        let of_text = [(args.id.is_some(), "--id"), (args.csv.drop.is_some(), "--drop")];
        refuse_given(&of_text, || {
            "for texts that are read, and IN is not a text: --columns chooses".to_owned()
        })?;
        args.csv.format()?;
        if target != Format::Csv
            && let Some(option) = args.csv.of_text()
        {
            return Err(Failure::Other(format!("{option}: for texts, and neither IN nor OUT is one")));
        }
    }
    if is_pipe && !matches!(target, Format::Csv | Format::Jsonl | Format::ArrowStream) {
        let message = "the standard output takes a text, JSON lines or a stream of Arrow: \
            pass --to csv, --to jsonl or --to arrow_stream, or name a file";
        return Err(Failure::Other(message.to_owned()));
    }
    refuse_given(&[(is_pipe && args.verify, "--verify")], || {
        "a pipe can't be read back: name a file".to_owned()
    })
}

/// The options as the host takes them.
fn options(args: &Args, source: Source, target: Format) -> Map<String, Value> {
    let is_text = source == Source::Known(Format::Csv);
    let rows = args.rows.as_ref().map(|rows| {
        Value::from(vec![rows.start.into(), if rows.end == u64::MAX { Value::Null } else { rows.end.into() }])
    });
    let mut text = if is_text { args.csv.reading() } else { Map::new() };
    if let Some(id) = &args.id {
        text.insert("id".to_owned(), id.clone().into());
    }
    let writing = if is_text { Map::new() } else { args.csv.writing() };
    let given = [
        // Without it the host names the formats that it does not read.
        ("source_format", args.from.map(|form| form.name().into())),
        ("target_format", Some(target.name().into())),
        ("columns", args.csv.columns.clone().map(Value::from)),
        ("rows", rows),
        ("where", args.condition.clone().map(Value::from)),
        ("compression", level::of_host(&args.compression)),
        ("functions", args.functions.then_some(Value::Bool(true))),
        ("verify", Some(args.verify.into())),
        ("strict", Some(args.strict.into())),
        ("threads", args.csv.threads.map(Value::from)),
        ("overwrite", args.clobber.must_be_new().then_some(Value::Bool(false))),
        ("durable", args.no_sync.then_some(Value::Bool(false))),
        ("wait", Some(args.wait.into())),
        ("text", Some(text.into())),
        ("writing", Some(writing.into())),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Says which file was written.
fn report(path: &Path, n_rows: Option<u64>, out: &mut Out) -> Outcome {
    let len = std::fs::metadata(path).map_err(|e| Error::io(e, "open").in_file(path))?.len();
    let rows = n_rows.map(|n| format!("{}, ", count(n, "row"))).unwrap_or_default();
    writeln!(out, "{}: {rows}{}", escape(&path.to_string_lossy()), size(len))?;
    Ok(())
}
