//! Keys and passwords.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entasis_format::{Error, Limits, Result};
use zeroize::Zeroizing;

use crate::derive::Derivation;
use crate::suite::{Bytes32, KEY_LEN, random_key};

/// The environment variable with the path of a key file: it has the 32 bytes of a key, or their 64
/// hexadecimal digits. Readers use it for files whose key is not given.
pub const KEY_FILE: &str = "ENTASIS_KEY_FILE";
/// The environment variable with a password. Readers use it as [`KEY_FILE`], which comes first.
pub const PASSWORD: &str = "ENTASIS_PASSWORD";

/// The longest key file that is read.
const MAX_KEY_FILE: u64 = 4096;

/// A key of 32 bytes. Copies share the bytes, which are wiped with the last of them.
#[derive(Clone)]
pub struct Key {
    pub(crate) bytes: Arc<Bytes32>,
    /// How it came from a password.
    pub(crate) derivation: Option<Derivation>,
}

/// A password. Copies share the text, which is wiped with the last of them.
#[derive(Clone)]
pub struct Password(Arc<Zeroizing<Vec<u8>>>);

/// A key or a password.
#[derive(Clone, Debug)]
pub enum Secret {
    /// A key.
    Key(Key),
    /// A password.
    Password(Password),
}

impl Key {
    /// A key with these bytes.
    ///
    /// # Errors
    /// *Argument* for another number of bytes than 32.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        if bytes.len() != KEY_LEN {
            return Err(Error::argument(format!("a key has {KEY_LEN} bytes, this one has {}", bytes.len()))
                .advise("use 32 random bytes, or a password"));
        }
        let mut own = Bytes32::default();
        own.copy_from_slice(bytes);
        Ok(Self { bytes: Arc::new(own), derivation: None })
    }

    /// A key of random bytes.
    ///
    /// # Errors
    /// *Io* if the system has no random numbers.
    pub fn random() -> Result<Self> {
        Ok(Self { bytes: Arc::new(random_key()?), derivation: None })
    }

    /// The key in a file: 32 bytes, or 64 hexadecimal digits.
    ///
    /// # Errors
    /// *Io*; *argument* for other contents. No message has a byte of the file.
    pub fn from_file(path: &Path) -> Result<Self> {
        let on_disk = |source| Error::io(source, "read the key file").in_file(path);
        let len = std::fs::metadata(path).map_err(on_disk)?.len();
        let bytes = match len {
            0..=MAX_KEY_FILE => Zeroizing::new(std::fs::read(path).map_err(on_disk)?),
            _ => Zeroizing::default(),
        };
        Self::new(&bytes).or_else(|_| Self::from_hex(&bytes)).map_err(|_| {
            Error::argument("the key file has neither 32 bytes nor 64 hexadecimal digits").in_file(path)
        })
    }

    fn from_hex(text: &[u8]) -> Result<Self> {
        let text = text.trim_ascii();
        let mut bytes = Bytes32::default();
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        for (out, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            match (digit(pair[0]), digit(pair[1])) {
                (Some(high), Some(low)) => *out = high << 4 | low,
                _ => return Self::new(&[]),
            }
        }
        Self::new(if text.len() == 2 * KEY_LEN { &bytes[..] } else { &[] })
    }

    pub(crate) fn derived(bytes: Bytes32, derivation: Derivation) -> Self {
        Self { bytes: Arc::new(bytes), derivation: Some(derivation) }
    }

    pub(crate) fn bytes(&self) -> &Bytes32 {
        &self.bytes
    }

    /// The bytes, for a host that keeps them. They are the secret itself.
    pub fn expose(&self) -> &[u8; KEY_LEN] {
        &self.bytes
    }
}

impl Password {
    /// A password.
    ///
    /// # Errors
    /// *Argument* for an empty one.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::argument("the password is empty"));
        }
        Ok(Self(Arc::new(Zeroizing::new(text.as_bytes().to_vec()))))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Secret {
    /// The key of the file that [`KEY_FILE`] names, or else the password in [`PASSWORD`].
    ///
    /// # Errors
    /// As [`Key::from_file`].
    pub fn of_environment() -> Result<Option<Self>> {
        if let Some(path) = std::env::var_os(KEY_FILE).filter(|path| !path.is_empty()) {
            return Key::from_file(&PathBuf::from(path)).map(Self::Key).map(Some);
        }
        match std::env::var(PASSWORD) {
            Ok(text) if !text.is_empty() => {
                Password::new(&Zeroizing::new(text)).map(Self::Password).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The outer key for entries of a password, or the key itself.
    pub(crate) fn outer(&self, derivation: Option<&Derivation>, limits: &Limits) -> Result<Option<Key>> {
        match (self, derivation) {
            (Self::Key(key), _) => Ok(Some(key.clone())),
            (Self::Password(password), Some(derivation)) => {
                Ok(Some(Key::derived(derivation.key(password.bytes(), limits)?, *derivation)))
            }
            (Self::Password(_), None) => Ok(None),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(...)")
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(...)")
    }
}
