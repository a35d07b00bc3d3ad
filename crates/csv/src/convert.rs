//! Fields of a column to values of a type.
//!
//! The type that is tried is that of the chunks before. At the first field that it does not hold,
//! the chunk's column begins anew with a wider type. So the type of a column depends on its fields
//! alone.

mod text;
mod words;

use entasis::{Result, Unit};

use self::text::text;
pub use self::text::{has_missing, has_values, stripped};
use self::words::{Days, Decimals, Double, Instants, Signed, Single, Unsigned, small, words};
use crate::dialect::Dialect;
use crate::fields::Column;
use crate::piece::{Facts, Piece, TextLayout, buffer};
use crate::types::Type;
use crate::values::{boolean, floats, integers, times};

/// The meaning of fields.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The dialect.
    pub dialect: Dialect,
    /// Words for missing values.
    pub missing: Vec<Vec<u8>>,
    /// Whether these words are missing values among strings too.
    pub misses_in_text: bool,
    /// The decimal mark.
    pub decimal: u8,
    /// The mark between groups of three digits.
    pub thousands: Option<u8>,
    /// Whether quoted fields are text.
    pub quotes_mean_text: bool,
    /// Whether blanks at the ends of a string outside of quotes are left out.
    pub strips: bool,
    /// The layout of strings.
    pub layout: TextLayout,
}

/// A field that the type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The row.
    pub row: usize,
    /// The narrowest type for the field alone.
    pub kind: Type,
}

/// The values of a column in the narrowest type from `at_least` on. Fields that are not UTF-8
/// become missing and are passed on.
///
/// # Errors
/// *Out of memory*.
pub fn narrowest(
    column: &Column<'_>,
    at_least: Type,
    meaning: &Meaning,
    misfits: &mut Vec<usize>,
) -> Result<Piece> {
    let mut of = at_least;
    loop {
        match convert(column, of, meaning, misfits)? {
            Ok(piece) => return Ok(piece),
            Err(misfit) => {
                let next = of.join(misfit.kind);
                // The type that holds both kinds does not hold these values.
                of = if next == of { Type::Text } else { next };
            }
        }
    }
}

/// The values of a column in a type that the caller gave. Each misfit becomes missing and is passed
/// on.
///
/// # Errors
/// *Out of memory*.
pub fn given(column: &Column<'_>, of: Type, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    if matches!(of, Type::Text | Type::Categorical) {
        return text(column, meaning, misfits);
    }
    let meaning = Meaning { quotes_mean_text: false, ..meaning.clone() };
    let mut collect = |column: &Column<'_>| match of {
        Type::Null | Type::Text | Type::Categorical => nulls(column, &meaning, Some(&mut *misfits)),
        Type::Bool => bits(column, &meaning, Some(&mut *misfits)),
        Type::Int { bytes, is_signed } => match (bytes, is_signed) {
            (1, true) => small::<i8>(column, of, &meaning, misfits),
            (2, true) => small::<i16>(column, of, &meaning, misfits),
            (4, true) => small::<i32>(column, of, &meaning, misfits),
            (_, true) => words(column, of, &meaning, Signed, Some(&mut *misfits)),
            (1, false) => small::<u8>(column, of, &meaning, misfits),
            (2, false) => small::<u16>(column, of, &meaning, misfits),
            (4, false) => small::<u32>(column, of, &meaning, misfits),
            (_, false) => words(column, of, &meaning, Unsigned, Some(&mut *misfits)),
        },
        Type::Float { bytes: 4 } => words(column, of, &meaning, Single(meaning.decimal), Some(&mut *misfits)),
        Type::Float { .. } => {
            let parse = Double { mark: meaning.decimal, facts: Facts::default(), is_given: true };
            words(column, of, &meaning, parse, Some(&mut *misfits))
        }
        Type::Decimal { precision, scale } => {
            let parse = Decimals { mark: meaning.decimal, digits: (precision, scale) };
            words(column, of, &meaning, parse, Some(&mut *misfits))
        }
        Type::Date => words(column, of, &meaning, Days, Some(&mut *misfits)),
        Type::Datetime { unit, is_utc } => {
            words(column, of, &meaning, Instants { unit, is_utc }, Some(&mut *misfits))
        }
    };
    match collect(column)? {
        Ok(piece) => Ok(piece),
        Err(_) => unreachable!("misfits are collected"),
    }
}

