//! Columns of a text as a frame that the core writes.

use entasis::{
    Array, Chunk, Column, ColumnType, Frame, HostRead, HostValidity, HostValues, Logical, Missing, Physical,
    Unit, Value,
};

use crate::piece::{Piece, TextLayout};
use crate::types::Type;

/// A column of lent values.
#[derive(Debug)]
pub struct Lent<'a> {
    /// The name.
    pub name: &'a str,
    /// The type.
    pub of: Type,
    /// The values.
    pub pieces: Vec<Values<'a>>,
    /// The strings that codes stand for, with offsets.
    pub categories: Vec<Values<'a>>,
}

/// Lent values, laid out as in [`Piece`].
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The number of values.
    pub n: usize,
    /// Words, bits, offsets or views.
    pub values: &'a [u8],
    /// The bytes of strings.
    pub bytes: &'a [u8],
    /// One bit for each value.
    pub validity: Option<&'a [u8]>,
}

impl<'a> From<&'a Piece> for Values<'a> {
    fn from(piece: &'a Piece) -> Self {
        let Piece { n, values, bytes, validity, .. } = piece;
        Self { n: *n, values, bytes, validity: validity.as_deref() }
    }
}

/// A frame of columns. `lend` makes the handle of memory; the caller keeps the columns for as long
/// as the frame.
pub fn frame(
    columns: &[Lent<'_>],
    n_rows: u64,
    layout: TextLayout,
    lend: &dyn Fn(&[u8]) -> HostRead,
) -> Frame {
    let mut extra = Vec::new();
    let columns = columns
        .iter()
        .map(|column| {
            let dictionary = (column.of == Type::Categorical).then(|| {
                extra.push(written("", Type::Text, &column.categories, TextLayout::Offsets, lend));
                extra.len() - 1
            });
            Column { dictionary, ..written(column.name, column.of, &column.pieces, layout, lend) }
        })
        .collect();
    Frame { n_rows, columns, extra, host: Value::Null }
}

fn written(
    name: &str,
    of: Type,
    pieces: &[Values<'_>],
    layout: TextLayout,
    lend: &dyn Fn(&[u8]) -> HostRead,
) -> Column {
    let chunks = pieces.iter().map(|piece| chunk(of, piece, layout, lend));
    let (column_type, detail) = column_type(of);
    Column {
        name: name.to_owned(),
        run: None,
        column_type,
        detail,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::from(chunks.collect::<Vec<_>>()),
    }
}

/// The type in a file, and its parameters.
pub fn column_type(of: Type) -> (ColumnType, Option<Value>) {
    let physical = match of {
        Type::Decimal { precision, scale } => {
            let found = ColumnType::decimal(precision, scale.cast_signed());
            let found = found.unwrap_or(ColumnType::plain(Physical::I128));
            return (ColumnType { missing: Missing::Null, ..found }, None);
        }
        Type::Null => Physical::Null,
        Type::Bool => Physical::Bool,
        Type::Int { bytes: 1, is_signed: true } => Physical::I8,
        Type::Int { bytes: 2, is_signed: true } => Physical::I16,
        Type::Int { bytes: 4, is_signed: true } | Type::Date | Type::Categorical => Physical::I32,
        Type::Int { is_signed: true, .. } | Type::Datetime { .. } => Physical::I64,
        Type::Int { bytes: 1, .. } => Physical::U8,
        Type::Int { bytes: 2, .. } => Physical::U16,
        Type::Int { bytes: 4, .. } => Physical::U32,
        Type::Int { .. } => Physical::U64,
        Type::Float { bytes: 4 } => Physical::F32,
        Type::Float { .. } => Physical::F64,
        Type::Text => Physical::Utf8,
    };
    let plain = ColumnType { missing: Missing::Null, ..ColumnType::plain(physical) };
    match of {
        Type::Categorical => (ColumnType { logical: Logical::Categorical, ..plain }, None),
        Type::Date => (ColumnType { logical: Logical::Date, unit: Unit::Day, ..plain }, None),
        Type::Datetime { unit, is_utc } => {
            let zone = is_utc.then(|| Value::from("UTC"));
            (ColumnType { logical: Logical::Timestamp, unit, ..plain }, zone)
        }
        _ => (plain, None),
    }
}

fn chunk(of: Type, piece: &Values<'_>, layout: TextLayout, lend: &dyn Fn(&[u8]) -> HostRead) -> Chunk {
    let memory = || lend(piece.values);
    let values = match of {
        Type::Null => HostValues::Null,
        Type::Bool => HostValues::Bits { memory: memory(), first_bit: 0 },
        Type::Text if layout == TextLayout::Views => {
            HostValues::Views { views: memory(), buffers: vec![lend(piece.bytes)] }
        }
        Type::Text => HostValues::Offsets64 { offsets: memory(), bytes: lend(piece.bytes) },
        of => HostValues::Words { memory: memory(), stride: of.width().unwrap_or(0) as isize },
    };
    let validity = match piece.validity {
        Some(bits) => HostValidity::Bits { memory: lend(bits), first_bit: 0 },
        None => HostValidity::AllValid,
    };
    Chunk { n: piece.n, values, validity }
}
