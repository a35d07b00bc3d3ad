//! Encrypts and decrypts whole files, and changes their keys (`docs/format/encryption.md`).

use std::io;
use std::path::Path;

use entasis_format::{Error, HEADER_LEN, Header, Keep, Limits, Result, fallible};
use entasis_io::{FileSource, InPlace, Replacement, Source};
use entasis_seal::{Entries, Key, KeyChange, Secret, Unlocked};

use crate::change::{Change, To};
use crate::file::File;
use crate::file_sink::FileSink;
use crate::monitor::Monitor;
use crate::retain::{Blocks, Destination, copy, kept_generations};
use crate::write::{WriteOptions, unlocked, when_free};

/// All earlier generations.
const ALL: Keep = Keep { kind: Keep::GENERATIONS, value: u64::MAX };

/// Encrypts the file at `path`: writes its value and its earlier generations to a new file, which
/// takes its place, or that of `out`. The key or password is [`WriteOptions::secret`].
///
/// Costs about as much as copying the file. Blocks stay as they are stored. Reports progress in
/// bytes.
///
/// # Errors
/// *Argument* without a secret, and for an encrypted file; otherwise as [`Change::begin`] and
/// [`write`](crate::write()). After an error no file has changed.
pub fn encrypt(path: &Path, out: Option<&Path>, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
    if options.secret.is_none() {
        return Err(Error::argument("nothing to encrypt with").advise("pass a key or a password"));
    }
    if is_encrypted(path)? {
        let error = Error::argument("the file is encrypted already").in_file(path);
        return Err(error.advise("add a key or password to it, or decrypt it first"));
    }
    let unlocked = unlocked(options)?;
    let plain = WriteOptions { secret: None, ..options.clone() };
    store_anew(path, out, unlocked, &plain, monitor)
}

/// Decrypts the file at `path`, as [`encrypt`] encrypts it.
///
/// # Errors
/// *Argument* for a plain file; otherwise as [`encrypt`], and as for opening the file.
pub fn decrypt(path: &Path, out: Option<&Path>, options: &WriteOptions, monitor: &dyn Monitor) -> Result<()> {
    if !is_encrypted(path)? {
        return Err(Error::argument("the file is not encrypted").in_file(path));
    }
    store_anew(path, out, None, options, monitor)
}

fn store_anew(
    path: &Path,
    out: Option<&Path>,
    unlocked: Option<Unlocked>,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    let change = Change::begin(path, options, monitor)?;
    let work = || {
        let (in_place, file) = change.into_parts();
        crate::change::check_change(&file, false)?;
        let replacement = match out {
            None => in_place.replace(options.durable).map_err(|e| Error::io(e, "replace"))?,
            Some(out) => {
                let create = || create_like(out, &file, options);
                when_free(options.wait, monitor, create)?.map_err(|e| Error::io(e, "create").in_file(out))?
            }
        };
        store(replacement, file, unlocked, options, monitor)
    };
    work().map_err(|error| error.in_file(path))
}

/// Begins a new file. Wider access rights than those of the old one would show it to others.
fn create_like(out: &Path, file: &File, options: &WriteOptions) -> io::Result<Replacement> {
    let mut replacement = Replacement::create_like(out, file.path(), options.durable)?;
    if options.must_be_new {
        replacement.must_be_new()?;
    }
    Ok(replacement)
}

/// Copies all generations to a new file, and puts it in its place.
fn store(
    replacement: Replacement,
    file: File,
    unlocked: Option<Unlocked>,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    let earlier = kept_generations(&file, ALL, 0)?;
    let is_sealed = unlocked.is_some();
    let to = To::New(Box::new(FileSink::new(replacement, unlocked)?));
    let open = |slot| to.open(slot);
    let destination = Destination { sink: to.sink(), is_sealed, open: &open };
    let slot = copy(&file, &earlier, Blocks::Same, &destination, options.threads, monitor)?;
    to.commit(Some(file), slot, true)
}

/// Adds a key or password to an encrypted file, or removes one. Writes 8 KiB: the values stay as
/// they are. The file is opened with [`WriteOptions::secret`].
///
/// # Errors
/// *Wrong key*; *argument* for a plain file, a key that opens it already, a number without a key,
/// the last key, and a ninth one; otherwise as [`Change::begin`].
pub fn change_keys(
    path: &Path,
    change: &KeyChange,
    options: &WriteOptions,
    monitor: &dyn Monitor,
) -> Result<()> {
    let on_disk = |doing| move |source| Error::io(source, doing).in_file(path);
    if !is_encrypted(path)? {
        return Err(Error::argument("the file is not encrypted").in_file(path).advise("encrypt it"));
    }
    let take = || InPlace::open(path, options.needs_lock);
    let in_place = when_free(options.wait, monitor, take)?.map_err(on_disk("change"))?;
    let source = FileSource::open(in_place.target()).map_err(on_disk("open"))?;
    let writes = entasis_seal::change_keys(&source, options.secret.as_ref(), change, &Limits::default());
    for (at, bytes) in writes.map_err(|error| error.in_file(path))? {
        in_place.rewrite(at, &bytes).map_err(on_disk("change"))?;
    }
    Ok(())
}

/// The keys and passwords of a file, as it shows them without a key; `None` for a plain file.
///
/// # Errors
/// *Corrupt*, *unsupported*, *not Entasis*, *io*.
pub fn keys(source: &dyn Source) -> Result<Option<Entries>> {
    if is_sealed(source)? { entasis_seal::entries(source).map(Some) } else { Ok(None) }
}

/// The key that opens an encrypted file. A password is derived once: the key opens the file, and
/// others that were written with it, without that cost.
///
/// # Errors
/// *Wrong key*; *argument* for a plain file; otherwise as [`keys`].
pub fn unlock(source: &dyn Source, secret: Option<&Secret>, limits: &Limits) -> Result<Key> {
    if !is_sealed(source)? {
        return Err(Error::argument("the file is not encrypted"));
    }
    entasis_seal::key_of(source, secret, limits)
}

/// Whether the file at `path` is encrypted.
///
/// # Errors
/// *Not Entasis*, *corrupt*, *io*.
pub fn is_encrypted(path: &Path) -> Result<bool> {
    let source = FileSource::open(path).map_err(|e| Error::io(e, "open").in_file(path))?;
    is_sealed(&source).map_err(|error| error.in_file(path))
}

fn is_sealed(source: &dyn Source) -> Result<bool> {
    let len = (HEADER_LEN as u64).min(source.len()) as usize;
    let mut head = fallible::defaults(len, "the header")?;
    source.read_exact_at(0, &mut head).map_err(|error| Error::io(error, "read"))?;
    if Header::is_of_sealed(&head) {
        return Header::check_sealed(&head).map(|()| true);
    }
    Header::parse(&head).map(|_| false)
}
