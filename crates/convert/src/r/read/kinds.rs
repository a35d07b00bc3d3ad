//! The kinds of vectors that columns are read as.

use entasis::{ColumnInfo, Error, Logical, Physical, Result, Unit, type_name};

use super::Reading;
use super::table::Table;
use crate::r::integers::{Fit, fits};
use crate::r::kind::Kind;

/// The variant of times that are integers.
const VARIANT_INTEGER: u8 = 1;
/// The variant of timestamps that are 64-bit integers.
const VARIANT_INTEGER64: u8 = 4;

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As a vector.
    Vector(Kind),
    /// As a nested column of another host.
    Nested,
}

/// The kinds of plain columns.
fn plain(physical: Physical) -> Option<Kind> {
    Some(match physical {
        Physical::Null | Physical::Bool => Kind::Logical,
        Physical::I8 | Physical::I16 | Physical::I32 | Physical::U8 | Physical::U16 => Kind::Integer,
        Physical::U32 | Physical::F16 | Physical::F32 | Physical::F64 => Kind::Double,
        Physical::I64 | Physical::U64 => Kind::Integer64,
        Physical::Complex64 | Physical::Complex128 => Kind::Complex,
        Physical::Utf8 => Kind::String,
        Physical::Binary => Kind::Bytes,
        _ => return None,
    })
}

fn is_nested(physical: Physical) -> bool {
    matches!(
        physical,
        Physical::List
            | Physical::Map
            | Physical::FixedSizeList
            | Physical::Struct
            | Physical::RunEnd
            | Physical::Union
    )
}

/// The kind of a column of R.
fn own(info: &ColumnInfo) -> Option<Kind> {
    let of = &info.record.column_type;
    let is_integer = of.host_variant & VARIANT_INTEGER != 0;
    let either = |integer, double| Some(if is_integer { integer } else { double });
    match of.logical {
        Logical::Categorical => Some(Kind::Codes),
        Logical::Object => Some(Kind::List),
        Logical::Date => either(Kind::DaysInteger, Kind::Days),
        Logical::Timestamp if of.host_variant & VARIANT_INTEGER64 != 0 => Some(Kind::Integer64),
        Logical::Timestamp => either(Kind::InstantInteger, Kind::Instant),
        Logical::Duration => either(Kind::SpanInteger, Kind::Span),
        _ if of.physical == Physical::U8 => Some(Kind::Raw),
        _ => plain(of.physical),
    }
}

impl Reading<'_> {
    /// How a column is read.
    pub(super) fn form(&self, table: &Table, info: &ColumnInfo, is_pool: bool) -> Result<Form> {
        let known = info.unknown.is_none();
        let found = if !known {
            None
        } else if table.is_own {
            own(info).map(Form::Vector)
        } else {
            self.foreign(table, info, is_pool)?
        };
        found.ok_or_else(|| {
            let of = type_name(&info.record.column_type, info.detail.as_ref());
            let error = Error::unsupported(format!("type {of} has no counterpart in R"));
            error.in_column(&info.name).advise("choose other columns")
        })
    }

    /// How a column of another host is read.
    fn foreign(&self, table: &Table, info: &ColumnInfo, is_pool: bool) -> Result<Option<Form>> {
        let of = &info.record.column_type;
        let has_unit = !matches!(of.unit, Unit::Year | Unit::Month);
        let kind = match of.logical {
            Logical::Categorical => Some(Kind::Codes),
            Logical::Object => Some(Kind::List),
            _ if is_nested(of.physical) => return Ok(Some(Form::Nested)),
            Logical::Date => Some(Kind::Days),
            Logical::Timestamp => Some(Kind::Instant).filter(|_| has_unit),
            Logical::Duration => Some(Kind::Span).filter(|_| has_unit && of.unit != Unit::None),
            Logical::Time => Some(Kind::Span),
            Logical::Decimal => {
                let is_short = of.precision <= 15 && matches!(of.physical, Physical::I32 | Physical::I64);
                Some(Kind::Double).filter(|_| is_short)
            }
            Logical::Period | Logical::Interval | Logical::Uuid => None,
            _ => match plain(of.physical) {
                Some(Kind::Integer64) => Some(self.narrowest(table, info, true, is_pool)?),
                Some(Kind::Integer) if of.physical == Physical::I32 => {
                    Some(self.narrowest(table, info, false, is_pool)?)
                }
                kind => kind,
            },
        };
        Ok(kind.map(Form::Vector))
    }

    /// The narrowest vector for all integers of a column.
    fn narrowest(&self, table: &Table, info: &ColumnInfo, is_64: bool, is_pool: bool) -> Result<Kind> {
        let fit = fits(&table.file, &[info.index])?.first().copied().unwrap_or(Fit::Integer);
        Ok(match fit {
            // Each array of a pool has a type of its own.
            Fit::Integer if !is_pool || !is_64 => Kind::Integer,
            Fit::Integer | Fit::Integer64 if is_64 => Kind::Integer64,
            _ => Kind::Whole,
        })
    }
}
