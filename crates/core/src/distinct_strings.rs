//! Numbers distinct strings.

use entasis_format::{Error, Result, fallible};
use entasis_kernels::hash;

/// The use of the memory, in messages.
const STRINGS: &str = "the distinct strings";

/// Distinct strings in the order of their first appearance.
#[derive(Debug, Default)]
pub struct DistinctStrings {
    /// Their bytes, one after the other.
    bytes: Vec<u8>,
    /// The end of each in `bytes`.
    ends: Vec<usize>,
    /// The hash of each.
    hashes: Vec<u64>,
    /// A hash table with open addressing: codes + 1, and 0 for free slots.
    slots: Vec<u32>,
}

impl DistinctStrings {
    /// The most strings that codes of 32 bits can number, in hosts whose codes have a sign.
    pub const MOST: usize = i32::MAX as usize;

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all strings, one after the other.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The end of each string in [`bytes`](Self::bytes).
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// A string, by its code.
    pub fn get(&self, code: usize) -> &[u8] {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }

    /// The code of a string, which becomes the last one if it is new.
    ///
    /// # Errors
    /// *Out of memory*, and *argument* for more strings than [`MOST`](Self::MOST).
    pub fn code(&mut self, text: &[u8]) -> Result<u32> {
        if 2 * self.ends.len() >= self.slots.len() {
            self.grow()?;
        }
        let hash = hash::of_slice(text, 0);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot] != 0 {
            let code = self.slots[slot] - 1;
            if self.hashes[code as usize] == hash && self.get(code as usize) == text {
                return Ok(code);
            }
            slot = (slot + 1) & mask;
        }
        let code = self.ends.len();
        if code >= Self::MOST {
            return Err(Error::argument(format!("more than {} distinct strings", Self::MOST)));
        }
        fallible::extend(&mut self.bytes, text.iter().copied(), STRINGS)?;
        fallible::push(&mut self.ends, self.bytes.len(), STRINGS)?;
        fallible::push(&mut self.hashes, hash, STRINGS)?;
        self.slots[slot] = code as u32 + 1;
        Ok(code as u32)
    }

    fn grow(&mut self) -> Result<()> {
        let n = (2 * self.slots.len()).max(64);
        let mut slots = fallible::defaults(n, STRINGS)?;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_the_order_of_their_first_appearance() {
        let mut all = DistinctStrings::default();
        let codes: Vec<u32> =
            ["b", "a", "b", "", "c", ""].iter().map(|text| all.code(text.as_bytes()).unwrap()).collect();
        assert_eq!(codes, [0, 1, 0, 2, 3, 2]);
        assert_eq!(
            (0..all.len()).map(|code| all.get(code)).collect::<Vec<_>>(),
            [&b"b"[..], b"a", b"", b"c"]
        );
        assert_eq!((all.bytes(), all.ends()), (&b"bac"[..], &[1, 2, 2, 3][..]));
    }

    #[test]
    fn many_strings_are_found_again() {
        let mut all = DistinctStrings::default();
        for round in 0..2 {
            for i in 0..10_000 {
                assert_eq!(all.code(format!("string {i}").as_bytes()).unwrap(), i, "{round}");
            }
        }
        assert_eq!(all.len(), 10_000);
    }
}
