//! What threads that outlive a call have to know of their process.

use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static N_FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn forked() {
    N_FORKS.fetch_add(1, Ordering::Relaxed);
}

/// How often the process and those before it were forked: numbers of processes come back.
pub(super) fn n_forks() -> u32 {
    static COUNTED: Once = Once::new();
    if cfg!(not(miri)) {
        // SAFETY: the function only counts, which may be done in a child of a process with threads. Without memory for
        // it nothing is counted, and numbers of processes have to do.
        COUNTED.call_once(|| unsafe {
            libc::pthread_atfork(None, None, Some(forked));
        });
    }
    N_FORKS.load(Ordering::Relaxed)
}

/// Runs what starts a thread, which gets no signals of the process: a thread that waits for work would take them from one
/// that waits for them. Those that tell of its own errors it gets.
pub(super) fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    /// Puts back what the thread that starts another one had.
    struct Restore(libc::sigset_t);

    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: a set that the system gave.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
        }
    }

    if cfg!(miri) {
        return start();
    }
    let own =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT];
    let (mut others, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both sets are ours and writable; the first one is filled before it is changed and used, the second one before it is
    // kept, which is only done when the system filled it.
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
