//! The kind of a field's text. It serves scores only: a reader decides types by all values.

/// The form of a field's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing, or only blanks.
    Empty,
    /// A word for a missing value.
    Missing,
    /// `true` or `false`.
    Bool,
    /// Digits, with or without a sign.
    Integer,
    /// A number with a decimal point, an exponent, or groups of thousands.
    Decimal,
    /// A number whose only mark is one comma.
    DecimalComma,
    /// A number with a currency or a percent sign.
    Amount,
    /// A date.
    Date,
    /// A time of day.
    Time,
    /// A date and a time.
    DateTime,
    /// An address of mail, of the web, or of a machine.
    Address,
    /// Letters, digits, and marks that join them: a code, a name of a file, a word.
    Code,
    /// Words with blanks and the marks of a sentence.
    Text,
    /// Codes with `;`, `|` or `,` between them, without blanks.
    List,
    /// Text with marks that rarely occur within a field, such as `;` or a quote at one end.
    Odd,
}

/// The number of kinds.
pub(super) const N_KINDS: usize = 15;

impl Kind {
    /// How much such a field speaks for the separators around it, from 0 to 1.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Empty => 0.55,
            Self::Missing => 0.9,
            Self::Code => 0.85,
            Self::Text => 0.7,
            Self::List => 0.4,
            Self::Odd => 0.1,
            _ => 1.0,
        }
    }

    /// Whether the text is a number.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal | Self::DecimalComma | Self::Amount)
    }

    /// Whether the text has the form of a value other than text.
    pub(super) fn is_typed(self) -> bool {
        !matches!(self, Self::Empty | Self::Missing | Self::Code | Self::Text | Self::List | Self::Odd)
    }
}

/// The kind of `field`, which is without its quotes. Blanks around it do not count.
///
/// `quoted`: whether it had quotes. Then any mark may be in it.
pub(super) fn kind(field: &[u8], quoted: bool) -> Kind {
    let text = field.trim_ascii();
    if text.is_empty() {
        return Kind::Empty;
    }
    let first = text[0];
    if first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b',' | b'$' | b'(' | 0x80..) {
        if let Some(kind) = number(text) {
            return kind;
        }
        if let Some(kind) = date_time(text) {
            return kind;
        }
    }
    if is_missing(text) {
        return Kind::Missing;
    }
    if first.is_ascii_alphabetic() {
        if is_word_of(text, &["true", "false"]) {
            return Kind::Bool;
        }
        if is_word_of(text, &["nan", "inf", "infinity"]) {
            return Kind::Decimal;
        }
        if let Some(kind) = date_time(text) {
            return kind;
        }
    }
    if is_address(text) {
        return Kind::Address;
    }
    words(text, quoted)
}

/// Whether `text` is a word for a missing value.
pub(super) fn is_missing(text: &[u8]) -> bool {
    text.len() <= 5
        && (is_word_of(text, &["na", "n/a", "null", "none", "#n/a"])
            || matches!(text, b"-" | b"\\N" | b"?" | b"."))
}

fn is_word_of(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// The kind of a number, if `text` is one.
fn number(text: &[u8]) -> Option<Kind> {
    let mut rest = text;
    let mut amount = false;
    if let [b'+' | b'-', tail @ ..] = rest {
        rest = tail;
    }
    for sign in [&b"$"[..], "€".as_bytes(), "£".as_bytes(), "¥".as_bytes()] {
        if let Some(tail) = rest.strip_prefix(sign) {
            (rest, amount) = (tail.trim_ascii_start(), true);
            break;
        }
    }
    for sign in [&b"%"[..], "€".as_bytes(), b"$"] {
        if let Some(head) = rest.strip_suffix(sign) {
            (rest, amount) = (head.trim_ascii_end(), true);
            break;
        }
    }
    let kind = plain_number(rest)?;
    Some(if amount { Kind::Amount } else { kind })
}

/// The kind of a number without sign and unit.
fn plain_number(text: &[u8]) -> Option<Kind> {
    let (mut digits, mut points, mut commas) = (0_usize, 0_usize, 0_usize);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'.' => points += 1,
            b',' => commas += 1,
            b'e' | b'E' if digits > 0 => break,
            _ => return None,
        }
        at += 1;
    }
    if digits == 0 || text.ends_with(b",") {
        return None;
    }
    let exponent = &text[at..];
    if let [_, tail @ ..] = exponent {
        let tail = tail.strip_prefix(b"+").or_else(|| tail.strip_prefix(b"-")).unwrap_or(tail);
        if tail.is_empty() || !tail.iter().all(u8::is_ascii_digit) {
            return None;
        }
    }
    match (points, commas) {
        (0, 0) if exponent.is_empty() => Some(Kind::Integer),
        (0 | 1, 0) => Some(Kind::Decimal),
        (0, 1) => Some(Kind::DecimalComma),
        (_, 0) => (exponent.is_empty() && is_grouped(text, b'.')).then_some(Kind::Decimal),
        (0 | 1, _) if exponent.is_empty() => {
            let whole = text.split(|&byte| byte == b'.').next().unwrap_or_default();
            let by_commas = points == 0 || !text[text.iter().position(|&b| b == b'.')?..].contains(&b',');
            if by_commas && is_grouped(whole, b',') {
                return Some(Kind::Decimal);
            }
            let whole = text.split(|&byte| byte == b',').next().unwrap_or_default();
            (commas == 1 && is_grouped(whole, b'.')).then_some(Kind::DecimalComma)
        }
        (_, 1) if exponent.is_empty() => {
            let whole = text.split(|&byte| byte == b',').next().unwrap_or_default();
            is_grouped(whole, b'.').then_some(Kind::DecimalComma)
        }
        _ => None,
    }
}

