//! Where the bytes of the inner file are, and how one chunk is encrypted.

use entasis_format::{Result, checksum};

use crate::suite::{Bytes32, Cipher, NONCE_LEN, SALT_LEN, TAG_LEN, hkdf};
use crate::unlock::Unlocked;

/// Stored bytes of a chunk.
pub const CHUNK_LEN: usize = 8192;
/// Where the chunks begin, in the file and in the inner file.
pub(crate) const START: u64 = entasis_format::KEY_PAGES_END;
/// Bytes of the inner file in a chunk.
pub(crate) const DATA_LEN: usize = 8136;
/// The first encrypted byte.
const BODY_AT: usize = SALT_LEN + 8;
/// Encrypted bytes: those of the inner file, and *used*.
const BODY_LEN: usize = DATA_LEN + 8;
const TAG_AT: usize = BODY_AT + BODY_LEN;
const CHECKSUM_AT: usize = TAG_AT + TAG_LEN;
const _: () = assert!(CHECKSUM_AT + 8 == CHUNK_LEN);

/// The stored bytes of a chunk.
pub(crate) type SealedChunk = [u8; CHUNK_LEN];

/// The number of the chunk with a byte of the inner file, and its place there. The byte is not
/// before [`START`].
pub(crate) const fn position(at: u64) -> (u64, usize) {
    let at = at.saturating_sub(START);
    (at / DATA_LEN as u64, (at % DATA_LEN as u64) as usize)
}

/// Where a chunk is stored.
pub(crate) const fn stored_at(number: u64) -> u64 {
    START.saturating_add(number.saturating_mul(CHUNK_LEN as u64))
}

/// Where the bytes of a chunk begin in the inner file.
pub(crate) const fn inner_at(number: u64) -> u64 {
    START.saturating_add(number.saturating_mul(DATA_LEN as u64))
}

/// The first byte of the inner file that may belong to a generation after one that ends at `end`.
pub const fn next_start(end: u64) -> u64 {
    if end <= START {
        return START;
    }
    let (last, _) = position(end - 1);
    inner_at(last + 1)
}

/// The length of a file whose inner file ends at `end`.
pub const fn chunk_end(end: u64) -> u64 {
    if end <= START {
        return START;
    }
    let (last, _) = position(end - 1);
    stored_at(last + 1)
}

/// The cipher for the chunks with a salt.
pub(crate) fn cipher(unlocked: &Unlocked, salt: &[u8; SALT_LEN]) -> Result<Cipher> {
    let page = &unlocked.page;
    let key: Bytes32 =
        hkdf(&unlocked.file_key, &[salt, &page.id], &[b"entasis chunk", &[page.suite.code()]])?;
    page.suite.cipher(&key)
}

/// The salt of a chunk.
pub(crate) fn salt(chunk: &SealedChunk) -> &[u8; SALT_LEN] {
    chunk.first_chunk().map_or(&[0; SALT_LEN], |salt| salt)
}

/// Encrypts a chunk, whose bytes of the inner file are in place. Each counter is used once with a
/// salt.
pub(crate) fn seal(
    chunk: &mut SealedChunk,
    number: u64,
    used: usize,
    (salt, counter): (&[u8; SALT_LEN], u64),
    cipher: &Cipher,
) -> Result<()> {
    chunk[..SALT_LEN].copy_from_slice(salt);
    chunk[SALT_LEN..BODY_AT].copy_from_slice(&counter.to_le_bytes());
    chunk[BODY_AT + used.min(DATA_LEN)..TAG_AT].fill(0);
    chunk[BODY_AT + DATA_LEN..][..2].copy_from_slice(&(used as u16).to_le_bytes());
    let tag = cipher.seal(nonce(counter), &number.to_le_bytes(), &mut chunk[BODY_AT..TAG_AT])?;
    chunk[TAG_AT..CHECKSUM_AT].copy_from_slice(&tag);
    let sum = checksum(&chunk[..CHECKSUM_AT]);
    chunk[CHECKSUM_AT..].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// The bytes of the inner file in a chunk that is to be encrypted.
pub(crate) fn data_mut(chunk: &mut SealedChunk) -> &mut [u8] {
    &mut chunk[BODY_AT..BODY_AT + DATA_LEN]
}

/// The bytes of the inner file in a chunk that was decrypted.
pub(crate) fn data(chunk: &SealedChunk) -> &[u8] {
    &chunk[BODY_AT..BODY_AT + DATA_LEN]
}

/// Decrypts a chunk in place. Returns its bytes of the inner file, and how many of them are used;
/// none if the tag does not hold. The stored bytes are then lost.
pub(crate) fn open<'c>(
    chunk: &'c mut SealedChunk,
    number: u64,
    cipher: &Cipher,
) -> Option<(&'c [u8], usize)> {
    let counter = chunk[SALT_LEN..BODY_AT].first_chunk().map_or(0, |of| u64::from_le_bytes(*of));
    let body = cipher.open(nonce(counter), &number.to_le_bytes(), &mut chunk[BODY_AT..CHECKSUM_AT])?;
    let (data, used) = body.split_at_checked(DATA_LEN)?;
    let used = used.first_chunk().map_or(0, |of| u16::from_le_bytes(*of));
    Some((data, usize::from(used)))
}

/// Whether the checksum of a stored chunk holds.
pub(crate) fn is_intact(chunk: &SealedChunk) -> bool {
    chunk[CHECKSUM_AT..] == checksum(&chunk[..CHECKSUM_AT]).to_le_bytes()
}

fn nonce(counter: u64) -> [u8; NONCE_LEN] {
    let mut out = [0; NONCE_LEN];
    out[..8].copy_from_slice(&counter.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_bytes() {
        let data = DATA_LEN as u64;
        assert_eq!(position(START), (0, 0));
        assert_eq!(position(START + data - 1), (0, DATA_LEN - 1));
        assert_eq!(position(START + data), (1, 0));
        for end in [0, 1, START] {
            assert_eq!((next_start(end), chunk_end(end)), (START, START));
        }
        for end in [START + 1, START + data] {
            assert_eq!((next_start(end), chunk_end(end)), (START + data, START + CHUNK_LEN as u64));
        }
        assert_eq!(next_start(START + data + 1), START + 2 * data);
        // Numbers of a damaged file do not overflow.
        assert_eq!(chunk_end(u64::MAX), stored_at(position(u64::MAX - 1).0 + 1));
    }
}
