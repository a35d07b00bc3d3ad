//! R's strings on their way into a file: views of 16 bytes, equal strings kept once, and how each was marked.

use entasis::{Chunk, Error, HostRead, HostValidity, HostValues, HostViews, Result};

use crate::guard::{self, Failure};

/// Strings whose bytes were kept lately, by the address that R has for them.
const LATELY: usize = 1 << 13;
/// Bytes of a buffer of strings, but of the first ones, which are smaller.
const BUFFER: usize = 16 << 20;

/// How R marks the bytes of a string, as `cetype_t` has them.
const NATIVE: i32 = 0;
const UTF8: i32 = 1;
const AS_BYTES: i32 = 3;
const LATIN1: i32 = 2;

/// How a string is kept (format, section 6): as it is and marked as UTF-8, or ASCII.
const KEPT_UTF8: u8 = 0;
/// Each byte as the character of its number; the string is marked as Latin-1, as bytes.
const KEPT_LATIN1: u8 = 1;
const KEPT_BYTES: u8 = 2;
/// As it is, not marked.
const KEPT_UNMARKED: u8 = 3;
/// Each byte as a character: not marked, or marked as UTF-8, which it is not.
const KEPT_UNMARKED_BYTES: u8 = 4;
const KEPT_WRONG_UTF8: u8 = 5;

/// A string as C hands it over: its address, its bytes, how it is marked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Handed {
    address: usize,
    bytes: *const u8,
    len: usize,
    mark: i32,
}

/// Strings that are collected, one by one.
pub struct Strings {
    views: Vec<u128>,
    /// Whether R keeps the bytes where they are until the file is written. Else those of long strings are copied, to buffers.
    stay: bool,
    buffers: Vec<Vec<u8>>,
    /// A bit for each string that is there, when one is missing.
    validity: Option<Vec<u8>>,
    /// How each is kept, when one is not as most are. What ASCII says counts for nothing: it says what the one before does.
    kept: Option<Vec<u8>>,
    last_kept: u8,
    /// Whether one was not ASCII, nor UTF-8 and marked so, since this was set to false.
    odd: bool,
    lately: Vec<(usize, u128, Option<u8>)>,
}

impl Strings {
    /// Room for `n` strings.
    ///
    /// # Safety
    /// Where they `stay`, the bytes of all that are added stay as they are until the strings were written.
    pub unsafe fn new(n: usize, stay: bool) -> Result<Self> {
        Ok(Self {
            views: room(n)?,
            stay,
            buffers: Vec::new(),
            validity: None,
            kept: None,
            last_kept: KEPT_UTF8,
            odd: false,
            lately: vec![(0, 0, None); LATELY],
        })
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Makes room for `more` strings, and forgets that there were odd ones.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        self.odd = false;
        self.views.try_reserve(more).map_err(|_| no_memory())?;
        if let Some(validity) = &mut self.validity {
            validity.resize(self.views.capacity().div_ceil(8), 0xFF);
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, view: u128, kept: Option<u8>) -> Result<()> {
        if self.views.len() == self.views.capacity() {
            return Err(Error::argument("more strings than were told"));
        }
        self.last_kept = kept.unwrap_or(self.last_kept);
        self.odd |= kept.is_some_and(|kept| kept != KEPT_UTF8);
        if self.last_kept != KEPT_UTF8 && self.kept.is_none() {
            let mut all = Vec::with_capacity(self.views.capacity());
            all.resize(self.views.len(), KEPT_UTF8);
            self.kept = Some(all);
        }
        if let Some(all) = &mut self.kept {
            all.push(self.last_kept);
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

    /// Adds strings, by their addresses, until one was not added lately; returns how many. `missing` is the address of the missing one.
    fn again(&mut self, addresses: &[usize], missing: usize) -> Result<usize> {
        let mut done = 0;
        for &address in addresses {
            let (known, view, kept) = self.lately[slot(address)];
            if address == missing {
                self.put_missing()?;
            } else if known == address && address != 0 {
                self.put(view, kept)?;
            } else {
                break;
            }
            done += 1;
        }
        Ok(done)
    }

    /// Adds strings, each of which may have been added lately, or be the missing one.
    ///
    /// # Safety
    /// Their bytes are there.
    pub unsafe fn add_all(&mut self, handed: &[Handed], missing: usize) -> Result<()> {
        for string in handed {
            if self.again(&[string.address], missing)? == 0 {
                // SAFETY: as the caller promises.
                self.add(string.address, unsafe { guard::slice(string.bytes, string.len) }, string.mark)?;
            }
        }
        Ok(())
    }

    /// How strings are kept, from number `at` on; none when all that were added since room was made for them are as most are.
    pub fn odd(&self, at: usize) -> Option<&[u8]> {
        self.kept.as_ref().filter(|_| self.odd).and_then(|kept| kept.get(at..))
    }

    fn add(&mut self, address: usize, bytes: &[u8], mark: i32) -> Result<()> {
        let (view, kept) = if bytes.is_ascii() {
            (self.keep(bytes)?, None)
        } else {
            let is_utf8 = std::str::from_utf8(bytes).is_ok();
            let kept = match mark {
                UTF8 if is_utf8 => KEPT_UTF8,
                UTF8 => KEPT_WRONG_UTF8,
                LATIN1 => KEPT_LATIN1,
                AS_BYTES => KEPT_BYTES,
                NATIVE if is_utf8 => KEPT_UNMARKED,
                _ => KEPT_UNMARKED_BYTES,
            };
            let view = match kept {
                KEPT_UTF8 | KEPT_UNMARKED => self.keep(bytes)?,
                _ => self.copy(bytes.iter().map(|&byte| char::from(byte)).collect::<String>().as_bytes())?,
            };
            (view, Some(kept))
        };
        self.lately[slot(address)] = (address, view, kept);
        self.put(view, kept)
    }

    /// The view of bytes of R, which are copied unless they stay.
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
            buffer.try_reserve_exact(len).map_err(|_| no_memory())?;
            self.buffers.push(buffer);
        }
        let number = self.buffers.len() - 1;
        // There is room for them: what was copied before stays in its place.
        let buffer = &mut self.buffers[number];
        let at = buffer.len();
        buffer.extend_from_slice(bytes);
        view_of(&buffer[at..])
    }

    /// Lends the strings.
    ///
    /// # Safety
    /// They must stay, unchanged, as long as the chunk is used.
    pub unsafe fn lend(&self) -> Chunk {
        // SAFETY: the memory is ours, initialised, and stays as the caller promises.
        let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
        let validity = match &self.validity {
            Some(bits) => HostValidity::Bits { memory: lend(bits), first_bit: 0 },
            None => HostValidity::AllValid,
        };
        // SAFETY: as above; bytes are in buffers, which are not moved, or stay where R has them, as the caller of `new` promised.
        let views = unsafe { HostViews::new(self.views.as_ptr(), self.views.len()) };
        Chunk { n: self.views.len(), values: HostValues::Anywhere(views), validity }
    }
}

/// The view of more than 12 bytes, which stay where they are.
fn view_of(bytes: &[u8]) -> Result<u128> {
    Ok(HostViews::view(u32::try_from(bytes.len()).map_err(|_| too_long())?, bytes.as_ptr()))
}

/// Memory for the views of `n` strings.
fn room(n: usize) -> Result<Vec<u128>> {
    let mut views = Vec::new();
    views.try_reserve_exact(n).map_err(|_| no_memory())?;
    Ok(views)
}

fn no_memory() -> Error {
    Error::limit("not enough memory for the strings")
}

fn slot(address: usize) -> usize {
    // Addresses of objects have zeros at their end.
    ((address >> 4) ^ (address >> 17)) % LATELY
}

fn too_long() -> Error {
    Error::unsupported("strings of more bytes than views count")
}

/// Room for `n` strings, whose bytes stay where they are.
///
/// # Safety
/// The bytes of all that are added stay as they are until the file is written; `failure` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_new(n: usize, failure: *mut *mut Failure) -> *mut Strings {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, std::ptr::null_mut(), || Ok(Box::into_raw(Box::new(Strings::new(n, true)?))))
    }
}

