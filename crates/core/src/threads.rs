//! Runs the tasks of one piece of work on several threads, with helpers from the thread pool
//! ([`thread_pool`]).

use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use entasis_format::{Error, Result, fallible};
use entasis_platform::thread_pool;

use crate::monitor::{Control, INTERVAL};
use crate::refused::catch_refusal;

/// How long the caller's thread spins while others work before it sleeps.
const MOMENT: Duration = Duration::from_micros(50);

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads for calls that do not name one. 0 means one per processor of the
/// process.
pub fn set_threads(n: usize) {
    THREADS.store(n, Ordering::Relaxed);
}

/// The number of threads for calls that do not name one: the value from [`set_threads`], or the
/// processors that affinity and the cgroup's quota allow.
pub fn default_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => processors(),
        n => n,
    }
}

/// The processors that the process may use. The system is asked at most once per second, because
/// its answer requires reading several files.
fn processors() -> usize {
    // The second of the last query, and the number of processors in the low 16 bits. A lock could
    // be held when the process forks.
    static KNOWN: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let known = KNOWN.load(Ordering::Relaxed);
    if known >> 16 == now && known as u16 > 0 {
        return usize::from(known as u16);
    }
    let n = thread::available_parallelism().map_or(1, usize::from);
    KNOWN.store(now << 16 | u64::from(u16::try_from(n).unwrap_or(u16::MAX)), Ordering::Relaxed);
    n
}

/// Runs `work` on every task, started in order, on up to `threads` threads, the caller's included.
/// The first error stops all threads at their next check. If a thread cannot start, the others do
/// its work.
pub(crate) fn run<T: Send, S>(
    tasks: Vec<T>,
    threads: usize,
    control: &Control<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    let n_threads = n_threads(&tasks, threads);
    let queue = Mutex::new(tasks.into_iter());
    let next = |_| queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    run_from(next, n_threads, control, state, work)
}

/// As [`run`], for tasks in any order. Each thread begins with a range of neighbouring tasks. When
/// its range is done, it takes half of another range. Neighbouring tasks fill neighbouring memory,
/// and threads that touch a new huge page at once each clear one.
pub(crate) fn run_in_ranges<T: Send, S>(
    tasks: Vec<T>,
    threads: usize,
    control: &Control<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    let n_threads = n_threads(&tasks, threads);
    let ranges = Mutex::new(TaskRanges::new(tasks, n_threads)?);
    let next = |thread| ranges.lock().unwrap_or_else(PoisonError::into_inner).next(thread);
    run_from(next, n_threads, control, state, work)
}

/// No thread without a task.
fn n_threads<T>(tasks: &[T], threads: usize) -> usize {
    threads.clamp(1, tasks.len().max(1))
}

/// Tasks, in one range for each thread.
struct TaskRanges<T> {
    tasks: Vec<Option<T>>,
    /// The rest of each thread's range.
    left: Vec<Range<usize>>,
}

impl<T> TaskRanges<T> {
    fn new(tasks: Vec<T>, n_threads: usize) -> Result<Self> {
        let border = |thread: usize| tasks.len() * thread / n_threads;
        let left = (0..n_threads).map(|thread| border(thread)..border(thread + 1)).collect();
        Ok(Self { left, tasks: fallible::collect(tasks.into_iter().map(Some), "the tasks")? })
    }

    /// The next task of a thread: from its own range, otherwise from the last half of the longest
    /// range.
    fn next(&mut self, thread: usize) -> Option<T> {
        if self.left[thread].is_empty() {
            let longest = self.left.iter_mut().max_by_key(|range| range.len())?;
            let half = longest.start + longest.len() / 2;
            let taken = half..longest.end;
            longest.end = half;
            self.left[thread] = taken;
        }
        let at = self.left[thread].next()?;
        self.tasks[at].take()
    }
}

