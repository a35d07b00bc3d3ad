//! The items of a stream: values, their attributes, symbols.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use entasis::{Error, Monitor, Result};

use super::Put;
use super::packed::{Packed, Packing};
use crate::path::{Step, text_of};
use crate::r::{Data, EnvironmentRef, Item, Mark, Strings, Value};
use crate::rds::flags::{kind, level};

/// Bytes that are collected before they are compressed or written.
const BUFFER: usize = 256 << 10;
/// The time between two calls of the monitor.
const INTERVAL: Duration = Duration::from_millis(50);
/// The greatest depth of values, which is also the reader's.
const DEEPEST: usize = 1000;

/// Version 3 of the form.
const VERSION: i32 = 3;
/// R 3.5.0, the first one that reads it.
const LEAST_R: i32 = 0x0003_0500;

/// The word before an item: its type, and these bits.
const IS_OBJECT: u32 = 1 << 8;
const HAS_ATTRIBUTES: u32 = 1 << 9;
const HAS_TAG: u32 = 1 << 10;
/// The level of objects of S4, and that of strings in ASCII.
const IS_S4: u32 = 1 << 16;
const IS_ASCII: u32 = 1 << 18;
/// Levels begin at this bit.
const LEVELS: u32 = 12;

/// Writes items.
pub(super) struct Writer<'w> {
    buffer: Vec<u8>,
    packed: Packed,
    put: &'w mut Put<'w>,
    monitor: &'w dyn Monitor,
    polled: Instant,
    /// The numbers of symbols and environments that later items refer to.
    symbols: HashMap<String, u32>,
    environments: HashMap<String, u32>,
    /// The steps to the value that is being written.
    path: Vec<Step>,
}

/// The parts of a value before and after its data.
#[derive(Clone, Copy)]
pub(super) struct Head<'v> {
    pub kind: u8,
    pub attributes: &'v [(String, Value)],
    pub is_s4: bool,
}

impl<'w> Writer<'w> {
    /// Begins a stream, whose bytes go to `put`.
    pub(super) fn new(
        packing: Packing,
        threads: usize,
        put: &'w mut Put<'w>,
        monitor: &'w dyn Monitor,
    ) -> Result<Self> {
        let mut writer = Self {
            buffer: Vec::with_capacity(BUFFER),
            packed: Packed::new(packing, threads)?,
            put,
            monitor,
            polled: Instant::now(),
            symbols: HashMap::new(),
            environments: HashMap::new(),
            path: Vec::new(),
        };
        writer.bytes(b"X\n")?;
        [VERSION, LEAST_R, LEAST_R].iter().try_for_each(|&n| writer.int(n))?;
        writer.int(5)?;
        writer.bytes(b"UTF-8")?;
        Ok(writer)
    }

    /// Ends the stream.
    pub(super) fn end(mut self) -> Result<()> {
        self.flush()?;
        self.packed.end(self.put)
    }

