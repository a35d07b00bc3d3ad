//! Arrow's format strings and column types.
//!
//! The host variant records what Arrow distinguishes and a column type does not. Bits 0 and 1 are
//! the layout of strings or the width of decimals, bit 2 is *not nullable*.

use entasis::{ColumnType, Logical, Physical, TextLayout, Unit};

/// Strings with offsets of 32 bits.
pub const SMALL: u8 = 0;
/// Strings with offsets of 64 bits.
pub const LARGE: u8 = 1;
/// Strings as views.
pub const VIEW: u8 = 2;
/// The bits for the layout of strings or the width of decimals.
pub const LAYOUT: u8 = 3;
/// The bit of fields that are not nullable.
pub const REQUIRED: u8 = 4;

/// Bytes of a decimal, by the code of its width.
const DECIMALS: [usize; 4] = [16, 4, 8, 32];
/// The code of decimals of 64 bits, and their most digits.
pub const DECIMAL_OF_64_BITS: u8 = 2;
pub const DIGITS_OF_64_BITS: u8 = 18;

/// Bytes of a value in Arrow's memory. None for types of variable length.
pub fn width(column_type: &ColumnType, layout: u8) -> Option<usize> {
    match column_type.logical {
        Logical::Decimal => Some(DECIMALS[usize::from(layout & LAYOUT)]),
        _ => column_type.layout().width(),
    }
}

/// The column type of an extension type, by its name in Arrow. None if the storage has a logical
/// type of its own.
pub fn extension(name: &str, storage: &ColumnType) -> Option<ColumnType> {
    let of = |logical| Some(ColumnType { logical, ..*storage });
    if storage.logical != Logical::Plain {
        return None;
    }
    let found = match name {
        "arrow.uuid" => of(Logical::Uuid),
        "arrow.json" => of(Logical::Json),
        _ => None,
    };
    found.filter(|column_type| column_type.check().is_ok()).or_else(|| of(Logical::Extension))
}

/// Whether Polars has a type. Arrow must have it.
pub fn is_polars(column_type: &ColumnType) -> bool {
    let ColumnType { precision, scale, .. } = *column_type;
    match column_type.logical {
        Logical::Decimal => precision <= 38 && (0..=precision as i8).contains(&scale),
        Logical::Period | Logical::Interval => false,
        _ if matches!(column_type.physical, Physical::Union | Physical::ValueColumn | Physical::RunEnd) => {
            false
        }
        _ if matches!(column_type.physical, Physical::FixedBytes | Physical::FixedSizeList) => {
            column_type.value_len > 0
        }
        _ => true,
    }
}

/// The code of the width of decimals for readers that know 128 and 256 bits alone.
pub fn usual_decimal(physical: Physical) -> u8 {
    u8::from(physical.width().is_some_and(|width| width > 16)) * 3
}

/// The type of a decimal from `precision,scale` or `precision,scale,bits`. The default is 128 bits.
fn decimal(text: &str) -> Option<ColumnType> {
    let mut parts = text.split(',');
    let (precision, scale) = (parts.next()?.trim().parse().ok()?, parts.next()?.trim().parse().ok()?);
    let bits: usize = parts.next().map_or(Some(128), |bits| bits.trim().parse().ok())?;
    let column_type = ColumnType::decimal(precision, scale)?;
    let code = DECIMALS.iter().position(|width| 8 * width == bits)?;
    let fits = column_type.physical.width()? <= DECIMALS[code] && parts.next().is_none();
    fits.then_some(ColumnType { host_variant: code as u8, ..column_type })
}

/// The layout of strings in a host variant.
pub fn text_layout(host_variant: u8) -> TextLayout {
    match host_variant & LAYOUT {
        SMALL => TextLayout::Small,
        VIEW => TextLayout::Views,
        _ => TextLayout::Large,
    }
}

/// The column type of a format string, and the time zone.
pub fn parse(format: &str) -> Option<(ColumnType, Option<&str>)> {
    let plain = |physical| Some((ColumnType::plain(physical), None));
    let text =
        |physical, host_variant| Some((ColumnType { host_variant, ..ColumnType::plain(physical) }, None));
    let interval =
        |column_type: ColumnType| Some((ColumnType { logical: Logical::Interval, ..column_type }, None));
    let time =
        |physical, logical, unit| Some((ColumnType { logical, unit, ..ColumnType::plain(physical) }, None));
    match format {
        "n" => plain(Physical::Null),
        "b" => plain(Physical::Bool),
        "c" => plain(Physical::I8),
        "s" => plain(Physical::I16),
        "i" => plain(Physical::I32),
        "l" => plain(Physical::I64),
        "C" => plain(Physical::U8),
        "S" => plain(Physical::U16),
        "I" => plain(Physical::U32),
        "L" => plain(Physical::U64),
        "e" => plain(Physical::F16),
        "f" => plain(Physical::F32),
        "g" => plain(Physical::F64),
        // Extensions of Polars.
        "_pli128" => plain(Physical::I128),
        "_plu128" => plain(Physical::U128),
        "u" => text(Physical::Utf8, SMALL),
        "U" => text(Physical::Utf8, LARGE),
        "vu" => text(Physical::Utf8, VIEW),
        "z" => text(Physical::Binary, SMALL),
        "Z" => text(Physical::Binary, LARGE),
        "vz" => text(Physical::Binary, VIEW),
        "tdD" => time(Physical::I32, Logical::Date, Unit::Day),
        "tdm" => time(Physical::I64, Logical::Date, Unit::Millisecond),
        "tts" => time(Physical::I32, Logical::Time, Unit::Second),
        "ttm" => time(Physical::I32, Logical::Time, Unit::Millisecond),
        "ttu" => time(Physical::I64, Logical::Time, Unit::Microsecond),
        "ttn" => time(Physical::I64, Logical::Time, Unit::Nanosecond),
        "tiM" => interval(ColumnType::plain(Physical::I32)),
        "tiD" => interval(ColumnType::fixed(8)),
        "tin" => interval(ColumnType::fixed(16)),
        _ if format.starts_with("w:") => {
            let value_len = format[2..].parse().ok()?;
            let column_type = ColumnType::fixed(value_len);
            column_type.check().is_ok().then_some((column_type, None))
        }
        _ if format.starts_with("d:") => Some((decimal(&format[2..])?, None)),
        _ => {
            let (logical, rest) = match format.get(..2)? {
                "ts" => (Logical::Timestamp, &format[2..]),
                "tD" => (Logical::Duration, &format[2..]),
                _ => return None,
            };
            let unit = match rest.as_bytes().first()? {
                b's' => Unit::Second,
                b'm' => Unit::Millisecond,
                b'u' => Unit::Microsecond,
                b'n' => Unit::Nanosecond,
                _ => return None,
            };
            let zone = rest[1..].strip_prefix(':').filter(|zone| !zone.is_empty());
            Some((ColumnType { logical, unit, ..ColumnType::plain(Physical::I64) }, zone))
        }
    }
}