/// Runs `work` on the tasks that `next` returns for each thread number, until `next` returns
/// `None`.
fn run_from<T: Send, S>(
    next: impl Fn(usize) -> Option<T> + Sync,
    n_threads: usize,
    control: &Control<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<()> + Sync,
) -> Result<()> {
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let worker = |thread: usize| {
        let _guard = StopOnPanic(control);
        let mut state = state();
        while let Some(task) = next(thread) {
            if let Err(error) = control.check().and_then(|()| catch_refusal(|| work(&mut state, task))) {
                // The reported error is the first one, which stopped the other threads.
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                control.stop();
                break;
            }
        }
    };
    thread_pool::run(n_threads - 1, &worker, |helpers| {
        control.begun(n_threads > 1);
        worker(0);
        // Waking takes longer than the other threads usually need to finish.
        let done = Instant::now();
        while helpers.left() > 0 && done.elapsed() < MOMENT {
            hint::spin_loop();
        }
        // The other threads may take long, and the monitor may stop them.
        while helpers.left() > 0 && control.check().is_ok() {
            thread::park_timeout(INTERVAL);
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Stops the other threads if this one panics, because they may wait for its results.
struct StopOnPanic<'a>(&'a Control<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use entasis_format::Kind;

    use super::*;
    use crate::monitor::{Monitor, Silent};

    #[test]
    fn the_first_error_is_told_and_ends_the_rest() {
        for threads in [1, 4] {
            let control = Control::new(&Silent, 0);
            let run = run(
                (0..1000).collect(),
                threads,
                &control,
                || (),
                |(), task: u32| {
                    if task == 3 { Err(Error::corrupt("three")) } else { control.check() }
                },
            );
            assert_eq!(run.unwrap_err().message(), "three");
        }
    }

    #[test]
    fn the_monitor_ends_what_others_have_left() {
        /// Requests a stop once the caller has no task left.
        struct Last(AtomicBool);

        impl Monitor for Last {
            fn interrupted(&self) -> bool {
                self.0.load(Ordering::Acquire)
            }
        }

        let last = Last(AtomicBool::new(false));
        let control = Control::new(&last, 0);
        let caller = thread::current().id();
        let begun = AtomicUsize::new(0);
        let run = run(
            vec![(), ()],
            2,
            &control,
            || (),
            |(), ()| {
                // Both threads have one task.
                begun.fetch_add(1, Ordering::AcqRel);
                while begun.load(Ordering::Acquire) < 2 {
                    hint::spin_loop();
                }
                if thread::current().id() == caller {
                    last.0.store(true, Ordering::Release);
                    return Ok(());
                }
                loop {
                    control.check()?;
                    hint::spin_loop();
                }
            },
        );
        assert_eq!(run.unwrap_err().kind(), Kind::Interrupted);
    }

    #[test]
    fn ranges_give_each_task_once() {
        for (n, n_threads) in [(0, 1), (1, 1), (7, 3), (100, 4), (3, 3)] {
            // A slow thread, or one that never started, leaves its range to the others.
            for busy in 0..n_threads {
                let mut ranges = TaskRanges::new((0..n).collect(), n_threads).unwrap();
                let mut given = vec![0; n];
                let mut thread = 0;
                while let Some(task) = ranges.next(thread) {
                    given[task] += 1;
                    thread = if thread == busy { thread } else { (thread + 1) % n_threads };
                }
                assert!(given.iter().all(|&times| times == 1), "{n} {n_threads} {busy}");
            }
        }
        let mut ranges = TaskRanges::new((0..8).collect(), 2).unwrap();
        assert_eq!([0, 1, 0, 1].map(|thread| ranges.next(thread)), [Some(0), Some(4), Some(1), Some(5)]);
    }

    #[test]
    fn all_tasks_are_run_apart() {
        for threads in [1, 2, 5] {
            let control = Control::new(&Silent, 0);
            let sum = AtomicUsize::new(0);
            let add = |(): &mut (), task: usize| {
                sum.fetch_add(task, Ordering::Relaxed);
                Ok(())
            };
            run_in_ranges((0..1000).collect(), threads, &control, || (), add).unwrap();
            assert_eq!(sum.into_inner(), 499_500);
        }
    }

    #[test]
    fn the_caller_waits_for_threads_that_take_long() {
        let control = Control::new(&Silent, 0);
        let n_done = AtomicUsize::new(0);
        let wait = |(): &mut (), task: u64| {
            thread::sleep(10 * MOMENT * task as u32);
            n_done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        run(vec![0, 1, 20], 3, &control, || (), wait).unwrap();
        assert_eq!(n_done.into_inner(), 3);
    }

    /// Does work of its own, or asks to stop.
    struct Besides {
        n_begun: AtomicUsize,
        goes_on: bool,
    }

    impl crate::monitor::Monitor for Besides {
        fn meanwhile(&self, _: bool) -> bool {
            self.n_begun.fetch_add(1, Ordering::Relaxed);
            self.goes_on
        }
    }

    #[test]
    fn the_caller_has_its_time_before_it_works() {
        for threads in [1, 3] {
            for goes_on in [true, false] {
                let besides = Besides { n_begun: AtomicUsize::new(0), goes_on };
                let control = Control::new(&besides, 0);
                let caller = thread::current().id();
                let done = run_in_ranges(
                    (0..100).collect(),
                    threads,
                    &control,
                    || (),
                    |(), _: u32| {
                        let is_first = besides.n_begun.load(Ordering::Relaxed) == 0;
                        assert!(!is_first || thread::current().id() != caller);
                        Ok(())
                    },
                );
                assert_eq!(
                    (done.is_ok() || threads > 1, besides.n_begun.into_inner()),
                    (goes_on || threads > 1, 1)
                );
            }
        }
    }

    #[test]
    fn a_panic_ends_threads_that_wait() {
        let control = Control::new(&Silent, 0);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(
                vec![0, 1],
                2,
                &control,
                || (),
                |(), task| {
                    if task == 0 {
                        panic!("on purpose");
                    }
                    loop {
                        control.check()?;
                        thread::yield_now();
                    }
                },
            )
        }));
        assert!(result.is_err());
    }
}
