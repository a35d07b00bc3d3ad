//! Folders of files: their parts, the names of folders, and changes of their tables.

use std::os::raw::c_int;
use std::ptr::null_mut;

use entasis::{Error, File, Limits, Opening, Result, Value};
use entasis_dataset::{
    Before, Dataset, Job, KeyType, Mode, Written, before, commit, encode, list, newest_manifest,
};

use crate::build;
use crate::file::{Limit, lend, limits_of};
use crate::guard::{self, Failure, Interrupted, Signals, Text, slice};
use crate::nodes::Tree;
use crate::options::Options;
use crate::secrets;

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::List(texts.into_iter().map(Value::from).collect())
}

/// The files of a folder: paths, generations, and for each key a list of texts.
fn parts(dataset: &Dataset) -> Result<Value> {
    let files = dataset.files().iter().map(|path| Value::from(path.to_string_lossy().as_ref())).collect();
    let mut generations = Vec::with_capacity(dataset.files().len());
    for number in 0..dataset.files().len() {
        generations.push(Value::UInt(dataset.file(number)?.generation()));
    }
    let keys = dataset.keys();
    let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
    let values = keys.values.iter().map(|values| Value::List(values.iter().map(text).collect())).collect();
    Ok(Value::map([
        ("files", Value::List(files)),
        ("generations", Value::List(generations)),
        ("names", texts(keys.names.iter().map(String::as_str))),
        ("types", texts(keys.types.iter().map(|kind| kind.name()))),
        ("texts", Value::List(values)),
    ]))
}

/// The files of a folder and their keys.
///
/// # Safety
/// The texts and the `n` limits must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_folder(
    path: Text,
    limits: *const Limit,
    n: usize,
    failure: *mut *mut Failure,
) -> *mut Tree {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let (path, limits) = (build::path(path)?, limits_of(limits, n)?);
            let found = secrets::opened(|secret| {
                let opening = Opening { limits: limits.clone(), secret };
                parts(&Dataset::open(&path, opening)?)
            });
            Ok(Box::into_raw(Box::new(Tree::new(found?)?)))
        })
    }
}

/// The state of a folder before a job: the number of its manifest, or -1; a file that is in the
/// way, or an empty text; the names and types of its keys, or null for a table without files or
/// without `is_read`; and whether R wrote the first file. With `is_read` the secret of the
/// manifest is in force afterwards.
///
/// # Safety
/// The text must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_folder_state(
    path: Text,
    is_read: c_int,
    failure: *mut *mut Failure,
) -> *mut Tree {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let folder = build::path(path)?;
            let number = newest_manifest(&folder);
            let is_of_job = |path: &String| path.rsplit('/').next().is_some_and(entasis_dataset::is_of_job);
            let other = match number {
                None if folder.is_dir() => list(&folder)?.into_iter().find(|path| !is_of_job(path)),
                _ => None,
            };
            let read = || secrets::opened(|secret| before(&folder, secret.as_ref()));
            let Before { keys, secret } = if is_read != 0 { read()? } else { Before::default() };
            secrets::follow(secret);
            let mut is_of_r = true;
            if keys.is_some() {
                let file = secrets::opened_file(&Limits::default(), |opening| {
                    Dataset::open(&folder, opening)?.file(0)
                })?;
                is_of_r = host_of(&file)?.as_deref() == Some("r");
            }
            let (names, types) = match &keys {
                None => (Value::Null, Value::Null),
                Some(keys) => (
                    texts(keys.iter().map(|(name, _)| name.as_str())),
                    texts(keys.iter().map(|(_, kind)| kind.name())),
                ),
            };
            let number = number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1);
            let state = Value::map([
                ("number", Value::Int(number)),
                ("other", Value::from(other.as_deref().unwrap_or_default())),
                ("names", names),
                ("types", types),
                ("is_of_r", Value::Bool(is_of_r)),
            ]);
            Ok(Box::into_raw(Box::new(Tree::new(state)?)))
        })
    }
}

fn host_of(file: &File) -> Result<Option<String>> {
    Ok(file.host()?.get("host").and_then(Value::as_str).map(str::to_owned))
}

/// The names of the folders for values of a key. A text without a start is missing.
///
/// # Safety
/// The texts must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_folder_names(
    key: Text,
    values: *const Text,
    n: usize,
    failure: *mut *mut Failure,
) -> *mut Tree {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let key = text_of(key)?.unwrap_or_default();
            let name = |value: &Text| encode(&key, text_of(*value)?.as_deref()).map(Value::from);
            let names = slice(values, n).iter().map(name).collect::<Result<_>>()?;
            Ok(Box::into_raw(Box::new(Tree::new(Value::List(names))?)))
        })
    }
}

/// The text that C lends; `None` for a missing one.
///
/// # Safety
/// As for [`Text::bytes`].
unsafe fn text_of(text: Text) -> Result<Option<String>> {
    if text.is_none() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { text.bytes() };
    let text = std::str::from_utf8(bytes).map_err(|_| Error::argument("a text is not UTF-8"))?;
    Ok(Some(text.to_owned()))
}

/// The files that a job has written, and its keys.
#[repr(C)]
pub struct Committed {
    folder: Text,
    /// The random name of the job.
    job: Text,
    paths: *const Text,
    n_files: usize,
    names: *const Text,
    types: *const Text,
    n_keys: usize,
    /// The texts of the keys, those of a file together.
    texts: *const Text,
    /// Whether the files replace those of the table, whose manifest has the number `before` or -1.
    replaces: c_int,
    before: f64,
}

/// Makes files part of the table of a folder. Returns 0, or -1 with an error.
///
/// # Safety
/// All texts must be valid, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_folder_commit(
    of: *const Committed,
    options: Options,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let of = &*of;
            let wrong = || Error::argument("a key has an unknown type");
            let (names, types) = (slice(of.names, of.n_keys), slice(of.types, of.n_keys));
            let mut keys = Vec::with_capacity(of.n_keys);
            for (name, kind) in names.iter().zip(types) {
                let kind = text_of(*kind)?.as_deref().and_then(KeyType::of_name).ok_or_else(wrong)?;
                keys.push((text_of(*name)?.unwrap_or_default(), kind));
            }
            let all = slice(of.texts, of.n_files.saturating_mul(of.n_keys));
            let mut written = Vec::with_capacity(of.n_files);
            for (i, path) in slice(of.paths, of.n_files).iter().enumerate() {
                let own = all.get(i * of.n_keys..(i + 1) * of.n_keys).unwrap_or_default();
                let texts = own.iter().map(|text| text_of(*text)).collect::<Result<_>>()?;
                written.push(Written { path: text_of(*path)?.unwrap_or_default(), texts });
            }
            let before = (of.before >= 0.0).then_some(of.before as u64);
            let mode = if of.replaces != 0 { Mode::Replace(before) } else { Mode::Append };
            let name = text_of(of.job)?.unwrap_or_default();
            let job = Job { name: &name, keys: &keys, mode };
            let signals = Signals::new(interrupted);
            commit(&build::path(of.folder)?, &job, &written, &options.of_core(), &lend, &signals)?;
            Ok(0)
        })
    }
}
