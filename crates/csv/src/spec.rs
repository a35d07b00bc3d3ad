//! The description of a text file with which it is read the same way again.

mod json;

use entasis::{Error, Result, json_string};

use crate::dialect::Dialect;
use json::Value;

/// Dialect, encoding, names, types and words of a text file.
///
/// ```
/// use entasis_csv::Spec;
///
/// let spec = Spec::from_json(r#"{"separator": ";", "decimal": ",", "names": ["a", "b"]}"#)?;
/// assert_eq!(spec.dialect.separator, b';');
/// assert_eq!(Spec::from_json(&spec.to_json())?, spec);
/// # Ok::<(), entasis::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Separator, quote, escape and comment.
    pub dialect: Dialect,
    /// The name of the encoding, such as `utf-8`.
    pub encoding: String,
    /// Lines before the header, or before the first row if there is none.
    pub skip: usize,
    /// Whether a line holds the names.
    pub header: bool,
    /// Whether all fields have quotes, so that quotes say nothing about types.
    pub all_quoted: bool,
    /// The names of the columns. Empty: those of the header.
    pub names: Vec<String>,
    /// The name of the type of each column. Empty: to be found.
    pub types: Vec<String>,
    /// The words for missing values.
    pub missing: Vec<String>,
    /// Whether these words are missing values among strings too.
    pub missing_in_text: bool,
    /// The decimal mark, `b'.'` or `b','`.
    pub decimal: u8,
    /// The byte between groups of three digits.
    pub thousands: Option<u8>,
    /// Formats of dates and times other than ISO 8601, for all columns.
    pub dates: Vec<String>,
    /// Formats of single columns, by their names.
    pub column_dates: Vec<(String, Vec<String>)>,
}

impl Default for Spec {
    /// The usual dialect in UTF-8 with a header. `NA`, `N/A`, `NULL` and `null` are missing.
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            encoding: "utf-8".to_owned(),
            skip: 0,
            header: true,
            all_quoted: false,
            names: Vec::new(),
            types: Vec::new(),
            missing: ["NA", "N/A", "NULL", "null"].map(str::to_owned).to_vec(),
            missing_in_text: false,
            decimal: b'.',
            thousands: None,
            dates: Vec::new(),
            column_dates: Vec::new(),
        }
    }
}

impl Spec {
    /// The spec as JSON: one key per line, all keys.
    pub fn to_json(&self) -> String {
        let byte = |byte: Option<u8>| {
            byte.map_or_else(|| "null".to_owned(), |byte| json_string(&char::from(byte).to_string()))
        };
        let list = |texts: &[String]| {
            let texts: Vec<String> = texts.iter().map(|text| json_string(text)).collect();
            format!("[{}]", texts.join(", "))
        };
        let lists = |pairs: &[(String, Vec<String>)]| {
            let pairs: Vec<String> =
                pairs.iter().map(|(key, texts)| format!("{}: {}", json_string(key), list(texts))).collect();
            format!("{{{}}}", pairs.join(", "))
        };
        let pairs = [
            ("separator", json_string(&self.dialect.separator_text())),
            ("quote", byte(self.dialect.quote)),
            ("escape", byte(self.dialect.escape)),
            ("comment", byte(self.dialect.comment)),
            ("encoding", json_string(&self.encoding)),
            ("skip", self.skip.to_string()),
            ("header", self.header.to_string()),
            ("all_quoted", self.all_quoted.to_string()),
            ("names", list(&self.names)),
            ("types", list(&self.types)),
            ("missing", list(&self.missing)),
            ("missing_in_text", self.missing_in_text.to_string()),
            ("decimal", byte(Some(self.decimal))),
            ("thousands", byte(self.thousands)),
            ("dates", list(&self.dates)),
            ("column_dates", lists(&self.column_dates)),
        ];
        let lines: Vec<String> = pairs.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// Parses JSON as [`to_json`](Self::to_json) writes it. Absent keys have their defaults.
    ///
    /// # Errors
    /// [`Kind::Argument`](entasis::Kind::Argument) for other text, unknown keys, values of another
    /// type, and whatever [`check`](Self::check) refuses.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut spec = Self::default();
        for (key, value) in json::object(text)? {
            match key.as_str() {
                "separator" => {
                    let found = match &value {
                        Value::Text(text) => Dialect::parse_separator(text),
                        _ => None,
                    };
                    let expected = "one character of ASCII, one and a blank, or \"blanks\"";
                    let found = found.ok_or_else(|| wrong(&key, expected))?;
                    (spec.dialect.separator, spec.dialect.blanks) = found;
                }
                "quote" => spec.dialect.quote = byte(&key, value)?,
                "escape" => spec.dialect.escape = byte(&key, value)?,
                "comment" => spec.dialect.comment = byte(&key, value)?,
                "decimal" => spec.decimal = required(byte(&key, value)?, &key)?,
                "thousands" => spec.thousands = byte(&key, value)?,
                "encoding" => match value {
                    Value::Text(name) => spec.encoding = name,
                    _ => return Err(wrong(&key, "a text")),
                },
                "skip" => match value {
                    Value::Number(lines) => spec.skip = lines,
                    _ => return Err(wrong(&key, "a number of lines")),
                },
                "header" => spec.header = flag(&key, &value)?,
                "all_quoted" => spec.all_quoted = flag(&key, &value)?,
                "names" => spec.names = list(&key, value)?,
                "types" => spec.types = list(&key, value)?,
                "missing" => spec.missing = list(&key, value)?,
                "missing_in_text" => spec.missing_in_text = flag(&key, &value)?,
                "dates" => spec.dates = list(&key, value)?,
                "column_dates" => match value {
                    Value::Lists(pairs) => spec.column_dates = pairs,
                    _ => return Err(wrong(&key, "an object of lists of texts")),
                },
                _ => {
                    return Err(Error::argument(format!(
                        "the spec has an unknown key {}",
                        json::shown(&key)
                    )));
                }
            }
        }
        if spec.dialect.escape == spec.dialect.quote {
            // Other tools name a quote its own escape where quotes are doubled.
            spec.dialect.escape = None;
        }
        spec.check()?;
        Ok(spec)
    }

