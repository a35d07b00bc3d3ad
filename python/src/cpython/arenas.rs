//! Memory for many small objects: arenas of Python's allocator on huge pages, while they are made.
//!
//! Python takes memory for small objects from the system a mebibyte at a time. Its pages are mapped one by one, as objects are first put
//! there: for 10^6 integers that is half of the time. Who reads so many has new arenas begin on huge pages meanwhile, by the
//! interface that CPython documents for it (`PyObject_SetArenaAllocator`). The memory is a private mapping like those
//! that Python makes itself, and Python unmaps it as it does its own, whenever it wants to. Where another allocator is set, or none can be, nothing is done.

use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::Python;

use super::symbols::{find, library};

/// As many objects fill arenas.
const MANY: u64 = 1 << 16;
const HUGE: usize = 2 << 20;

type Alloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);

/// `PyObjectArenaAllocator`.
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    alloc: Option<Alloc>,
    free: Option<Free>,
}

type Exchange = unsafe extern "C" fn(*mut Allocator);

/// What CPython has for this.
struct Calls {
    get: Exchange,
    set: Exchange,
    /// Its own allocator, which has no context.
    alloc: Alloc,
    free: Free,
}

/// What is left of a huge page, and who wants more.
struct State {
    users: usize,
    at: usize,
    left: usize,
}

static STATE: Mutex<State> = Mutex::new(State { users: 0, at: 0, left: 0 });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, new arenas are on huge pages.
pub struct HugeArenas<'py> {
    calls: Option<&'static Calls>,
    _gil: Python<'py>,
}

impl<'py> HugeArenas<'py> {
    /// For so many objects, about.
    pub fn new(py: Python<'py>, n: u64) -> Self {
        let calls = if n < MANY { None } else { calls().filter(|calls| calls.begin()) };
        Self { calls, _gil: py }
    }
}

impl Drop for HugeArenas<'_> {
    fn drop(&mut self) {
        if let Some(calls) = self.calls {
            calls.end();
        }
    }
}

impl Calls {
    fn now(&self) -> Allocator {
        let mut found = Allocator { context: null_mut(), alloc: None, free: None };
        // SAFETY: CPython fills the three fields; the caller holds the GIL, as `HugeArenas` has its token.
        unsafe { (self.get)(&raw mut found) };
        found
    }

    fn set(&self, alloc: Alloc) {
        let mut wanted = Allocator { context: null_mut(), alloc: Some(alloc), free: Some(self.free) };
        // SAFETY: CPython copies the three fields, under the GIL as above. Without a context, and with `free` as it was, it is
        // of no matter to a thread of another interpreter whether it sees one function or the other.
        unsafe { (self.set)(&raw mut wanted) };
    }

    /// Whether arenas are taken from here from now on.
    fn begin(&self) -> bool {
        let now = self.now();
        let mut state = state();
        if state.users == 0 {
            let is_own = now.context.is_null()
                && same(now.alloc, self.alloc)
                && now.free.is_some_and(|free| free as usize == self.free as usize);
            if !is_own {
                return false;
            }
            self.set(arena);
        }
        state.users += 1;
        true
    }

    fn end(&self) {
        let mut state = state();
        state.users -= 1;
        if state.users == 0 {
            state.release();
            if same(self.now().alloc, arena) {
                self.set(self.alloc);
            }
        }
    }
}

fn same(found: Option<Alloc>, known: Alloc) -> bool {
    found.is_some_and(|found| found as usize == known as usize)
}

impl State {
    /// Memory for an arena; none when it is left to Python.
    fn take(&mut self, len: usize) -> Option<usize> {
        if self.users == 0 || len == 0 || !HUGE.is_multiple_of(len) {
            return None;
        }
        if self.left < len {
            self.release();
            self.at = map_huge()?;
            self.left = HUGE;
        }
        let at = self.at;
        (self.at, self.left) = (at + len, self.left - len);
        Some(at)
    }

    /// Gives back what no arena took.
    fn release(&mut self) {
        unmap(self.at, self.left);
        self.left = 0;
    }
}

/// What CPython calls for a new arena.
unsafe extern "C" fn arena(context: *mut c_void, len: usize) -> *mut c_void {
    if let Some(at) = state().take(len) {
        return std::ptr::with_exposed_provenance_mut(at);
    }
    match calls() {
        // SAFETY: CPython's own function, with what it gave us.
        Some(calls) => unsafe { (calls.alloc)(context, len) },
        None => null_mut(),
    }
}

/// The address of a new mapping that is one huge page, if the system has one.
fn map_huge() -> Option<usize> {
    // SAFETY: a new private anonymous mapping at an address of the system's choice.
    let raw = unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        libc::mmap(null_mut(), 2 * HUGE, access, kind, -1, 0)
    };
    if raw == libc::MAP_FAILED {
        return None;
    }
    let start = raw.expose_provenance();
    let at = start.next_multiple_of(HUGE);
    unmap(start, at - start);
    unmap(at + HUGE, start + HUGE - at);
    // SAFETY: what is left of our own new mapping; the advice changes no byte.
    unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(at), HUGE, libc::MADV_HUGEPAGE) };
    Some(at)
}

/// Unmaps whole pages of a mapping of `map_huge` that nobody knows.
fn unmap(at: usize, len: usize) {
    if len > 0 {
        // SAFETY: all callers pass a part of such a mapping.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(at), len) };
    }
}

/// What this CPython has; none when it has an allocator that is not its own, or pages of another size.
fn calls() -> Option<&'static Calls> {
    static CALLS: OnceLock<Option<Calls>> = OnceLock::new();
    CALLS.get_or_init(find_calls).as_ref()
}

fn find_calls() -> Option<Calls> {
    // SAFETY: asks for a number.
    if unsafe { libc::sysconf(libc::_SC_PAGESIZE) } != 4096 {
        return None;
    }
    let exchange = |name: &CStr| {
        // SAFETY: both have had this type since Python 3.4.
        find(name).map(|found| unsafe { std::mem::transmute::<NonNull<c_void>, Exchange>(found) })
    };
    let (get, set) = (exchange(c"PyObject_GetArenaAllocator")?, exchange(c"PyObject_SetArenaAllocator")?);
    let mut found = Allocator { context: null_mut(), alloc: None, free: None };
    // SAFETY: fills the three fields; this is first called with the GIL held, by `HugeArenas::new`.
    unsafe { get(&raw mut found) };
    let (alloc, free) = (found.alloc?, found.free?);
    // Its own, which maps and unmaps on Linux, stands in the same library and has no context.
    let is_own = found.context.is_null()
        && library(alloc as usize).is_some()
        && library(alloc as usize) == library(get as usize)
        && library(free as usize) == library(get as usize);
    is_own.then_some(Calls { get, set, alloc, free })
}
