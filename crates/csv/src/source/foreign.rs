//! Files of other formats, which are refused by their names.

use entasis::{Error, Result, other_format};

/// The first bytes that are looked at.
pub(super) const HEAD_LEN: usize = 512;

/// Refuses a source that begins with these bytes if they are those of another format.
pub(super) fn refuse(head: &[u8]) -> Result<()> {
    let head = &head[..head.len().min(HEAD_LEN)];
    let Some(what) = name(head) else { return Ok(()) };
    let advice = match what {
        "an Entasis file" => "read it with the function for Entasis files",
        what if what.contains("zip archive") => "unpack it; save a sheet of a workbook as CSV",
        what if what.contains("archive") => "unpack it and name the text file in it",
        what if what.contains("workbook") => "save the sheet as CSV",
        what if what.contains("compressed") => "decompress it and name the result",
        _ => "name a text file, or read it with a reader of that format",
    };
    Err(Error::argument(format!("the source is {what} and not a text")).advise(advice))
}

/// The name of the format with its article. Texts may begin with the letters of a magic number, so
/// a format of letters needs a control character after them.
fn name(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"%PDF-") {
        return Some("a PDF file");
    }
    let is_control = |&byte: &u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C);
    if !head.iter().any(is_control) {
        return None;
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive");
    }
    let found = FORMATS.iter().find(|(magic, _)| head.starts_with(magic));
    if let Some(&(_, what)) = found {
        return Some(what);
    }
    let what = other_format(head)?;
    let is_compressed = ["a gzip file", "a bzip2 file", "an xz file", "a Zstandard file"]
        .iter()
        .any(|name| what.starts_with(name));
    Some(if is_compressed { "compressed twice" } else { what })
}

/// Formats that people give to readers of text, apart from those of [`other_format`].
const FORMATS: &[(&[u8], &str)] = &[
    (b"\x89ENT\r\n\x1A\n", "an Entasis file"),
    (b"\x7FELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"\x89PNG\r\n\x1A\n", "an image"),
    (b"\xFF\xD8\xFF", "an image"),
    (b"GIF8", "an image"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Excel workbook (xls) or another Office document"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"Rar!\x1A\x07", "a RAR archive"),
    (b"\x1F\x9D", "a file compressed by compress (.Z)"),
    (b"\x5D\0\0", "a file compressed by lzma"),
    (b"LZIP\x01", "a file compressed by lzip"),
    (b"\x04\x22\x4D\x18", "a file compressed by lz4"),
    (b"\xFF\x06\0\0sNaPpY", "a file compressed by snappy"),
    (b"$FL2@(#)", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"\0\0\0\0\0\0\0\0\0\0\0\0\xC2\xEA\x81\x60", "a SAS file"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_named() {
        let mut tar = vec![b'a'; 512];
        tar[100] = 0;
        tar[257..262].copy_from_slice(b"ustar");
        for (head, what) in [
            (&b"PAR1\x15\x04"[..], "a Parquet file"),
            (b"ARROW1\0\0\xFF", "an Arrow IPC"),
            (b"\x7FELF\x02\x01", "a program"),
            (b"\x89PNG\r\n\x1A\n\0\0", "an image"),
            (b"%PDF-1.4\n", "a PDF file"),
            (b"PK\x03\x04\x14\0", "zip archive"),
            (b"\x89ENT\r\n\x1A\n\x01", "an Entasis file"),
            (b"\x1F\x8B\x08\0", "compressed twice"),
            (&tar, "a tar archive"),
        ] {
            let error = refuse(head).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn texts_may_begin_like_them() {
        for head in
            [&b""[..], b"PAR1,PAR2\n1,2\n", b"ORC;Gr\xF6\xDFe\n", b"BZh,GIF8\n", b"LZIP\n\x1B", b"a,\0\n"]
        {
            assert_eq!(name(head), None, "{head:?}");
        }
    }
}
