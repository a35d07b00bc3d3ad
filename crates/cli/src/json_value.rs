//! Values of JSON, parsed from text.

use std::collections::HashSet;

use entasis::cells::Json;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The greatest depth of values.
const MAX_DEPTH: usize = 200;
/// Up to this integer, every integer is a float too.
const MOST_EXACT: u64 = 1 << 53;

/// Parses a text.
///
/// # Errors
/// A message when the text is not JSON, a key occurs twice, or a number or a depth is too
/// great.
pub(crate) fn parse(text: &str) -> Result<Json, String> {
    let value: &RawValue = read(text)?;
    value_of(value.get(), 0)
}

/// The value in R, where integers have 32 bits, the least one is missing, and strings have no
/// zero character.
///
/// # Errors
/// A message when R has no such value.
pub(crate) fn of_r(value: Json) -> Result<Json, String> {
    let checked = |text: String| match text.contains('\0') {
        true => Err("R has no strings with a zero character".to_owned()),
        false => Ok(text),
    };
    Ok(match value {
        Json::Int(value) if i32::try_from(value).is_ok_and(|value| value > i32::MIN) => Json::Int(value),
        Json::Int(value) if value.unsigned_abs() <= MOST_EXACT => Json::Float(value as f64),
        Json::Int(value) => return Err(format!("R has no number {value}: pass it as text")),
        Json::Text(text) => Json::Text(checked(text)?),
        Json::List(items) => Json::List(items.into_iter().map(of_r).collect::<Result<_, _>>()?),
        Json::Map(pairs) => {
            let pair = |(key, value): (String, Json)| Ok((checked(key)?, of_r(value)?));
            Json::Map(pairs.into_iter().map(pair).collect::<Result<_, String>>()?)
        }
        other => other,
    })
}

/// The value of a text that is known to be JSON, except for what `serde_json` leaves unchecked:
/// duplicate keys, unpaired surrogates, and the range of numbers.
fn value_of(text: &str, depth: usize) -> Result<Json, String> {
    if depth >= MAX_DEPTH {
        return Err(format!("values are nested deeper than {MAX_DEPTH}"));
    }
    match text.as_bytes().first() {
        Some(b'[') => {
            let items: Vec<&RawValue> = read(text)?;
            let items = items.into_iter().map(|item| value_of(item.get(), depth + 1));
            items.collect::<Result<_, _>>().map(Json::List)
        }
        Some(b'{') => {
            let Pairs(pairs) = read(text)?;
            let pairs = pairs.into_iter().map(|(key, value)| Ok((key, value_of(value.get(), depth + 1)?)));
            pairs.collect::<Result<_, String>>().map(Json::Map)
        }
        Some(b'"') => read(text).map(Json::Text),
        Some(b't' | b'f') => read(text).map(Json::Bool),
        Some(b'n') => Ok(Json::Null),
        _ => number_of(text),
    }
}

/// The value of a number. `serde_json` would make a float of an integer beyond 64 bits.
fn number_of(text: &str) -> Result<Json, String> {
    if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
        return text
            .parse()
            .map(Json::Int)
            .map_err(|_| format!("the JSON has an integer beyond 64 bits: {text}"));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Json::Float(value)),
        _ => Err(format!("the JSON has a number beyond the range of floats: {text}")),
    }
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

/// The keys and values of a map in the order of the text.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Deserialize<'a> for Pairs<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'a> Visitor<'a> for PairsVisitor {
    type Value = Pairs<'a>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Pairs<'a>, M::Error> {
        let (mut pairs, mut known) = (Vec::new(), HashSet::new());
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            if !known.insert(key.clone()) {
                return Err(M::Error::custom(format!("the key {key:?} occurs twice")));
            }
            pairs.push((key, value));
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts the value that `serde_json` parsed, for comparison.
    fn of_serde(value: &serde_json::Value) -> Json {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(value) => Json::Bool(*value),
            serde_json::Value::Number(n) => {
                n.as_i64().map_or_else(|| Json::Float(n.as_f64().unwrap()), Json::Int)
            }
            serde_json::Value::String(text) => Json::Text(text.clone()),
            serde_json::Value::Array(items) => Json::List(items.iter().map(of_serde).collect()),
            serde_json::Value::Object(pairs) => {
                Json::Map(pairs.iter().map(|(key, value)| (key.clone(), of_serde(value))).collect())
            }
        }
    }

    #[test]
    fn values_are_parsed() {
        for text in [
            " null ",
            "[true,false , {}, []]",
            "[0, -12, 9223372036854775807, -9223372036854775808]",
            "[1.0, -0.0, 1e3, 2.5E-3, 1.5e+300, 0e0, 1e-400, 0.1]",
            r#"{"": null, "a": {"c": "x"}, "b": 1}"#,
            r#""\u00e9\ud83d\ude00\n\"\/\\ é\u0000\b\f\r\t""#,
            "{\n\t\"a\" :\r [ 1 , 2 ] }",
        ] {
            let wanted = of_serde(&serde_json::from_str(text).unwrap());
            assert_eq!(parse(text), Ok(wanted), "{text}");
        }
        let keys = parse(r#"{"b": 1, "a": 2}"#);
        assert_eq!(keys, Ok(Json::Map(vec![("b".into(), Json::Int(1)), ("a".into(), Json::Int(2))])));
        assert_eq!(parse("-0"), Ok(Json::Int(0)));
        // Rounded to the nearest float.
        assert_eq!(parse("123456789.123456789e-7"), Ok(Json::Float(12.345_678_912_345_68)));
        assert_eq!(parse("0.1"), Ok(Json::Float(0.1)));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            " ",
            "nul",
            "nulll",
            "True",
            "NaN",
            "-Infinity",
            "01",
            "-",
            "+1",
            "1.",
            ".5",
            "1e",
            "1e+",
            "1-2",
            "0x1",
            "1_000",
            "9223372036854775808",
            "1e400",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":1,\"a\":2}",
            "'a'",
            "\"a",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "\"\t\"",
            "\"\\é\"",
            "1 2",
            "[1] x",
        ] {
            assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
        }
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(&deep(MAX_DEPTH)).is_ok() && parse(&deep(MAX_DEPTH + 1)).is_err());
        assert!(parse(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn integers_of_r_have_32_bits() {
        let of = |text: &str| of_r(parse(text).unwrap());
        assert_eq!(of("[2147483647, -2147483647]"), parse("[2147483647, -2147483647]"));
        assert_eq!(of("[2147483648, -2147483648]"), parse("[2147483648.0, -2147483648.0]"));
        assert_eq!(of("{\"a\": 9007199254740992}"), parse("{\"a\": 9007199254740992.0}"));
        for text in ["9007199254740993", "\"\\u0000\"", "{\"\\u0000\": 1}", "[{\"a\": -9007199254740993}]"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
