//! Records of columns (`docs/format/columns.md`).

use crate::bytes::{NONE, Reader, put, put_optional};
use crate::error::{Error, Result};
use crate::types::{ColumnType, Logical, Missing, Physical, Unit};

const ORDERED: u32 = 1;
const BUNDLED: u32 = 2;
const BUNDLE: u32 = 4;
const CHILD: u32 = 8;
const FLAGS: u32 = ORDERED | BUNDLED | BUNDLE | CHILD;

/// A column: its name, type and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnRecord {
    /// An id that no other column ever has.
    pub id: u64,
    /// The offset of the name in the names heap.
    pub name_at: u64,
    /// Bytes of the name.
    pub name_len: u32,
    /// The type.
    pub column_type: ColumnType,
    /// Whether its values are in a storage column.
    pub is_bundled: bool,
    /// Whether it is a storage column.
    pub is_bundle: bool,
    /// The number of values.
    pub n_values: u64,
    /// The storage column of a bundled column.
    pub storage: Option<u64>,
    /// The column that it is a child of.
    pub parent: Option<u64>,
    /// The index of its first value in the storage column; otherwise 0.
    pub first_value: u64,
    /// The first of its children.
    pub first_child: Option<u64>,
    /// The number of children.
    pub n_children: u32,
    /// The column that holds the categories.
    pub dictionary: Option<u64>,
    /// The node of a detail, for example the time zone.
    pub detail: Option<u64>,
    /// The number of missing values.
    pub n_missing: u64,
    /// The node of the user's metadata.
    pub metadata: Option<u64>,
    /// The number of its first record in the section *ranges*; none without blocks, and in files of
    /// 0.2.
    pub first_range: Option<u64>,
    /// The node of the host's own description of the type.
    pub host_detail: Option<u64>,
}

/// The byte of a record that no field uses.
const RESERVED_AT: usize = 71;
/// The offset of the field *first range*.
const FIRST_RANGE_AT: usize = 104;

impl ColumnRecord {
    /// Bytes of the record.
    pub const LEN: usize = 120;

    /// A column without a name, in no relation to other columns, without missing values and blocks.
    pub const fn plain(id: u64, column_type: ColumnType, n_values: u64) -> Self {
        Self {
            id,
            name_at: 0,
            name_len: 0,
            column_type,
            is_bundled: false,
            is_bundle: false,
            n_values,
            storage: None,
            parent: None,
            first_value: 0,
            first_child: None,
            n_children: 0,
            dictionary: None,
            detail: None,
            n_missing: 0,
            metadata: None,
            first_range: None,
            host_detail: None,
        }
    }