    fn flush(&mut self) -> Result<()> {
        if self.polled.elapsed() >= INTERVAL {
            self.polled = Instant::now();
            if self.monitor.interrupted() {
                return Err(Error::interrupted());
            }
        }
        self.packed.write(&self.buffer, self.put)?;
        self.buffer.clear();
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
            if bytes.len() >= BUFFER {
                return self.packed.write(bytes, self.put);
            }
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn int(&mut self, n: i32) -> Result<()> {
        self.bytes(&n.to_be_bytes())
    }

    fn word(&mut self, word: u32) -> Result<()> {
        self.bytes(&word.to_be_bytes())
    }

    /// Writes values of `W` bytes each.
    fn words<T: Copy, const W: usize>(
        &mut self,
        values: &[T],
        bytes_of: impl Fn(T) -> [u8; W],
    ) -> Result<()> {
        for part in values.chunks(BUFFER / W) {
            if self.buffer.len() + part.len() * W > BUFFER {
                self.flush()?;
            }
            let at = self.buffer.len();
            self.buffer.resize(at + part.len() * W, 0);
            let (words, _) = self.buffer[at..].as_chunks_mut::<W>();
            words.iter_mut().zip(part).for_each(|(word, &value)| *word = bytes_of(value));
        }
        Ok(())
    }

    /// The length of a vector. Those of 2^31 elements or more have two words.
    pub(super) fn len(&mut self, n: usize) -> Result<()> {
        if let Ok(n) = i32::try_from(n) {
            return self.int(n);
        }
        self.int(-1)?;
        self.word((n as u64 >> 32) as u32)?;
        self.word(n as u32)
    }

    /// The error of a value that is not plain data.
    #[cold]
    fn refused(&self, what: &str) -> Error {
        Error::unsupported(format!("{what} at {} is not plain data", text_of("x", &self.path)))
            .advise("saveRDS(entasis::read_entasis(path, functions = TRUE), \"x.rds\") in R writes it")
    }

    /// Writes a value.
    pub(super) fn value(&mut self, value: &Value) -> Result<()> {
        let head = |kind| Head { kind, attributes: value.attributes(), is_s4: value.is_s4 };
        match &value.data {
            Data::Null => return self.word(kind::NIL_VALUE.into()),
            Data::Symbol(name) => return self.symbol(name),
            Data::Environment(environment) => return self.environment_ref(environment),
            Data::Call(items) => return self.pairs(kind::CALL, items, value),
            Data::Pairlist(items) => return self.pairs(kind::PAIRLIST, items, value),
            Data::Closure(_) | Data::Primitive(_) => return Err(self.refused("a function")),
            Data::Promise(_) | Data::Dots(_) => return Err(self.refused("a promise")),
            Data::Pointer(_) => return Err(self.refused("an external pointer")),
            Data::WeakReference => return Err(self.refused("a weak reference")),
            Data::S4 => self.head(head(kind::S4))?,
            Data::Logical(values) => {
                self.vector(head(kind::LOGICAL), values.len())?;
                self.words(values, i32::to_be_bytes)?;
            }
            Data::Integer(values) => {
                self.vector(head(kind::INTEGER), values.len())?;
                self.words(values, i32::to_be_bytes)?;
            }
            Data::Double(values) => {
                self.vector(head(kind::DOUBLE), values.len())?;
                self.words(values, f64::to_be_bytes)?;
            }
            Data::Complex(values) => {
                self.vector(head(kind::COMPLEX), values.len())?;
                self.words(values.as_flattened(), f64::to_be_bytes)?;
            }
            Data::Raw(values) => {
                self.vector(head(kind::RAW), values.len())?;
                self.bytes(values)?;
            }
            Data::Strings(strings) => {
                self.vector(head(kind::STRINGS), strings.len())?;
                self.strings(strings)?;
            }
            Data::List(items) | Data::Expression(items) => {
                let is_list = matches!(value.data, Data::List(_));
                self.vector(head(if is_list { kind::LIST } else { kind::EXPRESSION }), items.len())?;
                let names = value.attribute("names").and_then(Value::strings);
                for (i, item) in items.iter().enumerate() {
                    self.part(element(names, i), item)?;
                }
            }
        }
        self.attributes(value.attributes())
    }

    /// Writes a part of a value.
    pub(super) fn part(&mut self, step: Step, value: &Value) -> Result<()> {
        if self.path.len() >= DEEPEST {
            return Err(Error::limit("values are nested more than 1,000 deep"));
        }
        self.path.push(step);
        self.value(value)?;
        self.path.pop();
        Ok(())
    }

    /// Begins a vector.
    pub(super) fn vector(&mut self, head: Head<'_>, n: usize) -> Result<()> {
        self.head(head)?;
        self.len(n)
    }

    fn head(&mut self, Head { kind, attributes, is_s4 }: Head<'_>) -> Result<()> {
        let is_object = attributes.iter().any(|(name, _)| name == "class");
        let bits = [(is_object, IS_OBJECT), (!attributes.is_empty(), HAS_ATTRIBUTES), (is_s4, IS_S4)];
        self.word(bits.iter().filter(|(is, _)| *is).fold(kind.into(), |word, (_, bit)| word | bit))
    }

    /// Writes attributes, if there are any.
    pub(super) fn attributes(&mut self, attributes: &[(String, Value)]) -> Result<()> {
        if attributes.is_empty() {
            return Ok(());
        }
        for (name, value) in attributes {
            self.word(u32::from(kind::PAIRLIST) | HAS_TAG)?;
            self.symbol(name)?;
            self.part(Step::Attribute(name.clone()), value)?;
        }
        self.word(kind::NIL_VALUE.into())
    }

    /// Writes a call or a pairlist. All items but the first are of a pairlist.
    fn pairs(&mut self, first: u8, items: &[Item], of: &Value) -> Result<()> {
        for (i, item) in items.iter().enumerate() {
            let of_kind = if i == 0 { first } else { kind::PAIRLIST };
            let tag = if item.tag.is_empty() { 0 } else { HAS_TAG };
            if i == 0 {
                let attributes = of.attributes();
                let is_object = attributes.iter().any(|(name, _)| name == "class");
                let object = if is_object { IS_OBJECT } else { 0 };
                let has = if attributes.is_empty() { 0 } else { HAS_ATTRIBUTES };
                self.word(u32::from(of_kind) | object | has | tag)?;
                self.attributes(attributes)?;
            } else {
                self.word(u32::from(of_kind) | tag)?;
            }
            if !item.tag.is_empty() {
                self.symbol(&item.tag)?;
            }
            self.part(Step::Index(i), &item.value)?;
        }
        self.word(kind::NIL_VALUE.into())
    }

    /// Writes a symbol, or a reference to it.
    fn symbol(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return self.word(kind::MISSING_ARGUMENT.into());
        }
        if let Some(&number) = self.symbols.get(name) {
            return self.reference(number);
        }
        self.symbols.insert(name.to_owned(), self.next_reference());
        self.word(kind::SYMBOL.into())?;
        self.string(Some((name.as_bytes(), Mark::Utf8)))
    }

