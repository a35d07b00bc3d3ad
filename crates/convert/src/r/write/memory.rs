//! The values of a column: those of a vector of R, or converted ones.

use std::ops::Range;
use std::sync::Arc;

use entasis::{
    Array, Buffer, Chunk, Column, ColumnType, Error, HostRead, HostValidity, HostValues, Result, Unit, Value,
};

use crate::r::Strings;
use crate::r::kind::Kind;
use crate::r::missing::{NA_INTEGER, NA_INTEGER64, na_real};

/// The variant of columns whose missing doubles are the quiet NA.
pub(super) const VARIANT_QUIET: u8 = 2;

/// The memory of a column's values.
pub(super) enum Memory<'a> {
    /// None: the values are in cells.
    Cells,
    Ints(&'a [i32]),
    Doubles(&'a [f64]),
    Complex(&'a [[f64; 2]]),
    Raw(&'a [u8]),
    Strings(&'a Strings, Range<usize>),
    /// Times as counts of a unit.
    Counts(Vec<i64>),
    Days(Vec<i32>),
}

impl Memory<'_> {
    /// The memory of converted values; `None` for lent ones.
    pub(super) fn into_buffer(self) -> Option<Arc<Buffer>> {
        match self {
            Self::Counts(values) => Some(Arc::new(Buffer::of_vec(values))),
            Self::Days(values) => Some(Arc::new(Buffer::of_vec(values))),
            _ => None,
        }
    }
}

/// A column to write.
pub(super) struct Planned<'a> {
    pub name: String,
    pub kind: Kind,
    pub unit: Unit,
    pub zone: Option<String>,
    pub variant: u8,
    /// Which NaN marks missing doubles: 0 none, 1 R's NA, 2 the quiet NA.
    pub na: i32,
    /// The extra column with the levels, and their number.
    pub levels: Option<(usize, u32)>,
    pub is_ordered: bool,
    /// The cell with the values of a list.
    pub cell: Option<u64>,
    pub n: usize,
    pub memory: Memory<'a>,
    /// Whether the codes of encodings are stored even if all are those of UTF-8.
    pub keeps_codes: bool,
}

impl<'a> Planned<'a> {
    /// A column of values other than times, without a name.
    pub(super) fn plain(kind: Kind, n: usize, memory: Memory<'a>) -> Self {
        let (unit, zone, name) = (Unit::None, None, String::new());
        let (variant, na, levels, cell) = (0, 0, None, None);
        let is_ordered = false;
        let keeps_codes = false;
        Self { name, kind, unit, zone, variant, na, levels, is_ordered, cell, n, memory, keeps_codes }
    }

    /// Some of the values.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let memory = match &self.memory {
            Memory::Cells => Memory::Cells,
            Memory::Ints(values) => Memory::Ints(&values[range.clone()]),
            Memory::Doubles(values) => Memory::Doubles(&values[range.clone()]),
            Memory::Complex(values) => Memory::Complex(&values[range.clone()]),
            Memory::Raw(values) => Memory::Raw(&values[range.clone()]),
            Memory::Strings(strings, all) => {
                Memory::Strings(strings, all.start + range.start..all.start + range.end)
            }
            Memory::Counts(values) => Memory::Counts(values[range.clone()].to_vec()),
            Memory::Days(values) => Memory::Days(values[range.clone()].to_vec()),
        };
        let (name, zone) = (self.name.clone(), self.zone.clone());
        Self { name, zone, n: range.len(), memory, ..*self }
    }

    /// With the marker of missing doubles.
    pub(super) fn with_na(mut self, na: i32) -> Self {
        if self.kind == Kind::Double {
            (self.na, self.variant) = (na, if na == 2 { VARIANT_QUIET } else { 0 });
        }
        self
    }

    /// An extra column of strings.
    pub(super) fn text(strings: &'a Strings) -> Self {
        Self::plain(Kind::String, strings.len(), Memory::Strings(strings, 0..strings.len()))
    }

    /// The codes of the encodings of strings, unless all are UTF-8 and need none.
    pub(super) fn codes(&self) -> Option<&'a [u8]> {
        match &self.memory {
            Memory::Strings(strings, range) => strings
                .codes()
                .and_then(|codes| codes.get(range.clone()))
                .filter(|codes| self.keeps_codes || codes.iter().any(|&code| code > 0)),
            _ => None,
        }
    }

    /// The column of the core.
    pub(super) fn column(&self, lend: &dyn Fn(&[u8]) -> HostRead) -> Result<Column> {
        let n_levels = self.levels.map_or(0, |(_, n)| n);
        let column_type = ColumnType {
            ordered: self.is_ordered,
            host_variant: self.variant,
            ..self.kind.column_type(self.unit, n_levels)
        };
        let detail = match self.kind {
            Kind::List => {
                Some(Value::Cell(self.cell.ok_or_else(|| Error::argument("a list without its values"))?))
            }
            _ => self.zone.as_deref().map(Value::from),
        };
        Ok(Column {
            run: None,
            name: self.name.clone(),
            column_type,
            detail,
            host_detail: None,
            dictionary: self.levels.map(|(column, _)| column),
            array: Array::new(self.chunk(n_levels, lend)),
            children: Vec::new(),
        })
    }

    fn chunk(&self, n_levels: u32, lend: &dyn Fn(&[u8]) -> HostRead) -> Chunk {
        let words = |bytes: &[u8], width: isize, sentinel: Option<u64>| {
            let validity = sentinel.map_or(HostValidity::AllValid, HostValidity::Sentinel);
            (HostValues::Words { memory: lend(bytes), stride: width }, validity)
        };
        let na_integer = Some(NA_INTEGER as u32 as u64);
        let na_double = if self.na == 0 { None } else { Some(na_real(self.na == 2)) };
        let (values, validity) = match &self.memory {
            Memory::Cells => (HostValues::Null, HostValidity::AllValid),
            Memory::Ints(values) => {
                let bytes = bytemuck::cast_slice(values);
                match self.kind {
                    Kind::Logical | Kind::Codes => {
                        let (first, n) = if self.kind == Kind::Logical { (0, 2) } else { (1, n_levels) };
                        let validity = HostValidity::Sentinel(NA_INTEGER as u32 as u64);
                        (HostValues::Int32 { memory: lend(bytes), first, n }, validity)
                    }
                    _ => words(bytes, 4, na_integer),
                }
            }
            Memory::Doubles(values) if self.kind == Kind::Integer64 => {
                words(bytemuck::cast_slice(values), 8, Some(NA_INTEGER64 as u64))
            }
            Memory::Doubles(values) => words(bytemuck::cast_slice(values), 8, na_double),
            Memory::Complex(values) => words(bytemuck::cast_slice(values), 16, None),
            Memory::Raw(values) => words(values, 1, None),
            Memory::Counts(values) => words(bytemuck::cast_slice(values), 8, Some(NA_INTEGER64 as u64)),
            Memory::Days(values) => words(bytemuck::cast_slice(values), 4, na_integer),
            Memory::Strings(strings, range) => return strings_chunk(strings, range, lend),
        };
        Chunk { n: self.n, values, validity }
    }
}

/// Some strings of a vector.
pub(super) fn strings_chunk(
    strings: &Strings,
    range: &Range<usize>,
    lend: &dyn Fn(&[u8]) -> HostRead,
) -> Chunk {
    let offsets = strings.offsets().get(range.start..=range.end).unwrap_or(&[0]);
    let values =
        HostValues::Offsets64 { offsets: lend(bytemuck::cast_slice(offsets)), bytes: lend(strings.bytes()) };
    let validity = match strings.validity() {
        Some(bits) => HostValidity::Bits { memory: lend(bits), first_bit: range.start },
        None => HostValidity::AllValid,
    };
    Chunk { n: range.len(), values, validity }
}
