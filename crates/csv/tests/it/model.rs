//! The reader as a naive model: one text, one pass, values by the standard library.
//!
//! The rules are those of the table of defaults in `docs/guides/csv.md`.

use std::ops::Range;

use entasis::Unit;
use entasis_csv::problems::OnError;
use entasis_csv::{Dialect, Plan, Type};

use crate::common::{Cell, Values};

/// A field: its text without quotes, and its place.
#[derive(Clone, Debug)]
pub struct Field {
    pub text: Vec<u8>,
    pub place: Range<usize>,
}

/// The result of a text.
#[derive(Debug, PartialEq)]
pub struct Expected {
    pub columns: Vec<Values>,
    /// Row, column and byte.
    pub problems: Vec<(u64, Option<usize>, u64)>,
}

/// The rows of a text. A blank line is a row of one empty field.
pub fn split(text: &[u8], dialect: &Dialect) -> Vec<Vec<Field>> {
    let is_end = |i: usize| matches!(text.get(i), None | Some(b'\n' | b'\r'));
    let is = |i: usize, byte: Option<u8>| byte.is_some() && text.get(i).copied() == byte;
    let (mut rows, mut i) = (Vec::new(), 0);
    while i < text.len() {
        if is(i, dialect.comment) {
            while !is_end(i) {
                i += 1;
            }
        } else {
            let mut row = Vec::new();
            loop {
                let (start, mut field) = (i, Vec::new());
                if is(i, dialect.quote) {
                    i += 1;
                    while i < text.len() {
                        if is(i, dialect.escape) && dialect.escape != dialect.quote {
                            field.extend(text.get(i + 1));
                            i += 2;
                        } else if is(i, dialect.quote) {
                            if !is(i + 1, dialect.quote) {
                                break;
                            }
                            field.push(text[i]);
                            i += 2;
                        } else {
                            field.push(text[i]);
                            i += 1;
                        }
                    }
                    i += 1;
                }
                while !is_end(i) && text[i] != dialect.separator {
                    let escaped = is(i, dialect.escape) && dialect.escape != dialect.quote;
                    i += usize::from(escaped);
                    field.extend(text.get(i));
                    i += 1;
                }
                i = i.min(text.len());
                row.push(Field { text: field, place: start..i });
                if is_end(i) {
                    break;
                }
                i += 1;
            }
            rows.push(row);
        }
        i += if text[i.min(text.len())..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    rows
}

/// Whether a line that ends at `at` is the last one. A comment may follow a blank line, which is a
/// row then.
fn is_last_line(text: &[u8], at: usize) -> bool {
    matches!(&text[at..], b"\n" | b"\r\n" | b"\r")
}

fn is_blank(row: &[Field]) -> bool {
    row.len() == 1 && row[0].place.is_empty()
}

/// Reads a text; `None` where the reader has an error.
pub fn read(text: &[u8], plan: &Plan) -> Option<Expected> {
    let mut rows = split(text, &plan.dialect);
    let first = rows.iter().position(|row| !is_blank(row))?;
    rows.drain(..first);
    let mut names: Vec<String> = rows[0]
        .iter()
        .enumerate()
        .map(|(i, field)| match plan.has_header {
            true => String::from_utf8(field.text.clone()).unwrap(),
            false => format!("column_{}", i + 1),
        })
        .collect();
    if plan.has_header {
        rows.remove(0);
        let mut others = rows.iter().filter(|row| !is_blank(row)).peekable();
        if others.peek().is_some() && others.all(|row| row.len() == names.len() + 1) {
            return None;
        }
    }
    let n = names.len();
    if n > 1 {
        rows.retain(|row| !is_blank(row));
    } else if rows.last().is_some_and(|row| is_blank(row) && is_last_line(text, row[0].place.end)) {
        rows.pop();
    }
    let mut problems = Vec::new();
    let fills = plan.fill || plan.on_error == OnError::Missing;
    let wanted = plan.rows.clone().unwrap_or(0..u64::MAX);
    let (mut kept, mut n_good) = (Vec::new(), 0);
    for (number, row) in rows.into_iter().enumerate() {
        if n_good >= wanted.end {
            break;
        }
        let is_inside = wanted.contains(&n_good);
        if row.len() != n && !(plan.fill && row.len() < n) && is_inside {
            problems.push((number as u64, None, row[0].place.start as u64));
        }
        if row.len() == n || (row.len() < n && fills) {
            n_good += 1;
            if is_inside {
                kept.push((number as u64, row));
            }
        }
    }
    let given = |name: &String| plan.types.iter().find(|(of, _)| of == name).map(|&(_, of)| of);
    // Fields that fit no type, or not the given one.
    let is_bad = |column: usize, field: &Field| match given(&names[column]) {
        None => std::str::from_utf8(&text[field.place.clone()]).is_err(),
        Some(of) => value(text, field, of, true, plan).is_none(),
    };
    let mut columns: Vec<Vec<Option<Field>>> = vec![Vec::new(); n];
    for (number, row) in kept {
        let bad: Vec<usize> = (0..row.len()).filter(|&i| is_bad(i, &row[i])).collect();
        problems.extend(bad.iter().map(|&i| (number, Some(i), row[i].place.start as u64)));
        if plan.on_error == OnError::Skip && !bad.is_empty() {
            continue;
        }
        for (i, column) in columns.iter_mut().enumerate() {
            // A value that does not fit is missing, and still says that the column is text.
            column.push(row.get(i).cloned());
        }
    }
    let columns = columns.into_iter().zip(&mut names).map(|(fields, name)| {
        let of = given(name);
        let found = of.unwrap_or_else(|| narrowest(text, &fields, plan));
        let cells = fields.iter().map(|field| value(text, field.as_ref()?, found, of.is_some(), plan)?);
        (name.clone(), found, cells.collect())
    });
    let columns = columns.collect();
    problems.sort_by_key(|&(_, _, byte)| byte);
    Some(Expected { columns, problems })
}

/// The meaning of a field among values of another type than text.
enum Meaning<'a> {
    /// Nothing, or only blanks.
    Empty,
    /// A word for missing values.
    Word,
    /// Text without blanks around.
    Plain(&'a [u8]),
    /// Text that is not a value of another type.
    Text,
}

fn meaning<'a>(text: &'a [u8], field: &Field, quotes_mean_text: bool, plan: &Plan) -> Meaning<'a> {
    let mut plain = trim(&text[field.place.clone()]);
    if plain.is_empty() {
        return Meaning::Empty;
    }
    if Some(plain[0]) == plan.dialect.quote {
        if quotes_mean_text || plain.len() < 2 || plain.last().copied() != plan.dialect.quote {
            return Meaning::Text;
        }
        plain = &plain[1..plain.len() - 1];
        if plain.is_empty() {
            return Meaning::Empty;
        }
    }
    if plan.missing.iter().any(|word| word.as_bytes() == plain) {
        return Meaning::Word;
    }
    Meaning::Plain(plain)
}

