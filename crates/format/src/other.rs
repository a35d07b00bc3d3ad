//! Recognises files of other formats by their first bytes, so that an error can name their format.

use std::path::Path;

/// The name of another format, with its article, by the first bytes of a file (256 are enough).
///
/// `None` if the bytes are not recognised.
pub fn other_format(head: &[u8]) -> Option<&'static str> {
    let starts = MAGICS.iter().find(|(magic, _)| head.starts_with(magic));
    if let Some((_, what)) = starts {
        return Some(what);
    }
    if is_fst(head) {
        return Some("an fst file");
    }
    if is_pickle(head) {
        return Some("a pickle of Python");
    }
    if is_rds(head) {
        return Some("an uncompressed RDS file of R");
    }
    if is_table_of_text(head) {
        return Some("a table of text, such as CSV");
    }
    is_text(head).then_some("text")
}

/// The first bytes of formats that begin with a constant. A longer constant comes before its
/// prefix.
const MAGICS: &[(&[u8], &str)] = &[
    (b"\x89ENB\r\n\x1a\n", "a buffer that an Entasis function compressed"),
    (b"PAR1", "a Parquet file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"ARROW1\0\0", "an Arrow IPC (Feather) file"),
    (b"FEA1", "a Feather file of version 1"),
    (b"\xFF\xFF\xFF\xFF", "an Arrow IPC stream"),
    (b"VTXF", "a Vortex file"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"RDX2\n", "an RData file of R"),
    (b"RDX3\n", "an RData file of R"),
    (b"RDA2\n", "an RData file of R"),
    (b"RDA3\n", "an RData file of R"),
    (b"\x0B\x0E\x0A\x0C", "a qs file"),
    (b"\x0B\x0E\x0A\xC1", "a qs2 file"),
    (b"\x0B\x0E\x0A\xCD", "a qs2 (qdata) file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x93NUMPY", "an NPY file of NumPy"),
    (b"PK\x03\x04", "a zip archive, as NPZ and xlsx files are"),
    (b"\x1F\x8B", "a gzip file, as RDS and RData files of R are"),
    (b"BZh", "a bzip2 file, as RDS and RData files of R may be"),
    (b"\xFD7zXZ\0", "an xz file, as RDS and RData files of R may be"),
    (b"\x28\xB5\x2F\xFD", "a Zstandard file"),
    (b"\x04\x22\x4D\x18", "an LZ4 file"),
    (b"%PDF-", "a PDF file"),
];

/// A hash of the header, the version 1 twice, eight zero bytes, and a constant at 44.
fn is_fst(head: &[u8]) -> bool {
    head.get(8..24) == Some(b"\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0") && head.get(44..48) == Some(b"PAAP")
}

/// `PROTO` and a version of 2 to 5; from 4 on a frame follows.
fn is_pickle(head: &[u8]) -> bool {
    matches!(head, [0x80, 2 | 3, ..] | [0x80, 4 | 5, 0x95, ..])
}

/// The letter of the encoding, a newline, then version 2 or 3: as a big-endian integer (X),
/// little-endian (B) or digits (A).
fn is_rds(head: &[u8]) -> bool {
    matches!(
        head,
        [b'X', b'\n', 0, 0, 0, 2 | 3, ..]
            | [b'B', b'\n', 2 | 3, 0, 0, 0, ..]
            | [b'A', b'\n', b'2' | b'3', b'\n', ..]
    )
}

/// Whether all bytes are UTF-8 without control characters, except a character that is cut at the
/// end.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && text.chars().all(|c| !c.is_control() || matches!(c, '\t' | '\r' | '\n'))
}

/// Whether the first lines have equally many separators of one kind, and at least one.
fn is_table_of_text(head: &[u8]) -> bool {
    if !is_text(head) {
        return false;
    }
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n').collect();
    // The last line may be cut.
    if lines.len() > 1 {
        lines.pop();
    }
    [b',', b'\t', b';', b'|'].into_iter().any(|separator| {
        let count = |line: &[u8]| line.iter().filter(|&&b| b == separator).count();
        let first = lines.first().map_or(0, |line| count(line));
        first > 0 && lines.iter().all(|line| count(line) == first)
    })
}

/// Whether a path names a text by its end, such as `.csv` or `.tsv.gz`, in any case.
pub fn has_name_of_text(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let compressed = [".gz", ".bgz", ".bz2", ".xz", ".zst", ".zstd"];
    let name = compressed.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    [".csv", ".tsv", ".tab", ".psv", ".txt"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_their_first_bytes() {
        let fst = [&[9; 8], &b"\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0"[..], &[1; 20], b"PAAP\x01"].concat();
        let cases: &[(&[u8], &str)] = &[
            (b"PAR1\x15\x04", "a Parquet file"),
            (b"ARROW1\0\0\xFF", "an Arrow IPC (Feather) file"),
            (&fst, "an fst file"),
            (b"\x1F\x8B\x08\0", "a gzip file, as RDS and RData files of R are"),
            (b"X\n\0\0\0\x03\0\x04", "an uncompressed RDS file of R"),
            (b"A\n3\n262", "an uncompressed RDS file of R"),
            (b"\x80\x04\x95\x10", "a pickle of Python"),
            (b"\x80\x02}q", "a pickle of Python"),
            (b"PK\x03\x04\x14", "a zip archive, as NPZ and xlsx files are"),
            (b"a,b\n1,2\n3", "a table of text, such as CSV"),
            (b"a\tb\n", "a table of text, such as CSV"),
            ("caf\u{e9};b".as_bytes(), "a table of text, such as CSV"),
            (b"a,b\nc\n", "text"),
            (b"hello\n", "text"),
            (&"\u{e9}".as_bytes()[..1], ""),
        ];
        for (head, what) in cases {
            assert_eq!(other_format(head).unwrap_or_default(), *what, "{head:?}");
        }
    }

    #[test]
    fn other_bytes_tell_nothing() {
        for head in [&[][..], &[0; 256], b"\x89ENT\r\n\x1a\n", b"\x80\x04\x96", b"a\x01b,c", b"\xC3\x28,,"] {
            assert_eq!(other_format(head), None, "{head:?}");
        }
    }
}
