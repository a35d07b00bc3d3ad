//! Plans a read: which columns are decoded together, and into what kind of memory.

use std::collections::HashMap;

use entasis::{ColumnInfo, ColumnType, Logical, Missing, Physical};

use crate::array;
use crate::arrow::format;

/// The library that columns are decoded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Host {
    /// Blocks and arrays of pandas, with the host variants of `docs/format/hosts/pandas.md`.
    Pandas,
    /// Arrays of NumPy.
    Numpy,
    /// Arrow, with strings in this layout.
    Arrow(u8),
}

/// The kind of memory that a column is decoded into.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A row of a two-dimensional NumPy array, which it shares with columns of the same dtype and
    /// zone. `zone` contains the class of a zone as well. `sentinel` is the value for missing
    /// values.
    Block { dtype: String, zone: Option<String>, sentinel: Option<u64> },
    /// A NumPy array of its own, with a mask or a `sentinel` for missing values.
    Array { dtype: String, mask: bool, sentinel: Option<u64> },
    /// Arrow buffers, with strings in this layout.
    Arrow(u8),
    /// Arrow buffers of floats whose NaN is null.
    NullableFloats,
    /// Arrow codes of strings, with a dictionary of the strings of these rows.
    Codes,
    /// Arrow arrays with children. Strings have this layout, unless host variants apply.
    Nested(u8),
    /// Nothing: all values are missing.
    Null,
    /// An error: the host does not have the type.
    Refused,
}

/// Host variant in files of pandas: a nullable type with a mask.
pub const PANDAS_MASKED: u8 = 1;
/// Host variants in files of pandas and NumPy: complex `longdouble`, stored as fixed bytes.
pub const PANDAS_CLONGDOUBLE: u8 = 8;
pub const NUMPY_CLONGDOUBLE: u8 = 5;
/// Host variants in files of pandas and NumPy: big-endian values. In files of NumPy it is a bit.
pub const PANDAS_BIG: u8 = 7;
pub const NUMPY_BIG: u8 = 8;
/// Host variants in files of pandas: bounds of intervals as fixed bytes, and sparse arrays.
pub const PANDAS_INTERVAL: u8 = 9;
pub const PANDAS_SPARSE: u8 = 10;
/// Host variant in files of pandas: times whose zone is a `zoneinfo.ZoneInfo`. By default, pandas
/// makes a zone of another class from the name.
pub const PANDAS_ZONEINFO: u8 = 11;
/// The first host variant in files of pandas for `ArrowDtype`. The host variant of Arrow is added
/// to it.
pub const PANDAS_ARROW: u8 = 16;

/// The target of a column. `own` means that the same host wrote the file, so host variants apply.
/// `nan_is_null` only concerns floats read for Arrow.
pub fn target(info: &ColumnInfo, host: Host, own: bool, nan_is_null: bool) -> Target {
    let column_type = &info.record.column_type;
    let host_variant = if own { column_type.host_variant } else { 0 };
    let of_file = host_variant & format::LAYOUT;
    if column_type.physical.is_nested() {
        return match host {
            Host::Arrow(layout) => Target::Nested(layout),
            Host::Pandas => Target::Nested(format::LARGE),
            Host::Numpy => Target::Refused,
        };
    }
    if column_type.logical == Logical::Decimal {
        // The host variant is ignored if the values are wider.
        let fits = format::width(column_type, of_file) >= column_type.physical.width();
        let is_own = own && fits && (host != Host::Pandas || host_variant >= PANDAS_ARROW);
        return Target::Arrow(if is_own { of_file } else { format::usual_decimal(column_type.physical) });
    }
    if column_type.logical == Logical::Object {
        return if matches!(host, Host::Arrow(_)) { Target::Refused } else { Target::Null };
    }
    match host {
        Host::Arrow(_) if nan_is_null => Target::NullableFloats,
        Host::Arrow(layout) => Target::Arrow(if own { of_file } else { layout }),
        Host::Pandas if host_variant >= PANDAS_ARROW => Target::Arrow(of_file),
        Host::Pandas | Host::Numpy => NumpyColumn { info, host, host_variant }.target(),
    }
}

