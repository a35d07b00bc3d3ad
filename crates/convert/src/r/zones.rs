//! Time zones for other hosts.

use crate::r::Value;

/// The areas of the names of zones.
const AREAS: [&str; 16] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Brazil",
    "Canada",
    "Chile",
    "Etc",
    "Europe",
    "Indian",
    "Mexico",
    "Pacific",
    "US",
];
/// Names of zones without an area.
const SINGLE: [&str; 44] = [
    "CET",
    "CST6CDT",
    "Cuba",
    "EET",
    "EST",
    "EST5EDT",
    "Egypt",
    "Eire",
    "GB",
    "GB-Eire",
    "GMT",
    "GMT+0",
    "GMT-0",
    "GMT0",
    "Greenwich",
    "HST",
    "Hongkong",
    "Iceland",
    "Iran",
    "Israel",
    "Jamaica",
    "Japan",
    "Kwajalein",
    "Libya",
    "MET",
    "MST",
    "MST7MDT",
    "NZ",
    "NZ-CHAT",
    "Navajo",
    "PRC",
    "PST8PDT",
    "Poland",
    "Portugal",
    "ROC",
    "ROK",
    "Singapore",
    "Turkey",
    "UCT",
    "UTC",
    "Universal",
    "W-SU",
    "WET",
    "Zulu",
];

/// The zone of the attribute `tzone`; UTC for other names, which R accepts.
pub(super) fn zone_of(tzone: Option<&Value>) -> &str {
    let strings = tzone.filter(|value| value.attribute("class").is_none()).and_then(Value::strings);
    strings.and_then(|strings| strings.get(0)).filter(|name| is_zone(name)).unwrap_or("UTC")
}

/// Whether a name has the form of those in the database of time zones.
pub(super) fn is_zone(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'+'))
    };
    match name.split_once('/') {
        Some((area, place)) => AREAS.contains(&area) && place.split('/').all(is_part),
        None => SINGLE.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r::Data;

    #[test]
    fn other_names_are_shown_in_utc() {
        let zone = |name: &str| {
            let value = Value::from(Data::Strings(Box::new([name].into_iter().collect())));
            zone_of(Some(&value)).to_owned()
        };
        for name in ["UTC", "GMT", "Europe/Zurich", "America/Argentina/Ushuaia", "Etc/GMT+5", "EST5EDT"] {
            assert_eq!(zone(name), name);
        }
        for name in ["", "Nowhere", "nowhere/at all", "Europe/", "../etc/passwd", "Foo/Bar", "CEST"] {
            assert_eq!(zone(name), "UTC");
        }
        assert_eq!(zone_of(None), "UTC");
    }
}
