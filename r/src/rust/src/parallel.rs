//! Passes over long vectors by several threads, which live as long as the pass.

use std::ops::Range;
use std::thread;

use entasis::{Result, default_threads};

/// Values that are worth a thread.
const EACH: usize = 1 << 18;

/// Runs `work` on parts of `n` values, and returns what each gave, in order.
pub fn parts<T: Send>(n: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let len = share(n);
    let mut ranges = (0..n.div_ceil(len)).map(|i| i * len..((i + 1) * len).min(n));
    thread::scope(|scope| {
        let (first, work) = (ranges.next(), &work);
        let handles: Vec<_> = ranges.map(|range| scope.spawn(move || work(range))).collect();
        let mut found: Vec<T> = first.map(work).into_iter().collect();
        let join = |handle: thread::ScopedJoinHandle<'_, T>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        found.extend(handles.into_iter().map(join));
        found
    })
}

/// How many neighbours each thread takes of `n` values.
fn share(n: usize) -> usize {
    let threads = if n < 2 * EACH { 1 } else { default_threads().min(n / EACH) };
    n.div_ceil(threads).max(1)
}

/// Fills `out`, each value from the one at its place in `from`, by several threads; the first error in order.
pub fn convert<A: Sync, B: Send>(
    from: &[A],
    out: &mut [B],
    work: impl Fn(&A, &mut B) -> Result<()> + Sync,
) -> Result<()> {
    let part = |from: &[A], out: &mut [B]| from.iter().zip(out).try_for_each(|(a, b)| work(a, b));
    let len = share(from.len());
    thread::scope(|scope| {
        let mut pieces = from.chunks(len).zip(out.chunks_mut(len));
        let (first, part) = (pieces.next(), &part);
        let handles: Vec<_> = pieces.map(|(from, out)| scope.spawn(move || part(from, out))).collect();
        let done = first.map_or(Ok(()), |(from, out)| part(from, out));
        let join = |handle: thread::ScopedJoinHandle<'_, Result<()>>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().map(join).fold(done, Result::and)
    })
}

/// Changes each value by itself, by several threads.
pub fn each<T: Send>(values: &mut [T], work: impl Fn(&mut T) + Sync) {
    let len = share(values.len());
    thread::scope(|scope| {
        let mut pieces = values.chunks_mut(len);
        let (first, work) = (pieces.next(), &work);
        pieces.for_each(|piece| drop(scope.spawn(move || piece.iter_mut().for_each(work))));
        first.into_iter().flatten().for_each(work);
    });
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
