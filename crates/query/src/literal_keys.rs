//! The place of a literal among the keys of a column.

use entasis::{ColumnType, Logical, Physical, Unit};
use entasis_kernels::compare::float_key;

use crate::predicate::{Literal, Rules};
use crate::time_kind::TimeKind;
use crate::wide_decimal::{Digits, WidePlace};

/// The place of a literal among keys: the greatest key `<` the literal, and the greatest key `<=`
/// the literal; `None` if all keys are greater. The two differ only if some key equals the literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub below: Option<i128>,
    pub up_to: Option<i128>,
}

impl Place {
    const BEFORE_ALL: Self = Self { below: None, up_to: None };
    const AFTER_ALL: Self = Self { below: Some(i128::MAX), up_to: Some(i128::MAX) };

    /// A literal that equals this key.
    fn at(key: i128) -> Self {
        Self { below: key.checked_sub(1), up_to: Some(key) }
    }

    /// A literal between this key and the next one.
    fn after(key: i128) -> Self {
        Self { below: Some(key), up_to: Some(key) }
    }

    fn beyond(is_positive: bool) -> Self {
        if is_positive { Self::AFTER_ALL } else { Self::BEFORE_ALL }
    }

    /// The quotient of two numbers, the second one positive.
    fn quotient(a: i128, b: i128) -> Self {
        let floor = a.div_euclid(b);
        if a.rem_euclid(b) == 0 { Self::at(floor) } else { Self::after(floor) }
    }
}

/// The place of a literal among the keys of a fixed-width column; `None` if not comparable. NaN has
/// no place.
pub(crate) fn place(of: &ColumnType, literal: &Literal, rules: Rules, is_aware: bool) -> Option<Place> {
    match (of.logical, of.physical) {
        (Logical::Plain, Physical::F32) => float(literal).map(|value| float32(value, rules)),
        (Logical::Plain, Physical::F64) => float(literal).map(float64),
        (Logical::Plain, Physical::Bool) => match *literal {
            Literal::Bool(value) => Some(Place::at(value.into())),
            _ => None,
        },
        (Logical::Plain, Physical::U128) => unsigned_wide(literal),
        (Logical::Plain, physical) if is_integer(physical) => match *literal {
            Literal::Float(value) if value.is_finite() => Some(float_among_integers(value)),
            _ => number(literal, 0),
        },
        (Logical::Decimal, physical) if is_integer(physical) => number(literal, i32::from(of.scale)),
        (Logical::Period, Physical::I64) => match *literal {
            Literal::Period(number) => Some(Place::at(number.into())),
            _ => None,
        },
        (Logical::Timestamp | Logical::Date | Logical::Time | Logical::Duration, physical)
            if is_integer(physical) =>
        {
            let Literal::Time { attoseconds, kind } = *literal else { return None };
            (kind == time_kind(of.logical, is_aware)).then_some(())?;
            Some(Place::quotient(attoseconds, attoseconds_of(of.unit)?))
        }
        _ => None,
    }
}

fn is_integer(physical: Physical) -> bool {
    physical.is_integer() || physical == Physical::I128
}

/// The kind of the times of a column.
pub(crate) fn time_kind(logical: Logical, is_aware: bool) -> TimeKind {
    match logical {
        Logical::Time => TimeKind::OfDay,
        Logical::Duration => TimeKind::Duration,
        _ if is_aware => TimeKind::Aware,
        _ => TimeKind::Naive,
    }
}

/// Attoseconds in a unit; none for units without a fixed length.
fn attoseconds_of(unit: Unit) -> Option<i128> {
    let second = 10i128.pow(18);
    Some(match unit {
        Unit::Week => 604_800 * second,
        Unit::Day => 86_400 * second,
        Unit::Hour => 3_600 * second,
        Unit::Minute => 60 * second,
        Unit::Second => second,
        Unit::Millisecond => 10i128.pow(15),
        Unit::Microsecond => 10i128.pow(12),
        Unit::Nanosecond => 10i128.pow(9),
        Unit::Picosecond => 10i128.pow(6),
        Unit::Femtosecond => 10i128.pow(3),
        Unit::Attosecond => 1,
        Unit::None | Unit::Year | Unit::Month => return None,
    })
}

