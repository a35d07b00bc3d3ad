//! The formats of files that `entasis convert` takes and gives.

use std::fs::File;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use entasis::{MAGIC, has_name_of_text, other_format};

use crate::host;

/// A format of files, named as in `entasis.convert` of Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Format {
    /// Entasis
    Entasis,
    /// Text with separated fields
    Csv,
    /// Parquet
    Parquet,
    /// Arrow IPC file
    Arrow,
    /// Arrow IPC stream
    #[value(alias = "arrow-stream")]
    ArrowStream,
    /// Feather of version 2
    Feather,
    /// An array of NumPy
    Npy,
    /// Arrays of NumPy, or a frame of StaticFrame
    Npz,
    /// A JSON object per line
    Jsonl,
    /// A value of R
    Rds,
    /// Named values of R
    Rdata,
    /// A value of R, by the package qs2
    Qs2,
    /// Data of R, by the package qs2
    Qdata,
    /// A data frame of R, by the package fst
    Fst,
}

/// Ends of names. Texts have theirs in [`has_name_of_text`].
const ENDS: [(&str, Format); 17] = [
    ("entasis", Format::Entasis),
    ("parquet", Format::Parquet),
    ("pq", Format::Parquet),
    ("parq", Format::Parquet),
    ("arrow", Format::Arrow),
    ("ipc", Format::Arrow),
    ("arrows", Format::ArrowStream),
    ("feather", Format::Feather),
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("jsonl", Format::Jsonl),
    ("ndjson", Format::Jsonl),
    ("rds", Format::Rds),
    ("rdata", Format::Rdata),
    ("rda", Format::Rdata),
    ("qs2", Format::Qs2),
    ("qdata", Format::Qdata),
];

/// First bytes.
const STARTS: [(&[u8], Format); 7] = [
    (&MAGIC, Format::Entasis),
    (b"PAR1", Format::Parquet),
    (b"ARROW1\0\0", Format::Arrow),
    (b"\xff\xff\xff\xff", Format::ArrowStream),
    (b"\x93NUMPY", Format::Npy),
    (b"PK\x03\x04", Format::Npz),
    (b"PK\x05\x06", Format::Npz),
];

/// First bytes by which a file is recognised.
const HEAD_LEN: u64 = 256;

impl Format {
    /// The format that the end of a name says.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        if has_name_of_text(path) {
            return Some(Self::Csv);
        }
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        let found = ENDS.iter().find(|(known, _)| *known == end).map(|(_, format)| *format);
        found.or_else(|| (end == "fst").then_some(Self::Fst))
    }

    /// The name in messages and options.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Entasis => "entasis",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::ArrowStream => "arrow_stream",
            Self::Feather => "feather",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Jsonl => "jsonl",
            Self::Rds => "rds",
            Self::Rdata => "rdata",
            Self::Qs2 => "qs2",
            Self::Qdata => "qdata",
            Self::Fst => "fst",
        }
    }

    /// Whether R writes such files.
    pub(crate) fn is_of_r(self) -> bool {
        matches!(self, Self::Rds | Self::Rdata | Self::Qs2 | Self::Qdata | Self::Fst)
    }

    /// Whether a library of Python reads and writes such files.
    pub(crate) fn is_of_host(self) -> bool {
        !self.is_of_r() && !matches!(self, Self::Entasis | Self::Csv)
    }
}

/// The format of a source, as far as the command knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A format that was recognised or given.
    Known(Format),
    /// A format that the command neither reads nor hands on. The host knows the call that reads it.
    Other,
}

impl Source {
    /// The format of a file, by its first bytes and then by its name. Bytes that are not recognised
    /// are a text.
    pub(crate) fn of_file(path: &Path) -> Self {
        let named = Format::of_name(path);
        // The host decides whether an address is that of a folder.
        if path.is_dir() || host::is_address(path) {
            return named.map_or(Self::Other, Self::Known);
        }
        let mut head = Vec::new();
        if File::open(path).and_then(|file| file.take(HEAD_LEN).read_to_end(&mut head)).is_err() {
            return Self::Known(named.unwrap_or(Format::Csv));
        }
        if let Some(found) = entasis_convert::detect(path) {
            return Self::Known(of_r(found));
        }
        match Self::of_head(&head, named) {
            // Feather of version 2 is a file of Arrow.
            Self::Known(Format::Arrow) if named == Some(Format::Feather) => Self::Known(Format::Feather),
            Self::Known(Format::Csv) => match named {
                // Their readers report the damage.
                Some(named) if named.is_of_host() => Self::Known(named),
                _ => Self::Known(Format::Csv),
            },
            found => found,
        }
    }

