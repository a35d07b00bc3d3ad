//! Encrypts and decrypts files, and changes their keys.

use std::ffi::c_int;
use std::ptr::null_mut;

use entasis::{
    Error, FileSource, KeyChange, Limits, Result, Secret, Value, WriteOptions, change_keys, decrypt, encrypt,
    keys, unlock,
};

use crate::build;
use crate::guard::{self, Failure, Interrupted, Signals, Text};
use crate::nodes::Tree;
use crate::options::Options;
use crate::secrets::{Shared, boxed, opened};

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
            change(path, &KeyChange::Add(new.secret().clone()), options, interrupted)
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