/// The place of a number among decimals of this scale, whose keys are their digits as an integer.
fn number(literal: &Literal, scale: i32) -> Option<Place> {
    if let Literal::LongDecimal { .. } = literal {
        return Some(of_long(Digits::of(literal)?.place(scale)));
    }
    let (digits, exponent) = match *literal {
        Literal::Int(value) => (value, 0),
        Literal::Decimal { digits, scale } => (digits, scale.saturating_neg()),
        Literal::Float(value) if value.is_infinite() => return Some(Place::beyond(value > 0.0)),
        // Compared with decimals, a float counts as its shortest decimal text: 0.1 is one tenth.
        Literal::Float(value) => shortest(value)?,
        _ => return None,
    };
    let exponent = exponent.saturating_add(scale);
    let power = 10i128.checked_pow(exponent.unsigned_abs());
    Some(if exponent >= 0 {
        match power.and_then(|power| digits.checked_mul(power)) {
            Some(key) => Place::at(key),
            None if digits == 0 => Place::at(0),
            None => Place::beyond(digits > 0),
        }
    } else {
        match power {
            Some(power) => Place::quotient(digits, power),
            // The magnitude of the number is below 1.
            None if digits == 0 => Place::at(0),
            None => Place::after(if digits < 0 { -1 } else { 0 }),
        }
    })
}

/// Converts a place among integers of 256 bits to the place among integers of 128 bits.
fn of_long(place: WidePlace) -> Place {
    let of = |key: [u8; 32], place: fn(i128) -> Place| {
        let is_positive = key[0] >= 0x80;
        let mut low = [0; 16];
        low.copy_from_slice(&key[16..]);
        let low = i128::from_be_bytes(low);
        let high = if is_positive { (0x80, 0) } else { (0x7F, u8::MAX) };
        let fits = key[0] == high.0 && key[1..16].iter().all(|&byte| byte == high.1);
        if fits && (low >= 0) == is_positive { place(low) } else { Place::beyond(is_positive) }
    };
    match place {
        WidePlace::At(key) => of(key, Place::at),
        WidePlace::After(key) => of(key, Place::after),
        WidePlace::BeforeAll => Place::BEFORE_ALL,
        WidePlace::AfterAll => Place::AFTER_ALL,
    }
}

/// The key of an unsigned integer of 128 bits. Its inverted highest bit, as a sign, gives the order
/// of the numbers.
pub(crate) fn unsigned_key(number: u128) -> i128 {
    (number ^ 1 << 127).cast_signed()
}

/// The place of a number among unsigned integers of 128 bits.
fn unsigned_wide(literal: &Literal) -> Option<Place> {
    let place = match *literal {
        Literal::Float(value) if !value.is_finite() => return Some(Place::beyond(value > 0.0)),
        // A float below 2^128 is exact here, as its digits before the point are.
        Literal::Float(value) if (0.0..2f64.powi(128)).contains(&value) => {
            let floor = unsigned_key(value.floor() as u128);
            return Some(if value.floor() == value { Place::at(floor) } else { Place::after(floor) });
        }
        Literal::Float(value) => return Some(Place::beyond(value > 0.0)),
        _ => Digits::of(literal)?.place(0),
    };
    // The key of 256 bits has an inverted sign bit, then the other bits of the number.
    let narrow = |key: [u8; 32], place: fn(i128) -> Place| {
        let (high, low) = key.split_at(16);
        let low = low.try_into().map_or(0, u128::from_be_bytes);
        match high {
            [0x80, rest @ ..] if rest.iter().all(|&byte| byte == 0) => place(unsigned_key(low)),
            _ => Place::beyond(high[0] >= 0x80),
        }
    };
    Some(match place {
        WidePlace::At(key) => narrow(key, Place::at),
        WidePlace::After(key) => narrow(key, Place::after),
        WidePlace::BeforeAll => Place::BEFORE_ALL,
        WidePlace::AfterAll => Place::AFTER_ALL,
    })
}

