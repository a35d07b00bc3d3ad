//! `entasis head` and `entasis tail`: the first, the last, or any other rows.

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use entasis::{ColumnInfo, Error, File, Logical, Monitor, Rows};
use entasis_convert::Parts;

use crate::array::{self, Array, Values};
use crate::cell;
use crate::failure::Outcome;
use crate::fst;
use crate::json;
use crate::labels::{self, Label, Source};
use crate::limits::parse_n_rows;
use crate::names::{requested_columns, unknown_column};
use crate::nested;
use crate::objects::{self, Style};
use crate::open::OpenArgs;
use crate::output::{Out, WidthArgs};
use crate::progress::{Step, Watch};
use crate::row_set::RowSet;
use crate::table::{self, Cell, Column};
use crate::text::{count, escape, thousands};
use crate::types::{is_number, missing_name, type_of};

/// The most rows that are read and printed together as JSON.
const STEP: u64 = 1 << 16;
/// The most values in one step.
const STEP_VALUES: u64 = 1 << 20;
/// The most bytes of values in one step, estimated from earlier rows.
const STEP_LEN: u64 = 32 << 20;
/// The rows of the first step, from which the lengths of later rows are estimated.
const FIRST_STEP: u64 = 1 << 10;

const EXAMPLES: &str = "Examples:
  entasis head flights.entasis
  entasis head -n 3 --columns carrier,delay flights.entasis
  entasis head --rows 1000:1010 flights.entasis
  entasis head --width 200 flights.entasis > rows.txt
  entasis head --json -n 1000000 flights.entasis | jq .delay
  entasis head --generation 3 flights.entasis
  cat flights.entasis | entasis head -

The second line of the table has the types. Labels of rows (the index) come first, with their names in parentheses. \
A missing value is shown as null, or as NA, NaN, NaT or None where it was written as such. Nested values are shown as \
JSON.

JSON: missing values are null, times text as in ISO 8601, bytes hexadecimal digits, and floats that JSON doesn't have \
\"NaN\", \"Infinity\", \"-Infinity\"; lists are arrays, structs objects, maps arrays of objects. \
A second column with the same name has its number after it: \"delay#7\".";

const TAIL_EXAMPLES: &str = "Examples:
  entasis tail flights.entasis
  entasis tail -n 3 --columns carrier,delay flights.entasis
  entasis tail --json -n 1000 flights.entasis | jq .delay

The output is that of `entasis head`.";

/// Show the first rows of a table, or any others
///
/// Reads only the rows and columns asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The number of rows
    #[arg(
        short = 'n', long, alias = "n-rows", value_name = "N", value_parser = parse_n_rows,
        default_value_t = 10, conflicts_with = "rows"
    )]
    limit: u64,
    /// Rows START up to, but not including, STOP; the first row is 0, negative numbers count from
    /// the end, either may be left out
    #[arg(long, value_name = "START:STOP", value_parser = parse_rows, allow_hyphen_values = true)]
    rows: Option<(Option<i64>, Option<i64>)>,
    #[command(flatten)]
    print: PrintArgs,
}

/// Show the last rows of a table
///
/// Reads only the rows and columns asked for.
#[derive(clap::Args)]
#[command(after_help = TAIL_EXAMPLES)]
pub(crate) struct TailArgs {
    /// The number of rows
    #[arg(
        short = 'n', long, alias = "n-rows", value_name = "N", value_parser = parse_n_rows,
        default_value_t = 10
    )]
    limit: u64,
    #[command(flatten)]
    print: PrintArgs,
}

/// The columns to print, and the form of the output.
#[derive(Clone, clap::Args)]
pub(crate) struct PrintArgs {
    /// A file of Entasis or R, a folder of Entasis files, the address of one of them on a store, a
    /// file that `entasis convert` takes, or - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print one JSON object per row, on a line of its own
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    width: WidthArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// The columns to read, and how they are read.
#[derive(Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// The columns to show, in this order. A name with a comma needs a --columns of its own
    #[arg(short, long, value_name = "A,B")]
    columns: Vec<String>,
    /// Leave out the labels of rows
    #[arg(long)]
    no_index: bool,
    /// Threads to read with [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
}

impl PrintArgs {
    /// The names of columns as they were given.
    pub(crate) fn names(&self) -> &[String] {
        &self.read.columns
    }

    /// Whether labels of rows are left out.
    pub(crate) fn has_no_index(&self) -> bool {
        self.read.no_index
    }

    /// The indices in the table of the requested columns.
    ///
    /// # Errors
    /// *Argument* for a name that no column has.
    pub(crate) fn indices(&self, file: &File) -> entasis::Result<Vec<usize>> {
        requested_columns(file, &self.file, &self.read.columns)
    }
}

