//! Vectors of strings: UTF-8, with what R says about the encoding of each.

use std::borrow::Cow;
use std::ops::Range;

use entasis::{Buffer, Error, Result};

/// How R marks the encoding of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Not marked: in the encoding of the session.
    Native,
    /// UTF-8.
    Utf8,
    /// Latin-1.
    Latin1,
    /// Bytes without an encoding.
    Bytes,
}

/// Codes of stored encodings (`docs/format/hosts/r.md`).
const UTF8: u8 = 0;
const LATIN1: u8 = 1;
const BYTES: u8 = 2;
const UNMARKED: u8 = 3;
const UNMARKED_BYTES: u8 = 4;
const WRONG_UTF8: u8 = 5;

/// Strings in the form that a file stores: one after the other, with offsets, in UTF-8.
#[derive(Clone, Debug, PartialEq)]
pub struct Strings {
    /// The beginnings and the last end.
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    /// One bit for each string, 1 for a present one. Empty until a string is missing.
    validity: Vec<u8>,
    /// The code of each string. Empty until one is other than UTF-8. ASCII has any encoding, so it
    /// repeats the code before it.
    codes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new(), validity: Vec::new(), codes: Vec::new() }
    }
}

impl Strings {
    /// No strings, with room for `n`.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn with_room(n: usize) -> Result<Self> {
        let mut offsets = Vec::new();
        let too_many = |_| Error::out_of_memory(n.saturating_mul(8), "strings");
        offsets.try_reserve_exact(n.saturating_add(1)).map_err(too_many)?;
        offsets.push(0);
        Ok(Self { offsets, ..Self::default() })
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all are ASCII or marked as UTF-8.
    pub fn is_utf8(&self) -> bool {
        self.codes.iter().all(|&code| code == UTF8)
    }

    /// Whether all are present, and ASCII or marked as UTF-8.
    pub fn are_plain(&self) -> bool {
        self.is_utf8() && (0..self.len()).all(|i| self.is_present(i))
    }

    /// Appends a string.
    #[inline]
    pub fn push(&mut self, string: &[u8], mark: Mark) {
        if string.is_ascii() {
            self.bytes.extend_from_slice(string);
            return self.end(true, self.last_code());
        }
        let code = code(string, mark);
        if matches!(code, UTF8 | UNMARKED) {
            self.bytes.extend_from_slice(string);
        } else {
            // The characters whose numbers are the bytes.
            for &byte in string {
                self.bytes.extend_from_slice(char::from(byte).encode_utf8(&mut [0; 2]).as_bytes());
            }
        }
        self.end(true, code);
    }

    /// Appends a missing string.
    #[inline]
    pub fn push_missing(&mut self) {
        self.end(false, self.last_code());
    }

    /// Appends text that is marked as UTF-8.
    #[inline]
    pub fn push_plain(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.end(true, if text.is_ascii() { self.last_code() } else { UTF8 });
    }

    /// Appends the strings of another vector.
    pub fn extend(&mut self, other: &Self) {
        for (i, ends) in other.offsets.windows(2).enumerate() {
            self.bytes.extend_from_slice(&other.bytes[ends[0] as usize..ends[1] as usize]);
            self.end(other.is_present(i), other.codes.get(i).copied().unwrap_or(UTF8));
        }
    }

    /// Appends string `i` of another vector.
    #[inline]
    pub(crate) fn push_from(&mut self, other: &Self, i: usize) {
        let (Some(&start), Some(&end)) = (other.offsets.get(i), other.offsets.get(i + 1)) else { return };
        let bytes = &other.bytes[start as usize..end as usize];
        self.bytes.extend_from_slice(bytes);
        let is_present = other.is_present(i);
        let has_code = is_present && !bytes.is_ascii();
        let code = if has_code { other.codes.get(i).copied().unwrap_or(UTF8) } else { self.last_code() };
        self.end(is_present, code);
    }

