//! Dates as days since 1970-01-01, in the Gregorian calendar of ISO 8601.

/// The number of days of a text `YYYY-MM-DD`; `None` for another text or a day that does not exist.
#[must_use]
pub fn days(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        let digits = &bytes[range];
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| digits.iter().fold(0, |n, d| n * 10 + i32::from(d - b'0')))
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
        return None;
    }
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The text `YYYY-MM-DD` of a number of days; `None` for years before 0 and after 9999.
#[must_use]
pub fn text_of_days(days: i32) -> Option<String> {
    // The same source, civil_from_days.
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted - era * 146_097;
    let of_year_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_year_era + of_year_era / 4 - of_year_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = of_year_era + era * 400 + i64::from(month <= 2);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn days_of_month(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_texts_agree() {
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2000-03-01"), Some(11_017));
        for day in (-719_528..2_932_897).step_by(13) {
            let text = text_of_days(day).unwrap();
            assert_eq!(days(&text), Some(day), "{text}");
        }
        assert_eq!(text_of_days(2_932_897), None);
        assert_eq!(text_of_days(-719_529), None);
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-01",
            "24-01-01",
            "2024-01-0a",
            "2024/01/01",
            "",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
        assert!(days("2024-02-29").is_some());
    }
}