/// Whether `text` is groups of three digits, the first of one to three.
fn is_grouped(text: &[u8], mark: u8) -> bool {
    let mut groups = text.split(|&byte| byte == mark);
    groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && first.iter().all(u8::is_ascii_digit))
        && groups.all(|group| group.len() == 3 && group.iter().all(u8::is_ascii_digit))
}

/// The kind of a date, a time, or both, if `text` is one.
fn date_time(text: &[u8]) -> Option<Kind> {
    if text.len() > 40 {
        return None;
    }
    if is_time(text) {
        return Some(Kind::Time);
    }
    if is_date(text) {
        return Some(Kind::Date);
    }
    // The date may have blanks itself, so each blank may begin the time.
    for (at, &byte) in text.iter().enumerate().skip(6) {
        if matches!(byte, b' ' | b'T' | b'_') && is_date(&text[..at]) && is_time(text[at + 1..].trim_ascii())
        {
            return Some(Kind::DateTime);
        }
    }
    None
}

/// Whether `text` is `hh:mm`, with seconds, a fraction, a zone, `am` or `pm`, or without.
fn is_time(text: &[u8]) -> bool {
    let mut rest = text;
    for suffix in ["am", "pm", "a.m.", "p.m.", "utc", "gmt", "z"] {
        if rest.len() > suffix.len()
            && rest[rest.len() - suffix.len()..].eq_ignore_ascii_case(suffix.as_bytes())
        {
            rest = rest[..rest.len() - suffix.len()].trim_ascii_end();
            break;
        }
    }
    // A zone such as +02:00.
    if let Some(at) = rest.iter().rposition(|byte| matches!(byte, b'+' | b'-'))
        && at >= 4
        && rest[at + 1..].iter().all(|byte| byte.is_ascii_digit() || *byte == b':')
    {
        rest = rest[..at].trim_ascii_end();
    }
    let (clock, fraction) = match rest.iter().position(|byte| matches!(byte, b'.' | b',')) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    if fraction.is_some_and(|digits| digits.is_empty() || !digits.iter().all(u8::is_ascii_digit)) {
        return false;
    }
    let mut n_parts = 0;
    for part in clock.split(|&byte| byte == b':') {
        n_parts += 1;
        let most = if n_parts == 1 { 24 } else { 60 };
        let fits = part.len() <= 2 && digits_of(part).is_some_and(|value| value <= most);
        if !fits || (n_parts > 1 && part.len() != 2) {
            return false;
        }
    }
    matches!(n_parts, 2 | 3)
}

/// Whether `text` is a date: three numbers, or two and the name of a month.
fn is_date(text: &[u8]) -> bool {
    let mark = text.iter().find(|byte| matches!(byte, b'-' | b'/' | b'.' | b' '));
    let Some(&mark) = mark else { return false };
    let (mut n_parts, mut n_months, mut n_years) = (0, 0, 0);
    for part in text.split(|&byte| byte == mark) {
        let part = part.strip_suffix(b",").unwrap_or(part);
        n_parts += 1;
        if is_month(part) {
            n_months += 1;
        } else {
            match (part.len(), digits_of(part)) {
                (4, Some(1000..=2999)) => n_years += 1,
                (1 | 2, Some(0..=99)) => {}
                _ => return false,
            }
        }
    }
    n_parts == 3 && n_months <= 1 && n_years <= 1 && (n_years == 1 || n_months == 1 || mark != b' ')
}

fn is_month(text: &[u8]) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    text.len() >= 3
        && MONTHS.iter().any(|month| {
            let month = month.as_bytes();
            text.eq_ignore_ascii_case(month) || text.eq_ignore_ascii_case(&month[..3])
        })
}

