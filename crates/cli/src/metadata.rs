//! `entasis metadata`: shows and sets the metadata of a file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entasis::cells::{Cell, CellWriter, Children, Json, Loaded};
use entasis::{CellKind, Error, File, Kind, Operation, Silent, Value};
use entasis_dataset::column_labels;

use crate::change::ChangeArgs;
use crate::failure::{Failure, Outcome};
use crate::json_value;
use crate::lend;
use crate::objects;
use crate::output::Out;

const EXAMPLES: &str = "Examples:
  entasis metadata flights.entasis
  entasis metadata --set year=2026 --set 'units={\"delay\": \"min\"}' flights.entasis
  entasis metadata --text author=Ada flights.entasis
  entasis metadata --from metadata.json flights.entasis
  entasis metadata --remove flights.entasis

Metadata are a value that is kept next to the one in the file, such as a dict of its source and units. They are shown \
as JSON, without the values of arrays. --set and --text keep the other keys.

Metadata with values that JSON lacks, files of other values than tables, and frames with columns of objects are changed \
in Python and R.";

/// The greatest depth of metadata whose keys are set.
const MAX_DEPTH: usize = 200;

/// Show or set the metadata of a file
///
/// The values of the table are neither read nor written.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// An Entasis file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Set a key to a value of JSON, for example a=1, a=null or 'a="text"'
    #[arg(long, value_name = "KEY=JSON", value_parser = parse_pair, conflicts_with_all = ["from", "remove"])]
    set: Vec<(String, Json)>,
    /// Set a key to a text, after those of --set
    #[arg(long, value_name = "KEY=TEXT", value_parser = parse_text, conflicts_with_all = ["from", "remove"])]
    text: Vec<(String, Json)>,
    /// Replace the metadata by the JSON in a file, or - for the standard input
    #[arg(long, value_name = "JSON", conflicts_with = "remove")]
    from: Option<PathBuf>,
    /// Remove the metadata
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let new = args.from.as_deref().map(read_json).transpose()?;
    if new.is_none() && args.set.is_empty() && args.text.is_empty() && !args.remove {
        return show(&args.change.limits.open(&args.file)?, out);
    }
    args.change.change_and_report(&args.file, "setting metadata", out, |watch| {
        let options = args.change.options();
        let change = args.change.begin(&args.file, &options, watch)?;
        let file = change.file();
        let is_r = is_of_r(file)?;
        let refused = |error: Error| match error.kind() {
            Kind::Unsupported => {
                let host = Value::map([("host", Value::from(if is_r { "r" } else { "python" }))]);
                let python = "use en.set_metadata in Python";
                column_labels::advise(
                    error.in_file(&args.file),
                    &host,
                    python,
                    "use set_metadata_entasis in R",
                )
            }
            _ => error,
        };
        let value = match new {
            Some(value) => value,
            None if args.remove => Json::Null,
            None => with_keys(file, args.set.iter().chain(&args.text)).map_err(refused)?,
        };
        // No metadata are null in Python and R.
        if value == Json::Null {
            let content = change.with_metadata(None).map_err(refused)?;
            change.commit(content, Operation::Metadata, &options, watch)?;
        } else {
            let value = if is_r { json_value::of_r(value).map_err(Failure::Other)? } else { value };
            let mut cells = CellWriter::new();
            value.write(&mut cells);
            lend::set_metadata(change, &cells, is_r, &options, watch).map_err(refused)?;
        }
        Ok(())
    })
}

fn show(file: &File, out: &mut Out) -> Outcome {
    let text = match file.cells()? {
        Some(cells) => cells.roots()?.1.map(|number| objects::json(&cells, number)).transpose()?,
        None => None,
    };
    writeln!(out, "{}", text.as_deref().unwrap_or("null"))?;
    Ok(())
}

fn read_json(path: &Path) -> Outcome<Json> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    }
    .map_err(|error| Error::io(error, "read").in_file(path))?;
    let wrong = |message: String| Error::argument(message).in_file(path);
    Ok(json_value::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(wrong)?)
}

/// Whether the cells of a file are those of R.
fn is_of_r(file: &File) -> entasis::Result<bool> {
    let is_r = |value: &Value| value.get("host").and_then(Value::as_str) == Some("r");
    Ok(is_r(file.value()) || file.is_table() && is_r(&file.host()?))
}

/// The metadata of a file, a map, with other values of some keys. Keys keep their order.
fn with_keys<'a>(file: &File, new: impl Iterator<Item = &'a (String, Json)>) -> entasis::Result<Json> {
    let mut pairs = match stored(file)? {
        None => Vec::new(),
        Some(Json::Map(pairs)) => pairs,
        Some(_) => {
            let error = Error::argument("the metadata are not a dict, so they have no keys");
            return Err(error.in_file(file.path()).advise("replace them with --from"));
        }
    };
    for (key, value) in new {
        match pairs.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.clone_from(value),
            None => pairs.push((key.clone(), value.clone())),
        }
    }
    Ok(Json::Map(pairs))
}

