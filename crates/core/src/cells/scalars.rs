//! Values without parts, in the making: a kind of each, and the values of each class one behind the other.

use entasis_format::{CellClass, CellKind};

use super::CLASSES;

/// Strings or bytes, one behind the other.
#[derive(Debug)]
pub(super) struct Strings {
    /// Where each ends; the first is 0.
    pub offsets: Vec<i64>,
    pub bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.offsets.push(self.bytes.len() as i64);
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn get(&self, i: usize) -> &[u8] {
        &self.bytes[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    fn append(&mut self, other: &Self) {
        let before = self.bytes.len() as i64;
        self.bytes.extend_from_slice(&other.bytes);
        self.offsets.extend(other.offsets[1..].iter().map(|offset| before + offset));
    }
}

/// Values without parts, in order.
#[derive(Debug, Default)]
pub struct Scalars {
    pub(super) kinds: Vec<u8>,
    pub(super) ints: Vec<i64>,
    pub(super) floats: Vec<f64>,
    pub(super) strings: Strings,
    pub(super) bytes: Strings,
}

impl Scalars {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Adds a value of which the kind says all.
    #[inline]
    pub fn unit(&mut self, kind: CellKind) {
        debug_assert_eq!(kind.class(), CellClass::Unit);
        self.kinds.push(kind.code());
    }

    /// Adds an integer.
    #[inline]
    pub fn int(&mut self, kind: CellKind, value: i64) {
        debug_assert_eq!(kind.class(), CellClass::Int);
        self.kinds.push(kind.code());
        self.ints.push(value);
    }

    /// Adds a float.
    #[inline]
    pub fn float(&mut self, kind: CellKind, value: f64) {
        debug_assert_eq!(kind.class(), CellClass::Float);
        self.kinds.push(kind.code());
        self.floats.push(value);
    }

    /// Adds text.
    #[inline]
    pub fn text(&mut self, kind: CellKind, value: &str) {
        debug_assert_eq!(kind.class(), CellClass::Str);
        self.kinds.push(kind.code());
        self.strings.push(value.as_bytes());
    }

    /// Adds bytes.
    #[inline]
    pub fn bytes(&mut self, kind: CellKind, value: &[u8]) {
        debug_assert_eq!(kind.class(), CellClass::Bytes);
        self.kinds.push(kind.code());
        self.bytes.push(value);
    }

    /// Adds the values of others behind these.
    pub(super) fn append(&mut self, other: &Self) {
        self.kinds.extend_from_slice(&other.kinds);
        self.ints.extend_from_slice(&other.ints);
        self.floats.extend_from_slice(&other.floats);
        self.strings.append(&other.strings);
        self.bytes.append(&other.bytes);
    }

    /// How many values there are of the classes that have some.
    pub(super) fn counts(&self) -> [usize; CLASSES - 2] {
        [self.ints.len(), self.floats.len(), self.strings.len(), self.bytes.len()]
    }
}
