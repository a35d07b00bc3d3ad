//! Statistics of blocks (`docs/format/columns.md`).

use crate::bytes::{Reader, put};
use crate::error::{Error, Kind, Result};
use crate::features::Version;
use crate::limits::MAX_BLOCK_VALUES;
use crate::types::{Layout, Physical};

/// Facts about a block that filters may use to skip it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Missing values.
    pub n_missing: u32,
    /// Whether `min` and `max` are known.
    pub has_min_max: bool,
    /// Whether a value was cut to fit them.
    pub is_prefix: bool,
    /// Whether no value is less than the one before, without missing values and NaN.
    pub ascending: bool,
    /// Whether no value is greater than the one before, without missing values and NaN.
    pub descending: bool,
    /// Whether some value is NaN.
    pub has_nan: bool,
    /// The number of NaN among the values that are not missing. `None`: not counted, as in 0.2.
    pub n_nan: Option<u32>,
    /// The number of distinct values; 0 when unknown.
    pub n_distinct: u32,
    /// The least value, or a lower bound.
    pub min: [u8; 16],
    /// The greatest value, or its first bytes.
    pub max: [u8; 16],
}

/// The flag *NaN counted*.
const NAN_COUNTED: u16 = 1 << 5;
/// The flags of version 0.2, and those that this release knows.
const KNOWN_FLAGS: [u16; 2] = [0b1_1111, 0b1_1111 | NAN_COUNTED];

impl Statistics {
    /// Bytes of the record.
    pub const LEN: usize = 48;

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let set = [self.has_min_max, self.is_prefix, self.ascending, self.descending, self.has_nan];
        let flags = set.into_iter().rev().fold(0u16, |flags, set| flags << 1 | u16::from(set));
        let counted = if self.n_nan.is_some() { NAN_COUNTED } else { 0 };
        put!(out, self.n_missing, flags | counted, 0u16, self.n_distinct, self.n_nan.unwrap_or(0));
        out.extend_from_slice(&self.min);
        out.extend_from_slice(&self.max);
    }

    /// The record in exactly these bytes, in a generation of this version.
    ///
    /// # Errors
    /// *Corrupt*; *unsupported* for unknown flags and fields.
    #[inline]
    pub fn parse(bytes: &[u8], version: Version) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "statistics")?;
        let (n_missing, flags) = (reader.u32()?, reader.u16()?);
        if flags & !KNOWN_FLAGS[usize::from(version > Version::OLDEST)] != 0 {
            return Err(Error::unsupported(format!("statistics have unknown flags ({flags:#x})")));
        }
        reader.reserved::<2>()?;
        let n_distinct = reader.u32()?;
        let n_nan = if flags & NAN_COUNTED == 0 {
            reader.reserved::<4>()?;
            None
        } else {
            Some(reader.u32()?)
        };
        let (min, max) = (reader.array::<16>()?, reader.array::<16>()?);
        let set = |bit: u16| flags >> bit & 1 == 1;
        let record = Self {
            n_missing,
            has_min_max: set(0),
            is_prefix: set(1),
            ascending: set(2),
            descending: set(3),
            has_nan: set(4),
            n_nan,
            n_distinct,
            min,
            max,
        };
        let without = !record.has_min_max && (record.is_prefix || min != [0; 16] || max != [0; 16]);
        let unordered = record.n_missing != 0 || record.has_nan;
        if n_missing > MAX_BLOCK_VALUES
            || n_distinct > MAX_BLOCK_VALUES
            || n_nan.is_some_and(|n| n > MAX_BLOCK_VALUES || (n > 0) != record.has_nan)
            || without
            || (unordered && (record.ascending || record.descending))
        {
            return Err(Error::corrupt("the statistics of a block contradict themselves"));
        }
        Ok(record)
    }

    /// The parts of the record that filters may use: all, or the number of missing values alone if
    /// this release does not know the flags or has no order for the type.
    ///
    /// # Errors
    /// *Corrupt*.
    pub fn parse_for_filters(bytes: &[u8], of: impl Into<Layout>, version: Version) -> Result<Self> {
        let physical = of.into().physical;
        match Self::parse(bytes, version) {
            Ok(record) if record.has_min_max && !has_order(physical) => {}
            Err(error) if error.kind() == Kind::Unsupported => {}
            known => return known,
        }
        let n_missing = Reader::exact(bytes, Self::LEN, "statistics")?.u32()?;
        Ok(Self { n_missing, ..Self::default() })
    }

    /// The statistics of a block in a file of version 0.2. There, unsigned integers of 128 bits
    /// have minimum, maximum and order of signed ones, so these are left out.
    #[must_use]
    pub fn upgraded_from_0_2(self, of: impl Into<Layout>) -> Self {
        match of.into().physical {
            Physical::U128 => Self {
                has_min_max: false,
                ascending: false,
                descending: false,
                min: [0; 16],
                max: [0; 16],
                ..self
            },
            _ => self,
        }
    }

    /// Checks that a block of `n_values` of this type can have these statistics.
    ///
    /// # Errors
    /// *Corrupt*; *unsupported* for a minimum of a type that has no order.
    pub fn check(&self, of: impl Into<Layout>, n_values: u32) -> Result<()> {
        let of = of.into();
        let physical = of.physical;
        let bound = |bytes: &[u8; 16]| match of.width() {
            _ if physical.is_var() => {
                let [len, rest @ ..] = bytes;
                usize::from(*len) <= rest.len() && rest.iter().skip(usize::from(*len)).all(|byte| *byte == 0)
            }
            None if bytes[0] > 1 => false,
            width => bytes.iter().skip(width.unwrap_or(1)).all(|byte| *byte == 0),
        };
        if self.has_min_max && !has_order(physical) {
            return Err(Error::unsupported("the statistics of a block have an unknown order of its type"));
        }
        let possible = u64::from(self.n_missing) + u64::from(self.n_nan.unwrap_or(0)) <= n_values.into()
            && self.n_distinct <= n_values
            && (physical.is_var() || !self.is_prefix)
            && (physical.is_float()
                || matches!(physical, Physical::Complex64 | Physical::Complex128)
                || !self.has_nan)
            && (matches!(physical, Physical::F32 | Physical::F64) || self.n_nan.is_none())
            && (!self.has_min_max || (bound(&self.min) && bound(&self.max)));
        if possible {
            Ok(())
        } else {
            Err(Error::corrupt("the statistics of a block contradict its type or length"))
        }
    }
}