fn parse_rows(text: &str) -> Result<(Option<i64>, Option<i64>), String> {
    let number = |text: &str| match text {
        "" => Ok(None),
        text => text.replace('_', "").parse().map(Some).map_err(|_| format!("{text:?} is not an integer")),
    };
    let (start, stop) = text.split_once(':').ok_or("write START:STOP, such as 1000:1010")?;
    let (start, stop) = (number(start)?, number(stop)?);
    match (start, stop) {
        (Some(start), Some(stop)) if (start < 0) == (stop < 0) && stop < start => {
            Err("STOP is before START".to_owned())
        }
        _ => Ok((start, stop)),
    }
}

/// The rows that START:STOP selects. A STOP beyond the last row means the end of the table.
fn resolve_rows(start: Option<i64>, stop: Option<i64>, n_rows: u64) -> Option<Range<u64>> {
    let row = |number: i64| match number {
        0.. => number.unsigned_abs(),
        _ => n_rows.saturating_sub(number.unsigned_abs()),
    };
    let start = start.map_or(0, row);
    let stop = stop.map_or(n_rows, row).min(n_rows);
    (start <= n_rows).then(|| start..stop.max(start))
}

/// A column that is shown.
struct Shown {
    name: String,
    type_name: String,
    is_label: bool,
    source: Source,
}

impl From<Label> for Shown {
    fn from(Label { name, type_name, source }: Label) -> Self {
        Self { name, type_name, is_label: true, source }
    }
}

impl Shown {
    fn column(file: &File, info: ColumnInfo) -> entasis::Result<Self> {
        let type_name = type_of(file, &info)?;
        Ok(Self {
            name: info.name.clone(),
            type_name,
            is_label: false,
            source: Source::Column(Box::new(info)),
        })
    }
}

/// Runs `entasis head`.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let opened = match (args.print.read.open.open_fst(&args.print.file)?, args.rows) {
        (Some(parts), _) => Opened::Fst(Box::new(parts)),
        (None, None) => return run_first(args, out),
        (None, Some(_)) => Opened::File(Box::new(args.print.read.open.open_table(&args.print.file)?)),
    };
    let n_rows = opened.n_rows();
    let (start, stop) = args.rows.unwrap_or((None, Some(args.limit.min(i64::MAX as u64).cast_signed())));
    let rows = resolve_rows(start, stop, n_rows).ok_or_else(|| {
        let message =
            format!("row {} is out of range: the table has {}", start.unwrap_or(0), count(n_rows, "row"));
        Error::argument(message).in_file(&args.print.file).advise("rows count from 0, STOP is not included")
    })?;
    print_range(&opened, rows, &args.print, out)
}

/// Prints the first rows.
fn run_first(args: &Args, out: &mut Out) -> Outcome {
    let (file, n_all) = args.print.read.open.open_first(&args.print.file, args.limit)?;
    let n = args.limit.min(file.n_rows());
    let note = match n_all.or((n < args.limit).then_some(n)) {
        Some(all) => format!("{} of {}", thousands(n), count(all, "row")),
        None => format!("the first {}", count(n, "row")),
    };
    print(&file, &RowSet::from(0..n), Some(note), &args.print, out)
}

/// Runs `entasis tail`.
pub(crate) fn run_tail(args: &TailArgs, out: &mut Out) -> Outcome {
    let opened = Opened::open(&args.print)?;
    let n_rows = opened.n_rows();
    let rows = n_rows.saturating_sub(args.limit)..n_rows;
    print_range(&opened, rows, &args.print, out)
}

/// The table whose rows are printed.
enum Opened {
    File(Box<File>),
    /// A table of fst. Only the rows that are printed are read.
    Fst(Box<Parts>),
}

impl Opened {
    fn open(args: &PrintArgs) -> entasis::Result<Self> {
        match args.read.open.open_fst(&args.file)? {
            Some(parts) => Ok(Self::Fst(Box::new(parts))),
            None => Ok(Self::File(Box::new(args.read.open.open_table(&args.file)?))),
        }
    }

    fn n_rows(&self) -> u64 {
        match self {
            Self::File(file) => file.n_rows(),
            Self::Fst(parts) => parts.n_rows(),
        }
    }
}

fn print_range(opened: &Opened, rows: Range<u64>, args: &PrintArgs, out: &mut Out) -> Outcome {
    let n_rows = opened.n_rows();
    let note = if rows.start > 0 {
        let [start, end, all] = [rows.start, rows.end, n_rows].map(thousands);
        format!("rows {start} to {end} of {all}")
    } else {
        format!("{} of {}", thousands(rows.end), count(n_rows, "row"))
    };
    match opened {
        Opened::File(file) => print(file, &RowSet::from(rows), Some(note), args, out),
        Opened::Fst(parts) => {
            let file = fst::part(parts, &args.read.columns, rows)?;
            print(&file, &RowSet::from(0..file.n_rows()), Some(note), args, out)
        }
    }
}

