//! How a file is opened.

use entasis_format::Limits;
use entasis_seal::Secret;

/// How to open a file: what it may ask for, and what opens it if it is encrypted.
///
/// ```
/// use entasis::{Key, Limits, Opening, Secret};
///
/// let plain = Opening::from(Limits::default());
/// let key = Key::new(&[7; 32])?;
/// let encrypted = Opening { secret: Some(Secret::Key(key)), ..plain };
/// # Ok::<(), entasis::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The most that the file may ask for.
    pub limits: Limits,
    /// The key or password of an encrypted file. Without one, the file that the environment
    /// variable [`KEY_FILE`](crate::KEY_FILE) names has the key.
    pub secret: Option<Secret>,
}

impl From<Limits> for Opening {
    fn from(limits: Limits) -> Self {
        Self { limits, secret: None }
    }
}
