//! Collects values without parts: the kind of each, and the values of each class.

use entasis_format::{CellClass, CellKind};
use entasis_platform::memory::ScratchVec;

use super::layout::CLASSES;

/// The most values to reserve memory for at once.
const EXPECTED: usize = 1 << 20;

/// Strings or bytes, contiguous.
#[derive(Debug)]
pub(super) struct Strings {
    /// 0, then the end of each value in `bytes`.
    pub offsets: ScratchVec<i64>,
    pub bytes: ScratchVec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        let mut offsets = ScratchVec::new();
        offsets.push(0);
        Self { offsets, bytes: ScratchVec::new() }
    }
}

impl Strings {
    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_few(bytes);
        self.offsets.push(self.bytes.len() as i64);
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Reserves memory for `n` more values. Assumes them to be slightly longer than the last `k`,
    /// because numbers in names grow.
    fn expect(&mut self, n: usize, k: usize) {
        let last = &self.offsets[self.offsets.len() - 1 - k..];
        let len = (last[k] - last[0]) as usize;
        self.offsets.reserve(n);
        self.bytes.reserve((len / k + 3).saturating_mul(n));
    }

    fn take(&mut self, other: Self) {
        if self.len() == 0 { *self = other } else { self.append(&other) }
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
    pub(super) kinds: ScratchVec<u8>,
    pub(super) ints: ScratchVec<i64>,
    pub(super) floats: ScratchVec<f64>,
    pub(super) strings: Strings,
    pub(super) bytes: Strings,
}

impl Scalars {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Adds a value that its kind describes completely.
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

    /// Reserves memory for `n` more values like the last `k`. This avoids copies while memory
    /// grows.
    pub fn expect(&mut self, n: usize, k: usize) {
        let n = n.min(EXPECTED);
        self.expect_values(n, k);
        self.kinds.reserve(n);
    }

    /// As [`expect`](Self::expect), without memory for the kinds.
    fn expect_values(&mut self, n: usize, k: usize) {
        let Some(&code) = self.kinds.last() else { return };
        if k == 0
            || k > self.kinds.len()
            || self.kinds[self.kinds.len() - k..].iter().any(|&other| other != code)
        {
            return;
        }
        match CellKind::of(code).map(CellKind::class) {
            Some(CellClass::Int) => self.ints.reserve(n),
            Some(CellClass::Float) => self.floats.reserve(n),
            Some(CellClass::Str) => self.strings.expect(n, k),
            Some(CellClass::Bytes) => self.bytes.expect(n, k),
            _ => {}
        }
    }

    /// Reserves memory for the values of these other collections.
    pub(super) fn reserve<'a>(&mut self, others: impl Iterator<Item = &'a Self>) {
        let (mut kinds, mut counts, mut lens) = (0, [0; CLASSES - 2], [0; 2]);
        for other in others {
            kinds += other.kinds.len();
            counts.iter_mut().zip(other.counts()).for_each(|(sum, n)| *sum += n);
            lens[0] += other.strings.bytes.len();
            lens[1] += other.bytes.bytes.len();
        }
        self.kinds.reserve(kinds);
        self.ints.reserve(counts[0]);
        self.floats.reserve(counts[1]);
        for (strings, (n, len)) in
            [&mut self.strings, &mut self.bytes].into_iter().zip(counts[2..].iter().zip(lens))
        {
            strings.offsets.reserve(*n);
            strings.bytes.reserve(len);
        }
    }

    /// Appends the values of another collection.
    pub(super) fn append(&mut self, other: &Self) {
        self.kinds.extend_from_slice(&other.kinds);
        self.ints.extend_from_slice(&other.ints);
        self.floats.extend_from_slice(&other.floats);
        self.strings.append(&other.strings);
        self.bytes.append(&other.bytes);
    }

    /// Appends the values of another collection. An empty pool of values takes over the other's
    /// memory.
    pub(super) fn take(&mut self, other: Self) {
        self.kinds.reserve(other.kinds.len());
        self.kinds.extend_from_slice(&other.kinds);
        if self.ints.is_empty() {
            self.ints = other.ints
        } else {
            self.ints.extend_from_slice(&other.ints)
        }
        if self.floats.is_empty() {
            self.floats = other.floats
        } else {
            self.floats.extend_from_slice(&other.floats)
        }
        self.strings.take(other.strings);
        self.bytes.take(other.bytes);
    }

    /// The number of values of each class that has values.
    pub(super) fn counts(&self) -> [usize; CLASSES - 2] {
        [self.ints.len(), self.floats.len(), self.strings.len(), self.bytes.len()]
    }
}
