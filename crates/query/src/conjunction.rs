//! Tests that must all hold, in an order that adapts to their costs.
//!
//! Each task begins with the test that takes the least time per row that it drops. This is the rank
//! of Hellerstein and Stonebraker (*Predicate Migration*, SIGMOD 1993), measured as it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use entasis::Result;

use crate::selection::Selection;

/// Tests that must all hold.
#[derive(Debug)]
pub(crate) struct Conjunction<N> {
    parts: Vec<Conjunct<N>>,
}

/// A test, and its measurements so far.
#[derive(Debug)]
struct Conjunct<N> {
    node: N,
    n_dropped: AtomicU64,
    nanoseconds: AtomicU64,
}

impl<N> Conjunction<N> {
    /// Begins with the tests that should cost least.
    pub fn new(mut nodes: Vec<N>, cost: impl Fn(&N) -> u64) -> Self {
        nodes.sort_by_key(cost);
        let conjunct = |node| Conjunct { node, n_dropped: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) };
        Self { parts: nodes.into_iter().map(conjunct).collect() }
    }

    pub fn nodes(&self) -> impl Iterator<Item = &N> {
        self.parts.iter().map(|part| &part.node)
    }

    pub fn into_nodes(self) -> Vec<N> {
        self.parts.into_iter().map(|part| part.node).collect()
    }

    /// Runs `restrict` with each test, until no row is left.
    pub fn restrict(
        &self,
        selection: &mut Selection,
        mut restrict: impl FnMut(&N, &mut Selection) -> Result<()>,
    ) -> Result<()> {
        let mut n = selection.count() as u64;
        for part in self.order() {
            if n == 0 {
                break;
            }
            let start = Instant::now();
            restrict(&part.node, selection)?;
            let time = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let left = selection.count() as u64;
            part.nanoseconds.fetch_add(time, Ordering::Relaxed);
            part.n_dropped.fetch_add(n - left, Ordering::Relaxed);
            n = left;
        }
        Ok(())
    }

    /// The tests by rank. Unmeasured tests come last and keep their order.
    fn order(&self) -> Vec<&Conjunct<N>> {
        let mut parts: Vec<(u64, &Conjunct<N>)> = self.parts.iter().map(|part| (part.rank(), part)).collect();
        parts.sort_by_key(|(rank, _)| *rank);
        parts.into_iter().map(|(_, part)| part).collect()
    }
}

impl<N> Conjunct<N> {
    /// Picoseconds for each dropped row.
    fn rank(&self) -> u64 {
        let time = self.nanoseconds.load(Ordering::Relaxed);
        if time == 0 {
            return u64::MAX;
        }
        time.saturating_mul(1000) / self.n_dropped.load(Ordering::Relaxed).max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Runs two tests on several tasks, and returns each task's first test. `costs` has each test's
    /// milliseconds and kept rows of 64.
    fn firsts(costs: [(u64, usize); 2], n_tasks: usize) -> Vec<usize> {
        let conjunction = Conjunction::new(vec![0, 1], |_| 1);
        let mut firsts = Vec::new();
        for _ in 0..n_tasks {
            let (mut selection, mut order) = (Selection::all(64), Vec::new());
            conjunction
                .restrict(&mut selection, |&which, selection| {
                    order.push(which);
                    let (time, n_kept) = costs[which];
                    std::thread::sleep(Duration::from_millis(time));
                    selection.clear(n_kept, 64);
                    Ok(())
                })
                .unwrap();
            firsts.push(order[0]);
        }
        firsts
    }

    #[test]
    fn the_test_that_drops_most_in_its_time_comes_first() {
        assert_eq!(firsts([(5, 60), (1, 8)], 3), [0, 1, 1]);
        assert_eq!(firsts([(1, 8), (5, 60)], 3), [0, 0, 0]);
        // A test that drops all rows at once leaves none for the others.
        assert_eq!(firsts([(1, 0), (1, 0)], 3), [0, 0, 0]);
    }
}
