//! Names of folders for keys.

use std::fmt::Write as _;

use entasis::{Error, Result};

use crate::names::{MISSING, is_device};

/// The longest name of a folder that file systems take, in bytes.
const LONGEST: usize = 255;

/// The name of the folder for a key and its value; `None` is missing.
///
/// Letters, digits, `-`, `_` and `.` of ASCII stay, and other bytes are percent-encoded. The first
/// byte of a value is encoded too where the value would mean something else: the name of a missing
/// value or of a device, or a name that begins with `_` or `.`.
///
/// # Errors
/// *Argument* if the name has more than 255 bytes, or the key is empty.
pub fn encode(key: &str, value: Option<&str>) -> Result<String> {
    if key.is_empty() {
        return Err(Error::argument("a key has no name: name the column"));
    }
    let mut name = String::with_capacity(key.len() + value.map_or(MISSING.len(), str::len) + 1);
    let starts_hidden = |text: &str| text.starts_with(['_', '.']);
    escape(&mut name, key, starts_hidden(key));
    name.push('=');
    match value {
        None => name.push_str(MISSING),
        Some(text) => escape(&mut name, text, text == MISSING || starts_hidden(text) || is_device(text)),
    }
    if name.len() > LONGEST {
        return Err(Error::argument(format!(
            "the folder for key '{}' has a name of {} bytes, and file systems take {LONGEST}: leave the key in the \
             files, or use a shorter one",
            shown(key),
            name.len()
        )));
    }
    Ok(name)
}

fn escape(to: &mut String, text: &str, has_first: bool) {
    for (i, byte) in text.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if is_plain && !(i == 0 && has_first) {
            to.push(char::from(byte));
        } else {
            let _ = write!(to, "%{byte:02X}");
        }
    }
}

/// The text of a part of a path. A `%` without two hexadecimal digits stands for itself, as in
/// folders of writers that do not encode.
///
/// `None` if the bytes are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |i: usize| bytes.get(i).and_then(|&b| char::from(b).to_digit(16));
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).expect("two digits are a byte"));
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// The first bytes of a text of a user, for messages.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(100).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_those_that_others_write() {
        assert_eq!(encode("k", None).unwrap(), "k=__HIVE_DEFAULT_PARTITION__");
        assert_eq!(encode("k", Some("")).unwrap(), "k=");
        assert_eq!(encode("k", Some("a/b")).unwrap(), "k=a%2Fb");
        assert_eq!(encode("k", Some("a=b")).unwrap(), "k=a%3Db");
        assert_eq!(encode("k", Some("\u{e9}")).unwrap(), "k=%C3%A9");
        assert_eq!(encode("k", Some("01")).unwrap(), "k=01");
        assert_eq!(
            encode("k", Some("__HIVE_DEFAULT_PARTITION__")).unwrap(),
            "k=%5F_HIVE_DEFAULT_PARTITION__"
        );
        assert_eq!(encode("k", Some("nul")).unwrap(), "k=%6Eul");
        assert_eq!(encode("k", Some(".")).unwrap(), "k=%2E");
        assert_eq!(encode("_k", Some("x")).unwrap(), "%5Fk=x");
    }

    #[test]
    fn names_that_are_too_long_are_refused() {
        assert!(encode("k", Some(&"x".repeat(253))).is_ok());
        assert!(encode("k", Some(&"x".repeat(254))).is_err());
        assert!(encode("k", Some(&"\u{e9}".repeat(60))).is_err());
        assert!(encode("", Some("x")).is_err());
    }

    proptest! {
        #[test]
        fn texts_come_back(text in ".{0,40}") {
            let name = encode("k", Some(&text));
            if let Ok(name) = name {
                let (key, value) = name.split_once('=').unwrap();
                prop_assert_eq!(key, "k");
                prop_assert_ne!(value, MISSING);
                prop_assert_eq!(decode(value).unwrap(), text);
            }
        }
    }
}