/// The metadata of a file.
///
/// # Errors
/// *Unsupported* when they hold other values than those of JSON.
fn stored(file: &File) -> entasis::Result<Option<Json>> {
    let Some(cells) = file.cells()? else { return Ok(None) };
    let Some(number) = cells.roots()?.1 else { return Ok(None) };
    let left = cells.n_cells().saturating_mul(2);
    let mut loaded = Loaded::new(Arc::new(cells), Some(1));
    let root = number..number.saturating_add(1);
    loaded.close(Vec::from([root]), &Silent)?;
    Reader { loaded: &loaded, left }.value(number, 0).map(Some).map_err(|e| e.in_file(file.path()))
}

struct Reader<'a> {
    loaded: &'a Loaded,
    /// Cells that may still be read. A sound file has no more.
    left: u64,
}

impl Reader<'_> {
    fn value(&mut self, number: u64, depth: usize) -> entasis::Result<Json> {
        self.left =
            self.left.checked_sub(1).ok_or_else(|| Error::corrupt("the metadata contain themselves"))?;
        let refused = |what: &str| Error::unsupported(format!("the metadata have {what}, which JSON lacks"));
        if depth >= MAX_DEPTH {
            return Err(Error::unsupported(format!("the metadata are nested deeper than {MAX_DEPTH}")));
        }
        let cell = match self.loaded.cell(number)? {
            Cell::Int(CellKind::Reference, target) if (0..number.cast_signed()).contains(&target) => {
                match self.loaded.cell(target.cast_unsigned())? {
                    cell @ Cell::Str(..) => cell,
                    // Refuse a shared value: as copies, the parts would no longer change together.
                    _ => return Err(refused("a value that occurs twice")),
                }
            }
            cell => cell,
        };
        Ok(match cell {
            Cell::Unit(CellKind::Null) => Json::Null,
            Cell::Unit(CellKind::False) => Json::Bool(false),
            Cell::Unit(CellKind::True) => Json::Bool(true),
            Cell::Int(CellKind::Int, value) => Json::Int(value),
            Cell::Float(CellKind::Float, value) => Json::Float(value),
            Cell::Str(CellKind::Str, text) => Json::Text(text.to_owned()),
            Cell::Parent(CellKind::List, of) => Json::List(self.values(of.first, of.count, depth)?),
            Cell::Parent(CellKind::Map, of) => {
                let keys = self.keys(&of)?;
                Json::Map(keys.into_iter().zip(self.values(of.first, of.count, depth)?).collect())
            }
            Cell::Parent(CellKind::Records, of) => self.records(&of, depth)?,
            Cell::Parent(kind, _) | Cell::Array { kind, .. } | Cell::Unit(kind) => {
                return Err(refused(&kind.to_string()));
            }
            Cell::Int(kind, _) | Cell::Float(kind, _) | Cell::Str(kind, _) | Cell::Bytes(kind, _) => {
                return Err(refused(&kind.to_string()));
            }
        })
    }

    fn values(&mut self, first: u64, n: u64, depth: usize) -> entasis::Result<Vec<Json>> {
        (first..first.saturating_add(n)).map(|number| self.value(number, depth + 1)).collect()
    }

    fn keys(&mut self, of: &Children) -> entasis::Result<Vec<String>> {
        let key = |value: Json| match value {
            Json::Text(key) => Ok(key),
            _ => Err(Error::unsupported("the metadata have keys that are not text, which JSON lacks")),
        };
        self.values(of.keys, of.count, 0)?.into_iter().map(key).collect()
    }

    /// A list of maps with equal keys, stored as one list for each key.
    fn records(&mut self, of: &Children, depth: usize) -> entasis::Result<Json> {
        let keys = self.keys(of)?;
        let mut columns = Vec::new();
        for column in self.values(of.first, of.count, depth)? {
            match column {
                Json::List(values) => columns.push(values.into_iter()),
                _ => return Err(Error::corrupt("a list of rows has a child that is not a list")),
            }
        }
        let n = columns.first().map_or(0, ExactSizeIterator::len);
        if columns.iter().any(|column| column.len() != n) {
            return Err(Error::corrupt("the lists of a list of rows differ in length"));
        }
        let row = |_| {
            let values = columns.iter_mut().filter_map(Iterator::next);
            Json::Map(keys.iter().cloned().zip(values).collect())
        };
        Ok(Json::List((0..n).map(row).collect()))
    }
}

/// `year=2026`
fn parse_pair(text: &str) -> Result<(String, Json), String> {
    let (key, value) = text.split_once('=').ok_or("no = after the key")?;
    let advice = |message| format!("{message}; for a text use --text KEY=TEXT");
    Ok((key.to_owned(), json_value::parse(value).map_err(advice)?))
}

/// `author=Ada`
fn parse_text(text: &str) -> Result<(String, Json), String> {
    let (key, value) = text.split_once('=').ok_or("no = after the key")?;
    Ok((key.to_owned(), Json::Text(value.to_owned())))
}
