//! Text for people: numbers, sizes, and names that cannot harm the terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// A number with commas between its thousands.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 row", "1,000 rows".
pub(crate) fn count(n: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// A number of bytes with about three digits: 17.6 MB. 1 MB is 10^6 bytes.
pub(crate) fn size(n: u64) -> String {
    let mut value = n as f64;
    if value < 1000.0 {
        return format!("{n} B");
    }
    for unit in ["kB", "MB", "GB", "TB", "PB"] {
        value /= 1000.0;
        // A value that would be rounded to 1000 gets the next unit.
        if value < 999.5 {
            let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
            return format!("{value:.digits$} {unit}");
        }
    }
    format!("{:.0} EB", value / 1000.0)
}

/// How many times smaller; "-" if one of the numbers is 0.
pub(crate) fn ratio(from: u64, to: u64) -> String {
    if from == 0 || to == 0 { "-".to_owned() } else { format!("{:.1}", from as f64 / to as f64) }
}

/// The text, with all characters escaped that a terminal would obey.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            c if is_control(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Controls, line ends, marks that change the direction of text, and other invisible characters.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(
            [0, 12, 999, 1000, 1_234_567].map(thousands),
            ["0", "12", "999", "1,000", "1,234,567"].map(str::to_owned)
        );
        assert_eq!((count(1, "row"), count(2000, "row")), ("1 row".to_owned(), "2,000 rows".to_owned()));
        let sizes = [0, 999, 1000, 9_994, 9_995, 99_949, 999_499, 999_500, 17_600_000, 1_000_000_000];
        let texts = [
            "0 B", "999 B", "1.00 kB", "9.99 kB", "10.0 kB", "99.9 kB", "999 kB", "1.00 MB", "17.6 MB",
            "1.00 GB",
        ];
        assert_eq!(sizes.map(size), texts.map(str::to_owned));
        assert_eq!(size(u64::MAX), "18 EB");
        assert_eq!((ratio(10, 4), ratio(0, 4), ratio(4, 0)), ("2.5".into(), "-".into(), "-".into()));
    }

    #[test]
    fn escapes() {
        assert_eq!(escape("plain ü 日本"), "plain ü 日本");
        assert_eq!(escape("a\nb\t\x1b[31m\u{202e}"), "a\\nb\\t\\u{1b}[31m\\u{202e}");
    }
}