    /// The strings in a range.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        range.for_each(|i| part.push_from(self, i));
        part
    }

    /// The bytes of string `i` in R, and how R marks them. `None` for a missing one.
    #[inline]
    pub(crate) fn in_r(&self, i: usize) -> Option<(Cow<'_, [u8]>, Mark)> {
        if !self.is_present(i) {
            return None;
        }
        let bytes = self.bytes.get(*self.offsets.get(i)? as usize..*self.offsets.get(i + 1)? as usize)?;
        let code = self.codes.get(i).copied().unwrap_or(UTF8);
        // A code above those that are known was refused.
        let mark = match code {
            UTF8 | WRONG_UTF8 => Mark::Utf8,
            LATIN1 => Mark::Latin1,
            BYTES => Mark::Bytes,
            _ => Mark::Native,
        };
        if matches!(code, UTF8 | UNMARKED) || bytes.is_ascii() {
            return Some((Cow::Borrowed(bytes), mark));
        }
        let text = std::str::from_utf8(bytes).ok()?;
        // Each character is a byte: `with_codes` checked that.
        Some((text.chars().map(|letter| letter as u8).collect(), mark))
    }

    /// These strings, with the stored code of each.
    ///
    /// # Errors
    /// *Corrupt* for codes that no writer writes.
    pub(crate) fn with_codes(self, codes: &[u8]) -> Result<Self> {
        let wrong = || Error::corrupt("the encodings of strings are invalid");
        if codes.len() != self.len() {
            return Err(wrong());
        }
        let mut out = Self { codes: Vec::new(), ..self };
        let mut last = UTF8;
        for (i, &code) in codes.iter().enumerate() {
            let ends = (out.offsets[i] as usize, out.offsets[i + 1] as usize);
            let bytes = &out.bytes[ends.0..ends.1];
            let has_code = out.is_present(i) && !bytes.is_ascii();
            if has_code {
                let is_of_bytes = !matches!(code, UTF8 | UNMARKED);
                let text = std::str::from_utf8(bytes).map_err(|_| wrong())?;
                if code > WRONG_UTF8 || (is_of_bytes && text.chars().any(|letter| letter as u32 > 0xff)) {
                    return Err(wrong());
                }
                last = code;
            }
            if last != UTF8 && out.codes.is_empty() {
                out.codes.resize(i, UTF8);
            }
            if last != UTF8 || !out.codes.is_empty() {
                out.codes.push(last);
            }
        }
        Ok(out)
    }

    fn last_code(&self) -> u8 {
        self.codes.last().copied().unwrap_or(UTF8)
    }

    fn end(&mut self, is_present: bool, code: u8) {
        let i = self.len();
        self.offsets.push(self.bytes.len() as i64);
        if code != UTF8 && self.codes.is_empty() {
            self.codes.resize(i, UTF8);
        }
        if code != UTF8 || !self.codes.is_empty() {
            self.codes.push(code);
        }
        if !is_present && self.validity.is_empty() {
            self.validity.resize(i.div_ceil(8), u8::MAX);
        }
        if !is_present || !self.validity.is_empty() {
            self.validity.resize(i / 8 + 1, u8::MAX);
            self.validity[i / 8] &= !(u8::from(!is_present) << (i % 8));
        }
    }

    /// Whether string `i` is present.
    pub fn is_present(&self, i: usize) -> bool {
        self.validity.get(i / 8).is_none_or(|bits| bits >> (i % 8) & 1 == 1)
    }

    /// The text of string `i`, as it is stored; `None` for a missing one.
    pub fn get(&self, i: usize) -> Option<&str> {
        let ends = (*self.offsets.get(i)?, *self.offsets.get(i + 1)?);
        let bytes = self.bytes.get(ends.0 as usize..ends.1 as usize)?;
        if self.is_present(i) { std::str::from_utf8(bytes).ok() } else { None }
    }

    /// All strings, `None` for a missing one.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The offsets of the strings in their bytes.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The memory of the offsets, bytes, validity and codes, which stays where it is.
    pub(crate) fn into_memory(self) -> [Buffer; 4] {
        let Self { offsets, bytes, validity, codes } = self;
        [Buffer::of_vec(offsets), Buffer::of_vec(bytes), Buffer::of_vec(validity), Buffer::of_vec(codes)]
    }

    /// The bytes of all strings, UTF-8.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One bit for each string, 1 for a present one; `None` if all are.
    pub fn validity(&self) -> Option<&[u8]> {
        if self.validity.is_empty() { None } else { Some(&self.validity) }
    }

    /// The code of each string's encoding; `None` if all are UTF-8 or ASCII.
    pub fn codes(&self) -> Option<&[u8]> {
        if self.codes.is_empty() { None } else { Some(&self.codes) }
    }

    /// Gives each string a code of its encoding, where `before` is the last code of the strings
    /// before these. Returns the last code.
    pub fn keep_codes(&mut self, before: u8) -> u8 {
        if self.codes.is_empty() {
            self.codes.resize(self.len(), UTF8);
        }
        // ASCII repeats the code before it.
        let is_free = |i: &usize| self.get(*i).is_none_or(str::is_ascii);
        let n = (0..self.len()).take_while(is_free).count();
        self.codes[..n].fill(before);
        self.codes.last().copied().unwrap_or(before)
    }

    /// Strings that are already in the form of a file.
    ///
    /// # Errors
    /// *Text* if the bytes are not UTF-8.
    pub fn from_parts(offsets: Vec<i64>, bytes: Vec<u8>, validity: Vec<u8>) -> Result<Self> {
        let ends = offsets.last().copied() == i64::try_from(bytes.len()).ok() && offsets.first() == Some(&0);
        let text = simdutf8::basic::from_utf8(&bytes).ok();
        let is_cut = |&at: &i64| {
            usize::try_from(at).is_ok_and(|at| text.is_some_and(|text| text.is_char_boundary(at)))
        };
        if !ends || !offsets.is_sorted() || !offsets.iter().all(is_cut) {
            return Err(Error::text("strings are not UTF-8"));
        }
        // Bits after the last string are 1, as `push` sets them.
        let mut validity = validity;
        if let (n @ 1.., Some(last)) = ((offsets.len() - 1) % 8, validity.last_mut()) {
            *last |= u8::MAX << n;
        }
        if validity.iter().all(|&bits| bits == u8::MAX) {
            validity = Vec::new();
        }
        Ok(Self { offsets, bytes, validity, codes: Vec::new() })
    }
}

