//! `entasis tree`: the contents of a file as an outline.

use std::io::Write;
use std::path::{Path, PathBuf};

use entasis::cells::{Cell, Cells, Children};
use entasis::{CellKind, File, Silent, Value};

use crate::failure::Outcome;
use crate::files;
use crate::labels;
use crate::open::OpenArgs;
use crate::output::Out;
use crate::text::{count, escape, thousands};
use crate::types::type_of;

const EXAMPLES: &str = "Examples:
  entasis tree model.entasis
  entasis tree --depth 10 --items 100 model.entasis

One line for each part: its kind, its number of parts or shape, and short values. Arrays and frames are not read.";

/// The characters of a text that are shown.
const TEXT: usize = 60;

/// Show the contents of a file as a tree, with types, shapes and sizes
///
/// Reads only the parts that are shown, and no values of arrays and frames.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Entasis files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The depth of the tree to show
    #[arg(long, default_value_t = 5, value_name = "N")]
    depth: usize,
    /// The number of parts of one value to show
    #[arg(long, default_value_t = 20, value_name = "N")]
    items: u64,
    #[command(flatten)]
    open: OpenArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: &mut Out) -> Outcome {
    let several = args.files.len() > 1;
    files::for_each(&args.files, out, |path, out| one(path, args, several, out))
}

fn one(path: &Path, args: &Args, several: bool, out: &mut Out) -> Outcome {
    let file = args.open.open(path)?;
    if several {
        writeln!(out, "{}", out.style().bold(&escape(&path.to_string_lossy())))?;
    }
    let mut tree = Tree { file: &file, cells: file.cells()?, args, out };
    if file.is_table() {
        tree.table(&file, "value", 0)?;
    }
    let (value, metadata) = match &tree.cells {
        Some(cells) => cells.roots()?,
        None => (None, None),
    };
    if let Some(value) = value {
        tree.cell(value, "value", 0)?;
    }
    if let Some(metadata) = metadata {
        tree.cell(metadata, "metadata", 0)?;
    }
    Ok(())
}

/// A tree in a few words: "dict, 3 parts".
pub(crate) fn headline(file: &File) -> entasis::Result<String> {
    let Some(cells) = file.cells()? else { return Ok("tree of values".to_owned()) };
    let Some(root) = cells.roots()?.0 else { return Ok("tree of values".to_owned()) };
    let slice = cells.load(root..root.saturating_add(1), None, &Silent)?;
    Ok(match slice.cell(root)? {
        Cell::Parent(kind, children) if kind.is_rows() => {
            let lists = cells.load(children.first..children.first.saturating_add(1), None, &Silent)?;
            format!("{kind} of {}", count(lists.n_rows(&children)?, "row"))
        }
        Cell::Parent(CellKind::Object, _) => "object".to_owned(),
        Cell::Parent(kind, children) => format!("{kind} of {}", count(children.count, "part")),
        Cell::Array { kind, len, .. } => format!("{kind} of {}", count(len, "value")),
        cell => scalar(&cell),
    })
}

struct Tree<'a> {
    file: &'a File,
    cells: Option<Cells>,
    args: &'a Args,
    out: &'a mut Out,
}