type Converted = Result<std::result::Result<Piece, Misfit>>;

fn convert(column: &Column<'_>, of: Type, meaning: &Meaning, misfits: &mut Vec<usize>) -> Converted {
    match of {
        Type::Null => nulls(column, meaning, None),
        Type::Bool => bits(column, meaning, None),
        Type::INT => words(column, of, meaning, Signed, None),
        Type::UINT => words(column, of, meaning, Unsigned, None),
        Type::FLOAT => {
            let parse = Double { mark: meaning.decimal, facts: Facts::default(), is_given: false };
            words(column, of, meaning, parse, None)
        }
        Type::Date => words(column, of, meaning, Days, None),
        Type::Datetime { unit, is_utc } => words(column, of, meaning, Instants { unit, is_utc }, None),
        _ => Ok(Ok(text(column, meaning, misfits)?)),
    }
}

/// The kind of a field that is not a value.
enum Other<'a> {
    Missing,
    /// The same field without quotes or blanks.
    Trimmed(usize, usize),
    /// Another text that stands for the field.
    Rewritten(&'a [u8]),
    Text,
}

/// Looks closer at a field that is not a value.
#[inline(never)]
fn other<'a>(
    text: &[u8],
    start: usize,
    end: usize,
    meaning: &Meaning,
    facts: &mut Facts,
    memory: &'a mut Vec<u8>,
) -> Other<'a> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let field = &text[start..end];
    let before = field.iter().take_while(|byte| is_blank(byte)).count();
    let after = field[before..].iter().rev().take_while(|byte| is_blank(byte)).count();
    let (mut from, mut to) = (start + before, end - after);
    if from == to {
        facts.has_texts = true;
        facts.has_values |= !meaning.strips;
        return Other::Missing;
    }
    if Some(text[from]) == meaning.dialect.quote {
        if meaning.quotes_mean_text || to - from < 2 || Some(text[to - 1]) != meaning.dialect.quote {
            return Other::Text;
        }
        (from, to) = (from + 1, to - 1);
        if from == to {
            (facts.has_texts, facts.has_values) = (true, true);
            return Other::Missing;
        }
    }
    let field = &text[from..to];
    if meaning.missing.iter().any(|word| word == field) {
        (facts.has_words, facts.has_texts) = (true, true);
        return Other::Missing;
    }
    if let Some(mark) = meaning.thousands
        && let Some(plain) = ungrouped(field, mark, meaning.decimal, memory)
    {
        return Other::Rewritten(plain);
    }
    if (from, to) == (start, end) { Other::Text } else { Other::Trimmed(from, to) }
}

/// A number without the marks between its groups of three digits; `None` if it has none, or they
/// are elsewhere.
fn ungrouped<'a>(field: &[u8], mark: u8, decimal: u8, memory: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let unsigned = field.strip_prefix(b"-").unwrap_or(field);
    let whole_len = unsigned.iter().position(|&byte| byte == decimal).unwrap_or(unsigned.len());
    let mut groups = unsigned[..whole_len].split(|&byte| byte == mark);
    let first = groups.next()?;
    let mut n_groups = 0;
    let is_grouped = groups.all(|group| {
        n_groups += 1;
        group.len() == 3 && group.iter().all(u8::is_ascii_digit)
    });
    if n_groups == 0 || !is_grouped || !(1..=3).contains(&first.len()) {
        return None;
    }
    memory.clear();
    memory.extend(field.iter().filter(|&&byte| byte != mark));
    memory.resize(memory.len() + crate::values::PADDING, 0);
    Some(memory)
}

/// Notes which of 64 values are missing. Without any before, the bitmap stays empty.
#[inline(always)]
fn note_missing(validity: &mut Vec<u64>, group: usize, missing: u64) {
    if missing != 0 {
        validity.resize(group, u64::MAX);
    }
    if !validity.is_empty() || missing != 0 {
        validity.push(!missing);
    }
}

