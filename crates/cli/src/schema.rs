//! `entasis schema`: names and types.

use std::io::Write;
use std::path::Path;

use entasis::{ColumnInfo, File, Logical, Unit};

use crate::failure::Outcome;
use crate::files::FilesArgs;
use crate::fst;
use crate::json::{self, Object};
use crate::labels::{self, Label, Source};
use crate::open::OpenArgs;
use crate::output::{Out, WidthArgs};
use crate::table::{self, Column};
use crate::text::{count, escape, thousands};
use crate::types::{missing_name, time_zone, type_of};

const EXAMPLES: &str = "Examples:
  entasis schema flights.entasis
  entasis schema --json flights.entasis | jq -r '.columns[].name'

\"missing\" counts the missing values of a column, but not those among objects, and not those of fst. Times with a zone are stored in UTC. \
Names in parentheses are labels of rows (the index).";

/// Show the names and types of a table's columns
///
/// Reads only the description of the columns: fast for files of any size.
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
    args.files.for_each(out, |path, out| one(path, args, out))
}

fn one(path: &Path, args: &Args, out: &mut Out) -> Outcome {
    let (file, n_rows) = match args.open.open_fst(path)? {
        // Missing values of fst are not counted.
        Some(parts) => (fst::schema(&parts)?, Some(parts.n_rows())),
        None => (args.open.open_table(path)?, None),
    };
    let columns = file.all_columns(0..file.n_columns())?;
    let labels = labels::of(&file)?;
    if args.files.json {
        let columns = columns
            .iter()
            .map(|info| column_json(&file, info, n_rows.is_none()))
            .collect::<entasis::Result<Vec<_>>>()?;
        let object = Object::new()
            .text("file", &path.to_string_lossy())
            .raw("n_rows", n_rows.unwrap_or(file.n_rows()))
            .raw("n_columns", file.n_columns())
            .raw("columns", json::array(columns))
            .raw("index", json::array(labels.iter().map(label_json)));
        writeln!(out, "{}", object.end())?;
        return Ok(());
    }
    args.files.print(path, out, |out| print(&file, n_rows, &columns, &labels, out))
}

/// Prints the columns. `n_rows` is the number of rows if the file has none of them.
fn print(
    file: &File,
    n_rows: Option<u64>,
    columns: &[ColumnInfo],
    labels: &[Label],
    out: &mut Out,
) -> Outcome {
    let mut names = Column::flexible(["column"]);
    let mut types = Column::left(["type"]);
    let mut missing = Column::right(["missing"]);
    let mut notes = Column::left([""]);
    for label in labels {
        names.push(format!("({})", escape(&label.name)));
        types.push(escape(&label.type_name));
        missing.push(match &label.source {
            Source::Column(info) => n_missing(info).map_or_else(|| "-".to_owned(), thousands),
            Source::Range { .. } => "0".to_owned(),
        });
        notes.push("index");
    }
    for info in columns {
        names.push(escape(&info.name));
        types.push(escape(&type_of(file, info)?));
        let n = n_missing(info).filter(|_| n_rows.is_none());
        missing.push(n.map_or_else(|| "-".to_owned(), thousands));
        notes.push(match n_categories(file, info)? {
            Some(1) => "1 category".to_owned(),
            Some(n) => format!("{} categories", thousands(n)),
            None => String::new(),
        });
    }
    let style = out.style();
    table::print_all(vec![names, types, missing, notes], style, out)?;
    let total =
        format!("{} x {}", count(n_rows.unwrap_or(file.n_rows()), "row"), count(file.n_columns(), "column"));
    writeln!(out, "{}", style.dim(&total))?;
    Ok(())
}

/// The number of missing values; `None` for object columns, whose missing values are cells.
fn n_missing(info: &ColumnInfo) -> Option<u64> {
    (info.record.column_type.logical != Logical::Object).then_some(info.record.n_missing)
}

fn n_categories(file: &File, info: &ColumnInfo) -> entasis::Result<Option<u64>> {
    info.record.dictionary.map(|number| Ok(file.column(number)?.record.n_values)).transpose()
}

fn label_json(label: &Label) -> String {
    Object::new().text("name", &label.name).text("type", &label.type_name).end()
}

fn column_json(file: &File, info: &ColumnInfo, has_rows: bool) -> entasis::Result<String> {
    let column_type = &info.record.column_type;
    let mut object = Object::new().text("name", &info.name).text("type", &type_of(file, info)?);
    if info.unknown.is_some() {
        return Ok(object.raw("n_missing", info.record.n_missing).end());
    }
    let n_missing = n_missing(info).filter(|_| has_rows);
    object = object
        .text("physical", column_type.physical.name())
        .text("logical", column_type.logical.name())
        .raw("n_missing", n_missing.map_or_else(|| "null".to_owned(), |n| n.to_string()))
        .text("missing", missing_name(column_type));
    if column_type.unit != Unit::None {
        object = object.text("unit", column_type.unit.name());
    }
    if column_type.logical == Logical::Timestamp {
        object = object.maybe_text("time_zone", time_zone(info.detail.as_ref()));
    }
    if let Some(n) = n_categories(file, info)? {
        object = object.raw("n_categories", n).raw("ordered", column_type.ordered);
    }
    Ok(object.end())
}
