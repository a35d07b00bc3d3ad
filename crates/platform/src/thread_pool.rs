//! Threads that help with a piece of work, and wait a moment for more.
//!
//! To start a thread and to end it takes some hundredths of a millisecond of the caller's time, new pages for its stack, and a word to all
//! processors when these go; and one in ten begins where its caller runs. One that waits is woken in less than that, on a processor of its own. So a thread that is done waits
//! for [`IDLE_TIMEOUT`], and is gone when nobody needed it: files are often read one after the other, and a process that is done with files
//! has no thread more than before.
//!
//! A forked child has none of them and is told so ([`fork`]). A lock that somebody held when it was forked is never
//! waited for: threads are started then, and end with their work. Signals of the process are not theirs. What a thread is bound to (processors,
//! priority) is what bound the one that started it, as long as others need it at once.

#[cfg(target_os = "linux")]
mod fork;
#[cfg(not(target_os = "linux"))]
#[path = "thread_pool/fork_stub.rs"]
mod fork;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::switch::Switch;

/// How long a thread waits for more work.
const IDLE_TIMEOUT: Duration = Duration::from_millis(100);

/// Threads without work, the one that worked last behind the others.
struct Idle {
    /// The process that has them, and how often those before it were forked.
    process: (u32, u32),
    workers: Vec<Arc<Worker>>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle { process: (0, 0), workers: Vec::new() });

/// Switches off waiting: each helper ends with its work.
static POOL: Switch = Switch::new("ENTASIS_THREAD_POOL");

/// The threads of this process that wait; none if another thread looks at them just now.
fn idle() -> Option<MutexGuard<'static, Idle>> {
    if !POOL.is_on() {
        return None;
    }
    let mut idle = IDLE.try_lock().ok()?;
    let process = (process::id(), fork::n_forks());
    if idle.process != process {
        idle.workers.clear();
        idle.process = process;
    }
    Some(idle)
}

/// A thread that waits or is about to.
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

    /// Work that was assigned within a moment.
    fn wait(&self) -> Option<Job> {
        let wait = self.assigned.wait_timeout_while(self.next(), IDLE_TIMEOUT, |next| next.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    /// Work that is on its way.
    fn wait_for_assigned(&self) -> Option<Job> {
        let wait = self.assigned.wait_while(self.next(), |next| next.is_none());
        wait.unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A part of a piece of work.
struct Job {
    work: *const (dyn Fn(usize) + Sync),
    number: usize,
    shared: *const Shared,
}

// SAFETY: what it points to may be used by all threads, and is there until the job is done ([`WaitForAll`]).
unsafe impl Send for Job {}

/// What the caller and its helpers share.
struct Shared {
    /// Helpers that are not done.
    left: AtomicUsize,
    has_panicked: AtomicBool,
    caller: Thread,
}

impl Job {
    /// Does it. With a worker, that waits for more from before the caller knows that this is done.
    fn run(self, worker: Option<&Arc<Worker>>) -> bool {
        // SAFETY: both are there until `left` is counted down, which comes last.
        let (work, shared) = unsafe { (&*self.work, &*self.shared) };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(self.number))) {
            shared.has_panicked.store(true, Ordering::Relaxed);
            // It could panic when it is dropped, and the caller would wait for good.
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

/// What a thread does until nobody needs it.
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

/// Has nobody find a thread any more. Who found it before gives it something.
fn retire(worker: &Arc<Worker>) -> Option<Job> {
    // Nobody keeps this lock for long, and no fork is in between: this thread would not be there.
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = idle.workers.iter().position(|other| Arc::ptr_eq(other, worker));
    if let Some(place) = place {
        idle.workers.remove(place);
        return None;
    }
    drop(idle);
    worker.wait_for_assigned()
}

/// Helpers that are at work.
pub struct Helpers<'a>(&'a Shared);

impl Helpers<'_> {
    /// How many are not done.
    #[must_use]
    pub fn left(&self) -> usize {
        self.0.left.load(Ordering::Acquire)
    }
}

/// Waits for all helpers when it is dropped, also when a panic comes between.
struct WaitForAll<'a>(&'a Shared);

impl Drop for WaitForAll<'_> {
    fn drop(&mut self) {
        while self.0.left.load(Ordering::Acquire) > 0 {
            thread::park();
        }
    }
}

/// Runs `work` on up to `n` other threads, with numbers from 1 on, while `own` runs on this one. Returns when all are done.
///
/// A thread that can't be started is done without. The caller is unparked by each helper that is done.
///
/// # Panics
/// If one of them does.
pub fn run<R>(n: usize, work: &(dyn Fn(usize) + Sync), own: impl FnOnce(&Helpers<'_>) -> R) -> R {
    let shared =
        Shared { left: AtomicUsize::new(0), has_panicked: AtomicBool::new(false), caller: thread::current() };
    let wait = WaitForAll(&shared);
    // SAFETY: only the lifetime changes, and `wait` doesn't let this function end before the last job did.
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
            None if fork::with_signals_blocked(|| thread::Builder::new().spawn(move || serve(job))).is_ok() => {}
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
    fn calls_of_many_threads_share_who_waits() {
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
    fn a_panic_comes_when_all_are_done() {
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
    fn who_waits_in_vain_is_gone() {
        run(5, &|_| (), |_| ());
        let begun = Instant::now();
        // Other tests may need them for a while.
        while !IDLE.lock().unwrap().workers.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(30), "threads that nobody needs are there");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
