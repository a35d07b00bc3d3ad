//! The order in which runs begin.

use std::cmp::Reverse;

use super::{BUFFER, placement::READY};

/// What is known of a run of text.
#[derive(Clone, Copy, Debug)]
pub struct TextLen {
    /// The bytes of its column, at most.
    pub most: u64,
    /// Its own, about.
    pub len: u64,
}

/// The runs in the order in which they begin: texts take longest, and what begins last is waited for.
///
/// Runs are placed in their order all the same, so those that come too soon are kept meanwhile. They are few and short enough for that:
/// no thread that has one has to wait for a run that nobody has begun.
pub fn longest_texts_first<T>(runs: Vec<T>, text: impl Fn(&T) -> Option<TextLen>) -> Vec<T> {
    let mut kept = 0;
    let (mut first, others): (Vec<T>, Vec<T>) = runs.into_iter().partition(|run| {
        let Some(TextLen { most, .. }) = text(run) else { return false };
        let is_short = most <= (BUFFER / 2) as u64 && kept + most <= (READY / 2) as u64;
        kept += if is_short { most } else { 0 };
        is_short
    });
    first.sort_by_key(|run| Reverse(text(run).map(|text| text.len)));
    first.extend(others);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of runs, each of which is its column's only one: the bytes of text, or none.
    fn order(runs: &[Option<u64>]) -> Vec<usize> {
        let text = |&i: &usize| runs[i].map(|len| TextLen { most: len, len });
        longest_texts_first((0..runs.len()).collect(), text)
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
        // A short one still finds a place.
        runs.push(Some(0));
        let wanted: Vec<usize> = (1..=n).chain([n + 3, 0, n + 1, n + 2]).collect();
        assert_eq!(order(&runs), wanted);
    }
}
