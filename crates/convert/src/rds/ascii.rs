//! Numbers and texts of a stream in ASCII form: one token a line.

use entasis::Result;

use super::numbers::{NA_DOUBLE, hexadecimal};
use crate::input::{Input, reserve};

/// The longest token. That of a double has 25 characters.
const MOST_LEN: usize = 100;

/// The next token.
fn token<'i>(input: &'i mut Input<'_>) -> Result<&'i [u8]> {
    skip_blanks(input)?;
    let bytes = input.peek(MOST_LEN + 1)?;
    let len = bytes.iter().take(MOST_LEN + 1).take_while(|byte| !byte.is_ascii_whitespace()).count();
    if len > MOST_LEN {
        return Err(input.damaged("a number is too long"));
    }
    input.consume(len);
    Ok(input.last(len))
}

fn skip_blanks(input: &mut Input<'_>) -> Result<()> {
    loop {
        let bytes = input.fill(1)?;
        let n = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_last = n < bytes.len();
        input.consume(n);
        if is_last {
            return Ok(());
        }
    }
}

/// An integer or `NA`.
pub(super) fn int(input: &mut Input<'_>) -> Result<i32> {
    let token = token(input)?;
    let parsed = match token {
        b"NA" => Some(i32::MIN),
        _ => std::str::from_utf8(token).ok().and_then(|token| token.parse().ok()),
    };
    parsed.ok_or_else(|| input.damaged("an integer is not a number"))
}

/// A double, in decimal or hexadecimal digits.
pub(super) fn double(input: &mut Input<'_>) -> Result<f64> {
    let token = token(input)?;
    let parsed = match token {
        b"NA" => Some(f64::from_bits(NA_DOUBLE)),
        b"NaN" => Some(f64::NAN),
        b"Inf" => Some(f64::INFINITY),
        b"-Inf" => Some(f64::NEG_INFINITY),
        _ => std::str::from_utf8(token)
            .ok()
            .and_then(|token| hexadecimal(token).or_else(|| token.parse().ok())),
    };
    parsed.ok_or_else(|| input.damaged("a double is not a number"))
}

/// A byte as two hexadecimal digits.
pub(super) fn byte(input: &mut Input<'_>) -> Result<u8> {
    let token = std::str::from_utf8(token(input)?).ok();
    let parsed = token.and_then(|token| u8::from_str_radix(token, 16).ok());
    parsed.ok_or_else(|| input.damaged("a byte is not a number"))
}

/// `n` values.
pub(super) fn vector<T>(
    input: &mut Input<'_>,
    n: u64,
    one: impl Fn(&mut Input<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let n = input.check(n, 2)?;
    let mut values = Vec::new();
    reserve(&mut values, input.room(n, size_of::<T>()))?;
    for _ in 0..n {
        values.push(one(input)?);
        input.poll()?;
    }
    Ok(values)
}

/// Appends a text of `len` bytes, whose control characters and others are escaped.
pub(super) fn text(input: &mut Input<'_>, len: usize, into: &mut Vec<u8>) -> Result<()> {
    input.check(len as u64, 1)?;
    if len > 0 {
        skip_blanks(input)?;
    }
    for _ in 0..len {
        let [byte] = input.array()?;
        let byte = if byte == b'\\' { escaped(input)? } else { byte };
        into.push(byte);
    }
    input.poll()
}

/// The byte after a backslash.
fn escaped(input: &mut Input<'_>) -> Result<u8> {
    let [letter] = input.array()?;
    Ok(match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'v' => 0x0b,
        b'b' => 0x08,
        b'r' => b'\r',
        b'f' => 0x0c,
        b'a' => 0x07,
        b'0'..=b'7' => {
            let mut byte = letter - b'0';
            for _ in 0..2 {
                let digit = input.peek(1)?.first().filter(|digit| (b'0'..=b'7').contains(digit)).copied();
                let Some(digit) = digit else { break };
                input.consume(1);
                byte = byte.wrapping_mul(8).wrapping_add(digit - b'0');
            }
            byte
        }
        other => other,
    })
}
