//! Dates, times and durations by ISO 8601.

use entasis::Unit;

use super::cells::Slot;
use super::numbers;
use crate::values::times::civil;

const PAIRS: &[u8; 200] =
    b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

const DAY: i64 = 86_400;

/// Writes two digits of a number below 100 from `at` on.
#[inline(always)]
fn two(value: u32, slot: &mut Slot, at: usize) {
    let pair = 2 * (value as usize % 100);
    slot[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
}

/// Writes the date `days` after 1970-01-01. Years beyond four digits have a sign. Returns the
/// length.
#[inline(always)]
pub fn date(days: i64, slot: &mut Slot) -> usize {
    let (year, month, day) = civil(days);
    let at = match u32::try_from(year) {
        Ok(year) if year < 10_000 => {
            two(year / 100, slot, 0);
            two(year % 100, slot, 2);
            4
        }
        _ => signed_year(year, slot),
    };
    slot[at] = b'-';
    two(month as u32, slot, at + 1);
    slot[at + 3] = b'-';
    two(day as u32, slot, at + 4);
    at + 6
}

#[cold]
fn signed_year(year: i64, slot: &mut Slot) -> usize {
    slot[0] = if year < 0 { b'-' } else { b'+' };
    let size = year.unsigned_abs();
    if size >= 10_000 {
        return numbers::unsigned(size, slot, 1);
    }
    let size = size as u32;
    two(size / 100, slot, 1);
    two(size % 100, slot, 3);
    5
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

/// Writes seconds after midnight as a clock from `at` on, with as many groups of three digits of
/// the fraction as needed. Returns the end.
#[inline(always)]
fn clock(seconds: u32, fraction: i64, n_digits: usize, slot: &mut Slot, at: usize) -> usize {
    two(seconds / 3600, slot, at);
    slot[at + 2] = b':';
    two(seconds / 60 % 60, slot, at + 3);
    slot[at + 5] = b':';
    two(seconds % 60, slot, at + 6);
    if fraction == 0 { at + 8 } else { self::fraction(fraction, n_digits, slot, at + 8) }
}

/// Writes a point and a fraction, which is not 0, from `at` on. Returns the end.
fn fraction(mut fraction: i64, mut n_digits: usize, slot: &mut Slot, at: usize) -> usize {
    while fraction % 1000 == 0 {
        (fraction, n_digits) = (fraction / 1000, n_digits - 3);
    }
    slot[at] = b'.';
    let end = at + 1 + n_digits;
    for digit in slot[at + 1..end].iter_mut().rev() {
        *digit = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    end
}

/// Writes the time `count` units after 1970-01-01T00:00:00; with `Z` if it is in UTC. Returns the
/// length.
#[inline(always)]
pub fn timestamp(count: i64, unit: Unit, is_utc: bool, slot: &mut Slot) -> usize {
    let (per_second, n_digits) = per_second(unit);
    let (seconds, fraction) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let at = date(seconds.div_euclid(DAY), slot);
    slot[at] = b'T';
    let at = clock(seconds.rem_euclid(DAY) as u32, fraction, n_digits, slot, at + 1);
    slot[at] = b'Z';
    at + usize::from(is_utc)
}

/// The seconds and nanoseconds after 1970-01-01T00:00:00 of a count of units.
pub fn split(count: i64, unit: Unit) -> (i64, u32) {
    let (per_second, n_digits) = per_second(unit);
    let rest = count.rem_euclid(per_second) * 10i64.pow(9 - n_digits as u32);
    (count.div_euclid(per_second), rest as u32)
}

/// Writes the time of day `count` units after midnight, or a duration if it is in no day. Returns
/// the length.
pub fn time(count: i64, unit: Unit, slot: &mut Slot) -> usize {
    let (per_second, n_digits) = per_second(unit);
    if !(0..DAY * per_second).contains(&count) {
        return duration(count, unit, slot);
    }
    clock((count / per_second) as u32, count % per_second, n_digits, slot, 0)
}

/// Writes a duration, such as `P1DT2H3M4.5S`. Returns the length.
pub fn duration(count: i64, unit: Unit, slot: &mut Slot) -> usize {
    let (per_second, n_digits) = per_second(unit);
    let size = i128::from(count).abs();
    let seconds = (size / i128::from(per_second)) as u64;
    let rest = (size % i128::from(per_second)) as i64;
    let day = DAY as u64;
    slot[0] = b'-';
    let mut at = usize::from(count < 0);
    let parts =
        [("P", seconds / day), ("DT", seconds / 3600 % 24), ("H", seconds / 60 % 60), ("M", seconds % 60)];
    for (before, number) in parts {
        slot[at..at + before.len()].copy_from_slice(before.as_bytes());
        at = numbers::unsigned(number, slot, at + before.len());
    }
    if rest != 0 {
        at = fraction(rest, n_digits, slot, at);
    }
    slot[at] = b'S';
    at + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cells::SLOT;
    use super::*;
    use crate::values::times;

    fn text(write: impl FnOnce(&mut Slot) -> usize) -> String {
        let mut slot = [b'?'; SLOT];
        let len = write(&mut slot);
        String::from_utf8(slot[..len].to_vec()).unwrap()
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
            (-800_000_000, "-2188356-05-24"),
            (i64::MAX, "+25252734927768524-07-27"),
            (i64::MIN, "-25252734927764585-06-07"),
        ] {
            assert_eq!(text(|slot| date(days, slot)), expected);
        }
        assert_eq!(text(|slot| timestamp(-1, Unit::Microsecond, true, slot)), "1969-12-31T23:59:59.999999Z");
        assert_eq!(text(|slot| timestamp(500, Unit::Millisecond, false, slot)), "1970-01-01T00:00:00.500");
        assert_eq!(text(|slot| timestamp(1, Unit::Nanosecond, false, slot)), "1970-01-01T00:00:00.000000001");
        assert_eq!(text(|slot| time(86_399_000, Unit::Millisecond, slot)), "23:59:59");
        assert_eq!(text(|slot| time(86_400, Unit::Second, slot)), "P1DT0H0M0S");
        assert_eq!(text(|slot| duration(-93_784_500, Unit::Millisecond, slot)), "-P1DT2H3M4.500S");
        assert_eq!(text(|slot| duration(i64::MIN, Unit::Nanosecond, slot)), "-P106751DT23H47M16.854775808S");
    }

    proptest! {
        #[test]
        fn dates_and_times_come_back(days in -3_000_000i32..3_000_000, nanoseconds: i64) {
            let mut slot = [b'x'; SLOT];
            let len = date(days.into(), &mut slot);
            prop_assert_eq!(times::date(&slot, 0, len), Some(days));
            let len = timestamp(nanoseconds, Unit::Nanosecond, true, &mut slot);
            let time = times::datetime(&slot, 0, len).unwrap();
            let found = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
            prop_assert_eq!(found, i128::from(nanoseconds));
            prop_assert!(time.is_utc);
        }
    }
}
