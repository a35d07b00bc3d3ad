//! Dates and times in ISO 8601.

use crate::time_kind::TimeKind;

const SECOND: i128 = 10i128.pow(18);

/// Parses a text to attoseconds: `2024-01-31`, `2024-01-31T12:30:05.25`, with a zone such as `Z` or
/// `+01:00` for an aware time; `12:30:05` for a time of day. A space may stand for the T.
///
/// # Errors
/// A description of the problem, to be shown after the text.
pub(crate) fn parse(text: &str, kind: TimeKind) -> Result<i128, String> {
    let unreadable = match kind {
        TimeKind::Aware => {
            "is not a time with a zone: write 2024-01-31T12:30:00Z or 2024-01-31T12:30:00+01:00"
        }
        _ => "is not a time: write 2024-01-31 or 2024-01-31T12:30:00",
    };
    if kind == TimeKind::OfDay {
        return time_of_day(text).ok_or_else(|| "is not a time of day: write 12:30:00".to_owned());
    }
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let days = date_of(date).ok_or(unreadable)?;
    let (time, zone) = match time.rfind(['Z', '+', '-']) {
        Some(at) => (&time[..at], Some(&time[at..])),
        None => (time, None),
    };
    let local = i128::from(days) * 86_400 * SECOND + time_of_day(time).ok_or(unreadable)?;
    match (zone, kind) {
        (None, TimeKind::Aware) => {
            let time = if text.contains(['T', ' ']) { "" } else { "T00:00 and " };
            Err(format!(
                "has no time zone, and the column has one: write {time}the offset that its zone has then after it, \
                 such as +01:00, or Z for UTC"
            ))
        }
        (None, _) => Ok(local),
        (Some(_), TimeKind::Naive) => {
            Err("has a time zone, and the column has none: leave it out".to_owned())
        }
        (Some(zone), _) => Ok(local - offset_of(zone).ok_or(unreadable)?),
    }
}

/// A number of exactly `n` digits.
fn digits(text: &str, n: usize) -> Option<i64> {
    (text.len() == n && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// The days from 0000-03-01, where the years of [`date_of`] begin, to 1970-01-01.
const MARCH_TO_EPOCH: i64 = 719_468;

/// Days since 1970-01-01.
///
/// The algorithm is `days_from_civil` of Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms" (<https://howardhinnant.github.io/date_algorithms.html>), without eras.
fn date_of(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) =
        (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=n_days).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before_month = (153 * month + 2) / 5;
    let before_year = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before_year + before_month + day - 1 - MARCH_TO_EPOCH)
}

/// Attoseconds since midnight.
fn time_of_day(text: &str) -> Option<i128> {
    let mut parts = text.split(':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let seconds = parts.next().unwrap_or("00");
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let second = digits(second, 2)?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 || fraction.len() > 18 {
        return None;
    }
    let scale = 10i128.pow(18 - fraction.len() as u32);
    let fraction = i128::from(digits(fraction, fraction.len())?) * scale;
    Some(i128::from(hour * 3600 + minute * 60 + second) * SECOND + fraction)
}

/// Attoseconds of an offset from UTC.
fn offset_of(text: &str) -> Option<i128> {
    if text == "Z" {
        return Some(0);
    }
    let rest = text.strip_prefix(['+', '-'])?;
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "00"));
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset = i128::from(hours * 60 + minutes) * 60 * SECOND;
    Some(if text.starts_with('-') { -offset } else { offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let days = |days: i128| Ok(days * 86_400 * SECOND);
        for (text, of) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2024-03-01", 19_783),
            ("0001-01-01", -719_162),
            ("9999-12-31", 2_932_896),
        ] {
            assert_eq!(parse(text, TimeKind::Naive), days(of), "{text}");
        }
        let half = 43_200 * SECOND;
        assert_eq!(parse("1970-01-01T12:00", TimeKind::Naive), Ok(half));
        assert_eq!(parse("1970-01-01 12:00:00.5", TimeKind::Naive), Ok(half + SECOND / 2));
        assert_eq!(parse("1970-01-01T12:00Z", TimeKind::Aware), Ok(half));
        assert_eq!(parse("1970-01-01T12:00:00+01:30", TimeKind::Aware), Ok(half - 5400 * SECOND));
        assert_eq!(parse("1970-01-01T12:00-02", TimeKind::Aware), Ok(half + 7200 * SECOND));
        assert_eq!(parse("12:00:00", TimeKind::OfDay), Ok(half));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "soon",
            "2024",
            "2024-1-1",
            "2024-13-01",
            "2023-02-29",
            "1900-02-29",
            "2024-01-01T",
            "2024-01-01T24:00",
            "2024-01-01T12",
            "2024-01-01T12:00:00.",
            "2024-01-01T12:00:00.1234567890123456789",
            "+024-01-01",
            "2024-01-01-01",
        ] {
            assert!(parse(text, TimeKind::Naive).is_err(), "{text}");
        }
        for text in ["2024-01-01", "2024-01-01T12:00Z05", "2024-01-01T12:00+24:00", "2024-01-01T12:00+1"] {
            assert!(parse(text, TimeKind::Aware).is_err(), "{text}");
        }
        assert!(parse("2024-01-01T00:00Z", TimeKind::Naive).is_err());
        assert!(parse("12:00:60", TimeKind::OfDay).is_err() && parse("12", TimeKind::OfDay).is_err());
    }
}
