//! Names and properties of types.

use entasis::{ColumnInfo, ColumnType, File, Logical, Missing, Physical, Result, Unit, Value, type_name};

/// The name of a column's type, with those of its children.
pub(crate) fn type_of(file: &File, info: &ColumnInfo) -> Result<String> {
    file.type_name(info, &|info| type_name(&info.record.column_type, info.detail.as_ref()))
}

/// The time zone in a column's detail.
pub(crate) fn time_zone(detail: Option<&Value>) -> Option<&str> {
    detail.and_then(Value::as_str)
}

/// Whether values are numbers, which are aligned to the right.
pub(crate) fn is_number(column_type: &ColumnType) -> bool {
    match column_type.logical {
        Logical::Decimal => true,
        Logical::Plain => {
            let physical = column_type.physical;
            let is_long =
                matches!(physical, Physical::I128 | Physical::U128 | Physical::I256 | Physical::LongDouble);
            physical.is_integer() || physical.is_float() || is_long
        }
        _ => false,
    }
}

/// The name of a missing value of the type.
pub(crate) fn missing_name(column_type: &ColumnType) -> &'static str {
    match column_type.missing {
        Missing::Unspecified | Missing::Null => "null",
        other => other.name(),
    }
}

/// The unit of time with this name in pandas.
pub(crate) fn unit_of(name: &str) -> Option<Unit> {
    [Unit::Second, Unit::Millisecond, Unit::Microsecond, Unit::Nanosecond]
        .into_iter()
        .find(|unit| unit.name() == name)
}
