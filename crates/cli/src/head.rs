//! `entasis head`: the first rows, or any others.

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use entasis::{ColumnInfo, Error, File};

use crate::array::{self, Array};
use crate::cell;
use crate::failure::Outcome;
use crate::json;
use crate::output::Out;
use crate::progress::Watch;
use crate::table::{self, Cell, Column};
use crate::text::{count, escape, thousands};
use crate::types::{is_number, missing_name, type_of};

/// Rows that are read and printed at once as JSON.
const STEP: u64 = 1 << 16;
/// The same, in values.
const STEP_VALUES: u64 = 1 << 20;

const EXAMPLES: &str = "Examples:
  entasis head flights.entasis
  entasis head -n 3 --columns carrier,delay flights.entasis
  entasis head --rows 1000:1010 flights.entasis
  entasis head --json -n 1000000 flights.entasis | jq .delay

The second line of the table has the types. A missing value is shown as null, or as NA, NaN, NaT or None where it was \
written as such. Nested values are shown as JSON.

JSON: missing values are null, times text as in ISO 8601, bytes hexadecimal digits, and floats that JSON doesn't have \
\"NaN\", \"Infinity\", \"-Infinity\"; lists are arrays, structs objects, maps arrays of objects. \
What a column of objects holds is not shown: (object). A second column of one name has its number behind it: \"delay#7\".";

/// Show the first rows of a table, or any others
///
/// Reads the rows and columns asked for, and no others.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An Entasis file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How many rows
    #[arg(short = 'n', long = "n-rows", value_name = "N", default_value_t = 10, conflicts_with = "rows")]
    n: u64,
    /// Rows START up to, not including, STOP; the first is 0. Either may be left out
    #[arg(long, value_name = "START:STOP", value_parser = parse_rows)]
    rows: Option<(u64, Option<u64>)>,
    /// The columns to show, in this order. A name with a comma in it needs a --columns of its own
    #[arg(short, long, value_name = "A,B")]
    columns: Vec<String>,
    /// Print one JSON object per row, on a line of its own
    #[arg(long)]
    json: bool,
    /// Threads to read with [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    threads: Option<usize>,
}

fn parse_rows(text: &str) -> Result<(u64, Option<u64>), String> {
    let number = |text: &str| text.replace('_', "").parse::<u64>().map_err(|e| format!("{text:?}: {e}"));
    let (start, stop) = text.split_once(':').ok_or("write START:STOP, such as 1000:1010")?;
    let start = if start.is_empty() { 0 } else { number(start)? };
    let stop = if stop.is_empty() { None } else { Some(number(stop)?) };
    if stop.is_some_and(|stop| stop < start) {
        return Err("STOP is before START".to_owned());
    }
    Ok((start, stop))
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let file = crate::open_table(&args.file)?;
    let n_rows = file.n_rows();
    let rows = match args.rows {
        None => 0..args.n.min(n_rows),
        Some((start, stop)) => start..stop.unwrap_or(n_rows.max(start)),
    };
    if rows.end > n_rows || rows.start > n_rows {
        let message = format!(
            "rows {}:{} are out of range: the table has {}",
            rows.start,
            rows.end,
            count(n_rows, "row")
        );
        return Err(Error::argument(message)
            .in_file(&args.file)
            .advise("rows count from 0, STOP is not included")
            .into());
    }
    let (columns, n_asked) = select(&file, args, out)?;
    let watch = Watch::new("reading");
    let categories = array::load_categories(&file, &columns, args.threads, &watch)?;
    let load = |rows: &Range<u64>| -> entasis::Result<Vec<Array>> {
        let mut arrays = array::load(&file, &columns, rows, args.threads, &watch)?;
        for (array, categories) in arrays.iter_mut().zip(&categories) {
            array.categories.clone_from(categories);
        }
        Ok(arrays)
    };
    if !args.json {
        let arrays = load(&rows)?;
        return print_table(&file, &columns, &arrays, &rows, n_asked, out);
    }
    let keys = json_keys(&columns);
    let step = (STEP_VALUES / (columns.len() as u64).max(1)).clamp(1, STEP);
    let mut start = rows.start;
    while start < rows.end {
        watch.check()?;
        let part = start..rows.end.min(start.saturating_add(step));
        print_json(&keys, &load(&part)?, out)?;
        start = part.end;
    }
    Ok(())
}