/// Adds strings by their addresses until one was not added lately; how many, or -1 with an error. `missing` is the address of the
/// missing one. Addresses are compared and nothing else.
///
/// # Safety
/// `strings` must be what [`ent_strings_new`] gave, used by this thread alone; the addresses must be there, `failure` null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_again(
    strings: *mut Strings,
    addresses: *const usize,
    n: usize,
    missing: usize,
    failure: *mut *mut Failure,
) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || Ok((*strings).again(guard::slice(addresses, n), missing)?.cast_signed()))
    }
}

/// Adds strings. 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_strings_again`]; the strings' bytes must be there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_add(
    strings: *mut Strings,
    handed: *const Handed,
    n: usize,
    missing: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            (*strings).add_all(guard::slice(handed, n), missing)?;
            Ok(0)
        })
    }
}

/// How each string is kept, a byte each; null when all are as most are.
///
/// # Safety
/// `strings` must be what [`ent_strings_new`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_kept(strings: *const Strings) -> *const u8 {
    // SAFETY: as the caller promises.
    unsafe { (*strings).kept.as_ref().map_or(std::ptr::null(), Vec::as_ptr) }
}

/// How strings are kept, from number `at` on; null when all that were added since room was made for them are ASCII, or UTF-8 and
/// marked so.
///
/// # Safety
/// `strings` must be what `ent_cells_strings` gave, `at` at most their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_odd(strings: *const Strings, at: u64) -> *const u8 {
    // SAFETY: as the caller promises.
    let strings = unsafe { &*strings };
    strings.odd(at as usize).map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// Frees strings.
///
/// # Safety
/// `strings` must be what [`ent_strings_new`] gave, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_strings_free(strings: *mut Strings) {
    // SAFETY: made by `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(strings) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_kept_once_and_marked() {
        // SAFETY: what is added is static.
        let mut strings = unsafe { Strings::new(9, false) }.unwrap();
        strings.add(16, b"plain", NATIVE).unwrap();
        strings.add(32, "caf\u{e9} with more than twelve".as_bytes(), UTF8).unwrap();
        assert!(strings.kept.is_none());
        assert_eq!(strings.again(&[1000], 1000).unwrap(), 1);
        strings.add(48, b"caf\xe9", LATIN1).unwrap();
        assert_eq!(strings.again(&[32, 64, 32], 1000).unwrap(), 1);
        strings.add(80, b"\xff\x00\xfe", AS_BYTES).unwrap();
        strings.add(96, b"plain", NATIVE).unwrap();
        strings.add(112, b"\xff", UTF8).unwrap();
        strings.add(128, b"\xff", NATIVE).unwrap();
        assert_eq!(strings.kept.as_deref().unwrap(), [0, 0, 0, 1, 0, 2, 2, 5, 4]);
        assert_eq!(strings.validity.as_deref().unwrap()[0], 0b1111_1011);
        assert_eq!(strings.views[1], strings.views[4]);
        assert_eq!(strings.buffers.len(), 1);
        assert_eq!(&strings.views[3].to_ne_bytes()[..6], &[5, 0, 0, 0, b'c', b'a']);
        assert!(strings.put_missing().is_err());
    }
}
