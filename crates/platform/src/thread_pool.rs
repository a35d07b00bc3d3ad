//! Runs a piece of work on several threads, which wait a moment for more work before they end.
//!
//! Starting and ending a thread costs tens of microseconds and new pages for its stack, and a new
//! thread may start on the caller's processor. Waking a waiting thread costs less. So a helper
//! waits for [`IDLE_TIMEOUT`]. Soon after its last work, a process has no helper threads.
//!
//! A waiting helper also has its thread-local variables. In a library that is loaded at run time,
//! glibc allocates them at their first use in a thread, and ends the process if it has no memory
//! for them (`docs/decisions/0011-short-lived-thread-pool.md`).
//!
//! A helper gets no signals of the process, and inherits affinity and priority from the thread that
//! started it. `ENTASIS_THREAD_POOL=off` makes every helper end with its work.
//!
//! # Soundness
//!
//! [`run`] erases the lifetime of its work to pass it to threads that outlive the call. This is
//! sound for four reasons:
//!
//! 1. A [`Job`] points only to `work` and to `Shared`, which both outlive the guard [`WaitForAll`].
//!    The guard is dropped on return and on unwinding, and its drop waits until `left` is 0.
//! 2. `left` is incremented before a job is passed on. The job decrements it once, as its last
//!    access to either pointer. Nothing can unwind in between: panics of `work` are caught and
//!    their payload is leaked.
//! 3. The decrement is a release and the guard's load an acquire, so all writes of a job happen
//!    before `run` returns.
//! 4. A forked child has no helpers. It recognises by its [`Process`] that the list of waiting
//!    threads is its parent's, and empties it. It never waits for the lock of that list, which may
//!    have been held during the fork; while the lock is taken, `run` starts new threads. `own` must
//!    not fork and return in the child, which would wait for helpers that do not exist.

#[cfg(target_os = "linux")]
mod signals;
#[cfg(not(target_os = "linux"))]
#[path = "thread_pool/signals_stub.rs"]
mod signals;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::process::Process;
use crate::switch::Switch;

/// How long a helper waits for more work.
const IDLE_TIMEOUT: Duration = Duration::from_millis(100);

/// Helpers without work. The one that worked last is at the end.
struct Idle {
    /// The process that owns them, if any.
    process: Option<Process>,
    workers: Vec<Arc<Worker>>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle { process: None, workers: Vec::new() });

/// If off, each helper ends with its work.
pub(crate) static POOL: Switch = Switch::new("ENTASIS_THREAD_POOL");

/// The waiting helpers of this process; `None` if another thread holds the lock.
fn idle() -> Option<MutexGuard<'static, Idle>> {
    if !POOL.is_on() {
        return None;
    }
    let mut idle = IDLE.try_lock().ok()?;
    let process = Some(Process::current());
    if idle.process != process {
        idle.workers.clear();
        idle.process = process;
    }
    Some(idle)
}

/// A helper that waits or is about to wait.
#[derive(Default)]
struct Worker {
    next: Mutex<Option<Job>>,
    assigned: Condvar,
}

impl Worker {
    fn next(&self) -> MutexGuard<'_, Option<Job>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn assign(&self, job: Job) {
        *self.next() = Some(job);
        self.assigned.notify_one();
    }

    /// Work that is assigned before the timeout.
    fn wait(&self) -> Option<Job> {
        let wait = self.assigned.wait_timeout_while(self.next(), IDLE_TIMEOUT, |next| next.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    /// Work that is about to be assigned.
    fn wait_for_assigned(&self) -> Option<Job> {
        let wait = self.assigned.wait_while(self.next(), |next| next.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The part of a piece of work that one helper does.
struct Job {
    work: *const (dyn Fn(usize) + Sync),
    number: usize,
    shared: *const Shared,
}

// SAFETY: `work` and `Shared` are `Sync`, and both outlive the job ([`WaitForAll`]).
unsafe impl Send for Job {}

/// The state that the caller shares with its helpers.
struct Shared {
    /// The number of helpers that are not done.
    left: AtomicUsize,
    has_panicked: AtomicBool,
    caller: Thread,
}

impl Job {
    /// Does the job. Lists a `worker` as waiting before the caller learns that the job is done, so
    /// that the next call finds the helper. Returns whether the helper waits.
    fn run(self, worker: Option<&Arc<Worker>>) -> bool {
        // SAFETY: the caller keeps both until `left` is decremented, which is the last access
        // below.
        let (work, shared) = unsafe { (&*self.work, &*self.shared) };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(self.number))) {
            shared.has_panicked.store(true, Ordering::Relaxed);
            // Dropping the payload could panic, and the caller would wait forever.
            std::mem::forget(payload);
        }
        let waits = match (worker, idle()) {
            (Some(worker), Some(mut idle)) => {
                idle.workers.push(Arc::clone(worker));
                true
            }
            _ => false,
        };
        let caller = shared.caller.clone();
        shared.left.fetch_sub(1, Ordering::Release);
        caller.unpark();
        waits
    }
}

/// The loop of a helper.
fn serve(first: Job) {
    let worker = Arc::new(Worker::default());
    let mut next = Some(first);
    while let Some(job) = next {
        if !job.run(Some(&worker)) {
            return;
        }
        next = worker.wait().or_else(|| retire(&worker));
    }
}

/// Takes a helper off the list. If a caller has already taken it, returns the job that this caller
/// assigns.
fn retire(worker: &Arc<Worker>) -> Option<Job> {
    // The lock is held only briefly. No fork can leave it held for this thread, because a child
    // does not have this thread.
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = idle.workers.iter().position(|other| Arc::ptr_eq(other, worker));
    if let Some(place) = place {
        idle.workers.remove(place);
        return None;
    }
    drop(idle);
    worker.wait_for_assigned()
}

/// The helpers of a call.
pub struct Helpers<'a>(&'a Shared);

impl Helpers<'_> {
    /// The number of helpers that are not done.
    #[must_use]
    pub fn left(&self) -> usize {
        self.0.left.load(Ordering::Acquire)
    }
}

