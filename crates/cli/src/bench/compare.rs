//! Compares two tables bit by bit.

use crate::array::{Array, Values};
use crate::text::thousands;

/// The first difference, as a sentence; none if the tables are equal. Slots of missing values do
/// not count.
pub(super) fn difference(one: &[Array], other: &[Array]) -> Option<String> {
    if one.len() != other.len() {
        return Some("the number of columns".to_owned());
    }
    one.iter().zip(other).find_map(|(one, other)| in_column(one, other))
}

fn in_column(one: &Array, other: &Array) -> Option<String> {
    let name = &one.name;
    if (&one.name, one.column_type, &one.detail) != (&other.name, other.column_type, &other.detail) {
        return Some(format!("name or type of column {name:?}"));
    }
    if one.n != other.n {
        return Some(format!("length of column {name:?}"));
    }
    if let Some(row) = first_row(one, other) {
        return Some(format!("column {name:?}, row {}", thousands(row as u64)));
    }
    match (one.categories.as_deref(), other.categories.as_deref()) {
        (None, None) => None,
        (Some(one), Some(other)) if one.n == other.n && first_row(one, other).is_none() => None,
        _ => Some(format!("categories of column {name:?}")),
    }
}

fn first_row(one: &Array, other: &Array) -> Option<usize> {
    if one.missing.is_none() && other.missing.is_none() && same_memory(&one.values, &other.values) {
        return None;
    }
    (0..one.n).find(|&i| match (one.is_missing(i), other.is_missing(i)) {
        (true, true) => false,
        (false, false) => one.value(i) != other.value(i),
        _ => true,
    })
}

fn same_memory(one: &Values, other: &Values) -> bool {
    match (one, other) {
        (Values::Null, Values::Null) => true,
        (Values::Words(one), Values::Words(other)) | (Values::Bools(one), Values::Bools(other)) => {
            one[..] == other[..]
        }
        (Values::Text(one), Values::Text(other)) => {
            one.offsets[..] == other.offsets[..] && one.joined() == other.joined()
        }
        _ => false,
    }
}
