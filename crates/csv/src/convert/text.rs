//! Fields to strings.

use entasis::Result;

use super::{Meaning, bitmap, note_missing};
use crate::dialect::Dialect;
use crate::fields::Column;
use crate::piece::{Facts, Piece, TextLayout, buffer};
use crate::strict::unquote;
use crate::types::Type;

/// Strings: where they are missing, and their bytes.
pub(super) fn text(column: &Column<'_>, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    match meaning.layout {
        TextLayout::Offsets => offsets(column, meaning, misfits),
        TextLayout::Views => views(column, meaning, misfits),
    }
}

/// A field of a text column.
enum TextField {
    Missing,
    NotUtf8,
    /// As it is.
    Plain(usize, usize),
    /// Quoted, or with escapes.
    Quoted(usize, usize),
}

#[inline(always)]
fn text_field(column: &Column<'_>, row: usize, meaning: &Meaning) -> TextField {
    let (mut start, mut end) = column.get(row);
    if meaning.strips {
        (start, end) = stripped(column.text, start, end);
    }
    if start >= end {
        return TextField::Missing;
    }
    if !column.is_utf8 && simdutf8::basic::from_utf8(&column.text[start..end]).is_err() {
        return TextField::NotUtf8;
    }
    let is_quoted = Some(column.text[start]) == meaning.dialect.quote;
    if meaning.misses_in_text {
        // Where quotes say nothing, the word may have some.
        let has_ends = is_quoted && !meaning.quotes_mean_text && end - start > 1;
        let field = if has_ends { &column.text[start + 1..end - 1] } else { &column.text[start..end] };
        if meaning.missing.iter().any(|word| word == field) {
            return TextField::Missing;
        }
    }
    if is_quoted || meaning.dialect.escape.is_some() {
        return TextField::Quoted(start, end);
    }
    TextField::Plain(start, end)
}

