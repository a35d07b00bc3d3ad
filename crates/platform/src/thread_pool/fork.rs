//! The effects of forks and signals on threads that outlive a call.

use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static N_FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn forked() {
    N_FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The number of forks in the ancestry of this process. Process ids alone are not enough, because
/// the system reuses them.
pub(super) fn n_forks() -> u32 {
    static COUNTED: Once = Once::new();
    if cfg!(not(miri)) {
        // SAFETY: the handler only increments an atomic, which is allowed in the child of a process
        // with threads. If registration fails for lack of memory, nothing is counted and process
        // ids must do.
        COUNTED.call_once(|| unsafe {
            libc::pthread_atfork(None, None, Some(forked));
        });
    }
    N_FORKS.load(Ordering::Relaxed)
}

/// Calls `start`, which starts a thread, with all signals blocked that the system sends to a
/// process. The new thread would otherwise take them from threads that wait for them. Signals of
/// errors in the thread itself stay unblocked.
pub(super) fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    /// Restores the signal mask of the starting thread.
    struct Restore(libc::sigset_t);

    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: the set came from the system.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
        }
    }

    if cfg!(miri) {
        return start();
    }
    let own =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT];
    let (mut others, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both sets are ours and writable. `others` is filled before it is changed and used;
    // `before` is read only if the system filled it.
    let restore = unsafe {
        libc::sigfillset(others.as_mut_ptr());
        own.into_iter().for_each(|signal| {
            libc::sigdelset(others.as_mut_ptr(), signal);
        });
        let done = libc::pthread_sigmask(libc::SIG_BLOCK, others.as_ptr(), before.as_mut_ptr());
        (done == 0).then(|| Restore(before.assume_init()))
    };
    let started = start();
    drop(restore);
    started
}
