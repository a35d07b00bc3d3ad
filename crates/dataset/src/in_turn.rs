//! Opens files in their order, several at once where each takes a round trip.

use std::collections::VecDeque;

use entasis::Result;

/// The results of `open` for the numbers below `n`. Up to `at_once` are computed at the same time,
/// when the first of them is needed.
pub(crate) struct InTurn<T, F> {
    next: usize,
    n: usize,
    at_once: usize,
    ready: VecDeque<Result<T>>,
    open: F,
}

impl<T: Send, F: Fn(usize) -> Result<T> + Sync> InTurn<T, F> {
    pub(crate) fn new(n: usize, at_once: usize, open: F) -> Self {
        Self { next: 0, n, at_once, ready: VecDeque::new(), open }
    }
}

impl<T: Send, F: Fn(usize) -> Result<T> + Sync> Iterator for InTurn<T, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() {
            let numbers = self.next..self.n.min(self.next.saturating_add(self.at_once));
            self.next = numbers.end;
            let open = &self.open;
            if numbers.len() < 2 {
                return numbers.map(open).next();
            }
            std::thread::scope(|scope| {
                let threads: Vec<_> = numbers.map(|number| scope.spawn(move || open(number))).collect();
                let joined = threads.into_iter().map(|thread| match thread.join() {
                    Ok(found) => found,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                self.ready.extend(joined);
            });
        }
        self.ready.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.n - self.next + self.ready.len();
        (n, Some(n))
    }
}

impl<T: Send, F: Fn(usize) -> Result<T> + Sync> ExactSizeIterator for InTurn<T, F> {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_their_order() {
        for at_once in [1, 2, 10] {
            let found: Result<Vec<usize>> = InTurn::new(7, at_once, Ok).collect();
            assert_eq!(found.unwrap(), [0, 1, 2, 3, 4, 5, 6]);
        }
        assert!(InTurn::new(0, 10, Ok).next().is_none());
    }

    #[test]
    fn no_more_are_opened_than_are_needed() {
        let n = AtomicUsize::new(0);
        let mut found = InTurn::new(100, 10, |number| {
            n.fetch_add(1, Ordering::Relaxed);
            Ok(number)
        });
        assert_eq!(found.next().unwrap().unwrap(), 0);
        assert_eq!((n.load(Ordering::Relaxed), found.len()), (10, 99));
    }
}
