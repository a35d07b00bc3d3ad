//! The rules of the library that wrote a value: whether NaN is missing.

use entasis::{ColumnInfo, Error, File, Logical, Missing, Physical, Result, Value, type_name};

use crate::predicate::{NanRule, Rules};

/// The rules of `is missing` for a column, as in the library that wrote the file. In columns of
/// NumPy's floats in a frame of pandas, NaN is a missing value.
///
/// # Errors
/// *Unsupported* for a column of pandas with missing values that are neither marked nor NaN; those
/// of [`File::host`].
pub fn missing_rules(file: &File, column: &ColumnInfo) -> Result<Rules> {
    let of = &column.record.column_type;
    let is_unmarked = of.missing == Missing::Unspecified && of.logical == Logical::Plain;
    // Fields of structs come from Arrow, which marks missing values.
    let is_field = column.record.parent.is_some();
    if !is_unmarked || is_field || !is_pandas(file)? {
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

/// The columns of a file in which NaN is null for libraries that have null: Polars, Arrow, DuckDB
/// and R.
///
/// NaN inside lists, structs and dictionaries is always a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanIsNull {
    /// For no column.
    Nowhere,
    /// For columns of NumPy's floats in a frame of pandas, where NaN is the only missing value.
    Unmarked,
    /// For all columns of floats.
    Everywhere,
}

impl NanIsNull {
    /// The rule for a file. Without `asked`, it is the rule of the library that wrote the file,
    /// which the host map names.
    ///
    /// # Errors
    /// Those of [`File::host`].
    pub fn of(file: &File, asked: Option<bool>) -> Result<Self> {
        Ok(match asked {
            Some(true) => Self::Everywhere,
            Some(false) => Self::Nowhere,
            None if is_pandas(file)? => Self::Unmarked,
            None => Self::Nowhere,
        })
    }

    /// Whether NaN is null in a column.
    pub fn holds(self, column: &ColumnInfo) -> bool {
        is_float(column)
            && match self {
                Self::Nowhere => false,
                Self::Unmarked => column.record.column_type.missing == Missing::Unspecified,
                Self::Everywhere => true,
            }
    }
}

/// Whether a column has floats that are not inside other values.
pub fn is_float(column: &ColumnInfo) -> bool {
    let of = &column.record.column_type;
    matches!(of.physical, Physical::F16 | Physical::F32 | Physical::F64)
        && of.logical == Logical::Plain
        && column.record.parent.is_none()
}

fn is_pandas(file: &File) -> Result<bool> {
    Ok(file.host()?.get("host").and_then(Value::as_str) == Some("pandas"))
}
