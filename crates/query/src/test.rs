//! Tests of the values of one column, and their answers by statistics.

use entasis::{Layout, Physical, Statistics};
use entasis_kernels::compare::float_key;
use memchr::memmem::Finder;

use crate::key_set::KeySet;
use crate::like::Like;
use crate::literal_keys::unsigned_key;
use crate::string_set::{StringSet, next, successor};
use crate::wide_decimal;

/// A test of values that are not missing.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// The same answer for all values.
    Constant(bool),
    /// Whether the key of a value of fixed width is in a set.
    Keys(KeySet),
    /// Whether a string is in a set.
    Strings(StringSet),
    /// Whether the key of a decimal of 256 bits is in a set.
    Wide(StringSet),
    /// Whether the match of a string has this result.
    Matches(Matcher, bool),
}

/// A test of a string that no range of strings expresses.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    EndsWith(Vec<u8>),
    Contains(Box<Finder<'static>>),
    Like(Like),
}

/// The known answers for a range of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answers {
    /// Not true for any row.
    None,
    /// True for some rows, maybe.
    Some,
    /// True for all rows.
    All,
}

impl Answers {
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::All, Self::All) => Self::All,
            _ => Self::Some,
        }
    }

    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, Self::None) => Self::None,
            _ => Self::Some,
        }
    }

    /// The answers for two ranges together.
    pub fn joined(self, other: Self) -> Self {
        if self == other { self } else { Self::Some }
    }

    pub fn of(is_true: bool) -> Self {
        if is_true { Self::All } else { Self::None }
    }
}

impl Matcher {
    pub fn matches(&self, string: &[u8]) -> bool {
        match self {
            Self::EndsWith(suffix) => string.ends_with(suffix),
            Self::Contains(finder) => finder.find(string).is_some(),
            Self::Like(like) => like.matches(string),
        }
    }
}

impl Test {
    /// Whether a string passes.
    pub fn passes(&self, string: &[u8]) -> bool {
        match self {
            Self::Constant(answer) => *answer,
            Self::Keys(_) => false,
            Self::Strings(set) => set.contains(string),
            Self::Wide(set) => wide_decimal::key_of(string).is_some_and(|key| set.contains(&key)),
            Self::Matches(matcher, wanted) => matcher.matches(string) == *wanted,
        }
    }

    /// Combines two tests, if possible. With `is_and` both must pass, otherwise at least one.
    pub fn combined(&self, other: &Self, is_and: bool) -> Option<Self> {
        Some(match (self, other) {
            (Self::Constant(answer), test) | (test, Self::Constant(answer)) => {
                if *answer == is_and {
                    test.clone()
                } else {
                    Self::Constant(*answer)
                }
            }
            (Self::Keys(a), Self::Keys(b)) if is_and => Self::Keys(a.intersection(b)),
            (Self::Keys(a), Self::Keys(b)) => Self::Keys(a.union(b)),
            (Self::Strings(a), Self::Strings(b)) if is_and => Self::Strings(a.intersection(b)),
            (Self::Strings(a), Self::Strings(b)) => Self::Strings(a.clone().union(b.clone())),
            (Self::Wide(a), Self::Wide(b)) if is_and => Self::Wide(a.intersection(b)),
            (Self::Wide(a), Self::Wide(b)) => Self::Wide(a.clone().union(b.clone())),
            _ => return None,
        })
    }

    /// The answers for a block of `n` values by its statistics. `missing` is the answer for missing
    /// values.
    pub fn by_statistics(&self, of: Layout, statistics: &Statistics, n: u64, missing: bool) -> Answers {
        let n_missing = u64::from(statistics.n_missing);
        let of_missing = Answers::of(missing);
        if n_missing >= n {
            return of_missing;
        }
        let of_values = self.of_values(of, statistics);
        if n_missing == 0 { of_values } else { of_values.joined(of_missing) }
    }