    /// Appends the record.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let kind = &self.column_type;
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let flags =
            flag(kind.ordered, ORDERED) | flag(self.is_bundled, BUNDLED) | flag(self.is_bundle, BUNDLE);
        let flags = flags | flag(self.parent.is_some(), CHILD);
        put!(out, self.id, self.name_at, self.name_len);
        put!(out, kind.physical.code(), kind.logical.code(), kind.unit.code(), kind.missing.code());
        put!(out, kind.value_len, flags, self.n_values);
        put_optional(out, self.storage.or(self.parent));
        put!(out, self.first_value);
        put_optional(out, self.first_child);
        put!(out, self.n_children, kind.precision, kind.scale, kind.host_variant, 0u8);
        put_optional(out, self.dictionary);
        put_optional(out, self.detail);
        put!(out, self.n_missing);
        put_optional(out, self.metadata);
        put_optional(out, self.first_range);
        put_optional(out, self.host_detail);
    }

    /// The offset and the length of the names in the first bytes of a record.
    pub fn name_of([_, _, _, _, _, _, _, _, at @ .., a, b, c, d]: &[u8; 20]) -> (u64, u32) {
        (u64::from_le_bytes(*at), u32::from_le_bytes([*a, *b, *c, *d]))
    }

    /// Clears the first range in the bytes of a record, whose type may be unknown.
    pub fn clear_first_range(bytes: &mut [u8; Self::LEN]) {
        bytes.iter_mut().skip(FIRST_RANGE_AT).take(8).for_each(|byte| *byte = u8::MAX);
    }

    /// Parses the record in exactly these bytes. An unknown type is an error of kind *unsupported*
    /// for this column alone.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a column record")?;
        let (id, name_at, name_len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let codes = reader.array::<4>()?;
        let (value_len, flags, n_values) = (reader.u32()?, reader.u32()?, reader.u64()?);
        let (related, first_value, first_child) = (reader.optional()?, reader.u64()?, reader.optional()?);
        let (n_children, precision, scale, host_variant) =
            (reader.u32()?, reader.u8()?, reader.i8()?, reader.u8()?);
        let reserved = reader.u8()?;
        let (dictionary, detail, n_missing) = (reader.optional()?, reader.optional()?, reader.u64()?);
        let (metadata, first_range, host_detail) =
            (reader.optional()?, reader.optional()?, reader.optional()?);
        let (physical, logical, unit, missing) = known(codes)?;
        if flags & !FLAGS != 0 || reserved != 0 {
            return Err(Unknown { codes, flags: flags & !FLAGS, reserved }.error());
        }
        let ordered = flags & ORDERED != 0;
        let column_type = ColumnType {
            physical,
            logical,
            unit,
            missing,
            value_len,
            ordered,
            precision,
            scale,
            host_variant,
        };
        let record = Self {
            id,
            name_at,
            name_len,
            column_type,
            is_bundled: flags & BUNDLED != 0,
            is_bundle: flags & BUNDLE != 0,
            n_values,
            storage: related.filter(|_| flags & CHILD == 0),
            parent: related.filter(|_| flags & CHILD != 0),
            first_value,
            first_child,
            n_children,
            dictionary,
            detail,
            n_missing,
            metadata,
            first_range,
            host_detail,
        };
        let is_child = flags & CHILD != 0;
        if is_child && (related.is_none() || flags & (BUNDLED | BUNDLE) != 0) {
            return Err(Error::corrupt("a child has no parent, or is bundled"));
        }
        match record.problem() {
            None => Ok(record),
            Some(problem) => Err(Error::corrupt(problem)),
        }
    }

    /// The record of a column whose type or flags are not known here; none for other columns. Only
    /// id, name, the number of values, the number of missing values and the first range come from
    /// the file.
    pub fn parse_unknown(bytes: &[u8]) -> Result<Option<(Self, Unknown)>> {
        let mut reader = Reader::exact(bytes, Self::LEN, "a column record")?;
        let (id, name_at, name_len) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let codes = reader.array::<4>()?;
        let (_, flags, n_values) = (reader.u32()?, reader.u32()?, reader.u64()?);
        let reserved = bytes.get(RESERVED_AT).copied().unwrap_or(0);
        if known(codes).is_ok() && flags & !FLAGS == 0 && reserved == 0 {
            return Ok(None);
        }
        let number = |at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |n| u64::from_le_bytes(*n))
        };
        let (n_missing, first_range) = (number(88), number(FIRST_RANGE_AT));
        if name_at.checked_add(name_len.into()).is_none() {
            return Err(Error::corrupt("a number in a column record is too large"));
        }
        let record = Self {
            name_at,
            name_len,
            n_missing: n_missing.min(n_values),
            first_range: (first_range != NONE).then_some(first_range),
            ..Self::plain(id, ColumnType::plain(Physical::Null), n_values)
        };
        Ok(Some((record, Unknown { codes, flags: flags & !FLAGS, reserved })))
    }

    /// A contradiction in the record, if there is one.
    fn problem(&self) -> Option<&'static str> {
        if let Some(problem) = self.column_type.problem() {
            return Some(problem);
        }
        let categorical = self.column_type.logical == Logical::Categorical;
        if categorical != self.dictionary.is_some() {
            return Some("a column has a dictionary if and only if it is categorical");
        }
        if self.is_bundled != self.storage.is_some() || (!self.is_bundled && self.first_value != 0) {
            return Some("a column has a storage column if and only if it is bundled");
        }
        if (self.is_bundled && self.is_bundle) || ((self.is_bundled || self.is_bundle) && categorical) {
            return Some("a column of this type cannot be bundled");
        }
        if self.is_bundle && self.name_len != 0 {
            return Some("a storage column has a name");
        }
        if let Some(problem) = self.column_type.children_problem(self.n_children) {
            return Some(problem);
        }
        if self.first_child.is_some() != (self.n_children > 0) {
            return Some("a column has a first child if and only if it has children");
        }
        let is_nested = self.column_type.physical.is_nested();
        if is_nested && (self.is_bundled || self.is_bundle) {
            return Some("a column of this type cannot be bundled");
        }
        let has_no_missing = matches!(self.column_type.physical, Physical::Union | Physical::RunEnd);
        if has_no_missing && self.n_missing > 0 {
            return Some("a union or run-end column has missing values of its own");
        }
        if self.n_missing > self.n_values {
            return Some("a column has more missing values than values");
        }
        if self.column_type.physical == Physical::Null && self.n_missing != self.n_values {
            return Some("a column of type null has values, by its number of missing ones");
        }
        if self.name_at.checked_add(self.name_len.into()).is_none()
            || self.first_value.checked_add(self.n_values).is_none()
            || self.first_child.is_some_and(|first| first.checked_add(self.n_children.into()).is_none())
        {
            return Some("a number in a column record is too large");
        }
        None
    }
}

