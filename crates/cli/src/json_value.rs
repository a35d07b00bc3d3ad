//! Values of JSON: parsed from text, and stored as cells.

use entasis::CellKind;
use entasis::cells::CellWriter;

/// The greatest depth of values.
const MAX_DEPTH: usize = 200;
/// The greatest integer up to which all are floats too.
const MOST_EXACT: u64 = 1 << 53;

/// A value of JSON. Keys are in the order of the text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Json {
    /// Parses a text.
    ///
    /// # Errors
    /// A message when the text is not JSON, a key occurs twice, or a number or a depth is too
    /// great.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        match parser.peek() {
            None => Ok(value),
            Some(_) => Err(parser.wrong("text after the value")),
        }
    }

    /// The value as one of R. Its integers have 32 bits, and the least one is missing. Its strings
    /// have no zero characters.
    ///
    /// # Errors
    /// A message when R has no such value.
    pub(crate) fn of_r(self) -> Result<Self, String> {
        let checked = |text: String| match text.contains('\0') {
            true => Err("R has no strings with a zero character".to_owned()),
            false => Ok(text),
        };
        Ok(match self {
            Self::Int(value) if i32::try_from(value).is_ok_and(|value| value > i32::MIN) => Self::Int(value),
            Self::Int(value) if value.unsigned_abs() <= MOST_EXACT => Self::Float(value as f64),
            Self::Int(value) => return Err(format!("R has no number {value}: pass it as text")),
            Self::Text(text) => Self::Text(checked(text)?),
            Self::List(items) => Self::List(items.into_iter().map(Self::of_r).collect::<Result<_, _>>()?),
            Self::Map(pairs) => {
                let pair = |(key, value): (String, Self)| Ok((checked(key)?, value.of_r()?));
                Self::Map(pairs.into_iter().map(pair).collect::<Result<_, String>>()?)
            }
            other => other,
        })
    }

    /// Adds the value to cells.
    pub(crate) fn write(&self, cells: &mut CellWriter) {
        let place = self.write_head(cells);
        self.write_parts(place, cells);
    }

    /// Adds the cell of the value. Returns the place of one with children.
    fn write_head(&self, cells: &mut CellWriter) -> usize {
        match self {
            Self::Null => cells.unit(CellKind::Null),
            Self::Bool(false) => cells.unit(CellKind::False),
            Self::Bool(true) => cells.unit(CellKind::True),
            Self::Int(value) => cells.int(CellKind::Int, *value),
            Self::Float(value) => cells.float(CellKind::Float, *value),
            Self::Text(text) => cells.text(CellKind::Str, text),
            Self::List(_) => return cells.parent(CellKind::List),
            Self::Map(_) => return cells.parent(CellKind::Map),
        }
        0
    }

    /// Adds the children of a value together, then what is below each.
    fn write_parts(&self, place: usize, cells: &mut CellWriter) {
        let first = cells.n_cells();
        let children: Vec<&Self> = match self {
            Self::List(items) => items.iter().collect(),
            Self::Map(pairs) => pairs.iter().map(|(_, value)| value).collect(),
            _ => return,
        };
        let places: Vec<usize> = children.iter().map(|child| child.write_head(cells)).collect();
        let n = children.len() as u64;
        let mut keys = 0;
        if let Self::Map(pairs) = self
            && n > 0
        {
            keys = cells.n_cells();
            pairs.iter().for_each(|(key, _)| cells.text(CellKind::Str, key));
            cells.index_keys(pairs.len());
        }
        cells.set_children(place, first, n, keys);
        for (child, place) in children.iter().zip(places) {
            child.write_parts(place, cells);
        }
        cells.end(place);
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn wrong(&self, what: &str) -> String {
        let line = self.text.get(..self.at).map_or(0, |before| before.matches('\n').count()) + 1;
        format!("not JSON: {what} at byte {}, line {line}", self.at)
    }

    /// The next byte after white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Skips a byte, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth >= MAX_DEPTH {
            return Err(format!("values are nested deeper than {MAX_DEPTH}"));
        }
        match self.peek() {
            Some(b'[') => self.list(depth),
            Some(b'{') => self.map(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in
                    [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
                {
                    if self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.wrong("no value"))
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.take(b']') {
            if !items.is_empty() && !self.take(b',') {
                return Err(self.wrong("no , or ]"));
            }
            items.push(self.value(depth + 1)?);
        }
        Ok(Json::List(items))
    }

    fn map(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut pairs: Vec<(String, Json)> = Vec::new();
        let mut known = std::collections::HashSet::new();
        while !self.take(b'}') {
            if !pairs.is_empty() && !self.take(b',') {
                return Err(self.wrong("no , or }"));
            }
            if self.peek() != Some(b'"') {
                return Err(self.wrong("no key"));
            }
            let key = self.string()?;
            if !known.insert(key.clone()) {
                return Err(self.wrong("a key for the second time"));
            }
            if !self.take(b':') {
                return Err(self.wrong("no :"));
            }
            pairs.push((key, self.value(depth + 1)?));
        }
        Ok(Json::Map(pairs))
    }

    fn number(&mut self) -> Result<Json, String> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let text = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let whole = text.strip_prefix('-').unwrap_or(text);
        let digits = whole.bytes().take_while(u8::is_ascii_digit).count();
        let mut tail = &whole[digits..];
        let mut is_number = digits > 0 && (digits == 1 || !whole.starts_with('0'));
        let mut skip = |after: &str| {
            let n = after.bytes().take_while(u8::is_ascii_digit).count();
            is_number &= n > 0;
            after.len() - n
        };
        if let Some(after) = tail.strip_prefix('.') {
            tail = &tail[tail.len() - skip(after)..];
        }
        if let Some(after) = tail.strip_prefix(['e', 'E']) {
            tail = &tail[tail.len() - skip(after.strip_prefix(['-', '+']).unwrap_or(after))..];
        }
        if !is_number || !tail.is_empty() {
            return Err(self.wrong("no number"));
        }
        let value = if digits == whole.len() {
            let too_large = |_| self.wrong("an integer beyond 64 bits");
            Json::Int(text.parse().map_err(too_large)?)
        } else {
            let value: f64 = text.parse().map_err(|_| self.wrong("no number"))?;
            if value.is_infinite() {
                return Err(self.wrong("a number beyond the range of floats"));
            }
            Json::Float(value)
        };
        self.at += text.len();
        Ok(value)
    }

    /// A string in quotes.
    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(c) = rest.chars().next() else { return Err(self.wrong("no end of a string")) };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => out.push(self.escaped()?),
                c if c < ' ' => return Err(self.wrong("a control character in a string")),
                c => out.push(c),
            }
        }
    }

    /// The character after a backslash.
    fn escaped(&mut self) -> Result<char, String> {
        let Some(&byte) = self.text.as_bytes().get(self.at) else {
            return Err(self.wrong("no end of a string"));
        };
        self.at += usize::from(byte.is_ascii());
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut units = vec![self.unit()?];
                if (0xD800..0xDC00).contains(&units[0])
                    && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u"))
                {
                    self.at += 2;
                    units.push(self.unit()?);
                }
                let text = String::from_utf16(&units).ok();
                text.and_then(|text| text.chars().next()).ok_or_else(|| self.wrong("half of a character"))?
            }
            _ => return Err(self.wrong("an unknown escape")),
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u16, String> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.wrong("no four hexadecimal digits"))?;
        self.at += 4;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as another parser finds.
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
            assert_eq!(Json::parse(text), Ok(wanted), "{text}");
        }
        let keys = Json::parse(r#"{"b": 1, "a": 2}"#);
        assert_eq!(keys, Ok(Json::Map(vec![("b".into(), Json::Int(1)), ("a".into(), Json::Int(2))])));
        assert_eq!(Json::parse("-0"), Ok(Json::Int(0)));
        // Rounded to the nearest float.
        assert_eq!(Json::parse("123456789.123456789e-7"), Ok(Json::Float(12.345_678_912_345_68)));
        assert_eq!(Json::parse("0.1"), Ok(Json::Float(0.1)));
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
            assert!(Json::parse(text).is_err(), "{text}: {:?}", Json::parse(text));
        }
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(Json::parse(&deep(MAX_DEPTH)).is_ok() && Json::parse(&deep(MAX_DEPTH + 1)).is_err());
        assert!(Json::parse(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn integers_of_r_have_32_bits() {
        let of = |text: &str| Json::parse(text).unwrap().of_r();
        assert_eq!(of("[2147483647, -2147483647]"), Json::parse("[2147483647, -2147483647]"));
        assert_eq!(of("[2147483648, -2147483648]"), Json::parse("[2147483648.0, -2147483648.0]"));
        assert_eq!(of("{\"a\": 9007199254740992}"), Json::parse("{\"a\": 9007199254740992.0}"));
        for text in ["9007199254740993", "\"\\u0000\"", "{\"\\u0000\": 1}", "[{\"a\": -9007199254740993}]"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
