//! Exact conversions of integers in other units: of times, and of decimals.

use entasis_format::Unit;

/// The value in a smaller or greater unit, `from` and `to` long; `None` if it is not whole there.
pub(super) fn rescaled(value: i128, from: i128, to: i128) -> Option<i128> {
    if from >= to {
        return value.checked_mul(from / to).filter(|_| from % to == 0);
    }
    (to % from == 0 && value % (to / from) == 0).then(|| value / (to / from))
}

/// The length of a unit of time in attoseconds; `None` for units of several lengths.
pub(super) fn unit_len(unit: Unit) -> Option<i128> {
    let second = 10_i128.pow(18);
    Some(match unit {
        Unit::Week => 7 * 86_400 * second,
        Unit::Day => 86_400 * second,
        Unit::Hour => 3600 * second,
        Unit::Minute => 60 * second,
        Unit::Second => second,
        Unit::Millisecond => 10_i128.pow(15),
        Unit::Microsecond => 10_i128.pow(12),
        Unit::Nanosecond => 10_i128.pow(9),
        Unit::Picosecond => 10_i128.pow(6),
        Unit::Femtosecond => 1000,
        Unit::Attosecond => 1,
        Unit::None | Unit::Year | Unit::Month => return None,
    })
}

/// The digits of a decimal with another scale; `None` if it has more digits after the point, or
/// more than `precision` digits.
pub(super) fn decimal(value: i128, from_scale: i8, to_scale: i8, precision: u8) -> Option<i128> {
    let by = i16::from(to_scale) - i16::from(from_scale);
    // Zero has no digits that a scale could lose.
    let power = match 10_i128.checked_pow(by.unsigned_abs().into()) {
        Some(power) => power,
        None => return (value == 0).then_some(0),
    };
    let found = if by >= 0 { rescaled(value, power, 1) } else { rescaled(value, 1, power) }?;
    let most = 10_u128.checked_pow(precision.into())?;
    (found.unsigned_abs() < most).then_some(found)
}

/// A decimal as text.
pub(super) fn decimal_text(value: i128, scale: i8) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs().to_string();
    let Ok(scale) = usize::try_from(scale) else { return format!("{sign}{digits}e{}", -i16::from(scale)) };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_in_the_other_unit() {
        let through = |value, from, to| rescaled(value, unit_len(from)?, unit_len(to)?);
        use Unit as U;
        for (value, from, to, wanted) in [
            (1, U::Second, U::Millisecond, Some(1000)),
            (1000, U::Microsecond, U::Millisecond, Some(1)),
            (1, U::Microsecond, U::Millisecond, None),
            (-1500, U::Millisecond, U::Second, None),
            (-2000, U::Millisecond, U::Second, Some(-2)),
            (2, U::Week, U::Day, Some(14)),
            (i64::MAX as i128, U::Week, U::Attosecond, None),
            (1, U::Month, U::Day, None),
            (0, U::Nanosecond, U::Day, Some(0)),
        ] {
            assert_eq!(through(value, from, to), wanted, "{value} {from:?} {to:?}");
        }
    }

    #[test]
    fn decimals_keep_all_digits() {
        for (value, from, to, precision, wanted) in [
            (125, 2, 1, 10, None),
            (150, 2, 1, 4, Some(15)),
            (15, 1, 2, 10, Some(150)),
            (9999, 0, 1, 4, None),
            (-9999, 0, 0, 4, Some(-9999)),
            (10_000, 0, 0, 4, None),
            (0, -100, 100, 4, Some(0)),
            (1, -100, 100, 38, None),
            (5, -2, 0, 3, Some(500)),
        ] {
            assert_eq!(decimal(value, from, to, precision), wanted, "{value} {from} {to}");
        }
    }

    #[test]
    fn decimals_are_shown_with_their_point() {
        let shown =
            [(125, 2), (-5, 2), (0, 1), (7, 0), (12, -3)].map(|(value, scale)| decimal_text(value, scale));
        assert_eq!(shown, ["1.25", "-0.05", "0.0", "7", "12e3"]);
    }
}
