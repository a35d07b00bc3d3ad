//! Collects R's strings to write: 16-byte views, equal strings stored once, the encoding of each.

use entasis::{Chunk, Error, HostRead, HostValidity, HostValues, HostViews, Result};

use crate::guard::{self, Failure};

/// Slots of the cache of recent strings, by their address in R.
const RECENT: usize = 1 << 13;
/// Size of a buffer for string bytes; the first ones are smaller.
const BUFFER: usize = 16 << 20;

/// The marked encodings of R, with the numbers of `cetype_t`.
const NATIVE: i32 = 0;
const UTF8: i32 = 1;
const AS_BYTES: i32 = 3;
const LATIN1: i32 = 2;
/// Text that C converted to UTF-8. Its bytes are not those of R's string, so they are copied.
const CONVERTED: i32 = 4;

/// Codes of stored encodings (`docs/format/hosts/`). Unchanged bytes: ASCII, or UTF-8 marked as
/// UTF-8.
const STORED_UTF8: u8 = 0;
/// Each byte is stored as the Unicode character with the same number. The string is marked as
/// Latin-1, or as bytes.
const STORED_LATIN1: u8 = 1;
const STORED_BYTES: u8 = 2;
/// UTF-8 bytes as they are, not marked.
const STORED_UNMARKED: u8 = 3;
/// Each byte is stored as such a character. The string is not marked, or wrongly marked as UTF-8.
const STORED_UNMARKED_BYTES: u8 = 4;
const STORED_WRONG_UTF8: u8 = 5;

/// Whether strings of an encoding are text, which is stored in UTF-8.
pub fn is_text(encoding: u8) -> bool {
    matches!(encoding, STORED_UTF8 | STORED_LATIN1 | STORED_UNMARKED)
}

/// A string as C passes it: its address, its bytes, its marked encoding.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StringRef {
    address: usize,
    bytes: *const u8,
    len: usize,
    mark: i32,
}

/// The strings of one column.
struct Texts {
    views: Vec<u128>,
    /// The validity bits, once a string is missing.
    validity: Option<Vec<u8>>,
    /// The encoding code of each string, once one is not UTF-8. ASCII has any encoding, so it
    /// repeats the code of the previous string, which compresses best.
    encodings: Option<Vec<u8>>,
    last_encoding: u8,
    /// Whether a string with another code than UTF-8 was added since this was reset.
    has_other: bool,
}

impl Texts {
    #[inline]
    fn put(&mut self, view: u128, encoding: Option<u8>) -> Result<()> {
        if self.views.len() == self.views.capacity() {
            return Err(Error::argument("more strings than announced"));
        }
        self.last_encoding = encoding.unwrap_or(self.last_encoding);
        self.has_other |= encoding.is_some_and(|encoding| encoding != STORED_UTF8);
        if self.last_encoding != STORED_UTF8 && self.encodings.is_none() {
            let mut all = Vec::with_capacity(self.views.capacity());
            all.resize(self.views.len(), STORED_UTF8);
            self.encodings = Some(all);
        }
        if let Some(all) = &mut self.encodings {
            all.push(self.last_encoding);
        }
        self.views.push(view.to_le());
        Ok(())
    }

    fn put_missing(&mut self) -> Result<()> {
        let (i, len) = (self.views.len(), self.views.capacity().div_ceil(8));
        self.put(0, None)?;
        let validity = self.validity.get_or_insert_with(|| vec![0xFF; len]);
        validity[i / 8] &= !(1 << (i % 8));
        Ok(())
    }
}

/// Collects strings into columns. All columns share the cache of recent strings, so a column of few
/// strings costs little.
pub struct Strings {
    columns: Vec<Texts>,
    /// The current column.
    column: usize,
    /// Whether R keeps the bytes in place until the file is written. Otherwise long strings are
    /// copied to the buffers.
    stay: bool,
    buffers: Vec<Vec<u8>>,
    recent: Vec<(usize, u128, Option<u8>)>,
}