impl<'a> FromIterator<&'a str> for Strings {
    fn from_iter<T: IntoIterator<Item = &'a str>>(texts: T) -> Self {
        let mut strings = Self::default();
        texts.into_iter().for_each(|text| strings.push(text.as_bytes(), Mark::Utf8));
        strings
    }
}

/// The code of a string that is not ASCII.
fn code(string: &[u8], mark: Mark) -> u8 {
    let is_utf8 = simdutf8::basic::from_utf8(string).is_ok();
    match mark {
        Mark::Utf8 if is_utf8 => UTF8,
        Mark::Utf8 => WRONG_UTF8,
        Mark::Latin1 => LATIN1,
        Mark::Bytes => BYTES,
        Mark::Native if is_utf8 => UNMARKED,
        Mark::Native => UNMARKED_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_text_and_encoding() {
        let mut strings = Strings::default();
        strings.push(b"plain", Mark::Native);
        assert_eq!(strings.codes(), None);
        strings.push("grün".as_bytes(), Mark::Utf8);
        strings.push_missing();
        strings.push(b"gr\xfcn", Mark::Latin1);
        strings.push(b"", Mark::Native);
        strings.push("grün".as_bytes(), Mark::Native);
        strings.push(b"\xff", Mark::Native);
        strings.push(b"\xff", Mark::Utf8);
        strings.push(b"\xff", Mark::Bytes);
        let texts: Vec<_> = strings.iter().collect();
        let expected = [
            Some("plain"),
            Some("grün"),
            None,
            Some("grün"),
            Some(""),
            Some("grün"),
            Some("ÿ"),
            Some("ÿ"),
            Some("ÿ"),
        ];
        assert_eq!(texts, expected);
        assert_eq!(strings.codes(), Some(&[0, 0, 0, 1, 1, 3, 4, 5, 2][..]));
        assert_eq!(strings.validity(), Some(&[0b1111_1011, 0xff][..]));
    }
}
