//! The state of reading a stream: references, environments and limits.

use std::rc::Rc;

use entasis::{Error, Kind, Result};

use super::encoding::{self, Native};
use super::flags::{Flags, kind};
use super::refusal::{Refusal, Step};
use super::stream::Stream;
use crate::r::{Data, Environment, EnvironmentRef, Value, Values};

/// The most levels of values in values. Calls nest too: each operator of `a + b + c` is a level.
pub(super) const MOST_DEPTH: usize = 1_000;
/// The longest name of a symbol that R accepts.
const MOST_NAME: usize = 10_000;
/// Bytes that references may copy, in addition to those that follow from the length of the stream.
const COPIED: u64 = 16 << 20;

/// An item that later items refer to by its number.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    Symbol(String),
    Environment(EnvironmentRef),
    /// An external pointer or weak reference; `None` until it is complete.
    Value(Option<Rc<Value>>),
    /// A value that is refused.
    Refused,
}

/// Reads items of a stream.
pub(super) struct Reader<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) native: Native,
    pub(super) references: Vec<Reference>,
    pub(super) environments: Vec<Environment>,
    pub(super) depth: usize,
    /// The bytes that references copied.
    copied: u64,
    /// The bytes that compact forms may still become.
    expandable: u64,
    refusal: Option<Refusal>,
    /// A buffer for texts.
    pub(super) scratch: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(stream: Stream<'a>, native: Native, expandable: u64) -> Self {
        Self {
            stream,
            native,
            references: Vec::new(),
            environments: Vec::new(),
            depth: 0,
            copied: 0,
            expandable,
            refusal: None,
            scratch: Vec::new(),
        }
    }

    /// The value of the stream.
    pub(super) fn read(mut self, is_workspace: bool) -> Result<Values> {
        let value = self.item();
        // In place of a refused value there is NULL, which may not fit where it is used.
        let is_other =
            value.as_ref().is_err_and(|error| !matches!(error.kind(), Kind::Corrupt | Kind::Unsupported));
        if let Some(refusal) = &self.refusal
            && !is_other
        {
            return Err(refusal.error(if is_workspace { "" } else { "x" }));
        }
        Ok(Values { value: value?, environments: self.environments })
    }

    /// Notes that a value is refused, and gives NULL in its place.
    pub(super) fn refuse(&mut self, what: impl Into<String>) -> Value {
        self.refusal.get_or_insert_with(|| Refusal::new(what.into()));
        Value::default()
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// Adds a step to the path of the refused value.
    pub(super) fn step(&mut self, step: Step) {
        if let Some(refusal) = &mut self.refusal {
            refusal.push(step);
        }
    }

    /// Reads a part of a value.
    pub(super) fn part<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let was_refused = self.is_refused();
        let part = read(self);
        if self.is_refused() && !was_refused {
            self.step(step);
        }
        part
    }

    /// Forgets refused values that are in a part which is dropped.
    pub(super) fn dropped(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let before = self.refusal.clone();
        read(self)?;
        self.refusal = before;
        Ok(())
    }

    /// Counts `len` bytes that a reference copies. Few bytes of a stream could become many.
    pub(super) fn copy(&mut self, len: usize) -> Result<()> {
        self.copied = self.copied.saturating_add(len as u64);
        let allowed = COPIED.saturating_add(self.stream.input.position().saturating_mul(16));
        if self.copied <= allowed {
            return Ok(());
        }
        Err(Error::limit("references of the file repeat too many bytes").advise("save it again with R"))
    }

    /// A copy of a value, after its bytes were counted.
    pub(super) fn copy_of(&mut self, value: &Value) -> Result<Value> {
        self.copy(size_of_value(value))?;
        Ok(value.clone())
    }

    /// Goes one level deeper.
    pub(super) fn deeper(&mut self) -> Result<()> {
        if self.depth == MOST_DEPTH {
            return Err(Error::limit("values are nested more than 1,000 deep")
                .at(self.stream.input.position())
                .advise("save it with R in flatter parts"));
        }
        self.depth += 1;
        Ok(())
    }

    /// Counts `n` values of `len` bytes that a compact form becomes.
    pub(super) fn expand(&mut self, n: u64, len: u64) -> Result<usize> {
        let left = n.checked_mul(len).and_then(|bytes| self.expandable.checked_sub(bytes));
        match (left, usize::try_from(n)) {
            (Some(left), Ok(n)) => {
                self.expandable = left;
                Ok(n)
            }
            _ => Err(Error::limit(format!("a sequence of {n} values is longer than max_bytes allows"))
                .advise("raise max_bytes if you trust the file")),
        }
    }

    /// The referred item.
    pub(super) fn referred(&mut self, flags: Flags) -> Result<&Reference> {
        let number = match flags.0 >> 8 {
            0 => self.stream.count()?,
            number => number as usize,
        };
        let found = number.checked_sub(1).and_then(|i| self.references.get(i));
        found.ok_or_else(|| self.stream.damaged("a reference leads nowhere"))
    }

    /// The value of a reference.
    pub(super) fn reference(&mut self, flags: Flags) -> Result<Value> {
        let (data, len) = match self.referred(flags)? {
            Reference::Symbol(name) => (Data::Symbol(name.clone()), name.len()),
            Reference::Environment(environment) => (Data::Environment(environment.clone()), 0),
            Reference::Value(Some(value)) => {
                let value = value.clone();
                return self.copy_of(&value);
            }
            Reference::Value(None) => return Ok(self.refuse("an external pointer that refers to itself")),
            Reference::Refused => return Ok(Value::default()),
        };
        self.copy(len)?;
        Ok(data.into())
    }

    /// The symbol of an item of these flags; empty for NULL.
    pub(super) fn symbol_of(&mut self, flags: Flags) -> Result<String> {
        match flags.kind() {
            kind::NIL | kind::NIL_VALUE => Ok(String::new()),
            kind::SYMBOL => self.new_symbol(),
            kind::REFERENCE => {
                let Reference::Symbol(name) = self.referred(flags)? else {
                    return Err(self.stream.damaged("a tag is not a symbol"));
                };
                let name = name.clone();
                self.copy(name.len())?;
                Ok(name)
            }
            _ => Err(self.stream.damaged("a tag is not a symbol")),
        }
    }

    /// The next symbol.
    pub(super) fn symbol(&mut self) -> Result<String> {
        let flags = self.stream.flags()?;
        self.symbol_of(flags)
    }

    /// A symbol that later items refer to.
    pub(super) fn new_symbol(&mut self) -> Result<String> {
        let name = self.name()?;
        self.references.push(Reference::Symbol(name.clone()));
        Ok(name)
    }

    /// A string as a name.
    pub(super) fn name(&mut self) -> Result<String> {
        let flags = self.stream.flags()?;
        if flags.kind() != kind::CHAR || flags.has_attributes() {
            return Err(self.stream.damaged("a name is not a string"));
        }
        let len = match self.stream.int()? {
            -1 => return Ok("NA".to_owned()),
            len => usize::try_from(len).ok().filter(|&len| len <= MOST_NAME),
        };
        let len = len.ok_or_else(|| self.stream.damaged("a name is too long"))?;
        let mut bytes = Vec::new();
        self.stream.text(len, &mut bytes)?;
        if bytes.contains(&0) {
            return Err(self.stream.damaged("a name has a zero byte"));
        }
        match encoding::name(&self.native, bytes, flags.levels()) {
            Some(name) => Ok(name),
            None => {
                self.refuse("a name that is not valid text");
                Ok(String::new())
            }
        }
    }

    /// The names of a namespace or package: an integer that is 0, a number, and strings.
    pub(super) fn names(&mut self) -> Result<Vec<String>> {
        if self.stream.int()? != 0 {
            return Err(self.stream.damaged("the name of an environment has names"));
        }
        let n = self.stream.count()?;
        let n = self.stream.check(n as u64, 2)?;
        (0..n).map(|_| self.name()).collect()
    }
}

/// The bytes that a clone of a value takes, about.
fn size_of_value(value: &Value) -> usize {
    let mut size = size_of::<Value>();
    let mut add = |value: &Value| size = size.saturating_add(size_of_value(value));
    value.attributes().iter().for_each(|(_, value)| add(value));
    match &value.data {
        Data::List(values) | Data::Expression(values) => values.iter().for_each(add),
        Data::Call(items) | Data::Pairlist(items) | Data::Dots(items) => {
            items.iter().for_each(|item| add(&item.value));
        }
        Data::Closure(parts) => parts.iter().for_each(add),
        Data::Promise(parts) | Data::Pointer(parts) => parts.iter().for_each(add),
        Data::Strings(strings) => size = size.saturating_add(strings.bytes().len() + 16 * strings.len()),
        Data::Symbol(name) => size = size.saturating_add(name.len()),
        data => size = size.saturating_add(16 * data.len()),
    }
    size
}
