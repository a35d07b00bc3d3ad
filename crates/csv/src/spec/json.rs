//! The part of JSON (RFC 8259) that a spec needs: one object whose values are texts, whole numbers,
//! flags, null, lists of texts, and objects of such lists. Nothing nests deeper, so no depth can
//! exhaust the stack.

use std::collections::HashSet;

use entasis::{Error, Result, json_string};

/// A value of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(usize),
    Text(String),
    List(Vec<String>),
    Lists(Vec<(String, Vec<String>)>),
}

/// The pairs of the object in `text`, in their order.
///
/// # Errors
/// Text that is something else, with line and column, and keys that occur twice.
pub(super) fn object(text: &str) -> Result<Vec<(String, Value)>> {
    let mut parser = Parser { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0 };
    let mut pairs: Vec<(String, Value)> = Vec::new();
    parser.expect('{')?;
    if !parser.take('}') {
        loop {
            let key = parser.text()?;
            // A spec has few keys. After 100 different ones an unknown key is an error anyway, and
            // comparing all of them would take quadratic time.
            if pairs.len() < 100 && pairs.iter().any(|(other, _)| *other == key) {
                return Err(Error::argument(format!("the spec has the key {} twice", shown(&key))));
            }
            parser.expect(':')?;
            let value = parser.value()?;
            pairs.push((key, value));
            if !parser.take(',') {
                break;
            }
        }
        parser.expect('}')?;
    }
    parser.skip_blanks();
    match parser.peek() {
        None => Ok(pairs),
        Some(_) => Err(parser.error("the end")),
    }
}

/// A text for messages: short, and without control characters.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(50).collect();
    let dots = if start.len() < text.len() { " ..." } else { "" };
    json_string(&start) + dots
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Takes `c` after blanks, if it is there.
    fn take(&mut self, c: char) -> bool {
        self.skip_blanks();
        let is_there = self.peek() == Some(c);
        self.at += if is_there { c.len_utf8() } else { 0 };
        is_there
    }

    fn expect(&mut self, c: char) -> Result<()> {
        if self.take(c) { Ok(()) } else { Err(self.error(&format!("'{c}'"))) }
    }

    /// An error at the place of the next character.
    fn error(&self, expected: &str) -> Error {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(c) => json_string(&c.to_string()),
        };
        Error::argument(format!(
            "the spec is not the JSON that is expected: {expected} should be at line {line}, column {column}, \
             where {found} is"
        ))
    }

    fn value(&mut self) -> Result<Value> {
        self.skip_blanks();
        for (word, value) in
            [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        match self.peek() {
            Some('"') => Ok(Value::Text(self.text()?)),
            Some('[') => self.list().map(Value::List),
            Some('{') => self.lists(),
            Some('0'..='9') => self.number(),
            _ => Err(self.error("a text, a list or an object of texts, a whole number, true, false or null")),
        }
    }

    fn lists(&mut self) -> Result<Value> {
        self.expect('{')?;
        let (mut pairs, mut keys) = (Vec::new(), HashSet::new());
        if !self.take('}') {
            loop {
                let key = self.text()?;
                if !keys.insert(key.clone()) {
                    return Err(Error::argument(format!("the spec has the key {} twice", shown(&key))));
                }
                self.expect(':')?;
                pairs.push((key, self.list()?));
                if !self.take(',') {
                    break;
                }
            }
            self.expect('}')?;
        }
        Ok(Value::Lists(pairs))
    }

    fn list(&mut self) -> Result<Vec<String>> {
        self.expect('[')?;
        let mut texts = Vec::new();
        if !self.take(']') {
            loop {
                texts.push(self.text()?);
                if !self.take(',') {
                    break;
                }
            }
            self.expect(']')?;
        }
        Ok(texts)
    }

    fn number(&mut self) -> Result<Value> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        let follows = rest[len..].chars().next();
        match rest[..len].parse() {
            Ok(number) if !matches!(follows, Some('.' | 'e' | 'E')) => {
                self.at += len;
                Ok(Value::Number(number))
            }
            _ => Err(self.error("a smaller whole number")),
        }
    }

    fn text(&mut self) -> Result<String> {
        if !self.take('"') {
            return Err(self.error("a text"));
        }
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error("the closing quote of a text"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => text.push(self.escape()?),
                '\0'..='\u{1f}' => return Err(self.error("an escape for this control character")),
                c => {
                    self.at += c.len_utf8();
                    text.push(c);
                }
            }
        }
    }

    /// The character of an escape. Two escapes of surrogates are one character.
    fn escape(&mut self) -> Result<char> {
        let rest = &self.text[self.at..];
        let c = match rest.as_bytes().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.error("an escape of JSON")),
        };
        self.at += 2;
        Ok(c)
    }

    fn unicode(&mut self) -> Result<char> {
        let unit = |at: usize| {
            let digits = self.text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
        };
        let units = [unit(self.at), unit(self.at + 6)];
        let decoded = char::decode_utf16(units.into_iter().map_while(|unit| unit)).next();
        match decoded {
            Some(Ok(c)) => {
                self.at += 6 * c.len_utf16();
                Ok(c)
            }
            _ => Err(self.error("an escape for one character")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let pairs = object("\u{feff} {\"a\": [ ] , \"b\":[\"x\",\"\\u00e6\\ud83d\\ude00\\n\"],\"c\":12}\r\n")
            .unwrap();
        assert_eq!(pairs[0], ("a".to_owned(), Value::List(Vec::new())));
        assert_eq!(pairs[1].1, Value::List(vec!["x".to_owned(), "æ😀\n".to_owned()]));
        assert_eq!(pairs[2].1, Value::Number(12));
        let pairs = object("{\"a\": {}, \"b\": {\"c\" : [\"d\"], \"e\":[] }}").unwrap();
        assert_eq!(pairs[0].1, Value::Lists(Vec::new()));
        let lists = vec![("c".to_owned(), vec!["d".to_owned()]), ("e".to_owned(), Vec::new())];
        assert_eq!(pairs[1].1, Value::Lists(lists));
    }

    #[test]
    fn other_texts_are_errors_with_their_place() {
        for (text, place) in [
            ("", "line 1, column 1"),
            ("[]", "line 1, column 1"),
            ("{\"a\": {1}}", "line 1, column 8"),
            ("{\"a\": {\"b\": {}}}", "line 1, column 13"),
            ("{\"a\": {\"b\": []", "line 1, column 15"),
            ("{\n\"a\" 1}", "line 2, column 5"),
            ("{\"a\": 1.5}", "line 1, column 7"),
            ("{\"a\": 99999999999999999999999}", "line 1, column 7"),
            ("{\"a\": \"\\ud800\"}", "line 1, column 8"),
            ("{\"a\": \"\\x\"}", "line 1, column 8"),
            ("{\"a\": \"b", "line 1, column 9"),
            ("{\"a\": [\"b\"", "line 1, column 11"),
            ("{\"a\": [[\"b\"]]}", "line 1, column 8"),
            ("{} x", "line 1, column 4"),
        ] {
            let message = object(text).unwrap_err().to_string();
            assert!(message.contains(place), "{text}: {message}");
        }
        assert!(object("{\"a\": 1, \"a\": 2}").unwrap_err().to_string().contains("twice"));
        let deep = "{\"a\":".to_owned() + &"[".repeat(1 << 20);
        assert!(object(&deep).is_err());
        let deep = "{\"a\":".repeat(1 << 20);
        assert!(object(&deep).is_err());
    }
}
