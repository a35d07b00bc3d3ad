//! Converts R's doubles of days and seconds to integer counts of a time unit and back, exactly or
//! not at all.

use entasis::{Error, Result, Unit};

use super::missing::NA_INTEGER64;
use super::parallel;

/// The unit and origin of doubles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Whole days since 1970.
    Days,
    /// Seconds since 1970.
    Instant,
    /// A duration in units of this many seconds.
    Span(u32),
}

/// Candidate units, the coarsest first, and their number per second.
const TRIED: [(Unit, i64); 4] = [
    (Unit::Second, 1),
    (Unit::Millisecond, 1_000),
    (Unit::Microsecond, 1_000_000),
    (Unit::Nanosecond, 1_000_000_000),
];

/// No unit holds more seconds or counts than this.
const FAR: f64 = 9.2e18;

/// Units per second, for units of at most a second.
fn per_second(unit: Unit) -> Option<i64> {
    Some(match unit {
        Unit::Second => 1,
        Unit::Millisecond => 1_000,
        Unit::Microsecond => 1_000_000,
        Unit::Nanosecond => 1_000_000_000,
        Unit::Picosecond => 1_000_000_000_000,
        Unit::Femtosecond => 1_000_000_000_000_000,
        Unit::Attosecond => 1_000_000_000_000_000_000,
        _ => return None,
    })
}

/// Seconds per unit, for units of at least a second and of fixed length.
fn seconds_in(unit: Unit) -> Option<i64> {
    Some(match unit {
        Unit::Second => 1,
        Unit::Minute => 60,
        Unit::Hour => 3_600,
        Unit::Day => 86_400,
        Unit::Week => 604_800,
        _ => return None,
    })
}

/// Converts a count of units to a double of the scale.
pub fn to_double(n: i64, unit: Unit, scale: Scale) -> Option<f64> {
    let seconds = match (per_second(unit), seconds_in(unit)) {
        (Some(per), _) => match scale {
            // Whole seconds and the rest are exact, so their sum is rounded once, far from a tie.
            Scale::Instant => (n / per) as f64 + (n % per) as f64 / per as f64,
            Scale::Span(seconds) => return Some(n as f64 / (per as f64 * f64::from(seconds))),
            Scale::Days => return Some((n.div_euclid(per) as f64 / 86_400.0).floor()),
        },
        (None, Some(seconds)) => n as f64 * seconds as f64,
        _ => return None,
    };
    Some(match scale {
        Scale::Days => (seconds / 86_400.0).floor(),
        Scale::Instant => seconds,
        Scale::Span(each) => seconds / f64::from(each),
    })
}

/// Converts a double of the scale to a count of units; `None` if that is not exact.
fn from_double(value: f64, unit: Unit, per: i64, scale: Scale) -> Option<i64> {
    let n = match scale {
        Scale::Days => {
            let whole = value as i32;
            return (f64::from(whole).to_bits() == value.to_bits()).then_some(i64::from(whole));
        }
        _ if value.abs() > FAR => return None,
        Scale::Instant => {
            let whole = value.trunc();
            let rest = ((value - whole) * per as f64).round() as i64;
            (whole as i64).checked_mul(per)?.checked_add(rest)?
        }
        Scale::Span(seconds) => {
            let n = value * (per as f64 * f64::from(seconds));
            if n.is_nan() || n.abs() > FAR {
                return None;
            }
            n.round() as i64
        }
    };
    let same = to_double(n, unit, scale).is_some_and(|back| back.to_bits() == value.to_bits());
    (same && n != NA_INTEGER64).then_some(n)
}