/// The narrow types of Arrow that a reader wants.
#[derive(Clone, Copy, Default, Debug)]
pub struct Narrow {
    /// Dictionaries for strings that repeat.
    pub strings: bool,
    /// 8 bytes for decimals of up to 18 digits.
    pub decimals: bool,
}

impl Narrow {
    /// The target of a column with these types. `has_repeats` says whether its strings repeat.
    pub fn target(
        self,
        info: &ColumnInfo,
        target: Target,
        has_repeats: impl FnOnce() -> entasis::Result<bool>,
    ) -> entasis::Result<Target> {
        let ColumnType { physical, logical, precision, .. } = info.record.column_type;
        Ok(match (&target, logical, physical) {
            (&Target::Arrow(layout), Logical::Decimal, _)
                if self.decimals
                    && precision <= format::DIGITS_OF_64_BITS
                    && format::width(&info.record.column_type, layout) > Some(8) =>
            {
                Target::Arrow(format::DECIMAL_OF_64_BITS)
            }
            (Target::Arrow(_), Logical::Plain, Physical::Utf8) if self.strings && has_repeats()? => {
                Target::Codes
            }
            _ => target,
        })
    }
}

/// A column without children for pandas or NumPy. Most are decoded into arrays of NumPy.
struct NumpyColumn<'a> {
    info: &'a ColumnInfo,
    host: Host,
    /// 0 if another host wrote the file.
    host_variant: u8,
}

impl NumpyColumn<'_> {
    fn target(&self) -> Target {
        let ColumnType { physical, logical, .. } = *self.column_type();
        match physical {
            Physical::I128 | Physical::U128 | Physical::I256 => Target::Refused,
            Physical::LongDouble if !array::LONG_DOUBLE => Target::Refused,
            Physical::FixedBytes
                if self.host == Host::Pandas
                    && !self.is_clongdouble()
                    && !self.is_of_pandas(PANDAS_INTERVAL) =>
            {
                Target::Arrow(0)
            }
            _ if self.is_of_pandas(PANDAS_SPARSE)
                && logical != Logical::Categorical
                && (physical.width().is_some() || physical == Physical::Bool) =>
            {
                // Only damage makes values missing here.
                let is_time = matches!(logical, Logical::Timestamp | Logical::Duration);
                self.array(self.has_missing() && !is_time, is_time.then_some(i64::MIN as u64))
            }
            _ => self.target_of_logical(),
        }
    }

    fn target_of_logical(&self) -> Target {
        let ColumnType { physical, logical, .. } = *self.column_type();
        let (is_pandas, has_missing) = (self.host == Host::Pandas, self.has_missing());
        match logical {
            Logical::Categorical if physical.is_signed() => {
                let width = physical.width().unwrap_or(8);
                self.array(false, Some(u64::MAX >> (64 - 8 * width)))
            }
            Logical::Categorical => self.array(has_missing, None),
            Logical::Timestamp | Logical::Duration => self.block(Some(i64::MIN as u64)),
            Logical::Date if physical == Physical::I64 => self.block(Some(i64::MIN as u64)),
            Logical::Date => self.array(has_missing, None),
            Logical::Time if is_pandas => Target::Arrow(0),
            Logical::Time => self.array(has_missing, None),
            Logical::Period if is_pandas => self.array(false, Some(i64::MIN as u64)),
            Logical::Period | Logical::Interval if !is_pandas => Target::Refused,
            Logical::Uuid | Logical::Json | Logical::Extension | Logical::Interval
                if is_pandas && self.host_variant != PANDAS_INTERVAL =>
            {
                Target::Arrow(if physical.is_var() { format::LARGE } else { 0 })
            }
            _ => self.target_of_physical(),
        }
    }

    fn target_of_physical(&self) -> Target {
        let ColumnType { physical, missing, .. } = *self.column_type();
        match physical {
            Physical::Null => Target::Null,
            Physical::Utf8 | Physical::Binary => Target::Arrow(format::LARGE),
            // Columns of one length may have different dtypes, so they share no block.
            Physical::FixedBytes if self.host == Host::Numpy || !self.is_clongdouble() => {
                self.array(self.has_missing(), None)
            }
            _ if self.is_of_pandas(PANDAS_MASKED) => self.array(true, None),
            _ if !self.has_missing() => self.block(None),
            physical => match nan(physical) {
                Some(nan) if missing != Missing::NA => self.block(Some(nan)),
                _ => self.array(true, None),
            },
        }
    }

    fn block(&self, sentinel: Option<u64>) -> Target {
        let zone = self.info.detail.as_ref().and_then(|detail| detail.as_str());
        let is_zoneinfo = self.is_of_pandas(PANDAS_ZONEINFO);
        let zone = zone.map(|zone| if is_zoneinfo { format!("{zone} of zoneinfo") } else { zone.to_owned() });
        let mut dtype = self.dtype();
        // Values are decoded in native order. Python swaps their bytes.
        if self.is_big() && self.column_type().physical.width() > Some(1) {
            dtype.insert(0, '>');
        }
        Target::Block { dtype, zone, sentinel }
    }

    fn array(&self, mask: bool, sentinel: Option<u64>) -> Target {
        Target::Array { dtype: self.dtype(), mask, sentinel }
    }

    fn dtype(&self) -> String {
        if self.is_clongdouble() { "c32".to_owned() } else { array::dtype(self.column_type()) }
    }

    fn column_type(&self) -> &ColumnType {
        &self.info.record.column_type
    }

    fn has_missing(&self) -> bool {
        self.info.record.n_missing > 0
    }

    /// Whether pandas wrote the column with this host variant.
    fn is_of_pandas(&self, host_variant: u8) -> bool {
        self.host == Host::Pandas && self.host_variant == host_variant
    }

    /// Whether the fixed bytes are complex `longdouble` that this processor has too.
    fn is_clongdouble(&self) -> bool {
        let is_variant = match self.host {
            Host::Pandas => self.host_variant == PANDAS_CLONGDOUBLE,
            _ => self.host_variant & !NUMPY_BIG == NUMPY_CLONGDOUBLE,
        };
        let column_type = self.column_type();
        let is_fixed = column_type.physical == Physical::FixedBytes && column_type.value_len == 32;
        array::LONG_DOUBLE && is_variant && is_fixed
    }

    fn is_big(&self) -> bool {
        match self.host {
            Host::Pandas => self.host_variant == PANDAS_BIG,
            _ => self.host_variant & NUMPY_BIG != 0,
        }
    }
}

