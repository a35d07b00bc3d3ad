//! Dates, times and durations as text. Counts have 128 bits, so no 64-bit count of any unit
//! overflows.

use std::fmt::Write;

use entasis::Unit;
use entasis_csv::values::times::civil;

/// How a time is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people: `2024-05-06 07:08:09.500`, `1d 02:03:04`.
    Plain,
    /// As in ISO 8601: `2024-05-06T07:08:09.500`, `P1DT2H3M4S`.
    Iso,
}

const DAY: i128 = 86_400;
/// The days of 400 years.
const ERA: i128 = 146_097;

/// The date `days` after 1970-01-01, in the Gregorian calendar.
pub(crate) fn date(days: i128) -> String {
    let (year, month, day) = civil(days.rem_euclid(ERA) as i64);
    let year = i128::from(year) + 400 * days.div_euclid(ERA);
    format!("{}-{month:02}-{day:02}", year_text(year))
}

fn year_text(year: i128) -> String {
    match year {
        0..=9_999 => format!("{year:04}"),
        _ if year < 0 => format!("-{:04}", -year),
        _ => format!("+{year}"),
    }
}

/// The point in time `count` units after 1970-01-01T00:00.
pub(crate) fn timestamp(count: i64, unit: Unit, utc: bool, form: Form) -> String {
    let count = i128::from(count);
    let (digits, per_day) = match unit {
        Unit::Year => return year_text(1970 + count),
        Unit::Month => {
            return format!("{}-{:02}", year_text(1970 + count.div_euclid(12)), count.rem_euclid(12) + 1);
        }
        Unit::Week => return date(7 * count),
        Unit::Day => return date(count),
        Unit::None => return count.to_string(),
        unit => (digits(unit), per_day(unit)),
    };
    let (days, rest) = (count.div_euclid(per_day), count.rem_euclid(per_day));
    let separator = if form == Form::Iso { 'T' } else { ' ' };
    let zone = if utc { "Z" } else { "" };
    format!("{}{separator}{}{zone}", date(days), clock(rest, per_day, digits))
}

/// The time of day `count` units after midnight; `count` and its unit if that is outside of a day.
pub(crate) fn time(count: i64, unit: Unit) -> String {
    let per_day = per_day(unit);
    let count = i128::from(count);
    if (0..per_day).contains(&count) { clock(count, per_day, digits(unit)) } else { format!("{count}{unit}") }
}

/// A duration.
pub(crate) fn duration(count: i64, unit: Unit, form: Form) -> String {
    let count = i128::from(count);
    let calendar = match unit {
        Unit::None => return count.to_string(),
        Unit::Year | Unit::Month | Unit::Week | Unit::Day => true,
        _ => false,
    };
    if calendar {
        let sign = if count < 0 { "-" } else { "" };
        let size = count.abs();
        return if form == Form::Iso { format!("{sign}P{size}{unit}") } else { format!("{count}{unit}") };
    }
    let (per_day, digits) = (per_day(unit), digits(unit));
    let sign = if count < 0 { "-" } else { "" };
    let (days, rest) = (count.abs() / per_day, count.abs() % per_day);
    let mut text = sign.to_owned();
    match form {
        Form::Plain if days > 0 => _ = write!(text, "{days}d {}", clock(rest, per_day, digits)),
        Form::Plain => text.push_str(&clock(rest, per_day, digits)),
        Form::Iso => {
            let (seconds, fraction) = (rest * DAY / per_day, rest % (per_day / DAY).max(1));
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            let _ = write!(text, "P{days}DT{hours}H{minutes}M{seconds}{}S", fraction_text(fraction, digits));
        }
    }
    text
}

/// The clock `count` units after midnight, with as many groups of three fractional digits as
/// needed.
fn clock(count: i128, per_day: i128, digits: usize) -> String {
    let seconds = count * DAY / per_day;
    let fraction = count % (per_day / DAY).max(1);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}{}", fraction_text(fraction, digits))
}

