//! Keys and passwords, and what is done with them.
//!
//! R is single-threaded, so one secret at a time is *in force*: that of the call that runs. Files
//! are opened and written with it.

use std::ffi::c_int;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use entasis::{
    Error, File, FileSource, Key, KeyChange, Kind, Limits, Opening, Password, Result, Secret, Suite,
    Unlocked, Value, WriteOptions, change_keys, decrypt, encrypt, keys, unlock,
};

use crate::build;
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::nodes::Tree;
use crate::options::Options;

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
    open(Some(held.0.secret.clone()))
}

/// Opens a file with the secret in force.
pub fn opened_file(limits: &Limits, open: impl Fn(Opening) -> Result<File>) -> Result<File> {
    let file = opened(|secret| open(Opening { limits: limits.clone(), secret }))?;
    note(&file);
    Ok(file)
}

/// How a file is opened that can be opened once: by the derived key, if there is one.
pub fn opening(limits: Limits) -> Opening {
    let of = |held: Shared| held.derived().map_or_else(|| held.0.secret.clone(), Secret::Key);
    Opening { limits, secret: in_force().map(of) }
}

/// Keeps the key of a file that a password opened, for other files of the call.
pub fn note(file: &File) {
    if let (Some(held), Some(unlocked)) = (in_force(), file.unlocked()) {
        held.note(unlocked.key());
    }
}

/// Puts the key of an open file in force if no secret is, so that files that are written next to it
/// are encrypted too.
pub fn follow(file: &File) {
    if let (None, Some(unlocked)) = (in_force(), file.unlocked()) {
        *lock(&IN_FORCE) = Some(Shared::new(Secret::Key(unlocked.key().clone())));
    }
}

/// The secret in force for files to write. All files of a call get the key that was derived first.
pub fn for_writing() -> Option<Secret> {
    let held = in_force()?;
    if let Secret::Password(_) = held.0.secret {
        if let Some(key) = held.derived() {
            return Some(Secret::Key(key));
        }
        // The core reports a failure.
        if let Ok(unlocked) = Unlocked::new(&held.0.secret, Suite::fastest(), &Limits::default()) {
            held.note(unlocked.key());
            return Some(Secret::Key(unlocked.key().clone()));
        }
    }
    Some(held.0.secret.clone())
}

fn boxed(secret: Secret) -> *mut Shared {
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
    match &unsafe { &*secret }.0.secret {
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

/// The key that opens an encrypted file, with the secret in force.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_unlock(path: Text, failure: *mut *mut Failure) -> *mut Shared {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let path = build::path(path)?;
            let source = FileSource::open(&path).map_err(|e| Error::io(e, "open").in_file(&path))?;
            let key = opened(|secret| unlock(&source, secret.as_ref(), &Limits::default()));
            Ok(boxed(Secret::Key(key.map_err(|error| error.in_file(&path))?)))
        })
    }
}

/// Encrypts a file with the secret in force, or decrypts it. `out` has no start for a file that
/// takes the place of the old one. Returns 0, or -1 with an error.
///
/// # Safety
/// The texts must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_encrypt(
    path: Text,
    out: Text,
    decrypts: c_int,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let path = build::path(path)?;
            let out = if out.is_none() { None } else { Some(build::path(out)?) };
            let signals = Signals::new(interrupted);
            if decrypts == 0 {
                encrypt(&path, out.as_deref(), &options.of_core(), &signals)?;
            } else {
                opened(|secret| decrypt(&path, out.as_deref(), &options.opening(secret), &signals))?;
            }
            Ok(0)
        })
    }
}

/// Adds the secret `new` to the keys of a file, which the secret in force opens. Returns 0, or -1
/// with an error.
///
/// # Safety
/// The text and `new` must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_add_key(
    path: Text,
    new: *const Shared,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let new = &*new;
            change(path, &KeyChange::Add(new.0.secret.clone()), options, interrupted)
        })
    }
}

/// Removes a key of a file, which the secret in force opens: that with a number, or for a negative
/// one the key that opens it. Returns 0, or -1 with an error.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_remove_key(
    path: Text,
    number: f64,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let number = (number >= 0.0).then_some(number as usize);
            change(path, &KeyChange::Remove(number), options, interrupted)
        })
    }
}

/// # Safety
/// The text must be valid.
unsafe fn change(
    path: Text,
    change: &KeyChange,
    options: Options,
    interrupted: Option<Interrupted>,
) -> Result<c_int> {
    // SAFETY: as the caller promises.
    let path = unsafe { build::path(path) }?;
    let signals = Signals::new(interrupted);
    let work = |options: &WriteOptions| change_keys(&path, change, options, &signals);
    opened(|secret| work(&options.opening(secret)))?;
    Ok(0)
}

/// The cipher of a file, and the kinds of its keys; a null value for a plain file.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_keys(path: Text, failure: *mut *mut Failure) -> *mut Tree {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let path = build::path(path)?;
            let source = FileSource::open(&path).map_err(|e| Error::io(e, "open").in_file(&path))?;
            let found = keys(&source).map_err(|error| error.in_file(&path))?;
            let value = found.map_or(Value::Null, |found| {
                let kinds = found.kinds.iter().map(|&kind| Value::from(kind)).collect();
                Value::map([("cipher", Value::from(found.suite.name())), ("kinds", Value::List(kinds))])
            });
            Ok(Box::into_raw(Box::new(Tree::new(value)?)))
        })
    }
}