/// A field without the blanks at its ends.
#[inline(always)]
pub fn stripped(text: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && matches!(text[start], b' ' | b'\t') {
        start += 1;
    }
    while start < end && matches!(text[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    (start, end)
}

/// Whether a string is missing.
pub fn has_missing(column: &Column<'_>, meaning: &Meaning) -> bool {
    (0..column.len()).any(|row| is_missing_text(column, row, meaning))
}

/// Whether a string is not missing.
pub fn has_values(column: &Column<'_>, meaning: &Meaning) -> bool {
    (0..column.len()).any(|row| !is_missing_text(column, row, meaning))
}

fn is_missing_text(column: &Column<'_>, row: usize, meaning: &Meaning) -> bool {
    let (start, end) = column.get(row);
    let has_words = meaning.misses_in_text || meaning.strips;
    start >= end || (has_words && matches!(text_field(column, row, meaning), TextField::Missing))
}

/// Appends the text of a quoted field.
fn append_unquoted(field: &[u8], dialect: &Dialect, bytes: &mut Vec<u8>) {
    let (Some(quote), None) = (dialect.quote, dialect.escape) else {
        return unquote(field, dialect, bytes);
    };
    let mut rest = &field[1..];
    while let Some(at) = memchr::memchr(quote, rest) {
        let after = &rest[at + 1..];
        if after.first() != Some(&quote) {
            // The closing quote. Text after it is taken as it is.
            bytes.extend_from_slice(&rest[..at]);
            rest = after;
            break;
        }
        bytes.extend_from_slice(&rest[..=at]);
        rest = &after[1..];
    }
    bytes.extend_from_slice(rest);
}

fn offsets(column: &Column<'_>, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    let n = column.len();
    let mut values = buffer(8 * (n + 1))?;
    let offsets: &mut [i64] = bytemuck::cast_slice_mut(&mut values);
    let mut bytes = Bytes::with_capacity(text_len(column))?;
    let mut validity = Vec::new();
    for (group, offsets) in offsets[1..].chunks_mut(64).enumerate() {
        column.prefetch(64 * group..64 * group + 64);
        let mut missing = 0u64;
        for (i, offset) in offsets.iter_mut().enumerate() {
            match text_field(column, 64 * group + i, meaning) {
                TextField::Missing => missing |= 1 << i,
                TextField::NotUtf8 => {
                    missing |= 1 << i;
                    misfits.push(64 * group + i);
                }
                TextField::Plain(start, end) => bytes.push(column.text, start, end),
                TextField::Quoted(start, end) => {
                    append_unquoted(&column.text[start..end], &meaning.dialect, &mut bytes.0);
                }
            }
            *offset = bytes.0.len() as i64;
        }
        note_missing(&mut validity, group, missing);
    }
    let (bytes, validity) = (bytes.finish()?, bitmap(&validity, n)?);
    Ok(Piece { of: Type::Text, n, values, bytes, validity, facts: Facts::default() })
}

fn views(column: &Column<'_>, meaning: &Meaning, misfits: &mut Vec<usize>) -> Result<Piece> {
    let n = column.len();
    let mut values = buffer(16 * n)?;
    let views: &mut [[u8; 16]] = bytemuck::cast_slice_mut(&mut values);
    let mut bytes = Bytes::with_capacity(0)?;
    let mut validity = Vec::new();
    let mut memory = Vec::new();
    for (group, views) in views.chunks_mut(64).enumerate() {
        column.prefetch(64 * group..64 * group + 64);
        let mut missing = 0u64;
        for (i, view) in views.iter_mut().enumerate() {
            match text_field(column, 64 * group + i, meaning) {
                TextField::Missing => missing |= 1 << i,
                TextField::NotUtf8 => {
                    missing |= 1 << i;
                    misfits.push(64 * group + i);
                }
                TextField::Plain(start, end) => *view = bytes.view(column.text, start, end),
                TextField::Quoted(start, end) => {
                    memory.clear();
                    append_unquoted(&column.text[start..end], &meaning.dialect, &mut memory);
                    let len = memory.len();
                    memory.resize(len + crate::values::PADDING, 0);
                    *view = bytes.view(&memory, 0, len);
                }
            }
        }
        note_missing(&mut validity, group, missing);
    }
    let (bytes, validity) = (bytes.finish()?, bitmap(&validity, n)?);
    Ok(Piece { of: Type::Text, n, values, bytes, validity, facts: Facts::default() })
}

/// The most bytes that the strings of a column have.
fn text_len(column: &Column<'_>) -> usize {
    let len = |row| {
        let (start, end) = column.get(row);
        end.wrapping_add(1).saturating_sub(start + 1)
    };
    (0..column.len()).map(len).sum()
}

/// Bytes of strings, one after the other.
struct Bytes(Vec<u8>);

impl Bytes {
    fn with_capacity(len: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve(len + 16).map_err(|_| entasis::Error::out_of_memory(len, "strings"))?;
        Ok(Self(bytes))
    }

    /// Appends `text[start..end]`.
    #[inline(always)]
    fn push(&mut self, text: &[u8], start: usize, end: usize) {
        let len = end - start;
        if len <= 16
            && let Some(sixteen) = text[start..].first_chunk::<16>()
        {
            // One copy of a fixed length is several times faster than one of any length.
            let to = self.0.len() + len;
            self.0.extend_from_slice(sixteen);
            self.0.truncate(to);
            return;
        }
        self.0.extend_from_slice(&text[start..end]);
    }

    /// The view of `text[start..end]`, whose bytes are appended if they do not fit in it.
    #[inline(always)]
    fn view(&mut self, text: &[u8], start: usize, end: usize) -> [u8; 16] {
        let len = end - start;
        if len <= 12
            && let Some(twelve) = text[start..].first_chunk::<16>()
        {
            // Bytes after the string are zeros.
            let word = u128::from_le_bytes(*twelve) & ((1u128 << (8 * len)) - 1);
            return (word << 32 | len as u128).to_le_bytes();
        }
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(len as u32).to_le_bytes());
        view[4..8].copy_from_slice(&text[start..start + 4]);
        view[12..].copy_from_slice(&(self.0.len() as u32).to_le_bytes());
        self.0.extend_from_slice(&text[start..end]);
        view
    }

    fn finish(self) -> Result<entasis::Buffer> {
        let mut bytes = buffer(self.0.len())?;
        bytes.copy_from_slice(&self.0);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quoted_fields_lose_their_quotes(field in "\"[ab\"\n]{0,12}") {
            let dialect = Dialect::default();
            let (mut found, mut expected) = (b"x".to_vec(), b"x".to_vec());
            append_unquoted(field.as_bytes(), &dialect, &mut found);
            unquote(field.as_bytes(), &dialect, &mut expected);
            prop_assert_eq!(found, expected);
        }
    }
}
