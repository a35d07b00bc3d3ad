//! The options of the verbs that read text files, and their sources.

use std::io;
use std::path::{Path, PathBuf};

use entasis::Error;
use entasis_csv::problems::OnError;
use entasis_csv::source::Origin;
use entasis_csv::write::Format;
use entasis_csv::{Blanks, Dialect, Given, Options, Selection, Spec, Type};
use glob::MatchOptions;

use crate::failure::{Failure, Outcome, say};
use crate::limits::parse_size;

/// The most bytes of a field, without `--max-field`.
pub(crate) const MAX_FIELD: usize = 64 << 20;

/// How a text is read. The sniffer finds the rest.
#[derive(clap::Args)]
pub(crate) struct CsvArgs {
    /// The separator: a character such as ; or "\t", one and a blank to leave out blanks before
    /// fields, or "blanks" for runs of blanks and tabs
    #[arg(long, value_name = "CHAR|blanks", value_parser = parse_separator)]
    pub(crate) sep: Option<(u8, Blanks)>,
    /// The character around quoted fields, or none
    #[arg(long, value_name = "CHAR|none", value_parser = parse_optional)]
    pub(crate) quote: Option<Byte>,
    /// The character before one without its meaning, or none
    #[arg(long, value_name = "CHAR|none", value_parser = parse_optional)]
    pub(crate) escape: Option<Byte>,
    /// The character at the start of lines to leave out, or none
    #[arg(long, value_name = "CHAR|none", value_parser = parse_optional)]
    pub(crate) comment: Option<Byte>,
    /// Lines before the header
    #[arg(long, value_name = "N")]
    pub(crate) skip: Option<usize>,
    /// The first row has values, not names
    #[arg(long, conflicts_with = "header")]
    pub(crate) no_header: bool,
    /// The first row has names, even if it looks like values
    #[arg(long)]
    pub(crate) header: bool,
    /// The names of the columns, instead of those of the header
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) names: Option<Vec<String>>,
    /// The type of a column, such as zip=string, day=date or city=categorical. May be repeated
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = parse_type)]
    pub(crate) types: Vec<(String, Type)>,
    /// A format of dates, such as %d.%m.%Y, for all columns or for one: day=%Y%m%d. May be repeated
    #[arg(long, value_name = "[NAME=]FORMAT")]
    pub(crate) dates: Vec<String>,
    /// Write the values of lists and structs as JSON, where they are refused otherwise
    #[arg(long, value_name = "FORM")]
    pub(crate) nested: Option<crate::nested_text::Form>,
    /// Whether columns of text stay strings or become categoricals
    #[arg(long, value_name = "WHAT", default_value = "plain", value_parser = ["plain", "categorical"])]
    pub(crate) strings: String,
    /// A word for missing values, instead of NA, N/A, NULL and null. May be repeated
    #[arg(long, value_name = "WORD")]
    pub(crate) na: Option<Vec<String>>,
    /// The decimal mark
    #[arg(long, value_name = "CHAR", value_parser = parse_byte)]
    pub(crate) decimal: Option<u8>,
    /// The mark between groups of three digits
    #[arg(long, value_name = "CHAR", value_parser = parse_byte)]
    pub(crate) thousands: Option<u8>,
    /// The encoding, such as latin1 [default: a byte order mark decides, else UTF-8, else a guess]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// A file with a spec, as `entasis sniff --json` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,
    /// The columns to read, in this order
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Columns to leave out
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "columns")]
    pub(crate) drop: Option<Vec<String>>,
    /// Rows may have fewer fields than the header
    #[arg(long)]
    pub(crate) fill: bool,
    /// For places that do not fit: an error, missing values, or rows that are left out
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = ["error", "missing", "skip"])]
    pub(crate) on_error: String,
    /// The most bytes of a field, such as 1GiB
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = parse_len)]
    pub(crate) max_field: usize,
    /// The most bytes of the compressed copy of a stream, for columns that change their type late
    #[arg(long, value_name = "BYTES", default_value = "64GiB", value_parser = parse_size)]
    spill_limit: u64,
    /// Threads to use [default: one per processor]
    #[arg(long, value_name = "N", value_parser = crate::parse_threads)]
    pub(crate) threads: Option<usize>,
}

/// A character, or none.
type Byte = Option<u8>;

impl CsvArgs {
    /// The form of a text that is written. Options that are only for reading are refused.
    pub(crate) fn format(&self) -> Outcome<Format> {
        let for_reading = [
            (self.quote.is_some(), "--quote"),
            (self.escape.is_some(), "--escape"),
            (self.comment.is_some(), "--comment"),
            (self.skip.is_some(), "--skip"),
            (self.names.is_some(), "--names"),
            (!self.types.is_empty(), "--type"),
            (!self.dates.is_empty(), "--dates"),
            (self.strings != "plain", "--strings"),
            (self.thousands.is_some(), "--thousands"),
            (self.encoding.is_some(), "--encoding"),
            (self.spec.is_some(), "--spec"),
            (self.fill, "--fill"),
            (self.on_error != "error", "--on-error"),
            (self.sep.is_some_and(|(_, blanks)| blanks != Blanks::Kept), "--sep with blanks"),
            (self.na.as_ref().is_some_and(|words| words.len() > 1), "more than one --na"),
        ];
        if let Some((_, option)) = for_reading.iter().find(|(is_given, _)| *is_given) {
            return Err(Failure::Other(format!("{option} is for texts that are read, and IN is not a text")));
        }
        let format = Format::default();
        Ok(Format {
            separator: self.sep.map_or(format.separator, |(separator, _)| separator),
            missing: self.na.iter().flatten().next().cloned().unwrap_or_default(),
            decimal: self.decimal.unwrap_or(format.decimal),
            has_header: !self.no_header,
            ..format
        })
    }