fn trim(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    field
}

/// The value of a field in a type: `None` if it does not fit, `Some(None)` if it is missing.
fn value(text: &[u8], field: &Field, of: Type, is_given: bool, plan: &Plan) -> Option<Option<Cell>> {
    if of == Type::Text {
        let raw = &text[field.place.clone()];
        if raw.is_empty() {
            return Some(None);
        }
        std::str::from_utf8(raw).ok()?;
        let is_quoted = Some(raw[0]) == plan.dialect.quote && !plan.quotes_mean_text && raw.len() > 1;
        let word = if is_quoted { &raw[1..raw.len() - 1] } else { raw };
        let is_missing = plan.misses_in_text && plan.missing.iter().any(|of| of.as_bytes() == word);
        return Some((!is_missing).then(|| Cell::Text(field.text.clone())));
    }
    let plain = match meaning(text, field, plan.quotes_mean_text && !is_given, plan) {
        Meaning::Empty | Meaning::Word => return Some(None),
        Meaning::Text => return None,
        Meaning::Plain(plain) => std::str::from_utf8(plain).ok()?,
    };
    let cell = match of {
        Type::Bool => Cell::Bool(boolean(plain)?),
        Type::Int { bytes, is_signed } => {
            let value = integer(plain)?;
            let bits = 8 * u32::from(bytes) - u32::from(is_signed);
            let least = if is_signed { -(1i128 << bits) } else { 0 };
            (least..1 << bits).contains(&value).then_some(Cell::Int(value))?
        }
        Type::Float { .. } => Cell::Float(float(plain)?.to_bits()),
        Type::Date => Cell::Int(i128::from(date(plain)?)),
        Type::Datetime { unit, is_utc } => {
            let time = datetime(plain)?;
            let (per_second, length) =
                if unit == Unit::Nanosecond { (1_000_000_000, 1) } else { (1_000_000, 1000) };
            let fits = time.is_utc == is_utc && !(length > 1 && time.n_digits > 6);
            let count = i128::from(time.seconds) * per_second + i128::from(time.nanoseconds / length);
            (fits && i64::try_from(count).is_ok()).then_some(Cell::Int(count))?
        }
        Type::Decimal { precision, scale } => Cell::Int(decimal(plain, precision, scale)?),
        Type::Null | Type::Text | Type::Categorical => return None,
    };
    Some(Some(cell))
}

