//! Fields of a column to values of a type.
//!
//! The type that is tried is that of the chunks before. At the first field that it does not hold,
//! the chunk's column begins anew with a wider type. So the type of a column depends on its fields
//! alone.

use entasis::{Result, Unit};

use crate::dialect::Dialect;
use crate::fields::Column;
use crate::piece::{Facts, Piece, TextLayout, buffer};
use crate::strict::unquote;
use crate::types::Type;
use crate::values::floats::{self, Number};
use crate::values::{boolean, decimals, integers, times};

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

/// Makes a word of a field.
trait Parse {
    /// The word.
    type Word: bytemuck::Pod + Default;

    /// The value of `text[start..end]`, which is not empty.
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<Self::Word>;

    /// The facts that were learnt.
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

struct Signed;

impl Parse for Signed {
    type Word = i64;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<i64> {
        integers::signed(text, start, end)
    }
}

struct Unsigned;

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

struct Double {
    mark: u8,
    facts: Facts,
    is_given: bool,
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
struct Single(u8);

impl Parse for Single {
    type Word = f32;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<f32> {
        floats::single(text, start, end, self.0)
    }
}

/// Decimals of a precision and a scale.
struct Decimals {
    mark: u8,
    digits: (u8, u8),
}

impl Parse for Decimals {
    type Word = [u8; 16];

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<[u8; 16]> {
        decimals::decimal(text, start, end, self.mark, self.digits).map(i128::to_le_bytes)
    }
}

struct Days;

impl Parse for Days {
    type Word = i32;

