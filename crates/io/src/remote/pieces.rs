//! Ranges of bytes as requests: neighbours are joined, and long ranges are cut.

use std::ops::Range;

/// Ranges with up to this many unwanted bytes between them are one request: the bytes take less
/// time than another request.
const GAP: u64 = 1 << 20;
/// The lengths between which requests are cut.
const SHORTEST: u64 = 1 << 20;
const LONGEST: u64 = 8 << 20;

/// Ranges below `len` in ascending order. Those that touch are joined.
pub(super) fn sorted(ranges: &[Range<u64>], len: u64) -> Vec<Range<u64>> {
    sorted_all(ranges.iter().map(|range| range.start.min(len)..range.end.min(len)))
}

/// Ranges in ascending order. Those that touch are joined.
pub(super) fn sorted_all(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut ranges = Vec::from_iter(ranges.filter(|range| !range.is_empty()));
    ranges.sort_unstable_by_key(|range| range.start);
    joined(ranges, 0)
}

/// Joins ascending ranges with at most `gap` bytes between them.
fn joined(ranges: Vec<Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match found.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => found.push(range),
        }
    }
    found
}

/// Ascending ranges without the bytes of others, which ascend too.
pub(super) fn without(ranges: Vec<Range<u64>>, others: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut found = Vec::with_capacity(ranges.len());
    let mut next = 0;
    for mut range in ranges {
        while others.get(next).is_some_and(|other| other.end <= range.start) {
            next += 1;
        }
        for other in others[next..].iter().take_while(|other| other.start < range.end) {
            if range.start < other.start {
                found.push(range.start..other.start);
            }
            range.start = range.start.max(other.end);
        }
        if !range.is_empty() {
            found.push(range);
        }
    }
    found
}

/// The requests for ascending ranges: about as many as can be made at once, or more if they would
/// become long.
pub(super) fn requests(wanted: Vec<Range<u64>>, n_parallel: usize) -> Vec<Range<u64>> {
    let joined = joined(wanted, GAP);
    let all: u64 = joined.iter().map(|range| range.end - range.start).sum();
    let longest = all.div_ceil(n_parallel.max(1) as u64).clamp(SHORTEST, LONGEST);
    let mut found = Vec::with_capacity(joined.len());
    for range in joined {
        let n = (range.end - range.start).div_ceil(longest);
        let step = (range.end - range.start).div_ceil(n);
        let starts = (0..n).map(|i| range.start + i * step);
        found.extend(starts.map(|start| start..range.end.min(start + step)));
    }
    found
}

/// How many bytes of ascending ranges lie in a range.
pub(super) fn n_inside(ranges: &[Range<u64>], range: &Range<u64>) -> u64 {
    let first = ranges.partition_point(|other| other.end <= range.start);
    let inside = ranges[first..].iter().take_while(|other| other.start < range.end);
    inside.map(|other| other.end.min(range.end) - other.start.max(range.start)).sum()
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of ranges")]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn ranges_are_sorted_and_joined() {
        assert_eq!(sorted(&[5..7, 0..2, 2..3, 9..9, 6..20], 15), [0..3, 5..15]);
        assert!(sorted(&[20..30], 15).is_empty());
    }

    #[test]
    fn known_bytes_are_left_out() {
        let known = || vec![0..10, 20..30, 40..50];
        assert_eq!(without(vec![5..25, 28..60], known()), [10..20, 30..40, 50..60]);
        assert_eq!(without(vec![0..5, 45..50], known()), []);
        assert_eq!(without(vec![10..20], known()), [10..20]);
        assert_eq!(without(vec![1..2, 3..4], vec![0..3]), [3..4]);
    }

    #[test]
    fn requests_are_joined_and_cut() {
        assert_eq!(
            requests(vec![0..10, MIB..MIB + 1, 9 * MIB..9 * MIB + 5], 4),
            [0..MIB + 1, 9 * MIB..9 * MIB + 5]
                .into_iter()
                .flat_map(|range| if range.start == 0 {
                    vec![0..MIB / 2 + 1, MIB / 2 + 1..MIB + 1]
                } else {
                    vec![range]
                })
                .collect::<Vec<_>>()
        );
        assert_eq!(requests(vec![0..100 * MIB], 10).len(), 13);
        assert_eq!(requests(vec![0..20 * MIB], 10).len(), 10);
        assert_eq!(requests(vec![0..MIB / 2], 10), [0..MIB / 2]);
        assert!(requests(Vec::new(), 10).is_empty());
    }

    #[test]
    fn wanted_bytes_of_a_request_are_counted() {
        let wanted = [0..10, 20..30, 40..50];
        assert_eq!([0..50, 5..25, 10..20, 45..99].map(|range| n_inside(&wanted, &range)), [30, 10, 0, 5]);
    }
}
