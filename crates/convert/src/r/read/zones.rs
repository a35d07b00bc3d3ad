//! Time zones of other hosts in R.

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::Reading;
use crate::r::zones::is_zone;

impl Reading<'_> {
    /// The zone of R that shows the clock times of another host's zone. R reads names such as
    /// `UTC+02:00` as POSIX does, where the sign means west.
    pub(super) fn zone_shown(&self, zone: &str, column: &str) -> String {
        if zone.is_empty() {
            return "UTC".to_owned();
        }
        if is_zone(zone) {
            return zone.to_owned();
        }
        of_offset(offset_in(zone)).unwrap_or_else(|| {
            self.lose(column, format!("times of the zone {zone:?} are shown in UTC"));
            "UTC".to_owned()
        })
    }

    /// The zone of a value in a tree, by its seconds east of UTC.
    pub(super) fn zone_of_value(&self, seconds: f64) -> String {
        of_offset(Some(seconds)).unwrap_or_else(|| {
            self.lose("", format!("times {seconds} seconds east of UTC are shown in UTC"));
            "UTC".to_owned()
        })
    }
}

/// The seconds east of UTC at a local time in a zone, by the rules of the system. A time that is
/// repeated or skipped has those before the change of the clocks, or with `is_second` after it.
/// `None` for an unknown zone.
pub(super) fn east_of_utc(zone: &str, local_seconds: f64, is_second: bool) -> Option<f64> {
    if !is_zone(zone) {
        return None;
    }
    // Zones change at whole seconds.
    let local = Timestamp::from_second(local_seconds.floor() as i64).ok()?;
    let found = TimeZone::get(zone).ok()?.to_ambiguous_timestamp(TimeZone::UTC.to_datetime(local));
    let offset = match found.offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, after } | AmbiguousOffset::Fold { before, after } => {
            if is_second {
                after
            } else {
                before
            }
        }
    };
    Some(f64::from(offset.seconds()))
}

/// The seconds east of UTC in a name such as `+02:00` or `UTC-03:30`.
fn offset_in(zone: &str) -> Option<f64> {
    let rest = zone.strip_prefix("UTC").or_else(|| zone.strip_prefix("GMT")).unwrap_or(zone);
    let (sign, digits) = match rest.as_bytes().first()? {
        b'+' => (1.0, &rest[1..]),
        b'-' => (-1.0, &rest[1..]),
        _ => return None,
    };
    let parts: Vec<&str> = if digits.contains(':') {
        digits.split(':').collect()
    } else if digits.is_ascii() && digits.len() > 2 {
        // Two digits each from the end; the hours may have one.
        let hours = digits.len() - (digits.len() - 1) / 2 * 2;
        let (first, rest) = digits.split_at(hours);
        std::iter::once(first).chain((0..rest.len() / 2).map(|i| &rest[2 * i..2 * i + 2])).collect()
    } else {
        vec![digits]
    };
    let is_number = |(i, part): (usize, &&str)| {
        part.bytes().all(|byte| byte.is_ascii_digit()) && (part.len() == 2 || (i == 0 && part.len() == 1))
    };
    if parts.len() > 3 || !parts.iter().enumerate().all(is_number) {
        return None;
    }
    let numbers = parts.iter().zip([3600.0, 60.0, 1.0]);
    Some(sign * numbers.map(|(part, each)| part.parse::<f64>().unwrap_or(0.0) * each).sum::<f64>())
}

/// The zone with a fixed offset in seconds east of UTC; `None` for parts of hours, and for offsets
/// without a zone.
fn of_offset(seconds: Option<f64>) -> Option<String> {
    let seconds = seconds?;
    if seconds % 3600.0 != 0.0 {
        return None;
    }
    let hours = (seconds / 3600.0) as i64;
    match hours {
        0 => Some("UTC".to_owned()),
        1..=14 => Some(format!("Etc/GMT-{hours}")),
        -12..0 => Some(format!("Etc/GMT+{}", -hours)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_are_those_of_the_rules_of_zones() {
        let at = |local: &str| {
            let time: jiff::civil::DateTime = local.parse().unwrap();
            TimeZone::UTC.to_timestamp(time).unwrap().as_second() as f64 + 0.75
        };
        for (local, first, second) in [
            ("2024-07-01 12:00", 7200.0, 7200.0),
            ("2024-10-27 02:30", 7200.0, 3600.0),
            ("2024-03-31 02:30", 3600.0, 7200.0),
            ("1900-01-01 00:00", 3600.0, 3600.0),
            ("2100-07-01 12:00", 7200.0, 7200.0),
        ] {
            assert_eq!(east_of_utc("Europe/Zurich", at(local), false), Some(first), "{local}");
            assert_eq!(east_of_utc("Europe/Zurich", at(local), true), Some(second), "{local}");
        }
        assert_eq!(east_of_utc("Asia/Kolkata", at("2024-01-01 00:00"), false), Some(19_800.0));
        for name in ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", ""] {
            assert_eq!(east_of_utc(name, 0.0, false), None);
        }
        assert_eq!(east_of_utc("Europe/Zurich", f64::INFINITY, false), None);
    }

    #[test]
    fn offsets_have_zones() {
        for (name, zone) in [
            ("+02:00", Some("Etc/GMT-2")),
            ("UTC-03:00", Some("Etc/GMT+3")),
            ("GMT+5", Some("Etc/GMT-5")),
            ("+0200", Some("Etc/GMT-2")),
            ("+02:30", None),
            ("-13:00", None),
            ("UTC", None),
            ("+x", None),
            ("+00:00", Some("UTC")),
        ] {
            assert_eq!(of_offset(offset_in(name)).as_deref(), zone, "{name}");
        }
    }
}
