//! The details of a column: one belongs to its type, the other to the host
//! (`docs/format/columns.md`).

use entasis_format::{ColumnRecord, ColumnType, Error, Logical, Physical, Result, Value};

/// The keys of a map in the detail of 0.2 that belong to the type.
const TYPE_KEYS: [&str; 5] = ["name", "metadata", "subtype", "closed", "codes"];

/// The detail and the host detail of a column of 0.2, which has both in one value
/// (`docs/format/compatibility.md`).
pub(super) fn split(of: &ColumnType, detail: Value) -> (Option<Value>, Option<Value>) {
    let is_extension = matches!(of.logical, Logical::Uuid | Logical::Json | Logical::Extension);
    match (of.logical, detail) {
        (Logical::Object, detail) | (Logical::Timestamp | Logical::Period, detail @ Value::Str(_)) => {
            (Some(detail), None)
        }
        (_, Value::Map(pairs)) if is_extension || of.physical.is_nested() => {
            let is_of_type = |(key, _): &(Value, Value)| TYPE_KEYS.iter().any(|k| key.as_str() == Some(k));
            let (of_type, of_host): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_of_type);
            let map = |pairs: Vec<_>| (!pairs.is_empty()).then_some(Value::Map(pairs));
            (map(of_type), map(of_host))
        }
        (_, detail) => (None, Some(detail)),
    }
}

/// Checks that a detail has the form of the column's type. A map may have unknown keys.
pub(crate) fn check(record: &ColumnRecord, detail: &Value) -> Result<()> {
    let of = &record.column_type;
    let is_map = matches!(detail, Value::Map(_));
    let has_codes = || match detail.get("codes") {
        Some(Value::List(codes)) => {
            let n_types = record.n_children.saturating_sub(of.has_child_offsets().into());
            codes.len() as u64 == u64::from(n_types)
                && codes.iter().all(|code| matches!(code, Value::Int(_) | Value::UInt(_)))
        }
        codes => codes.is_none(),
    };
    let is_union = of.physical == Physical::Union;
    let fits = match of.logical {
        Logical::Timestamp | Logical::Period => detail.as_str().is_some(),
        Logical::Object => detail.as_cell().is_some(),
        Logical::Uuid | Logical::Json | Logical::Extension => {
            let is_named = detail.get("name").is_some_and(|name| name.as_str().is_some());
            let metadata = detail.get("metadata").is_none_or(|metadata| metadata.as_bytes().is_some());
            is_named && metadata && (!is_union || has_codes())
        }
        Logical::Plain if is_union => is_map && has_codes(),
        _ => false,
    };
    if fits { Ok(()) } else { Err(Error::corrupt("the detail of a column does not fit its type")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Logical::{Duration, Extension, Object, Period, Plain, Timestamp};

    fn of(physical: Physical, logical: Logical) -> ColumnType {
        ColumnType { logical, ..ColumnType::plain(physical) }
    }

    #[test]
    fn a_detail_of_0_2_is_split_by_the_type() {
        let zone = Value::from("UTC");
        let fill = Value::map([("kind", Value::from("block"))]);
        let name = ("name", Value::from("pandas.bounds"));
        let both = Value::map([name.clone(), ("zoneinfo", Value::Bool(true))]);
        let codes = ("codes", Value::List(vec![Value::Int(3)]));
        let fields = ("fields", Value::List(vec![Value::Null]));
        let union = Value::map([codes.clone(), fields.clone()]);
        let (i64, fixed) = (Physical::I64, Physical::FixedBytes);
        for (of, detail, of_type, of_host) in [
            (of(i64, Timestamp), zone.clone(), Some(zone.clone()), None),
            (of(i64, Timestamp), fill.clone(), None, Some(fill.clone())),
            (of(i64, Period), Value::from("M"), Some(Value::from("M")), None),
            (of(i64, Duration), fill.clone(), None, Some(fill.clone())),
            (of(Physical::Utf8, Plain), Value::Int(3), None, Some(Value::Int(3))),
            (of(Physical::Utf8, Plain), zone.clone(), None, Some(zone)),
            (of(fixed, Plain), both.clone(), None, Some(both.clone())),
            (
                of(fixed, Extension),
                both,
                Some(Value::map([name])),
                Some(Value::map([("zoneinfo", Value::Bool(true))])),
            ),
            (
                of(Physical::Union, Plain),
                union,
                Some(Value::map([codes])),
                Some(Value::map([fields.clone()])),
            ),
            (of(Physical::List, Plain), Value::map([fields.clone()]), None, Some(Value::map([fields]))),
            (of(Physical::Null, Object), Value::Cell(4), Some(Value::Cell(4)), None),
        ] {
            assert_eq!(split(&of, detail.clone()), (of_type, of_host), "{of:?} {detail:?}");
        }
    }
}
