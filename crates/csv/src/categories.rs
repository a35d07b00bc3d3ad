//! Strings as codes of categories.
//!
//! Each thread numbers the strings of its chunk. The categories of all chunks are joined in their
//! order, so that a category has the number of its first appearance in the text.

use entasis::{Error, Result};
use entasis_kernels::hash;

use crate::piece::{Facts, Piece, TextLayout, buffer};
use crate::types::Type;

/// The most categories that codes of 32 bits can have.
const MOST: usize = i32::MAX as usize;

/// Distinct strings in the order of their first appearance.
#[derive(Debug, Default)]
pub struct Categories {
    /// Their bytes, one after the other.
    bytes: Vec<u8>,
    /// The end of each in `bytes`.
    ends: Vec<usize>,
    /// The hash of each.
    hashes: Vec<u64>,
    /// A hash table with open addressing: codes + 1, and 0 for free slots.
    slots: Vec<u32>,
}

impl Categories {
    /// The number of categories.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A category.
    pub fn get(&self, code: usize) -> &[u8] {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }

    /// The code of a string, which becomes the last category if it is new.
    ///
    /// # Errors
    /// *Out of memory*, and *argument* for more categories than codes of 32 bits have.
    pub fn code(&mut self, text: &[u8]) -> Result<i32> {
        if 2 * self.ends.len() >= self.slots.len() {
            self.grow()?;
        }
        let hash = hash::of_slice(text, 0);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let code = self.slots[slot] as usize - 1;
            if self.hashes[code] == hash && self.get(code) == text {
                return Ok(code as i32);
            }
            slot = (slot + 1) & mask;
        }
        let code = self.ends.len();
        if code >= MOST {
            let message = format!("the column has more than {MOST} categories");
            return Err(Error::argument(message).advise("read it as plain strings"));
        }
        let no_memory = |_| Error::out_of_memory(text.len(), "the categories");
        self.bytes.try_reserve(text.len()).map_err(no_memory)?;
        self.ends.try_reserve(1).map_err(no_memory)?;
        self.hashes.try_reserve(1).map_err(no_memory)?;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.hashes.push(hash);
        self.slots[slot] = code as u32 + 1;
        Ok(code as i32)
    }

    fn grow(&mut self) -> Result<()> {
        let n = (2 * self.slots.len()).max(64);
        let mut slots = Vec::new();
        slots.try_reserve_exact(n).map_err(|_| Error::out_of_memory(4 * n, "the categories"))?;
        slots.resize(n, 0);
        for (code, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & (n - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (n - 1);
            }
            slots[slot] = code as u32 + 1;
        }
        self.slots = slots;
        Ok(())
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
        let n = self.ends.len() - from;
        let start = if from == 0 { 0 } else { self.ends[from - 1] };
        let mut values = buffer(8 * (n + 1))?;
        let offsets: &mut [i64] = bytemuck::cast_slice_mut(&mut values);
        for (offset, end) in offsets[1..].iter_mut().zip(&self.ends[from..]) {
            *offset = (end - start) as i64;
        }
        let mut bytes = buffer(self.bytes.len() - start)?;
        bytes.copy_from_slice(&self.bytes[start..]);
        Ok(Piece { of: Type::Text, n, values, bytes, validity: None, facts: Facts::default() })
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
    let mut bytes = buffer(categories.bytes.len() + 8 * categories.len())?;
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

    #[test]
    fn many_categories_are_found_again() {
        let mut all = Categories::default();
        for round in 0..2 {
            for i in 0..10_000 {
                assert_eq!(all.code(format!("category {i}").as_bytes()).unwrap(), i, "{round}");
            }
        }
        assert_eq!(all.len(), 10_000);
    }
}
