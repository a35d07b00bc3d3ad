//! Makes values of R from their parts.

use crate::r::missing::{NA_INTEGER, NA_INTEGER64};
use crate::r::{Data, Strings, Value};

/// A vector of strings in UTF-8.
pub(super) fn texts<'t>(all: impl IntoIterator<Item = &'t str>) -> Value {
    Data::Strings(Box::new(all.into_iter().collect())).into()
}

/// A vector of one string.
pub(super) fn text(one: &str) -> Value {
    texts([one])
}

/// A vector of one integer.
pub(super) fn integer(n: i32) -> Value {
    Data::Integer(vec![n]).into()
}

/// A vector of one double.
pub(super) fn double(number: f64) -> Value {
    Data::Double(vec![number]).into()
}

/// A vector of one logical; the least integer for NA.
pub(super) fn logical(value: i32) -> Value {
    Data::Logical(vec![value]).into()
}

/// A list with names.
pub(super) fn named_list(items: Vec<Value>, names: Value) -> Value {
    Value::from(Data::List(items)).with("names", names)
}

/// Times of seconds since 1970 in a zone.
pub(super) fn since_1970(seconds: f64, zone: &str) -> Value {
    double(seconds).with("class", texts(["POSIXct", "POSIXt"])).with("tzone", text(zone))
}

/// A duration of seconds.
pub(super) fn lasting(seconds: f64) -> Value {
    double(seconds).with("class", text("difftime")).with("units", text("secs"))
}

/// A time of day of seconds.
pub(super) fn time_of_day(seconds: Vec<f64>) -> Value {
    let value = Value::from(Data::Double(seconds));
    value.with("class", texts(["hms", "difftime"])).with("units", text("secs"))
}

/// An integer as the narrowest vector: integers, doubles up to 2^53, else integer64.
pub(super) fn whole(n: i64) -> Value {
    if n > i64::from(NA_INTEGER) && n <= i64::from(i32::MAX) {
        return integer(n as i32);
    }
    // The least integer is the NA of integer64.
    if n == NA_INTEGER64 || (-(1 << 53)..=1 << 53).contains(&n) {
        return double(n as f64);
    }
    double(f64::from_bits(n.cast_unsigned())).with("class", text("integer64"))
}

/// Row names 1, 2, 3 ..., as R keeps them for `n` rows. R has the negative of the number unless the
/// row names were set as numbers.
pub(super) fn compact_rows(n: i32) -> Value {
    Data::Integer(vec![NA_INTEGER, n]).into()
}

/// A data frame of columns with `n` rows, whose row names are their numbers.
pub(super) fn frame(columns: Vec<Value>, names: Value, n: usize) -> Value {
    let n = i32::try_from(n).unwrap_or(i32::MAX);
    named_list(columns, names).with("class", text("data.frame")).with("row.names", compact_rows(-n))
}

/// The number of rows that the row names of a data frame say; `None` without row names.
pub(super) fn n_rows(frame: &Value) -> Option<u64> {
    let names = frame.attribute("row.names")?;
    Some(match &names.data {
        Data::Integer(numbers) => match numbers[..] {
            [NA_INTEGER, n] => u64::from(n.unsigned_abs()),
            _ => numbers.len() as u64,
        },
        data => data.len() as u64,
    })
}

/// Sets an attribute as R does: NULL sets nothing, and the last one of a name holds.
pub(super) fn set(value: &mut Value, name: &str, attribute: Value) {
    if attribute.data == Data::Null {
        return;
    }
    let all = value.attributes.get_or_insert_default();
    match all.iter_mut().find(|(of, _)| of == name) {
        Some((_, old)) => *old = attribute,
        None => all.push((name.to_owned(), attribute)),
    }
}

/// Row names as R stores them when they are set: the numbers 1, 2, 3 ... are compact.
pub(super) fn row_names(names: Value) -> Value {
    match &names.data {
        Data::Integer(numbers)
            if names.attributes.is_none()
                && numbers.len() > 2
                && numbers.iter().zip(1..).all(|(&number, i)| number == i) =>
        {
            compact_rows(i32::try_from(numbers.len()).unwrap_or(i32::MAX))
        }
        _ => names,
    }
}

/// Whether element `i` of an atomic vector is missing.
pub(super) fn is_missing(data: &Data, i: usize) -> bool {
    match data {
        Data::Logical(values) | Data::Integer(values) => values.get(i) == Some(&NA_INTEGER),
        Data::Double(values) => values.get(i).is_some_and(|value| value.is_nan()),
        Data::Complex(values) => values.get(i).is_some_and(|[a, b]| a.is_nan() || b.is_nan()),
        Data::Strings(strings) => i < strings.len() && !strings.is_present(i),
        _ => false,
    }
}

/// The elements `at` of a vector without attributes.
pub(super) fn taken(data: &Data, at: &[usize]) -> Data {
    fn of<T: Clone>(values: &[T], at: &[usize]) -> Vec<T> {
        at.iter().filter_map(|&i| values.get(i).cloned()).collect()
    }
    match data {
        Data::Logical(values) => Data::Logical(of(values, at)),
        Data::Integer(values) => Data::Integer(of(values, at)),
        Data::Double(values) => Data::Double(of(values, at)),
        Data::Complex(values) => Data::Complex(of(values, at)),
        Data::Raw(values) => Data::Raw(of(values, at)),
        Data::List(values) => Data::List(of(values, at)),
        Data::Expression(values) => Data::Expression(of(values, at)),
        Data::Strings(strings) => {
            let mut out = Strings::default();
            at.iter().for_each(|&i| out.push_from(strings, i));
            Data::Strings(Box::new(out))
        }
        other => other.clone(),
    }
}

/// The elements of a range of a vector without attributes.
pub(super) fn sliced(data: &Data, range: std::ops::Range<usize>) -> Data {
    match data {
        Data::Logical(values) => Data::Logical(values[range].to_vec()),
        Data::Integer(values) => Data::Integer(values[range].to_vec()),
        Data::Double(values) => Data::Double(values[range].to_vec()),
        Data::Complex(values) => Data::Complex(values[range].to_vec()),
        Data::Raw(values) => Data::Raw(values[range].to_vec()),
        Data::List(values) => Data::List(values[range].to_vec()),
        Data::Expression(values) => Data::Expression(values[range].to_vec()),
        Data::Strings(strings) => Data::Strings(Box::new(strings.part(range))),
        other => other.clone(),
    }
}
