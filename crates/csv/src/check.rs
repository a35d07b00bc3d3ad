//! Checks that the fields of a column are values of a type, without making the values.
//!
//! One pass over a chunk finds its digits. The bits of a field then show whether it is a plain
//! number: a sign, digits, and at most one decimal mark.

use entasis_kernels::fields::digits;

use crate::fields::Column;
use crate::piece::Facts;
use crate::types::{Type, Unit};
use crate::values::floats::{self, Number};
use crate::values::{integers, times};

/// Integers of so many digits are exact as doubles.
const EXACT: usize = 15;
/// The integers with more digits than this are wide, and of as many digits those after it.
const MOST_NARROW: &[u8] = b"2147483647";
/// The most digits of a plain number with a decimal mark.
const MOST: usize = 19;

/// The length of `2020-01-31`, and its digits.
const DATE_LEN: usize = 10;
const DATE: u64 = 0b11_0110_1111;
/// The length of `2020-01-31T23:59:59`, and its digits.
const TIME_LEN: usize = 19;
const TIME: u64 = 0b110_1101_1011_0110_1111;

/// Which bytes of a text are digits.
#[derive(Debug, Default)]
pub struct Digits(Vec<u64>);

impl Digits {
    /// Finds the digits of a text. Memory is used again.
    pub fn find(&mut self, text: &[u8]) {
        digits(text, &mut self.0);
    }

    /// The bits of `len` bytes from `at` on, at most 64.
    #[inline(always)]
    fn bits(&self, at: usize, len: usize) -> u64 {
        let (word, shift) = (at / 64, at as u32 % 64);
        let (low, high) = (self.0[word], self.0.get(word + 1).copied().unwrap_or(0));
        let bits = low >> shift | high.unbounded_shl(64 - shift);
        bits & u64::MAX.unbounded_shr(64 - len as u32)
    }
}

/// The facts of a column whose fields are all values of a type, or empty; `None` if some field
/// needs a closer look, or if the type has no numbers.
pub fn checked(column: &Column<'_>, of: Type, digits: &Digits, mark: u8) -> Option<Facts> {
    match of {
        Type::INT => numbers(
            column,
            digits,
            true,
            |_, _, _, _| false,
            |start, end, facts| {
                facts.note_signed(integers::signed(column.text, start, end)?);
                Some(())
            },
        ),
        Type::FLOAT => {
            let is_plain = |text: &[u8], at: usize, len: usize, bits: u64| {
                // The only other byte is the mark, after a digit and before one.
                let before = bits.trailing_ones() as usize;
                let others = !bits & u64::MAX.unbounded_shr(64 - len as u32);
                let is_short = before > 0 && before + 1 < len && len <= MOST + 1 && others.is_power_of_two();
                is_short && text[at + before] == mark && (before == 1 || text[at] != b'0')
            };
            numbers(column, digits, false, is_plain, |start, end, facts| {
                match floats::number(column.text, start, end, mark)? {
                    Number::Float(_) => {}
                    Number::Integer(value) => facts.note_integer(value),
                    Number::Word(_) => return None,
                }
                Some(())
            })
        }
        Type::Date => times(column, |start, end| {
            is_plain_date(column.text, start, end, digits) || times::date(column.text, start, end).is_some()
        }),
        Type::Datetime { unit: Unit::Microsecond, is_utc: false } => {
            times(column, |start, end| is_plain_time(column.text, start, end, digits))
        }
        _ => None,
    }
}

/// Checks each field that is not empty.
#[inline(always)]
fn times(column: &Column<'_>, is_time: impl Fn(usize, usize) -> bool) -> Option<Facts> {
    let mut facts = Facts::default();
    for row in 0..column.len() {
        let (start, end) = column.get(row);
        if start >= end {
            facts.has_missing = true;
        } else if !is_time(start, end) {
            return None;
        } else {
            facts.has_values = true;
        }
    }
    Some(facts)
}

/// Whether a field is a date such as `2020-01-28` that every month has.
#[inline(always)]
fn is_plain_date(text: &[u8], start: usize, end: usize, digits: &Digits) -> bool {
    end - start == DATE_LEN
        && digits.bits(start, DATE_LEN) == DATE
        && text[start..end].first_chunk().is_some_and(is_date)
}

/// Whether a field is a time such as `2020-01-28T23:59:59`, without a fraction, that 64 bits of
/// nanoseconds hold.
#[inline(always)]
fn is_plain_time(text: &[u8], start: usize, end: usize, digits: &Digits) -> bool {
    if end - start != TIME_LEN || digits.bits(start, TIME_LEN) != TIME {
        return false;
    }
    let Some(time) = text[start..end].first_chunk::<TIME_LEN>() else { return false };
    let is_near = (*b"1678"..=*b"2261").contains(&[time[0], time[1], time[2], time[3]]);
    time.first_chunk().is_some_and(is_date)
        && is_near
        && matches!(time[10], b'T' | b' ')
        && (time[13], time[16]) == (b':', b':')
        && (time[11], time[12]) <= (b'2', b'3')
        && time[14] <= b'5'
        && time[17] <= b'5'
}

/// Whether a date of digits at the right places is in a month, up to its 28th day.
#[inline(always)]
fn is_date(date: &[u8; DATE_LEN]) -> bool {
    let (month, day) = ([date[5], date[6]], [date[8], date[9]]);
    (date[4], date[7]) == (b'-', b'-')
        && (*b"01"..=*b"12").contains(&month)
        && (*b"01"..=*b"28").contains(&day)
}

