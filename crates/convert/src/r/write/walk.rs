//! Walks a tree of values and adds its cells.
//!
//! The children of a value are added together, then the children of each of them, in order, on a
//! stack of its own: deep nesting does not use the program's stack.

mod children;

use std::collections::{HashSet, VecDeque};

use entasis::cells::CellWriter;
use entasis::{CellKind, Column, Error, HostRead, Result};

use super::environments::Numbers;
use super::path::{Path, Paths, Step};
use super::pools::{Pooled, Pools};
use super::repeats::Repeats;
use super::{PlanOptions, Waiting, attributes, columns, shapes};
use crate::r::{Data, Environment, EnvironmentRef, Strings, Value, Values};

/// The deepest value.
const DEEPEST: usize = 1000;
/// A table has a fixed cost, which pays off for large frames. Of many small frames, the first
/// become tables, and later ones lists with attributes, like frames in a long list.
const MANY_FRAMES: usize = 32;

/// The children of a cell that waits for them.
#[derive(Clone)]
enum Below<'a> {
    /// Items, and their names.
    Items(&'a [Value], Option<&'a Strings>),
    Map(&'a Value),
    Vector(&'a Value),
    Attributes {
        all: &'a [(String, Value)],
        are_slots: bool,
    },
    Text {
        pooled: Pooled,
        dim: Option<&'a [i32]>,
        codes: &'a [u8],
    },
    Call(&'a Value),
    Symbol(&'a str),
    S4(&'a Value),
    Expression(&'a Value),
    Promise(&'a [Value; 2]),
    Pointer(&'a Value),
    Closure(&'a Value),
    Primitive(&'a str),
    /// A reference to an environment.
    EnvironmentRef(EnvironmentRef),
    /// The record of an environment.
    Environment(&'a Environment),
    /// The values of an environment, or its active bindings.
    Bindings {
        of: &'a Environment,
        are_active: bool,
    },
}

/// A cell whose children are added later.
#[derive(Clone)]
struct Found<'a> {
    below: Below<'a>,
    parent: usize,
    path: Path,
    depth: usize,
    is_open: bool,
}

/// The cells of trees, and the tables and environments that were found in them.
pub(super) struct Walker<'a> {
    options: PlanOptions,
    writer: CellWriter,
    pools: Pools<'a>,
    repeats: Repeats<'a>,
    found: Vec<Found<'a>>,
    pub(super) paths: Paths,
    tables: VecDeque<Waiting<'a>>,
    n_tables: u64,
    environments: Numbers<'a>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(values: &'a Values, options: PlanOptions) -> Self {
        Self {
            options,
            writer: CellWriter::new(),
            pools: Pools::default(),
            repeats: Repeats::default(),
            found: Vec::new(),
            paths: Paths::default(),
            tables: VecDeque::new(),
            n_tables: 0,
            environments: Numbers::new(&values.environments),
        }
    }

    /// Whether it has no cell.
    pub(super) fn is_empty(&self) -> bool {
        self.writer.n_cells() == 0
    }

    /// Adds a frame or a vector as a table, and returns its number.
    pub(super) fn add_table(&mut self, value: &'a Value, path: Path) -> u64 {
        self.tables.push_back(Waiting { value, path });
        self.n_tables += 1;
        self.n_tables - 1
    }

    /// The next table to plan.
    pub(super) fn next_table(&mut self) -> Option<Waiting<'a>> {
        self.tables.pop_front()
    }

    /// The next environment to walk.
    pub(super) fn next_environment(&mut self) -> Result<Option<(&'a Environment, Path)>> {
        self.environments.next()
    }

    /// Adds a tree, and returns the number of its cell.
    pub(super) fn walk(&mut self, value: &'a Value, path: Path) -> Result<u64> {
        let number = self.writer.n_cells();
        self.cell(value, path, 1, false)?;
        self.descend()?;
        Ok(number)
    }

    /// Adds a list of some items of a value.
    pub(super) fn walk_items(&mut self, items: &'a [Value], of: &'a Value, path: Path) -> Result<u64> {
        let number = self.writer.n_cells();
        let names = of.attribute("names").and_then(Value::strings);
        self.defer(CellKind::List, Below::Items(items, names), path, 1);
        self.descend()?;
        Ok(number)
    }

    /// Adds the record of an environment.
    pub(super) fn walk_environment(&mut self, environment: &'a Environment, path: Path) -> Result<u64> {
        let number = self.writer.n_cells();
        self.defer(CellKind::Map, Below::Environment(environment), path, 1);
        self.descend()?;
        Ok(number)
    }

    /// Adds a list of references to cells.
    pub(super) fn references(&mut self, numbers: &[u64]) -> u64 {
        let number = self.writer.n_cells();
        let parent = self.writer.parent(CellKind::List);
        numbers.iter().for_each(|&number| self.refer(number));
        self.writer.set_children(parent, number + 1, numbers.len() as u64, 0);
        self.writer.end(parent);
        number
    }

    /// Completes the cells.
    pub(super) fn finish(&mut self) {
        self.pools.finish(&mut self.writer);
    }

    /// The columns of the cells, and the map that names them.
    pub(super) fn columns(&self, lend: &dyn Fn(&[u8]) -> HostRead) -> Result<(Vec<Column>, entasis::Value)> {
        self.pools.columns(&self.writer, lend)
    }

    /// Adds the descendants of all cells that were found.
    fn descend(&mut self) -> Result<()> {
        let mut stack: Vec<Found<'a>> = Vec::new();
        loop {
            stack.extend(self.found.drain(..).rev());
            let Some(top) = stack.last_mut() else { return Ok(()) };
            if top.is_open {
                let parent = top.parent;
                self.writer.end(parent);
                stack.pop();
                continue;
            }
            top.is_open = true;
            let step = top.clone();
            if step.depth >= DEEPEST {
                let path = self.paths.text(&step.path);
                return Err(Error::unsupported(format!("values are nested deeper than 1,000, at {path}")));
            }
            let first = self.writer.n_cells();
            let (count, keys) = self.children(&step)?;
            self.writer.set_children(step.parent, first, count, keys);
        }
    }

    fn refer(&mut self, number: u64) {
        self.writer.int(CellKind::Reference, number.cast_signed());
    }

    /// Adds a cell whose children follow later.
    fn defer(&mut self, kind: CellKind, below: Below<'a>, path: Path, depth: usize) {
        let parent = self.writer.parent(kind);
        self.found.push(Found { below, parent, path, depth, is_open: false });
    }

    fn object(&mut self, below: Below<'a>, path: Path, depth: usize) {
        self.defer(CellKind::Object, below, path, depth);
    }

    fn name(&mut self, name: &str) {
        self.writer.text(CellKind::Str, name);
    }

    /// Adds the cell of a value. With `is_bare`, its attributes are stored elsewhere.
    fn cell(&mut self, value: &'a Value, path: Path, depth: usize, is_bare: bool) -> Result<()> {
        let is_bare = is_bare || (attributes(value).next().is_none() && !value.is_s4);
        let number = self.writer.n_cells();
        match &value.data {
            Data::Null => self.writer.unit(CellKind::Null),
            data if columns::is_atomic(data) => {
                let dim = matrix(value);
                if is_bare || dim.is_some() {
                    self.atomic(data, if is_bare { None } else { dim }, path, depth);
                } else {
                    self.object(Below::Vector(value), path, depth);
                }
            }
            Data::List(_) => self.list(value, path, depth, is_bare),
            Data::Symbol(name) => match self.repeats.value(value, number) {
                Some(number) => self.refer(number),
                None => self.object(Below::Symbol(name), path, depth),
            },
            Data::Call(_) | Data::Pairlist(_) => match self.repeats.value(value, number) {
                Some(number) => self.refer(number),
                None => self.object(Below::Call(value), path, depth),
            },
            Data::Dots(_) => self.object(Below::Call(value), path, depth),
            Data::Expression(_) => self.object(Below::Expression(value), path, depth),
            Data::S4 => self.object(Below::S4(value), path, depth),
            Data::Pointer(_) | Data::WeakReference => self.object(Below::Pointer(value), path, depth),
            Data::Environment(environment) => {
                let environment = self.environments.environment_ref(environment, path)?;
                self.object(Below::EnvironmentRef(environment), path, depth);
            }
            Data::Closure(_) => {
                self.check_code("a value of type closure", path)?;
                self.object(Below::Closure(value), path, depth);
            }
            Data::Primitive(name) => {
                self.check_code("a function of R itself", path)?;
                self.object(Below::Primitive(name), path, depth);
            }
            Data::Promise(parts) => {
                self.check_code("a promise that was not evaluated yet", path)?;
                self.object(Below::Promise(parts), path, depth);
            }
            _ => {
                let why = format!("a value of type {} can't be stored", value.data.type_name());
                return Err(super::refused(&path, &self.paths, &why));
            }
        }
        Ok(())
    }

    /// Code is stored only if the user asked for it.
    fn check_code(&self, what: &str, path: Path) -> Result<()> {
        if self.options.functions {
            return Ok(());
        }
        let error = super::refused(&path, &self.paths, &format!("{what} is code"));
        Err(error.advise("convert with functions to keep it as data, which is never run"))
    }

    fn list(&mut self, value: &'a Value, path: Path, depth: usize, is_bare: bool) {
        if is_bare {
            let (items, names) = items_of(value);
            return self.defer(CellKind::List, Below::Items(items, names), path, depth);
        }
        let mut all = attributes(value);
        let (first, second) = (all.next(), all.next());
        let names = first.filter(|(name, _)| *name == "names" && second.is_none() && !value.is_s4);
        if names.is_some_and(|(_, names)| are_keys(names, value.len())) {
            return self.defer(CellKind::Map, Below::Map(value), path, depth);
        }
        if shapes::is_frame_like(value) {
            let is_many = self.n_tables >= MANY_FRAMES as u64 || shapes::is_model_frame(value);
            if !(is_many && shapes::is_small(value)) && shapes::is_frame(value) {
                let number = self.add_table(value, path);
                return self.writer.int(CellKind::Table, number.cast_signed());
            }
        }
        self.object(Below::Vector(value), path, depth);
    }

    /// Adds an atomic vector without attributes other than dimensions.
    fn atomic(&mut self, data: &'a Data, dim: Option<&'a [i32]>, path: Path, depth: usize) {
        if dim.is_none() && self.single(data) {
            return;
        }
        let pooled = self.pools.add(data);
        let codes = match data {
            Data::Strings(strings) => strings.codes().filter(|codes| codes.iter().any(|&code| code > 0)),
            _ => None,
        };
        match codes {
            Some(codes) => self.object(Below::Text { pooled, dim, codes }, path, depth),
            None => self.pools.array(&mut self.writer, pooled, dim),
        }
    }

    /// Adds a vector of length 1 as a scalar, unless its value is missing or needs an array.
    fn single(&mut self, data: &Data) -> bool {
        match data {
            Data::Logical(values) => match values[..] {
                [0] => self.writer.unit(CellKind::False),
                [value] if value != i32::MIN => self.writer.unit(CellKind::True),
                _ => return false,
            },
            Data::Integer(values) => match values[..] {
                [value] if value != i32::MIN => self.writer.int(CellKind::Int, i64::from(value)),
                _ => return false,
            },
            Data::Double(values) => match values[..] {
                [value] => self.writer.float(CellKind::Float, value),
                _ => return false,
            },
            Data::Strings(strings) if strings.len() == 1 && strings.are_plain() => match strings.get(0) {
                Some(text) => self.writer.text(CellKind::Str, text),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Adds a map of attributes, or null without attributes. Equal attributes anywhere in the tree
    /// become a reference.
    fn attributes(&mut self, value: &'a Value, path: Path, depth: usize) {
        if attributes(value).next().is_none() {
            return self.writer.unit(CellKind::Null);
        }
        let number = self.writer.n_cells();
        match self.repeats.attributes(value, number) {
            Some(number) => self.refer(number),
            None => {
                let are_slots = matches!(value.data, Data::S4);
                let below = Below::Attributes { all: value.attributes(), are_slots };
                self.defer(CellKind::Map, below, path, depth);
            }
        }
    }

    /// The cell of a map's first key. Adds the keys unless another map has the same ones.
    fn keys(&mut self, names: Vec<&'a str>) -> u64 {
        if names.is_empty() {
            return 0;
        }
        let first = self.writer.n_cells();
        match self.repeats.names(names.clone(), first) {
            Some(known) => known,
            None => {
                names.iter().for_each(|name| self.name(name));
                first
            }
        }
    }

    fn step(&mut self, to: Path, step: Step) -> Path {
        self.paths.add(to, step)
    }
}

/// The items of a list or an expression vector, and their names.
fn items_of(value: &Value) -> (&[Value], Option<&Strings>) {
    match &value.data {
        Data::List(items) | Data::Expression(items) => {
            (items, value.attribute("names").and_then(Value::strings))
        }
        _ => (&[], None),
    }
}

/// The dimensions of an atomic vector that has no other attribute.
fn matrix(value: &Value) -> Option<&[i32]> {
    let mut all = attributes(value);
    let (first, second) = (all.next(), all.next());
    let (_, dim) = first.filter(|(name, _)| *name == "dim" && second.is_none() && !value.is_s4)?;
    match &dim.data {
        Data::Integer(dim) if dim.len() > 1 => Some(dim),
        _ => None,
    }
}

fn has_codes(data: &Data) -> bool {
    matches!(data, Data::Strings(strings) if !strings.are_plain())
}

/// Whether names can be keys in other hosts: distinct strings in UTF-8.
fn are_keys(names: &Value, n: usize) -> bool {
    let Some(names) = names.strings().filter(|strings: &&Strings| strings.len() == n && strings.are_plain())
    else {
        return false;
    };
    let mut seen: HashSet<&str> = HashSet::with_capacity(n);
    names.iter().all(|name| name.is_some_and(|name| seen.insert(name)))
}
