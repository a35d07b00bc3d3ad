//! The values of a column in one chunk.

use entasis::{Buffer, Error, Result};

use crate::types::{Type, Unit};

/// How strings are laid out in memory, as in Arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLayout {
    /// Offsets of 64 bits into the bytes.
    Offsets,
    /// Views of 16 bytes, which contain strings of up to 12 bytes.
    Views,
}

/// Values of one type, in Arrow's layout.
#[derive(Debug)]
pub struct Piece {
    /// Their type.
    pub of: Type,
    /// The number of values.
    pub n: usize,
    /// The values: words, bits for booleans, offsets or views for strings, codes of 32 bits.
    pub values: Buffer,
    /// The bytes of strings, or of categories that are not joined yet.
    pub bytes: Buffer,
    /// One bit for each value, 0 where it is missing; `None` if all are present.
    pub validity: Option<Buffer>,
    /// Facts that later decisions need.
    pub facts: Facts,
}

/// Facts about values that decide whether a wider type holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A field is a word for a missing value, such as `NA`.
    pub has_words: bool,
    /// A missing field is text in a column of text: a word, quotes, or blanks.
    pub has_texts: bool,
    /// A float is written with digits.
    pub has_numbers: bool,
    /// A float is written like a negative integer.
    pub has_negative_integers: bool,
    /// A float is written like an integer from 2^63 on.
    pub has_large_integers: bool,
    /// A float cannot hold an integer exactly.
    pub has_inexact_integers: bool,
    /// 64 bits of nanoseconds cannot hold a time.
    pub has_far_times: bool,
    /// A value is missing.
    pub has_missing: bool,
}

impl Facts {
    /// Notes a float that is written like an integer.
    pub fn note_integer(&mut self, value: f64) {
        self.has_numbers = true;
        self.has_negative_integers |= value < 0.0;
        self.has_large_integers |= value >= 9_223_372_036_854_775_808.0;
    }

    /// The facts of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            has_words: self.has_words | other.has_words,
            has_texts: self.has_texts | other.has_texts,
            has_numbers: self.has_numbers | other.has_numbers,
            has_negative_integers: self.has_negative_integers | other.has_negative_integers,
            has_large_integers: self.has_large_integers | other.has_large_integers,
            has_inexact_integers: self.has_inexact_integers | other.has_inexact_integers,
            has_far_times: self.has_far_times | other.has_far_times,
            has_missing: self.has_missing | other.has_missing,
        }
    }
}

/// Whether a double holds an integer exactly: its bits from the first to the last 1 are at most 53.
pub fn is_exact(value: i64) -> bool {
    is_exact_unsigned(value.unsigned_abs())
}

/// As [`is_exact`].
fn is_exact_unsigned(value: u64) -> bool {
    value >> 53 == 0 || (value >> value.trailing_zeros()) >> 53 == 0
}

/// Memory of `len` bytes.
pub(crate) fn buffer(len: usize) -> Result<Buffer> {
    Buffer::zeroed(len).ok_or_else(|| Error::out_of_memory(len, "the values"))
}

impl Piece {
    /// `n` missing values.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn missing(of: Type, n: usize, layout: TextLayout) -> Result<Self> {
        let len = match of {
            Type::Null => 0,
            Type::Bool => n.div_ceil(8),
            Type::Text if layout == TextLayout::Views => 16 * n,
            Type::Text => 8 * (n + 1),
            _ => of.width().unwrap_or(0) * n,
        };
        Ok(Self {
            of,
            n,
            values: buffer(len)?,
            bytes: Buffer::default(),
            validity: if of == Type::Null { None } else { Some(buffer(n.div_ceil(8))?) },
            facts: Facts::default(),
        })
    }

    /// Whether value `i` is present.
    pub fn is_present(&self, i: usize) -> bool {
        self.of != Type::Null && self.validity.as_ref().is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1)
    }

    /// The same values as a wider type; `None` if it does not hold them exactly.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn widen(self, to: Type, layout: TextLayout) -> Result<Option<Self>> {
        let from = self.of;
        if from == to {
            return Ok(Some(self));
        }
        if from == Type::Null {
            return Ok(if self.facts.has_texts && matches!(to, Type::Text | Type::Categorical) {
                None
            } else {
                Some(Self::missing(to, self.n, layout)?)
            });
        }
        let mut piece = self;
        // Values that were left out have only facts.
        let fails = match (from, to) {
            (Type::INT, Type::UINT) => piece.facts.has_negative_integers,
            (_, Type::FLOAT) => piece.facts.has_inexact_integers,
            _ => piece.facts.has_far_times,
        };
        if fails {
            return Ok(None);
        }
        let convert: fn(u64, &mut Facts) -> Option<u64> = match (from, to) {
            (Type::INT, Type::UINT) => |bits, _| ((bits as i64) >= 0).then_some(bits),
            (Type::INT, Type::FLOAT) => |bits, facts| {
                let value = bits as i64;
                facts.has_numbers = true;
                facts.has_negative_integers |= value < 0;
                is_exact(value).then_some((value as f64).to_bits())
            },
            (Type::UINT, Type::FLOAT) => |bits, facts| {
                facts.has_numbers = true;
                facts.has_large_integers |= bits > i64::MAX as u64;
                is_exact_unsigned(bits).then_some((bits as f64).to_bits())
            },
            (Type::Datetime { .. }, Type::Datetime { .. }) => {
                |bits, _| (bits as i64).checked_mul(1000).map(|nanoseconds| nanoseconds as u64)
            }
            _ => return Ok(None),
        };
        let values: &mut [u64] = bytemuck::cast_slice_mut(&mut piece.values);
        let mut facts = piece.facts;
        let validity = piece.validity.as_deref();
        let is_present = |i: usize| validity.is_none_or(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
        for (i, value) in values.iter_mut().enumerate() {
            if is_present(i) {
                let Some(converted) = convert(*value, &mut facts) else { return Ok(None) };
                *value = converted;
            }
        }
        piece.of = to;
        piece.facts = facts;
        Ok(Some(piece))
    }

    /// The facts, with those that stand for values that are dropped.
    pub fn all_facts(&self) -> Facts {
        let has_missing = self.n > 0 && (self.of == Type::Null || self.validity.is_some());
        let mut facts = Facts { has_missing, ..self.facts };
        if !matches!(self.of, Type::INT | Type::UINT | Type::Datetime { unit: Unit::Microsecond, .. }) {
            return facts;
        }
        let values: &[u64] = bytemuck::cast_slice(&self.values);
        let present = values.iter().enumerate().filter(|&(i, _)| self.is_present(i));
        for (_, &bits) in present {
            let value = bits as i64;
            match self.of {
                Type::INT => {
                    facts.has_numbers = true;
                    facts.has_negative_integers |= value < 0;
                    facts.has_inexact_integers |= !is_exact(value);
                }
                Type::UINT => {
                    facts.has_numbers = true;
                    facts.has_large_integers |= value < 0;
                    facts.has_inexact_integers |= !is_exact_unsigned(bits);
                }
                _ => facts.has_far_times |= value.checked_mul(1000).is_none(),
            }
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn exact_integers_come_back(value: i64, shift in 0u32..64) {
            for value in [value, value >> shift, value >> shift << shift, i64::MAX, i64::MIN] {
                prop_assert_eq!(is_exact(value), value as f64 as i128 == i128::from(value));
                let value = value as u64;
                prop_assert_eq!(is_exact_unsigned(value), value as f64 as u128 == u128::from(value));
            }
        }
    }
}