    #[inline(always)]
    fn parse(&mut self, text: &[u8], start: usize, end: usize) -> Option<i32> {
        times::date(text, start, end)
    }
}

struct Instants {
    unit: Unit,
    is_utc: bool,
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

fn small<T>(column: &Column<'_>, of: Type, meaning: &Meaning, misfits: &mut Vec<usize>) -> Converted
where
    T: bytemuck::Pod + Default + TryFrom<i64>,
{
    words(column, of, meaning, Small::<T>(std::marker::PhantomData), Some(misfits))
}

/// Converts a column to words. Without `misfits` the first field that does not fit ends it.
fn words<P: Parse>(
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

/// Strings: where they are missing, and their bytes.
fn text(column: &Column<'_>, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    match meaning.layout {
        TextLayout::Offsets => offsets(column, meaning, misfits),
        TextLayout::Views => views(column, meaning, misfits),
    }
}

/// A field of a text column.
enum TextField {
    Missing,
    NotUtf8,
    /// As it is.
    Plain(usize, usize),
    /// Quoted, or with escapes.
    Quoted(usize, usize),
}

#[inline(always)]
fn text_field(column: &Column<'_>, row: usize, meaning: &Meaning) -> TextField {
    let (mut start, mut end) = column.get(row);
    if meaning.strips {
        (start, end) = stripped(column.text, start, end);
    }
    if start >= end {
        return TextField::Missing;
    }
    if !column.is_utf8 && simdutf8::basic::from_utf8(&column.text[start..end]).is_err() {
        return TextField::NotUtf8;
    }
    let is_quoted = Some(column.text[start]) == meaning.dialect.quote;
    if meaning.misses_in_text {
        // Where quotes say nothing, the word may have some.
        let has_ends = is_quoted && !meaning.quotes_mean_text && end - start > 1;
        let field = if has_ends { &column.text[start + 1..end - 1] } else { &column.text[start..end] };
        if meaning.missing.iter().any(|word| word == field) {
            return TextField::Missing;
        }
    }
    if is_quoted || meaning.dialect.escape.is_some() {
        return TextField::Quoted(start, end);
    }
    TextField::Plain(start, end)
}

/// A field without the blanks at its ends.
#[inline(always)]
pub fn stripped(text: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && matches!(text[start], b' ' | b'\t') {
        start += 1;
    }
    while start < end && matches!(text[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    (start, end)
}

/// Whether a string is missing.
pub fn has_missing(column: &Column<'_>, meaning: &Meaning) -> bool {
    (0..column.len()).any(|row| is_missing_text(column, row, meaning))
}

/// Whether a string is not missing.
pub fn has_values(column: &Column<'_>, meaning: &Meaning) -> bool {
    (0..column.len()).any(|row| !is_missing_text(column, row, meaning))
}

fn is_missing_text(column: &Column<'_>, row: usize, meaning: &Meaning) -> bool {
    let (start, end) = column.get(row);
    let has_words = meaning.misses_in_text || meaning.strips;
    start >= end || (has_words && matches!(text_field(column, row, meaning), TextField::Missing))
}

/// Appends the text of a quoted field.
fn append_unquoted(field: &[u8], dialect: &Dialect, bytes: &mut Vec<u8>) {
    let (Some(quote), None) = (dialect.quote, dialect.escape) else {
        return unquote(field, dialect, bytes);
    };
    let mut rest = &field[1..];
    while let Some(at) = memchr::memchr(quote, rest) {
        let after = &rest[at + 1..];
        if after.first() != Some(&quote) {
            // The closing quote. Text after it is taken as it is.
            bytes.extend_from_slice(&rest[..at]);
            rest = after;
            break;
        }
        bytes.extend_from_slice(&rest[..=at]);
        rest = &after[1..];
    }
    bytes.extend_from_slice(rest);
}

fn offsets(column: &Column<'_>, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    let n = column.len();
    let mut values = buffer(8 * (n + 1))?;
    let offsets: &mut [i64] = bytemuck::cast_slice_mut(&mut values);
    let mut bytes = Bytes::with_capacity(text_len(column))?;
    let mut validity = Vec::new();
    for (group, offsets) in offsets[1..].chunks_mut(64).enumerate() {
        column.prefetch(64 * group..64 * group + 64);
        let mut missing = 0u64;
        for (i, offset) in offsets.iter_mut().enumerate() {
            match text_field(column, 64 * group + i, meaning) {
                TextField::Missing => missing |= 1 << i,
                TextField::NotUtf8 => {
                    missing |= 1 << i;
                    misfits.push(64 * group + i);
                }
                TextField::Plain(start, end) => bytes.push(column.text, start, end),
                TextField::Quoted(start, end) => {
                    append_unquoted(&column.text[start..end], &meaning.dialect, &mut bytes.0);
                }
            }
            *offset = bytes.0.len() as i64;
        }
        note_missing(&mut validity, group, missing);
    }
    let (bytes, validity) = (bytes.finish()?, bitmap(&validity, n)?);
    Ok(Piece { of: Type::Text, n, values, bytes, validity, facts: Facts::default() })
}

fn views(column: &Column<'_>, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    let n = column.len();
    let mut values = buffer(16 * n)?;
    let views: &mut [[u8; 16]] = bytemuck::cast_slice_mut(&mut values);
    let mut bytes = Bytes::with_capacity(0)?;
    let mut validity = Vec::new();
    let mut memory = Vec::new();
    for (group, views) in views.chunks_mut(64).enumerate() {
        column.prefetch(64 * group..64 * group + 64);
        let mut missing = 0u64;
        for (i, view) in views.iter_mut().enumerate() {
            match text_field(column, 64 * group + i, meaning) {
                TextField::Missing => missing |= 1 << i,
                TextField::NotUtf8 => {
                    missing |= 1 << i;
                    misfits.push(64 * group + i);
                }
                TextField::Plain(start, end) => *view = bytes.view(column.text, start, end),
                TextField::Quoted(start, end) => {
                    memory.clear();
                    append_unquoted(&column.text[start..end], &meaning.dialect, &mut memory);
                    let len = memory.len();
                    memory.resize(len + crate::values::PADDING, 0);
                    *view = bytes.view(&memory, 0, len);
                }
            }
        }
        note_missing(&mut validity, group, missing);
    }
    let (bytes, validity) = (bytes.finish()?, bitmap(&validity, n)?);
    Ok(Piece { of: Type::Text, n, values, bytes, validity, facts: Facts::default() })
}

/// The most bytes that the strings of a column have.
fn text_len(column: &Column<'_>) -> usize {
    let len = |row| {
        let (start, end) = column.get(row);
        end.wrapping_add(1).saturating_sub(start + 1)
    };
    (0..column.len()).map(len).sum()
}

/// Bytes of strings, one after the other.
struct Bytes(Vec<u8>);

impl Bytes {
    fn with_capacity(len: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve(len + 16).map_err(|_| entasis::Error::out_of_memory(len, "strings"))?;
        Ok(Self(bytes))
    }

    /// Appends `text[start..end]`.
    #[inline(always)]
    fn push(&mut self, text: &[u8], start: usize, end: usize) {
        let len = end - start;
        if len <= 16
            && let Some(sixteen) = text[start..].first_chunk::<16>()
        {
            // One copy of a fixed length is several times faster than one of any length.
            let to = self.0.len() + len;
            self.0.extend_from_slice(sixteen);
            self.0.truncate(to);
            return;
        }
        self.0.extend_from_slice(&text[start..end]);
    }

    /// The view of `text[start..end]`, whose bytes are appended if they do not fit in it.
    #[inline(always)]
    fn view(&mut self, text: &[u8], start: usize, end: usize) -> [u8; 16] {
        let len = end - start;
        if len <= 12
            && let Some(twelve) = text[start..].first_chunk::<16>()
        {
            // Bytes after the string are zeros.
            let word = u128::from_le_bytes(*twelve) & ((1u128 << (8 * len)) - 1);
            return (word << 32 | len as u128).to_le_bytes();
        }
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(len as u32).to_le_bytes());
        view[4..8].copy_from_slice(&text[start..start + 4]);
        view[12..].copy_from_slice(&(self.0.len() as u32).to_le_bytes());
        self.0.extend_from_slice(&text[start..end]);
        view
    }

    fn finish(self) -> Result<entasis::Buffer> {
        let mut bytes = buffer(self.0.len())?;
        bytes.copy_from_slice(&self.0);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quoted_fields_lose_their_quotes(field in "\"[ab\"\n]{0,12}") {
            let dialect = Dialect::default();
            let (mut found, mut expected) = (b"x".to_vec(), b"x".to_vec());
            append_unquoted(field.as_bytes(), &dialect, &mut found);
            unquote(field.as_bytes(), &dialect, &mut expected);
            prop_assert_eq!(found, expected);
        }
    }
}
