//! Plans frames and vectors as tables, with their host maps.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use entasis::{Buffer, Error, Frame, HostRead, Result, Value as Node};

use super::choose::choose;
use super::columns::{column, is_atomic};
use super::memory::{Memory, Planned};
use super::path::{Path, Step};
use super::shapes::{dim_of, is_frame_like, is_lt_like, is_record, n_rows};
use super::{Planner, Waiting, attributes, classes};
use crate::r::kind::Kind;
use crate::r::missing::NA_INTEGER;
use crate::r::{Data, Strings, Value};

/// A table to write.
#[derive(Default)]
pub(super) struct Table<'a> {
    n_rows: u64,
    columns: Vec<Planned<'a>>,
    extra: Vec<Planned<'a>>,
    /// The extra columns with levels of factors, by the hashes of these.
    dictionaries: HashMap<u64, Vec<usize>>,
    /// Host map, whose column numbers count the extra columns.
    host: Vec<(&'static str, Node)>,
}

/// A vector that was added to a table: its first column, and what its kind does not imply.
pub(super) struct Vector {
    pub first: usize,
    pub description: Option<Node>,
}

/// A column of a frame that was added.
struct Added {
    vector: Vector,
    /// Whether it has several columns.
    is_nested: bool,
}

impl<'a> Table<'a> {
    fn add(&mut self, is_extra: bool, planned: Planned<'a>) -> usize {
        let to = if is_extra { &mut self.extra } else { &mut self.columns };
        to.push(planned);
        to.len() - 1
    }

    /// Which extra columns of the frame have a value for each row: the codes of encodings.
    pub(super) fn labels(&self) -> Vec<usize> {
        let n = self.columns.iter().filter(|column| column.codes().is_some()).count();
        (self.extra.len()..self.extra.len() + n).collect()
    }

    /// The memory of converted values.
    pub(super) fn into_memory(self) -> Vec<Arc<Buffer>> {
        self.columns.into_iter().chain(self.extra).filter_map(|column| column.memory.into_buffer()).collect()
    }

