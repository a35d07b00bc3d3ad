//! The values of a column in one chunk.

use std::ops::Range;

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
    /// A field is a value, or is one if the column is text.
    pub has_values: bool,
    /// An integer of 64 bits is beyond -2147483647 to 2147483647.
    pub has_wide_integers: bool,
    /// An integer is -2^63.
    pub has_least_integer: bool,
}

impl Facts {
    /// Notes a float that is written like an integer.
    pub fn note_integer(&mut self, value: f64) {
        self.has_numbers = true;
        self.has_negative_integers |= value < 0.0;
        self.has_large_integers |= value >= 9_223_372_036_854_775_808.0;
    }

    /// Notes an integer of 64 bits.
    pub fn note_signed(&mut self, value: i64) {
        self.has_numbers = true;
        self.has_negative_integers |= value < 0;
        self.has_inexact_integers |= !is_exact(value);
        self.has_wide_integers |= value.unsigned_abs() > MOST_NARROW;
        self.has_least_integer |= value == i64::MIN;
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
            has_values: self.has_values | other.has_values,
            has_wide_integers: self.has_wide_integers | other.has_wide_integers,
            has_least_integer: self.has_least_integer | other.has_least_integer,
        }
    }
}

/// Integers of a greater absolute value are wide.
const MOST_NARROW: u64 = i32::MAX as u64;

/// Whether a double holds an integer exactly: its bits from the first to the last 1 are at most 53.
pub fn is_exact(value: i64) -> bool {
    is_exact_unsigned(value.unsigned_abs())
}

