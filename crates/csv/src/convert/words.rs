//! Fields to values of a fixed width: numbers, dates and times.

use entasis::Unit;

use super::{Converted, Meaning, Other, bitmap, misfit, note_missing, other};
use crate::fields::Column;
use crate::piece::{Facts, Piece, buffer};
use crate::types::Type;
use crate::values::floats::{self, Number};
use crate::values::{decimals, integers, times};

/// Makes a word of a field.
pub(super) trait Parse {
    /// The word.
    type Word: bytemuck::Pod + Default;

    /// The value of `text[start..end]`, which is not empty.
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<Self::Word>;

    /// The facts that were learnt.
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

pub(super) struct Signed;

impl Parse for Signed {
    type Word = i64;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<i64> {
        integers::signed(text, start, end)
    }
}

pub(super) struct Unsigned;

impl Parse for Unsigned {
    type Word = u64;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<u64> {
        integers::unsigned(text, start, end)
    }
}

/// Integers of at most 32 bits.
struct Small<T>(std::marker::PhantomData<T>);

impl<T: bytemuck::Pod + Default + TryFrom<i64>> Parse for Small<T> {
    type Word = T;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<T> {
        T::try_from(integers::signed(text, start, end)?).ok()
    }
}

pub(super) struct Double {
    pub(super) mark: u8,
    pub(super) facts: Facts,
    pub(super) is_given: bool,
}

impl Parse for Double {
    type Word = f64;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<f64> {
        match floats::number(text, start, end, self.mark)? {
            Number::Float(value) => {
                self.facts.has_numbers = true;
                Some(value)
            }
            Number::Integer(value) => {
                let facts = &mut self.facts;
                facts.note_integer(value);
                let is_text = facts.has_negative_integers && facts.has_large_integers && !self.is_given;
                (!is_text).then_some(value)
            }
            Number::Word(value) => Some(value),
        }
    }

    fn facts(&self) -> Facts {
        self.facts
    }
}

/// Floats of 32 bits: the nearest one to the text.
pub(super) struct Single(pub(super) u8);

impl Parse for Single {
    type Word = f32;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<f32> {
        floats::single(text, start, end, self.0)
    }
}

/// Decimals of a precision and a scale.
pub(super) struct Decimals {
    pub(super) mark: u8,
    pub(super) digits: (u8, u8),
}

impl Parse for Decimals {
    type Word = [u8; 16];

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<[u8; 16]> {
        decimals::decimal(text, start, end, self.mark, self.digits).map(i128::to_le_bytes)
    }
}

pub(super) struct Days;

impl Parse for Days {
    type Word = i32;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<i32> {
        times::date(text, start, end)
    }
}

pub(super) struct Instants {
    pub(super) unit: Unit,
    pub(super) is_utc: bool,
}

impl Parse for Instants {
    type Word = i64;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<i64> {
        let time = times::datetime(text, start, end)?;
        if time.is_utc != self.is_utc {
            return None;
        }
        let (per_second, length) = match self.unit {
            Unit::Nanosecond => (1_000_000_000, 1),
            Unit::Millisecond => (1000, 1_000_000),
            Unit::Second => (1, 1_000_000_000),
            _ => (1_000_000, 1000),
        };
        if !time.nanoseconds.is_multiple_of(length) || (time.has_nanoseconds && length == 1000) {
            return None;
        }
        time.seconds.checked_mul(per_second)?.checked_add(i64::from(time.nanoseconds / length))
    }
}

pub(super) fn small<T>(
    column: &Column<'_>,
    of: Type,
    meaning: &Meaning,
    misfits: &mut Vec<usize>,
) -> Converted
where
    T: bytemuck::Pod + Default + TryFrom<i64>,
{
    words(column, of, meaning, Small::<T>(std::marker::PhantomData), Some(misfits))
}

/// Converts a column to words. Without `misfits` the first field that does not fit ends it.
pub(super) fn words<P: Parse>(
    column: &Column<'_>,
    of: Type,
    meaning: &Meaning,
    mut parse: P,
    mut misfits: Option<&mut Vec<usize>>,
) -> Converted {
    let n = column.len();
    let mut values = buffer(n * size_of::<P::Word>())?;
    let mut validity = Vec::new();
    let mut facts = Facts::default();
    let mut memory = Vec::new();
    let out: &mut [P::Word] = bytemuck::cast_slice_mut(&mut values);
    for (group, out) in out.chunks_mut(64).enumerate() {
        column.prefetch(64 * group..64 * group + 64);
        let mut missing = 0u64;
        for (i, out) in out.iter_mut().enumerate() {
            let row = 64 * group + i;
            let (start, end) = column.get(row);
            if start >= end {
                missing |= 1 << i;
                continue;
            }
            if let Some(value) = parse.parse(column.text, start, end) {
                *out = value;
                continue;
            }
            let value = match other(column.text, start, end, meaning, &mut facts, &mut memory) {
                Other::Missing => {
                    missing |= 1 << i;
                    continue;
                }
                Other::Trimmed(start, end) => parse.parse(column.text, start, end),
                Other::Rewritten(text) => parse.parse(text, 0, text.len() - crate::values::PADDING),
                Other::Text => None,
            };
            match (value, &mut misfits) {
                (Some(value), _) => *out = value,
                (None, Some(misfits)) => {
                    misfits.push(row);
                    missing |= 1 << i;
                }
                (None, None) => return Ok(Err(misfit(column, row, meaning))),
            }
        }
        note_missing(&mut validity, group, missing);
    }
    let facts = facts.join(parse.facts());
    Ok(Ok(Piece { of, n, values, bytes: Default::default(), validity: bitmap(&validity, n)?, facts }))
}