/// The columns to read, and how many there are to show: a terminal has no room for thousands.
fn select(file: &File, args: &Args, out: &Out) -> Outcome<(Vec<ColumnInfo>, u64)> {
    let room = match out.style().width {
        Some(width) if !args.json => (width / 3).max(1),
        _ => usize::MAX,
    };
    if args.columns.is_empty() {
        let n = file.n_columns();
        let columns = file.columns(0..n.min(room as u64))?;
        return Ok((columns, n));
    }
    let mut numbers = Vec::new();
    for names in &args.columns {
        // A name may have commas in it: what is a name as a whole is taken as one. Columns of one name all count.
        let whole = file.find_all(names)?;
        if !whole.is_empty() {
            numbers.extend(whole);
            continue;
        }
        for name in names.split(',') {
            let found = file.find_all(name)?;
            if found.is_empty() {
                return Err(unknown_column(file, args, name).into());
            }
            numbers.extend(found);
        }
    }
    let n = numbers.len() as u64;
    numbers.truncate(room);
    let columns = numbers.into_iter().map(|number| Ok((*file.column(number)?).clone()));
    Ok((columns.collect::<entasis::Result<_>>()?, n))
}

fn unknown_column(file: &File, args: &Args, name: &str) -> Error {
    let other = similar(file, name).map(|other| format!("did you mean {other:?}?"));
    let advice = other.unwrap_or_else(|| "`entasis schema` shows the names".to_owned());
    Error::argument(format!("there is no column {name:?}")).in_file(&args.file).advise(advice)
}

/// A name that differs in case or surrounding space alone.
fn similar(file: &File, name: &str) -> Option<String> {
    let wanted = name.trim().to_lowercase();
    let columns = file.columns(0..file.n_columns().min(10_000)).ok()?;
    columns.into_iter().map(|info| info.name).find(|name| name.trim().to_lowercase() == wanted)
}

fn print_table(
    file: &File,
    columns: &[ColumnInfo],
    arrays: &[Array],
    rows: &Range<u64>,
    n_asked: u64,
    out: &mut Out,
) -> Outcome {
    let style = out.style();
    let n = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
    let types = columns.iter().map(|info| type_of(file, info)).collect::<entasis::Result<Vec<_>>>()?;
    let table = columns.iter().zip(arrays).zip(types).map(|((info, array), type_name)| {
        let titles = [Cell::from(escape(&info.name)), Cell::dim(escape(&type_name))];
        let mut column =
            if is_number(&array.column_type) { Column::right(titles) } else { Column::flexible(titles) };
        for i in 0..n {
            column.push(match cell::text(array, i) {
                Some(text) => Cell::from(escape(&text)),
                None => Cell::dim(missing_name(&array.column_type)),
            });
        }
        column
    });
    let n_shown = table::print(table.collect(), style, out)? as u64;
    let mut note = format!("{} of {}", thousands(rows.end - rows.start), count(file.n_rows(), "row"));
    if rows.start > 0 {
        note = format!(
            "rows {} to {} of {}",
            thousands(rows.start),
            thousands(rows.end),
            thousands(file.n_rows())
        );
    }
    if n_shown < n_asked {
        let more =
            format!("; {} of {} shown, choose with --columns", thousands(n_shown), count(n_asked, "column"));
        note.push_str(&more);
    }
    writeln!(out, "{}", style.dim(&note))?;
    Ok(())
}

/// The keys of the columns: names, made unique.
fn json_keys(columns: &[ColumnInfo]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut keys = Vec::with_capacity(columns.len());
    for info in columns {
        let mut key = info.name.clone();
        while !taken.insert(key.clone()) {
            key = format!("{key}#{}", info.index);
        }
        let mut text = String::new();
        json::string(&mut text, &key);
        keys.push(text);
    }
    keys
}

fn print_json(keys: &[String], arrays: &[Array], out: &mut Out) -> Outcome {
    let n = arrays.iter().map(|array| array.n).max().unwrap_or(0);
    let mut line = String::new();
    for i in 0..n {
        line.clear();
        for (key, array) in keys.iter().zip(arrays) {
            line.push(if line.is_empty() { '{' } else { ',' });
            line.push_str(key);
            line.push(':');
            cell::json(array, i, &mut line);
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}
