//! Items: the dispatch on their types, vectors, lists, and attributes.

use std::collections::HashSet;
use std::rc::Rc;

use entasis::{Error, Result};

use super::encoding::{self, Native};
use super::flags::{Flags, kind};
use super::reader::{Reader, Reference};
use super::refusal::{Step, element, shortened, type_of};
use crate::r::{Attributes, Data, EnvironmentRef, Strings, Value};

/// An attribute of data.table: an address, without meaning in a file.
const SELF_REFERENCE: &str = ".internal.selfref";
/// Lists grow to their lengths, which may be wrong.
const FIRST_ROOM: usize = 1 << 10;

impl Reader<'_> {
    /// The next item.
    pub(super) fn item(&mut self) -> Result<Value> {
        let flags = self.stream.flags()?;
        self.item_of(flags)
    }

    /// The item of these flags.
    pub(super) fn item_of(&mut self, flags: Flags) -> Result<Value> {
        self.deeper()?;
        let value = self.dispatch(flags);
        self.depth -= 1;
        value
    }

    fn dispatch(&mut self, flags: Flags) -> Result<Value> {
        match flags.kind() {
            kind::NIL | kind::NIL_VALUE => Ok(Value::default()),
            kind::SYMBOL => Ok(Data::Symbol(self.new_symbol()?).into()),
            kind::PAIRLIST | kind::CALL | kind::DOTS => self.pairs(flags),
            kind::CLOSURE => self.closure(flags),
            kind::PROMISE => self.promise(flags),
            kind::ENVIRONMENT => Ok(Data::Environment(self.environment()?).into()),
            kind::LIST | kind::EXPRESSION => self.list(flags),
            kind::ALTREP => self.altrep(flags),
            kind::REFERENCE => self.reference(flags),
            kind::LOGICAL..=kind::STRINGS | kind::RAW => {
                let data = self.vector(flags)?;
                self.with_attributes(data, flags)
            }
            _ => self.other(flags),
        }
    }

    /// Types that are seldom.
    #[inline(never)]
    fn other(&mut self, flags: Flags) -> Result<Value> {
        let environment = match flags.kind() {
            kind::GLOBAL_ENVIRONMENT => EnvironmentRef::Global,
            kind::BASE_ENVIRONMENT => EnvironmentRef::Base,
            kind::EMPTY_ENVIRONMENT => EnvironmentRef::Empty,
            kind::BASE_NAMESPACE => EnvironmentRef::Namespace("base".to_owned()),
            kind::NAMESPACE | kind::PACKAGE => {
                let name = self.names()?.into_iter().next().unwrap_or_default();
                let environment = match name.strip_prefix("package:") {
                    _ if flags.kind() == kind::NAMESPACE => EnvironmentRef::Namespace(name),
                    Some(name) => EnvironmentRef::Package(name.to_owned()),
                    None => EnvironmentRef::Package(name),
                };
                self.references.push(Reference::Environment(environment.clone()));
                environment
            }
            _ => return self.rare(flags),
        };
        Ok(Data::Environment(environment).into())
    }

    fn rare(&mut self, flags: Flags) -> Result<Value> {
        let data = match flags.kind() {
            kind::MISSING_ARGUMENT => return Ok(Data::Symbol(String::new()).into()),
            kind::UNBOUND => return Ok(self.refuse("a value of type unbound")),
            kind::PERSISTENT => {
                self.names()?;
                self.references.push(Reference::Refused);
                return Ok(self.refuse("a reference that the program which wrote it has to resolve"));
            }
            kind::CHAR => {
                self.string(flags)?;
                return Ok(self.refuse("a value of type char"));
            }
            kind::SPECIAL | kind::BUILTIN => {
                let len = self.stream.count()?;
                if len > 1_000 {
                    return Err(self.stream.damaged("the name of a function is too long"));
                }
                let mut name = Vec::new();
                self.stream.text(len, &mut name)?;
                match String::from_utf8(name) {
                    Ok(name) => Data::Primitive(name),
                    Err(_) => return Err(self.stream.damaged("the name of a function is not valid text")),
                }
            }
            kind::BYTE_CODE => {
                self.dropped(|reader| reader.byte_code().map(drop))?;
                self.attributes_of(flags)?;
                return Ok(self.refuse("a value of type bytecode"));
            }
            kind::POINTER | kind::WEAK_REFERENCE => return self.pointer(flags),
            kind::S4 => Data::S4,
            number => {
                let error = Error::unsupported(format!("a value of type {number} of RDS"));
                return Err(error.at(self.stream.input.position()));
            }
        };
        self.with_attributes(data, flags)
    }

    /// An external pointer or a weak reference.
    fn pointer(&mut self, flags: Flags) -> Result<Value> {
        let i = self.references.len();
        self.references.push(Reference::Value(None));
        let data = if flags.kind() == kind::POINTER {
            let protected = self.item()?;
            let tag = self.item()?;
            Data::Pointer(Box::new([tag, protected]))
        } else {
            Data::WeakReference
        };
        let value = self.with_attributes(data, flags)?;
        self.references[i] = Reference::Value(Some(Rc::new(self.copy_of(&value)?)));
        Ok(value)
    }

    /// A vector without attributes.
    #[inline(never)]
    fn vector(&mut self, flags: Flags) -> Result<Data> {
        if flags.kind() == kind::STRINGS {
            return self.strings();
        }
        let n = self.stream.vector_len()?;
        Ok(match flags.kind() {
            kind::LOGICAL => Data::Logical(self.logicals(n)?),
            kind::INTEGER => Data::Integer(self.stream.ints(n)?),
            kind::DOUBLE => Data::Double(self.stream.doubles(n)?),
            kind::COMPLEX => Data::Complex(self.stream.complex(n)?),
            kind::RAW => Data::Raw(self.stream.raw(n)?),
            number => return Err(self.stream.damaged(format!("{number} is not a type"))),
        })
    }

    fn logicals(&mut self, n: u64) -> Result<Vec<i32>> {
        let mut values = self.stream.ints(n)?;
        // R takes all but 0 as true.
        values
            .iter_mut()
            .for_each(|value| *value = if *value == i32::MIN { *value } else { i32::from(*value != 0) });
        Ok(values)
    }

    #[inline(never)]
    fn strings(&mut self) -> Result<Data> {
        let n = self.stream.vector_len()?;
        let n = self.stream.check(n, 2)?;
        let mut strings = Strings::with_room(self.stream.input.room(n, 8))?;
        let mut is_refused = false;
        let mut push = |native: &Native, text: Option<&[u8]>, levels: u32| {
            let is_pushed = text.is_some_and(|text| encoding::push(native, &mut strings, text, levels));
            if !is_pushed {
                is_refused |= text.is_some();
                strings.push_missing();
            }
        };
        let mut left = n;
        while left > 0 {
            let native = &self.native;
            let done = self.stream.some_strings(left, |flags, text| push(native, text, flags.levels()))?;
            left -= done;
            if done == 0 {
                let flags = self.stream.flags()?;
                let levels = self.string(flags)?;
                push(&self.native, levels.map(|_| &self.scratch[..]), levels.unwrap_or(0));
                left -= 1;
            }
        }
        if strings.bytes().contains(&0) {
            return Err(self.stream.damaged("a string has a zero byte"));
        }
        if is_refused {
            let name = match &self.native {
                Native::Foreign(name) => name.as_str(),
                _ => "another",
            };
            let what = format!("a string in the encoding {}", shortened(name));
            self.refuse(what);
        }
        Ok(Data::Strings(Box::new(strings)))
    }

    /// Reads a string to the scratch buffer, and returns its levels; `None` for a missing one.
    fn string(&mut self, flags: Flags) -> Result<Option<u32>> {
        if flags.kind() != kind::CHAR || flags.has_attributes() {
            return Err(self.stream.damaged("an element of a character vector is not a string"));
        }
        let len = self.stream.int()?;
        if len == -1 {
            return Ok(None);
        }
        let len = usize::try_from(len).map_err(|_| self.stream.damaged("a length is negative"))?;
        self.scratch.clear();
        self.stream.text(len, &mut self.scratch)?;
        Ok(Some(flags.levels()))
    }

    #[inline(never)]
    fn list(&mut self, flags: Flags) -> Result<Value> {
        let n = self.stream.vector_len()?;
        let n = self.stream.check(n, 1)?;
        let mut values = Vec::with_capacity(n.min(FIRST_ROOM));
        let mut refused = None;
        while values.len() < n {
            let was_refused = self.is_refused();
            let value = self.item()?;
            if self.is_refused() && !was_refused {
                refused = Some(values.len());
            }
            if values.len() == values.capacity() {
                let room = values.len().min(n - values.len());
                crate::input::reserve(&mut values, room)?;
            }
            values.push(value);
            self.stream.input.poll()?;
        }
        let data = if flags.kind() == kind::LIST { Data::List(values) } else { Data::Expression(values) };
        let list = self.with_attributes(data, flags)?;
        if let Some(i) = refused {
            self.step(element(&list, i));
        }
        Ok(list)
    }

    /// The attributes that follow if the flags announce them.
    pub(super) fn attributes_of(&mut self, flags: Flags) -> Result<Attributes> {
        if flags.has_attributes() { self.attributes() } else { Ok(None) }
    }

    pub(super) fn with_attributes(&mut self, data: Data, flags: Flags) -> Result<Value> {
        Ok(Value { data, attributes: self.attributes_of(flags)?, is_s4: flags.is_s4() })
    }

    /// Attributes: a pairlist.
    #[inline(never)]
    pub(super) fn attributes(&mut self) -> Result<Attributes> {
        let flags = self.stream.flags()?;
        self.attributes_after(flags)
    }

    /// Attributes whose flags are read.
    pub(super) fn attributes_after(&mut self, first: Flags) -> Result<Attributes> {
        let mut attributes = Vec::new();
        let mut flags = first;
        while flags.kind() == kind::PAIRLIST {
            if flags.has_attributes() {
                // R ignores the attributes of attributes' cells.
                self.dropped(|reader| reader.nested_attributes())?;
            }
            let name = if flags.has_tag() { self.symbol()? } else { String::new() };
            if name.is_empty() && !self.is_refused() {
                return Err(self.stream.damaged("an attribute lacks a name"));
            }
            if name == SELF_REFERENCE {
                self.dropped(|reader| reader.item().map(drop))?;
            } else {
                let value = self.part(Step::Attribute(name.clone()), Self::item)?;
                attributes.push((name, value));
            }
            flags = self.stream.flags()?;
        }
        if !flags.is_null() {
            return Err(self.stream.damaged("attributes are not a pairlist"));
        }
        if !self.is_refused() && !are_distinct(&attributes) {
            return Err(self.stream.damaged("a value has two attributes of one name"));
        }
        Ok(if attributes.is_empty() { None } else { Some(Box::new(attributes)) })
    }

    /// The attributes of a cell, one level deeper.
    fn nested_attributes(&mut self) -> Result<()> {
        self.item().map(drop)
    }

    /// The environment that an item is. NULL is the base environment, as in old files.
    pub(super) fn environment_of(&mut self, value: Value) -> Result<EnvironmentRef> {
        match value.data {
            Data::Environment(environment) => Ok(environment),
            Data::Null => Ok(EnvironmentRef::Base),
            // An object of S4 that is an environment has it in a slot.
            data => {
                self.refuse(format!("{} in place of an environment", type_of(&data)));
                Ok(EnvironmentRef::Base)
            }
        }
    }
}

fn are_distinct(attributes: &[(String, Value)]) -> bool {
    if attributes.len() > 16 {
        let names: HashSet<&str> = attributes.iter().map(|(name, _)| name.as_str()).collect();
        return names.len() == attributes.len();
    }
    let is_repeated = |i: usize| attributes[..i].iter().any(|(name, _)| *name == attributes[i].0);
    !(0..attributes.len()).any(is_repeated)
}
