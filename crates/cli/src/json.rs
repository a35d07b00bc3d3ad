//! Writes JSON objects on one line.

use std::fmt::Write;

/// Appends text in quotes.
pub(crate) fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// An object that is being written.
pub(crate) struct Object(String);

impl Object {
    /// An object without members.
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    fn key(&mut self, key: &str) -> &mut String {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        string(&mut self.0, key);
        self.0.push(':');
        &mut self.0
    }

    /// A member that is text.
    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        string(self.key(key), value);
        self
    }

    /// A member that is a list of texts.
    pub(crate) fn texts(self, key: &str, values: &[String]) -> Self {
        let quoted = values.iter().map(|value| {
            let mut text = String::new();
            string(&mut text, value);
            text
        });
        self.raw(key, array(quoted))
    }

    /// A member that is text, or null.
    pub(crate) fn maybe_text(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.raw(key, "null"),
        }
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(mut self, key: &str, value: impl std::fmt::Display) -> Self {
        let _ = write!(self.key(key), "{value}");
        self
    }

    /// The object.
    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Objects in an array.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}
