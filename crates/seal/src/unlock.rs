//! A file whose key pages were opened, and changes of its keys.

use std::fmt;

use entasis_format::{Error, Limits, Result, fallible};
use entasis_io::Source;
use ring::hmac;

use crate::derive::{Costs, Derivation};
use crate::entry::{Entry, EntryKind};
use crate::page::{KeyPage, MAX_ENTRIES, PAGE_LEN, PAGES_AT};
use crate::secret::{Key, Secret};
use crate::suite::{Bytes32, Suite, hkdf, hmac_key, random, random_key};

/// A sealed file whose file key is known.
pub struct Unlocked {
    pub(crate) page: KeyPage,
    pub(crate) file_key: Bytes32,
    pub(crate) slot_key: hmac::Key,
    /// The outer key that opened the file.
    outer: Key,
}

/// The keys and passwords of a file, as its key pages show them without a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entries {
    /// The cipher.
    pub suite: Suite,
    /// `key` or `password`, for each entry in order.
    pub kinds: Vec<&'static str>,
    /// The costs of deriving a key from a password; none if no password opens the file.
    pub costs: Option<Costs>,
}

/// A change of the keys of a file.
#[derive(Clone, Debug)]
pub enum KeyChange {
    /// One more key or password opens the file.
    Add(Secret),
    /// The entry with this number no longer opens it; without a number, the one that was used.
    Remove(Option<usize>),
}

impl Unlocked {
    /// Keys of a new file.
    ///
    /// # Errors
    /// *Io* if the system has no random numbers; *out of memory*.
    pub fn new(secret: &Secret, suite: Suite, limits: &Limits) -> Result<Self> {
        let derivation = match secret {
            Secret::Key(key) => key.derivation,
            Secret::Password(_) => Some(Derivation::new(Costs::default())?),
        };
        let outer = secret.outer(derivation.as_ref(), limits)?;
        let outer = outer.ok_or_else(|| Error::argument("the password has no costs"))?;
        let file_key = random_key()?;
        let entries = vec![Entry::new(suite, &outer, &file_key)?];
        let page = KeyPage { number: 1, id: random()?, suite, derivation, entries };
        Self::of(page, file_key, outer)
    }

    /// Keys of a new file that replaces this one. The same keys and passwords open it.
    ///
    /// # Errors
    /// *Io* if the system has no random numbers.
    pub fn renewed(&self) -> Result<Self> {
        let page = KeyPage { id: random()?, ..self.page.clone() };
        Self::of(page, self.file_key.clone(), self.outer.clone())
    }

    /// As [`renewed`](Self::renewed), with another file key. Only the key or password that was
    /// used opens the new file.
    ///
    /// # Errors
    /// As [`renewed`](Self::renewed).
    pub fn rekeyed(&self) -> Result<Self> {
        let file_key = random_key()?;
        let KeyPage { suite, derivation, .. } = self.page;
        let derivation = derivation.filter(|_| self.outer.derivation.is_some());
        let entries = vec![Entry::new(suite, &self.outer, &file_key)?];
        let page = KeyPage { number: 1, id: random()?, suite, derivation, entries };
        Self::of(page, file_key, self.outer.clone())
    }

    /// Opens the key pages of a file.
    ///
    /// # Errors
    /// *Wrong key*, also without a secret; *corrupt*; *tampered*; *unsupported*; *limit* for a
    /// password that costs too much; *io*.
    pub fn of_source(source: &dyn Source, secret: Option<&Secret>, limits: &Limits) -> Result<Self> {
        let pages = read_pages(source)?;
        let (page, bytes, _) = KeyPage::current([&pages[..PAGE_LEN], &pages[PAGE_LEN..]])?;
        let of_environment;
        let secret = match secret {
            Some(secret) => secret,
            None => {
                of_environment = Secret::of_environment()?;
                of_environment.as_ref().ok_or_else(|| {
                    Error::wrong_key("the file is encrypted: pass key= or password=")
                        .advise("pass what it was written with, or set ENTASIS_KEY_FILE")
                })?
            }
        };
        let outer = secret.outer(page.derivation.as_ref(), limits)?.ok_or_else(|| {
            Error::wrong_key("no password opens the file, only a key of 32 bytes").advise("pass key=")
        })?;
        for entry in &page.entries {
            if let Some(file_key) = entry.open(page.suite, page.derivation.as_ref(), &outer)? {
                page.check(bytes, &file_key)?;
                let outer = match entry.kind {
                    EntryKind::Key => Key { derivation: None, ..outer },
                    EntryKind::Password => Key { derivation: page.derivation, ..outer },
                };
                return Self::of(page, file_key, outer);
            }
        }
        let what = match secret {
            Secret::Key(_) => "the key does not open the file",
            Secret::Password(_) => "the password does not open the file",
        };
        Err(Error::wrong_key(what).advise("pass what it was written with"))
    }

    fn of(page: KeyPage, file_key: Bytes32, outer: Key) -> Result<Self> {
        let slot_key = hmac_key(&hkdf(&file_key, &[&page.id], &[b"entasis slot"])?);
        Ok(Self { page, file_key, slot_key, outer })
    }

    /// The cipher.
    pub fn suite(&self) -> Suite {
        self.page.suite
    }

    /// The key that opened the file. It opens other files that were written with it, without the
    /// cost of a password.
    pub fn key(&self) -> &Key {
        &self.outer
    }

