//! Numbers as texts of a stream in ASCII form.

/// The bits of R's missing double.
pub(super) const NA_DOUBLE: u64 = 0x7FF0_0000_0000_07A2;

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
}
