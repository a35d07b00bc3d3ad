//! Which lists are data frames, and which of these become tables.

use super::columns::is_atomic;
use super::{attributes, classes};
use crate::r::missing::NA_INTEGER;
use crate::r::{Data, Value};

/// A frame of fewer values is small.
const SMALL_FRAME: u64 = 10_000;

/// The dimensions of an array; none for other values.
pub(super) fn dim_of(value: &Value) -> Vec<u64> {
    match value.attribute("dim").map(|dim| &dim.data) {
        Some(Data::Integer(dim)) => dim.iter().map(|&n| u64::try_from(n).unwrap_or(u64::MAX)).collect(),
        _ => Vec::new(),
    }
}

/// The number of rows by the row names of a frame.
pub(super) fn n_rows(value: &Value) -> Option<u64> {
    let names = value.attribute("row.names")?;
    Some(match &names.data {
        Data::Integer(numbers) => match numbers[..] {
            [NA_INTEGER, n] => u64::from(n.unsigned_abs()),
            _ => numbers.len() as u64,
        },
        data => data.len() as u64,
    })
}

/// Whether a value is a list with the class `data.frame` and row names.
pub(super) fn is_frame_like(value: &Value) -> bool {
    matches!(value.data, Data::List(_))
        && value.inherits("data.frame")
        && n_rows(value).is_some()
        && !value.is_s4
}

/// Whether a value is a list with the class `POSIXlt`.
pub(super) fn is_lt_like(value: &Value) -> bool {
    matches!(value.data, Data::List(_)) && value.inherits("POSIXlt")
}

/// Whether a value is a record of `vctrs` with `n` rows. Its fields are stored as columns.
pub(super) fn is_record(value: &Value, n: u64) -> bool {
    let Data::List(items) = &value.data else { return false };
    let is_field = |item: &Value| is_atomic(&item.data) && item.len() as u64 == n;
    value.inherits("vctrs_rcrd") && !value.is_s4 && !items.is_empty() && items.iter().all(is_field)
}

/// Whether a value is a valid data frame: all columns have as many rows as row names.
pub(super) fn is_frame(value: &Value) -> bool {
    let Data::List(items) = &value.data else { return false };
    let Some(n) = n_rows(value).filter(|_| is_frame_like(value)) else { return false };
    if value.attribute("names").is_some_and(|names| names.data != Data::Null && names.len() != items.len()) {
        return false;
    }
    items.iter().all(|column| {
        if is_frame_like(column) {
            return is_frame(column) && n_rows(column) == Some(n);
        }
        if is_record(column, n) {
            return true;
        }
        match (&column.data, is_lt_like(column)) {
            (Data::List(parts), true) => {
                parts.iter().all(|part| is_atomic(&part.data) && part.len() as u64 == n)
            }
            (data, _) if is_atomic(data) || matches!(data, Data::List(_)) => match dim_of(column)[..] {
                [rows, _, ..] => rows == n,
                _ => column.len() as u64 == n,
            },
            _ => false,
        }
    })
}

/// Whether a value is the model frame of a model: a data frame with terms, which are a tree. Cells
/// share the terms and columns with the rest of the model.
pub(super) fn is_model_frame(value: &Value) -> bool {
    let Data::List(items) = &value.data else { return false };
    let is_plain = |item: &Value| {
        let names: Vec<&str> = attributes(item).map(|(name, _)| name).collect();
        let is_factor = names == ["levels", "class"] && classes(item) == ["factor"];
        is_atomic(&item.data) && item.len() > 1 && !item.is_s4 && (names.is_empty() || is_factor)
    };
    value.attribute("terms").is_some_and(|terms| terms.inherits("terms"))
        && classes(value) == ["data.frame"]
        && items.iter().all(is_plain)
}

/// Whether a value is a frame of few values.
pub(super) fn is_small(value: &Value) -> bool {
    value.inherits("data.frame") && value.len() as u64 * n_rows(value).unwrap_or(0) < SMALL_FRAME
}
