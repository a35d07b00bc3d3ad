//! Decimals of 256 bits, as byte strings in the order of their numbers.

use crate::predicate::{Comparison, Literal};
use crate::string_set::{StringSet, next};

/// The digits of the greatest magnitude, 2^255.
const MOST_DIGITS: usize = 77;

/// The place of a number among the integers of 256 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WidePlace {
    /// It is the integer with this key.
    At([u8; 32]),
    /// The number lies between the integer with this key and the next integer.
    After([u8; 32]),
    /// All integers are greater.
    BeforeAll,
    /// All integers are less.
    AfterAll,
}

/// The key of a stored number: its bytes in big-endian order, with the sign bit inverted. Keys have
/// the order of the numbers.
pub(crate) fn key_of(stored: &[u8]) -> Option<[u8; 32]> {
    let mut key: [u8; 32] = stored.try_into().ok()?;
    key.reverse();
    key[0] ^= 0x80;
    Some(key)
}

/// The digits of a number: a sign, digits of its magnitude, and the exponent of the last one.
pub(crate) struct Digits {
    pub is_negative: bool,
    pub digits: String,
    pub exponent: i64,
}

impl Digits {
    /// The digits of a finite number; `None` for other literals.
    pub(crate) fn of(literal: &Literal) -> Option<Self> {
        let (text, exponent) = match literal {
            Literal::Int(value) => (value.to_string(), 0),
            Literal::Decimal { digits, scale } => (digits.to_string(), -i64::from(*scale)),
            Literal::LongDecimal { digits, scale } => (digits.clone(), -i64::from(*scale)),
            // Compared with decimals, a float counts as its shortest decimal text.
            Literal::Float(value) if value.is_finite() => {
                let text = format!("{value:e}");
                let (digits, exponent) = text.split_once('e')?;
                let n_decimals = digits.split_once('.').map_or(0, |(_, after)| after.len() as i64);
                (digits.replace('.', ""), exponent.parse::<i64>().ok()? - n_decimals)
            }
            _ => return None,
        };
        let magnitude = text.strip_prefix('-').unwrap_or(&text);
        if magnitude.is_empty() || !magnitude.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = magnitude.trim_start_matches('0').to_owned();
        Some(Self { is_negative: text.starts_with('-'), digits, exponent })
    }

    /// The place among decimals of this scale, whose keys are their digits as an integer.
    pub(crate) fn place(&self, scale: i32) -> WidePlace {
        let Self { is_negative, digits, exponent } = self;
        let beyond = if *is_negative { WidePlace::BeforeAll } else { WidePlace::AfterAll };
        let exponent = exponent + i64::from(scale);
        let n_whole = digits.len() as i64 + exponent;
        if digits.is_empty() {
            return WidePlace::At(signed([0; 4], false));
        }
        if n_whole > MOST_DIGITS as i64 {
            return beyond;
        }
        let n_whole = usize::try_from(n_whole).unwrap_or(0);
        let (whole, rest) = digits.split_at(n_whole.min(digits.len()));
        let zeros = std::iter::repeat_n(b'0', n_whole - whole.len());
        let Some(magnitude) = magnitude(whole.bytes().chain(zeros)) else { return beyond };
        let is_exact = rest.bytes().all(|digit| digit == b'0');
        // The greatest integer that does not exceed the number.
        let floor = if *is_negative && !is_exact { plus_one(magnitude) } else { Some(magnitude) };
        let limit = [0, 0, 0, 1 << 63];
        match floor {
            Some(floor) if is_less(floor, limit) || (*is_negative && floor == limit) => {
                let key = signed(floor, *is_negative);
                if is_exact { WidePlace::At(key) } else { WidePlace::After(key) }
            }
            _ => beyond,
        }
    }
}

/// The keys of the numbers for which a comparison with the number at `place` is true.
pub(crate) fn keys(op: Comparison, place: &WidePlace) -> StringSet {
    let (none, all) = (StringSet::default(), StringSet::from(Vec::new()));
    let (less, less_equal) = match place {
        WidePlace::At(key) => (StringSet::before(key.to_vec()), StringSet::before(next(key))),
        WidePlace::After(key) => {
            let below = StringSet::before(next(key));
            (below.clone(), below)
        }
        WidePlace::BeforeAll => (none.clone(), none),
        WidePlace::AfterAll => (all.clone(), all),
    };
    let equal = less_equal.intersection(&less.complement());
    match op {
        Comparison::Less => less,
        Comparison::LessEqual => less_equal,
        Comparison::Greater => less_equal.complement(),
        Comparison::GreaterEqual => less.complement(),
        Comparison::Equal => equal,
        Comparison::NotEqual => equal.complement(),
    }
}