    /// Checks that the parts fit each other.
    ///
    /// # Errors
    /// [`Kind::Argument`](entasis::Kind::Argument) names the part.
    pub fn check(&self) -> Result<()> {
        let Dialect { separator, quote, escape, comment, .. } = self.dialect;
        let bytes =
            [("separator", Some(separator)), ("quote", quote), ("escape", escape), ("comment", comment)];
        for (n, (key, byte)) in bytes.iter().enumerate() {
            let Some(byte) = *byte else { continue };
            if !byte.is_ascii() || matches!(byte, b'\n' | b'\r') {
                return Err(wrong(key, "a character of ASCII other than a line end"));
            }
            if n > 0 && self.dialect.is_gap(byte) {
                return Err(Error::argument(format!("{key} of the spec is a blank, which separates fields")));
            }
            if let Some((other, _)) = bytes[..n].iter().find(|(_, other)| *other == Some(byte)) {
                return Err(Error::argument(format!("{other} and {key} of the spec are the same character")));
            }
        }
        if !matches!(self.decimal, b'.' | b',') {
            return Err(wrong("decimal", "\".\" or \",\""));
        }
        if let Some(mark) = self.thousands
            && (!mark.is_ascii()
                || mark.is_ascii_alphanumeric()
                || mark == self.decimal
                || mark.is_ascii_control())
        {
            return Err(wrong("thousands", "a mark other than the decimal mark"));
        }
        let (n_names, n_types) = (self.names.len(), self.types.len());
        if n_names != n_types && n_names > 0 && n_types > 0 {
            return Err(Error::argument(format!("the spec has {n_names} names and {n_types} types")));
        }
        if self.encoding.is_empty() {
            return Err(wrong("encoding", "the name of an encoding"));
        }
        Ok(())
    }
}

/// An error for the value of a key.
fn wrong(key: &str, expected: &str) -> Error {
    Error::argument(format!("{key} of the spec must be {expected}"))
}

fn required(byte: Option<u8>, key: &str) -> Result<u8> {
    byte.ok_or_else(|| wrong(key, "one character of ASCII"))
}

/// A character of ASCII, or `None` for null.
fn byte(key: &str, value: Value) -> Result<Option<u8>> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) if text.len() == 1 => Ok(Some(text.as_bytes()[0])),
        _ => Err(wrong(key, "one character of ASCII, or null")),
    }
}

fn flag(key: &str, value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        _ => Err(wrong(key, "true or false")),
    }
}

fn list(key: &str, value: Value) -> Result<Vec<String>> {
    match value {
        Value::List(texts) => Ok(texts),
        _ => Err(wrong(key, "a list of texts")),
    }
}

#[cfg(test)]
mod tests {
    use entasis::Kind;
    use proptest::prelude::*;

    use super::*;
    use crate::dialect::Blanks;

