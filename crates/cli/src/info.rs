//! `entasis info`: the layout of a file, and the size of each column.

use std::io::Write;
use std::path::Path;

use entasis::{ColumnLayout, File, Info, Keep, Role};

use crate::failure::Outcome;
use crate::files::FilesArgs;
use crate::folder;
use crate::fst;
use crate::json;
use crate::open::OpenArgs;
use crate::open_other;
use crate::output::{Out, WidthArgs};
use crate::table::{self, Cell, Column};
use crate::text::{count, escape, ratio, size, thousands};

/// The type of an object column. Its missing values are among its cells and are not counted.
const OBJECT: &str = "object";

const EXAMPLES: &str = "Examples:
  entasis info flights.entasis
  entasis info --json flights.entasis | jq '.columns[] | [.name, .stored_len]'

stored    bytes in the file (1 MB is 10^6 bytes)
decoded   bytes of the same values in memory
ratio     decoded / stored
blocks    pieces of up to 65,536 values, each with one encoding; small columns of one type share theirs
encoding  how values are stored; several encodings come with the number of blocks of each
(...)     not in the table: labels of rows, categories of categorical columns, values of object columns

For a tree of values, the rows are its frames, its arrays, and all other values. --json lists every column.";

/// Show how a file is laid out: encodings and sizes per column
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    width: WidthArgs,
    #[command(flatten)]
    open: OpenArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    args.width.apply(out);
    let mut first = true;
    args.files.for_each(out, |path, out| {
        if let Some(found) = args.open.folder(path)? {
            if !std::mem::replace(&mut first, false) && !args.files.json {
                writeln!(out)?;
            }
            return folder::print_info(&found, args.files.json, out);
        }
        if let Some(parts) = args.open.open_fst(path)? {
            if !std::mem::replace(&mut first, false) && !args.files.json {
                writeln!(out)?;
            }
            return fst::print_info(path, &parts, args.files.json, out);
        }
        let file = args.open.open_own(path).map_err(|error| match open_other::form_of(path, &error) {
            Some(_) => error.advise(
                "`entasis schema` shows its columns, and `entasis convert` makes an Entasis file of it",
            ),
            None => error,
        })?;
        let info = file.info()?;
        if args.files.json {
            let name = json::Object::new().text("file", &path.to_string_lossy()).end();
            // Insert the name of the file as the first member of the object.
            writeln!(out, "{},{}", name.trim_end_matches('}'), info.to_json().trim_start_matches('{'))?;
            return Ok(());
        }
        if !std::mem::replace(&mut first, false) {
            writeln!(out)?;
        }
        print(path, &file, &info, out)
    })
}

fn print(path: &Path, file: &File, info: &Info, out: &mut Out) -> Outcome {
    let style = out.style();
    let decoded = sum(info, |column| column.decoded_len);
    writeln!(out, "{}", style.bold(&escape(&path.to_string_lossy())))?;
    let what = match info.value {
        "table" => format!("{} x {}", count(info.n_rows, "row"), count(info.n_columns, "column")),
        _ => format!("{}; `entasis tree` shows its parts", crate::tree::headline(file)?),
    };
    writeln!(
        out,
        "{what}, {} in the file, {} decoded, ratio {}",
        size(info.file_len),
        size(decoded),
        ratio(decoded, info.file_len),
    )?;
    let host = info.host.as_deref().map(|host| format!(" from {}", escape(host))).unwrap_or_default();
    // Files of 0.2 have no edition.
    let edition = if info.edition == 0 { String::new() } else { format!(", edition {}", info.edition) };
    let encryption = info.encryption.map(|cipher| format!(", encrypted by {cipher}")).unwrap_or_default();
    writeln!(
        out,
        "format {}{edition}, generation {}, written by {}{host}{encryption}",
        info.format_version,
        info.generation,
        escape(&info.program)
    )?;
    writeln!(out)?;
    let table = if info.value == "table" { columns(info) } else { parts(info) };
    table::print_all(table, style, out)?;
    let mut parts = format!("values {}, all else {}", size(info.segments_len), size(info.footer_len));
    if info.dead_len > 0 {
        parts += &format!(", {} left by changes (entasis compact drops them)", size(info.dead_len));
    }
    writeln!(out, "{}", style.dim(&parts))?;
    if let Some(kept) = kept(info.keep) {
        writeln!(out, "{}", style.dim(&format!("changes keep {kept}")))?;
    }
    Ok(())
}