    /// Whether some columns are chosen or left out.
    pub(crate) fn selects(&self) -> bool {
        self.columns.is_some() || self.drop.is_some()
    }

    /// The options of the reader.
    pub(crate) fn options(&self) -> Outcome<Options> {
        if self.nested.is_some() {
            return Err(Failure::Other("--nested is for texts that are written".to_owned()));
        }
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
                separator: self.sep.map(|(separator, _)| separator),
                blanks: self.sep.map(|(_, blanks)| blanks),
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
            dates: formats(&self.dates),
            as_categories: self.strings == "categorical",
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
        options.source.spill_limit = self.spill_limit;
        Ok(options)
    }
}

/// The source at a path; `-` is the standard input.
pub(crate) fn origin(path: &Path) -> Origin {
    if is_stdin(path) {
        return Origin::Stream { name: "standard input".to_owned(), reader: Box::new(io::stdin()) };
    }
    Origin::Path(path.to_path_buf())
}

/// The paths of patterns. Shells expand patterns before the command sees them, unless they are
/// quoted or the shell does not know them.
pub(crate) fn expanded(inputs: &[PathBuf]) -> entasis::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for input in inputs {
        let text = input.to_str().filter(|text| text.contains(['*', '?', '[']));
        match text.filter(|_| input.symlink_metadata().is_err()) {
            Some(pattern) => found.extend(matches(pattern)?),
            None => found.push(input.clone()),
        }
    }
    if found.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Error::argument("the standard input can be read only once").advise("pass - once"));
    }
    Ok(found)
}

/// The sources of one table with their names.
pub(crate) fn origins(paths: Vec<PathBuf>) -> Vec<(String, Origin)> {
    let named = |path: PathBuf| {
        let origin = origin(&path);
        let name = match &origin {
            Origin::Stream { name, .. } => name.clone(),
            _ => path.display().to_string(),
        };
        (name, origin)
    };
    paths.into_iter().map(named).collect()
}

/// The files that a pattern matches, in the order of their names.
fn matches(pattern: &str) -> entasis::Result<Vec<PathBuf>> {
    let shown: String = pattern.chars().take(200).collect();
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, options)
        .map_err(|error| Error::argument(format!("'{shown}' is not a pattern: {}", error.msg)))?;
    let mut paths = Vec::new();
    for path in found {
        let path = path.map_err(|error| Error::io(io::Error::from(error.error().kind()), "list"))?;
        // The library drops the start of `./a*`.
        let is_short = pattern.starts_with("./") && !path.starts_with(".");
        let path = if is_short { Path::new(".").join(path) } else { path };
        if !path.is_dir() {
            paths.push(path);
        }
    }
    // By text, as Python's function does: paths compare folder by folder.
    paths.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    if paths.is_empty() {
        return Err(Error::argument(format!("no file matches the pattern '{shown}'")));
    }
    Ok(paths)
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The formats of dates of each column, and those of all columns.
pub(crate) fn formats(texts: &[String]) -> Vec<(Option<String>, Vec<String>)> {
    let mut found: Vec<(Option<String>, Vec<String>)> = Vec::new();
    for text in texts {
        let (name, format) = match text.rsplit_once('=') {
            Some((name, format)) => (Some(name.to_owned()), format),
            None => (None, text.as_str()),
        };
        match found.iter_mut().find(|(other, _)| *other == name) {
            Some((_, formats)) => formats.push(format.to_owned()),
            None => found.push((name, vec![format.to_owned()])),
        }
    }
    found
}

/// Says what a user should know, on the standard error.
pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
}

fn parse_len(text: &str) -> Result<usize, String> {
    match usize::try_from(parse_size(text)?) {
        Ok(0) => Err("at least one byte is needed".to_owned()),
        len => len.map_err(|error| error.to_string()),
    }
}

fn parse_separator(text: &str) -> Result<(u8, Blanks), String> {
    let found = parse_byte(text).map(|byte| (byte, Blanks::Kept)).ok();
    found
        .or_else(|| Dialect::parse_separator(text))
        .ok_or_else(|| "one ASCII character, one and a blank, \\t, or blanks".to_owned())
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
        format!(
            "'{of}' is not a type, such as int64, float64, string, bool, date, datetime[us] or decimal(10,2)"
        )
    })?;
    Ok((name.to_owned(), found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_files_in_order() {
        let found = |pattern| matches(pattern).ok();
        let paths = |paths: &[&str]| Some(paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(
            found("src/l[ei]*.rs"),
            paths(&["src/lend.rs", "src/level.rs", "src/lib.rs", "src/limits.rs"])
        );
        assert_eq!(found("./src/lib?rs"), paths(&["./src/lib.rs"]));
        assert_eq!(found("**/csv.rs"), paths(&["src/csv.rs", "tests/it/csv.rs"]));
        assert_eq!(found("*/it"), None, "a folder");
        assert_eq!(found("src/[.rs"), None);
    }

    #[test]
    fn formats_are_those_of_columns_or_of_all() {
        let texts = ["%d", "a=%m", "%y", "b=c=%d", "a=%Y"].map(str::to_owned);
        let lists = [(None, "%d %y"), (Some("a"), "%m %Y"), (Some("b=c"), "%d")];
        let expected =
            lists.map(|(name, list)| (name.map(str::to_owned), list.split(' ').map(str::to_owned).collect()));
        assert_eq!(formats(&texts), expected);
    }
}
