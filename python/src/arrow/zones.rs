//! Fixed offsets from UTC as time zones.

/// The zones from UTC-12:00 to UTC+14:00 that Polars and the time zone database have.
const HOURS: std::ops::RangeInclusive<i8> = -12..=14;

/// The name of a zone in Arrow: `+02:00` for an offset that pandas calls `UTC+02:00`. None for an
/// offset with seconds, which Arrow lacks.
pub fn of_arrow(zone: &str) -> Option<&str> {
    match zone.strip_prefix("UTC").filter(|offset| is_offset(offset)) {
        Some(offset) => (offset.len() == 6).then_some(offset),
        None => Some(zone),
    }
}

/// Whether Polars may have a zone. It takes `+02:00` for `Etc/GMT-2`, and has no offsets with
/// minutes. Names are not looked up.
pub fn is_polars(zone: &str) -> bool {
    let offset = zone.strip_prefix("UTC").unwrap_or(zone);
    if !is_offset(offset) {
        return true;
    }
    let hours = offset.get(..3).and_then(|hours| hours.parse::<i8>().ok());
    offset.get(3..) == Some(":00") && hours.is_some_and(|hours| HOURS.contains(&hours))
}

/// Whether a text begins as an offset does: a sign and a digit.
fn is_offset(text: &str) -> bool {
    text.strip_prefix(['+', '-']).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_pandas_are_those_of_arrow() {
        for (zone, of) in [
            ("UTC+02:00", Some("+02:00")),
            ("UTC-05:30", Some("-05:30")),
            ("UTC+02:00:30", None),
            ("+02:00", Some("+02:00")),
            ("UTC", Some("UTC")),
            ("Europe/Oslo", Some("Europe/Oslo")),
        ] {
            assert_eq!(of_arrow(zone), of, "{zone}");
        }
    }

    #[test]
    fn polars_has_whole_hours() {
        for zone in ["UTC+02:00", "+14:00", "-12:00", "+00:00", "UTC", "Etc/GMT+3", "Asia/Kolkata"] {
            assert!(is_polars(zone), "{zone}");
        }
        for zone in ["UTC-05:30", "+05:45", "+15:00", "-13:00", "UTC+02:00:30"] {
            assert!(!is_polars(zone), "{zone}");
        }
    }
}