    /// Both key pages.
    pub(crate) fn pages(&self) -> Result<Vec<u8>> {
        let page = self.page.emit(&self.file_key)?;
        Ok([&page[..], &page].concat())
    }

    /// The key page after a change of keys.
    fn changed(&self, change: &KeyChange, limits: &Limits) -> Result<KeyPage> {
        let mut page = self.page.clone();
        match change {
            KeyChange::Add(secret) => {
                if page.entries.len() == MAX_ENTRIES {
                    let message = format!("{MAX_ENTRIES} keys open the file, and more have no room");
                    return Err(Error::argument(message).advise("remove a key first"));
                }
                if page.derivation.is_none() {
                    page.derivation = match secret {
                        Secret::Key(key) => key.derivation,
                        Secret::Password(_) => Some(Derivation::new(Costs::default())?),
                    };
                }
                let outer = secret.outer(page.derivation.as_ref(), limits)?;
                let outer = outer.ok_or_else(|| Error::argument("the password has no costs"))?;
                if outer.derivation.is_some_and(|of| Some(of) != page.derivation) {
                    return Err(Error::argument("the key came from the password of another file")
                        .advise("pass the password itself"));
                }
                for entry in &page.entries {
                    if entry.open(page.suite, page.derivation.as_ref(), &outer)?.is_some() {
                        return Err(Error::argument("this key or password opens the file already"));
                    }
                }
                page.entries.push(Entry::new(page.suite, &outer, &self.file_key)?);
            }
            KeyChange::Remove(number) => {
                let number = match number {
                    Some(number) => *number,
                    None => self.own_entry()?,
                };
                if number >= page.entries.len() {
                    let n = page.entries.len();
                    return Err(Error::argument(format!(
                        "there is no key {number}: {n} open the file, from 0 on"
                    )));
                }
                if page.entries.len() == 1 {
                    let message = "it is the last key of the file, which nothing would open without it";
                    return Err(Error::argument(message).advise("add another key first"));
                }
                page.entries.remove(number);
                if page.entries.iter().all(|entry| entry.kind == EntryKind::Key) {
                    page.derivation = None;
                }
            }
        }
        page.number = page.number.saturating_add(1);
        Ok(page)
    }

    /// The number of the entry that the key opened.
    fn own_entry(&self) -> Result<usize> {
        for (number, entry) in self.page.entries.iter().enumerate() {
            if entry.open(self.page.suite, self.page.derivation.as_ref(), &self.outer)?.is_some() {
                return Ok(number);
            }
        }
        Err(Error::wrong_key("the key does not open the file"))
    }
}

/// The writes of a change of keys, in order, each to be synced: offsets and bytes.
///
/// # Errors
/// As [`Unlocked::of_source`]; *argument* for a key that is there already, the last key, a number
/// without a key, and a ninth key.
pub fn change_keys(
    source: &dyn Source,
    secret: Option<&Secret>,
    change: &KeyChange,
    limits: &Limits,
) -> Result<[(u64, Vec<u8>); 2]> {
    let unlocked = Unlocked::of_source(source, secret, limits)?;
    let bytes = unlocked.changed(change, limits)?.emit(&unlocked.file_key)?;
    let pages = read_pages(source)?;
    let (_, _, taken) = KeyPage::current([&pages[..PAGE_LEN], &pages[PAGE_LEN..]])?;
    let [first, second] = if taken == 0 { [PAGES_AT[1], PAGES_AT[0]] } else { PAGES_AT };
    Ok([(first, bytes.clone()), (second, bytes)])
}

/// The keys and passwords of a file. Needs no key.
///
/// # Errors
/// *Corrupt*, *unsupported*, *io*.
pub fn entries(source: &dyn Source) -> Result<Entries> {
    let pages = read_pages(source)?;
    let (page, _, _) = KeyPage::current([&pages[..PAGE_LEN], &pages[PAGE_LEN..]])?;
    let costs = page.derivation.map(|derivation| derivation.costs);
    Ok(Entries {
        suite: page.suite,
        kinds: page.entries.iter().map(|entry| entry.kind.name()).collect(),
        costs,
    })
}

/// The key that opens a file, derived from a password if one is given.
///
/// # Errors
/// As [`Unlocked::of_source`].
pub fn key_of(source: &dyn Source, secret: Option<&Secret>, limits: &Limits) -> Result<Key> {
    Ok(Unlocked::of_source(source, secret, limits)?.outer)
}

/// Checks that both key pages are valid and equal, as `verify` does.
///
/// # Errors
/// *Corrupt*, *io*.
pub(crate) fn check_pages(source: &dyn Source) -> Result<()> {
    let pages = read_pages(source)?;
    let (first, second) = pages.split_at(PAGE_LEN);
    for (page, at) in [first, second].into_iter().zip(PAGES_AT) {
        KeyPage::parse(page).map_err(|error| error.at(at))?;
    }
    if first != second {
        let message = "the two key pages differ: a change of keys was interrupted";
        return Err(Error::corrupt(message).at(PAGES_AT[1]).advise("change the keys again"));
    }
    Ok(())
}

fn read_pages(source: &dyn Source) -> Result<Vec<u8>> {
    let mut pages = fallible::defaults(2 * PAGE_LEN, "the key pages")?;
    source.read_exact_at(PAGES_AT[0], &mut pages).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Error::corrupt("the file ends within its key pages: it is truncated").at(PAGES_AT[0])
        }
        _ => Error::io(error, "read"),
    })?;
    Ok(pages)
}

impl fmt::Debug for Unlocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unlocked(...)")
    }
}
