//! The keys of files as columns of their joined table.

use entasis::{
    Array, Chunk, Column, ColumnType, Error, HostValidity, HostValues, Logical, OwnedValues, Physical,
    Result, Unit,
};

use crate::date::days;
use crate::keys::{KeyType, Keys};

/// The columns of keys for files with these numbers of rows. In a table of R, whole numbers are
/// integers of 32 bits if all fit.
///
/// # Errors
/// *Corrupt* if a value is not of its type.
pub(crate) fn columns(keys: &Keys, n_rows: &[u64], is_of_r: bool) -> Result<Vec<Column>> {
    let of = |((name, kind), values): ((&String, &KeyType), &Vec<Option<String>>)| {
        column(name, *kind, values, n_rows, is_of_r).map_err(|e| e.in_column(name))
    };
    keys.names.iter().zip(&keys.types).zip(&keys.values).map(of).collect()
}

fn column(
    name: &str,
    kind: KeyType,
    values: &[Option<String>],
    n_rows: &[u64],
    is_of_r: bool,
) -> Result<Column> {
    let wrong = || Error::corrupt("a key has a value of another type");
    let integers = || values.iter().flatten().map(|text| text.parse::<i64>());
    // The least integer of R is NA.
    let is_short = is_of_r
        && integers()
            .all(|number| number.is_ok_and(|number| number.unsigned_abs() <= i32::MAX.unsigned_abs().into()));
    let column_type = match kind {
        KeyType::Int64 if is_short => ColumnType::plain(Physical::I32),
        KeyType::Int64 => ColumnType::plain(Physical::I64),
        KeyType::Date => {
            ColumnType { logical: Logical::Date, unit: Unit::Day, ..ColumnType::plain(Physical::I32) }
        }
        KeyType::Text => ColumnType::plain(Physical::Utf8),
    };
    let mut chunks = Vec::with_capacity(values.len());
    for (value, &n) in values.iter().zip(n_rows).filter(|(_, n)| **n > 0) {
        let n = usize::try_from(n).map_err(|_| Error::argument("too many rows"))?;
        let text = value.as_deref().unwrap_or_default();
        let values = match (kind, value) {
            (KeyType::Text, _) => OwnedValues::same_text(text, n),
            (_, None) => OwnedValues::same_word(&[0; 8][..column_type.physical.width().unwrap_or(8)], n),
            (KeyType::Int64, _) => {
                let number: i64 = text.parse().map_err(|_| wrong())?;
                OwnedValues::same_word(&number.to_le_bytes()[..if is_short { 4 } else { 8 }], n)
            }
            (KeyType::Date, _) => OwnedValues::same_word(&days(text).ok_or_else(wrong)?.to_le_bytes(), n),
        };
        let validity = match value {
            Some(_) => HostValidity::AllValid,
            None => HostValidity::Owned(vec![1; n].into()),
        };
        chunks.push(Chunk { n, values: HostValues::Owned(values), validity });
    }
    Ok(Column {
        name: name.to_owned(),
        run: None,
        column_type,
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array: Array::from(chunks),
    })
}