    /// The frame of the core, which borrows the values.
    pub(super) fn frame(&self, lend: &dyn Fn(&[u8]) -> HostRead) -> Result<Frame> {
        let n_columns = self.columns.len() as u64;
        let make =
            |all: &[Planned<'a>]| all.iter().map(|column| column.column(lend)).collect::<Result<Vec<_>>>();
        let (columns, mut extra) = (make(&self.columns)?, make(&self.extra)?);
        let mut host = Node::map(self.host.iter().map(|(key, node)| (*key, shifted(node, n_columns))));
        let mut encodings = Vec::new();
        let all = [(false, &self.columns), (true, &self.extra)];
        for (is_extra, planned) in
            all.iter().flat_map(|(of, all)| all.iter().enumerate().map(move |at| (*of, at)))
        {
            let (number, column) = planned;
            let Some(codes) = column.codes() else { continue };
            let of =
                if is_extra { Node::Column(n_columns + number as u64) } else { Node::Int(number as i64) };
            encodings.push(Node::List(vec![of, Node::Column(n_columns + extra.len() as u64)]));
            extra.push(Planned::plain(Kind::Raw, codes.len(), Memory::Raw(codes)).column(lend)?);
        }
        if let (Node::Map(pairs), false) = (&mut host, encodings.is_empty()) {
            pairs.push((Node::from("encodings"), Node::List(encodings)));
        }
        Ok(Frame { n_rows: self.n_rows, columns, extra, host })
    }
}

/// A node whose column numbers count all columns.
fn shifted(node: &Node, by: u64) -> Node {
    match node {
        Node::Column(number) => Node::Column(number + by),
        Node::List(items) => Node::List(items.iter().map(|item| shifted(item, by)).collect()),
        Node::Map(pairs) => {
            Node::Map(pairs.iter().map(|(key, node)| (key.clone(), shifted(node, by))).collect())
        }
        other => other.clone(),
    }
}

impl<'a> Planner<'a> {
    /// The table of a frame or a vector.
    pub(super) fn table(&mut self, Waiting { value, path }: Waiting<'a>) -> Result<Table<'a>> {
        let mut table = Table { host: vec![("host", Node::from("r"))], ..Table::default() };
        if is_frame_like(value) {
            table.n_rows = n_rows(value).unwrap_or(0);
            self.frame(&mut table, value, path)?;
        } else {
            table.n_rows = value.len() as u64;
            self.lone(&mut table, value, path)?;
        }
        Ok(table)
    }

    /// A vector as a table of one column.
    fn lone(&mut self, table: &mut Table<'a>, value: &'a Value, path: Path) -> Result<()> {
        let vector = self.vector(table, false, value, &["value".to_owned()], path)?;
        table.host.push(("form", Node::from("vector")));
        if let Some(names) = value.attribute("names").filter(|names| names.strings().is_some()) {
            let path = self.walker.paths.add(path, Step::Part("names"));
            let labels = self.vector(table, true, names, &["names".to_owned()], path)?;
            table.host.push(("index", index(labels.first)));
        }
        if let Some(description) = vector.description {
            table.host.push(("columns", Node::List(vec![Node::List(vec![Node::Int(0), description])])));
        }
        Ok(())
    }

    fn frame(&mut self, table: &mut Table<'a>, value: &'a Value, path: Path) -> Result<()> {
        let Data::List(items) = &value.data else { return Ok(()) };
        table.host.push(("form", Node::from("data.frame")));
        let names = value.attribute("names");
        let labels = labels(names.and_then(Value::strings), items.len());
        let (mut descriptions, mut is_nested) = (Vec::new(), false);
        for (i, (item, label)) in items.iter().zip(labels).enumerate() {
            let path = self.walker.paths.add(path, Step::Name(label.clone()));
            self.current = self.facts.get(i).copied();
            let added = self.column(table, item, label, path)?;
            is_nested |= added.is_nested;
            if let Some(description) = added.vector.description {
                descriptions.push(Node::List(vec![Node::Int(added.vector.first as i64), description]));
            }
        }
        self.current = None;
        if !descriptions.is_empty() {
            table.host.push(("columns", Node::List(descriptions)));
        }
        let are_known = names.is_some_and(|names| {
            names.attributes().is_empty() && names.strings().is_some_and(Strings::are_plain)
        });
        if !are_known || is_nested {
            let node = match names {
                Some(names) => {
                    let path = self.walker.paths.add(path, Step::Part("names"));
                    self.encode(table, names, path)?
                }
                None => Node::map([("null", Node::Null)]),
            };
            table.host.push(("names", node));
        }
        self.row_names(table, value, path)?;
        let is_plain = attributes(value).map(|(name, _)| name).eq(["names", "class", "row.names"])
            && classes(value) == ["data.frame"]
            && value
                .attribute("class")
                .is_some_and(|class| class.len() == 1 && class.attributes().is_empty());
        if !is_plain {
            let node = self.encode_attributes(table, value, &["names", "row.names"], path)?;
            table.host.push(("attributes", node));
        }
        Ok(())
    }

    /// Row names other than 1, 2, 3 ... become a column, which other hosts read as row labels.
    fn row_names(&mut self, table: &mut Table<'a>, value: &'a Value, path: Path) -> Result<()> {
        let Some(names) = value.attribute("row.names") else { return Ok(()) };
        if let (Data::Integer(numbers), true) = (&names.data, names.attributes().is_empty())
            && let [NA_INTEGER, n] = numbers[..]
        {
            if n > 0 {
                table.host.push(("row_names", Node::from("numbers")));
            }
            return Ok(());
        }
        let path = self.walker.paths.add(path, Step::Part("row.names"));
        let labels = self.vector(table, true, names, &["row.names".to_owned()], path)?;
        table.host.push(("index", index(labels.first)));
        if let Some(description) = labels.description {
            table.host.push(("row_names", description));
        }
        Ok(())
    }

    fn column(
        &mut self,
        table: &mut Table<'a>,
        value: &'a Value,
        label: String,
        path: Path,
    ) -> Result<Added> {
        let n_rows = table.n_rows;
        if is_frame_like(value) || is_lt_like(value) || is_record(value, n_rows) {
            return self.parts(table, value, &label, path);
        }
        if !is_atomic(&value.data) && !matches!(value.data, Data::List(_)) {
            let why = format!("a column of type {} can't be stored", value.data.type_name());
            return Err(super::refused(&path, &self.walker.paths, &why));
        }
        let wrong = |walker: &super::Walker<'_>, what: String| super::refused(&path, &walker.paths, &what);
        let dim = dim_of(value);
        if let [rows, rest @ ..] = &dim[..]
            && !rest.is_empty()
        {
            if *rows != n_rows {
                return Err(wrong(&self.walker, format!("a matrix of {rows} rows in a table of {n_rows}")));
            }
            return self.matrix(table, value, &label, rest, path);
        }
        if value.len() as u64 != n_rows {
            let what = format!("a column of {} values in a table of {n_rows} rows", value.len());
            return Err(wrong(&self.walker, what));
        }
        let vector = self.vector(table, false, value, &[label], path)?;
        Ok(Added { vector, is_nested: false })
    }

    /// A matrix or array as a column for each of its columns.
    fn matrix(
        &mut self,
        table: &mut Table<'a>,
        value: &'a Value,
        label: &str,
        rest: &[u64],
        path: Path,
    ) -> Result<Added> {
        let k = usize::try_from(rest.iter().product::<u64>()).unwrap_or(usize::MAX);
        let names = match value.attribute("dimnames").map(|names| &names.data) {
            Some(Data::List(names)) if rest.len() == 1 => names.get(1).and_then(Value::strings),
            _ => None,
        };
        let of = |i: usize| {
            names.map_or_else(|| (i + 1).to_string(), |names| names.get(i).unwrap_or("NA").to_owned())
        };
        let labels: Vec<String> = (0..k).map(|i| format!("{label}.{}", of(i))).collect();
        let vector = self.vector(table, false, value, &labels, path)?;
        let mut pairs = vec![
            (Node::from("matrix"), Node::Int(k as i64)),
            (Node::from("of"), Node::from(value.data.type_name())),
        ];
        if let Some(Node::Map(described)) = vector.description {
            pairs.extend(described);
        }
        let vector = Vector { first: vector.first, description: Some(Node::Map(pairs)) };
        Ok(Added { vector, is_nested: true })
    }

    /// A list of columns: a data frame in a data frame, or the parts of a `POSIXlt`.
    fn parts(&mut self, table: &mut Table<'a>, value: &'a Value, label: &str, path: Path) -> Result<Added> {
        let Data::List(items) = &value.data else { return Err(Error::argument("parts outside of a list")) };
        let first = table.columns.len();
        let names = labels(value.attribute("names").and_then(Value::strings), items.len());
        let mut parts = Vec::with_capacity(items.len());
        for (item, name) in items.iter().zip(names) {
            let path = self.walker.paths.add(path, Step::Name(name.clone()));
            let added = self.column(table, item, format!("{label}.{name}"), path)?;
            parts.push(added.vector.description.unwrap_or(Node::Null));
        }
        let pairs = vec![
            ("parts", Node::List(parts)),
            ("attributes", self.encode_attributes(table, value, &[], path)?),
        ];
        let vector = Vector { first, description: Some(Node::map(pairs)) };
        Ok(Added { vector, is_nested: true })
    }

    /// Adds a vector as columns of equal length, one for each name.
    pub(super) fn vector(
        &mut self,
        table: &mut Table<'a>,
        is_extra: bool,
        value: &'a Value,
        names: &[String],
        path: Path,
    ) -> Result<Vector> {
        let Some(chosen) = choose(value) else {
            let why = format!("a value of type {} can't be stored", value.data.type_name());
            return Err(super::refused(&path, &self.walker.paths, &why));
        };
        let first = if is_extra { table.extra.len() } else { table.columns.len() };
        let n = if names.is_empty() { 0 } else { value.len() / names.len() };
        let facts = self.current.filter(|_| !is_extra);
        let (planned, mut is_implied) = column(value, &chosen, facts.as_ref())?;
        if chosen.kind == Kind::List {
            is_implied = attributes(value).next().is_none();
            let Data::List(items) = &value.data else {
                return Err(Error::argument("a column that should be a list"));
            };
            for (k, name) in names.iter().enumerate() {
                let part = &items[k * n..(k + 1) * n];
                let cell = self.walker.walk_items(part, value, path)?;
                let planned = Planned {
                    name: name.clone(),
                    cell: Some(cell),
                    ..Planned::plain(Kind::List, n, Memory::Cells)
                };
                table.add(is_extra, planned);
            }
        } else {
            let levels = chosen.levels.map(|levels| (table.dictionary(levels), levels.len() as u32));
            if let [name] = names {
                table.add(is_extra, Planned { name: name.clone(), levels, ..planned });
            } else {
                for (k, name) in names.iter().enumerate() {
                    let part = planned.part(k * n..(k + 1) * n);
                    table.add(is_extra, Planned { name: name.clone(), levels, ..part });
                }
            }
        }
        // A dictionary of an extra column is an extra column before it.
        let first = if is_extra { table.extra.len() - names.len() } else { first };
        let mut pairs = Vec::new();
        if !is_implied {
            let skipped: &[&str] = if chosen.levels.is_some() { &["levels"] } else { &[] };
            pairs.push(("attributes", self.encode_attributes(table, value, skipped, path)?));
        }
        if value.is_s4 {
            pairs.push(("s4", Node::Bool(true)));
        }
        let description = if pairs.is_empty() { None } else { Some(Node::map(pairs)) };
        Ok(Vector { first, description })
    }
}

impl<'a> Table<'a> {
    /// The extra column of some levels. Factors with equal levels share it.
    fn dictionary(&mut self, levels: &'a Strings) -> usize {
        let mut hasher = DefaultHasher::new();
        (levels.offsets().len(), levels.bytes()).hash(&mut hasher);
        let hash = hasher.finish();
        let is_same = |&column: &usize| match &self.extra[column].memory {
            Memory::Strings(strings, _) => **strings == *levels,
            _ => false,
        };
        if let Some(column) =
            self.dictionaries.get(&hash).and_then(|all| all.iter().copied().find(|at| is_same(at)))
        {
            return column;
        }
        let column = self.add(true, Planned::text(levels));
        self.dictionaries.entry(hash).or_default().push(column);
        column
    }
}

fn index(column: usize) -> Node {
    let pairs =
        [("kind", Node::from("column")), ("column", Node::Column(column as u64)), ("name", Node::Null)];
    Node::map(pairs)
}

/// The labels of columns in a file.
fn labels(names: Option<&Strings>, n: usize) -> Vec<String> {
    let label =
        |i| names.map_or("", |names| if i < names.len() { names.get(i).unwrap_or("NA") } else { "?" });
    (0..n).map(|i| label(i).to_owned()).collect()
}
