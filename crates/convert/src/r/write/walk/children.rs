//! Adds the children of cells, by what these stand for.

use entasis::{CellKind, Result};

use super::{Below, Found, MANY_FRAMES, Walker, has_codes, items_of};
use crate::r::write::path::{Path, Step};
use crate::r::write::{attributes, columns, environments, shapes};
use crate::r::{Binding, Data, Environment, EnvironmentRef, Item, Strings, Value};

impl<'a> Walker<'a> {
    /// Adds the children of a cell. Returns their number, and the cell of the first key.
    pub(super) fn children(&mut self, found: &Found<'a>) -> Result<(u64, u64)> {
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
            Below::EnvironmentRef(environment) => {
                self.name("r.environment");
                let (name, package) = environments::parts(&environment);
                match environment {
                    EnvironmentRef::Number(number) => self.writer.int(CellKind::Int, number as i64),
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
            if is_long && shapes::is_small(item) {
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
        let parent = of.parent.clone().unwrap_or(EnvironmentRef::Empty);
        let to_parent = self.step(path, Step::Part("parent.env"));
        let parent = self.environments.environment_ref(&parent, to_parent)?;
        self.object(Below::EnvironmentRef(parent), to_parent, depth);
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
