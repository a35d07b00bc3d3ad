//! Objects of R in cells (`docs/format/hosts/r.md`).

use std::ops::Range;

use entasis::Result;

use super::cells::Maker;
use super::damage;
use super::make::set;
use crate::path::Step;
use crate::r::{Data, EnvironmentRef, Item, Strings, Value};

impl Maker<'_, '_> {
    /// The value of an object: a name, then parts.
    pub(super) fn object(&mut self, numbers: Range<u64>) -> Result<Value> {
        let name = self.name(numbers.start)?;
        let n = numbers.end - numbers.start;
        let part = |i: u64| numbers.start + i;
        match name.as_str() {
            "r.vector" if n == 3 || n == 4 => {
                let mut value = self.cell(part(1))?;
                if matches!(value.data, Data::Null | Data::Symbol(_) | Data::Call(_) | Data::Environment(_)) {
                    return Err(damage("attributes of a value that is not a vector"));
                }
                self.attributes(&mut value, part(2))?;
                value.is_s4 |= n == 4;
                let is_list = matches!(value.data, Data::List(_));
                if !is_list && (value.inherits("data.frame") || value.inherits("POSIXlt")) {
                    return Err(damage("a vector whose class requires a list"));
                }
                Ok(value)
            }
            "r.symbol" if n == 2 => Ok(Data::Symbol(self.name(part(1))?).into()),
            "r.call" | "r.pairlist" if n >= 3 => self.call(&numbers, name == "r.call"),
            "r.text" if n == 3 => {
                let (text, codes) = (self.cell(part(1))?, self.cell(part(2))?);
                match (text.data, codes.data) {
                    (Data::Strings(text), Data::Raw(codes)) => {
                        Ok(Data::Strings(Box::new(text.with_codes(&codes)?)).into())
                    }
                    _ => Err(damage("strings without encodings")),
                }
            }
            "r.expression" if n >= 2 => {
                let mut value = Value::from(Data::Expression(self.items(part(2)..numbers.end, None)?));
                self.attributes(&mut value, part(1))?;
                Ok(value)
            }
            "r.s4" if n == 2 => {
                let mut value = Value { data: Data::S4, attributes: None, is_s4: true };
                self.attributes(&mut value, part(1))?;
                Ok(value)
            }
            "r.environment" if n >= 2 => self.environment(&numbers),
            "r.closure" | "r.primitive" => Err(self.refused_code("a function, which is code,")),
            "r.promise" | "r.dots" => Err(self.refused_code("a promise, which is code,")),
            "r.family" => Err(self.refused_code("a family of models, which has functions,")),
            "r.pointer" | "r.data_pointer" => Err(self.refused("an external pointer")),
            "r.weakref" => Err(self.refused("a weak reference")),
            _ if name.starts_with("r.") => Err(damage("an object of R without its parts")),
            _ => self.foreign_object(&name, numbers),
        }
    }

    /// Sets the attributes in a cell, which is a map or null.
    fn attributes(&mut self, value: &mut Value, cell: u64) -> Result<()> {
        let found = self.at(Step::Of("attributes"), cell)?;
        let items = match found.data {
            Data::Null => return Ok(()),
            Data::List(ref items) => items,
            _ => return Err(damage("attributes are not a map")),
        };
        let names = found.attribute("names").and_then(Value::strings);
        if names.map_or(0, Strings::len) != items.len() {
            return Err(damage("attributes are not a map"));
        }
        for (name, item) in names.iter().flat_map(|names| names.iter()).zip(items) {
            let name = name.filter(|name| !name.is_empty());
            set(value, name.ok_or_else(|| damage("an attribute has no name"))?, item.clone());
        }
        Ok(())
    }

    fn call(&mut self, numbers: &Range<u64>, is_call: bool) -> Result<Value> {
        let tags = self.cell(numbers.start + 2)?;
        let values = self.items(numbers.start + 3..numbers.end, None)?;
        let tags = match &tags.data {
            Data::Null => None,
            Data::Strings(tags) if tags.len() == values.len() => Some(tags),
            _ => return Err(damage("a call without its parts")),
        };
        if values.is_empty() {
            return Err(damage("a call without its parts"));
        }
        let tag = |i: usize| tags.and_then(|tags| tags.get(i)).unwrap_or_default().to_owned();
        let items = values.into_iter().enumerate().map(|(i, value)| Item { tag: tag(i), value }).collect();
        let mut value = Value::from(if is_call { Data::Call(items) } else { Data::Pairlist(items) });
        self.attributes(&mut value, numbers.start + 1)?;
        Ok(value)
    }

    fn environment(&mut self, numbers: &Range<u64>) -> Result<Value> {
        let which = self.cell(numbers.start + 1)?;
        if matches!(which.data, Data::Integer(_)) {
            return Err(self.refused_code("an environment with values"));
        }
        let which = which.strings().and_then(|which| which.get(0)).unwrap_or_default().to_owned();
        let has_name = numbers.end > numbers.start + 2;
        let name = if has_name { self.name(numbers.start + 2)? } else { String::new() };
        let environment = match which.as_str() {
            "global" => EnvironmentRef::Global,
            "base" => EnvironmentRef::Base,
            "empty" => EnvironmentRef::Empty,
            "namespace" => EnvironmentRef::Namespace(name),
            "package" => EnvironmentRef::Package(name),
            _ => return Err(damage("an environment of an unknown kind")),
        };
        Ok(Data::Environment(environment).into())
    }
}
