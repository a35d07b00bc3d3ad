//! Which columns are read together, and into what kind of memory each goes.

use std::collections::HashMap;

use entasis::{ColumnInfo, ColumnType, Logical, Missing, Physical};

use crate::array;
use crate::arrow::format;

/// For whom columns are decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Host {
    /// Blocks of pandas: host variants of `docs/format/hosts/pandas.md`.
    Pandas,
    /// Arrays of NumPy.
    Numpy,
    /// Arrow, strings in the layout.
    Arrow(u8),
}

/// What a column is decoded into.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A row of a two-dimensional NumPy array, shared with columns of the same dtype and zone. Zones of one name that
    /// are objects of two classes are told apart.
    Block { dtype: String, zone: Option<String>, mark: Option<u64> },
    /// A NumPy array of its own, with a mask or with a mark for missing values.
    Array { dtype: String, mask: bool, mark: Option<u64> },
    /// Arrow buffers, strings in the layout.
    Arrow(u8),
    /// Arrow arrays with children, strings in the layout unless the file tells it.
    Nested(u8),
    /// Nothing: all values are missing.
    Null,
    /// The host has nothing for the type.
    Refused,
}

/// Flavours in files of pandas: nullable types with a mask.
pub const PANDAS_MASKED: u8 = 1;
/// Flavours in files of pandas and NumPy: `longdouble` numbers of two parts, as fixed bytes.
pub const PANDAS_CLONGDOUBLE: u8 = 8;
pub const NUMPY_CLONGDOUBLE: u8 = 5;
/// Flavour in files of pandas: the other order of bytes. In those of NumPy it is this bit.
pub const PANDAS_BIG: u8 = 7;
pub const NUMPY_BIG: u8 = 8;
/// Flavours in files of pandas: bounds of intervals as fixed bytes, and arrays that were sparse.
pub const PANDAS_INTERVAL: u8 = 9;
pub const PANDAS_SPARSE: u8 = 10;
/// Flavour in files of pandas: times of which the zone is a `zoneinfo.ZoneInfo`, where pandas makes another of its name.
pub const PANDAS_ZONEINFO: u8 = 11;
/// Flavours in files of pandas from here on: `ArrowDtype`, with the flavour of Arrow added.
pub const PANDAS_ARROW: u8 = 16;

/// The target of a column. `own`: the file was written by this host, so flavours hold.
pub fn target(info: &ColumnInfo, host: Host, own: bool) -> Target {
    let column_type = &info.record.column_type;
    let flavour = if own { column_type.flavour } else { 0 };
    let has_missing = info.record.n_missing > 0;
    let of_file = flavour & format::LAYOUT;
    if column_type.physical.is_nested() {
        return match host {
            Host::Arrow(layout) => Target::Nested(layout),
            Host::Pandas => Target::Nested(format::LARGE),
            Host::Numpy => Target::Refused,
        };
    }
    if column_type.logical == Logical::Decimal {
        // A file that tells of fewer bytes than the values have is not followed.
        let fits = format::width(column_type, of_file) >= column_type.physical.width();
        let is_own = own && fits && (host != Host::Pandas || flavour >= PANDAS_ARROW);
        return Target::Arrow(if is_own { of_file } else { format::usual_decimal(column_type.physical) });
    }
    if column_type.logical == Logical::Object {
        return if matches!(host, Host::Arrow(_)) { Target::Refused } else { Target::Null };
    }
    if let Host::Arrow(layout) = host {
        return Target::Arrow(if own { of_file } else { layout });
    }
    if host == Host::Pandas && own && flavour >= PANDAS_ARROW {
        return Target::Arrow(of_file);
    }
    let (is_clongdouble, is_big) = match host {
        Host::Pandas => (flavour == PANDAS_CLONGDOUBLE, flavour == PANDAS_BIG),
        _ => (flavour & !NUMPY_BIG == NUMPY_CLONGDOUBLE, flavour & NUMPY_BIG != 0),
    };
    let is_clongdouble = array::LONG_DOUBLE && is_clongdouble && column_type.value_len == 32;
    let dtype = match column_type.physical {
        Physical::I128 | Physical::I256 => return Target::Refused,
        Physical::LongDouble if !array::LONG_DOUBLE => return Target::Refused,
        Physical::FixedBytes if is_clongdouble => "c32".to_owned(),
        Physical::FixedBytes if host == Host::Pandas && flavour != PANDAS_INTERVAL => {
            return Target::Arrow(0);
        }
        _ => array::dtype(column_type),
    };
    let block = |mark| {
        let zone = info.detail.as_ref().and_then(|detail| detail.as_str());
        let is_zoneinfo = host == Host::Pandas && flavour == PANDAS_ZONEINFO;
        let zone = zone.map(|zone| if is_zoneinfo { format!("{zone} of zoneinfo") } else { zone.to_owned() });
        // The caller turns the bytes round.
        let order = if is_big && column_type.physical.width() > Some(1) { ">" } else { "" };
        Target::Block { dtype: format!("{order}{dtype}"), zone, mark }
    };
    let array = |mask, mark| Target::Array { dtype: dtype.clone(), mask, mark };
    if host == Host::Pandas && flavour == PANDAS_SPARSE && column_type.logical != Logical::Categorical {
        let is_time = matches!(column_type.logical, Logical::Timestamp | Logical::Duration);
        if column_type.physical.width().is_some() || column_type.physical == Physical::Bool {
            return array(false, is_time.then_some(i64::MIN as u64));
        }
    }
    match column_type.logical {
        Logical::Categorical if column_type.physical.is_signed() => {
            let width = column_type.physical.width().unwrap_or(8);
            array(false, Some(u64::MAX >> (64 - 8 * width)))
        }
        Logical::Categorical => array(has_missing, None),
        Logical::Timestamp | Logical::Duration => block(Some(i64::MIN as u64)),
        Logical::Date if column_type.physical == Physical::I64 => block(Some(i64::MIN as u64)),
        Logical::Date => array(has_missing, None),
        Logical::Time if host == Host::Pandas => Target::Arrow(0),
        Logical::Time => array(has_missing, None),
        // Dealt with above.
        Logical::Decimal => Target::Arrow(of_file),
        Logical::Period if host == Host::Pandas => array(false, Some(i64::MIN as u64)),
        Logical::Period | Logical::Interval if host == Host::Numpy => Target::Refused,
        Logical::Uuid | Logical::Json | Logical::Extension | Logical::Interval
            if host == Host::Pandas && flavour != PANDAS_INTERVAL =>
        {
            Target::Arrow(if column_type.physical.is_var() { format::LARGE } else { 0 })
        }
        _ => match column_type.physical {
            Physical::Null => Target::Null,
            Physical::Utf8 | Physical::Binary => Target::Arrow(format::LARGE),
            // Equal lengths don't make equal dtypes.
            Physical::FixedBytes if host == Host::Numpy || !is_clongdouble => array(has_missing, None),
            _ if host == Host::Pandas && flavour == PANDAS_MASKED => array(true, None),
            _ if !has_missing => block(None),
            physical => match nan(physical) {
                Some(nan) if column_type.missing != Missing::NA => block(Some(nan)),
                _ => array(true, None),
            },
        },
    }
}

