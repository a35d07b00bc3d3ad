//! Sets of integers.

/// A set of integers, as ascending inclusive intervals with gaps between them.
///
/// Values of all fixed-width types are tested as integers in their order: floats by the key of
/// [`entasis_kernels::compare`], booleans as 0 and 1, decimals and times by the stored number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeySet(Vec<(i128, i128)>);

impl KeySet {
    /// No integer.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The integers from `low` to `high`, both included; empty if `low` is greater.
    pub fn interval(low: i128, high: i128) -> Self {
        if low <= high { Self(vec![(low, high)]) } else { Self::empty() }
    }

    /// The union of intervals in any order.
    pub fn of(mut intervals: Vec<(i128, i128)>) -> Self {
        intervals.retain(|(low, high)| low <= high);
        intervals.sort_unstable();
        let mut joined: Vec<(i128, i128)> = Vec::with_capacity(intervals.len());
        for (low, high) in intervals {
            match joined.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        Self(joined)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn intervals(&self) -> &[(i128, i128)] {
        &self.0
    }

    pub fn union(&self, other: &Self) -> Self {
        Self::of(self.0.iter().chain(&other.0).copied().collect())
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let (mut out, mut i, mut j) = (Vec::new(), 0, 0);
        while let (Some(a), Some(b)) = (self.0.get(i), other.0.get(j)) {
            let (low, high) = (a.0.max(b.0), a.1.min(b.1));
            if low <= high {
                out.push((low, high));
            }
            if a.1 < b.1 { i += 1 } else { j += 1 }
        }
        Self(out)
    }

    /// The integers of `domain` that are not in the set.
    pub fn complement_in(&self, domain: &Self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(i128::MIN);
        for &(low, high) in &self.0 {
            if let Some(next) = next
                && next < low
            {
                gaps.push((next, low - 1));
            }
            next = high.checked_add(1);
        }
        if let Some(next) = next {
            gaps.push((next, i128::MAX));
        }
        Self(gaps).intersection(domain)
    }

    pub fn contains(&self, key: i128) -> bool {
        let after = self.0.partition_point(|interval| interval.0 <= key);
        after > 0 && self.0[after - 1].1 >= key
    }

    /// Whether some integer from `low` to `high` is in the set.
    pub fn meets(&self, low: i128, high: i128) -> bool {
        let i = self.0.partition_point(|interval| interval.1 < low);
        self.0.get(i).is_some_and(|interval| interval.0 <= high)
    }

    /// Whether all integers from `low` to `high` are in the set.
    pub fn covers(&self, low: i128, high: i128) -> bool {
        let i = self.0.partition_point(|interval| interval.1 < low);
        self.0.get(i).is_some_and(|interval| interval.0 <= low && high <= interval.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sets_reach_the_ends() {
        let all = KeySet::interval(i128::MIN, i128::MAX);
        assert!(all.complement_in(&all).is_empty());
        assert_eq!(KeySet::empty().complement_in(&all), all);
        assert_eq!(KeySet::of(vec![(i128::MAX, i128::MAX), (0, i128::MAX)]), KeySet::interval(0, i128::MAX));
        assert!(KeySet::interval(1, 0).is_empty());
    }

    proptest! {
        #[test]
        fn sets_are_those_of_a_model(a in vec((0i8..40, 0i8..40), 0..6), b in vec((0i8..40, 0i8..40), 0..6)) {
            let wide = |of: &[(i8, i8)]| KeySet::of(of.iter().map(|&(l, h)| (l.into(), h.into())).collect());
            let model = |of: &[(i8, i8)], x: i8| of.iter().any(|&(low, high)| (low..=high).contains(&x));
            let (left, right) = (wide(&a), wide(&b));
            let domain = KeySet::of(vec![(0, 10), (12, 39)]);
            for x in 0i8..40 {
                let key = i128::from(x);
                prop_assert_eq!(left.contains(key), model(&a, x));
                prop_assert_eq!(left.union(&right).contains(key), model(&a, x) || model(&b, x));
                prop_assert_eq!(left.intersection(&right).contains(key), model(&a, x) && model(&b, x));
                prop_assert_eq!(left.complement_in(&domain).contains(key), x != 11 && !model(&a, x));
                for y in x..40 {
                    prop_assert_eq!(left.meets(key, y.into()), (x..=y).any(|z| model(&a, z)));
                    prop_assert_eq!(left.covers(key, y.into()), (x..=y).all(|z| model(&a, z)));
                }
            }
            let of = left.union(&right);
            prop_assert!(of.intervals().is_sorted_by(|a, b| a.1 + 1 < b.0));
        }
    }
}
