//! Nested types of Arrow: their format strings, and their details in a column.
//!
//! Bits 0 and 1 of a host variant are the layout of a list ([`SMALL`], [`LARGE`], [`VIEW`],
//! [`LARGE_VIEW`]), or the width of the ends of runs.

use entasis::{ColumnType, Physical, Value};

use super::format::{LARGE, LAYOUT, SMALL, VIEW};

/// Lists with offsets and sizes of 64 bits.
pub const LARGE_VIEW: u8 = 3;

/// The greatest depth of a type in Arrow's C data interface. pyarrow imports 64 levels, and a table
/// is one of them.
pub const MAX_DEPTH: usize = 63;

/// Bytes of the end of a run, by the bits of the host variant.
const ENDS: [usize; 4] = [4, 8, 2, 4];

/// The key of a union's codes in a detail.
const CODES: &str = "codes";
/// The key of the metadata of fields in a host detail.
const FIELDS: &str = "fields";

/// Bytes of the end of a run.
pub fn end_width(host_variant: u8) -> usize {
    ENDS[usize::from(host_variant & LAYOUT)]
}

/// Bytes of the end of a run of `n` rows, at least as many as the host variant has.
pub fn end_width_for(host_variant: u8, n: u64) -> usize {
    let needed = if i16::try_from(n).is_ok() {
        2
    } else if i32::try_from(n).is_ok() {
        4
    } else {
        8
    };
    end_width(host_variant).max(needed)
}

/// Whether lists of a host variant have offsets of 64 bits, and whether they are views.
pub fn list_layout(host_variant: u8) -> (bool, bool) {
    let layout = host_variant & LAYOUT;
    (layout == LARGE || layout == LARGE_VIEW, layout == VIEW || layout == LARGE_VIEW)
}

/// The type of a format string, and the codes of a union.
pub fn parse(format: &str) -> Option<(ColumnType, Vec<u8>)> {
    let plain = |physical| Some((ColumnType::plain(physical), Vec::new()));
    let list =
        |host_variant| Some((ColumnType { host_variant, ..ColumnType::plain(Physical::List) }, Vec::new()));
    let union = |codes: &str, value_len| {
        let codes = codes.split(',').filter(|code| !code.is_empty()).map(|code| code.parse::<u8>().ok());
        let codes: Vec<u8> = codes.collect::<Option<_>>()?;
        Some((ColumnType { value_len, ..ColumnType::plain(Physical::Union) }, codes))
    };
    match format {
        "+l" => list(SMALL),
        "+L" => list(LARGE),
        "+vl" => list(VIEW),
        "+vL" => list(LARGE_VIEW),
        "+s" => plain(Physical::Struct),
        "+m" => plain(Physical::Map),
        "+r" => plain(Physical::RunEnd),
        _ => match format.split_at_checked(format.find(':')? + 1)? {
            ("+w:", len) => {
                let value_len = len.parse().ok()?;
                Some((ColumnType { value_len, ..ColumnType::plain(Physical::FixedSizeList) }, Vec::new()))
            }
            ("+ud:", codes) => union(codes, 0),
            ("+us:", codes) => union(codes, 1),
            _ => None,
        },
    }
}

/// The format string of a nested type. None for other types.
pub fn format(column_type: &ColumnType, layout: u8, codes: &[u8]) -> Option<String> {
    let codes = || codes.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    Some(match column_type.physical {
        Physical::List => ["+l", "+L", "+vl", "+vL"][usize::from(layout & LAYOUT)].to_owned(),
        Physical::FixedSizeList => format!("+w:{}", column_type.value_len),
        Physical::Struct => "+s".to_owned(),
        Physical::Map => "+m".to_owned(),
        Physical::RunEnd => "+r".to_owned(),
        Physical::Union if column_type.is_sparse() => format!("+us:{}", codes()),
        Physical::Union | Physical::ValueColumn => format!("+ud:{}", codes()),
        _ => return None,
    })
}

/// The codes of a union of `n` types, from its detail. None if they are invalid.
pub fn codes(detail: Option<&Value>, n: usize) -> Option<Vec<u8>> {
    let Some(codes) = detail.and_then(|detail| detail.get(CODES)) else {
        return (0..n).map(|code| u8::try_from(code).ok()).collect();
    };
    let codes: Vec<u8> =
        codes.as_list()?.iter().map(|code| u8::try_from(code.as_int()?).ok()).collect::<Option<_>>()?;
    // Arrow requires that codes differ.
    let is_unique = codes.iter().enumerate().all(|(i, code)| !codes[..i].contains(code));
    (codes.len() == n && is_unique && codes.iter().all(|&code| code < 128)).then_some(codes)
}

/// The metadata of field `k`, from the host detail of its parent.
pub fn field_metadata(host_detail: Option<&Value>, k: usize) -> Option<&[u8]> {
    host_detail?.get(FIELDS)?.as_list()?.get(k)?.as_bytes()
}

/// The detail of a nested column: its present entries, and codes other than 0, 1, 2 ...
pub fn detail(detail: Option<Value>, codes: &[u8]) -> Option<Value> {
    if codes.iter().enumerate().all(|(i, &code)| i == usize::from(code)) {
        return detail;
    }
    let mut pairs = match detail {
        Some(Value::Map(pairs)) => pairs,
        _ => Vec::new(),
    };
    let codes = codes.iter().map(|&code| Value::Int(code.into())).collect();
    pairs.push((Value::from(CODES), Value::List(codes)));
    Some(Value::Map(pairs))
}

/// The host detail of a nested column: the metadata of its fields, if any has some.
pub fn host_detail(metadata: impl Iterator<Item = Option<Vec<u8>>>) -> Option<Value> {
    let metadata: Vec<Option<Vec<u8>>> = metadata.collect();
    if metadata.iter().all(Option::is_none) {
        return None;
    }
    let metadata = metadata.into_iter().map(|field| field.map_or(Value::Null, Value::Bytes));
    Some(Value::map([(FIELDS, Value::List(metadata.collect()))]))
}