/// The bounds of a double among counts of a unit: the first count that is not less, and the first
/// one that is greater. Counts are compared as R compares their doubles times `factor`. `None` if
/// times of the unit have no counterpart in R.
pub fn bounds(value: f64, unit: Unit, scale: Option<Scale>, factor: f64) -> Option<(i64, i64)> {
    let shown = |n: i64| scale.map_or(Some(n as f64), |scale| to_double(n, unit, scale));
    shown(0)?;
    // Conversions never decrease, but they may map neighbours to the same double.
    let first = |is_reached: &dyn Fn(f64) -> bool| {
        let most = if per_second(unit).is_some() { FAR as i64 } else { 1 << 40 };
        let (mut low, mut high) = (-most, most);
        while low < high {
            // The floor of the mean, without overflow.
            let middle = (low & high) + ((low ^ high) >> 1);
            if shown(middle).is_some_and(|n| is_reached(factor * n)) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        low
    };
    Some((first(&|n| n >= value), first(&|n| n > value)))
}

/// Attoseconds in some counts of a unit with a fixed length.
pub fn attoseconds(n: i64, unit: Unit) -> Option<i128> {
    let second = 10i128.pow(18);
    let each = match (per_second(unit), seconds_in(unit)) {
        (Some(per), _) => second / i128::from(per),
        (None, Some(seconds)) => second * i128::from(seconds),
        _ => return None,
    };
    i128::from(n).checked_mul(each)
}

/// Whether all counts of a unit that differ are different doubles in a range of 100,000 years.
pub fn are_exact(unit: Unit, scale: Scale) -> bool {
    scale != Scale::Days && per_second(unit).is_none_or(|per| per <= 1_000)
}

/// The first count that its double does not give back.
pub fn first_rounded(counts: &[i64], unit: Unit, scale: Scale) -> Option<usize> {
    let per = per_second(unit).unwrap_or(1);
    let is_rounded = |&n: &i64| {
        n != NA_INTEGER64
            && to_double(n, unit, scale).and_then(|value| from_double(value, unit, per, scale)) != Some(n)
    };
    let found = parallel::parts(counts.len(), |range| {
        counts[range.clone()].iter().position(is_rounded).map(|i| range.start + i)
    });
    found.into_iter().flatten().next()
}

/// The coarsest unit in which all doubles except missing ones are exact counts.
pub fn exact_unit(values: &[f64], scale: Scale, na: Option<u64>) -> Option<Unit> {
    let tried: &[(Unit, i64)] = if scale == Scale::Days { &[(Unit::Day, 1)] } else { &TRIED };
    exact_unit_of(tried, values, scale, na)
}

/// The finest unit in which all doubles except missing ones are exact counts. Later values may need
/// it.
pub fn finest_unit(values: &[f64], scale: Scale, na: Option<u64>) -> Option<Unit> {
    let finest = if scale == Scale::Days {
        None
    } else {
        (0..TRIED.len()).rev().find_map(|i| exact_unit_of(&TRIED[i..=i], values, scale, na))
    };
    finest.or_else(|| exact_unit(values, scale, na))
}

/// The first of some units, the coarsest first, in which all doubles but missing ones are exact.
fn exact_unit_of(tried: &[(Unit, i64)], values: &[f64], scale: Scale, na: Option<u64>) -> Option<Unit> {
    let found = parallel::parts(values.len(), |range| {
        let mut level = 0;
        for &value in &values[range] {
            if Some(value.to_bits()) == na {
                continue;
            }
            // Try finer units. Earlier values have counts in these too, unless they exceed the
            // unit's range, which is checked below.
            while from_double(value, tried[level].0, tried[level].1, scale).is_none() {
                level += 1;
                if level == tried.len() {
                    return None;
                }
            }
        }
        Some(level)
    });
    let level = found.into_iter().try_fold(0, |most, level| level.map(|level| most.max(level)))?;
    let (unit, per) = tried[level];
    // A coarse unit has a wider range than a fine one.
    let fits = |value: &f64| Some(value.to_bits()) == na || from_double(*value, unit, per, scale).is_some();
    (level == 0
        || parallel::parts(values.len(), |range| values[range].iter().all(fits)).into_iter().all(|fits| fits))
    .then_some(unit)
}

/// Converts doubles to counts of a unit, and missing ones to the least integer.
pub fn from_doubles(values: &[f64], unit: Unit, scale: Scale, na: Option<u64>) -> Result<Vec<i64>> {
    let per = if scale == Scale::Days { 1 } else { per_second(unit).unwrap_or(1) };
    let mut out = vec![0; values.len()];
    parallel::convert(values, &mut out, |value, out| {
        *out = if Some(value.to_bits()) == na {
            NA_INTEGER64
        } else {
            from_double(*value, unit, per, scale)
                .ok_or_else(|| Error::argument("the values changed while they were written"))?
        };
        Ok(())
    })?;
    Ok(out)
}

/// Converts counts of a unit to doubles in place.
pub fn to_doubles(memory: &mut [u64], unit: Unit, scale: Scale, na: u64) -> Result<()> {
    if to_double(0, unit, scale).is_none() {
        return Err(Error::unsupported(format!("times of unit {} have no counterpart in R", unit.name())));
    }
    parallel::each(memory, |word| {
        let n = *word as i64;
        let value = to_double(n, unit, scale).map_or(na, f64::to_bits);
        *word = if n == NA_INTEGER64 { na } else { value };
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::r::missing::NA_REAL;

    fn there_and_back(values: &[f64], scale: Scale) -> Option<Unit> {
        let unit = exact_unit(values, scale, Some(NA_REAL))?;
        let counts = from_doubles(values, unit, scale, Some(NA_REAL)).unwrap();
        let mut words: Vec<u64> = counts.iter().map(|&n| n as u64).collect();
        to_doubles(&mut words, unit, scale, NA_REAL).unwrap();
        let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        assert_eq!(words, bits);
        Some(unit)
    }

    #[test]
    fn the_coarsest_unit_is_found() {
        let na = f64::from_bits(NA_REAL);
        for (values, scale, unit) in [
            (&[0.0, 1.0, -5.0, na][..], Scale::Days, Some(Unit::Day)),
            (&[0.5], Scale::Days, None),
            (&[-0.0], Scale::Days, None),
            (&[3e9], Scale::Days, None),
            (&[1.7e9, -3.0, na], Scale::Instant, Some(Unit::Second)),
            (&[1.7e9, 1.5], Scale::Instant, Some(Unit::Millisecond)),
            (&[1763744436.123457], Scale::Instant, Some(Unit::Microsecond)),
            (&[1763744436.123457 + 2f64.powi(-22)], Scale::Instant, Some(Unit::Nanosecond)),
            (&[f64::INFINITY], Scale::Instant, None),
            (&[f64::NAN], Scale::Instant, None),
            (&[1e300], Scale::Instant, None),
            (&[1.0 / 3.0], Scale::Instant, None),
            // Seconds have a wider range than microseconds.
            (&[9e15, 0.000_001], Scale::Instant, None),
            (&[], Scale::Instant, Some(Unit::Second)),
            (&[0.5, 90.0], Scale::Span(60), Some(Unit::Second)),
            (&[1.25], Scale::Span(1), Some(Unit::Millisecond)),
            (&[2.0, 1.0 / 7.0], Scale::Span(604_800), Some(Unit::Second)),
        ] {
            assert_eq!(there_and_back(values, scale), unit, "{values:?} {scale:?}");
        }
    }

    #[test]
    fn the_finest_unit_is_found() {
        for (values, scale, unit) in [
            (&[1.7e9, -3.0, f64::from_bits(NA_REAL)][..], Scale::Instant, Some(Unit::Nanosecond)),
            (&[1.7e9, 1.5], Scale::Instant, Some(Unit::Nanosecond)),
            // The year 9999 exceeds the range of nanoseconds.
            (&[253_402_300_799.0], Scale::Instant, Some(Unit::Microsecond)),
            (&[1.0 / 3.0], Scale::Instant, None),
            (&[], Scale::Span(60), Some(Unit::Nanosecond)),
            (&[1.0], Scale::Days, Some(Unit::Day)),
        ] {
            assert_eq!(finest_unit(values, scale, Some(NA_REAL)), unit, "{values:?} {scale:?}");
        }
    }

    proptest! {
        #[test]
        fn clocks_are_exact(seconds in 1e7..4e9f64) {
            prop_assert!(there_and_back(&[seconds, -seconds], Scale::Instant).is_some());
        }

        #[test]
        fn any_bits(bits: [u64; 3], scale in 0..5usize) {
            let scale = [Scale::Days, Scale::Instant, Scale::Span(1), Scale::Span(60), Scale::Span(604_800)][scale];
            there_and_back(&bits.map(f64::from_bits), scale);
        }
    }

    #[test]
    fn rounded_counts_are_found() {
        let exact = [1_763_744_436_123_457, -5, NA_INTEGER64];
        assert_eq!(first_rounded(&exact, Unit::Microsecond, Scale::Instant), None);
        let fine = [1_763_744_436_000_000_000, 1_763_744_436_123_456_789];
        assert_eq!(first_rounded(&fine, Unit::Nanosecond, Scale::Instant), Some(1));
        assert!(
            are_exact(Unit::Millisecond, Scale::Instant) && !are_exact(Unit::Microsecond, Scale::Span(1))
        );
    }

    #[test]
    fn doubles_have_bounds_among_counts() {
        let of = |value, unit, scale| bounds(value, unit, scale, 1.0);
        assert_eq!(of(2.0, Unit::Day, Some(Scale::Days)), Some((2, 3)));
        assert_eq!(of(2.5, Unit::Day, Some(Scale::Days)), Some((3, 3)));
        assert_eq!(of(-1.5, Unit::Millisecond, Some(Scale::Instant)), Some((-1500, -1499)));
        assert_eq!(of(7.0, Unit::Week, None), Some((7, 8)));
        assert_eq!(bounds(3600.0, Unit::Second, Some(Scale::Span(60)), 60.0), Some((3600, 3601)));
        assert_eq!(of(1.0, Unit::Month, Some(Scale::Instant)), None);
        // Beyond all counts.
        assert_eq!(of(1e300, Unit::Second, Some(Scale::Instant)), Some((FAR as i64, FAR as i64)));
        assert_eq!(of(-1e300, Unit::Second, Some(Scale::Instant)), Some((-FAR as i64, -FAR as i64)));
        assert_eq!(attoseconds(-2, Unit::Millisecond), Some(-2 * 10i128.pow(15)));
        assert_eq!(attoseconds(1, Unit::Year), None);
    }

    proptest! {
        #[test]
        fn counts_are_compared_as_their_doubles(n in any::<i32>(), near in -3..4i64, seconds in 1..70u32, unit in 0..4usize) {
            let scale = Scale::Span(seconds);
            let (unit, factor) = (TRIED[unit].0, f64::from(seconds));
            let double = |n: i64| factor * to_double(n, unit, scale).unwrap();
            let value = double(n.into());
            let (first, after) = bounds(value, unit, Some(scale), factor).unwrap();
            let n = i64::from(n) + near;
            prop_assert_eq!(double(n) < value, n < first);
            prop_assert_eq!(double(n) <= value, n < after);
        }
    }

    #[test]
    fn units_of_other_hosts() {
        assert_eq!(to_double(-1, Unit::Millisecond, Scale::Instant), Some(-0.001));
        assert_eq!(to_double(2, Unit::Week, Scale::Instant), Some(1_209_600.0));
        assert_eq!(to_double(3, Unit::Day, Scale::Span(1)), Some(259_200.0));
        assert_eq!(to_double(-1, Unit::Millisecond, Scale::Days), Some(-1.0));
        assert_eq!(to_double(1, Unit::Month, Scale::Instant), None);
    }
}