/// Prints rows of a table. `note` describes rows other than the first ones.
pub(crate) fn print(
    file: &File,
    rows: &RowSet,
    note: Option<String>,
    args: &PrintArgs,
    out: &mut Out,
) -> Outcome {
    if args.json {
        return print_lines(file, [Ok(rows.clone())], rows.span(), &args.read, out);
    }
    args.width.apply(out);
    // A terminal has no room for thousands of columns.
    let room = out.style().width.map_or(usize::MAX, |width| (width / 3).max(1));
    let (shown, n_asked) = select(file, &args.read, room)?;
    let watch = Watch::new("reading");
    let arrays = Reader::new(file, &shown, Style::Text, args.read.threads, &watch)?.read(rows)?;
    let n = array::in_memory(rows.n())?;
    let note = note.unwrap_or_else(|| format!("{} of {}", thousands(rows.n()), count(file.n_rows(), "row")));
    print_table(&shown, &arrays, n, note, n_asked, out)
}

/// Prints the rows of each set, which are within `span`, as lines of JSON. Holds some megabytes of
/// values at a time.
pub(crate) fn print_lines(
    file: &File,
    sets: impl IntoIterator<Item = entasis::Result<RowSet>>,
    span: Range<u64>,
    args: &ReadArgs,
    out: &mut Out,
) -> Outcome {
    let watch = Watch::of_lines("reading");
    let (shown, _) = select(file, args, usize::MAX)?;
    let reader = Reader::new(file, &shown, Style::Json, args.threads, &Step)?;
    let keys = json_keys(&shown);
    let most = (STEP_VALUES / (shown.len() as u64).max(1)).clamp(1, STEP);
    let mut step = most.min(FIRST_STEP);
    for rows in sets {
        watch.check()?;
        let mut rows = rows?;
        while let Some(part) = rows.take(step) {
            watch.check()?;
            let arrays = reader.read(&part)?;
            print_json(&keys, &arrays, array::in_memory(part.n())?, out)?;
            watch.progress(part.span().end - span.start, span.end - span.start);
            let len = arrays.iter().map(Array::len).sum::<usize>() as u64;
            let fitting = STEP_LEN / (len / part.n().max(1)).max(1);
            // Longer rows may follow, so the step grows slowly.
            step = fitting.min(step * 4).clamp(1, most);
        }
    }
    Ok(())
}

/// Reads rows of the columns that are shown.
struct Reader<'a> {
    file: &'a File,
    shown: &'a [Shown],
    /// The columns that the file stores.
    stored: Vec<ColumnInfo>,
    categories: Vec<Option<std::sync::Arc<Array>>>,
    style: Style,
    threads: Option<usize>,
    monitor: &'a dyn Monitor,
}

impl<'a> Reader<'a> {
    fn new(
        file: &'a File,
        shown: &'a [Shown],
        style: Style,
        threads: Option<usize>,
        monitor: &'a dyn Monitor,
    ) -> entasis::Result<Self> {
        let stored: Vec<ColumnInfo> = shown
            .iter()
            .filter_map(|shown| match &shown.source {
                Source::Column(info) => Some((**info).clone()),
                Source::Range { .. } => None,
            })
            .collect();
        let categories = array::load_categories(file, &stored, threads, monitor)?;
        Ok(Self { file, shown, stored, categories, style, threads, monitor })
    }

    fn read(&self, rows: &RowSet) -> entasis::Result<Vec<Array>> {
        let asked = Rows::from(rows);
        let load_nested =
            |columns: &[&ColumnInfo]| nested::load(self.file, columns, &asked, self.threads, self.monitor);
        let mut arrays =
            array::load(self.file, &self.stored, &asked, self.threads, self.monitor, &load_nested)?;
        for ((array, categories), info) in arrays.iter_mut().zip(&self.categories).zip(&self.stored) {
            array.categories.clone_from(categories);
            if info.record.column_type.logical == Logical::Object {
                let mut objects = Vec::new();
                for rows in rows.ranges() {
                    let of = objects::load(self.file, info, rows, self.style, self.threads, self.monitor)?;
                    objects.extend(of);
                }
                array.values = Values::Objects(objects);
            }
        }
        let mut stored = arrays.into_iter();
        let all = self.shown.iter().filter_map(|shown| match shown.source {
            Source::Column(_) => stored.next().map(Ok),
            Source::Range { start, step } => Some(labels::range(&shown.name, start, step, rows)),
        });
        all.collect()
    }
}

