//! Values: the contents of a file, and host maps (`docs/format/values.md`).

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::limits::{Limits, MAX_DEPTH};

/// The keys of maps with at most this many are compared with each other.
const FEW_KEYS: usize = 8;

/// A value. Floats are equal if their bits are equal.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A float.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Values in order.
    List(Vec<Value>),
    /// Keys and values in order.
    Map(Vec<(Value, Value)>),
    /// The number of a column.
    Column(u64),
    /// The number of a table.
    Table(u64),
    /// The number of a cell (`docs/format/values.md`).
    Cell(u64),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            (Self::UInt(a), Self::UInt(b))
            | (Self::Column(a), Self::Column(b))
            | (Self::Table(a), Self::Table(b))
            | (Self::Cell(a), Self::Cell(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Value {
    /// A map with these strings as keys.
    pub fn map<Key: Into<String>>(pairs: impl IntoIterator<Item = (Key, Value)>) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (Self::Str(key.into()), value)).collect())
    }

    /// The value of a map under this string.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let pairs = self.as_map()?;
        pairs.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// Whether it is null.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// An integer, signed or not, if it fits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::UInt(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// An integer, signed or not, if it fits.
    pub fn as_uint(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::UInt(value) => Some(*value),
            _ => None,
        }
    }

    /// Text.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(value) = self { Some(value) } else { None }
    }

    /// Bytes.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(value) = self { Some(value) } else { None }
    }

    /// Values in order.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }

    /// Keys and values in order.
    pub fn as_map(&self) -> Option<&[(Value, Value)]> {
        if let Self::Map(pairs) = self { Some(pairs) } else { None }
    }

    /// The number of a column.
    pub const fn as_column(&self) -> Option<u64> {
        if let Self::Column(number) = self { Some(*number) } else { None }
    }

    /// The number of a table.
    pub const fn as_table(&self) -> Option<u64> {
        if let Self::Table(number) = self { Some(*number) } else { None }
    }

    /// The number of a cell.
    pub const fn as_cell(&self) -> Option<u64> {
        if let Self::Cell(number) = self { Some(*number) } else { None }
    }

    /// Visits every value that is not a list or map. Checked values are nested at most 64 deep.
    pub fn visit_mut(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        match self {
            Self::List(values) => values.iter_mut().for_each(|value| value.visit_mut(visit)),
            Self::Map(pairs) => {
                for (key, value) in pairs {
                    key.visit_mut(visit);
                    value.visit_mut(visit);
                }
            }
            scalar => visit(scalar),
        }
    }

    /// A string that is a key of this map twice.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn repeated_key(&self) -> Result<Option<&str>> {
        let texts = || self.as_map().into_iter().flatten().filter_map(|(key, _)| key.as_str());
        let n = texts().count();
        if n <= FEW_KEYS {
            let is_repeated = |(i, key): (usize, &&str)| texts().take(i).any(|earlier| earlier == *key);
            let mut all = texts().enumerate();
            return Ok(all.find(|(i, key)| is_repeated((*i, key))).map(|(_, key)| key));
        }
        let mut known = HashSet::new();
        known.try_reserve(n).map_err(|_| Error::out_of_memory(n, "the keys of a map"))?;
        Ok(texts().find(|key| !known.insert(*key)))
    }

    /// Checks that a reader with these limits accepts the value, and that no map has a string key
    /// twice.
    ///
    /// # Errors
    /// *Argument*.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        let most = limits.depth.min(MAX_DEPTH.into());
        let mut n_nodes = 0u64;
        // No recursion: an unchecked value may be nested deeper than the stack allows.
        let mut rest = vec![(self, 1u64)];
        while let Some((value, depth)) = rest.pop() {
            n_nodes = n_nodes.saturating_add(1);
            if depth > most {
                return Err(Error::argument(format!("a value is nested deeper than {most}")));
            }
            if n_nodes > limits.n_nodes {
                return Err(Error::argument(format!("a value has more than {} parts", limits.n_nodes)));
            }
            let below = depth.saturating_add(1);
            match value {
                Self::List(values) => rest.extend(values.iter().map(|value| (value, below))),
                Self::Map(pairs) => {
                    if let Some(key) = value.repeated_key()? {
                        return Err(Error::argument(format!("a map has the key \"{key}\" twice")));
                    }
                    rest.extend(pairs.iter().flat_map(|(key, value)| [(key, below), (value, below)]));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::UInt(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Str(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Str(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::List(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn keys_that_are_there_twice() {
        for n in [1, FEW_KEYS, FEW_KEYS + 1, 1_000] {
            let keys: Vec<String> = (0..n).map(|i| format!("key {i}")).collect();
            let map = |last: Value| {
                let mut pairs: Vec<_> = keys.iter().map(|key| (key.as_str().into(), Value::Null)).collect();
                pairs.push((last, Value::Null));
                Value::Map(pairs)
            };
            let last = keys.last().unwrap();
            assert_eq!(map(last.as_str().into()).repeated_key().unwrap(), Some(last.as_str()));
            for other in [Value::from("another"), Value::Bytes(last.clone().into()), Value::Null] {
                assert_eq!(map(other).repeated_key().unwrap(), None);
            }
            let inner = Value::List(vec![map(last.as_str().into())]);
            assert_eq!(inner.check(&Limits::default()).unwrap_err().kind(), Kind::Argument);
        }
        // Other keys may be equal: nothing looks them up.
        let nan = || (Value::Float(f64::NAN), Value::Null);
        assert_eq!(Value::Map(vec![nan(), nan()]).repeated_key().unwrap(), None);
    }
}
