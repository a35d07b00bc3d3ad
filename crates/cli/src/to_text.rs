//! `entasis convert` from an Entasis file to a text.

use std::io::{self, Read as _, Write};
use std::ops::Range;
use std::path::Path;

use entasis::{ColumnInfo, Durable, Error, File, MAGIC, default_threads};
use entasis_csv::write::{Compression, Selected, WriteOptions, write, write_file};
use entasis_query::NanIsNull;

use crate::csv::CsvArgs;
use crate::failure::{Failure, Outcome};
use crate::labels;
use crate::names::requested_columns;
use crate::open::require_table;
use crate::output::Out;
use crate::progress::Watch;
use crate::text::{count, escape, size};

/// Whether a path names an Entasis file.
pub(crate) fn is_entasis(path: &Path) -> bool {
    let mut start = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    path.is_file() && read.is_ok() && start == MAGIC
}

/// Writes the rows of a file into a text at `output`; `-` is the standard output.
pub(crate) fn run(
    input: &Path,
    output: &Path,
    rows: Option<&Range<u64>>,
    args: &CsvArgs,
    durable: Durable,
    out: &mut Out,
) -> Outcome {
    let format = args.format()?;
    let file = File::open(input)?;
    require_table(&file, input)?;
    let columns = columns(&file, input, args)?;
    let all = 0..file.n_rows();
    let rows = rows.map_or(all.clone(), |rows| rows.start.min(all.end)..rows.end.min(all.end));
    let n_rows = rows.end.saturating_sub(rows.start);
    let threads = args.threads.unwrap_or_else(default_threads);
    let mut options = WriteOptions { format, compression: Compression::None, threads };
    let watch = Watch::new(format!("converting {}", escape(&input.to_string_lossy())));
    if output == Path::new("-") {
        let mut sink = |bytes: &[u8]| {
            io::stdout().write_all(bytes).map_err(|error| Error::io(error, "write the standard output"))
        };
        return Ok(write(&file, &columns, rows, &options, &mut sink, &watch)?);
    }
    let name = output.to_string_lossy().to_lowercase();
    options.compression = match name.rsplit_once('.') {
        Some((_, "gz")) => Compression::Gzip(6),
        Some((_, "zst" | "zstd")) => Compression::Zstd(3),
        _ => Compression::None,
    };
    write_file(&file, &columns, rows, &options, output, durable, false, &watch)?;
    drop(watch);
    let len = std::fs::metadata(output).map_err(|e| Error::io(e, "open").in_file(output))?.len();
    let (rows, columns) = (count(n_rows, "row"), count(columns.len() as u64, "column"));
    writeln!(out, "{}: {rows} x {columns}, {}", escape(&output.to_string_lossy()), size(len))?;
    Ok(())
}

/// The columns to write. Without a choice these are the labels of rows, then all columns.
fn columns(file: &File, path: &Path, args: &CsvArgs) -> Outcome<Vec<Selected>> {
    let mut infos = chosen(file, path, args)?;
    if args.columns.is_none() {
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
