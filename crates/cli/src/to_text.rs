//! Entasis files as text: `entasis convert` and `entasis select`.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use entasis::{ColumnInfo, Durable, Error, File, Monitor, Rows, default_threads};
use entasis_csv::write::{
    Compression, Nested, Old, Part, Selected, WriteOptions, write, write_file, write_parts, write_parts_file,
};
use entasis_query::NanIsNull;

use crate::convert_args::Args;
use crate::csv::{CsvArgs, is_stdin};
use crate::failure::{Failure, Outcome};
use crate::found::Found;
use crate::labels;
use crate::lend;
use crate::limits::open_stdin;
use crate::names::requested_columns;
use crate::nested_text::{self, NestedAsJson};
use crate::open::require_table;
use crate::output::Out;
use crate::progress::{Step, Watch};
use crate::row_set::RowSet;
use crate::text::{count, escape, size};

/// Writes the rows of a file into the text that `convert` names; `-` is the standard output.
pub(crate) fn run(input: &Path, convert: &Args, durable: Durable, out: &mut Out) -> Outcome {
    let (output, args, rows) = (&convert.output, &convert.csv, convert.rows.as_ref());
    let old = convert.clobber.old_text();
    let format = args.format()?;
    let watch = Watch::new(format!("converting {}", escape(&input.to_string_lossy())));
    let file = match is_stdin(input) {
        true => open_stdin(convert.secrets.given()?)?,
        false => convert.secrets.open(|opening| lend::open(input, opening, &watch))?,
    };
    require_table(&file, input)?;
    let columns = columns(&file, input, args)?;
    let all = 0..file.n_rows();
    let rows = rows.map_or(all.clone(), |rows| rows.start.min(all.end)..rows.end.min(all.end));
    let n_rows = rows.end.saturating_sub(rows.start);
    let threads = args.threads.unwrap_or_else(default_threads);
    let nested = nested(args.nested);
    let mut options = WriteOptions { format, compression: Compression::None, nested, threads };
    if output.as_path() == Path::new("-") {
        return Ok(write(&file, &columns, rows, &options, &mut to_stdout, &watch)?);
    }
    options.compression = Compression::of_path(output);
    write_file(&file, &columns, rows, &options, output, durable, old, &watch)?;
    drop(watch);
    let len = std::fs::metadata(output).map_err(|e| Error::io(e, "open").in_file(output))?.len();
    let (rows, columns) = (count(n_rows, "row"), count(columns.len() as u64, "column"));
    writeln!(out, "{}: {rows} x {columns}, {}", escape(&output.to_string_lossy()), size(len))?;
    Ok(())
}

fn nested(form: Option<nested_text::Form>) -> Option<Arc<dyn Nested>> {
    form.map(|nested_text::Form::Json| -> Arc<dyn Nested> { Arc::new(NestedAsJson) })
}

/// Rows that are collected before they are written.
const ROWS: u64 = 1 << 18;

/// Writes the found rows of columns as text to `output`, or to the standard output. Returns the
/// numbers of rows and columns.
///
/// # Errors
/// As [`write_parts`], and as for finding the rows.
pub(crate) fn write_found(
    file: &Arc<File>,
    mut found: Found<'_>,
    infos: Vec<ColumnInfo>,
    has_labels: bool,
    output: Option<(&Path, Old)>,
    nested: Option<nested_text::Form>,
    threads: Option<usize>,
) -> Outcome<(u64, u64)> {
    let columns = selected(file, infos, has_labels)?;
    let threads = threads.unwrap_or_else(default_threads);
    let mut options = WriteOptions { threads, nested: self::nested(nested), ..WriteOptions::default() };
    let watch = Watch::new("writing");
    let (mut waiting, mut n, mut is_first) = (RowSet::default(), 0, true);
    let mut parts = || {
        while waiting.n() < ROWS
            && let Some(rows) = found.next().transpose()?
        {
            watch.check()?;
            waiting.append(rows);
            watch.progress(found.n_tested(), file.n_rows());
        }
        // The header is written even without rows.
        let rows = waiting.take(ROWS).or_else(|| is_first.then(RowSet::default));
        is_first = false;
        Ok(rows.map(|rows| {
            n += rows.n();
            Part { file: Arc::clone(file), columns: columns.clone(), rows: Rows::from(&rows) }
        }))
    };
    match output {
        Some((path, old)) => {
            options.compression = Compression::of_path(path);
            write_parts_file(&mut parts, &options, path, Durable::Auto, old, &Step)?;
        }
        None => write_parts(&mut parts, &options, &mut to_stdout, &Step)?,
    }
    Ok((n, columns.len() as u64))
}

fn to_stdout(bytes: &[u8]) -> entasis::Result<()> {
    io::stdout().write_all(bytes).map_err(|error| Error::io(error, "write the standard output"))
}

/// The columns to write. Without a choice these are the labels of rows, then all columns.
fn columns(file: &File, path: &Path, args: &CsvArgs) -> Outcome<Vec<Selected>> {
    selected(file, chosen(file, path, args)?, args.columns.is_none())
}

/// Columns, maybe after the labels of rows.
fn selected(file: &File, mut infos: Vec<ColumnInfo>, has_labels: bool) -> Outcome<Vec<Selected>> {
    if has_labels {
        let stored = labels::of(file)?.into_iter().filter_map(|label| match label.source {
            labels::Source::Column(info) => Some(ColumnInfo { name: label.name, ..*info }),
            labels::Source::Range { .. } => None,
        });
        infos.splice(..0, stored);
    }
    let nan_is_null = NanIsNull::of(file, None)?;
    let select = |info| Selected { nan_is_missing: nan_is_null.holds(&info), info };
    Ok(infos.into_iter().map(select).collect())
}

/// The columns of the table that are chosen.
fn chosen(file: &File, path: &Path, args: &CsvArgs) -> Outcome<Vec<ColumnInfo>> {
    let all = file.columns(0..file.n_columns())?;
    if let Some(names) = &args.columns {
        let indices = requested_columns(file, path, names)?;
        return Ok(indices.into_iter().filter_map(|index| all.get(index).cloned()).collect());
    }
    let left_out = match &args.drop {
        Some(names) => requested_columns(file, path, names)?,
        None => Vec::new(),
    };
    if args.drop.is_some() && left_out.len() == all.len() {
        return Err(Failure::Other("--drop leaves out all columns".to_owned()));
    }
    Ok(all.into_iter().enumerate().filter(|(i, _)| !left_out.contains(i)).map(|(_, info)| info).collect())
}