fn fraction_text(fraction: i128, digits: usize) -> String {
    if fraction == 0 {
        return String::new();
    }
    let mut text = format!(".{fraction:0digits$}");
    while text.ends_with("000") {
        text.truncate(text.len() - 3);
    }
    text
}

/// The digits of a second's fraction.
fn digits(unit: Unit) -> usize {
    match unit {
        Unit::Millisecond => 3,
        Unit::Microsecond => 6,
        Unit::Nanosecond => 9,
        Unit::Picosecond => 12,
        Unit::Femtosecond => 15,
        Unit::Attosecond => 18,
        _ => 0,
    }
}

/// The number of units in a day.
fn per_day(unit: Unit) -> i128 {
    match unit {
        Unit::Hour => 24,
        Unit::Minute => 1_440,
        unit => (0..digits(unit)).fold(DAY, |n, _| n * 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_782, "2024-02-29"),
            (-719_162, "0001-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
        ];
        for (days, text) in cases {
            assert_eq!(date(days), text);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = date(-800_000);
        for days in -799_999..800_000 {
            let next = date(days);
            let number = |text: &str| {
                let mut parts = text.rsplitn(3, '-').map(|part| part.parse::<i64>().unwrap());
                let (day, month, year) =
                    (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
                (year, month, day)
            };
            let ((y0, m0, d0), (y1, m1, d1)) = (number(&last), number(&next));
            let follows = (y0, m0, d0 + 1) == (y1, m1, d1)
                || (y0, m0 + 1, 1) == (y1, m1, d1)
                || (y0 + 1, 1, 1) == (y1, m1, d1);
            assert!(follows, "{last} {next}");
            last = next;
        }
    }

    #[test]
    fn timestamps() {
        let plain = |count, unit| timestamp(count, unit, false, Form::Plain);
        assert_eq!(plain(1_700_000_000_123_000_000, Unit::Nanosecond), "2023-11-14 22:13:20.123");
        assert_eq!(plain(-1, Unit::Nanosecond), "1969-12-31 23:59:59.999999999");
        assert_eq!(plain(-1, Unit::Attosecond), "1969-12-31 23:59:59.999999999999999999");
        assert_eq!(timestamp(0, Unit::Second, true, Form::Iso), "1970-01-01T00:00:00Z");
        assert_eq!(plain(25, Unit::Hour), "1970-01-02 01:00:00");
        assert_eq!(plain(-1, Unit::Minute), "1969-12-31 23:59:00");
        assert_eq!((plain(54, Unit::Year), plain(-1, Unit::Month)), ("2024".into(), "1969-12".into()));
        assert_eq!((plain(1, Unit::Week), plain(-1, Unit::Day)), ("1970-01-08".into(), "1969-12-31".into()));
        for &unit in Unit::ALL {
            plain(i64::MAX, unit);
            plain(i64::MIN, unit);
        }
    }

    #[test]
    fn times_and_durations() {
        assert_eq!(time(86_399_999, Unit::Millisecond), "23:59:59.999");
        assert_eq!((time(86_400, Unit::Second), time(-1, Unit::Second)), ("86400s".into(), "-1s".into()));
        let both = |count, unit| (duration(count, unit, Form::Plain), duration(count, unit, Form::Iso));
        assert_eq!(both(93_784_500, Unit::Millisecond), ("1d 02:03:04.500".into(), "P1DT2H3M4.500S".into()));
        assert_eq!(both(-61, Unit::Second), ("-00:01:01".into(), "-P0DT0H1M1S".into()));
        assert_eq!(both(90, Unit::Minute), ("01:30:00".into(), "P0DT1H30M0S".into()));
        assert_eq!(both(-3, Unit::Month), ("-3M".into(), "-P3M".into()));
        assert_eq!(both(5, Unit::None), ("5".into(), "5".into()));
        for &unit in Unit::ALL {
            both(i64::MIN, unit);
            both(i64::MAX, unit);
        }
    }
}
