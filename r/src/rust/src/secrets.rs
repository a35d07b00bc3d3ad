//! Keys and passwords.
//!
//! R is single-threaded, so one secret at a time is *in force*: that of the call that runs. Files
//! are opened and written with it.

use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use entasis::{File, Key, Kind, Limits, Opening, Password, Result, Secret, Suite, Unlocked};

use crate::build;
use crate::guard::{self, Failure, Text};

/// A key or password, which several holders share.
#[derive(Clone)]
pub struct Shared(Arc<Held>);

struct Held {
    secret: Secret,
    /// The key that was derived from the password. Deriving one takes a large part of a second.
    derived: Mutex<Option<Key>>,
}

/// The secret of the call that runs.
static IN_FORCE: Mutex<Option<Shared>> = Mutex::new(None);

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_force() -> Option<Shared> {
    lock(&IN_FORCE).clone()
}

impl Shared {
    fn new(secret: Secret) -> Self {
        Self(Arc::new(Held { secret, derived: Mutex::new(None) }))
    }

    /// The key or password.
    pub fn secret(&self) -> &Secret {
        &self.0.secret
    }

    fn derived(&self) -> Option<Key> {
        lock(&self.0.derived).clone()
    }

    /// Keeps the key that a password gave.
    fn note(&self, key: &Key) {
        if matches!(self.0.secret, Secret::Password(_)) {
            *lock(&self.0.derived) = Some(key.clone());
        }
    }
}

/// Opens something with the secret in force. The key that was derived from a password comes first,
/// and the password itself for files with another salt.
pub fn opened<T>(open: impl Fn(Option<Secret>) -> Result<T>) -> Result<T> {
    let Some(held) = in_force() else { return open(None) };
    if let Some(key) = held.derived() {
        match open(Some(Secret::Key(key))) {
            Err(error) if error.kind() == Kind::WrongKey => {}
            found => return found,
        }
    }
    open(Some(held.secret().clone()))
}

/// Opens a file with the secret in force.
pub fn opened_file(limits: &Limits, open: impl Fn(Opening) -> Result<File>) -> Result<File> {
    let file = opened(|secret| open(Opening { limits: limits.clone(), secret }))?;
    note(&file);
    Ok(file)
}

/// How a file is opened that can be opened once: by the derived key, if there is one.
pub fn opening(limits: Limits) -> Opening {
    let of = |held: Shared| held.derived().map_or_else(|| held.secret().clone(), Secret::Key);
    Opening { limits, secret: in_force().map(of) }
}

/// Keeps the key of a file that a password opened, for other files of the call.
pub fn note(file: &File) {
    if let (Some(held), Some(unlocked)) = (in_force(), file.unlocked()) {
        held.note(unlocked.key());
    }
}

/// Puts the secret of a manifest in force if none is, so that files that are added to its table are
/// encrypted too.
pub fn follow(secret: Option<Secret>) {
    if let (None, Some(secret)) = (in_force(), secret) {
        *lock(&IN_FORCE) = Some(Shared::new(secret));
    }
}

/// The secret in force for files to write. All files of a call get the key that was derived first.
pub fn for_writing() -> Option<Secret> {
    let held = in_force()?;
    if let Secret::Password(_) = held.secret() {
        if let Some(key) = held.derived() {
            return Some(Secret::Key(key));
        }
        // The core reports a failure.
        if let Ok(unlocked) = Unlocked::new(held.secret(), Suite::fastest(), &Limits::default()) {
            held.note(unlocked.key());
            return Some(Secret::Key(unlocked.key().clone()));
        }
    }
    Some(held.secret().clone())
}

/// A secret for C, which frees it.
pub fn boxed(secret: Secret) -> *mut Shared {
    Box::into_raw(Box::new(Shared::new(secret)))
}

/// A key of these bytes; a random one for a text without a start.
///
/// # Safety
/// The bytes must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_secret_key(bytes: Text, failure: *mut *mut Failure) -> *mut Shared {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let key = if bytes.is_none() { Key::random() } else { Key::new(bytes.bytes()) };
            Ok(boxed(Secret::Key(key?)))
        })
    }
}

/// The key in a file.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_secret_file(path: Text, failure: *mut *mut Failure) -> *mut Shared {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || Ok(boxed(Secret::Key(Key::from_file(&build::path(path)?)?))))
    }
}

/// A password.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_secret_password(text: Text, failure: *mut *mut Failure) -> *mut Shared {
    // SAFETY: as the caller promises.
    unsafe { guard::call(failure, null_mut(), || Ok(boxed(Secret::Password(Password::new(text.text()?)?)))) }
}

/// The 32 bytes of a key; null for a password.
///
/// # Safety
/// A function of this module must have returned `secret`, which must outlive the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_secret_bytes(secret: *const Shared) -> *const u8 {
    // SAFETY: as the caller promises.
    match unsafe { &*secret }.secret() {
        Secret::Key(key) => key.expose().as_ptr(),
        Secret::Password(_) => null(),
    }
}

/// Puts a secret in force, or none for null. Returns the one that was, or null.
///
/// # Safety
/// A function of this module must have returned `secret`, or it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_secret_use(secret: *const Shared) -> *mut Shared {
    // SAFETY: as the caller promises.
    let secret = unsafe { secret.as_ref() }.cloned();
    let before = std::mem::replace(&mut *lock(&IN_FORCE), secret);
    before.map_or(null_mut(), |before| Box::into_raw(Box::new(before)))
}

/// The secret in force, or null.
#[unsafe(no_mangle)]
pub extern "C" fn ent_secret_in_force() -> *mut Shared {
    in_force().map_or(null_mut(), |secret| Box::into_raw(Box::new(secret)))
}

/// Frees a secret. Its bytes are wiped when nobody else holds it.
///
/// # Safety
/// A function of this module must have returned `secret`, which is invalid afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_secret_free(secret: *mut Shared) {
    // SAFETY: `Box::into_raw` made it, and the caller gives it up.
    drop(unsafe { Box::from_raw(secret) });
}
