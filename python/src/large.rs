//! Memory for one large object, which is filled as soon as it is made: its pages are there at once.
//!
//! The memory of a list of 10^6 items, or the table of a dict of 10^5, is fresh from the system, and its pages are mapped one by one as they
//! are first written to. Around the call that makes such an object, Python's functions for memory (`PyMem_SetAllocator`, which CPython
//! documents) are replaced by some that ask for the pages of a large block, huge ones where they fit in. Nothing else
//! is asked of Python meanwhile, so nobody else gets such memory. Where another allocator is set, nothing is done.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

use pyo3::Python;

use crate::symbols::{find, library};

/// Bytes of a block that is large.
const LARGE: usize = 256 << 10;

type Malloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Calloc = unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void;
type Realloc = unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// `PyMemAllocatorEx`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    malloc: Option<Malloc>,
    calloc: Option<Calloc>,
    realloc: Option<Realloc>,
    free: Option<Free>,
}

impl Allocator {
    const NONE: Self = Self { context: null_mut(), malloc: None, calloc: None, realloc: None, free: None };
}

type Exchange = unsafe extern "C" fn(c_int, *mut Allocator);

/// What the memory of Python's objects is taken from: `PYMEM_DOMAIN_MEM` and `PYMEM_DOMAIN_OBJ`.
const DOMAINS: [c_int; 2] = [1, 2];

/// What CPython has for this.
struct Calls {
    get: Exchange,
    set: Exchange,
    /// Its own functions, which have no context and are those of both domains.
    malloc: Malloc,
    calloc: Calloc,
}

/// Makes an object of so many bytes by calls of Python's that run no code of others.
pub fn make<T>(py: Python<'_>, bytes: usize, make: impl FnOnce() -> T) -> T {
    let Some(calls) = calls(py).filter(|_| bytes >= LARGE) else { return make() };
    let before = DOMAINS.map(|domain| calls.now(domain));
    if !before.iter().all(|found| calls.are_own(found)) {
        return make();
    }
    let restore = Restore { calls, before };
    for (domain, found) in DOMAINS.into_iter().zip(before) {
        calls.set(domain, Allocator { malloc: Some(malloc), calloc: Some(calloc), ..found });
    }
    let made = make();
    drop(restore);
    made
}

/// Puts back what was there before, also when a panic comes between.
struct Restore {
    calls: &'static Calls,
    before: [Allocator; 2],
}

impl Drop for Restore {
    fn drop(&mut self) {
        for (domain, before) in DOMAINS.into_iter().zip(self.before) {
            // Another one that was put around ours meanwhile stays.
            if self.calls.now(domain).malloc.is_some_and(|now| now as usize == malloc as *const () as usize) {
                self.calls.set(domain, before);
            }
        }
    }
}

impl Calls {
    fn now(&self, domain: c_int) -> Allocator {
        let mut found = Allocator::NONE;
        // SAFETY: CPython fills the fields; the callers hold the GIL.
        unsafe { (self.get)(domain, &raw mut found) };
        found
    }

    fn set(&self, domain: c_int, mut wanted: Allocator) {
        // SAFETY: CPython copies the fields, under the GIL. All but two functions are as before, and these take and give the same, so
        // it is of no matter to a thread of another interpreter which it sees.
        unsafe { (self.set)(domain, &raw mut wanted) };
    }

    fn are_own(&self, found: &Allocator) -> bool {
        found.context.is_null()
            && found.malloc.is_some_and(|malloc| malloc as usize == self.malloc as usize)
            && found.calloc.is_some_and(|calloc| calloc as usize == self.calloc as usize)
    }
}

unsafe extern "C" fn malloc(context: *mut c_void, len: usize) -> *mut c_void {
    let Some(calls) = CALLS.get().and_then(Option::as_ref) else { return null_mut() };
    // SAFETY: CPython's own function, with what it gave us.
    let block = unsafe { (calls.malloc)(context, len) };
    populate(block, len);
    block
}

unsafe extern "C" fn calloc(context: *mut c_void, n: usize, len: usize) -> *mut c_void {
    let Some(calls) = CALLS.get().and_then(Option::as_ref) else { return null_mut() };
    // SAFETY: CPython's own function, with what it gave us.
    let block = unsafe { (calls.calloc)(context, n, len) };
    populate(block, n.saturating_mul(len));
    block
}

/// Gets the pages of a block that was just made.
fn populate(block: *mut c_void, len: usize) {
    const PAGE: usize = 4096;
    if block.is_null() || len < LARGE {
        return;
    }
    // A block that is a mapping of its own begins a few bytes behind its first page, which so may be a huge one.
    let from = block.addr() / PAGE * PAGE;
    let len = (block.addr() + len).next_multiple_of(PAGE) - from;
    for advice in [libc::MADV_HUGEPAGE, libc::MADV_POPULATE_WRITE] {
        // SAFETY: the pages that the block has part in, so they are there; neither advice changes a byte of them.
        unsafe { libc::madvise(block.with_addr(from), len, advice) };
    }
}

static CALLS: OnceLock<Option<Calls>> = OnceLock::new();

/// What this CPython has; none when it has an allocator that is not its own.
fn calls(_: Python<'_>) -> Option<&'static Calls> {
    CALLS.get_or_init(find_calls).as_ref()
}

fn find_calls() -> Option<Calls> {
    let exchange = |name: &CStr| {
        // SAFETY: both have had this type since Python 3.5.
        find(name).map(|found| unsafe { std::mem::transmute::<NonNull<c_void>, Exchange>(found) })
    };
    let (get, set) = (exchange(c"PyMem_GetAllocator")?, exchange(c"PyMem_SetAllocator")?);
    let mut found = Allocator::NONE;
    // SAFETY: fills the fields; `calls` is only called with the GIL held.
    unsafe { get(DOMAINS[0], &raw mut found) };
    let (malloc, calloc) = (found.malloc?, found.calloc?);
    // Its own stand in the same library and have no context.
    let own = library(get as usize)?;
    let is_own = found.context.is_null()
        && [malloc as usize, calloc as usize].into_iter().all(|function| library(function) == Some(own));
    is_own.then_some(Calls { get, set, malloc, calloc })
}