    #[track_caller]
    fn check_error(text: &str, message: &str) {
        let error = Spec::from_json(text).unwrap_err();
        assert_eq!(error.kind(), Kind::Argument);
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.to_string().len() < 500);
    }

    #[test]
    fn a_spec_survives_json() {
        let spec = Spec {
            dialect: Dialect {
                separator: b'\t',
                quote: Some(b'\''),
                escape: Some(b'\\'),
                comment: Some(b'#'),
                blanks: Blanks::Skipped,
            },
            encoding: "windows-1252".to_owned(),
            skip: 3,
            header: false,
            all_quoted: true,
            names: vec!["a \"b\"\n\u{1}".to_owned(), "Ærø 😀".to_owned(), String::new()],
            types: ["int64", "double", "text"].map(str::to_owned).to_vec(),
            missing: vec!["-".to_owned()],
            missing_in_text: true,
            decimal: b',',
            thousands: Some(b'.'),
            dates: vec!["%d/%m/%Y".to_owned()],
            column_dates: vec![
                ("a \"b\"\n\u{1}".to_owned(), vec!["%Y%m%d".to_owned(), "%d.%m.%Y".to_owned()]),
                (String::new(), Vec::new()),
            ],
        };
        assert_eq!(Spec::from_json(&spec.to_json()).unwrap(), spec);
        assert_eq!(Spec::from_json("{}").unwrap(), Spec::default());
        assert_eq!(Spec::from_json(&Spec::default().to_json()).unwrap(), Spec::default());
    }

    #[test]
    fn separators_say_what_blanks_mean() {
        for (text, separator, blanks) in [
            (",", b',', Blanks::Kept),
            (" ", b' ', Blanks::Kept),
            ("; ", b';', Blanks::Skipped),
            ("blanks", b' ', Blanks::Separate),
        ] {
            let spec = Spec::from_json(&format!(r#"{{"separator": "{text}"}}"#)).unwrap();
            assert_eq!((spec.dialect.separator, spec.dialect.blanks), (separator, blanks));
            assert_eq!(Spec::from_json(&spec.to_json()).unwrap(), spec);
        }
    }

    #[test]
    fn specs_without_formats_of_columns_are_read() {
        let spec = Spec::from_json(r#"{"names": ["a"], "types": ["date"], "dates": ["%d/%m/%Y"]}"#).unwrap();
        assert_eq!((spec.dates.len(), spec.column_dates.len()), (1, 0));
    }

    #[test]
    fn a_quote_that_escapes_itself_is_a_doubled_quote() {
        let spec = Spec::from_json(r#"{"quote": "\"", "escape": "\""}"#).unwrap();
        assert_eq!(spec.dialect.escape, None);
    }

    #[test]
    fn parts_that_do_not_fit_are_errors() {
        check_error(r#"{"separator": null}"#, "separator of the spec must be");
        check_error(r#"{"separator": "::"}"#, "separator of the spec must be");
        check_error(r#"{"separator": "§"}"#, "separator of the spec must be");
        check_error(r#"{"separator": "  "}"#, "separator of the spec must be");
        check_error(r#"{"separator": "blanks", "comment": "\t"}"#, "comment of the spec is a blank");
        check_error(r#"{"separator": "\n"}"#, "other than a line end");
        check_error(r#"{"separator": "\""}"#, "separator and quote of the spec are the same");
        check_error(r##"{"comment": "#", "escape": "#"}"##, "escape and comment");
        check_error(r#"{"skip": -1}"#, "at line 1");
        check_error(r#"{"skip": "1"}"#, "a number of lines");
        check_error(r#"{"header": 1}"#, "true or false");
        check_error(r#"{"names": ["a", null]}"#, "a text");
        check_error(r#"{"names": ["a"], "types": ["int64", "text"]}"#, "1 names and 2 types");
        check_error(r#"{"decimal": ";"}"#, "decimal of the spec must be");
        check_error(r#"{"thousands": "."}"#, "thousands of the spec must be");
        check_error(r#"{"encoding": ""}"#, "encoding of the spec must be");
        check_error(r#"{"column_dates": ["%d"]}"#, "column_dates of the spec must be an object");
        check_error(r#"{"column_dates": {"a": "%d"}}"#, "at line 1");
        check_error(r#"{"column_dates": {"a": [], "a": []}}"#, "\"a\" twice");
        check_error(r#"{"dates": {"a": []}}"#, "dates of the spec must be a list");
        check_error(r#"{"sep": ","}"#, "unknown key \"sep\"");
    }

    proptest! {
        #[test]
        fn any_text_is_a_spec_or_an_error(text in r#"[\{\}\[\]":,a\\u0-9 \n-]{0,60}"#) {
            let _ = Spec::from_json(&text);
        }

        #[test]
        fn any_names_survive_json(names in prop::collection::vec(any::<String>(), 0..5)) {
            let spec = Spec { names, ..Spec::default() };
            prop_assert_eq!(Spec::from_json(&spec.to_json()).unwrap(), spec);
        }
    }
}