/// Checks that each field is an integer of few digits, that `is_plain` accepts it, or that `parse`
/// makes a number of it. `is_signed` says that the type is that of integers of 64 bits. `is_plain`
/// takes the text, the place and the length of a field without its sign, and the bits of its
/// digits.
#[inline(always)]
fn numbers(
    column: &Column<'_>,
    digits: &Digits,
    is_signed: bool,
    is_plain: impl Fn(&[u8], usize, usize, u64) -> bool,
    parse: impl Fn(usize, usize, &mut Facts) -> Option<()>,
) -> Option<Facts> {
    let mut facts = Facts::default();
    for row in 0..column.len() {
        let (start, end) = column.get(row);
        if start >= end {
            facts.has_missing = true;
            continue;
        }
        let is_negative = column.text[start] == b'-';
        let at = start + usize::from(is_negative);
        (facts.has_numbers, facts.has_values) = (true, true);
        let len = end - at;
        let bits = digits.bits(at, len.min(64));
        let is_integer = len > 0 && bits.trailing_ones() as usize == len;
        if is_integer && len <= EXACT && (column.text[at] != b'0' || (len == 1 && !is_negative)) {
            facts.has_negative_integers |= is_negative;
            let narrow = MOST_NARROW.len();
            facts.has_wide_integers |=
                is_signed && len >= narrow && (len > narrow || column.text[at..end] > *MOST_NARROW);
        } else if len == 0 || len > 64 || !is_plain(column.text, at, len, bits) {
            parse(start, end, &mut facts)?;
        }
    }
    // No type of numbers holds both.
    (!(facts.has_negative_integers && facts.has_large_integers)).then_some(facts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::convert::{Meaning, narrowest};
    use crate::cut::Cutter;
    use crate::dialect::Dialect;
    use crate::fields::{Fields, Uneven};
    use crate::input::Bytes;
    use crate::piece::{Piece, TextLayout};

    fn meaning() -> Meaning {
        Meaning {
            dialect: Dialect::default(),
            missing: vec![b"NA".to_vec()],
            misses_in_text: false,
            decimal: b'.',
            thousands: None,
            quotes_mean_text: true,
            strips: false,
            layout: TextLayout::Offsets,
        }
    }

    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<i32>().prop_map(|value| value.to_string()),
            any::<i64>().prop_map(|value| value.to_string()),
            any::<f64>().prop_map(|value| value.to_string()),
            (any::<i16>(), any::<u16>()).prop_map(|(whole, part)| format!("{whole}.{part}")),
            "-?[0-9.]{1,24}",
            prop::sample::select(
                &["", "-", ".", "0", "-0", "00", "0.0", "-0.5", "1e5", "x", "NA", "1.", ".1"][..]
            )
            .prop_map(str::to_owned),
            // The bounds of integers of 32 and 64 bits.
            prop::sample::select(
                &["2147483647", "2147483648", "-2147483647", "-2147483648", "-9223372036854775808"][..]
            )
            .prop_map(str::to_owned),
        ]
    }

    /// The first column of a text, without making values and by making them.
    fn check(fields: &[String], of: Type) -> (Option<Facts>, Piece) {
        let text: String = fields.iter().map(|field| format!("x,{field}\n")).collect();
        let dialect = Dialect::default();
        let mut input = Bytes::new(text.as_bytes());
        let mut cutter = Cutter::new(&mut input, dialect, 0, 1 << 16, 1 << 16).unwrap();
        let chunk = cutter.next(Vec::new()).unwrap().unwrap();
        let mut places = Fields::default();
        places.find(&chunk, 0, 2, &dialect, Uneven::Skip, 1 << 16);
        let column = places.column(&chunk, 1);
        let mut digits = Digits::default();
        digits.find(chunk.padded());
        let piece = narrowest(&column, of, &meaning(), &mut Vec::new()).unwrap();
        (checked(&column, of, &digits, b'.'), piece)
    }

    fn time() -> impl Strategy<Value = String> {
        let parts = (0u32..2500, 0u32..14, 0u32..33, 0u32..25, 0u32..61, 0u32..61);
        let time = |separator: &'static str| {
            parts.clone().prop_map(move |(year, month, day, hour, minute, second)| {
                format!("{year:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}")
            })
        };
        prop_oneof![
            4 => time("T"),
            1 => time(" "),
            2 => time("T").prop_map(|time| time[..10].to_owned()),
            1 => prop::sample::select(&["", "NA", "x", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5"][..])
                .prop_map(str::to_owned),
        ]
    }

    proptest! {
        #[test]
        fn checked_times_have_the_facts_of_their_values(
            fields in prop::collection::vec(time(), 1..3),
            is_date: bool,
        ) {
            let of = Type::Datetime { unit: Unit::Microsecond, is_utc: false };
            let of = if is_date { Type::Date } else { of };
            if let (Some(facts), piece) = check(&fields, of) {
                prop_assert_eq!(piece.of, of);
                prop_assert_eq!(facts, piece.all_facts());
            }
        }

        #[test]
        fn checked_numbers_have_the_facts_of_their_values(
            fields in prop::collection::vec(field(), 1..6),
            is_float: bool,
        ) {
            let of = if is_float { Type::FLOAT } else { Type::INT };
            let (found, piece) = check(&fields, of);
            match found {
                Some(facts) => {
                    prop_assert_eq!(piece.of, of);
                    prop_assert_eq!(facts, piece.all_facts());
                }
                None => {
                    let is_other = |field: &String| matches!(field.as_str(), "NA" | "NaN" | "inf" | "-inf");
                    prop_assert!(piece.of != of || fields.iter().any(is_other));
                }
            }
        }
    }
}