fn float_among_integers(value: f64) -> Place {
    let floor = value.floor();
    // Beyond the range of i128 the conversion would saturate. The bounds of the range are exact
    // floats.
    if floor >= 2f64.powi(127) || floor < -(2f64.powi(127)) {
        return Place::beyond(value > 0.0);
    }
    if floor == value { Place::at(floor as i128) } else { Place::after(floor as i128) }
}

/// The digits and the exponent of the shortest decimal number that reads as this float.
fn shortest(value: f64) -> Option<(i128, i32)> {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e')?;
    let n_decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let exponent: i32 = exponent.parse().ok()?;
    let digits: i128 = digits.replace('.', "").parse().ok()?;
    Some((digits, exponent - i32::try_from(n_decimals).ok()?))
}

/// The literal as a float, rounded as hosts do.
fn float(literal: &Literal) -> Option<f64> {
    match *literal {
        Literal::Float(value) => Some(value),
        Literal::Int(value) => Some(value as f64),
        Literal::Decimal { digits, scale } => format!("{digits}e{}", scale.saturating_neg()).parse().ok(),
        Literal::LongDecimal { ref digits, scale } => {
            format!("{digits}e{}", scale.saturating_neg()).parse().ok()
        }
        _ => None,
    }
}

fn float64(value: f64) -> Place {
    if value == 0.0 {
        return ZERO;
    }
    Place::at(i128::from(float_key(value.to_bits()).cast_signed()))
}

/// The place of zero. The keys of -0.0 and 0.0 are -1 and 0.
const ZERO: Place = Place { below: Some(-2), up_to: Some(0) };