/// The columns to read, at most `room` besides labels, and the number of requested columns.
fn select(file: &File, args: &ReadArgs, room: usize) -> Outcome<(Vec<Shown>, u64)> {
    let mut shown: Vec<Shown> =
        if args.no_index { Vec::new() } else { labels::of(file)?.into_iter().map(Shown::from).collect() };
    if args.columns.is_empty() {
        let n = file.n_columns();
        for info in file.columns(0..n.min(room as u64))? {
            shown.push(Shown::column(file, info)?);
        }
        let n_labels = shown.len() as u64 - n.min(room as u64);
        return Ok((shown, n.saturating_add(n_labels)));
    }
    // A requested label is shown at its position among the requested columns.
    let mut chosen: Vec<Shown> = Vec::new();
    let mut take = |name: &str| -> entasis::Result<bool> {
        let found = file.find_all(name)?;
        for &number in &found {
            chosen.push(Shown::column(file, (*file.column(number)?).clone())?);
        }
        if found.is_empty()
            && let Some(at) = shown.iter().position(|label| label.name == name)
        {
            chosen.push(shown.remove(at));
            return Ok(true);
        }
        Ok(!found.is_empty())
    };
    for names in &args.columns {
        // A name may have commas, so a whole name wins. All columns of one name count.
        if take(names)? {
            continue;
        }
        for name in names.split(',') {
            if !take(name)? {
                return Err(unknown_column(file, file.path(), name).into());
            }
        }
    }
    shown.append(&mut chosen);
    let n = shown.len() as u64;
    shown.truncate(room);
    Ok((shown, n))
}

fn print_table(
    shown: &[Shown],
    arrays: &[Array],
    n: usize,
    mut note: String,
    n_asked: u64,
    out: &mut Out,
) -> Outcome {
    let style = out.style();
    let table = shown.iter().zip(arrays).map(|(shown, array)| {
        let name = escape(&shown.name);
        let name = if shown.is_label { format!("({name})") } else { name.into_owned() };
        let titles = [Cell::from(name), Cell::dim(escape(&shown.type_name))];
        let mut column =
            if is_number(&array.column_type) { Column::right(titles) } else { Column::flexible(titles) };
        for i in 0..n {
            column.push(match cell::text(array, i) {
                Some(text) if array.is_missing(i) => Cell::dim(text),
                Some(text) => Cell::from(escape(&text)),
                None => Cell::dim(missing_name(&array.column_type)),
            });
        }
        column
    });
    let n_shown = table::print(table.collect(), style, out)? as u64;
    if n_shown < n_asked {
        let more =
            format!("; {} of {} shown, choose with --columns", thousands(n_shown), count(n_asked, "column"));
        note.push_str(&more);
    }
    writeln!(out, "{}", style.dim(&note))?;
    Ok(())
}

/// The keys of the columns: unique names. A column keeps its name; a label of the same name gets
/// another one.
fn json_keys(shown: &[Shown]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut keys = vec![String::new(); shown.len()];
    let (labels, columns): (Vec<_>, Vec<_>) = (0..shown.len()).partition(|&i| shown[i].is_label);
    for i in columns.into_iter().chain(labels) {
        let mut key = shown[i].name.clone();
        while !taken.insert(key.clone()) {
            key = match &shown[i].source {
                Source::Column(info) if !shown[i].is_label => format!("{key}#{}", info.index),
                _ => format!("{key}#index"),
            };
        }
        json::string(&mut keys[i], &key);
    }
    keys
}

fn print_json(keys: &[String], arrays: &[Array], n: usize, out: &mut Out) -> Outcome {
    let mut line = String::new();
    for i in 0..n {
        line.clear();
        line.push('{');
        for (k, (key, array)) in keys.iter().zip(arrays).enumerate() {
            if k > 0 {
                line.push(',');
            }
            line.push_str(key);
            line.push(':');
            cell::json(array, i, &mut line);
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_from_either_end() {
        let of = |text: &str, n| parse_rows(text).map(|(start, stop)| resolve_rows(start, stop, n));
        assert_eq!(of("2:5", 10), Ok(Some(2..5)));
        assert_eq!(of(":", 10), Ok(Some(0..10)));
        assert_eq!(of("-3:", 10), Ok(Some(7..10)));
        assert_eq!(of("-3:-1", 10), Ok(Some(7..9)));
        assert_eq!(of("2:-1", 10), Ok(Some(2..9)));
        assert_eq!(of("8:-5", 10), Ok(Some(8..8)));
        assert_eq!(of("-30:4", 10), Ok(Some(0..4)));
        assert_eq!(of("5:99_999_999_999", 10), Ok(Some(5..10)));
        assert_eq!(of("10:", 10), Ok(Some(10..10)));
        assert_eq!(of("11:", 10), Ok(None));
        assert!(of("5", 10).is_err() && of("5:3", 10).is_err() && of("a:3", 10).is_err());
        assert!(of("-1:-3", 10).is_err());
    }
}
