//! Splits strings into categories and codes, and joins them again.

use std::collections::HashMap;

use entasis_format::{ColumnType, Error, Physical, Result, fallible};

use super::VALUES;
use super::numbers::{integer, integer_word};
use super::unfit::{Refusal, Unfit};
use super::values::{Builder, bytes, is_missing};
use crate::frame::Chunk;

/// The code of each row; `None` for a missing value.
pub(in crate::change) type Codes = Vec<Option<u64>>;

/// The codes of a categorical column.
pub(in crate::change) fn codes(chunk: &Chunk, of: &ColumnType) -> Result<Codes> {
    let mut found = fallible::with_capacity(chunk.n, VALUES)?;
    for i in 0..chunk.n {
        let code = match is_missing(chunk, i) {
            true => None,
            false => {
                let code = integer(of.physical, bytes(chunk, i)?).and_then(|code| u64::try_from(code).ok());
                Some(code.ok_or_else(wrong)?)
            }
        };
        fallible::push(&mut found, code, VALUES)?;
    }
    Ok(found)
}

fn wrong() -> Error {
    Error::corrupt("a code is not that of a category")
}

/// The categories of strings, in the order in which they occur, and the codes of the rows.
pub(in crate::change) fn split(text: &Chunk, of: &ColumnType) -> Result<(Chunk, Codes)> {
    let mut known: HashMap<&[u8], u64> = HashMap::new();
    let mut categories = Builder::new(of.layout(), 0)?;
    let mut codes = fallible::with_capacity(text.n, VALUES)?;
    for i in 0..text.n {
        if is_missing(text, i) {
            fallible::push(&mut codes, None, VALUES)?;
            continue;
        }
        let value = bytes(text, i)?;
        let code = match known.get(value) {
            Some(&code) => code,
            None => {
                let code = known.len() as u64;
                categories.push(value)?;
                fallible::insert(&mut known, value, code, VALUES)?;
                code
            }
        };
        fallible::push(&mut codes, Some(code), VALUES)?;
    }
    let mask = fallible::defaults(known.len(), VALUES)?;
    Ok((categories.chunk(mask), codes))
}

/// The strings of a categorical column, as values of the type of its categories.
pub(in crate::change) fn expand(
    chunk: &Chunk,
    of_codes: &ColumnType,
    categories: &Chunk,
    of: &ColumnType,
) -> Result<Chunk> {
    let mut values = Builder::new(of.layout(), chunk.n)?;
    let mut mask: Vec<u8> = fallible::defaults(chunk.n, VALUES)?;
    for (code, missing) in codes(chunk, of_codes)?.into_iter().zip(&mut mask) {
        let category = match code {
            Some(code) => Some(usize::try_from(code).ok().filter(|&i| i < categories.n).ok_or_else(wrong)?),
            None => None,
        };
        match category.filter(|&i| !is_missing(categories, i)) {
            Some(i) => values.push(bytes(categories, i)?)?,
            None => {
                *missing = 1;
                values.push_blank()?;
            }
        }
    }
    Ok(values.chunk(mask))
}

/// For each category of the rows, its code in the file; `None` for one that the file lacks.
pub(in crate::change) fn find(old: &Chunk, new: &Chunk) -> Result<Codes> {
    let key = |chunk, i| if is_missing(chunk, i) { Ok(None) } else { bytes(chunk, i).map(Some) };
    let mut known: HashMap<Option<&[u8]>, u64> = HashMap::new();
    for i in 0..old.n {
        fallible::insert(&mut known, key(old, i)?, i as u64, VALUES)?;
    }
    let mut found = fallible::with_capacity(new.n, VALUES)?;
    for i in 0..new.n {
        fallible::push(&mut found, known.get(&key(new, i)?).copied(), VALUES)?;
    }
    Ok(found)
}

/// The codes of rows as codes of a type. `to` has the new code of each category, or none for a
/// category that the file lacks.
///
/// # Errors
/// A refusal names the first value without a code.
pub(in crate::change) fn with_codes(
    codes: &Codes,
    to: &[Option<u64>],
    categories: &Chunk,
    physical: Physical,
) -> std::result::Result<Chunk, Refusal> {
    let mut values = Builder::new(physical.into(), codes.len())?;
    let mut mask: Vec<u8> = fallible::defaults(codes.len(), VALUES)?;
    for (row, (code, missing)) in codes.iter().zip(&mut mask).enumerate() {
        let Some(code) = code else {
            *missing = 1;
            values.push_blank()?;
            continue;
        };
        let at = usize::try_from(*code).map_err(|_| wrong())?;
        match to.get(at).ok_or_else(wrong)? {
            Some(code) => {
                let word = integer_word(physical, (*code).into());
                values.push(&word.ok_or_else(|| Unfit::of(format!("{} categories", code + 1)))?)?;
            }
            None => return Err(Unfit::text_at(bytes(categories, at)?, row)),
        }
    }
    Ok(values.chunk(mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[Option<&str>]) -> Chunk {
        let mut builder = Builder::new(Physical::Utf8.into(), values.len()).unwrap();
        for value in values {
            match value {
                Some(value) => builder.push(value.as_bytes()).unwrap(),
                None => builder.push_blank().unwrap(),
            }
        }
        builder.chunk(values.iter().map(|value| u8::from(value.is_none())).collect())
    }

    fn shown(chunk: &Chunk) -> Vec<Option<String>> {
        let text = |i| String::from_utf8(bytes(chunk, i).unwrap().to_vec()).unwrap();
        (0..chunk.n).map(|i| (!is_missing(chunk, i)).then(|| text(i))).collect()
    }

    #[test]
    fn strings_become_codes_and_strings_again() {
        let values = [Some("b"), None, Some("a"), Some("b"), Some("")];
        let of = ColumnType::plain(Physical::Utf8);
        let (categories, found) = split(&texts(&values), &of).unwrap();
        assert_eq!(shown(&categories), [Some("b".into()), Some("a".into()), Some(String::new())]);
        assert_eq!(found, [Some(0), None, Some(1), Some(0), Some(2)]);
        let to: Codes = (0..3).map(Some).collect();
        let chunk = with_codes(&found, &to, &categories, Physical::I16).unwrap();
        let of_codes = ColumnType::plain(Physical::I16);
        assert_eq!(codes(&chunk, &of_codes).unwrap(), found);
        let expanded = expand(&chunk, &of_codes, &categories, &of).unwrap();
        assert_eq!(shown(&expanded), values.map(|value| value.map(str::to_owned)));
        assert!(expand(&chunk, &of_codes, &texts(&[Some("b")]), &of).is_err());
    }

    #[test]
    fn unknown_categories_are_refused() {
        let (old, new) = (texts(&[Some("a"), Some("b")]), texts(&[Some("c"), Some("b"), None]));
        let to = find(&old, &new).unwrap();
        assert_eq!(to, [None, Some(1), None]);
        assert!(with_codes(&vec![Some(1), None], &to, &new, Physical::I8).is_ok());
        let refusal = with_codes(&vec![Some(1), Some(0)], &to, &new, Physical::I8);
        let Err(Refusal::Unfit(Unfit { reason: Some(reason) })) = refusal else { panic!() };
        assert_eq!(reason, "\"c\" in row 1");
        let wide = with_codes(&vec![Some(0)], &[Some(200)], &new, Physical::I8);
        assert!(matches!(wide, Err(Refusal::Unfit(_))));
    }
}