/// The type codes, if all are known.
#[inline]
fn known(codes: [u8; 4]) -> Result<(Physical, Logical, Unit, Missing)> {
    let [physical, logical, unit, missing] = codes;
    let known = (
        Physical::from_code(physical),
        Logical::from_code(logical),
        Unit::from_code(unit),
        Missing::from_code(missing),
    );
    match known {
        (Some(physical), Some(logical), Some(unit), Some(missing)) => Ok((physical, logical, unit, missing)),
        _ => Err(Unknown { codes, flags: 0, reserved: 0 }.error()),
    }
}

/// The type codes, flags and reserved byte of a column record that are not all known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    codes: [u8; 4],
    flags: u32,
    reserved: u8,
}

impl Unknown {
    /// The error *unsupported* for this column.
    #[cold]
    pub fn error(self) -> Error {
        let [physical, logical, unit, missing] = self.codes;
        Error::unsupported(format!(
            "type of the column is not known here (physical {physical}, logical {logical}, unit {unit}, \
             missing {missing}, flags {:#x}, byte {RESERVED_AT} {})",
            self.flags, self.reserved
        ))
        .advise("update Entasis, or read other columns")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Kind;
    use crate::testing::exact;

    fn plain() -> ColumnRecord {
        ColumnRecord {
            name_at: 10,
            name_len: 5,
            n_missing: 3,
            metadata: Some(8),
            first_range: Some(6),
            ..ColumnRecord::plain(4, ColumnType::plain(Physical::F64), 100)
        }
    }

    fn bytes_of(record: &ColumnRecord) -> Vec<u8> {
        let mut out = Vec::new();
        record.emit(&mut out);
        out
    }

    #[test]
    fn layout() {
        let bytes = bytes_of(&ColumnRecord { detail: Some(9), ..plain() });
        assert_eq!(bytes.len(), ColumnRecord::LEN);
        assert_eq!(bytes[16..24], [5, 0, 0, 0, 12, 0, 0, 0]);
        assert_eq!(bytes[40..48], [255; 8]);
        assert_eq!(bytes[80..88], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[96..112], [8, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[112..], [255; 8]);
        assert!(ColumnRecord::parse_unknown(&bytes).unwrap().is_none());
    }

    #[test]
    fn unknown_types_are_unsupported() {
        for (at, code) in [(20, 29), (20, 255), (21, 13), (22, 14), (23, 6)] {
            let mut bytes = bytes_of(&plain());
            bytes[at] = code;
            assert_eq!(ColumnRecord::parse(&bytes).unwrap_err().kind(), Kind::Unsupported);
            let (record, codes) = ColumnRecord::parse_unknown(&bytes).unwrap().unwrap();
            assert_eq!((record.name_at, record.name_len, record.n_values), (10, 5, plain().n_values));
            assert_eq!(
                codes,
                Unknown { codes: [bytes[20], bytes[21], bytes[22], bytes[23]], flags: 0, reserved: 0 }
            );
            bytes[8..16].fill(0xFF);
            assert_eq!(ColumnRecord::parse_unknown(&bytes).unwrap_err().kind(), Kind::Corrupt);
        }
        let mut bytes = bytes_of(&plain());
        bytes[28] = 16;
        assert_eq!(ColumnRecord::parse(&bytes).unwrap_err().kind(), Kind::Unsupported);
        assert_eq!(ColumnRecord::parse_unknown(&bytes).unwrap().unwrap().1.flags, 16);
    }

    #[test]
    fn contradictions() {
        let codes = ColumnType { logical: Logical::Categorical, ..ColumnType::plain(Physical::I8) };
        let bad = |record: ColumnRecord| {
            assert_eq!(ColumnRecord::parse(&bytes_of(&record)).unwrap_err().kind(), Kind::Corrupt);
        };
        bad(ColumnRecord { dictionary: Some(1), ..plain() });
        bad(ColumnRecord { column_type: codes, ..plain() });
        bad(ColumnRecord { is_bundled: true, ..plain() });
        bad(ColumnRecord { storage: Some(1), ..plain() });
        bad(ColumnRecord { first_value: 1, ..plain() });
        bad(ColumnRecord { is_bundle: true, ..plain() });
        bad(ColumnRecord { is_bundle: true, is_bundled: true, name_len: 0, storage: Some(1), ..plain() });
        bad(ColumnRecord {
            column_type: codes,
            dictionary: Some(2),
            is_bundled: true,
            storage: Some(1),
            ..plain()
        });
        bad(ColumnRecord { column_type: ColumnType { value_len: 1, ..plain().column_type }, ..plain() });
        bad(ColumnRecord { column_type: ColumnType::fixed(262_145), ..plain() });
        bad(ColumnRecord { n_children: 1, ..plain() });
        bad(ColumnRecord { first_child: Some(1), ..plain() });
        let nested = |physical, first_child, n_children| ColumnRecord {
            column_type: ColumnType::plain(physical),
            first_child,
            n_children,
            n_missing: 0,
            ..plain()
        };
        let good =
            |record: ColumnRecord| assert_eq!(ColumnRecord::parse(&bytes_of(&record)).unwrap(), record);
        for physical in [Physical::List, Physical::Map, Physical::FixedSizeList, Physical::RunEnd] {
            good(nested(physical, Some(7), 1));
            bad(nested(physical, None, 0));
            bad(nested(physical, None, 1));
            bad(nested(physical, Some(7), 2));
        }
        good(nested(Physical::Struct, None, 0));
        good(ColumnRecord { parent: Some(0), ..plain() });
        bad(ColumnRecord { parent: Some(0), is_bundle: true, name_len: 0, ..plain() });
        bad(ColumnRecord { parent: Some(0), is_bundled: true, ..plain() });
        bad(ColumnRecord { parent: Some(0), first_value: 1, ..plain() });
        good(nested(Physical::Struct, Some(7), 1000));
        bad(nested(Physical::Struct, Some(7), 0));
        bad(nested(Physical::Struct, Some(u64::MAX - 1), 3));
        good(nested(Physical::Union, Some(7), 129));
        bad(nested(Physical::Union, Some(7), 130));
        bad(nested(Physical::Union, None, 0));
        good(nested(Physical::ValueColumn, Some(7), 256));
        bad(nested(Physical::ValueColumn, Some(7), 257));
        good(ColumnRecord { n_missing: 3, ..nested(Physical::ValueColumn, Some(7), 1) });
        bad(ColumnRecord { n_missing: 3, ..nested(Physical::Union, Some(7), 1) });
        bad(ColumnRecord { n_missing: 3, ..nested(Physical::RunEnd, Some(7), 1) });
        bad(ColumnRecord { is_bundle: true, name_len: 0, ..nested(Physical::Struct, None, 0) });
        bad(ColumnRecord { n_missing: 101, ..plain() });
        let null = ColumnType::plain(Physical::Null);
        bad(ColumnRecord { column_type: null, n_missing: 99, ..plain() });
        good(ColumnRecord { column_type: null, n_missing: 100, ..plain() });
        bad(ColumnRecord { name_at: u64::MAX, ..plain() });
        bad(ColumnRecord { first_value: u64::MAX, is_bundled: true, storage: Some(1), ..plain() });
        let mut reserved = bytes_of(&plain());
        reserved[71] = 1;
        assert_eq!(ColumnRecord::parse(&reserved).unwrap_err().kind(), Kind::Unsupported);
        let (record, unknown) = ColumnRecord::parse_unknown(&reserved).unwrap().unwrap();
        assert_eq!((record.id, record.n_values, unknown.reserved), (4, 100, 1));
    }

    proptest! {
        #[test]
        fn records_are_exact(id: u64, name_at in 0u64..1 << 50, name_len: u32, physical in 0usize..21, missing in 0usize..6,
                             n_values in 0u64..1 << 50, missing_part in 0u64..1 << 50, variety in 0..6, host_variant: u8,
                             ordered: bool, first_value in 0u64..1 << 50, detail in prop::option::of(0u64..1 << 50), host_detail in prop::option::of(0u64..1 << 50)) {
            let physical = Physical::ALL[physical];
            let column_type =
                ColumnType { missing: Missing::ALL[missing], host_variant, ..ColumnType::plain(physical) };
            let n_missing = if physical == Physical::Null { n_values } else { missing_part.min(n_values) };
            let value_len = if physical == Physical::FixedBytes { (id % 262_145) as u32 } else { 0 };
            let column_type = ColumnType { value_len, ..column_type };
            let mut record =
                ColumnRecord { id, name_at, name_len, column_type, n_values, n_missing, detail, host_detail, ..plain() };
            match variety {
                0 => record = ColumnRecord { is_bundled: true, storage: Some(id ^ 1), first_value, ..record },
                1 => record = ColumnRecord { is_bundle: true, name_len: 0, ..record },
                2 if physical.is_integer() => {
                    record.column_type.logical = Logical::Categorical;
                    record.column_type.ordered = ordered;
                    record.dictionary = Some(first_value);
                }
                3 if physical == Physical::I64 => {
                    record.column_type.logical = Logical::Duration;
                    record.column_type.unit = Unit::Nanosecond;
                }
                4 => record.column_type = ColumnType {
                    host_variant,
                    ..ColumnType::decimal(1 + (id % 76) as u8, name_at as i8).unwrap()
                },
                _ => {}
            }
            prop_assume!(record.storage != Some(u64::MAX));
            exact(&record, ColumnRecord::emit, ColumnRecord::parse);
        }

        #[test]
        fn any_bytes(bytes in prop::array::uniform30(any::<[u8; 4]>())) {
            let _ = ColumnRecord::parse(bytes.as_flattened());
        }
    }
}
