//! Dates and times by ISO 8601.

use super::integers::digits;

/// A date with a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datetime {
    /// Seconds since 1970, in UTC if the text has an offset.
    pub seconds: i64,
    /// Nanoseconds after them.
    pub nanoseconds: u32,
    /// Whether the last three digits of a fraction of nine are written.
    pub has_nanoseconds: bool,
    /// Whether the text has an offset.
    pub is_utc: bool,
}

/// Days of 400 years.
const ERA: u32 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const BEFORE_1970: i64 = 719_468;

/// The year, month and day of the date `days` after 1970-01-01 (Hinnant, *chrono-compatible
/// low-level date algorithms*, 2013).
#[inline(always)]
pub fn civil(days: i64) -> (i64, i64, i64) {
    let (era, day) = match u32::try_from(days.wrapping_add(BEFORE_1970)) {
        Ok(day) => (i64::from(day / ERA), day % ERA),
        Err(_) => far(days),
    };
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = i64::from(year_of_era) + era * 400 + i64::from(month <= 2);
    (year, month.into(), day.into())
}

/// The eras of 400 years from 0000-03-01 to a day, and the days since the last of them began.
#[cold]
fn far(days: i64) -> (i64, u32) {
    let (eras, days) = (days.div_euclid(ERA.into()), days.rem_euclid(ERA.into()) + BEFORE_1970);
    (eras + days / i64::from(ERA), (days % i64::from(ERA)) as u32)
}