/// The value of up to nine digits.
fn digits_of(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 9 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |value, &digit| value * 10 + u32::from(digit - b'0')))
}

/// Whether `text` is an address of mail, of the web, or of a machine.
fn is_address(text: &[u8]) -> bool {
    if text.contains(&b' ') {
        return false;
    }
    let has =
        |start: &str| text.len() > start.len() && text[..start.len()].eq_ignore_ascii_case(start.as_bytes());
    if ["http://", "https://", "ftp://", "www.", "mailto:"].iter().any(|start| has(start)) {
        return !text.iter().any(|byte| matches!(byte, b'"' | b'\t' | b'|' | b';' | b','));
    }
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    if let Some(at) = text.iter().position(|&byte| byte == b'@') {
        let (user, host) = (&text[..at], &text[at + 1..]);
        return !user.is_empty() && host.contains(&b'.') && user.iter().chain(host).all(is_label);
    }
    let parts: Vec<&[u8]> = text.split(|&byte| byte == b'.').collect();
    parts.len() == 4 && parts.iter().all(|part| digits_of(part).is_some_and(|value| value <= 255))
}

/// The kind of text that is nothing else.
fn words(text: &[u8], quoted: bool) -> Kind {
    let is_code = |byte: &u8| {
        byte.is_ascii_alphanumeric() || *byte >= 0x80 || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':')
    };
    if text.len() <= 64 && text.iter().all(is_code) {
        return Kind::Code;
    }
    if quoted {
        return Kind::Text;
    }
    let marks = [b';', b'|', b','];
    if let Some(&mark) = text.iter().find(|byte| marks.contains(byte))
        && text.split(|&byte| byte == mark).all(|item| !item.is_empty() && item.iter().all(is_code))
    {
        return Kind::List;
    }
    let last = text.len() - 1;
    for (at, &byte) in text.iter().enumerate() {
        let odd = match byte {
            b'\t' | b'|' | b'"' | b'^' | b'~' | b'\\' | b'{' | b'}' | b'<' | b'>' => true,
            b'\'' => at == 0 || at == last,
            b',' | b';' => at == last || text[at + 1] != b' ',
            0..0x20 | 0x7F => true,
            _ => false,
        };
        if odd {
            return Kind::Odd;
        }
    }
    Kind::Text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: Kind, texts: &[&str]) {
        for text in texts {
            assert_eq!(kind(text.as_bytes(), false), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        check(Kind::Integer, &["0", "-17", "+4", " 12 ", "007", "18446744073709551616"]);
        check(
            Kind::Decimal,
            &["1.5", "-.5", "1e10", "1.5E-3", "1,234,567", "1,234.5", "1.234.567", "NaN", "inf"],
        );
        check(Kind::DecimalComma, &["1,5", "-3,14", "1,234", "1.234,56"]);
        check(Kind::Amount, &["$74.69", "5 %", "12%", "€ 5", "1,50 €"]);
    }

    #[test]
    fn dates_and_times() {
        check(
            Kind::Date,
            &["2024-02-29", "28/01/2018", "1.2.2024", "12-Jan-2014", "Jan 5, 2014", "3 March 2020"],
        );
        check(Kind::Time, &["00:00", "23:59:59.123", "10:30 AM", "12:00:00Z", "9:05"]);
        check(Kind::DateTime, &["2024-02-29 12:00", "2024-02-29T12:00:00+02:00", "1/2/2024 3:04 pm"]);
        check(Kind::Code, &["10:75:99", "2024-1", "1-2-3-4"]);
    }

    #[test]
    fn other_values() {
        check(Kind::Empty, &["", "  "]);
        check(Kind::Missing, &["NA", "n/a", "NULL", "-"]);
        check(Kind::Bool, &["true", "False"]);
        check(Kind::Address, &["a.b@c.org", "https://x.org/?a=b", "192.168.0.1"]);
        check(Kind::Code, &["MG-8769", "name", "Ærø", "a_b.txt"]);
        check(Kind::Text, &["Men's Boots", "hello, world", "Round (48)"]);
        check(Kind::Odd, &["x y,z", "'quoted'", "a\tb", "say \"no\"", "1;2,5;3"]);
        check(Kind::List, &["a;b", "x,y,7", "a|b"]);
        assert_eq!(kind(b"a;b", true), Kind::Text);
    }

    #[test]
    fn bytes_of_all_values_have_a_kind() {
        for byte in 0..=255_u8 {
            for n in 1..4 {
                kind(&vec![byte; n], false);
                kind(&[b'1', byte, b'2'], true);
            }
        }
    }
}