    /// The format of the standard input, by the bytes that are there first.
    pub(crate) fn of_stdin() -> Self {
        let mut input = std::io::stdin().lock();
        // The readers of the input report its errors.
        let head = input.fill_buf().unwrap_or_default();
        match entasis_convert::recognise(head) {
            Some(found) => Self::Known(of_r(found)),
            None => Self::of_head(head.get(..HEAD_LEN as usize).unwrap_or(head), None),
        }
    }

    fn of_head(head: &[u8], named: Option<Format>) -> Self {
        if let Some((_, format)) = STARTS.iter().find(|(start, _)| head.starts_with(start)) {
            return Self::Known(*format);
        }
        let text = matches!(other_format(head), None | Some("text" | "a table of text, such as CSV"));
        if named != Some(Format::Csv) && text && starts_as_lines(head) {
            return Self::Known(Format::Jsonl);
        }
        if text
            || [&b"\x1f\x8b"[..], b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"]
                .iter()
                .any(|m| head.starts_with(m))
        {
            return Self::Known(Format::Csv);
        }
        Self::Other
    }
}

fn of_r(format: entasis_convert::Format) -> Format {
    match format {
        entasis_convert::Format::Rds => Format::Rds,
        entasis_convert::Format::RData => Format::Rdata,
        entasis_convert::Format::Qs2 => Format::Qs2,
        entasis_convert::Format::Qdata => Format::Qdata,
        entasis_convert::Format::Fst => Format::Fst,
    }
}

/// Whether text starts with a JSON object that ends with its line, as far as the line is there.
fn starts_as_lines(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let end = head.iter().position(|&byte| byte == b'\n');
    let line = head.get(..end.unwrap_or(head.len())).unwrap_or(head);
    if end.is_none() && head.len() + 1 >= HEAD_LEN as usize {
        return line.starts_with(b"{\"");
    }
    line.starts_with(b"{") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_options_are_those_of_messages() {
        use clap::ValueEnum;
        for format in Format::value_variants() {
            let name = format.to_possible_value().map(|value| value.get_name().to_owned());
            assert_eq!(name.as_deref(), Some(format.name()));
        }
    }

    #[test]
    fn ends_of_names_say_the_format() {
        for (name, format) in [
            ("a.entasis", Some(Format::Entasis)),
            ("a.b/x.CSV.gz", Some(Format::Csv)),
            ("x.Parquet", Some(Format::Parquet)),
            ("x.arrows", Some(Format::ArrowStream)),
            ("x.fst", Some(Format::Fst)),
            ("x.dat", None),
            ("parquet", None),
        ] {
            assert_eq!(Format::of_name(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn first_bytes_say_the_format() {
        let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(500));
        for (head, named, found) in [
            (&b"PAR1\0"[..], None, Source::Known(Format::Parquet)),
            (b"{\"a\": 1}\n{\"a\": 2}\n", None, Source::Known(Format::Jsonl)),
            (b"{\"a\": 1}\n", Some(Format::Csv), Source::Known(Format::Csv)),
            (&long.as_bytes()[..256], None, Source::Known(Format::Jsonl)),
            (b"{a,b\n1,2\n", None, Source::Known(Format::Csv)),
            (b"a,b\n1,2\n", None, Source::Known(Format::Csv)),
            (b"\x1f\x8b\x08", None, Source::Known(Format::Csv)),
            (b"caf\xe9;b\n", None, Source::Known(Format::Csv)),
            (b"\x80\x04\x95", None, Source::Other),
            (b"\x89HDF\r\n\x1a\n", None, Source::Other),
        ] {
            assert_eq!(Source::of_head(head, named), found, "{head:?}");
        }
    }
}
