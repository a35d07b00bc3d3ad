//! A key page: 4 KiB that hold the file key, encrypted for each key and password.

use entasis_format::{Error, Result, checksum};
use ring::hmac;

use crate::derive::{Costs, Derivation};
use crate::entry::{ENTRY_LEN, Entry, emit_derivation};
use crate::suite::{Bytes32, SALT_LEN, Suite, hkdf, hmac_key};

/// The offsets of the key pages.
pub(crate) const PAGES_AT: [u64; 2] = [12_288, 16_384];
/// Bytes of a key page.
pub(crate) const PAGE_LEN: usize = 4096;
/// The most keys and passwords of a file.
pub(crate) const MAX_ENTRIES: usize = 8;

const MAGIC: [u8; 8] = *b"ENT\nkeys";
const ENTRIES_AT: usize = 64;
const HMAC_AT: usize = 4056;
const CHECKSUM_AT: usize = 4088;

/// A key page.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct KeyPage {
    pub number: u64,
    pub id: [u8; SALT_LEN],
    pub suite: Suite,
    pub derivation: Option<Derivation>,
    pub entries: Vec<Entry>,
}

impl KeyPage {
    /// The bytes of the page.
    pub(crate) fn emit(&self, file_key: &Bytes32) -> Result<Vec<u8>> {
        let mut out = vec![0; PAGE_LEN];
        out[..8].copy_from_slice(&MAGIC);
        out[8..16].copy_from_slice(&self.number.to_le_bytes());
        out[16..32].copy_from_slice(&self.id);
        out[32] = self.suite.code();
        out[33] = self.entries.len() as u8;
        out[36..ENTRIES_AT].copy_from_slice(&emit_derivation(self.derivation.as_ref()));
        for (out, entry) in out[ENTRIES_AT..HMAC_AT].chunks_exact_mut(ENTRY_LEN).zip(&self.entries) {
            out.copy_from_slice(&entry.emit());
        }
        let code = hmac::sign(&self.hmac_key(file_key)?, &out[..HMAC_AT]);
        out[HMAC_AT..CHECKSUM_AT].copy_from_slice(code.as_ref());
        let sum = checksum(&out[..CHECKSUM_AT]);
        out[CHECKSUM_AT..].copy_from_slice(&sum.to_le_bytes());
        Ok(out)
    }

    /// Parses a page.
    ///
    /// # Errors
    /// *Corrupt* for a page that is not valid; *unsupported* for unknown codes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let corrupt = || Error::corrupt("a key page is damaged");
        let bytes: &[u8; PAGE_LEN] = bytes.try_into().map_err(|_| corrupt())?;
        let sum = checksum(&bytes[..CHECKSUM_AT]).to_le_bytes();
        if bytes[..8] != MAGIC || bytes[CHECKSUM_AT..] != sum {
            return Err(corrupt());
        }
        let u32_at = |at: usize| bytes[at..].first_chunk().map_or(0, |of| u32::from_le_bytes(*of));
        let suite = Suite::of_code(bytes[32])?;
        let n_entries = usize::from(bytes[33]);
        let after = ENTRIES_AT + n_entries.min(MAX_ENTRIES) * ENTRY_LEN;
        if bytes[34..36].iter().chain(&bytes[after..HMAC_AT]).any(|byte| *byte != 0) {
            return Err(Error::unsupported("reserved bytes of a key page are not zero"));
        }
        if !(1..=MAX_ENTRIES).contains(&n_entries) {
            return Err(Error::corrupt("a key page has an impossible number of keys"));
        }
        let number = bytes[8..].first_chunk().map_or(0, |of| u64::from_le_bytes(*of));
        if number == 0 {
            return Err(Error::corrupt("a key page has the number 0"));
        }
        let (mut id, mut salt) = ([0; SALT_LEN], [0; SALT_LEN]);
        id.copy_from_slice(&bytes[16..32]);
        salt.copy_from_slice(&bytes[48..ENTRIES_AT]);
        let costs = Costs { passes: u32_at(36), memory: u32_at(40), lanes: u32_at(44) };
        let derivation = Derivation { costs, salt };
        let has_derivation = bytes[36..ENTRIES_AT].iter().any(|byte| *byte != 0);
        if has_derivation && !derivation.is_valid() {
            return Err(Error::corrupt("the costs of the password are impossible"));
        }
        let entries = bytes[ENTRIES_AT..after].as_chunks::<ENTRY_LEN>().0;
        Ok(Self {
            number,
            id,
            suite,
            derivation: has_derivation.then_some(derivation),
            entries: entries.iter().map(Entry::parse).collect::<Result<_>>()?,
        })
    }

    /// The valid page that readers take, and its number among the two.
    ///
    /// # Errors
    /// That of the first page, if none is valid.
    pub(crate) fn current(pages: [&[u8]; 2]) -> Result<(Self, &[u8], usize)> {
        let [first, second] = pages.map(Self::parse);
        match (first, second) {
            (Ok(first), Ok(second)) if second.number > first.number => Ok((second, pages[1], 1)),
            (Ok(first), _) => Ok((first, pages[0], 0)),
            (Err(_), Ok(second)) => Ok((second, pages[1], 1)),
            (Err(error), Err(_)) => Err(error.at(PAGES_AT[0])),
        }
    }

    /// Checks the code of authentication of the bytes of the page.
    ///
    /// # Errors
    /// *Tampered*.
    pub(crate) fn check(&self, bytes: &[u8], file_key: &Bytes32) -> Result<()> {
        let (Some(body), Some(code)) = (bytes.get(..HMAC_AT), bytes.get(HMAC_AT..CHECKSUM_AT)) else {
            return Err(Error::corrupt("a key page is damaged"));
        };
        hmac::verify(&self.hmac_key(file_key)?, body, code)
            .map_err(|_| Error::tampered("the key page was changed by someone without the key"))
    }

    fn hmac_key(&self, file_key: &Bytes32) -> Result<hmac::Key> {
        Ok(hmac_key(&hkdf(file_key, &[&self.id], &[b"entasis key page"])?))
    }
}