impl Strings {
    /// A collector without columns.
    ///
    /// # Safety
    /// With `stay`, the bytes of all added strings must stay unchanged until the strings are
    /// written.
    pub unsafe fn new(stay: bool) -> Self {
        Self { columns: Vec::new(), column: 0, stay, buffers: Vec::new(), recent: Vec::new() }
    }

    /// Adds a column with room for `n` strings and makes it the current one. Returns its number.
    pub fn begin(&mut self, n: usize) -> Result<usize> {
        self.columns.push(Texts {
            views: room(n)?,
            validity: None,
            encodings: None,
            last_encoding: STORED_UTF8,
            has_other: false,
        });
        if self.recent.is_empty() {
            self.recent = vec![(0, 0, None); RECENT];
        }
        self.column = self.columns.len() - 1;
        Ok(self.column)
    }

    /// Makes a column the current one, with room for `more` strings, and resets its `has_other`
    /// flag.
    pub fn resume(&mut self, column: usize, more: usize) -> Result<()> {
        self.column = column;
        let texts = self.texts_mut()?;
        texts.has_other = false;
        texts.views.try_reserve(more).map_err(|_| no_memory(more.saturating_mul(16)))?;
        if let Some(validity) = &mut texts.validity {
            validity.resize(texts.views.capacity().div_ceil(8), 0xFF);
        }
        Ok(())
    }

    fn texts_mut(&mut self) -> Result<&mut Texts> {
        self.columns.get_mut(self.column).ok_or_else(|| Error::argument("there is no column of strings"))
    }

    /// The current column.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The number of strings in a column.
    pub fn len(&self, column: usize) -> usize {
        self.columns.get(column).map_or(0, |texts| texts.views.len())
    }

    /// The encoding codes of a column; `None` if all strings are UTF-8 or ASCII.
    pub fn encodings(&self, column: usize) -> Option<&[u8]> {
        self.columns.get(column)?.encodings.as_deref()
    }

    /// Adds strings by their addresses until one is not in the cache. Returns how many it added.
    /// `missing` is the address of `NA_character_`.
    fn add_recent(&mut self, addresses: &[usize], missing: usize) -> Result<usize> {
        let mut done = 0;
        let Some(texts) = self.columns.get_mut(self.column) else {
            return Err(Error::argument("there is no column of strings"));
        };
        for &address in addresses {
            let (known, view, encoding) = self.recent[slot(address)];
            if address == missing {
                texts.put_missing()?;
            } else if known == address && address != 0 {
                texts.put(view, encoding)?;
            } else {
                break;
            }
            done += 1;
        }
        Ok(done)
    }

    /// Adds strings. `missing` is the address of `NA_character_`.
    ///
    /// # Safety
    /// The bytes of the strings must be valid.
    pub unsafe fn add_all(&mut self, batch: &[StringRef], missing: usize) -> Result<()> {
        for string in batch {
            if self.add_recent(&[string.address], missing)? == 0 {
                // SAFETY: as the caller promises.
                self.add(string.address, unsafe { guard::slice(string.bytes, string.len) }, string.mark)?;
            }
        }
        Ok(())
    }

    /// The encoding codes from string `at` of the current column on. `None` if all strings since
    /// [`resume`](Self::resume) or [`begin`](Self::begin) are UTF-8 or ASCII.
    pub fn encodings_since(&self, at: usize) -> Option<&[u8]> {
        let texts = self.columns.get(self.column)?;
        texts.encodings.as_ref().filter(|_| texts.has_other).and_then(|encodings| encodings.get(at..))
    }

