//! Strings as codes of categories.
//!
//! Each thread numbers the strings of its chunk. The categories of all chunks are joined in their
//! order, so that a category has the number of its first appearance in the text.

use entasis::{DistinctStrings, Result};

use crate::piece::{Facts, Piece, TextLayout, buffer};
use crate::types::Type;

/// Distinct strings in the order of their first appearance.
#[derive(Debug, Default)]
pub struct Categories(DistinctStrings);

impl Categories {
    /// The number of categories.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A category.
    pub fn get(&self, code: usize) -> &[u8] {
        self.0.get(code)
    }

    /// The code of a string, which becomes the last category if it is new.
    ///
    /// # Errors
    /// *Out of memory*, and *argument* for more categories than codes of 32 bits have.
    pub fn code(&mut self, text: &[u8]) -> Result<i32> {
        let code = self.0.code(text).map_err(|error| match self.0.len() {
            DistinctStrings::MOST => error.advise("read the column as plain strings"),
            _ => error,
        });
        code.map(|code| code as i32)
    }

    /// Renumbers the codes of a piece of [`encode`], whose categories are added.
    ///
    /// # Errors
    /// As [`Categories::code`].
    pub fn join(&mut self, piece: &mut Piece) -> Result<()> {
        let new = self.add(piece)?;
        piece.bytes = Default::default();
        let stays = new.iter().enumerate().all(|(old, &new)| old == new as usize);
        if !stays {
            let codes: &mut [i32] = bytemuck::cast_slice_mut(&mut piece.values);
            // Slots of missing values have code 0, even where no string is present.
            codes.iter_mut().for_each(|code| *code = new.get(*code as usize).copied().unwrap_or(0));
        }
        Ok(())
    }

    /// The codes of the categories of a piece, which are added.
    fn add(&mut self, piece: &Piece) -> Result<Vec<i32>> {
        let mut codes = Vec::new();
        let mut rest = &piece.bytes[..];
        while let Some((len, after)) = rest.split_first_chunk() {
            let (text, after) = after.split_at(u64::from_le_bytes(*len) as usize);
            codes.push(self.code(text)?);
            rest = after;
        }
        Ok(codes)
    }

    /// The categories from number `from` on as strings with offsets.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn piece(&self, from: usize) -> Result<Piece> {
        let (bytes, ends) = (self.0.bytes(), self.0.ends());
        let n = ends.len() - from;
        let start = if from == 0 { 0 } else { ends[from - 1] };
        let mut values = buffer(8 * (n + 1))?;
        let offsets: &mut [i64] = bytemuck::cast_slice_mut(&mut values);
        for (offset, end) in offsets[1..].iter_mut().zip(&ends[from..]) {
            *offset = (end - start) as i64;
        }
        let mut own = buffer(bytes.len() - start)?;
        own.copy_from_slice(&bytes[start..]);
        Ok(Piece { of: Type::Text, n, values, bytes: own, validity: None, facts: Facts::default() })
    }
}

/// The codes of strings. `bytes` of the result has the categories, each after its length, until
/// [`Categories::join`] takes them.
///
/// # Errors
/// As [`Categories::code`].
pub fn encode(text: Piece, layout: TextLayout) -> Result<Piece> {
    let mut categories = Categories::default();
    let mut values = buffer(4 * text.n)?;
    let codes: &mut [i32] = bytemuck::cast_slice_mut(&mut values);
    for (i, code) in codes.iter_mut().enumerate() {
        if text.is_present(i) {
            *code = categories.code(string(&text, layout, i))?;
        }
    }
    let mut bytes = buffer(categories.0.bytes().len() + 8 * categories.len())?;
    let mut rest = &mut bytes[..];
    for code in 0..categories.len() {
        let category = categories.get(code);
        let (len, after) = rest.split_at_mut(8);
        len.copy_from_slice(&(category.len() as u64).to_le_bytes());
        let (here, after) = after.split_at_mut(category.len());
        here.copy_from_slice(category);
        rest = after;
    }
    Ok(Piece { of: Type::Categorical, n: text.n, values, bytes, ..text })
}

/// The categories of a piece of [`encode`], as strings with offsets.
///
/// # Errors
/// *Out of memory*.
pub fn of_piece(piece: &Piece) -> Result<Piece> {
    let mut categories = Categories::default();
    categories.add(piece)?;
    categories.piece(0)
}

/// The bytes of string `i`.
pub fn string(piece: &Piece, layout: TextLayout, i: usize) -> &[u8] {
    match layout {
        TextLayout::Offsets => {
            let offsets: &[i64] = bytemuck::cast_slice(&piece.values);
            &piece.bytes[offsets[i] as usize..offsets[i + 1] as usize]
        }
        TextLayout::Views => {
            let view = &piece.values[16 * i..16 * (i + 1)];
            let number = |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
            let len = number(0) as usize;
            if len <= 12 { &view[4..4 + len] } else { &piece.bytes[number(12) as usize..][..len] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Piece {
        let mut all = Categories::default();
        let mut ends = vec![0i64];
        let mut bytes = Vec::new();
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as i64);
            all.code(text.as_bytes()).unwrap();
        }
        let mut values = buffer(8 * ends.len()).unwrap();
        values.copy_from_slice(bytemuck::cast_slice(&ends));
        let mut memory = buffer(bytes.len()).unwrap();
        memory.copy_from_slice(&bytes);
        let facts = Facts::default();
        Piece { of: Type::Text, n: texts.len(), values, bytes: memory, validity: None, facts }
    }

    #[test]
    fn categories_have_the_order_of_the_text() {
        let mut all = Categories::default();
        let mut codes = Vec::new();
        for chunk in [&["b", "a", "b", ""][..], &["c", "a"], &[], &["", "d", "b"]] {
            let mut piece = encode(strings(chunk), TextLayout::Offsets).unwrap();
            all.join(&mut piece).unwrap();
            codes.extend_from_slice(bytemuck::cast_slice::<u8, i32>(&piece.values));
        }
        assert_eq!(codes, [0, 1, 0, 2, 3, 1, 2, 4, 0]);
        let piece = all.piece(1).unwrap();
        let found: Vec<_> = (0..piece.n).map(|i| string(&piece, TextLayout::Offsets, i)).collect();
        assert_eq!(found, [&b"a"[..], b"", b"c", b"d"]);
    }
}
