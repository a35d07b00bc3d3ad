//! Conventions of all pages: little-endian integers, checksums, ranges, kinds of error.

use std::fmt;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The bytes are not an Entasis file.
    NotEntasis,
    /// A newer version is needed.
    Newer,
    /// Damage.
    Corrupt,
    /// No key opens the file.
    WrongKey,
    /// A sealed file was changed without the key.
    Tampered,
    /// A code that these versions do not have.
    Unsupported,
    /// More memory than a test may take.
    Limit,
}

/// Why a file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The kind.
    pub kind: Kind,
    /// The rule that is broken.
    pub rule: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.rule)
    }
}

impl std::error::Error for Wrong {}

/// An error of a kind.
pub fn wrong<T>(kind: Kind, rule: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { kind, rule: rule.into() })
}

/// Damage unless `holds`.
///
/// # Errors
/// *Corrupt*.
pub fn rule(holds: bool, rule: &str) -> Result<(), Wrong> {
    if holds { Ok(()) } else { wrong(Kind::Corrupt, rule) }
}

/// Unsupported unless `holds`: for what a later version may use.
///
/// # Errors
/// *Unsupported*.
pub fn known(holds: bool, what: &str) -> Result<(), Wrong> {
    if holds { Ok(()) } else { wrong(Kind::Unsupported, what) }
}

/// XXH3-64 with seed 0.
pub fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

/// The `len` bytes from `at` on. The offset of an empty range has no meaning.
///
/// # Errors
/// *Corrupt* when the range ends after the bytes.
pub fn range(bytes: &[u8], at: u64, len: u64) -> Result<&[u8], Wrong> {
    if len == 0 {
        return Ok(&[]);
    }
    let inside = at.checked_add(len).is_some_and(|end| end <= bytes.len() as u64);
    rule(inside, "a range lies outside the bytes")?;
    Ok(&bytes[at as usize..(at + len) as usize])
}

/// The bytes of a generation, and the start of its room.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// The bytes of the file, up to the end of the generation.
    pub file: &'a [u8],
    /// The first byte after header and slot pages.
    pub start: u64,
}

impl<'a> Room<'a> {
    /// The `len` bytes from `at` on. The offset of an empty range has no meaning.
    ///
    /// # Errors
    /// *Corrupt* when the range does not lie in the room.
    pub fn range(&self, at: u64, len: u64) -> Result<&'a [u8], Wrong> {
        rule(len == 0 || at >= self.start, "a range lies in the header or in the slot pages")?;
        range(self.file, at, len)
    }
}

/// An unsigned integer of `len` bytes (at most 16), little-endian.
pub fn word(bytes: &[u8], at: usize, len: usize) -> u128 {
    let mut value = 0;
    for i in (0..len).rev() {
        value = value << 8 | u128::from(bytes[at + i]);
    }
    value
}

/// A `u16`.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    word(bytes, at, 2) as u16
}

/// A `u32`.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    word(bytes, at, 4) as u32
}

/// A `u64`.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    word(bytes, at, 8) as u64
}

/// A `u64`; `None` for `u64::MAX`, which stands for none.
pub fn maybe_at(bytes: &[u8], at: usize) -> Option<u64> {
    let value = u64_at(bytes, at);
    if value == u64::MAX { None } else { Some(value) }
}

/// Whether all bytes are zero.
pub fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&b| b == 0)
}

/// Bytes that are consumed from the front.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    /// The bytes that were not taken yet.
    pub rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// The next `len` bytes.
    ///
    /// # Errors
    /// *Corrupt* when there are fewer.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Wrong> {
        rule(len <= self.rest.len(), "a payload is too short")?;
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        Ok(taken)
    }

    /// The next integer of `len` bytes.
    ///
    /// # Errors
    /// *Corrupt* when there are fewer.
    pub fn word(&mut self, len: usize) -> Result<u128, Wrong> {
        Ok(word(self.take(len)?, 0, len))
    }

    /// Checks that all bytes were taken.
    ///
    /// # Errors
    /// *Corrupt* when some are left.
    pub fn end(&self) -> Result<(), Wrong> {
        rule(self.rest.is_empty(), "a payload is longer than its counts require")
    }
}