/// The generations that changes keep, if one asked for them.
fn kept(keep: Keep) -> Option<String> {
    match keep.kind {
        Keep::GENERATIONS => Some(count(keep.value, "earlier generation")),
        Keep::NANOSECONDS => {
            let second = 1_000_000_000;
            let units = [(604_800 * second, "week"), (86_400 * second, "day"), (3600 * second, "hour")];
            let units =
                units.into_iter().chain([(60 * second, "minute"), (second, "second"), (1, "nanosecond")]);
            let (len, unit) = units.into_iter().find(|(len, _)| keep.value.is_multiple_of(*len))?;
            Some(format!("the generations of {}", count(keep.value / len, unit)))
        }
        _ => None,
    }
}

/// One row for the frames of a tree, one for its arrays, one for all other values.
fn parts(info: &Info) -> Vec<Column> {
    let mut names = Column::left(["part"]);
    let mut numbers = Column::right(["number"]);
    let mut stored = Column::right(["stored"]);
    let mut decoded = Column::right(["decoded"]);
    let mut ratios = Column::right(["ratio"]);
    let mut row = |name: &str, number: String, is_of: &dyn Fn(Role) -> bool| {
        let of = || shown(info).filter(|column| is_of(column.role));
        let (from, to) = (of().map(|c| c.decoded_len).sum(), of().map(|c| c.stored_len).sum());
        names.push(name.to_owned());
        numbers.push(number);
        stored.push(size(to));
        decoded.push(size(from));
        ratios.push(ratio(from, to));
    };
    let is_frame = |role| matches!(role, Role::Table | Role::Extra | Role::Child);
    row("frames", thousands(info.n_tables), &is_frame);
    row("arrays", String::new(), &|role| role == Role::Array);
    row("other values", thousands(info.n_cells), &|role| role == Role::Cells);
    row("total", String::new(), &|_| true);
    vec![names, numbers, stored, decoded, ratios]
}

/// The columns of the table, then labels and categories. Columns in a bundle count their share of
/// it.
fn shown(info: &Info) -> impl Iterator<Item = &ColumnLayout> {
    info.columns.iter().filter(|column| !matches!(column.role, Role::Bundle | Role::Free))
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
    let mut cells: Option<(u64, u64, u64)> = None;
    for column in shown(info) {
        if matches!(column.role, Role::Cells | Role::Array) {
            let (n_blocks, stored, decoded) = cells.unwrap_or_default();
            cells =
                Some((n_blocks + column.n_blocks, stored + column.stored_len, decoded + column.decoded_len));
            continue;
        }
        let is_bundled = column.n_blocks == 0 && column.stored_len > 0;
        names.push(match (column.role, column.name.as_str()) {
            (Role::Table, name) => Cell::from(escape(name)),
            (_, "") => Cell::dim("(labels or categories)"),
            (_, name) => Cell::dim(format!("({})", escape(name))),
        });
        types.push(escape(&column.type_name));
        missing.push(if column.type_name == OBJECT { "-".to_owned() } else { thousands(column.n_missing) });
        blocks.push(if is_bundled { Cell::dim("shared") } else { thousands(column.n_blocks).into() });
        stored.push(size(column.stored_len));
        decoded.push(size(column.decoded_len));
        ratios.push(ratio(column.decoded_len, column.stored_len));
        encodings.push(encoding_text(column));
    }
    if let Some((n_blocks, cells_stored, cells_decoded)) = cells {
        names.push(Cell::dim("(values of objects, metadata)"));
        types.push(OBJECT);
        missing.push("-");
        blocks.push(thousands(n_blocks));
        stored.push(size(cells_stored));
        decoded.push(size(cells_decoded));
        ratios.push(ratio(cells_decoded, cells_stored));
        encodings.push("several");
    }
    let (all_stored, all_decoded) =
        (sum(info, |column| column.stored_len), sum(info, |column| column.decoded_len));
    names.push("total");
    types.push("");
    missing.push(thousands(sum(info, |c| if c.type_name == OBJECT { 0 } else { c.n_missing })));
    blocks.push(thousands(info.columns.iter().map(|column| column.n_blocks).sum()));
    stored.push(size(all_stored));
    decoded.push(size(all_decoded));
    ratios.push(ratio(all_decoded, all_stored));
    vec![names, types, missing, blocks, stored, decoded, ratios, encodings]
}

/// A single encoding, or each one with its number of blocks.
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
