//! Joins the categories of two categorical columns, and renumbers codes.

use std::collections::HashMap;

use entasis_format::{ColumnType, Error, Physical, Result, Value, fallible};

use crate::frame::{Chunk, HostValidity, HostValues, OwnedValues};

/// The use of the memory, in messages.
const CATEGORIES: &str = "the joined categories";

/// The categories of a column, then further categories of other columns, in their order.
pub(super) struct Joint {
    /// The code of each category; the key `None` is the missing category.
    codes: HashMap<Option<Vec<u8>>, u64>,
    /// The categories of the file.
    old: Chunk,
    n: u64,
    /// The most categories that the codes of the file can have.
    most: u64,
    /// The categories in addition.
    added: Vec<Option<Vec<u8>>>,
}

impl Joint {
    /// Starts with the categories of the file; `most` is the most that its codes can have
    /// ([`most_categories`]).
    pub(super) fn new(old: Chunk, most: u64) -> Self {
        Self { codes: HashMap::new(), n: old.n as u64, old, most, added: Vec::new() }
    }

    /// Adds categories. Returns their new codes; `None` if no code changes.
    pub(super) fn add(&mut self, new: &Chunk, of_codes: &ColumnType) -> Result<Option<Vec<u64>>> {
        if of_codes.ordered {
            return if are_equal(&self.old, new) {
                Ok(None)
            } else {
                Err(Error::argument("the ordered categories of the rows to append differ, or their order"))
            };
        }
        self.index()?;
        let mut codes = fallible::with_capacity(new.n, CATEGORIES)?;
        for i in 0..new.n {
            let key = owned(value(new, i))?;
            let code = match self.codes.get(&key) {
                Some(&code) => code,
                None => {
                    let code = self.n;
                    fallible::push(&mut self.added, owned(key.as_deref())?, CATEGORIES)?;
                    fallible::insert(&mut self.codes, key, code, CATEGORIES)?;
                    self.n += 1;
                    code
                }
            };
            fallible::push(&mut codes, code, CATEGORIES)?;
        }
        if !self.added.is_empty() && self.n > self.most {
            let message = format!("{} categories need wider codes than those of the file", self.n);
            return Err(Error::argument(message));
        }
        let stay = codes.iter().enumerate().all(|(i, &code)| code == i as u64);
        Ok(if stay { None } else { Some(codes) })
    }

    /// Indexes the categories of the file.
    fn index(&mut self) -> Result<()> {
        if self.codes.is_empty() {
            for i in 0..self.old.n {
                let key = owned(value(&self.old, i))?;
                if !self.codes.contains_key(&key) {
                    fallible::insert(&mut self.codes, key, i as u64, CATEGORIES)?;
                }
            }
        }
        Ok(())
    }

    /// The categories that the file lacks; `None` if the file has all.
    pub(super) fn added(self) -> Result<Option<Chunk>> {
        let n = self.added.len();
        if n == 0 {
            return Ok(None);
        }
        let width = match &self.old.values {
            HostValues::Owned(values) => values.width(),
            _ => return Err(Error::argument("the categories of the file are of no type")),
        };
        let mut mask = fallible::defaults(n, CATEGORIES)?;
        let mut bytes = Vec::new();
        let mut offsets = fallible::with_capacity(n + 1, CATEGORIES)?;
        fallible::push(&mut offsets, 0, CATEGORIES)?;
        for (value, missing) in self.added.iter().zip(&mut mask) {
            match (value, width) {
                (Some(value), _) => fallible::extend(&mut bytes, value.iter().copied(), CATEGORIES)?,
                (None, Some(width)) => {
                    let len = bytes.len() + width;
                    fallible::resize(&mut bytes, len, 0, CATEGORIES)?;
                }
                (None, None) => {}
            }
            *missing = u8::from(value.is_none());
            fallible::push(&mut offsets, bytes.len() as u64, CATEGORIES)?;
        }
        let values = match width {
            Some(width) => OwnedValues::fixed(width, bytes),
            None => OwnedValues::strings(offsets, bytes),
        };
        let validity = match mask.contains(&1) {
            true => HostValidity::Owned(mask.into()),
            false => HostValidity::AllValid,
        };
        Ok(Some(Chunk { n, values: HostValues::Owned(values), validity }))
    }
}

/// The renumbered codes of a column. Slots of missing values get code 0.
pub(super) fn recoded(chunk: Chunk, of: &ColumnType, codes: &[u64]) -> Result<Chunk> {
    let wrong = || Error::corrupt("a code is not that of a category");
    let HostValues::Owned(values) = &chunk.values else { return Ok(chunk) };
    let width = of.layout().width().ok_or_else(wrong)?;
    let words = values.words(0..chunk.n).ok_or_else(wrong)?;
    let mut renumbered = fallible::copied(words, CATEGORIES)?;
    for (i, word) in renumbered.chunks_exact_mut(width).enumerate() {
        let mut code = [0; 8];
        if !is_missing(&chunk, i) {
            code.get_mut(..width).ok_or_else(wrong)?.copy_from_slice(word);
            let index = usize::try_from(u64::from_le_bytes(code)).map_err(|_| wrong())?;
            code = codes.get(index).ok_or_else(wrong)?.to_le_bytes();
        }
        word.copy_from_slice(code.get(..width).ok_or_else(wrong)?);
    }
    Ok(Chunk { values: HostValues::Owned(OwnedValues::fixed(width, renumbered)), ..chunk })
}

/// The most categories of a column whose codes have this type. pandas and R choose the type by the
/// number of categories. pandas takes a wider type once the number of categories reaches the
/// greatest value of the type.
pub(super) fn most_categories(host: &Value, codes: Physical) -> u64 {
    match host.get("host").and_then(Value::as_str) {
        Some("pyarrow" | "polars") => greatest(codes) + 1,
        _ => greatest(codes) - 1,
    }
}

/// The greatest code of a type.
fn greatest(physical: Physical) -> u64 {
    match physical {
        Physical::I8 => i8::MAX as u64,
        Physical::U8 => u8::MAX.into(),
        Physical::I16 => i16::MAX as u64,
        Physical::U16 => u16::MAX.into(),
        Physical::I32 => i32::MAX as u64,
        Physical::U32 => u32::MAX.into(),
        _ => i64::MAX as u64,
    }
}

fn are_equal(old: &Chunk, new: &Chunk) -> bool {
    old.n == new.n && (0..old.n).all(|i| value(old, i) == value(new, i))
}

fn owned(value: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
    value.map(|value| fallible::copied(value, CATEGORIES)).transpose()
}

/// The bytes of value `i`; `None` if the value is missing.
fn value(chunk: &Chunk, i: usize) -> Option<&[u8]> {
    let HostValues::Owned(values) = &chunk.values else { return None };
    if is_missing(chunk, i) {
        return None;
    }
    values.string(i).or_else(|| values.words(i..i + 1))
}

fn is_missing(chunk: &Chunk, i: usize) -> bool {
    match &chunk.validity {
        HostValidity::Owned(mask) => mask.get(i).is_some_and(|&missing| missing != 0),
        _ => false,
    }
}