    fn of_values(&self, of: Layout, statistics: &Statistics) -> Answers {
        let known = statistics.has_min_max;
        match self {
            Self::Constant(answer) => Answers::of(*answer),
            Self::Keys(set) if set.is_empty() => Answers::None,
            Self::Keys(set) => {
                let is_float = of.physical.is_float();
                let range = known.then(|| keys_of(of.physical, statistics)).flatten();
                let numbers = match range {
                    Some((low, high)) if set.covers(low, high) => Some(Answers::All),
                    Some((low, high)) if !set.meets(low, high) => Some(Answers::None),
                    Some(_) => Some(Answers::Some),
                    // Without min and max, all floats are NaN.
                    None if is_float && statistics.has_nan => None,
                    None => Some(Answers::Some),
                };
                let nans = (is_float && statistics.has_nan).then(|| of_nans(of.physical, set));
                match (numbers, nans) {
                    (Some(numbers), Some(nans)) => numbers.joined(nans),
                    (one, other) => one.or(other).unwrap_or(Answers::Some),
                }
            }
            Self::Strings(set) | Self::Wide(set) if set.is_empty() => Answers::None,
            Self::Strings(set) if known => {
                let [start, greatest] = [&statistics.min, &statistics.max].map(string_of);
                let is_cut = statistics.is_prefix && greatest.len() == CUT;
                let end = if is_cut { successor(greatest) } else { Some(next(greatest)) };
                if set.covers(start, end.as_deref()) {
                    Answers::All
                } else if set.meets(start, end.as_deref()) {
                    Answers::Some
                } else {
                    Answers::None
                }
            }
            // Statistics have no bounds for such decimals.
            Self::Strings(_) | Self::Wide(_) | Self::Matches(..) => Answers::Some,
        }
    }
}

/// The bytes of a string that statistics store.
const CUT: usize = 15;

fn string_of(bound: &[u8; 16]) -> &[u8] {
    bound.get(1..=usize::from(bound[0])).unwrap_or(&bound[1..])
}

/// The key of a stored word of this type.
pub(crate) fn key_of(physical: Physical, bytes: &[u8; 16]) -> Option<i128> {
    let word = i128::from_le_bytes(*bytes);
    Some(match physical {
        Physical::Bool | Physical::U8 | Physical::U16 | Physical::U32 | Physical::U64 | Physical::I128 => {
            word
        }
        Physical::U128 => unsigned_key(word.cast_unsigned()),
        Physical::I8 => i128::from(word as i8),
        Physical::I16 => i128::from(word as i16),
        Physical::I32 => i128::from(word as i32),
        Physical::I64 => i128::from(word as i64),
        Physical::F32 => i128::from(float_key(word as u32).cast_signed()),
        Physical::F64 => i128::from(float_key(word as u64).cast_signed()),
        _ => return None,
    })
}

/// The keys of minimum and maximum. A bound of zero stands for both zeros.
fn keys_of(physical: Physical, statistics: &Statistics) -> Option<(i128, i128)> {
    let (mut low, mut high) = (key_of(physical, &statistics.min)?, key_of(physical, &statistics.max)?);
    if physical.is_float() {
        low = if low == 0 { -1 } else { low };
        high = if high == -1 { 0 } else { high };
    }
    Some((low, high))
}

/// The keys of the numbers of a float type, from minus to plus infinity; none for other types.
pub(crate) fn float_keys(physical: Physical) -> Option<(i128, i128)> {
    match physical {
        Physical::F32 => Some(f32::INFINITY.to_bits().into()),
        Physical::F64 => Some(f64::INFINITY.to_bits().into()),
        _ => None,
    }
    .map(|infinity: i128| (-infinity - 1, infinity))
}

/// The keys of NaN.
pub(crate) fn nan_keys(physical: Physical) -> KeySet {
    let ends = match physical {
        Physical::F32 => (i32::MIN.into(), i32::MAX.into()),
        Physical::F64 => (i64::MIN.into(), i64::MAX.into()),
        _ => return KeySet::empty(),
    };
    float_keys(physical)
        .map_or_else(KeySet::empty, |(low, high)| KeySet::of(vec![(ends.0, low - 1), (high + 1, ends.1)]))
}

