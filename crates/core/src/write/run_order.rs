//! The order in which threads start runs.

use std::cmp::Reverse;

use super::{BUFFER, placement::READY};

/// The length of the strings in a run.
#[derive(Clone, Copy, Debug)]
pub struct StringLen {
    /// An upper bound for the whole column, in bytes.
    pub most: u64,
    /// The approximate length in this run, in bytes.
    pub len: u64,
}

/// Sorts runs into the order in which threads start them: long strings take longest, and all
/// threads wait for the last run to end.
///
/// Runs keep their order in the file, so early results stay in memory until their turn. They are
/// few and short enough, so no thread waits for a run that nobody has started.
pub fn longest_strings_first<T>(runs: Vec<T>, len: impl Fn(&T) -> Option<StringLen>) -> Vec<T> {
    let mut kept = 0;
    let (mut first, others): (Vec<T>, Vec<T>) = runs.into_iter().partition(|run| {
        let Some(StringLen { most, .. }) = len(run) else { return false };
        let is_short = most <= (BUFFER / 2) as u64 && kept + most <= (READY / 2) as u64;
        kept += if is_short { most } else { 0 };
        is_short
    });
    first.sort_by_key(|run| Reverse(len(run).map(|strings| strings.len)));
    first.extend(others);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of runs that each store a whole column; `Some` contains the bytes of text.
    fn order(runs: &[Option<u64>]) -> Vec<usize> {
        let text = |&i: &usize| runs[i].map(|len| StringLen { most: len, len });
        longest_strings_first((0..runs.len()).collect(), text)
    }

    #[test]
    fn longer_texts_come_first_and_all_else_as_it_was() {
        assert_eq!(order(&[None, Some(5), None, Some(9), Some(7), None]), [3, 4, 1, 0, 2, 5]);
        assert_eq!(order(&[Some(3), None, Some(3)]), [0, 2, 1]);
        assert!(order(&[]).is_empty());
    }

    #[test]
    fn what_is_too_long_to_keep_waits_for_its_turn() {
        let most = (BUFFER / 2) as u64;
        assert_eq!(order(&[None, Some(most + 1), Some(most), Some(u64::MAX)]), [2, 0, 1, 3]);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let (most, room) = ((BUFFER / 2) as u64, (READY / 2) as u64);
        let n = (room / most) as usize;
        let mut runs = vec![None];
        runs.extend(vec![Some(most); n + 2]);
        // A short one still fits.
        runs.push(Some(0));
        let wanted: Vec<usize> = (1..=n).chain([n + 3, 0, n + 1, n + 2]).collect();
        assert_eq!(order(&runs), wanted);
    }
}
