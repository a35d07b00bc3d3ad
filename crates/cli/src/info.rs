//! `entasis info`: how a file is laid out, and how small each column is.

use std::io::Write;
use std::path::{Path, PathBuf};

use entasis::{ColumnLayout, File, Info, Role};

use crate::failure::Outcome;
use crate::json;
use crate::output::Out;
use crate::table::{self, Cell, Column};
use crate::text::{count, escape, ratio, size, thousands};

const EXAMPLES: &str = "Examples:
  entasis info flights.entasis
  entasis info --json flights.entasis | jq '.columns[] | [.name, .stored_len]'

stored    bytes in the file (1 MB is 10^6 bytes)
decoded   bytes of the same values in memory
ratio     decoded / stored
blocks    pieces of up to 65,536 values, each with one encoding; small columns of one type share theirs
encoding  how values are stored; where there are several, with the number of blocks of each
(...)     beside the table's columns: labels of rows, or the categories of categorical columns";

/// Show how a file is laid out: encodings and sizes per column
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Entasis files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object per file, on a line of its own
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let mut first = true;
    crate::for_each(&args.files, out, |path, out| {
        let info = File::open(path)?.info()?;
        if args.json {
            let name = json::Object::new().text("file", &path.to_string_lossy()).end();
            // The file's name becomes the first member of the layout.
            writeln!(out, "{},{}", name.trim_end_matches('}'), info.to_json().trim_start_matches('{'))?;
            return Ok(());
        }
        if !std::mem::replace(&mut first, false) {
            writeln!(out)?;
        }
        print(path, &info, out)
    })
}

fn print(path: &Path, info: &Info, out: &mut Out) -> Outcome {
    let style = out.style();
    let decoded = sum(info, |column| column.decoded_len);
    writeln!(out, "{}", style.bold(&escape(&path.to_string_lossy())))?;
    writeln!(
        out,
        "{} x {}, {} in the file, {} decoded, ratio {}",
        count(info.n_rows, "row"),
        count(info.n_columns, "column"),
        size(info.file_len),
        size(decoded),
        ratio(decoded, info.file_len),
    )?;
    let ((major, minor), (x, y, z)) = (info.format_version, info.writer_version);
    let host = info.host.as_deref().map(|host| format!(" from {}", escape(host))).unwrap_or_default();
    writeln!(
        out,
        "format {major}.{minor}, generation {}, written by Entasis {x}.{y}.{z}{host}",
        info.generation
    )?;
    writeln!(out)?;
    table::print(columns(info), style, out)?;
    let parts = format!("values {}, all else {}", size(info.segments_len), size(info.footer_len));
    writeln!(out, "{}", style.dim(&parts))?;
    Ok(())
}

/// The columns of the table, then labels and categories. Bundles are counted by the columns that share them.
fn shown(info: &Info) -> impl Iterator<Item = &ColumnLayout> {
    info.columns.iter().filter(|column| column.role != Role::Bundle)
}

fn sum(info: &Info, of: fn(&ColumnLayout) -> u64) -> u64 {
    shown(info).map(of).fold(0, u64::saturating_add)
}

fn columns(info: &Info) -> Vec<Column> {
    let mut names = Column::flexible(["column"]);
    let mut types = Column::left(["type"]);
    let mut missing = Column::right(["missing"]);
    let mut blocks = Column::right(["blocks"]);
    let mut stored = Column::right(["stored"]);
    let mut decoded = Column::right(["decoded"]);
    let mut ratios = Column::right(["ratio"]);
    let mut encodings = Column::flexible(["encoding"]);
    for column in shown(info) {
        let is_bundled = column.n_blocks == 0 && column.stored_len > 0;
        names.push(match (column.role, column.name.as_str()) {
            (Role::Table, name) => Cell::from(escape(name)),
            (_, "") => Cell::dim("(labels or categories)"),
            (_, name) => Cell::dim(format!("({})", escape(name))),
        });
        types.push(escape(&column.type_name));
        missing.push(thousands(column.n_missing));
        blocks.push(if is_bundled { Cell::dim("shared") } else { thousands(column.n_blocks).into() });
        stored.push(size(column.stored_len));
        decoded.push(size(column.decoded_len));
        ratios.push(ratio(column.decoded_len, column.stored_len));
        encodings.push(encoding_text(column));
    }
    let (all_stored, all_decoded) =
        (sum(info, |column| column.stored_len), sum(info, |column| column.decoded_len));
    names.push("total");
    types.push("");
    missing.push(thousands(sum(info, |column| column.n_missing)));
    blocks.push(thousands(info.columns.iter().map(|column| column.n_blocks).sum()));
    stored.push(size(all_stored));
    decoded.push(size(all_decoded));
    ratios.push(ratio(all_decoded, all_stored));
    vec![names, types, missing, blocks, stored, decoded, ratios, encodings]
}

/// One encoding alone, or each with its blocks.
fn encoding_text(column: &ColumnLayout) -> String {
    match column.encodings.as_slice() {
        [] => "none".to_owned(),
        [(only, _)] => only.clone(),
        several => {
            let several = several.iter().map(|(name, n)| format!("{name} ({})", thousands(*n)));
            several.collect::<Vec<_>>().join(", ")
        }
    }
}