/// Whether blocks of this type have min and max.
fn has_order(physical: Physical) -> bool {
    use Physical::{Binary, Complex64, Complex128, F16, I128, Null, U128};
    let is_plain = physical.code() <= Binary.code() || matches!(physical, I128 | U128);
    is_plain && !matches!(physical, Null | F16 | Complex64 | Complex128)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::exact;

    #[test]
    fn against_type_and_length() {
        let bytes = |start: &[u8]| {
            let mut out = [0; 16];
            out[..start.len()].copy_from_slice(start);
            out
        };
        let of = |min: &[u8], max: &[u8]| Statistics {
            has_min_max: true,
            min: bytes(min),
            max: bytes(max),
            ..Statistics::default()
        };
        assert!(of(b"\x02ab", b"\x03zzz").check(Physical::Utf8, 1).is_ok());
        assert!(of(b"\x02abc", b"\x03zzz").check(Physical::Utf8, 1).is_err());
        assert!(of(b"\x10", b"\x03zzz").check(Physical::Binary, 1).is_err());
        assert!(of(b"\x0fabcdefghijklmno", b"").check(Physical::Binary, 1).is_ok());
        assert!(of(&[1; 2], &[2; 2]).check(Physical::I16, 1).is_ok());
        assert!(of(&[1; 2], &[2; 2]).check(Physical::I128, 1).is_ok());
        assert!(of(&[1; 2], &[2; 2]).check(Physical::U128, 1).is_ok());
        assert!(of(&[1; 2], &[2; 2]).check(Physical::I256, 1).is_err());
        assert!(of(&[0], &[1]).check(Physical::Bool, 1).is_ok());
        assert!(of(&[1; 2], &[2; 2]).check(Layout::fixed(2), 1).is_err());
        assert!(of(&[1; 3], &[2; 2]).check(Physical::I16, 1).is_err());
        assert!(Statistics { n_missing: 2, ..Statistics::default() }.check(Physical::I16, 1).is_err());
        assert!(Statistics { n_distinct: 2, ..Statistics::default() }.check(Physical::I16, 1).is_err());
        assert!(Statistics { has_nan: true, ..Statistics::default() }.check(Physical::I16, 1).is_err());
        assert!(Statistics { is_prefix: true, ..of(b"", b"") }.check(Physical::F64, 1).is_err());
        let nan = |n_missing, n_nan| Statistics {
            n_missing,
            has_nan: n_nan > 0,
            n_nan: Some(n_nan),
            ..Statistics::default()
        };
        assert!(nan(1, 2).check(Physical::F64, 3).is_ok());
        assert!(nan(1, 3).check(Physical::F64, 3).is_err());
        assert!(nan(0, 0).check(Physical::F16, 3).is_err());
    }

    #[test]
    fn nan_are_counted_from_0_3() {
        let parse = |record: &Statistics, version| {
            let mut bytes = Vec::new();
            record.emit(&mut bytes);
            Statistics::parse(&bytes, version).map_err(|error| error.kind())
        };
        let counted = Statistics { has_nan: true, n_nan: Some(3), ..Statistics::default() };
        assert_eq!(parse(&counted, Version::CURRENT), Ok(counted));
        assert_eq!(parse(&counted, Version::OLDEST), Err(Kind::Unsupported));
        let uncounted = Statistics { n_nan: None, ..counted };
        assert_eq!(parse(&uncounted, Version::OLDEST), Ok(uncounted));
        assert_eq!(parse(&uncounted, Version::CURRENT), Ok(uncounted));
        for (has_nan, n_nan) in [(true, 0), (false, 1), (true, 65_537)] {
            let wrong = Statistics { has_nan, n_nan: Some(n_nan), ..counted };
            assert_eq!(parse(&wrong, Version::CURRENT), Err(Kind::Corrupt));
        }
        let mut bytes = Vec::new();
        Statistics::default().emit(&mut bytes);
        bytes[12] = 1;
        assert_eq!(Statistics::parse(&bytes, Version::CURRENT).unwrap_err().kind(), Kind::Unsupported);
    }

    #[test]
    fn unsigned_integers_of_0_2_have_no_order() {
        let wanted = Statistics { n_missing: 2, n_distinct: 3, ..Statistics::default() };
        let of = Statistics {
            has_min_max: true,
            ascending: true,
            descending: true,
            min: [0xFF; 16],
            max: [0x7F; 16],
            ..wanted
        };
        assert_eq!(of.upgraded_from_0_2(Physical::U128), wanted);
        assert_eq!(of.upgraded_from_0_2(Physical::I128), of);
    }

    proptest! {
        #[test]
        fn records_are_exact(n_missing in 0u32..=65_536, has_min_max: bool, is_prefix: bool, ordered: bool,
                             ascending: bool, descending: bool, has_nan: bool, is_counted: bool,
                             n_nan in 1u32..=65_536, n_distinct in 0u32..=65_536,
                             min: [u8; 16], max: [u8; 16]) {
            let mut record = Statistics { n_missing, has_nan, n_distinct, ..Statistics::default() };
            if has_min_max {
                record = Statistics { has_min_max, is_prefix, min, max, ..record };
            }
            if ordered {
                record = Statistics { ascending, descending, n_missing: 0, has_nan: false, ..record };
            }
            record.n_nan = is_counted.then_some(if record.has_nan { n_nan } else { 0 });
            exact(&record, Statistics::emit, |bytes| Statistics::parse(bytes, Version::CURRENT));
        }
    }
}