/// As [`is_exact`].
pub fn is_exact_unsigned(value: u64) -> bool {
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

    /// The values of neighbouring rows.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn part(&self, rows: Range<usize>, layout: TextLayout) -> Result<Self> {
        self.rows(std::slice::from_ref(&rows), layout)
    }

    /// The values of some rows, which are ascending ranges.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn rows(&self, rows: &[Range<usize>], layout: TextLayout) -> Result<Self> {
        let n = rows.iter().map(Range::len).sum();
        let validity = self.validity.as_ref().map(|bits| bits_of(bits, rows, n)).transpose()?;
        let (values, bytes) = match self.of {
            Type::Null => Default::default(),
            Type::Bool => (bits_of(&self.values, rows, n)?, Buffer::default()),
            Type::Text if layout == TextLayout::Views => self.views_of(rows, n)?,
            Type::Text => self.strings_of(rows, n)?,
            of => {
                let width = of.width().unwrap_or(1);
                let mut values = buffer(width * n)?;
                copy(rows, &mut values, |row| width * row, &self.values);
                // Those of codes are the categories.
                let mut bytes = buffer(self.bytes.len())?;
                bytes.copy_from_slice(&self.bytes);
                (values, bytes)
            }
        };
        Ok(Self { of: self.of, n, values, bytes, validity, facts: self.facts })
    }

    /// The offsets and the bytes of the strings in some rows.
    fn strings_of(&self, rows: &[Range<usize>], n: usize) -> Result<(Buffer, Buffer)> {
        let from: &[i64] = bytemuck::cast_slice(&self.values);
        let mut values = buffer(8 * (n + 1))?;
        let to: &mut [i64] = bytemuck::cast_slice_mut(&mut values);
        let (mut at, mut len) = (0, 0);
        for rows in rows {
            for row in rows.clone() {
                at += 1;
                to[at] = len + from[row + 1] - from[rows.start];
            }
            len = to[at];
        }
        let mut bytes = buffer(len as usize)?;
        copy(rows, &mut bytes, |row| from[row] as usize, &self.bytes);
        Ok((values, bytes))
    }

    /// The views and the bytes of the strings in some rows.
    fn views_of(&self, rows: &[Range<usize>], n: usize) -> Result<(Buffer, Buffer)> {
        let mut values = buffer(16 * n)?;
        copy(rows, &mut values, |row| 16 * row, &self.values);
        let number = |view: &[u8], at: usize| {
            view[at..].first_chunk().map_or(0, |&bytes| u32::from_le_bytes(bytes) as usize)
        };
        let is_long = |view: &&[u8]| number(view, 0) > 12;
        let len = values.chunks_exact(16).filter(is_long).map(|view| number(view, 0)).sum();
        let (mut bytes, mut at) = (buffer(len)?, 0);
        for view in values.chunks_exact_mut(16) {
            let (len, from) = (number(view, 0), number(view, 12));
            if len > 12 {
                bytes[at..at + len].copy_from_slice(&self.bytes[from..from + len]);
                view[12..].copy_from_slice(&(at as u32).to_le_bytes());
                at += len;
            }
        }
        Ok((values, bytes))
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
        let is_value = |bits: &Buffer| (0..self.n).any(|i| bits[i / 8] >> (i % 8) & 1 == 1);
        let has_values = self.of != Type::Null && self.n > 0 && self.validity.as_ref().is_none_or(is_value);
        let has_values = has_values || self.facts.has_values;
        let mut facts = Facts { has_missing, has_values, ..self.facts };
        if !matches!(self.of, Type::INT | Type::UINT | Type::Datetime { unit: Unit::Microsecond, .. }) {
            return facts;
        }
        let values: &[u64] = bytemuck::cast_slice(&self.values);
        let present = values.iter().enumerate().filter(|&(i, _)| self.is_present(i));
        for (_, &bits) in present {
            let value = bits as i64;
            match self.of {
                Type::INT => facts.note_signed(value),
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

/// Copies the bytes of some rows, which are those from `at(row)` on.
fn copy(rows: &[Range<usize>], to: &mut [u8], at: impl Fn(usize) -> usize, from: &[u8]) {
    let mut end = 0;
    for rows in rows.iter().filter(|rows| !rows.is_empty()) {
        let from = &from[at(rows.start)..at(rows.end)];
        to[end..end + from.len()].copy_from_slice(from);
        end += from.len();
    }
}

/// The bits of some rows.
fn bits_of(bits: &[u8], rows: &[Range<usize>], n: usize) -> Result<Buffer> {
    let mut found = buffer(n.div_ceil(8))?;
    for (at, row) in rows.iter().cloned().flatten().enumerate() {
        found[at / 8] |= (bits[row / 8] >> (row % 8) & 1) << (at % 8);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strings(texts: &[Option<String>], layout: TextLayout) -> Piece {
        let (mut ends, mut views, mut bytes) = (vec![0i64], Vec::new(), Vec::new());
        let mut validity = buffer(texts.len().div_ceil(8)).unwrap();
        for (i, text) in texts.iter().enumerate() {
            validity[i / 8] |= u8::from(text.is_some()) << (i % 8);
            let text = text.as_deref().unwrap_or_default().as_bytes();
            let mut view = [0; 16];
            view[..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
            if text.len() <= 12 {
                view[4..4 + text.len()].copy_from_slice(text);
            } else {
                view[4..8].copy_from_slice(&text[..4]);
                view[12..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            }
            if text.len() > 12 || layout == TextLayout::Offsets {
                bytes.extend_from_slice(text);
            }
            views.extend_from_slice(&view);
            ends.push(bytes.len() as i64);
        }
        let ends: &[u8] = bytemuck::cast_slice(&ends);
        let from = if layout == TextLayout::Views { &views[..] } else { ends };
        let (mut values, mut memory) = (buffer(from.len()).unwrap(), buffer(bytes.len()).unwrap());
        values.copy_from_slice(from);
        memory.copy_from_slice(&bytes);
        let (of, facts) = (Type::Text, Facts::default());
        Piece { of, n: texts.len(), values, bytes: memory, validity: Some(validity), facts }
    }

    proptest! {
        #[test]
        fn rows_of_strings_are_those_of_the_strings(
            texts in prop::collection::vec(prop::option::of("[a-z]{0,20}"), 1..40),
            keeps in prop::collection::vec(any::<bool>(), 40),
        ) {
            let mut rows: Vec<Range<usize>> = Vec::new();
            for row in (0..texts.len()).filter(|&row| keeps[row]) {
                match rows.last_mut().filter(|last| last.end == row) {
                    Some(last) => last.end += 1,
                    None => rows.push(row..row + 1),
                }
            }
            let kept: Vec<_> = rows.iter().cloned().flatten().map(|row| texts[row].clone()).collect();
            for layout in [TextLayout::Offsets, TextLayout::Views] {
                let (found, wanted) = (strings(&texts, layout).rows(&rows, layout).unwrap(), strings(&kept, layout));
                prop_assert_eq!(&found.values[..], &wanted.values[..]);
                prop_assert_eq!(&found.bytes[..], &wanted.bytes[..]);
                prop_assert_eq!(found.validity.as_deref(), wanted.validity.as_deref());
            }
        }

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