impl Tree<'_> {
    fn line(&mut self, level: usize, name: &str, text: &str) -> Outcome {
        writeln!(self.out, "{:width$}{name}: {text}", "", width = 2 * level)?;
        Ok(())
    }

    fn table(&mut self, table: &File, name: &str, level: usize) -> Outcome {
        let host = table.host()?;
        let kind = host.get("class").and_then(Value::as_str).unwrap_or("frame").to_owned();
        let by = host.get("host").and_then(Value::as_str).map(|host| format!(", {}", escape(host)));
        let shape = format!("{} x {}", thousands(table.n_rows()), thousands(table.n_columns()));
        self.line(level, name, &format!("{}, {shape}{}", escape(&kind), by.unwrap_or_default()))?;
        if level >= self.args.depth {
            return Ok(());
        }
        for label in labels::of(table)? {
            let name = format!("({})", quoted(&label.name));
            self.line(level + 1, &name, &format!("{}, index", escape(&label.type_name)))?;
        }
        let shown = table.n_columns().min(self.args.items);
        for info in table.columns(0..shown)? {
            self.line(level + 1, &quoted(&info.name), &escape(&type_of(table, &info)?))?;
        }
        self.rest(level + 1, table.n_columns() - shown)
    }

    fn rest(&mut self, level: usize, n: u64) -> Outcome {
        if n > 0 {
            writeln!(self.out, "{:width$}... {} more", "", thousands(n), width = 2 * level)?;
        }
        Ok(())
    }

    /// `n` cells from `first` on.
    fn load(&self, first: u64, n: u64) -> entasis::Result<Option<entasis::cells::Slice>> {
        let load = |cells: &Cells| cells.load(first..first.saturating_add(n), None, &Silent);
        self.cells.as_ref().map(load).transpose()
    }

    /// Prints a cell and its descendants, down to `depth`.
    fn cell(&mut self, number: u64, name: &str, level: usize) -> Outcome {
        let Some(slice) = self.load(number, 1)? else { return Ok(()) };
        match slice.cell(number)? {
            Cell::Parent(kind, children) if kind.is_rows() => self.rows(kind, &children, name, level),
            Cell::Parent(kind, children) => {
                let mut text = format!("{kind}, {}", thousands(children.count));
                if kind == CellKind::ObjectArray {
                    text = format!("{kind}, {}", self.shape(children.keys)?);
                } else if kind == CellKind::Object {
                    text = self.head(&children)?;
                }
                self.line(level, name, &text)?;
                let has_parts = matches!(
                    kind,
                    CellKind::List | CellKind::Tuple | CellKind::Set | CellKind::FrozenSet | CellKind::Map
                );
                if has_parts && level < self.args.depth {
                    let shown = children.count.min(self.args.items);
                    for i in 0..shown {
                        let name = match kind {
                            CellKind::Map => self.key(children.keys.saturating_add(i))?,
                            _ => format!("[{i}]"),
                        };
                        self.cell(children.first.saturating_add(i), &name, level + 1)?;
                    }
                    self.rest(level + 1, children.count - shown)?;
                }
                Ok(())
            }
            Cell::Array { kind, pool, len, shape, .. } => {
                let Some(cells) = &self.cells else { return Ok(()) };
                let column = cells.file().column(cells.pool(pool)?)?;
                let type_name = type_of(cells.file(), &column)?;
                let shape = if shape == 0 { thousands(len) } else { self.shape(shape)? };
                let order = if kind == CellKind::FortranArray { ", Fortran order" } else { "" };
                self.line(level, name, &format!("array of {}, {shape}{order}", escape(&type_name)))
            }
            Cell::Int(CellKind::Table, table) => {
                let table = self.file.table(table.cast_unsigned())?;
                self.table(&table, name, level)
            }
            cell => {
                let text = scalar(&cell);
                self.line(level, name, &text)
            }
        }
    }

    /// Prints a list of rows with its first rows.
    fn rows(&mut self, kind: CellKind, children: &Children, name: &str, level: usize) -> Outcome {
        let Some(lists) = self.load(children.first, children.count)? else { return Ok(()) };
        let n = lists.n_rows(children)?;
        self.line(level, name, &format!("{kind}, {}", thousands(n)))?;
        if level >= self.args.depth {
            return Ok(());
        }
        let of = if kind == CellKind::Records { CellKind::Map } else { CellKind::Tuple };
        let shown = n.min(self.args.items);
        for row in 0..shown {
            self.line(level + 1, &format!("[{row}]"), &format!("{of}, {}", thousands(children.count)))?;
            let fields = if level + 1 < self.args.depth { children.count.min(self.args.items) } else { 0 };
            for i in 0..fields {
                let Cell::Parent(_, list) = lists.cell(children.first + i)? else { continue };
                let name = match of {
                    CellKind::Map => self.key(children.keys.saturating_add(i))?,
                    _ => format!("[{i}]"),
                };
                self.cell(list.first.saturating_add(row), &name, level + 2)?;
            }
            self.rest(level + 2, if fields > 0 { children.count - fields } else { 0 })?;
        }
        self.rest(level + 1, n - shown)
    }

    /// A description of an object: its name, and the class of a record.
    fn head(&self, children: &Children) -> entasis::Result<String> {
        let n = children.count.min(3);
        let Some(slice) = self.load(children.first, n)? else { return Ok(String::new()) };
        let mut words = Vec::new();
        for number in children.first..children.first.saturating_add(n) {
            match slice.cell(number)? {
                Cell::Str(CellKind::Str, text) => words.push(escape(text).to_string()),
                _ => break,
            }
        }
        Ok(match words.as_slice() {
            [name, kind, class] if name == "record" => format!("{kind} {class}"),
            [name, ..] => name.clone(),
            [] => "object".to_owned(),
        })
    }

    fn shape(&self, number: u64) -> entasis::Result<String> {
        let cell = |number| self.load(number, 1);
        let Some(tuple) = cell(number)? else { return Ok(String::new()) };
        let Cell::Parent(_, children) = tuple.cell(number)? else { return Ok("?".to_owned()) };
        let mut lengths = Vec::new();
        for number in children.first..children.first.saturating_add(children.count.min(64)) {
            if let Some(slice) = cell(number)?
                && let Cell::Int(_, n) = slice.cell(number)?
            {
                lengths.push(thousands(n.unsigned_abs()));
            }
        }
        Ok(if lengths.is_empty() { "no axes".to_owned() } else { lengths.join(" x ") })
    }

    fn key(&self, number: u64) -> entasis::Result<String> {
        let Some(slice) = self.load(number, 1)? else { return Ok(String::new()) };
        Ok(match slice.cell(number)? {
            Cell::Str(CellKind::Str, text) => quoted(text),
            Cell::Parent(kind, children) => format!("({kind}, {})", thousands(children.count)),
            cell => scalar(&cell),
        })
    }
}

/// A value without parts: its kind and its text.
fn scalar(cell: &Cell<'_>) -> String {
    match *cell {
        Cell::Unit(kind) => kind.to_string(),
        Cell::Int(CellKind::UInt64, value) => format!("{} = {}", CellKind::UInt64, value.cast_unsigned()),
        Cell::Int(kind, value) => format!("{kind} = {value}"),
        Cell::Float(kind, value) => format!("{kind} = {value}"),
        Cell::Str(kind, text) => format!("{kind} = {}", quoted(text)),
        Cell::Bytes(kind, bytes) => format!("{kind}, {} bytes", thousands(bytes.len() as u64)),
        Cell::Parent(kind, _) | Cell::Array { kind, .. } => kind.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(TEXT).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("\"{}{more}\"", escape(&shown))
}
