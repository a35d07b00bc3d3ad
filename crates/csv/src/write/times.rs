//! Dates, times and durations by ISO 8601.

use entasis::Unit;

use crate::values::times::civil;

const PAIRS: &[u8; 200] =
    b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

const DAY: i64 = 86_400;

/// Appends two digits of a number below 100.
#[inline(always)]
fn two(value: i64, out: &mut Vec<u8>) {
    let at = 2 * (value as usize % 100);
    out.extend_from_slice(&PAIRS[at..at + 2]);
}

/// Appends the date `days` after 1970-01-01. Years beyond four digits have a sign.
#[inline(always)]
pub fn date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil(days);
    if (0..10_000).contains(&year) {
        two(year / 100, out);
        two(year, out);
    } else {
        out.push(if year < 0 { b'-' } else { b'+' });
        if year.unsigned_abs() < 10_000 {
            two(-year / 100, out);
            two(-year % 100, out);
        } else {
            out.extend_from_slice(itoa::Buffer::new().format(year.unsigned_abs()).as_bytes());
        }
    }
    out.push(b'-');
    two(month, out);
    out.push(b'-');
    two(day, out);
}

/// The number of a unit in a second, and their decimal digits.
fn per_second(unit: Unit) -> (i64, usize) {
    match unit {
        Unit::Millisecond => (1000, 3),
        Unit::Microsecond => (1_000_000, 6),
        Unit::Nanosecond => (1_000_000_000, 9),
        _ => (1, 0),
    }
}

/// Appends seconds after midnight as a clock, with as many groups of three digits of the fraction
/// as needed.
#[inline(always)]
fn clock(seconds: i64, fraction: i64, n_digits: usize, out: &mut Vec<u8>) {
    two(seconds / 3600, out);
    out.push(b':');
    two(seconds / 60 % 60, out);
    out.push(b':');
    two(seconds % 60, out);
    self::fraction(fraction, n_digits, out);
}

#[inline(always)]
fn fraction(mut fraction: i64, mut n_digits: usize, out: &mut Vec<u8>) {
    if fraction == 0 {
        return;
    }
    while fraction % 1000 == 0 {
        (fraction, n_digits) = (fraction / 1000, n_digits - 3);
    }
    out.push(b'.');
    let start = out.len();
    out.resize(start + n_digits, b'0');
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
}

/// Appends the time `count` units after 1970-01-01T00:00:00; with `Z` if it is in UTC.
#[inline(always)]
pub fn timestamp(count: i64, unit: Unit, is_utc: bool, out: &mut Vec<u8>) {
    let (per_second, n_digits) = per_second(unit);
    let (seconds, fraction) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    date(seconds.div_euclid(DAY), out);
    out.push(b'T');
    clock(seconds.rem_euclid(DAY), fraction, n_digits, out);
    if is_utc {
        out.push(b'Z');
    }
}

/// The seconds and nanoseconds after 1970-01-01T00:00:00 of a count of units.
pub fn split(count: i64, unit: Unit) -> (i64, u32) {
    let (per_second, n_digits) = per_second(unit);
    let rest = count.rem_euclid(per_second) * 10i64.pow(9 - n_digits as u32);
    (count.div_euclid(per_second), rest as u32)
}

/// Appends the time of day `count` units after midnight; `false` if it is not in a day.
pub fn time(count: i64, unit: Unit, out: &mut Vec<u8>) -> bool {
    let (per_second, n_digits) = per_second(unit);
    let is_inside = (0..DAY * per_second).contains(&count);
    if is_inside {
        clock(count / per_second, count % per_second, n_digits, out);
    }
    is_inside
}

/// Appends a duration, such as `P1DT2H3M4.5S`.
pub fn duration(count: i64, unit: Unit, out: &mut Vec<u8>) {
    let (per_second, n_digits) = per_second(unit);
    if count < 0 {
        out.push(b'-');
    }
    let size = i128::from(count).abs();
    let seconds = (size / i128::from(per_second)) as i64;
    let rest = (size % i128::from(per_second)) as i64;
    let number = |value: i64, out: &mut Vec<u8>| {
        out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    };
    out.push(b'P');
    number(seconds / DAY, out);
    out.extend_from_slice(b"DT");
    number(seconds / 3600 % 24, out);
    out.push(b'H');
    number(seconds / 60 % 60, out);
    out.push(b'M');
    number(seconds % 60, out);
    fraction(rest, n_digits, out);
    out.push(b'S');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::values::{PADDING, times};

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn moments() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-719_468, "0000-03-01"),
            (-719_529, "-0001-12-31"),
            (11_016, "2000-02-29"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
        ] {
            assert_eq!(text(|out| date(days, out)), expected);
        }
        assert_eq!(text(|out| timestamp(-1, Unit::Microsecond, true, out)), "1969-12-31T23:59:59.999999Z");
        assert_eq!(text(|out| timestamp(500, Unit::Millisecond, false, out)), "1970-01-01T00:00:00.500");
        assert_eq!(text(|out| timestamp(1, Unit::Nanosecond, false, out)), "1970-01-01T00:00:00.000000001");
        assert_eq!(text(|out| _ = time(86_399_000, Unit::Millisecond, out)), "23:59:59");
        assert!(!time(86_400, Unit::Second, &mut Vec::new()));
        assert_eq!(text(|out| duration(-93_784_500, Unit::Millisecond, out)), "-P1DT2H3M4.500S");
        assert_eq!(text(|out| duration(i64::MIN, Unit::Nanosecond, out)), "-P106751DT23H47M16.854775808S");
    }

    proptest! {
        #[test]
        fn dates_and_times_come_back(days in -3_000_000i32..3_000_000, nanoseconds: i64) {
            let padded = |mut text: Vec<u8>| {
                let len = text.len();
                text.resize(len + PADDING, b'x');
                (text, len)
            };
            let mut out = Vec::new();
            date(days.into(), &mut out);
            let (date, len) = padded(out);
            prop_assert_eq!(times::date(&date, 0, len), Some(days));
            let mut out = Vec::new();
            timestamp(nanoseconds, Unit::Nanosecond, true, &mut out);
            let (time, len) = padded(out);
            let time = times::datetime(&time, 0, len).unwrap();
            let found = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
            prop_assert_eq!(found, i128::from(nanoseconds));
            prop_assert!(time.is_utc);
        }
    }
}