/// The number with these digits as 64-bit words, least significant first; `None` beyond 256 bits.
fn magnitude(digits: impl Iterator<Item = u8>) -> Option<[u64; 4]> {
    let mut words = [0; 4];
    for digit in digits {
        let mut carry = u128::from(digit - b'0');
        for word in &mut words {
            carry += u128::from(*word) * 10;
            *word = carry as u64;
            carry >>= 64;
        }
        if carry > 0 {
            return None;
        }
    }
    Some(words)
}

fn plus_one(mut words: [u64; 4]) -> Option<[u64; 4]> {
    for word in &mut words {
        let (sum, has_carry) = word.overflowing_add(1);
        *word = sum;
        if !has_carry {
            return Some(words);
        }
    }
    None
}

fn is_less(a: [u64; 4], b: [u64; 4]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// The key of a magnitude with a sign.
fn signed(magnitude: [u64; 4], is_negative: bool) -> [u8; 32] {
    let words = if is_negative {
        // The negation of 0 overflows to 0.
        plus_one(magnitude.map(|word| !word)).unwrap_or_default()
    } else {
        magnitude
    };
    let mut key = [0; 32];
    for (bytes, word) in key.as_chunks_mut::<8>().0.iter_mut().zip(words.iter().rev()) {
        *bytes = word.to_be_bytes();
    }
    key[0] ^= 0x80;
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(digits: &str, scale: i32) -> WidePlace {
        Digits::of(&Literal::LongDecimal { digits: digits.to_owned(), scale: -scale }).unwrap().place(0)
    }

    fn key(value: i128) -> [u8; 32] {
        let mut stored = [if value < 0 { u8::MAX } else { 0 }; 32];
        stored[..16].copy_from_slice(&value.to_le_bytes());
        key_of(&stored).unwrap()
    }

    #[test]
    fn the_greatest_numbers_have_keys() {
        let greatest = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
        let beyond = "57896044618658097711785492504343953926634992332820282019728792003956564819968";
        let mut stored = [u8::MAX; 32];
        stored[31] = 0x7F;
        assert_eq!(place(greatest, 0), WidePlace::At(key_of(&stored).unwrap()));
        assert_eq!(place(beyond, 0), WidePlace::AfterAll);
        let mut least = [0; 32];
        least[31] = 0x80;
        assert_eq!(place(&format!("-{beyond}"), 0), WidePlace::At(key_of(&least).unwrap()));
        assert_eq!(place(&format!("-{beyond}1"), -1), WidePlace::BeforeAll);
        assert_eq!(place(&format!("{greatest}1"), -1), WidePlace::After(key_of(&stored).unwrap()));
        assert_eq!(place("1", 77), WidePlace::AfterAll);
        assert_eq!(place("-1", i32::MAX), WidePlace::BeforeAll);
        assert_eq!(place("-000", i32::MAX), WidePlace::At(key(0)));
        assert_eq!(
            (place("25", -1), place("-25", -1)),
            (WidePlace::After(key(2)), WidePlace::After(key(-3)))
        );
        assert_eq!(
            (place("1", -90), place("-1", -90)),
            (WidePlace::After(key(0)), WidePlace::After(key(-1)))
        );
        assert_eq!((place("-20", -1), place("2", 1)), (WidePlace::At(key(-2)), WidePlace::At(key(20))));
        assert!(Digits::of(&Literal::LongDecimal { digits: "1x".to_owned(), scale: 0 }).is_none());
        assert_eq!(Digits::of(&Literal::Float(0.1)).unwrap().place(2), WidePlace::At(key(10)));
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_numbers(a: i128, b: i128, cut in 0u32..39, small in any::<bool>()) {
            let b = if small { a.wrapping_add(b % 3) } else { b };
            let power = 10i128.pow(cut.min(38));
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
            let floor = b.div_euclid(power);
            let wanted = if b.rem_euclid(power) == 0 { WidePlace::At(key(floor)) } else { WidePlace::After(key(floor)) };
            let of = Digits::of(&Literal::Decimal { digits: b, scale: cut.min(38) as i32 }).unwrap().place(0);
            prop_assert_eq!(&of, &wanted);
            for (op, is_true) in [
                (Comparison::Less, a < b), (Comparison::LessEqual, a <= b), (Comparison::Greater, a > b),
                (Comparison::GreaterEqual, a >= b), (Comparison::Equal, a == b), (Comparison::NotEqual, a != b),
            ] {
                let place = Digits::of(&Literal::Int(b)).unwrap().place(0);
                prop_assert_eq!(keys(op, &place).contains(&key(a)), is_true);
            }
        }
    }
}