/// Waits for all helpers when it is dropped, also during unwinding.
struct WaitForAll<'a>(&'a Shared);

impl Drop for WaitForAll<'_> {
    fn drop(&mut self) {
        while self.0.left.load(Ordering::Acquire) > 0 {
            thread::park();
        }
    }
}

/// Runs `work` on up to `n` other threads with the numbers 1 to `n`, and `own` on this thread.
/// Returns when all are done.
///
/// If a thread cannot be started, the call goes on with fewer. Each helper unparks the caller when
/// it is done.
///
/// # Panics
/// If `own` or one of the helpers panics.
pub fn run<R>(n: usize, work: &(dyn Fn(usize) + Sync), own: impl FnOnce(&Helpers<'_>) -> R) -> R {
    let shared =
        Shared { left: AtomicUsize::new(0), has_panicked: AtomicBool::new(false), caller: thread::current() };
    let wait = WaitForAll(&shared);
    // SAFETY: only the lifetime changes. `wait` keeps this function from ending before the last
    // job.
    let work: *const (dyn Fn(usize) + Sync) =
        unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) };
    let mut workers = match (n > 0).then(idle).flatten() {
        Some(mut idle) => {
            let from = idle.workers.len().saturating_sub(n);
            idle.workers.split_off(from)
        }
        None => Vec::new(),
    };
    for number in 1..=n {
        let job = Job { work, number, shared: &raw const shared };
        shared.left.fetch_add(1, Ordering::Relaxed);
        match workers.pop() {
            Some(worker) => worker.assign(job),
            None if signals::with_signals_blocked(|| thread::Builder::new().spawn(move || serve(job)))
                .is_ok() => {}
            None => {
                shared.left.fetch_sub(1, Ordering::Relaxed);
                break;
            }
        }
    }
    let result = own(&Helpers(&shared));
    drop(wait);
    assert!(!shared.has_panicked.load(Ordering::Relaxed), "a helping thread panicked");
    result
}

/// Starts a thread outside of the pool, for work that outlives the call. It gets no signals of the
/// process.
///
/// # Errors
/// Those of the system, if it has no room for another thread.
pub fn start(work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    signals::with_signals_blocked(|| thread::Builder::new().spawn(work))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn each_number_is_worked_on_once() {
        for n in [0, 1, 2, 7, 40] {
            let seen = Mutex::new(Vec::new());
            let add = |number| seen.lock().unwrap().push(number);
            let begun = run(n, &add, |helpers| {
                add(0);
                helpers.left() <= n
            });
            assert!(begun);
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (0..=n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn calls_of_many_threads_share_helpers() {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..200 {
                        let sum = AtomicUsize::new(0);
                        let add = |number: usize| {
                            sum.fetch_add(number, Ordering::Relaxed);
                        };
                        run(round % 4, &add, |_| ());
                        assert_eq!(sum.into_inner(), (0..=round % 4).sum());
                    }
                });
            }
        });
    }

    #[test]
    fn a_helper_may_need_helpers() {
        let sum = AtomicUsize::new(0);
        let add = |number: usize| {
            sum.fetch_add(number, Ordering::Relaxed);
        };
        run(3, &|_| run(2, &add, |_| ()), |_| ());
        assert_eq!(sum.into_inner(), 9);
    }

    #[test]
    fn a_panic_is_passed_on_after_all_are_done() {
        let done = AtomicUsize::new(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            run(
                3,
                &|number| {
                    assert!(number != 2, "two");
                    thread::sleep(Duration::from_millis(20));
                    done.fetch_add(1, Ordering::Relaxed);
                },
                |_| (),
            );
        }));
        assert!(panicked.is_err());
        assert_eq!(done.load(Ordering::Relaxed), 2);
        let own = catch_unwind(AssertUnwindSafe(|| {
            let add = |_| {
                done.fetch_add(1, Ordering::Relaxed);
            };
            run(2, &add, |_| panic!("its own"))
        }));
        assert!(own.is_err());
        assert_eq!(done.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn helpers_end_after_the_timeout() {
        run(5, &|_| (), |_| ());
        let begun = Instant::now();
        // Other tests may use the helpers for a while.
        while !IDLE.lock().unwrap().workers.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(30), "threads that nobody needs are there");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