    fn add(&mut self, address: usize, bytes: &[u8], mark: i32) -> Result<()> {
        let (view, encoding) = if bytes.is_ascii() {
            (self.keep(bytes)?, None)
        } else {
            let is_utf8 = std::str::from_utf8(bytes).is_ok();
            let encoding = match mark {
                UTF8 | CONVERTED if is_utf8 => STORED_UTF8,
                UTF8 => STORED_WRONG_UTF8,
                LATIN1 => STORED_LATIN1,
                AS_BYTES => STORED_BYTES,
                NATIVE if is_utf8 => STORED_UNMARKED,
                _ => STORED_UNMARKED_BYTES,
            };
            let view = match encoding {
                STORED_UTF8 if mark == CONVERTED => self.copy(bytes)?,
                STORED_UTF8 | STORED_UNMARKED => self.keep(bytes)?,
                _ => self.copy(bytes.iter().map(|&byte| char::from(byte)).collect::<String>().as_bytes())?,
            };
            (view, Some(encoding))
        };
        self.recent[slot(address)] = (address, view, encoding);
        self.texts_mut()?.put(view, encoding)
    }

    /// A view of R's bytes, copied unless R keeps them in place.
    fn keep(&mut self, bytes: &[u8]) -> Result<u128> {
        if self.stay && bytes.len() > HostViews::INLINE { view_of(bytes) } else { self.copy(bytes) }
    }

    /// The view of a copy of bytes.
    fn copy(&mut self, bytes: &[u8]) -> Result<u128> {
        if bytes.len() <= HostViews::INLINE {
            let mut view = [0; 16];
            view[0] = bytes.len() as u8;
            view[4..4 + bytes.len()].copy_from_slice(bytes);
            return Ok(u128::from_le_bytes(view));
        }
        if self.buffers.last().is_none_or(|last| last.capacity() - last.len() < bytes.len()) {
            let len = BUFFER.min(1 << (12 + 2 * self.buffers.len().min(8))).max(bytes.len());
            let mut buffer = Vec::new();
            buffer.try_reserve_exact(len).map_err(|_| no_memory(len))?;
            self.buffers.push(buffer);
        }
        let number = self.buffers.len() - 1;
        // The buffer has room, so earlier bytes do not move.
        let buffer = &mut self.buffers[number];
        let at = buffer.len();
        buffer.extend_from_slice(bytes);
        view_of(&buffer[at..])
    }

    /// Lends the strings of a column.
    ///
    /// # Safety
    /// The strings must stay unchanged while the chunk is used.
    pub unsafe fn lend(&self, column: usize) -> Result<Chunk> {
        let texts = self.columns.get(column).ok_or_else(|| Error::argument("strings were not collected"))?;
        // SAFETY: the memory is ours, initialised, and lives as long as the caller promises.
        let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
        let validity = match &texts.validity {
            Some(bits) => HostValidity::Bits { memory: lend(bits), first_bit: 0 },
            None => HostValidity::AllValid,
        };
        // SAFETY: as above; bytes are in buffers, which are not moved, or stay where R has them, as
        // the caller of `new` promised.
        let views = unsafe { HostViews::new(texts.views.as_ptr(), texts.views.len()) };
        Ok(Chunk { n: texts.views.len(), values: HostValues::Anywhere(views), validity })
    }
}

/// The view of more than 12 bytes, which must not move.
fn view_of(bytes: &[u8]) -> Result<u128> {
    Ok(HostViews::view(u32::try_from(bytes.len()).map_err(|_| too_long())?, bytes.as_ptr()))
}

/// Memory for the views of `n` strings.
fn room(n: usize) -> Result<Vec<u128>> {
    let mut views = Vec::new();
    views.try_reserve_exact(n).map_err(|_| no_memory(n.saturating_mul(16)))?;
    Ok(views)
}

fn no_memory(len: usize) -> Error {
    Error::out_of_memory(len, "the strings")
}

fn slot(address: usize) -> usize {
    // The lowest bits of an address are zero.
    ((address >> 4) ^ (address >> 17)) % RECENT
}

fn too_long() -> Error {
    Error::unsupported("a string is too long")
}