/// The narrowest type that holds all fields.
fn narrowest(text: &[u8], fields: &[Option<Field>], plan: &Plan) -> Type {
    let (mut plain, mut has_words) = (Vec::new(), false);
    for field in fields.iter().flatten() {
        match meaning(text, field, plan.quotes_mean_text, plan) {
            Meaning::Empty => {}
            Meaning::Word => has_words = true,
            Meaning::Text => return Type::Text,
            Meaning::Plain(field) => match std::str::from_utf8(field) {
                Ok(field) => plain.push(field),
                Err(_) => return Type::Text,
            },
        }
    }
    let all = |fits: &dyn Fn(&str) -> bool| plain.iter().all(|field| fits(field));
    if plain.is_empty() {
        return if has_words { Type::Text } else { Type::Null };
    }
    if all(&|field| boolean(field).is_some()) {
        return Type::Bool;
    }
    if all(&|field| date(field).is_some()) {
        return Type::Date;
    }
    let integers: Vec<i128> = plain.iter().filter_map(|field| integer(field)).collect();
    let is_negative = integers.iter().any(|&value| value < 0);
    let is_large = integers.iter().any(|&value| i64::try_from(value).is_err());
    if integers.len() == plain.len() {
        return match (is_negative, is_large) {
            (_, false) => Type::INT,
            (false, true) => Type::UINT,
            (true, true) => Type::Text,
        };
    }
    let is_number = plain.iter().any(|field| field.bytes().any(|byte| byte.is_ascii_digit()));
    if all(&|field| float(field).is_some()) {
        return if is_number && !(is_negative && is_large) { Type::FLOAT } else { Type::Text };
    }
    for unit in [Unit::Microsecond, Unit::Nanosecond] {
        for is_utc in [false, true] {
            let of = Type::Datetime { unit, is_utc };
            let fits = |field: &Option<Field>| {
                field.as_ref().is_none_or(|field| value(text, field, of, false, plan).is_some())
            };
            if fields.iter().all(fits) {
                return of;
            }
        }
    }
    Type::Text
}

