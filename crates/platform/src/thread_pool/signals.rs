//! Signals and threads that outlive a call.

use std::mem::MaybeUninit;

/// Calls `start`, which starts a thread, with all signals blocked that the system sends to a
/// process. The new thread would otherwise take signals that other threads wait for. Signals of
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
