//! Files whose bytes a function of R gives.

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::thread::{self, ThreadId};

use entasis::{File, Ranges, RemoteSource};

use crate::file::{Limit, limits_of};
use crate::guard::{self, Failure, Text};
use crate::secrets;

/// Room for the message of a failed call.
const MESSAGE: usize = 1024;

/// Fills `len` bytes from an offset on, and returns 0. Else writes a message of at most `room`
/// bytes, with its end.
type Fetch = extern "C" fn(
    context: *mut c_void,
    at: f64,
    len: f64,
    out: *mut u8,
    message: *mut c_char,
    room: usize,
) -> c_int;
/// Ends the use of a context.
type Release = extern "C" fn(context: *mut c_void);

/// A function of R.
struct Function {
    context: *mut c_void,
    fetch: Fetch,
    release: Release,
    /// The thread of R.
    thread: ThreadId,
}

// SAFETY: the context is used on the thread of R alone, which `fetch` and `drop` check.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Ranges for Function {
    fn fetch(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if thread::current().id() != self.thread {
            return Err(io::Error::other("a function of R was needed by another thread"));
        }
        let mut message = [0u8; MESSAGE];
        let (start, text) = (out.as_mut_ptr(), message.as_mut_ptr().cast());
        if (self.fetch)(self.context, at as f64, out.len() as f64, start, text, MESSAGE) == 0 {
            return Ok(());
        }
        let end = message.iter().position(|&byte| byte == 0).unwrap_or(MESSAGE);
        Err(io::Error::other(String::from_utf8_lossy(&message[..end]).trim_end().to_owned()))
    }

    fn n_parallel(&self) -> usize {
        0
    }

    fn is_of_one_thread(&self) -> bool {
        true
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        if thread::current().id() == self.thread {
            (self.release)(self.context);
        }
    }
}

/// Opens a file of `len` bytes, with those at its beginning and at its end. Takes the context, and
/// releases it with the file or after an error.
///
/// # Safety
/// The texts and the `n` limits must be valid, `failure` null or writable. The functions must be
/// sound for the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_open_source(
    name: Text,
    len: f64,
    head: Text,
    tail: Text,
    context: *mut c_void,
    fetch: Fetch,
    release: Release,
    limits: *const Limit,
    n: usize,
    failure: *mut *mut Failure,
) -> *mut File {
    let function = Function { context, fetch, release, thread: thread::current().id() };
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let (limits, len) = (limits_of(limits, n)?, len as u64);
            let name = PathBuf::from(name.text()?);
            let (head, tail) = (head.bytes().to_vec(), tail.bytes().to_vec());
            let tail_at = len.saturating_sub(tail.len() as u64);
            let source = RemoteSource::new(function, len, vec![(0, head), (tail_at, tail)]);
            let source = source.map_err(|error| entasis::Error::io(error, "open").in_file(&name))?;
            let file = File::from_source(Box::new(source), &name, secrets::opening(limits))?;
            secrets::note(&file);
            Ok(Box::into_raw(Box::new(file)))
        })
    }
}
