//! An entry of a key page: the file key, encrypted for one key or password.

use entasis_format::{Error, Result};

use crate::derive::Derivation;
use crate::secret::Key;
use crate::suite::{Bytes32, KEY_LEN, NONCE_LEN, SALT_LEN, Suite, TAG_LEN, hkdf, random};

/// Bytes of an entry.
pub(crate) const ENTRY_LEN: usize = 128;
/// Bytes of an entry that are in use.
const USED_LEN: usize = 72;

/// The kinds of entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EntryKind {
    Key,
    Password,
}

/// The file key, encrypted for one key or password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub kind: EntryKind,
    salt: [u8; SALT_LEN],
    /// The file key, encrypted, and the tag.
    wrapped: [u8; KEY_LEN + TAG_LEN],
}

impl EntryKind {
    const fn code(self) -> u8 {
        match self {
            Self::Key => 1,
            Self::Password => 2,
        }
    }

    /// The name of the kind in lists of keys.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Password => "password",
        }
    }
}

impl Entry {
    /// Encrypts a file key for an outer key. One that was derived from a password has the
    /// derivation of the file.
    pub(crate) fn new(suite: Suite, outer: &Key, file_key: &Bytes32) -> Result<Self> {
        let kind = if outer.derivation.is_some() { EntryKind::Password } else { EntryKind::Key };
        let salt = random()?;
        let mut wrapped = [0; KEY_LEN + TAG_LEN];
        let (bytes, tag) = wrapped.split_at_mut(KEY_LEN);
        bytes.copy_from_slice(&file_key[..]);
        let cipher = suite.cipher(&entry_key(suite, kind, &salt, outer)?)?;
        let with = associated(kind, outer.derivation.as_ref());
        tag.copy_from_slice(&cipher.seal([0; NONCE_LEN], &with, bytes)?);
        Ok(Self { kind, salt, wrapped })
    }

    /// The file key, if the outer key opens the entry.
    pub(crate) fn open(
        &self,
        suite: Suite,
        derivation: Option<&Derivation>,
        outer: &Key,
    ) -> Result<Option<Bytes32>> {
        let cipher = suite.cipher(&entry_key(suite, self.kind, &self.salt, outer)?)?;
        let mut bytes = zeroize::Zeroizing::new(self.wrapped);
        let Some(found) = cipher.open([0; NONCE_LEN], &associated(self.kind, derivation), &mut bytes[..])
        else {
            return Ok(None);
        };
        let mut file_key = Bytes32::default();
        file_key.copy_from_slice(found);
        Ok(Some(file_key))
    }

    pub(crate) fn emit(&self) -> [u8; ENTRY_LEN] {
        let mut out = [0; ENTRY_LEN];
        out[0] = self.kind.code();
        out[8..24].copy_from_slice(&self.salt);
        out[24..USED_LEN].copy_from_slice(&self.wrapped);
        out
    }

    pub(crate) fn parse(bytes: &[u8; ENTRY_LEN]) -> Result<Self> {
        let kind = match bytes[0] {
            1 => EntryKind::Key,
            2 => EntryKind::Password,
            code => return Err(Error::unsupported(format!("a key of the file has the unknown kind {code}"))),
        };
        if bytes[1..8].iter().chain(&bytes[USED_LEN..]).any(|byte| *byte != 0) {
            return Err(Error::unsupported("reserved bytes of a key of the file are not zero"));
        }
        let (mut salt, mut wrapped) = ([0; SALT_LEN], [0; KEY_LEN + TAG_LEN]);
        salt.copy_from_slice(&bytes[8..24]);
        wrapped.copy_from_slice(&bytes[24..USED_LEN]);
        Ok(Self { kind, salt, wrapped })
    }
}

fn entry_key(suite: Suite, kind: EntryKind, salt: &[u8; SALT_LEN], outer: &Key) -> Result<Bytes32> {
    hkdf(outer.bytes(), &[salt], &[b"entasis file key", &[suite.code(), kind.code()]])
}

/// The associated data of an entry.
fn associated(kind: EntryKind, derivation: Option<&Derivation>) -> Vec<u8> {
    match kind {
        EntryKind::Key => Vec::new(),
        EntryKind::Password => emit_derivation(derivation).to_vec(),
    }
}

/// Bytes 36 to 63 of a key page.
pub(crate) fn emit_derivation(derivation: Option<&Derivation>) -> [u8; 28] {
    let mut out = [0; 28];
    if let Some(Derivation { costs, salt }) = derivation {
        let fields = [costs.passes, costs.memory, costs.lanes].map(u32::to_le_bytes);
        out[..12].copy_from_slice(fields.as_flattened());
        out[12..].copy_from_slice(salt);
    }
    out
}
