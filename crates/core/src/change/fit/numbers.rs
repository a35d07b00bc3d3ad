//! Exact conversions between integers and floats.

use entasis_format::Physical;

/// Bytes of the widest word.
pub(super) const WIDEST: usize = 16;

/// A number of any type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// The number that a word holds; `None` for words of another type.
pub(super) fn number(of: Physical, word: &[u8]) -> Option<Number> {
    Some(match of {
        Physical::F32 => Number::Float(f32::from_le_bytes(word.try_into().ok()?).into()),
        Physical::F64 => Number::Float(f64::from_le_bytes(word.try_into().ok()?)),
        _ => Number::Int(integer(of, word)?),
    })
}

/// The integer that a word holds.
pub(super) fn integer(of: Physical, word: &[u8]) -> Option<i128> {
    Some(match of {
        Physical::I8 => i8::from_le_bytes(word.try_into().ok()?).into(),
        Physical::I16 => i16::from_le_bytes(word.try_into().ok()?).into(),
        Physical::I32 => i32::from_le_bytes(word.try_into().ok()?).into(),
        Physical::I64 => i64::from_le_bytes(word.try_into().ok()?).into(),
        Physical::U8 => u8::from_le_bytes(word.try_into().ok()?).into(),
        Physical::U16 => u16::from_le_bytes(word.try_into().ok()?).into(),
        Physical::U32 => u32::from_le_bytes(word.try_into().ok()?).into(),
        Physical::U64 => u64::from_le_bytes(word.try_into().ok()?).into(),
        Physical::I128 => i128::from_le_bytes(word.try_into().ok()?),
        _ => return None,
    })
}

/// The word of a number in a type, followed by zeros; `None` if the type does not hold the number.
/// NaN stays NaN, and an integer never holds -0.0.
pub(super) fn word(to: Physical, number: Number) -> Option<[u8; WIDEST]> {
    match (to, number) {
        (Physical::F32, Number::Float(value)) => {
            let found = value as f32;
            (value.is_nan() || f64::from(found) == value).then(|| padded(&found.to_le_bytes()))
        }
        (Physical::F64, Number::Float(value)) => Some(padded(&value.to_le_bytes())),
        (Physical::F32, Number::Int(value)) => {
            n_digits(value).le(&f32::MANTISSA_DIGITS).then(|| padded(&(value as f32).to_le_bytes()))
        }
        (Physical::F64, Number::Int(value)) => {
            n_digits(value).le(&f64::MANTISSA_DIGITS).then(|| padded(&(value as f64).to_le_bytes()))
        }
        (_, Number::Float(value)) => integer_word(to, whole(value)?),
        (_, Number::Int(value)) => integer_word(to, value),
    }
}

/// The word of an integer; `None` if the type does not hold it.
pub(super) fn integer_word(to: Physical, value: i128) -> Option<[u8; WIDEST]> {
    let bits = match to {
        Physical::I8 => i8::try_from(value).is_ok(),
        Physical::I16 => i16::try_from(value).is_ok(),
        Physical::I32 => i32::try_from(value).is_ok(),
        Physical::I64 => i64::try_from(value).is_ok(),
        Physical::U8 => u8::try_from(value).is_ok(),
        Physical::U16 => u16::try_from(value).is_ok(),
        Physical::U32 => u32::try_from(value).is_ok(),
        Physical::U64 => u64::try_from(value).is_ok(),
        Physical::I128 => true,
        _ => false,
    };
    // The low bytes of two's complement are the word.
    bits.then(|| value.to_le_bytes())
}

/// The integer that equals a float, which is not -0.0.
fn whole(value: f64) -> Option<i128> {
    // 2^127 is the first float beyond the integers.
    let is_inside = value >= i128::MIN as f64 && value < -(i128::MIN as f64);
    let is_negative_zero = value == 0.0 && value.is_sign_negative();
    (is_inside && value.trunc() == value && !is_negative_zero).then_some(value as i128)
}

/// The binary digits of an integer, without the zeros at both ends.
fn n_digits(value: i128) -> u32 {
    let value = value.unsigned_abs();
    match value {
        0 => 0,
        value => u128::BITS - value.leading_zeros() - value.trailing_zeros(),
    }
}

fn padded(bytes: &[u8]) -> [u8; WIDEST] {
    let mut word = [0; WIDEST];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts a number and reads it back.
    fn through(to: Physical, from: Number) -> Option<Number> {
        let word = word(to, from)?;
        number(to, word.get(..to.width()?)?)
    }

    #[test]
    fn integers_hold_whole_floats_alone() {
        use Number::{Float, Int};
        use Physical as P;
        for (to, value, wanted) in [
            (P::I64, 3.0, Some(3)),
            (P::I64, 0.0, Some(0)),
            (P::I64, -0.0, None),
            (P::I64, 1.5, None),
            (P::I64, f64::NAN, None),
            (P::I64, f64::INFINITY, None),
            (P::I64, 9_223_372_036_854_775_808.0, None),
            (P::I64, -9_223_372_036_854_775_808.0, Some(i64::MIN.into())),
            (P::U64, 9_223_372_036_854_775_808.0, Some(1 << 63)),
            (P::U64, 18_446_744_073_709_551_616.0, None),
            (P::U8, -1.0, None),
            (P::I8, 128.0, None),
            (P::I8, -128.0, Some(-128)),
            (P::I128, 1e38, Some(1e38 as i128)),
            (P::I128, 2f64.powi(127), None),
            (P::I128, -(2f64.powi(127)), Some(i128::MIN)),
        ] {
            assert_eq!(through(to, Float(value)), wanted.map(Int), "{to:?} {value:?}");
        }
    }

    #[test]
    fn floats_hold_integers_of_their_digits_alone() {
        use Number::{Float, Int};
        use Physical as P;
        for (to, value, fits) in [
            (P::F64, 1 << 53, true),
            (P::F64, (1 << 53) + 1, false),
            (P::F64, (1 << 53) + 2, true),
            (P::F64, i64::MAX as i128, false),
            (P::F64, i64::MIN as i128, true),
            (P::F64, u64::MAX as i128, false),
            (P::F64, i128::MAX, false),
            (P::F64, i128::MIN, true),
            (P::F32, 1 << 24, true),
            (P::F32, (1 << 24) + 1, false),
            (P::F32, -(1 << 24) - 1, false),
            (P::F32, 0, true),
        ] {
            let wanted = fits.then_some(Float(value as f64));
            assert_eq!(through(to, Int(value)), wanted, "{to:?} {value}");
        }
    }

    #[test]
    fn floats_and_integers_of_other_widths_keep_their_values() {
        use Number::{Float, Int};
        use Physical as P;
        for (value, fits) in
            [(0.25, true), (0.1, false), (1e300, false), (f64::INFINITY, true), (1e-46, false)]
        {
            assert_eq!(through(P::F32, Float(value)), fits.then_some(Float(value)), "{value}");
        }
        let Some(Float(zero)) = through(P::F32, Float(-0.0)) else { panic!() };
        assert!(zero.is_sign_negative());
        assert!(matches!(through(P::F32, Float(f64::NAN)), Some(Float(nan)) if nan.is_nan()));
        for (to, value, fits) in [
            (P::I8, 300, false),
            (P::I8, -128, true),
            (P::U8, 255, true),
            (P::U8, -1, false),
            (P::U64, i64::MAX as i128, true),
            (P::I64, 1 << 63, false),
            (P::I128, i128::MIN, true),
            (P::Bool, 1, false),
        ] {
            assert_eq!(through(to, Int(value)), fits.then_some(Int(value)), "{to:?} {value}");
        }
    }
}
