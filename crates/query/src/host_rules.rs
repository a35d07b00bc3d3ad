//! Rules that the library has whose value was written.

use entasis::{ColumnInfo, Error, File, Logical, Missing, Physical, Result, Value, type_name};

use crate::predicate::{NanRule, Rules};

/// The rules of `is missing` for a column: those of the library that wrote the file. In columns of
/// NumPy's floats in a frame of pandas, NaN is a missing value.
///
/// # Errors
/// *Unsupported* for a column of pandas with missing values that are neither marked nor NaN; those
/// of [`File::host`].
pub fn missing_rules(file: &File, column: &ColumnInfo) -> Result<Rules> {
    let of = &column.record.column_type;
    let host = file.host()?;
    let is_pandas = host.get("host").and_then(Value::as_str) == Some("pandas");
    if !is_pandas || of.missing != Missing::Unspecified || of.logical != Logical::Plain {
        return Ok(Rules::default());
    }
    match of.physical {
        Physical::F32 | Physical::F64 => Ok(Rules { nan: NanRule::Missing, ..Rules::default() }),
        Physical::F16
        | Physical::Complex64
        | Physical::Complex128
        | Physical::LongDouble
        | Physical::Struct => {
            let of = type_name(of, column.detail.as_ref());
            let message = format!("missing values in columns of type {of} of pandas cannot be found");
            Err(Error::unsupported(message).in_column(&column.name))
        }
        _ => Ok(Rules::default()),
    }
}
