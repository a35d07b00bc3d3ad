//! Makes elements of vectors missing.

use crate::r::missing::{NA_INTEGER, NA_REAL};
use crate::r::{Data, Strings, Value};

/// A vector, or a data frame, whose elements or rows `which` are missing.
pub(super) fn with_missing(mut value: Value, which: &[usize]) -> Value {
    let is_frame = value.inherits("data.frame");
    let is_integer64 = value.inherits("integer64");
    match &mut value.data {
        Data::List(columns) if is_frame => {
            for column in columns {
                *column = with_missing(std::mem::take(column), which);
            }
            // R sets the class again after it changed the columns.
            if let Some(all) = &mut value.attributes {
                all.sort_by_key(|(name, _)| name == "class");
            }
        }
        Data::List(values) => put(values, which, Value::default()),
        Data::Logical(values) | Data::Integer(values) => put(values, which, NA_INTEGER),
        // The least integer has the bits of the double -0.
        Data::Double(values) => {
            put(values, which, if is_integer64 { -0.0 } else { f64::from_bits(NA_REAL) });
        }
        Data::Complex(values) => put(values, which, [f64::from_bits(NA_REAL); 2]),
        Data::Strings(strings) => {
            let mut which = which.iter().copied().peekable();
            let mut out = Strings::default();
            for i in 0..strings.len() {
                if which.next_if_eq(&i).is_some() { out.push_missing() } else { out.push_from(strings, i) }
            }
            **strings = out;
        }
        _ => (),
    }
    value
}

fn put<T: Clone>(values: &mut [T], which: &[usize], missing: T) {
    for &i in which {
        if let Some(value) = values.get_mut(i) {
            *value = missing.clone();
        }
    }
}
