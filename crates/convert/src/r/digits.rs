//! Numbers as texts, as R writes them.

/// Up to 2^53, fixed notation has all digits of a whole number.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

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
