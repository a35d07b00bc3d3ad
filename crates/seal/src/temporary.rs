//! Temporary files, which this process alone reads.

use entasis_format::Result;

use crate::suite::{Cipher, NONCE_LEN, Suite, TAG_LEN, random_key};

/// A random key that is never stored, for the blocks of a temporary file.
pub struct TemporaryKey(Cipher);

impl TemporaryKey {
    /// Bytes that a block is longer once it is encrypted.
    pub const OVERHEAD: usize = TAG_LEN;

    /// A new key.
    ///
    /// # Errors
    /// *Io* if the system has no random numbers.
    pub fn new() -> Result<Self> {
        Suite::fastest().cipher(&random_key()?).map(Self)
    }

    /// Encrypts a block, and appends its tag. Each number is used once.
    ///
    /// # Errors
    /// *Unsupported* for a block of 64 GiB or more.
    pub fn seal(&self, number: u64, block: &mut Vec<u8>) -> Result<()> {
        let tag = self.0.seal(nonce(number), &[], block)?;
        block.extend_from_slice(&tag);
        Ok(())
    }

    /// Decrypts a block with its tag in place; `None` if it was changed.
    pub fn open<'b>(&self, number: u64, block: &'b mut [u8]) -> Option<&'b [u8]> {
        self.0.open(nonce(number), &[], block).map(|block| &*block)
    }
}

fn nonce(number: u64) -> [u8; NONCE_LEN] {
    let mut out = [0; NONCE_LEN];
    out[..8].copy_from_slice(&number.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_open_under_their_number() {
        let key = TemporaryKey::new().unwrap();
        let mut block = b"some text".to_vec();
        key.seal(3, &mut block).unwrap();
        assert_eq!(block.len(), 9 + TemporaryKey::OVERHEAD);
        assert_eq!(key.open(3, &mut block.clone()), Some(&b"some text"[..]));
        assert_eq!(key.open(4, &mut block.clone()), None);
        block[0] ^= 1;
        assert_eq!(key.open(3, &mut block), None);
    }
}
