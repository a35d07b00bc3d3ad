//! Passes over long vectors by several threads, which end with the pass.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use entasis::{Result, default_threads};

/// Fewest values that are worth a thread.
const EACH: usize = 1 << 18;

/// Values per thread, of `n`.
fn share(n: usize) -> usize {
    let threads = if n < 2 * EACH { 1 } else { default_threads().min(n / EACH) };
    n.div_ceil(threads).max(1)
}

/// Runs `work` on every task, each on its own thread. The caller's thread does the work of a thread
/// that can't be started.
fn run<T: Send>(tasks: impl ExactSizeIterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let n = tasks.len();
    let always = |task| {
        work(task);
        true
    };
    run_while(tasks, n, always, &|| true);
}

/// Runs `work` on tasks by at most `threads` threads, as long as it returns true, and so does
/// `goes_on`, which the caller's thread alone asks. Returns whether all tasks were done.
pub fn run_while<T: Send>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) -> bool + Sync,
    goes_on: &dyn Fn() -> bool,
) -> bool {
    let n = tasks.len();
    let (queue, is_stopped) = (Mutex::new(tasks), AtomicBool::new(false));
    let worker = |goes_on: &dyn Fn() -> bool| {
        while !is_stopped.load(Ordering::Relaxed) {
            let task = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(task) = task else { break };
            if !work(task) || !goes_on() {
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(n) {
            if thread::Builder::new().spawn_scoped(scope, || worker(&|| true)).is_err() {
                break;
            }
        }
        worker(goes_on);
    });
    !is_stopped.into_inner()
}

/// Runs `work` on parts of `n` values, and returns the results in order.
pub fn parts<T: Send>(n: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let len = share(n);
    let mut found: Vec<Option<T>> = Vec::new();
    found.resize_with(n.div_ceil(len), || None);
    run(found.iter_mut().enumerate(), |(i, found)| *found = Some(work(i * len..((i + 1) * len).min(n))));
    found.into_iter().flatten().collect()
}

/// Converts each value of `from` into `out` by several threads. Returns the first error in order.
pub fn convert<A: Sync, B: Send>(
    from: &[A],
    out: &mut [B],
    work: impl Fn(&A, &mut B) -> Result<()> + Sync,
) -> Result<()> {
    let len = share(from.len());
    let mut done: Vec<Result<()>> = (0..from.len().div_ceil(len)).map(|_| Ok(())).collect();
    let pieces = from.chunks(len).zip(out.chunks_mut(len)).zip(&mut done);
    run(pieces, |((from, out), done)| *done = from.iter().zip(out).try_for_each(|(a, b)| work(a, b)));
    done.into_iter().collect()
}

/// Changes each value by several threads.
pub fn each<T: Send>(values: &mut [T], work: impl Fn(&mut T) + Sync) {
    run(values.chunks_mut(share(values.len())), |piece| piece.iter_mut().for_each(&work));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all() {
        for n in [0, 1, 5, 2 * EACH - 1, 2 * EACH, 5 * EACH + 3] {
            let ranges = parts(n, |range| range);
            let mut end = 0;
            for range in &ranges {
                assert_eq!(range.start, end);
                end = range.end;
            }
            assert_eq!(end, n);
            let from: Vec<usize> = (0..n).collect();
            let mut out = vec![0; n];
            convert(&from, &mut out, |a, b| {
                *b = a + 1;
                Ok(())
            })
            .unwrap();
            each(&mut out, |b| *b -= 1);
            each(&mut out, |b| *b += 1);
            assert!(out.iter().zip(&from).all(|(b, a)| *b == a + 1));
        }
    }
}
