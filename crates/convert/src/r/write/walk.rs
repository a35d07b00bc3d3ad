//! Walks a tree of values and adds its cells.
//!
//! The children of a value are added together, then the children of each of them, in order, on a
//! stack of its own: deep nesting does not use the program's stack.

use std::collections::{HashSet, VecDeque};

use entasis::cells::CellWriter;
use entasis::{CellKind, Column, Error, HostRead, Result};

use super::environments::{self, Numbers};
use super::path::{Path, Paths, Step};
use super::pools::{Pooled, Pools};
use super::repeats::Repeats;
use super::{PlanOptions, Waiting, attributes, columns, frames};
use crate::r::{Binding, Data, Environment, Item, Place, Strings, Value, Values};

/// The deepest value.
const DEEPEST: usize = 1000;
/// A table has a fixed cost, which pays off for large frames. Of many small frames, the first
/// become tables, and later ones lists with attributes, like frames in a long list.
const MANY_FRAMES: usize = 32;
const SMALL_FRAME: u64 = 10_000;

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
    Place(Place),
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
            Data::Environment(place) => {
                let place = self.environments.place(place, path)?;
                self.object(Below::Place(place), path, depth);
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
        if frames::is_frame_like(value) {
            let n_cells = value.len() as u64 * frames::n_rows(value).unwrap_or(0);
            let is_many = self.n_tables >= MANY_FRAMES as u64 || frames::is_model_frame(value);
            if !(n_cells < SMALL_FRAME && is_many) && frames::is_frame(value) {
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

    /// Adds the children of a cell. Returns their number, and the cell of the first key.
    fn children(&mut self, found: &Found<'a>) -> Result<(u64, u64)> {
        let (path, depth) = (found.path, found.depth + 1);
        match found.below.clone() {
            Below::Items(items, names) => self.items(items, names, path, depth).map(|n| (n, 0)),
            Below::Map(value) => {
                let (items, names) = items_of(value);
                let n = self.items(items, names, path, depth)?;
                let names = names.map(|names| names.iter().flatten().collect());
                Ok((n, self.keys(names.unwrap_or_default())))
            }
            Below::Vector(value) => {
                self.name("r.vector");
                self.cell(value, path, depth, true)?;
                self.attributes(value, path, depth);
                if value.is_s4 {
                    self.writer.unit(CellKind::True);
                }
                Ok((3 + u64::from(value.is_s4), 0))
            }
            Below::Attributes { all, are_slots } => {
                self.named(all, path, depth, if are_slots { Step::Slot } else { Step::Attribute })
            }
            Below::Text { pooled, dim, codes } => {
                self.name("r.text");
                self.pools.array(&mut self.writer, pooled, dim);
                let codes = self.pools.add_raw(codes);
                self.pools.array(&mut self.writer, codes, None);
                Ok((3, 0))
            }
            Below::Call(value) => self.call(value, path, depth),
            Below::Symbol(name) => {
                self.name("r.symbol");
                self.name(name);
                Ok((2, 0))
            }
            Below::S4(value) => {
                self.name("r.s4");
                self.attributes(value, path, depth);
                Ok((2, 0))
            }
            Below::Expression(value) => {
                self.name("r.expression");
                self.attributes(value, path, depth);
                let (items, names) = items_of(value);
                self.items(items, names, path, depth).map(|n| (2 + n, 0))
            }
            Below::Promise(parts) => {
                self.name("r.promise");
                parts.iter().try_for_each(|part| self.cell(part, path, depth, false))?;
                Ok((3, 0))
            }
            Below::Pointer(value) => self.pointer(value, path, depth),
            Below::Closure(value) => self.closure(value, path, depth),
            Below::Primitive(name) => {
                self.name("r.primitive");
                self.name(name);
                Ok((2, 0))
            }
            Below::Place(place) => {
                self.name("r.environment");
                let (name, package) = environments::parts(&place);
                match place {
                    Place::Number(number) => self.writer.int(CellKind::Int, number as i64),
                    _ => self.name(name),
                }
                if let Some(package) = package {
                    self.name(package);
                }
                Ok((2 + u64::from(package.is_some()), 0))
            }
            Below::Environment(environment) => self.environment(environment, path, depth),
            Below::Bindings { of, are_active } => {
                let those: Vec<&Binding> =
                    of.bindings.iter().filter(|binding| binding.is_active == are_active).collect();
                for binding in &those {
                    let path = self.step(path, Step::Name(binding.name.clone()));
                    self.cell(&binding.value, path, depth, false)?;
                }
                let names = those.iter().map(|binding| binding.name.as_str()).collect();
                Ok((those.len() as u64, self.keys(names)))
            }
        }
    }

    fn named(
        &mut self,
        all: &'a [(String, Value)],
        path: Path,
        depth: usize,
        step: fn(String) -> Step,
    ) -> Result<(u64, u64)> {
        let kept = || all.iter().filter(|(name, _)| name != ".internal.selfref");
        for (name, value) in kept() {
            let path = self.step(path, step(name.clone()));
            self.cell(value, path, depth, false)?;
        }
        let names: Vec<&str> = kept().map(|(name, _)| name.as_str()).collect();
        Ok((names.len() as u64, self.keys(names)))
    }

    fn items(
        &mut self,
        items: &'a [Value],
        names: Option<&'a Strings>,
        path: Path,
        depth: usize,
    ) -> Result<u64> {
        let is_long = items.len() >= MANY_FRAMES;
        for (i, item) in items.iter().enumerate() {
            if attributes(item).next().is_none() && columns::is_atomic(&item.data) && !has_codes(&item.data) {
                // Without a path, which nothing will show.
                self.atomic(&item.data, None, path, depth);
                continue;
            }
            let step = match names.and_then(|names| names.get(i)) {
                Some(name) if !name.is_empty() => Step::Name(name.to_owned()),
                _ => Step::Item(i),
            };
            let path = self.step(path, step);
            if is_long && frames::is_small(item) {
                self.object(Below::Vector(item), path, depth);
            } else {
                self.cell(item, path, depth, false)?;
            }
        }
        Ok(items.len() as u64)
    }

    fn call(&mut self, value: &'a Value, path: Path, depth: usize) -> Result<(u64, u64)> {
        let (name, items): (_, &'a [Item]) = match &value.data {
            Data::Call(items) => ("r.call", items),
            Data::Dots(items) => ("r.dots", items),
            Data::Pairlist(items) => ("r.pairlist", items),
            _ => ("r.pairlist", &[]),
        };
        self.name(name);
        self.attributes(value, path, depth);
        if items.iter().any(|item| !item.tag.is_empty()) {
            self.texts(items.iter().map(|item| item.tag.as_str()), items.len());
        } else {
            self.writer.unit(CellKind::Null);
        }
        for (i, item) in items.iter().enumerate() {
            let path = self.step(path, Step::Item(i));
            self.cell(&item.value, path, depth, false)?;
        }
        Ok((3 + items.len() as u64, 0))
    }

    /// Adds strings that are made for the file: an array, or one string.
    fn texts<'n>(&mut self, mut texts: impl Iterator<Item = &'n str>, n: usize) {
        if n == 1 {
            return texts.next().into_iter().for_each(|text| self.name(text));
        }
        let pooled = self.pools.add_names(texts);
        self.pools.array(&mut self.writer, pooled, None);
    }

    fn pointer(&mut self, value: &'a Value, path: Path, depth: usize) -> Result<(u64, u64)> {
        let parts = match &value.data {
            Data::Pointer(parts) => Some(parts),
            _ => None,
        };
        let has_data = parts.as_ref().is_some_and(|parts| parts.iter().any(|part| part.data != Data::Null));
        self.name(if has_data {
            "r.data_pointer"
        } else if parts.is_some() {
            "r.pointer"
        } else {
            "r.weakref"
        });
        self.attributes(value, path, depth);
        if let (true, Some(parts)) = (has_data, parts) {
            parts.iter().try_for_each(|part| self.cell(part, path, depth, false))?;
        }
        Ok((if has_data { 4 } else { 2 }, 0))
    }

    fn closure(&mut self, value: &'a Value, path: Path, depth: usize) -> Result<(u64, u64)> {
        let Data::Closure(parts) = &value.data else { return Ok((0, 0)) };
        self.name("r.closure");
        for (part, function) in parts.iter().zip(["formals", "body", "environment"]) {
            let path = self.step(path, Step::Part(function));
            self.cell(part, path, depth, false)?;
        }
        self.attributes(value, path, depth);
        self.flag(value.is_s4);
        Ok((6, 0))
    }

    fn environment(&mut self, of: &'a Environment, path: Path, depth: usize) -> Result<(u64, u64)> {
        let parent = of.parent.clone().unwrap_or(Place::Empty);
        let to_parent = self.step(path, Step::Part("parent.env"));
        let parent = self.environments.place(&parent, to_parent)?;
        self.object(Below::Place(parent), to_parent, depth);
        let has_active = of.bindings.iter().any(|binding| binding.is_active);
        if let Some(active) = of.bindings.iter().find(|binding| binding.is_active) {
            let path = self.step(path, Step::Name(active.name.clone()));
            self.check_code("an active binding", path)?;
        }
        self.defer(CellKind::Map, Below::Bindings { of, are_active: false }, path, depth);
        match &of.attributes {
            Some(all) => {
                let below = Below::Attributes { all, are_slots: false };
                self.defer(CellKind::Map, below, path, depth);
            }
            None => self.writer.unit(CellKind::Null),
        }
        self.flag(of.is_locked);
        let locked = || of.bindings.iter().filter(|binding| binding.is_locked);
        self.texts(locked().map(|binding| binding.name.as_str()), locked().count());
        self.flag(of.is_s4);
        let mut names = vec!["parent", "values", "attributes", "locked", "bindings", "s4"];
        if has_active {
            self.defer(CellKind::Map, Below::Bindings { of, are_active: true }, path, depth);
            names.push("active");
        }
        Ok((names.len() as u64, self.keys(names)))
    }

    fn flag(&mut self, value: bool) {
        self.writer.unit(if value { CellKind::True } else { CellKind::False });
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
