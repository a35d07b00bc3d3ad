//! Compression and hashing of raw vectors, and the number of threads.

use std::ptr::null_mut;

use entasis::buffers::{self, Compressed, Container, Input, Options};
use entasis::{Codec, Error, default_threads, set_threads};

use crate::guard::{self, Failure, Interrupted, Signals, Text, slice, slice_mut};

/// Sets the number of threads of later calls; 0 for one per processor.
#[unsafe(no_mangle)]
pub extern "C" fn ent_set_threads(n: usize) {
    set_threads(n);
}

/// The number of threads that calls use.
#[unsafe(no_mangle)]
pub extern "C" fn ent_threads() -> usize {
    default_threads()
}

/// Compresses `n` bytes and stores the length of the result in `len`. A level below -131072 selects
/// the codec's default.
///
/// # Safety
/// The bytes and texts must be valid and unchanged, `len` writable, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_compress(
    bytes: *const u8,
    n: usize,
    codec: Text,
    level: i32,
    len: *mut usize,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut Compressed {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let codec = codec.text()?;
            let known =
                Codec::ALL.iter().copied().find(|known| *known != Codec::None && known.name() == codec);
            let codec = known.ok_or_else(|| Error::argument("the compressor is \"LZ4\" or \"ZSTD\""))?;
            let options = Options { level: (level >= -131_072).then_some(level), ..Options::new(codec) };
            let compressed =
                buffers::compress(Input::Slice(slice(bytes, n)), &options, None, &Signals::new(interrupted))?;
            *len = compressed.len();
            Ok(Box::into_raw(Box::new(compressed)))
        })
    }
}

/// Copies the compressed bytes to memory of their length, and frees them. Returns 0, or -1 with an
/// error. With null memory it only frees them.
///
/// # Safety
/// [`ent_compress`] must have returned `compressed`, which is invalid afterwards. Nothing else may
/// use the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_compressed_take(
    compressed: *mut Compressed,
    out: *mut u8,
    len: usize,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let compressed = Box::from_raw(compressed);
            if !out.is_null() {
                compressed.write(slice_mut(out, len), None, &entasis::Silent)?;
            }
            Ok(0)
        })
    }
}

/// The decompressed length of a container, which must be at most `max_len`; -1 with an error.
///
/// # Safety
/// The bytes must be valid and unchanged, `failure` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_decompressed_len(
    bytes: *const u8,
    n: usize,
    max_len: f64,
    failure: *mut *mut Failure,
) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1.0, || {
            let max_len = max_len.is_finite().then_some(max_len as u64);
            Ok(Container::open(Input::Slice(slice(bytes, n)), max_len)?.decoded_len() as f64)
        })
    }
}

/// Decompresses a container into memory of its decompressed length. Returns 0, or -1 with an error.
///
/// # Safety
/// As for [`ent_decompressed_len`]; nothing else may use the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_decompress(
    bytes: *const u8,
    n: usize,
    out: *mut u8,
    len: usize,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1, || {
            let out = slice_mut(out, len);
            buffers::ask_for_huge_pages(out);
            let container = Container::open(Input::Slice(slice(bytes, n)), None)?;
            container.read(out, None, &Signals::new(interrupted))?;
            Ok(0)
        })
    }
}

/// The hash of the bytes; 0 with an error.
///
/// # Safety
/// As for [`ent_decompressed_len`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_hash(
    bytes: *const u8,
    n: usize,
    seed: u64,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> u64 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, 0, || {
            buffers::hash(Input::Slice(slice(bytes, n)), seed, None, &Signals::new(interrupted))
        })
    }
}