fn float32(value: f64, rules: Rules) -> Place {
    let near = value as f32;
    if near == 0.0 && (value == 0.0 || !rules.widens) {
        return ZERO;
    }
    let key = i128::from(float_key(near.to_bits()).cast_signed());
    match f64::from(near) {
        _ if !rules.widens => Place::at(key),
        wide if wide > value => Place::after(key - 1),
        wide if wide < value => Place::after(key),
        _ => Place::at(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(of: ColumnType, literal: Literal) -> Option<Place> {
        place(&of, &literal, Rules::default(), false)
    }

    #[test]
    fn fractions_lie_between_integers() {
        let i64 = ColumnType::plain(Physical::I64);
        assert_eq!(of(i64, Literal::Float(2.5)), Some(Place::after(2)));
        assert_eq!(of(i64, Literal::Float(-2.5)), Some(Place::after(-3)));
        assert_eq!(of(i64, Literal::Float(9_007_199_254_740_992.0)), Some(Place::at(1 << 53)));
        assert_eq!(of(i64, Literal::Float(1e300)), Some(Place::AFTER_ALL));
        assert_eq!(of(i64, Literal::Float(f64::NEG_INFINITY)), Some(Place::BEFORE_ALL));
        assert_eq!(of(i64, Literal::Decimal { digits: 25, scale: 1 }), Some(Place::after(2)));
        assert_eq!(of(i64, Literal::Decimal { digits: 1, scale: 60 }), Some(Place::after(0)));
        assert_eq!(of(i64, Literal::Decimal { digits: -1, scale: 60 }), Some(Place::after(-1)));
        assert_eq!(of(i64, Literal::Decimal { digits: -1, scale: -60 }), Some(Place::BEFORE_ALL));
        assert_eq!(of(i64, Literal::String("2".into())), None);
        assert_eq!(of(i64, Literal::Bool(true)), None);
    }

    #[test]
    fn decimals_take_floats_as_they_are_written() {
        let decimal = ColumnType::decimal(9, 2).unwrap();
        assert_eq!(of(decimal, Literal::Float(0.1)), Some(Place::at(10)));
        assert_eq!(of(decimal, Literal::Float(0.125)), Some(Place::after(12)));
        assert_eq!(of(decimal, Literal::Float(-0.0)), Some(Place::at(0)));
        assert_eq!(of(decimal, Literal::Float(1e300)), Some(Place::AFTER_ALL));
        assert_eq!(of(decimal, Literal::Int(7)), Some(Place::at(700)));
        let whole = ColumnType::decimal(38, 0).unwrap();
        assert_eq!(of(whole, Literal::Float(1e23)), Some(Place::at(10i128.pow(23))));
        let least = Literal::Decimal { digits: 1, scale: i32::MIN };
        assert_eq!(of(decimal, least), Some(Place::AFTER_ALL));
        assert_eq!(of(ColumnType::decimal(9, -2).unwrap(), Literal::Int(750)), Some(Place::after(7)));
    }

    #[test]
    fn zeros_are_equal_and_tenths_are_rounded() {
        let (f32, f64) = (ColumnType::plain(Physical::F32), ColumnType::plain(Physical::F64));
        for literal in [Literal::Float(0.0), Literal::Float(-0.0), Literal::Int(0)] {
            assert_eq!(of(f64, literal.clone()), Some(ZERO));
            assert_eq!(of(f32, literal), Some(ZERO));
        }
        let tenth = i128::from(0.1f32.to_bits());
        assert_eq!(of(f32, Literal::Float(0.1)), Some(Place::at(tenth)));
        let widens = Rules { widens: true, ..Rules::default() };
        // The nearest float32 is greater than the tenth in float64.
        let wide = |value| place(&f32, &Literal::Float(value), widens, false);
        assert_eq!(wide(0.1), Some(Place::after(tenth - 1)));
        assert_eq!(wide(0.5), Some(Place::at(i128::from(0.5f32.to_bits()))));
        // Between zero and the least float32.
        assert_eq!(wide(1e-300), Some(Place::after(0)));
        assert_eq!(wide(-1e-300), Some(Place::after(-2)));
    }

    #[test]
    fn times_are_compared_in_the_unit_of_the_column() {
        let timestamp = ColumnType {
            logical: Logical::Timestamp,
            unit: Unit::Second,
            ..ColumnType::plain(Physical::I64)
        };
        let at = |attoseconds, kind| {
            place(&timestamp, &Literal::Time { attoseconds, kind }, Rules::default(), true)
        };
        let second = 10i128.pow(18);
        assert_eq!(at(7 * second, TimeKind::Aware), Some(Place::at(7)));
        assert_eq!(at(-second / 2, TimeKind::Aware), Some(Place::after(-1)));
        assert_eq!(at(7 * second, TimeKind::Naive), None);
    }

    #[test]
    fn unsigned_numbers_of_128_bits_keep_their_order() {
        let wide = ColumnType::plain(Physical::U128);
        let digits = |text: &str| Literal::LongDecimal { digits: text.into(), scale: 0 };
        assert_eq!(of(wide, Literal::Int(0)), Some(Place::at(i128::MIN)));
        assert_eq!(of(wide, Literal::Int(-1)), Some(Place::BEFORE_ALL));
        assert_eq!(of(wide, Literal::Int(i128::MAX)), Some(Place::at(-1)));
        assert_eq!(of(wide, digits(&(1u128 << 127).to_string())), Some(Place::at(0)));
        assert_eq!(of(wide, digits(&u128::MAX.to_string())), Some(Place::at(i128::MAX)));
        assert_eq!(of(wide, digits("340282366920938463463374607431768211456")), Some(Place::AFTER_ALL));
        assert_eq!(of(wide, digits("-340282366920938463463374607431768211456")), Some(Place::BEFORE_ALL));
        assert_eq!(of(wide, Literal::Decimal { digits: 25, scale: 1 }), Some(Place::after(unsigned_key(2))));
        assert_eq!(of(wide, Literal::Float(2f64.powi(127))), Some(Place::at(0)));
        assert_eq!(of(wide, Literal::Float(2f64.powi(128))), Some(Place::AFTER_ALL));
        assert_eq!(of(wide, Literal::Float(-0.5)), Some(Place::BEFORE_ALL));
        assert_eq!(of(wide, Literal::Float(0.5)), Some(Place::after(unsigned_key(0))));
        assert_eq!(of(wide, Literal::Bool(true)), None);
    }
}
