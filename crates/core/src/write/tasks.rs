//! Cuts columns into runs of blocks, which are the tasks of threads.

use std::ops::Range;

use entasis_format::Physical;

use super::run_order::StringLen;
use super::{BUFFER, Stored, input};
use crate::blocks::block_values;

/// The number of consecutive blocks of a column that one thread encodes. Each block takes hints
/// from the previous block.
const RUN: u64 = 16;
/// A short file is cut into about this many runs, so several threads have work.
const RUNS: u64 = 4;
/// Approximate decoded bytes of a run. Runs of long values have fewer blocks, because threads wait
/// for earlier runs.
const RUN_LEN: u64 = 8 << 20;
/// Runs with at most this many values and bytes are short. If there are many, a thread takes
/// several at once.
const SHORT: u64 = 1 << 16;
const SHORT_LEN: u64 = 1 << 20;
/// The most short runs that a thread takes at once, and the minimum number of groups.
const NEIGHBOURS: usize = 8;
const GROUPS: usize = 12;

/// A run of blocks of one column.
pub(super) struct Task {
    pub index: usize,
    /// The index among the stored columns.
    pub column: usize,
    pub values: Range<u64>,
    /// Approximate bytes of a value.
    pub value_len: u64,
}

impl Task {
    pub fn n_values(&self) -> u64 {
        self.values.end - self.values.start
    }
}

pub(super) fn tasks(stored: &[Stored<'_>]) -> Vec<Task> {
    let mut tasks = Vec::new();
    let blocks_of = |of: &Stored<'_>| of.array.n_values().div_ceil(block_values(of.of) as u64);
    let longest = (stored.iter().map(blocks_of).sum::<u64>() / RUNS).clamp(1, RUN);
    for (column, of) in stored.iter().enumerate() {
        if of.of.physical == Physical::Null {
            continue;
        }
        let value_len = of.of.width().map_or_else(|| input::mean_string_len(of.array), |width| width as u64);
        let block = block_values(of.of) as u64;
        let n_blocks = (RUN_LEN / (value_len.max(1) * block)).clamp(1, longest);
        let n_values = of.array.n_values();
        let of_texts = of.strings.run(value_len).filter(|_| of.array.encoded(0).is_none());
        let run = of_texts.map_or(n_blocks * block, |n| n.min(block));
        // Runs in the second half of a short file are shorter, so threads end at about the same
        // time.
        let last = if longest < RUN { (n_blocks / 2).max(1) * block } else { run };
        for values in cut(n_values, run, last.min(run)) {
            tasks.push(Task { index: tasks.len(), column, values, value_len });
        }
    }
    tasks
}

/// The memory to reserve for the encoded bytes of a run: about the longest run. Unused memory costs
/// nothing, but growing memory is copied and gets new pages.
pub(super) fn room(tasks: &[Task]) -> usize {
    let len = |task: &Task| task.n_values().saturating_mul(task.value_len);
    let longest = tasks.iter().map(len).max().unwrap_or(0).min(BUFFER as u64) as usize;
    longest + longest / 8
}

/// The approximate length of all decoded values.
pub(super) fn decoded_len(tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| task.n_values().saturating_mul(task.value_len)).fold(0, u64::saturating_add)
}

/// Runs of `run` values in the first half and of `last` values in the second half. Neither is 0.
fn cut(n_values: u64, run: u64, last: u64) -> impl Iterator<Item = Range<u64>> {
    assert!(run > 0 && last > 0, "runs of nothing");
    let mut start = 0;
    std::iter::from_fn(move || {
        let n = if start < n_values / 2 { run } else { last };
        let values = start..(start + n).min(n_values);
        start = values.end;
        (!values.is_empty()).then_some(values)
    })
}

/// Groups the runs that a thread takes at once, because short neighbouring columns may be adjacent
/// in memory and similar. Groups do not depend on the number of threads, because the bytes of the
/// file must not.
pub(super) fn groups(tasks: Vec<Task>) -> Vec<Vec<Task>> {
    let is_short =
        |task: &Task| task.n_values() <= SHORT && task.n_values().saturating_mul(task.value_len) <= SHORT_LEN;
    let n_short = tasks.iter().filter(|task| is_short(task)).count();
    let together = (n_short / GROUPS).clamp(1, NEIGHBOURS);
    let mut groups: Vec<Vec<Task>> = Vec::new();
    let (mut n_left, mut most) = (tasks.len(), 0);
    for task in tasks {
        match groups.last_mut() {
            Some(group) if group.len() < most && is_short(&group[0]) && is_short(&task) => group.push(task),
            _ => {
                // The last groups are smaller, so threads end at about the same time.
                most = together.min(n_left.div_ceil(2));
                groups.push(vec![task]);
            }
        }
        n_left -= 1;
    }
    groups
}

/// The length of the strings in a run; `None` if each string would have to be examined.
pub(super) fn string_len(of: &Stored<'_>, task: &Task) -> Option<StringLen> {
    let most = input::max_string_len(of.array).filter(|_| of.of.width().is_none())?;
    Some(StringLen { most, len: input::mean_string_len(of.array).saturating_mul(task.n_values()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_taken_together_and_long_ones_alone() {
        let tasks = |runs: &[(u64, u64)]| -> Vec<Task> {
            let task = |(index, &(n_values, value_len)): (usize, &(u64, u64))| Task {
                index,
                column: index,
                values: 0..n_values,
                value_len,
            };
            runs.iter().enumerate().map(task).collect()
        };
        let lens = |runs: &[(u64, u64)]| groups(tasks(runs)).iter().map(Vec::len).collect::<Vec<_>>();
        let (short, many, wide) = ((1000, 8), (SHORT + 1, 1), (SHORT, 300));
        assert_eq!(lens(&[]), []);
        assert_eq!(lens(&[short; 20]), [1; 20]);
        let smaller_in_the_end: Vec<usize> = [[3; 12].as_slice(), &[2, 1, 1]].concat();
        assert_eq!(lens(&[short; 40]), smaller_in_the_end);
        let mut runs = vec![short; 8 * GROUPS];
        runs.splice(9..9, [many, wide]);
        assert_eq!(lens(&runs)[..6], [8, 1, 1, 1, 8, 8]);
        assert_eq!(lens(&runs).iter().sum::<usize>(), runs.len());
    }

    #[test]
    fn runs_are_smaller_from_the_middle_on() {
        for (n_values, run, last) in [(0, 4, 2), (1, 4, 2), (16, 4, 2), (15, 4, 1), (17, 5, 5), (3, 1, 1)] {
            let runs: Vec<_> = cut(n_values, run, last).collect();
            let mut end = 0;
            for values in &runs {
                assert_eq!(values.start, end);
                end = values.end;
                let n = if values.start < n_values / 2 { run } else { last };
                assert!(values.end == n_values || values.end - values.start == n, "{n_values} {run} {last}");
            }
            assert_eq!(end, n_values);
        }
        assert_eq!(cut(16, 4, 2).map(|values| values.end).collect::<Vec<_>>(), [4, 8, 10, 12, 14, 16]);
    }
}