const MONTH_LENS: [u8; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// The days since 1970 of `text[start..end]`: `2020-01-31`, also with a sign and more digits of the
/// year.
#[inline(always)]
pub fn date(text: &[u8], start: usize, end: usize) -> Option<i32> {
    let (days, stop) = leading_date(text, start, end)?;
    if stop != end { None } else { i32::try_from(days).ok() }
}

/// The days of the date that begins at `start`, and where it ends.
#[inline(always)]
fn leading_date(text: &[u8], start: usize, end: usize) -> Option<(i64, usize)> {
    if end - start >= 10 && text[start + 4] == b'-' && text[start + 7] == b'-' {
        let year = digits(text, start, 4)? as i64;
        return Some((days(year, digits(text, start + 5, 2)?, digits(text, start + 8, 2)?)?, start + 10));
    }
    far_date(text, start, end)
}

/// A date whose year has a sign or more than four digits.
#[inline(never)]
fn far_date(text: &[u8], start: usize, end: usize) -> Option<(i64, usize)> {
    let sign = text.get(start)?;
    let first = start + usize::from(matches!(sign, b'-' | b'+'));
    let len = text[first..end].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let at = first + len;
    if !(4..=7).contains(&len) || end - at < 6 || text[at] != b'-' || text[at + 3] != b'-' {
        return None;
    }
    // Longer years need a sign, and zero has none but `+`.
    let year = digits(text, first, len)? as i64;
    if (len > 4 && first == start) || (*sign == b'-' && year == 0) {
        return None;
    }
    let year = if *sign == b'-' { -year } else { year };
    Some((days(year, digits(text, at + 1, 2)?, digits(text, at + 4, 2)?)?, at + 6))
}

/// The days since 1970 of a date of the proleptic Gregorian calendar (Hinnant, *chrono-compatible
/// low-level date algorithms*, 2013).
#[inline(always)]
pub(super) fn days(year: i64, month: u64, day: u64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let len = *MONTH_LENS.get((month as usize).checked_sub(1)?)?;
    if day == 0 || day > u64::from(len) + u64::from(is_leap && month == 2) {
        return None;
    }
    let (month, day) = (month as i64, day as i64);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// The time of `text[start..end]`: a date, `T` or a blank, hours and minutes, then perhaps seconds,
/// a fraction of up to nine digits, and `Z` or an offset.
#[inline(always)]
pub fn datetime(text: &[u8], start: usize, end: usize) -> Option<Datetime> {
    let (days, at) = leading_date(text, start, end)?;
    if end - at < 6 || !matches!(text[at], b'T' | b' ') || text[at + 3] != b':' {
        return None;
    }
    let (hour, minute) = (digits(text, at + 1, 2)?, digits(text, at + 4, 2)?);
    let mut at = at + 6;
    let mut second = 0;
    let (mut nanoseconds, mut has_nanoseconds) = (0, false);
    if at < end && text[at] == b':' {
        if end - at < 3 {
            return None;
        }
        second = digits(text, at + 1, 2)?;
        at += 3;
        if at < end && text[at] == b'.' {
            let len = text[at + 1..end].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if len == 0 || len > 9 {
                return None;
            }
            nanoseconds = digits(text, at + 1, len)? as u32 * 10u32.pow(9 - len as u32);
            has_nanoseconds = len > 6;
            at += 1 + len;
        }
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let offset = offset(&text[at..end])?;
    let time = (hour * 3600 + minute * 60 + second) as i64;
    let seconds = days * 86_400 + time - offset.unwrap_or(0);
    Some(Datetime { seconds, nanoseconds, has_nanoseconds, is_utc: offset.is_some() })
}

/// The seconds of an offset from UTC: `Z`, `+01`, `+0130`, `+01:30`. The inner `None` means that
/// there is none.
#[inline(always)]
pub(super) fn offset(text: &[u8]) -> Option<Option<i64>> {
    let (sign, digits) = match text {
        [] => return Some(None),
        [b'Z'] => return Some(Some(0)),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match *digits {
        [a, b] => ([a, b], *b"00"),
        [a, b, c, d] | [a, b, b':', c, d] => ([a, b], [c, d]),
        _ => return None,
    };
    let two = |[tens, ones]: [u8; 2]| {
        let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
        is_number.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then_some(Some(sign * (hours * 3600 + minutes * 60)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_padding(field: &str) -> Vec<u8> {
        [field.as_bytes(), &[b'0'; 32]].concat()
    }

    fn day(field: &str) -> Option<i32> {
        date(&with_padding(field), 0, field.len())
    }

    fn time(field: &str) -> Option<Datetime> {
        datetime(&with_padding(field), 0, field.len())
    }

    #[test]
    fn dates_count_from_1970() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2024-12-31", 20_088),
            ("0000-01-01", -719_528),
            ("-0001-12-31", -719_529),
            ("+10000-01-01", 2_932_897),
            ("-0044-03-15", -735_525),
        ] {
            assert_eq!(day(text), Some(days), "{text}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut expected = days(-800, 1, 1).unwrap();
        for year in -800..2500 {
            for month in 1..=12 {
                for of_month in 1..=31 {
                    let Some(found) = days(year, month, of_month) else { continue };
                    assert_eq!(found, expected);
                    expected += 1;
                }
            }
        }
    }

    #[test]
    fn other_dates_are_text() {
        for text in [
            "2023-02-29",
            "2020-13-01",
            "2020-00-10",
            "2020-01-32",
            "2020-1-2",
            "20200102",
            "2020/01/02",
            "2020-01-02 ",
            "10000-01-01",
            "-0000-01-01",
            "2020-01-0",
            "12345678-01-01",
            "-",
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }

    #[test]
    fn times_have_offsets_and_fractions() {
        let plain =
            Datetime { seconds: 1_577_934_245, nanoseconds: 0, has_nanoseconds: false, is_utc: false };
        assert_eq!(time("2020-01-02T03:04:05"), Some(plain));
        assert_eq!(time("2020-01-02 03:04:05"), Some(plain));
        let utc = Datetime { is_utc: true, ..plain };
        for text in [
            "2020-01-02T03:04:05Z",
            "2020-01-02T04:34:05+01:30",
            "2020-01-02T02:04:05-0100",
            "2020-01-02 05:04:05+02",
        ] {
            assert_eq!(time(text), Some(utc), "{text}");
        }
        let part = Datetime { nanoseconds: 120_000_000, ..plain };
        assert_eq!(time("2020-01-02T03:04:05.12"), Some(part));
        let nanos = Datetime { nanoseconds: 123_456_780, has_nanoseconds: true, ..plain };
        assert_eq!(time("2020-01-02T03:04:05.12345678"), Some(nanos));
        assert_eq!(time("2020-01-02T03:04"), Some(Datetime { seconds: plain.seconds - 5, ..plain }));
    }

    #[test]
    fn other_times_are_text() {
        for text in [
            "2020-01-02",
            "2020-01-02T",
            "2020-01-02T03",
            "2020-01-02T24:00:00",
            "2020-01-02T03:60",
            "2020-01-02T03:04:60",
            "2020-01-02T03:04:05.",
            "2020-01-02T03:04:05.1234567890",
            "2020-01-02T03:04:05 Z",
            "2020-01-02T03:04:05+1",
            "2020-01-02T03:04:05+24:00",
            "2020-01-02t03:04:05",
            "2020-01-02  03:04",
            "2020-01-02T03:04:",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