/// The bits of the default NaN of a float type.
fn nan(physical: Physical) -> Option<u64> {
    match physical {
        Physical::F16 => Some(0x7e00),
        Physical::F32 => Some(u64::from(f32::NAN.to_bits())),
        Physical::F64 => Some(f64::NAN.to_bits()),
        _ => None,
    }
}

/// Columns that one request decodes: one column, or the members of a bundle in order.
pub struct Unit {
    /// The column of the file that is read.
    pub column: u64,
    /// The positions of its columns among the requested ones, in order.
    pub members: Vec<usize>,
    pub target: Target,
    pub column_type: ColumnType,
    pub has_missing: bool,
    /// The position of the first member, whose type is used for all.
    pub first: usize,
}

/// Groups the requested columns into units. The first columns of a storage column form one unit, as
/// their values are one range of it.
pub fn units(infos: &[ColumnInfo], targets: Vec<Target>, whole: bool, n_rows: u64) -> Vec<Unit> {
    let mut bundles: HashMap<u64, Vec<usize>> = HashMap::new();
    if whole {
        for (i, info) in infos.iter().enumerate() {
            if let Some(storage) = info.record.storage {
                bundles.entry(storage).or_default().push(i);
            }
        }
    }
    // The request has to name its columns in order, from the first one on, without a gap.
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
            (Target::Block { dtype, zone, sentinel: None }, true) => {
                Target::Block { dtype, zone, sentinel: nan(info.record.column_type.physical) }
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

/// Whether two columns of one type can be decoded together. Their sentinels may differ, as a column
/// without missing values has none.
fn same(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Block { dtype: a, zone: x, .. }, Target::Block { dtype: b, zone: y, .. }) => {
            a == b && x == y
        }
        _ => a == b,
    }
}