/// The usual NaN of a float.
fn nan(physical: Physical) -> Option<u64> {
    match physical {
        Physical::F16 => Some(0x7e00),
        Physical::F32 => Some(u64::from(f32::NAN.to_bits())),
        Physical::F64 => Some(f64::NAN.to_bits()),
        _ => None,
    }
}

/// Columns that one request decodes: one, or all members of a bundle, one after the other.
pub struct Unit {
    /// The column of the file that is read.
    pub column: u64,
    /// Which of the columns asked for, in order.
    pub members: Vec<usize>,
    pub target: Target,
    pub column_type: ColumnType,
    pub has_missing: bool,
    /// The column whose type is told: the first member.
    pub first: usize,
}

/// Puts columns together that are the first ones of a storage column, or all of them: what is read of it then is one range of
/// values from its start on.
pub fn units(infos: &[ColumnInfo], targets: Vec<Target>, whole: bool, n_rows: u64) -> Vec<Unit> {
    let mut bundles: HashMap<u64, Vec<usize>> = HashMap::new();
    if whole {
        for (i, info) in infos.iter().enumerate() {
            if let Some(storage) = info.record.storage {
                bundles.entry(storage).or_default().push(i);
            }
        }
    }
    // Its columns have to be asked for in its order from its first on, without a gap.
    bundles.retain(|_, members| {
        members.len() > 1
            && members.iter().enumerate().all(|(k, &i)| {
                infos[i].record.first_value == k as u64 * n_rows
                    && infos[i].record.n_values == n_rows
                    && same(&targets[i], &targets[members[0]])
            })
    });
    let mut units = Vec::new();
    for (i, (info, target)) in infos.iter().zip(targets).enumerate() {
        let bundle = info.record.storage.and_then(|storage| Some((storage, bundles.get(&storage)?)));
        let (column, members) = match bundle {
            Some((_, members)) if members[0] != i => continue,
            Some((storage, members)) => (storage, members.clone()),
            None => (info.index, vec![i]),
        };
        let has_missing = members.iter().any(|&i| infos[i].record.n_missing > 0);
        let target = match (target, has_missing) {
            (Target::Block { dtype, zone, mark: None }, true) => {
                Target::Block { dtype, zone, mark: nan(info.record.column_type.physical) }
            }
            (target, _) => target,
        };
        units.push(Unit {
            column,
            members,
            target,
            column_type: info.record.column_type,
            has_missing,
            first: i,
        });
    }
    units
}

/// Whether two columns of one type can be decoded together: marks may differ where one of them has no missing values.
fn same(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Block { dtype: a, zone: x, .. }, Target::Block { dtype: b, zone: y, .. }) => {
            a == b && x == y
        }
        _ => a == b,
    }
}
