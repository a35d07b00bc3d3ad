//! Sets of strings, in the order of their bytes.

use std::cmp::Ordering;

/// A set of byte strings, as ascending half-open intervals with gaps between them. An interval
/// without an end has all strings from its start on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct StringSet(Vec<Interval>);

/// The strings from `start` up to, but without, `end`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub start: Vec<u8>,
    pub end: Option<Vec<u8>>,
}

impl Interval {
    pub fn contains(&self, string: &[u8]) -> bool {
        string >= self.start.as_slice() && self.end.as_ref().is_none_or(|end| string < end.as_slice())
    }

    fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }
}

/// The least string that is greater than `string`.
pub(crate) fn next(string: &[u8]) -> Vec<u8> {
    let mut next = string.to_vec();
    next.push(0);
    next
}

/// The least string that is greater than all strings with this prefix. Some prefixes have none.
pub(crate) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut successor = prefix[..=last].to_vec();
    successor[last] += 1;
    Some(successor)
}

/// Orders ends of intervals. An interval without an end comes last.
fn order(a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.cmp(b),
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
    }
}

impl StringSet {
    /// The strings from `start` on.
    pub fn from(start: Vec<u8>) -> Self {
        Self(vec![Interval { start, end: None }])
    }

    /// The strings before `end`.
    pub fn before(end: Vec<u8>) -> Self {
        Self::of(vec![Interval { start: Vec::new(), end: Some(end) }])
    }

    /// This string alone.
    pub fn one(string: &[u8]) -> Self {
        Self(vec![Interval { start: string.to_vec(), end: Some(next(string)) }])
    }

    /// The strings that begin with `prefix`.
    pub fn prefixed(prefix: &[u8]) -> Self {
        Self(vec![Interval { start: prefix.to_vec(), end: successor(prefix) }])
    }

    /// The union of intervals in any order.
    pub fn of(mut intervals: Vec<Interval>) -> Self {
        intervals.retain(|interval| !interval.is_empty());
        intervals.sort_unstable_by(|a, b| a.start.cmp(&b.start));
        let mut joined: Vec<Interval> = Vec::with_capacity(intervals.len());
        for interval in intervals {
            match joined.last_mut() {
                Some(last) if last.end.as_ref().is_none_or(|end| interval.start <= *end) => {
                    if order(interval.end.as_deref(), last.end.as_deref()).is_gt() {
                        last.end = interval.end;
                    }
                }
                _ => joined.push(interval),
            }
        }
        Self(joined)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn intervals(&self) -> &[Interval] {
        &self.0
    }

    pub fn into_intervals(self) -> Vec<Interval> {
        self.0
    }

    pub fn union(self, other: Self) -> Self {
        Self::of(self.0.into_iter().chain(other.0).collect())
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let (mut out, mut i, mut j) = (Vec::new(), 0, 0);
        while let (Some(a), Some(b)) = (self.0.get(i), other.0.get(j)) {
            let a_ends_first = order(a.end.as_deref(), b.end.as_deref()).is_lt();
            let end = if a_ends_first { &a.end } else { &b.end };
            let both = Interval { start: a.start.clone().max(b.start.clone()), end: end.clone() };
            if !both.is_empty() {
                out.push(both);
            }
            if a_ends_first { i += 1 } else { j += 1 }
        }
        Self(out)
    }

    pub fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut start = Some(Vec::new());
        for interval in &self.0 {
            if let Some(start) = start.take() {
                gaps.push(Interval { start, end: Some(interval.start.clone()) });
            }
            start.clone_from(&interval.end);
        }
        if let Some(start) = start {
            gaps.push(Interval { start, end: None });
        }
        Self::of(gaps)
    }

    pub fn contains(&self, string: &[u8]) -> bool {
        let after = self.0.partition_point(|interval| interval.start.as_slice() <= string);
        after > 0 && self.0[after - 1].end.as_ref().is_none_or(|end| string < end.as_slice())
    }

    /// Whether some string from `start` up to `end` may be in the set.
    pub fn meets(&self, start: &[u8], end: Option<&[u8]>) -> bool {
        let i = self.after(start);
        self.0.get(i).is_some_and(|interval| end.is_none_or(|end| interval.start.as_slice() < end))
    }

    /// Whether all strings from `start` up to `end` are in the set.
    pub fn covers(&self, start: &[u8], end: Option<&[u8]>) -> bool {
        self.0.get(self.after(start)).is_some_and(|interval| {
            interval.start.as_slice() <= start && order(end, interval.end.as_deref()).is_le()
        })
    }

    /// The first interval that ends after `start`.
    fn after(&self, start: &[u8]) -> usize {
        self.0.partition_point(|interval| interval.end.as_ref().is_some_and(|end| end.as_slice() <= start))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prefixes_have_successors() {
        assert_eq!(successor(b"ab").as_deref(), Some(&b"ac"[..]));
        assert_eq!(successor(b"a\xff\xff").as_deref(), Some(&b"b"[..]));
        assert_eq!((successor(b"\xff\xff"), successor(b"")), (None, None));
        let set = StringSet::prefixed(b"a\xff");
        for (string, is_in) in [(&b"a"[..], false), (b"a\xff", true), (b"a\xff\xff\xff", true), (b"b", false)]
        {
            assert_eq!(set.contains(string), is_in, "{string:?}");
        }
    }

    fn string() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0u8), Just(b'a'), Just(0xFF)], 0..4)
    }

    fn set() -> impl Strategy<Value = StringSet> {
        let part = prop_oneof![
            string().prop_map(|string| StringSet::one(&string)),
            string().prop_map(|string| StringSet::prefixed(&string)),
            string().prop_map(StringSet::before),
            string().prop_map(StringSet::from),
        ];
        vec(part, 0..4).prop_map(|parts| parts.into_iter().fold(StringSet::default(), StringSet::union))
    }

    proptest! {
        #[test]
        fn sets_are_those_of_a_model(a in set(), b in set(), strings in vec(string(), 1..12)) {
            for string in &strings {
                let (in_a, in_b) = (a.contains(string), b.contains(string));
                prop_assert_eq!(a.clone().union(b.clone()).contains(string), in_a || in_b);
                prop_assert_eq!(a.intersection(&b).contains(string), in_a && in_b);
                prop_assert_eq!(a.complement().contains(string), !in_a);
            }
            let (start, end) = (strings.iter().min().unwrap(), strings.iter().max().unwrap());
            let end = next(end);
            if strings.iter().any(|string| a.contains(string)) {
                prop_assert!(a.meets(start, Some(&end)) && a.meets(start, None));
            }
            if a.covers(start, Some(&end)) {
                prop_assert!(strings.iter().all(|string| a.contains(string)));
            }
            prop_assert!(!a.covers(start, None) || a.contains(b"\xff\xff\xff\xff\xff"));
            prop_assert_eq!(a.complement().complement(), a);
        }
    }
}
