//! The encoding of strings that are not marked.

use std::borrow::Cow;

use encoding_rs::Encoding;

use super::flags::level;
use crate::r::{Mark, Strings};

/// The encoding of the session that wrote the stream.
#[derive(Clone, Debug)]
pub(super) enum Native {
    /// Not recorded, or that of this session: UTF-8 or ASCII. Strings stay without a mark.
    Unknown,
    /// ISO-8859-1: each byte is a character.
    Latin1,
    /// Another one.
    Other(&'static Encoding),
    /// One that can't be converted.
    Foreign(String),
}

impl Native {
    /// The encoding of a name as R's `l10n_info` and `nl_langinfo` give it.
    pub(super) fn of_name(name: &str) -> Self {
        let upper = name.to_ascii_uppercase();
        let label = match upper.as_str() {
            "" | "UTF-8" | "UTF8" | "CP65001" | "ASCII" | "US-ASCII" | "ANSI_X3.4-1968" | "646" | "C"
            | "POSIX" => {
                return Self::Unknown;
            }
            "LATIN1" | "ISO-8859-1" | "ISO8859-1" | "ISO_8859-1" | "CP28591" => return Self::Latin1,
            "CP932" => "windows-31j",
            "CP936" => "gbk",
            "CP949" => "windows-949",
            "CP950" => "big5",
            "CP874" => "windows-874",
            "CP20866" => "koi8-r",
            "CP51932" => "euc-jp",
            "CP54936" => "gb18030",
            "LATIN-9" | "LATIN9" | "CP28605" => "iso-8859-15",
            other => other,
        };
        match Encoding::for_label(label.as_bytes()) {
            Some(encoding) => Self::Other(encoding),
            None => Self::Foreign(name.to_owned()),
        }
    }
}

/// The mark that levels record.
fn mark_of(levels: u32) -> Option<Mark> {
    if levels & level::UTF8 != 0 {
        Some(Mark::Utf8)
    } else if levels & level::LATIN1 != 0 {
        Some(Mark::Latin1)
    } else if levels & level::BYTES != 0 {
        Some(Mark::Bytes)
    } else {
        None
    }
}

/// The bytes of a string and its mark. `None` if its encoding can't be converted.
fn decoded<'b>(native: &Native, bytes: &'b [u8], levels: u32) -> Option<(Cow<'b, [u8]>, Mark)> {
    match mark_of(levels) {
        Some(mark) => Some((bytes.into(), mark)),
        None => of_native(native, bytes),
    }
}

fn of_native<'b>(native: &Native, bytes: &'b [u8]) -> Option<(Cow<'b, [u8]>, Mark)> {
    if matches!(native, Native::Unknown) || bytes.is_ascii() {
        return Some((bytes.into(), Mark::Native));
    }
    match native {
        Native::Latin1 => Some((latin1(bytes).into_bytes().into(), Mark::Utf8)),
        Native::Other(encoding) => {
            // R keeps the bytes of a string that is not valid.
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
            Some(text.map_or((bytes.into(), Mark::Native), |text| {
                (text.into_owned().into_bytes().into(), Mark::Utf8)
            }))
        }
        _ => None,
    }
}

/// The characters whose numbers are the bytes.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Appends a string; false if its encoding can't be converted.
#[inline]
pub(super) fn push(native: &Native, into: &mut Strings, bytes: &[u8], levels: u32) -> bool {
    match (mark_of(levels), native) {
        (Some(mark), _) => into.push(bytes, mark),
        (None, Native::Unknown) => into.push(bytes, Mark::Native),
        (None, _) => match of_native(native, bytes) {
            Some((bytes, mark)) => into.push(&bytes, mark),
            None => return false,
        },
    }
    true
}

/// A name as text; `None` if it has no UTF-8 form.
pub(super) fn name(native: &Native, bytes: Vec<u8>, levels: u32) -> Option<String> {
    if bytes.is_ascii() {
        return String::from_utf8(bytes).ok();
    }
    match decoded(native, &bytes, levels)? {
        (bytes, Mark::Latin1) => Some(latin1(&bytes)),
        (_, Mark::Bytes) => None,
        (bytes, _) => String::from_utf8(bytes.into_owned()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_strings_become_utf8() {
        let text = |name: &str, bytes: &[u8]| {
            let (bytes, mark) = decoded(&Native::of_name(name), bytes, 0).unwrap();
            (String::from_utf8_lossy(&bytes).into_owned(), mark)
        };
        assert_eq!(text("UTF-8", "é".as_bytes()), ("é".into(), Mark::Native));
        assert_eq!(text("latin1", b"\xe9"), ("é".into(), Mark::Utf8));
        assert_eq!(text("ISO-8859-1", b"\x80"), ("\u{80}".into(), Mark::Utf8));
        assert_eq!(text("CP1252", b"\x80"), ("€".into(), Mark::Utf8));
        assert_eq!(text("CP932", b"\x82\xa0"), ("あ".into(), Mark::Utf8));
        assert_eq!(text("CP1252", b"plain"), ("plain".into(), Mark::Native));
        assert!(decoded(&Native::of_name("MARS-1"), b"\xff", 0).is_none());
    }
}