    fn next_reference(&self) -> u32 {
        u32::try_from(self.symbols.len() + self.environments.len() + 1).unwrap_or(u32::MAX)
    }

    fn reference(&mut self, number: u32) -> Result<()> {
        if number <= u32::MAX >> 9 {
            return self.word(number << 8 | u32::from(kind::REFERENCE));
        }
        self.word(kind::REFERENCE.into())?;
        self.word(number)
    }

    fn environment_ref(&mut self, environment: &EnvironmentRef) -> Result<()> {
        let (of_kind, name) = match environment {
            EnvironmentRef::Global => return self.word(kind::GLOBAL_ENVIRONMENT.into()),
            EnvironmentRef::Base => return self.word(kind::BASE_ENVIRONMENT.into()),
            EnvironmentRef::Empty => return self.word(kind::EMPTY_ENVIRONMENT.into()),
            EnvironmentRef::Namespace(name) if name == "base" => {
                return self.word(kind::BASE_NAMESPACE.into());
            }
            EnvironmentRef::Namespace(name) => (kind::NAMESPACE, name.clone()),
            EnvironmentRef::Package(name) => (kind::PACKAGE, format!("package:{name}")),
            EnvironmentRef::Number(_) => return Err(self.refused("an environment with values")),
        };
        let key = format!("{of_kind} {name}");
        if let Some(&number) = self.environments.get(&key) {
            return self.reference(number);
        }
        self.environments.insert(key, self.next_reference());
        self.word(of_kind.into())?;
        // No names, and one string.
        self.int(0)?;
        self.int(1)?;
        self.string(Some((name.as_bytes(), Mark::Utf8)))
    }

    fn strings(&mut self, strings: &Strings) -> Result<()> {
        for i in 0..strings.len() {
            match strings.in_r(i) {
                Some((bytes, mark)) => self.string(Some((&bytes, mark)))?,
                None => self.string(None)?,
            }
        }
        Ok(())
    }

    /// Writes a string; `None` for a missing one.
    #[inline]
    fn string(&mut self, string: Option<(&[u8], Mark)>) -> Result<()> {
        let Some((bytes, mark)) = string else {
            self.word(kind::CHAR.into())?;
            return self.int(-1);
        };
        let len = string_len(bytes.len())?;
        let levels = match mark {
            _ if bytes.is_ascii() => IS_ASCII,
            Mark::Utf8 => level::UTF8 << LEVELS,
            Mark::Latin1 => level::LATIN1 << LEVELS,
            Mark::Bytes => level::BYTES << LEVELS,
            Mark::Native => 0,
        };
        let word = u64::from(u32::from(kind::CHAR) | levels) << 32 | len as u64;
        self.bytes(&word.to_be_bytes())?;
        self.bytes(bytes)
    }
}

/// The step to element `i` of a list with these names.
pub(super) fn element(names: Option<&Strings>, i: usize) -> Step {
    match names.and_then(|names| names.get(i)) {
        Some(name) if !name.is_empty() => Step::Name(name.to_owned()),
        _ => Step::Index(i),
    }
}

/// The length of a string in a stream.
pub(super) fn string_len(len: usize) -> Result<i32> {
    i32::try_from(len).map_err(|_| {
        Error::unsupported(format!("a string of {len} bytes: those of R have at most 2^31 - 1"))
            .advise("choose other columns")
    })
}
