//! The options of the verbs that read text files.

use std::io;
use std::path::{Path, PathBuf};

use entasis::Error;
use entasis_csv::problems::OnError;
use entasis_csv::source::Origin;
use entasis_csv::{Given, Options, Selection, Spec, Type};

use crate::failure::{Outcome, say};

/// How a text is read. The sniffer finds the rest.
#[derive(clap::Args)]
pub(crate) struct CsvArgs {
    /// The separator, such as ; or "\t"
    #[arg(long, value_name = "CHAR", value_parser = parse_byte)]
    sep: Option<u8>,
    /// The character around quoted fields, or none
    #[arg(long, value_name = "CHAR|none", value_parser = parse_optional)]
    quote: Option<Byte>,
    /// The character before one without its meaning, or none
    #[arg(long, value_name = "CHAR|none", value_parser = parse_optional)]
    escape: Option<Byte>,
    /// The character at the start of lines to leave out, or none
    #[arg(long, value_name = "CHAR|none", value_parser = parse_optional)]
    comment: Option<Byte>,
    /// Lines before the header
    #[arg(long, value_name = "N")]
    skip: Option<usize>,
    /// The first row has values, not names
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// The first row has names, even if it looks like values
    #[arg(long)]
    header: bool,
    /// The names of the columns, instead of those of the header
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    names: Option<Vec<String>>,
    /// The type of a column, such as zip=string or day=date. May be repeated
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = parse_type)]
    types: Vec<(String, Type)>,
    /// A word for missing values, instead of NA, N/A, NULL and null. May be repeated
    #[arg(long, value_name = "WORD")]
    na: Option<Vec<String>>,
    /// The decimal mark
    #[arg(long, value_name = "CHAR", value_parser = parse_byte)]
    decimal: Option<u8>,
    /// The mark between groups of three digits
    #[arg(long, value_name = "CHAR", value_parser = parse_byte)]
    thousands: Option<u8>,
    /// The encoding, such as latin1 [default: a byte order mark decides, else UTF-8, else a guess]
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// A file with a spec, as `entasis sniff --json` prints it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// The columns to read, in this order
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Columns to leave out
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "columns")]
    drop: Option<Vec<String>>,
    /// Rows may have fewer fields than the header
    #[arg(long)]
    fill: bool,
    /// For places that do not fit: an error, missing values, or rows that are left out
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = ["error", "missing", "skip"])]
    on_error: String,
    /// The most bytes of a field
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    max_field: usize,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    pub(crate) threads: Option<usize>,
}

/// A character, or none.
type Byte = Option<u8>;

impl CsvArgs {
    /// The options of the reader.
    pub(crate) fn options(&self) -> Outcome<Options> {
        let spec = match &self.spec {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| Error::io(e, "read").in_file(path))?;
                Some(Spec::from_json(&text).map_err(|error| error.in_file(path))?)
            }
            None => None,
        };
        let mut options = Options {
            spec,
            given: Given {
                separator: self.sep,
                quote: self.quote,
                escape: self.escape,
                comment: self.comment,
                skip: self.skip,
                header: if self.no_header { Some(false) } else { self.header.then_some(true) },
                decimal: self.decimal,
            },
            names: self.names.clone(),
            columns: match (&self.columns, &self.drop) {
                (Some(names), _) => Selection::Names(names.clone()),
                (None, Some(names)) => Selection::Without(names.clone()),
                (None, None) => Selection::All,
            },
            types: self.types.clone(),
            missing: self.na.clone(),
            thousands: self.thousands,
            fill: self.fill,
            on_error: match self.on_error.as_str() {
                "missing" => OnError::Missing,
                "skip" => OnError::Skip,
                _ => OnError::Error,
            },
            max_field: self.max_field,
            threads: self.threads,
            ..Options::default()
        };
        options.source.encoding.clone_from(&self.encoding);
        Ok(options)
    }
}

/// The source at a path; `-` is the standard input.
pub(crate) fn origin(path: &Path) -> Origin {
    if path == Path::new("-") {
        return Origin::Stream { name: "standard input".to_owned(), reader: Box::new(io::stdin()) };
    }
    Origin::Path(path.to_path_buf())
}

/// Says what a user should know, on the standard error.
pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
}

fn parse_byte(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("\\t" | "tab", _) => Ok(b'\t'),
        (_, &[byte]) if byte.is_ascii() => Ok(byte),
        _ => Err("one ASCII character, or \\t".to_owned()),
    }
}

fn parse_optional(text: &str) -> Result<Byte, String> {
    if text == "none" || text.is_empty() { Ok(None) } else { parse_byte(text).map(Some) }
}

fn parse_type(text: &str) -> Result<(String, Type), String> {
    let (name, of) = text.rsplit_once('=').ok_or("a name, =, and a type: zip=string")?;
    let found = Type::of_name(of).ok_or_else(|| {
        format!("'{of}' is not a type, such as int64, float64, string, bool, date or datetime[us]")
    })?;
    Ok((name.to_owned(), found))
}
