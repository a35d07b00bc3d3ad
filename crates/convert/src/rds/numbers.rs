//! Numbers as texts, as R writes them.

/// The bits of R's missing double.
pub(super) const NA_DOUBLE: u64 = 0x7FF0_0000_0000_07A2;

/// Up to 2^53, fixed notation has all digits of a whole number.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A number in the form of C's `%a`: `-0x1.8p+3`. `None` for others.
pub(super) fn hexadecimal(token: &str) -> Option<f64> {
    let (is_negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    let digits = digits.strip_prefix("0x")?;
    let (mantissa, exponent) = digits.split_once('p').unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // A double has at most 14 digits. More would not be exact.
    if whole.len() + fraction.len() > 14 || whole.is_empty() || fraction.contains(['+', '-']) {
        return None;
    }
    let number = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(4 * fraction.len() as i32)?;
    // Two exact steps, as the power alone may be subnormal.
    let half = exponent.clamp(-1200, 1200) / 2;
    let size = number as f64 * 2f64.powi(half) * 2f64.powi(exponent.clamp(-1200, 1200) - half);
    Some(if is_negative { -size } else { size })
}

/// A double as `as.character` of R writes it, with 15 significant digits. Exponents are used where
/// they are shorter by more than `scipen` characters. `None` where the digit after these is so near
/// to a half that R's own rounding, in a wider type, may differ.
pub(crate) fn as_character(number: f64, scipen: i32) -> Option<String> {
    if number.is_nan() || number.is_infinite() {
        let name = if number.is_nan() { "NaN" } else { "Inf" };
        return Some(if number < 0.0 { "-Inf".to_owned() } else { name.to_owned() });
    }
    if number == 0.0 {
        return Some("0".to_owned());
    }
    let shown = format!("{number:.14e}");
    if shown.parse() != Ok(number) && is_near_half(number) {
        return None;
    }
    let (mantissa, exponent) = shown.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if number < 0.0 { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let n = digits.len() as i32;
    let n_decimals = (n - 1 - exponent).max(0);
    let fixed_len = exponent.max(0) + 1 + n_decimals + i32::from(n_decimals > 0);
    let exponent_len = if exponent.abs() >= 100 { 5 } else { 4 };
    let scientific_len = n + i32::from(n > 1) + exponent_len;
    if i64::from(fixed_len) <= i64::from(scientific_len) + i64::from(scipen) {
        // Versions of R differ in the digits of larger numbers.
        if number.abs() > MOST_WHOLE {
            return None;
        }
        return Some(format!("{number:.*}", usize::try_from(n_decimals).ok()?));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let mark = if exponent < 0 { '-' } else { '+' };
    Some(format!("{sign}{first}{point}{rest}e{mark}{:02}", exponent.abs()))
}

/// Whether the digits after the fifteenth are close to a half.
fn is_near_half(number: f64) -> bool {
    let shown = format!("{number:.19e}");
    let digits = shown.split('e').next().unwrap_or_default();
    let rest = digits.get(digits.len() - 5..).and_then(|rest| rest.parse::<i32>().ok());
    rest.is_none_or(|rest| (rest - 50_000).abs() < 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_doubles_are_exact() {
        for (text, number) in [
            ("0x1.8p+3", 12.0),
            ("-0x1p-1074", -5e-324),
            ("0x1.fffffffffffffp+1023", f64::MAX),
            ("0x0p+0", 0.0),
            ("0x0.0000000000001p-1022", 5e-324),
            ("0x1.999999999999ap-4", 0.1),
        ] {
            assert_eq!(hexadecimal(text), Some(number), "{text}");
        }
        assert_eq!(hexadecimal("1.5"), None);
        assert_eq!(hexadecimal("0x.p"), None);
    }

    #[test]
    fn doubles_as_characters() {
        for (number, text) in [
            (1.0, "1"),
            (-12.5, "-12.5"),
            (100_000.0, "1e+05"),
            (123_456.0, "123456"),
            (0.1 + 0.2, "0.3"),
            (1e-4, "1e-04"),
            (0.000123, "0.000123"),
            (1e15, "1e+15"),
            (1e300, "1e+300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Inf"),
            (-0.0, "0"),
            (1.0 / 3.0, "0.333333333333333"),
        ] {
            assert_eq!(as_character(number, 0).as_deref(), Some(text));
        }
        assert_eq!(as_character(100_000.0, 9).as_deref(), Some("100000"));
    }
}