/// Adds strings by their addresses until one is not in the cache of recent strings. Returns how
/// many it added, or -1 with an error. `missing` is the address of `NA_character_`. It never
/// follows an address.
///
/// # Safety
/// `ent_builder_strings` or `ent_cells_strings` must have returned `strings`, which only this
/// thread may use. `addresses` must hold `n` values; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_add_recent(
    strings: *mut Strings,
    addresses: *const usize,
    n: usize,
    missing: usize,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            Ok((*strings).add_recent(guard::slice(addresses, n), missing)?.cast_signed())
        })
    }
}

/// Adds strings. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_strings_add_recent`]; the bytes of the strings must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_add(
    strings: *mut Strings,
    batch: *const StringRef,
    n: usize,
    missing: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            (*strings).add_all(guard::slice(batch, n), missing)?;
            Ok(0)
        })
    }
}

/// The encoding codes from string `at` on. Null if all strings since the collector was returned are
/// ASCII or marked as UTF-8.
///
/// # Safety
/// `ent_cells_strings` must have returned `strings`; `at` must be at most their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_encodings(strings: *const Strings, at: u64) -> *const u8 {
    // SAFETY: as the caller promises.
    let strings = unsafe { &*strings };
    strings.encodings_since(at as usize).map_or(std::ptr::null(), <[u8]>::as_ptr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_kept_once_and_marked() {
        // SAFETY: the added bytes are static.
        let mut strings = unsafe { Strings::new(false) };
        assert!(strings.add_recent(&[1000], 1000).is_err());
        assert_eq!(strings.begin(9).unwrap(), 0);
        strings.add(16, b"plain", NATIVE).unwrap();
        strings.add(32, "caf\u{e9} with more than twelve".as_bytes(), UTF8).unwrap();
        assert!(strings.encodings(0).is_none());
        assert_eq!(strings.add_recent(&[1000], 1000).unwrap(), 1);
        strings.add(48, b"caf\xe9", LATIN1).unwrap();
        assert_eq!(strings.add_recent(&[32, 64, 32], 1000).unwrap(), 1);
        strings.add(80, b"\xff\x00\xfe", AS_BYTES).unwrap();
        strings.add(96, b"plain", NATIVE).unwrap();
        strings.add(112, b"\xff", UTF8).unwrap();
        strings.add(128, b"\xff", NATIVE).unwrap();
        assert_eq!(strings.encodings(0).unwrap(), [0, 0, 0, 1, 0, 2, 2, 5, 4]);
        let texts = &strings.columns[0];
        assert_eq!(texts.validity.as_deref().unwrap()[0], 0b1111_1011);
        assert_eq!(texts.views[1], texts.views[4]);
        assert_eq!(strings.buffers.len(), 1);
        assert_eq!(&texts.views[3].to_ne_bytes()[..6], &[5, 0, 0, 0, b'c', b'a']);
        assert!(strings.texts_mut().unwrap().put_missing().is_err());
    }

    #[test]
    fn columns_share_what_was_added_lately() {
        // SAFETY: the added bytes are static.
        let mut strings = unsafe { Strings::new(false) };
        let bytes = b"one with more than twelve bytes";
        assert_eq!(strings.begin(1).unwrap(), 0);
        strings.add(16, bytes, NATIVE).unwrap();
        assert_eq!(strings.begin(2).unwrap(), 1);
        assert_eq!(strings.add_recent(&[16, 1000], 1000).unwrap(), 2);
        assert_eq!(strings.columns[0].views[0], strings.columns[1].views[0]);
        assert_eq!(strings.buffers.iter().map(Vec::len).sum::<usize>(), bytes.len());
        assert!(strings.columns[0].validity.is_none() && strings.columns[1].validity.is_some());
        strings.resume(0, 1).unwrap();
        assert_eq!(strings.add_recent(&[16], 1000).unwrap(), 1);
        assert_eq!((strings.len(0), strings.len(1)), (2, 2));
    }
}
