//! Encrypted files (`docs/format/encryption.md`): keys and passwords, key pages, and chunks.
//!
//! A [`SealedSource`] shows the bytes of the inner file, so all readers work on it as on a plain
//! file. A [`Sealer`] encrypts what is written. No primitive is written here: the ciphers, HKDF,
//! HMAC and random bytes are those of `ring`, and Argon2id is that of `argon2`.

#![forbid(unsafe_code)]

mod chunk;
mod derive;
mod entry;
mod page;
mod secret;
mod slot;
mod source;
mod suite;
mod temporary;
mod unlock;
mod writer;

pub use chunk::{CHUNK_LEN, chunk_end, next_start};
pub use derive::Costs;
pub use secret::{KEY_FILE, Key, PASSWORD, Password, Secret};
pub use source::SealedSource;
pub use suite::Suite;
pub use temporary::TemporaryKey;
pub use unlock::{Entries, KeyChange, Unlocked, change_keys, entries, key_of};
pub use writer::Sealer;
