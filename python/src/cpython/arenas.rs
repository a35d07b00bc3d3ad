//! Arenas for many small objects on huge pages.
//!
//! CPython allocates small objects in arenas of 1 MiB, and the system maps their pages one by one
//! on first use. For 10^6 integers that takes half the time. While many objects are made, new
//! arenas are cut from huge pages instead.
//!
//! `PyObject_SetArenaAllocator` is documented since CPython 3.4. Only `alloc` is replaced: memory
//! for an arena is a private anonymous mapping, as CPython's own arenas are, so CPython's own
//! `free` unmaps it. No manual says that it does, so nothing is replaced in versions whose source
//! was not read or that did not run the tests, or if the allocator is not CPython's own.

use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::Python;

use super::feature::Feature;
use super::symbols::{find, library};

/// Fewer objects fill too few arenas to matter.
const MIN_OBJECTS: u64 = 1 << 16;
/// The versions of CPython 3 whose own `free` of arenas is `munmap`, and that ran the tests.
const MINOR_VERSIONS: std::ops::RangeInclusive<u8> = 11..=13;
/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

type Alloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void, usize);

/// The structure `PyObjectArenaAllocator` of CPython.
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    alloc: Option<Alloc>,
    free: Option<Free>,
}

type Exchange = unsafe extern "C" fn(*mut Allocator);

/// The functions of CPython that exchange the arena allocator, and its own allocator.
struct Calls {
    get: Exchange,
    set: Exchange,
    /// The functions of its own allocator. Their context is null.
    alloc: Alloc,
    free: Free,
}

/// The rest of the huge page that arenas are cut from.
struct State {
    /// The number of [`HugeArenas`] that exist.
    users: usize,
    /// The address of the rest.
    at: usize,
    /// Bytes of the rest.
    left: usize,
}

static STATE: Mutex<State> = Mutex::new(State { users: 0, at: 0, left: 0 });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// New arenas lie on huge pages as long as this guard lives.
pub struct HugeArenas<'py> {
    calls: Option<&'static Calls>,
    _gil: Python<'py>,
}

impl<'py> HugeArenas<'py> {
    /// A guard for making about `n` objects. Few objects are not worth a change.
    pub fn new(py: Python<'py>, n: u64) -> Self {
        let is_wanted = n >= MIN_OBJECTS && Feature::Arenas.is_enabled();
        let calls = if is_wanted { calls(py).filter(|calls| calls.begin()) } else { None };
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
        // SAFETY: CPython fills the three fields. The caller holds the GIL, as `HugeArenas` has its
        // token.
        unsafe { (self.get)(&raw mut found) };
        found
    }

    fn set(&self, alloc: Alloc) {
        let mut wanted = Allocator { context: null_mut(), alloc: Some(alloc), free: Some(self.free) };
        // SAFETY: CPython copies the three fields, and we hold the GIL as above. The context stays
        // null and `free` stays the same, so another interpreter may call the old or the new
        // `alloc`.
        unsafe { (self.set)(&raw mut wanted) };
    }

    /// Sets our allocator. Returns false, and changes nothing, if the current one is not CPython's.
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

    /// Restores CPython's allocator once the last guard is dropped. An allocator that other code
    /// set meanwhile stays.
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
    /// Memory for an arena, or none if CPython has to allocate it.
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

    /// Unmaps the rest of the huge page.
    fn release(&mut self) {
        unmap(self.at, self.left);
        self.left = 0;
    }
}

/// Allocates an arena: CPython calls this function.
///
/// # Safety
/// `context` must be the context of CPython's own arena allocator.
unsafe extern "C" fn arena(context: *mut c_void, len: usize) -> *mut c_void {
    if let Some(at) = state().take(len) {
        return std::ptr::with_exposed_provenance_mut(at);
    }
    match CALLS.get().and_then(Option::as_ref) {
        // SAFETY: CPython's own function, called with the arguments that CPython passed to us.
        Some(calls) => unsafe { (calls.alloc)(context, len) },
        None => null_mut(),
    }
}

/// The address of a new mapping of one huge page, or none if the system has no memory left.
fn map_huge() -> Option<usize> {
    // SAFETY: the system chooses the address of this new private anonymous mapping.
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
    // SAFETY: the range is the rest of our own new mapping, and the advice changes no byte of it.
    unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(at), HUGE, libc::MADV_HUGEPAGE) };
    Some(at)
}

/// Unmaps whole pages of a mapping that `map_huge` made and that nobody uses.
fn unmap(at: usize, len: usize) {
    if len > 0 {
        // SAFETY: all callers pass a part of such a mapping.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(at), len) };
    }
}

static CALLS: OnceLock<Option<Calls>> = OnceLock::new();

/// Whether arenas can lie on huge pages in this process.
pub fn are_available(py: Python<'_>) -> bool {
    calls(py).is_some()
}

/// The functions of this CPython. None if it is a version that was not checked, if its arena
/// allocator is not its own, or if the system has pages of another size.
fn calls(py: Python<'_>) -> Option<&'static Calls> {
    let is_checked = || {
        let version = py.version_info();
        version.major == 3 && MINOR_VERSIONS.contains(&version.minor)
    };
    CALLS.get_or_init(|| if is_checked() { find_calls() } else { None }).as_ref()
}

fn find_calls() -> Option<Calls> {
    // SAFETY: `sysconf` returns a number.
    if unsafe { libc::sysconf(libc::_SC_PAGESIZE) } != 4096 {
        return None;
    }
    let exchange = |name: &CStr| {
        // SAFETY: CPython documents both functions with this signature since 3.4.
        find(name).map(|found| unsafe { std::mem::transmute::<NonNull<c_void>, Exchange>(found) })
    };
    let (get, set) = (exchange(c"PyObject_GetArenaAllocator")?, exchange(c"PyObject_SetArenaAllocator")?);
    let mut found = Allocator { context: null_mut(), alloc: None, free: None };
    // SAFETY: fills the three fields. The only caller, `calls`, has the token of the GIL.
    unsafe { get(&raw mut found) };
    let (alloc, free) = (found.alloc?, found.free?);
    // CPython's own functions are in the same library as `get`, and have no context.
    let is_own = found.context.is_null()
        && library(alloc as usize).is_some()
        && library(alloc as usize) == library(get as usize)
        && library(free as usize) == library(get as usize);
    is_own.then_some(Calls { get, set, alloc, free })
}