fn boolean(field: &str) -> Option<bool> {
    match field {
        "true" | "TRUE" | "True" => Some(true),
        "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// An integer of 64 bits, written in the shortest way.
fn integer(field: &str) -> Option<i128> {
    let value: i128 = field.parse().ok()?;
    let fits = i64::try_from(value).is_ok() || u64::try_from(value).is_ok();
    (fits && value.to_string() == field).then_some(value)
}

fn float(field: &str) -> Option<f64> {
    let unsigned = field.strip_prefix('-').unwrap_or(field);
    if let "NaN" | "inf" | "Inf" | "Infinity" = field.strip_prefix(['-', '+']).unwrap_or(field) {
        let sign = if field.starts_with('-') { -1.0 } else { 1.0 };
        let value = if field.contains('N') { f64::NAN } else { f64::INFINITY };
        return Some(value.copysign(sign));
    }
    let (whole, part, exponent) = parts(unsigned)?;
    let mantissa = unsigned.split(['e', 'E']).next().unwrap_or_default();
    let value: f64 = field.parse().ok()?;
    if exponent.is_none() && !mantissa.contains('.') && field != "-0" {
        // Rounding is not allowed.
        return (value as i128 == integer(field)?).then_some(value);
    }
    let is_zero = [whole, part].concat().bytes().all(|byte| byte == b'0');
    (value.is_finite() && (value == 0.0) == is_zero).then_some(value)
}

/// The digits before and after the point, and the exponent.
fn parts(unsigned: &str) -> Option<(&str, &str, Option<&str>)> {
    let (mantissa, exponent) =
        unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.is_empty() || !is_digits(digits) {
            return None;
        }
    }
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_zeros = whole.len() > 1 && whole.starts_with('0');
    let is_other = !is_digits(whole) || !is_digits(part) || whole.len() + part.len() == 0 || has_zeros;
    (!is_other).then_some((whole, part, exponent))
}

/// The units of a decimal.
fn decimal(field: &str, precision: u8, scale: u8) -> Option<i128> {
    let (whole, part, exponent) = parts(field.strip_prefix('-').unwrap_or(field))?;
    let exponent: i64 = exponent.map_or(Some(0), |text| text.parse().ok())?;
    let mut value: i128 = [whole, part].concat().parse().ok()?;
    let mut shift = exponent - part.len() as i64 + i64::from(scale);
    while shift < 0 && value % 10 == 0 && value != 0 {
        (value, shift) = (value / 10, shift + 1);
    }
    if value != 0 {
        value = value.checked_mul(10i128.checked_pow(u32::try_from(shift).ok()?)?)?;
    }
    let fits = value < 10i128.pow(precision.into());
    fits.then_some(if field.starts_with('-') { -value } else { value })
}

fn number(field: &str) -> Option<i64> {
    field.bytes().all(|byte| byte.is_ascii_digit()).then(|| field.parse().ok())?
}

fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

/// Days since 1970 of a date from 1 to 9999.
fn date(field: &str) -> Option<i64> {
    let parts: Vec<&str> = field.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    let lens = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let len = lens.get(usize::try_from(month - 1).ok()?)?;
    if !(1..=*len).contains(&day) {
        return None;
    }
    let years: i64 = (0..year).map(|year| 365 + i64::from(is_leap(year))).sum();
    Some(years + lens[..month as usize - 1].iter().sum::<i64>() + day - 1 - 719_528)
}

struct Time {
    seconds: i64,
    nanoseconds: u32,
    n_digits: usize,
    is_utc: bool,
}

/// `YYYY-MM-DDThh:mm:ss`, a fraction, and `Z` or `+hh:mm`.
fn datetime(field: &str) -> Option<Time> {
    let (day, time) = field.split_once(['T', ' '])?;
    let (time, offset, is_utc) = match (time.strip_suffix('Z'), time.split_once('+')) {
        (Some(time), _) => (time, 0, true),
        (_, Some((time, offset))) => {
            let (hours, minutes) = offset.split_once(':')?;
            (time, 3600 * number(hours)? + 60 * number(minutes)?, true)
        }
        _ => (time, 0, false),
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let parts: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = parts[..] else { return None };
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    if hour > 23 || minute > 59 || second > 59 || fraction.len() > 9 {
        return None;
    }
    let nanoseconds = number(&format!("{fraction:0<9}"))? as u32;
    let seconds = 86_400 * date(day)? + 3600 * hour + 60 * minute + second - offset;
    Some(Time { seconds, nanoseconds, n_digits: fraction.len(), is_utc })
}
