//! Physical and logical types.

use super::bytes::{Kind, Wrong, rule, wrong};

/// The type fields of a column record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Physical type.
    pub physical: u8,
    /// Logical type.
    pub logical: u8,
    /// Unit of time.
    pub unit: u8,
    /// The host's marker of a missing value.
    pub missing: u8,
    /// Bytes of fixed bytes, values of a fixed-size list, 1 for a sparse union.
    pub value_len: u32,
    /// Whether categories are ordered.
    pub ordered: bool,
    /// Decimal precision.
    pub precision: u8,
    /// Decimal scale.
    pub scale: u8,
    /// The host variant.
    pub host_variant: u8,
}

/// The physical codes that the decoder names.
#[allow(missing_docs, reason = "the names say it")]
pub mod physical {
    pub const NULL: u8 = 0;
    pub const BOOL: u8 = 1;
    pub const I32: u8 = 4;
    pub const I64: u8 = 5;
    pub const U64: u8 = 9;
    pub const F16: u8 = 10;
    pub const F32: u8 = 11;
    pub const F64: u8 = 12;
    pub const COMPLEX128: u8 = 14;
    pub const UTF8: u8 = 15;
    pub const BINARY: u8 = 16;
    pub const I128: u8 = 17;
    pub const I256: u8 = 18;
    pub const LONG_DOUBLE: u8 = 19;
    pub const FIXED: u8 = 20;
    pub const LIST: u8 = 21;
    pub const FIXED_LIST: u8 = 22;
    pub const STRUCT: u8 = 23;
    pub const MAP: u8 = 24;
    pub const UNION: u8 = 25;
    pub const VALUES: u8 = 26;
    pub const RUN_END: u8 = 27;
    pub const U128: u8 = 28;
    pub const U8: u8 = 6;
    pub const U32: u8 = 8;
}

/// The logical code of categoricals.
pub const CATEGORICAL: u8 = 5;
/// The logical code of decimals.
pub const DECIMAL: u8 = 6;

/// Whether there are children (`docs/format/columns.md`).
pub fn is_nested(physical: u8) -> bool {
    (physical::LIST..=physical::RUN_END).contains(&physical)
}

/// The plain type of the structure values of a nested column; any other type unchanged.
pub fn structure(of: &Type) -> Type {
    use physical::{BOOL, FIXED, FIXED_LIST, LIST, MAP, RUN_END, STRUCT, U8, U32, UNION, VALUES};
    let physical = match of.physical {
        LIST | MAP => U32,
        FIXED_LIST | STRUCT => FIXED,
        UNION | VALUES => U8,
        RUN_END => BOOL,
        _ => return *of,
    };
    Type { physical, value_len: 0, ..*of }
}

/// Whether the last child holds child offsets.
pub fn has_child_offsets(of: &Type) -> bool {
    of.physical == physical::VALUES || (of.physical == physical::UNION && of.value_len == 0)
}

/// Bytes of a value; `None` for null, bool, utf8 and binary.
pub fn width(of: &Type) -> Option<usize> {
    match of.physical {
        2 | 6 => Some(1),
        3 | 7 | 10 => Some(2),
        4 | 8 | 11 => Some(4),
        5 | 9 | 12 | 13 => Some(8),
        14 | 17 | 19 | physical::U128 => Some(16),
        physical::I256 => Some(32),
        physical::FIXED => Some(of.value_len as usize),
        _ => None,
    }
}

/// Whether values have a length each.
pub fn is_var(physical: u8) -> bool {
    physical == physical::UTF8 || physical == physical::BINARY
}

/// The physical type of decimals of this precision.
fn decimal(precision: u8) -> Option<u8> {
    match precision {
        1..=9 => Some(physical::I32),
        10..=18 => Some(physical::I64),
        19..=38 => Some(physical::I128),
        39..=76 => Some(physical::I256),
        _ => None,
    }
}

/// The type of a column of version 0.2: u128 is an i128 with a host variant.
pub fn of_0_2(of: Type) -> Type {
    if of.physical == physical::I128 && of.logical != DECIMAL && of.host_variant % 4 == 1 {
        return Type { physical: physical::U128, host_variant: of.host_variant - 1, ..of };
    }
    of
}

/// Checks that the format has the codes of the type.
///
/// # Errors
/// *Unsupported*.
pub fn check_codes(of: &Type) -> Result<(), Wrong> {
    if of.physical > 28 || of.logical > 12 || of.unit > 13 || of.missing > 5 {
        return wrong(Kind::Unsupported, "an unknown code of a type");
    }
    Ok(())
}

/// Checks a type with known codes.
///
/// # Errors
/// *Corrupt*.
pub fn check(of: &Type) -> Result<(), Wrong> {
    use physical::{I32, I64, U64};
    let most = match of.physical {
        physical::FIXED => 256 << 10,
        physical::FIXED_LIST => u32::MAX,
        physical::UNION => 1,
        _ => 0,
    };
    rule(of.value_len <= most, "value_len: of fixed bytes, at most 256 KiB, lists and unions")?;
    let no_decimal = of.precision == 0 && of.scale == 0;
    rule(no_decimal || of.logical == DECIMAL, "precision and scale belong to decimals")?;
    let may_order = of.logical == CATEGORICAL || of.physical == physical::MAP;
    rule(!of.ordered || may_order, "only categoricals and maps are ordered")?;
    let (kind, unit) = (of.physical, of.unit);
    let fits = match of.logical {
        0 => unit == 0,
        1 => (kind == I32 && unit == 4) || (kind == I64 && unit == 8),
        2 => (kind == I32 || kind == I64) && (7..=10).contains(&unit),
        3 => kind == I64 && unit != 0,
        4 => kind == I64,
        CATEGORICAL => (2..=U64).contains(&kind) && unit == 0,
        DECIMAL => unit == 0 && decimal(of.precision) == Some(kind),
        7 => unit == 0 && kind == I64,
        8 => unit == 0 && (kind == I32 || (kind == physical::FIXED && [8, 16].contains(&of.value_len))),
        9 => unit == 0 && kind == physical::FIXED && of.value_len == 16,
        10 => unit == 0 && kind == physical::UTF8,
        12 => unit == 0 && kind == physical::NULL,
        _ => unit == 0,
    };
    rule(fits, "a logical type on a physical type or unit that it does not allow")
}