fn bitmap(validity: &[u64], n: usize) -> Result<Option<entasis::Buffer>> {
    if validity.is_empty() {
        return Ok(None);
    }
    let mut bits = buffer(n.div_ceil(64) * 8)?;
    let words: &mut [u64] = bytemuck::cast_slice_mut(&mut bits);
    words.fill(u64::MAX);
    words[..validity.len()].copy_from_slice(validity);
    Ok(Some(bits))
}

fn nulls(column: &Column<'_>, meaning: &Meaning, mut misfits: Option<&mut Vec<usize>>) -> Converted {
    let mut facts = Facts::default();
    for row in 0..column.len() {
        let (start, end) = column.get(row);
        if start >= end || is_missing(column.text, start, end, meaning, &mut facts) {
            continue;
        }
        match &mut misfits {
            Some(misfits) => misfits.push(row),
            None => return Ok(Err(misfit(column, row, meaning))),
        }
    }
    let piece = Piece::missing(Type::Null, column.len(), meaning.layout)?;
    Ok(Ok(Piece { facts, ..piece }))
}

fn is_missing(text: &[u8], start: usize, end: usize, meaning: &Meaning, facts: &mut Facts) -> bool {
    matches!(other(text, start, end, meaning, facts, &mut Vec::new()), Other::Missing)
}

fn bits(column: &Column<'_>, meaning: &Meaning, mut misfits: Option<&mut Vec<usize>>) -> Converted {
    let n = column.len();
    let mut values = buffer(n.div_ceil(64) * 8)?;
    let out: &mut [u64] = bytemuck::cast_slice_mut(&mut values);
    let mut validity = Vec::new();
    let mut facts = Facts::default();
    for (group, out) in out.iter_mut().enumerate() {
        column.prefetch(64 * group..64 * group + 64);
        let mut missing = 0u64;
        for i in 0..64.min(n - 64 * group) {
            let row = 64 * group + i;
            let (start, end) = column.get(row);
            if start >= end {
                missing |= 1 << i;
                continue;
            }
            let value = boolean(&column.text[start..end]).or_else(|| {
                match other(column.text, start, end, meaning, &mut facts, &mut Vec::new()) {
                    Other::Missing => {
                        missing |= 1 << i;
                        Some(false)
                    }
                    Other::Trimmed(start, end) => boolean(&column.text[start..end]),
                    Other::Rewritten(_) | Other::Text => None,
                }
            });
            match (value, &mut misfits) {
                (Some(value), _) => *out |= u64::from(value) << i,
                (None, Some(misfits)) => {
                    misfits.push(row);
                    missing |= 1 << i;
                }
                (None, None) => return Ok(Err(misfit(column, row, meaning))),
            }
        }
        note_missing(&mut validity, group, missing);
    }
    Ok(Ok(Piece {
        of: Type::Bool,
        n,
        values,
        bytes: Default::default(),
        validity: bitmap(&validity, n)?,
        facts,
    }))
}

/// The narrowest type of a field alone.
#[cold]
fn misfit(column: &Column<'_>, row: usize, meaning: &Meaning) -> Misfit {
    let (start, end) = column.get(row);
    let mut memory = Vec::new();
    let (text, start, end) = match other(column.text, start, end, meaning, &mut Facts::default(), &mut memory)
    {
        Other::Missing => return Misfit { row, kind: Type::Null },
        Other::Trimmed(start, end) => (column.text, start, end),
        Other::Rewritten(text) => (text, 0, text.len() - crate::values::PADDING),
        Other::Text => (column.text, start, end),
    };
    Misfit { row, kind: kind(text, start, end, meaning.decimal) }
}

/// The narrowest type that holds `text[start..end]`, which is neither empty nor padded with blanks.
pub fn kind(text: &[u8], start: usize, end: usize, decimal: u8) -> Type {
    if integers::signed(text, start, end).is_some() {
        Type::INT
    } else if integers::unsigned(text, start, end).is_some() {
        Type::UINT
    } else if floats::number(text, start, end, decimal).is_some() {
        Type::FLOAT
    } else if boolean(&text[start..end]).is_some() {
        Type::Bool
    } else if times::date(text, start, end).is_some() {
        Type::Date
    } else if let Some(time) = times::datetime(text, start, end) {
        let unit = if time.has_nanoseconds { Unit::Nanosecond } else { Unit::Microsecond };
        Type::Datetime { unit, is_utc: time.is_utc }
    } else {
        Type::Text
    }
}