fn of_nans(physical: Physical, set: &KeySet) -> Answers {
    let nans = nan_keys(physical);
    let passing = nans.intersection(set);
    if passing == nans {
        Answers::All
    } else if passing.is_empty() {
        Answers::None
    } else {
        Answers::Some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(min: i64, max: i64) -> Statistics {
        let word = |value: i64| i128::from(value).to_le_bytes();
        let mut of = Statistics { has_min_max: true, ..Statistics::default() };
        of.min[..8].copy_from_slice(&word(min)[..8]);
        of.max[..8].copy_from_slice(&word(max)[..8]);
        of
    }

    #[test]
    fn integers_are_pruned() {
        let layout = Layout::from(Physical::I64);
        let test = Test::Keys(KeySet::interval(5, 9));
        let of = |min, max| test.by_statistics(layout, &statistics(min, max), 10, false);
        assert_eq!((of(5, 9), of(-3, 4), of(9, 10)), (Answers::All, Answers::None, Answers::Some));
        assert_eq!(of(i64::MIN, i64::MAX), Answers::Some);
        let missing = Statistics { n_missing: 1, ..statistics(5, 9) };
        assert_eq!(test.by_statistics(layout, &missing, 10, false), Answers::Some);
        assert_eq!(test.by_statistics(layout, &missing, 10, true), Answers::All);
        let all_missing = Statistics { n_missing: 10, ..Statistics::default() };
        assert_eq!(test.by_statistics(layout, &all_missing, 10, false), Answers::None);
        assert_eq!(test.by_statistics(layout, &all_missing, 10, true), Answers::All);
        assert_eq!(test.by_statistics(layout, &Statistics::default(), 10, false), Answers::Some);
    }

    #[test]
    fn unsigned_integers_of_128_bits_are_pruned() {
        let layout = Layout::from(Physical::U128);
        let (middle, most) = (1u128 << 127, u128::MAX);
        let test = Test::Keys(KeySet::interval(unsigned_key(middle - 1), unsigned_key(middle)));
        let of = |min: u128, max: u128| {
            let bounds = Statistics { has_min_max: true, ..Statistics::default() };
            let statistics = Statistics { min: min.to_le_bytes(), max: max.to_le_bytes(), ..bounds };
            test.by_statistics(layout, &statistics, 10, false)
        };
        assert_eq!((of(middle - 1, middle), of(middle, middle)), (Answers::All, Answers::All));
        assert_eq!((of(0, middle - 2), of(middle + 1, most)), (Answers::None, Answers::None));
        assert_eq!((of(0, most), of(middle, most)), (Answers::Some, Answers::Some));
    }

    #[test]
    fn nan_takes_part() {
        let layout = Layout::from(Physical::F64);
        let of = |min: f64, max: f64, has_nan| {
            let mut of = Statistics { has_min_max: true, has_nan, ..Statistics::default() };
            of.min[..8].copy_from_slice(&min.to_le_bytes());
            of.max[..8].copy_from_slice(&max.to_le_bytes());
            of
        };
        let (_, infinity) = float_keys(Physical::F64).unwrap();
        let positive = Test::Keys(KeySet::interval(0, infinity));
        let positive_or_nan = Test::Keys(KeySet::interval(0, infinity).union(&nan_keys(Physical::F64)));
        let by = |test: &Test, statistics: Statistics| test.by_statistics(layout, &statistics, 10, false);
        assert_eq!(by(&positive, of(1.0, 2.0, false)), Answers::All);
        assert_eq!(by(&positive, of(1.0, 2.0, true)), Answers::Some);
        assert_eq!(by(&positive_or_nan, of(1.0, 2.0, true)), Answers::All);
        assert_eq!(by(&positive_or_nan, of(-2.0, -1.0, true)), Answers::Some);
        assert_eq!(by(&positive, of(-2.0, -1.0, true)), Answers::None);
        let all_nan = Statistics { has_nan: true, ..Statistics::default() };
        assert_eq!(by(&positive, all_nan), Answers::None);
        assert_eq!(by(&positive_or_nan, all_nan), Answers::All);
        // A block with zeros may have -0.0 too.
        let zero = Test::Keys(KeySet::interval(-1, 0));
        for (min, max) in [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0)] {
            assert_eq!(by(&zero, of(min, max, false)), Answers::All);
        }
        assert_eq!(by(&zero, of(0.0, 1.0, false)), Answers::Some);
    }

    #[test]
    fn cut_strings_are_bounds() {
        let layout = Layout::from(Physical::Utf8);
        let of = |min: &[u8], max: &[u8], is_prefix| {
            let mut of = Statistics { has_min_max: true, is_prefix, ..Statistics::default() };
            for (value, out) in [(min, &mut of.min), (max, &mut of.max)] {
                out[0] = value.len() as u8;
                out[1..=value.len()].copy_from_slice(value);
            }
            of
        };
        let by = |set: StringSet, statistics: Statistics| {
            Test::Strings(set).by_statistics(layout, &statistics, 10, false)
        };
        let cut = of(b"a", b"bbbbbbbbbbbbbbb", true);
        assert_eq!(by(StringSet::one(b"bbbbbbbbbbbbbbbb"), cut), Answers::Some);
        assert_eq!(by(StringSet::one(b"c"), cut), Answers::None);
        assert_eq!(by(StringSet::before(b"c".to_vec()), cut), Answers::All);
        let exact = of(b"a", b"bbbbbbbbbbbbbbb", false);
        assert_eq!(by(StringSet::one(b"bbbbbbbbbbbbbbbb"), exact), Answers::None);
        let high = of(b"a", &[0xFF; 15], true);
        assert_eq!(by(StringSet::one(&[0xFF; 20]), high), Answers::Some);
        assert_eq!(by(StringSet::before(vec![0xFF; 20]), high), Answers::Some);
    }
}