/// The format string of a type, with strings in `layout`. None if Arrow does not have the type.
pub fn format(column_type: &ColumnType, layout: u8, zone: Option<&str>) -> Option<String> {
    let unit = |prefix: &str| {
        let unit = match column_type.unit {
            Unit::Second => "s",
            Unit::Millisecond => "m",
            Unit::Microsecond => "u",
            Unit::Nanosecond => "n",
            _ => return None,
        };
        Some(format!("{prefix}{unit}"))
    };
    match (column_type.logical, column_type.unit) {
        (Logical::Date, Unit::Day) => return Some("tdD".to_owned()),
        (Logical::Date, _) => return Some("tdm".to_owned()),
        (Logical::Time, Unit::Second | Unit::Millisecond) if column_type.physical == Physical::I32 => {
            return unit("tt");
        }
        (Logical::Time, Unit::Microsecond | Unit::Nanosecond) if column_type.physical == Physical::I64 => {
            return unit("tt");
        }
        (Logical::Time, _) => return None,
        (Logical::Timestamp, _) => {
            return unit("ts").map(|format| format!("{format}:{}", zone.unwrap_or("")));
        }
        (Logical::Duration, _) => return unit("tD"),
        (Logical::Decimal, _) => {
            let bits = 8 * DECIMALS[usize::from(layout & LAYOUT)];
            let bits = if bits == 128 { String::new() } else { format!(",{bits}") };
            return Some(format!("d:{},{}{bits}", column_type.precision, column_type.scale));
        }
        (Logical::Interval, _) => {
            let width = column_type.layout().width()?;
            return Some(["tiM", "tiD", "tin"][usize::from(width > 4) + usize::from(width > 8)].to_owned());
        }
        (Logical::Period | Logical::Plain | Logical::Categorical, _) => {}
        (Logical::Uuid | Logical::Json | Logical::Extension, _) => {}
        (Logical::Object, _) => return None,
    }
    let format = match (column_type.physical, layout) {
        (Physical::Null, _) => "n",
        (Physical::Bool, _) => "b",
        (Physical::I8, _) => "c",
        (Physical::I16, _) => "s",
        (Physical::I32, _) => "i",
        (Physical::I64, _) => "l",
        (Physical::U8, _) => "C",
        (Physical::U16, _) => "S",
        (Physical::U32, _) => "I",
        (Physical::U64, _) => "L",
        (Physical::F16, _) => "e",
        (Physical::F32, _) => "f",
        (Physical::F64, _) => "g",
        (Physical::Utf8, SMALL) => "u",
        (Physical::Utf8, VIEW) => "vu",
        (Physical::Utf8, _) => "U",
        (Physical::Binary, SMALL) => "z",
        (Physical::Binary, VIEW) => "vz",
        (Physical::Binary, _) => "Z",
        (Physical::FixedBytes, _) => return Some(format!("w:{}", column_type.value_len)),
        // Only Polars requests views, and only Polars has 128-bit integers.
        (Physical::I128, VIEW) => "_pli128",
        (Physical::U128, VIEW) => "_plu128",
        (Physical::Complex64 | Physical::Complex128 | Physical::LongDouble, _)
        | (Physical::I128 | Physical::U128 | Physical::I256, _) => return None,
        // Nested types.
        _ => return None,
    };
    Some(format.to_owned())
}

/// A description of a format string that is not supported, for error messages.
pub fn describe(format: &str) -> String {
    let name = match format {
        f if f.starts_with("d:") => return format!("decimal ({})", &f[2..]),
        f if f.starts_with("w:") => "fixed-size binary",
        f if f.starts_with("+l") || f.starts_with("+L") || f.starts_with("+v") => "list",
        f if f.starts_with("+w:") => "fixed-size list",
        "+s" => "struct",
        "+m" => "map",
        "+r" => "run-end encoded",
        f if f.starts_with("+u") => "union",
        f => return format!("'{f}'"),
    };
    name.to_owned()
}
