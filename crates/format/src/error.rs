//! The error type: the problem, its location, and advice.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::other;

/// The result type of this project.
pub type Result<T> = std::result::Result<T, Error>;

/// A problem, its location in a file, and advice. One word in size.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    message: Cow<'static, str>,
    advice: Option<Cow<'static, str>>,
    limit: Option<&'static str>,
    location: Location,
    generations: Vec<u64>,
    source: Option<io::Error>,
}

/// The kinds of errors, on which programs can decide.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The operating system refused.
    Io(io::ErrorKind),
    /// The file is something else.
    NotEntasis,
    /// The file needs a newer version.
    Newer,
    /// The file is damaged.
    Corrupt,
    /// The file is encrypted, and was changed by someone without the key.
    Tampered,
    /// The file is encrypted, and no key was given, or one that does not open it.
    WrongKey,
    /// The file or the request is valid, but this version does not support it.
    Unsupported,
    /// The caller asked for something impossible.
    Argument,
    /// The caller asked for a column that is not there.
    NoColumn,
    /// A text, such as CSV, does not fit what it is read as.
    Text,
    /// A limit of the reader was reached.
    Limit,
    /// The system refused memory.
    OutOfMemory,
    /// The caller stopped the work.
    Interrupted,
}

/// The location of the problem, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Option<PathBuf>,
    /// The section of the footer.
    pub section: Option<&'static str>,
    /// The name of the column.
    pub column: Option<String>,
    /// The block of the column.
    pub block: Option<u64>,
    /// The page of the block.
    pub page: Option<u64>,
    /// The offset from the start of the file.
    pub at: Option<u64>,
}

impl Error {
    #[cold]
    fn new(kind: Kind, message: Cow<'static, str>) -> Self {
        let location = Location::default();
        let generations = Vec::new();
        Self(Box::new(Inner {
            kind,
            message,
            advice: None,
            limit: None,
            location,
            generations,
            source: None,
        }))
    }

    /// The file is damaged.
    #[cold]
    pub fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Corrupt, message.into())
    }

    /// The file is encrypted, and was changed by someone without the key.
    #[cold]
    pub fn tampered(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Tampered, message.into())
    }

    /// No key was given for an encrypted file, or one that does not open it.
    #[cold]
    pub fn wrong_key(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::WrongKey, message.into())
    }

    /// The file needs a newer version.
    #[cold]
    pub fn newer(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Newer, message.into())
    }

    /// This version does not support it.
    #[cold]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Unsupported, message.into())
    }

    /// The caller asked for something impossible.
    #[cold]
    pub fn argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Argument, message.into())
    }

    /// The caller asked for a column that is not there.
    #[cold]
    pub fn no_column(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::NoColumn, message.into())
    }

    /// A text does not fit what it is read as.
    #[cold]
    pub fn text(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Text, message.into())
    }

    /// A limit was reached.
    #[cold]
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Limit, message.into())
    }

    /// The system refused `len` bytes of memory, `usize::MAX` for a size that overflows. `what`
    /// names their use, in the plural ("the columns").
    #[cold]
    pub fn out_of_memory(len: usize, what: &'static str) -> Self {
        let message = match len {
            usize::MAX => format!("{what} need more bytes than this machine has addresses"),
            _ => format!("cannot allocate {} bytes for {what}", Thousands(len as u64)),
        };
        Self::new(Kind::OutOfMemory, message.into())
    }

    /// The system refused memory for small buffers, and the reserve is in use.
    #[cold]
    pub fn no_memory_left() -> Self {
        Self::new(Kind::OutOfMemory, Cow::Borrowed("the system has no more memory for buffers"))
    }

    /// The file asks for more than a limit of [`Limits`](crate::Limits) allows. `asked` says what
    /// it asks for: "a column name has 70,000 bytes".
    #[cold]
    pub fn over_limit(name: &'static str, allowed: u64, asked: impl fmt::Display) -> Self {
        let mut error = Self::limit(format!("{asked}, and {name} allows {}", Thousands(allowed)));
        error.0.limit = Some(name);
        error.advise(format!("if you trust the file, raise `{name}` of its `Limits`"))
    }

    /// The file is something else.
    #[cold]
    pub fn not_entasis(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::NotEntasis, message.into())
    }

    /// The caller stopped the work.
    #[cold]
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, Cow::Borrowed("the work was stopped before its end"))
    }

    /// The operating system refused an operation; `doing` names it ("reading a page"). The kind is
    /// [`Kind::OutOfMemory`] if it had no memory. An error of this type that a source passed on as
    /// an [`io::Error`] stays as it is.
    #[cold]
    pub fn io(source: io::Error, doing: &'static str) -> Self {
        let source = match source.downcast::<Self>() {
            Ok(error) => return error,
            Err(source) => source,
        };
        let kind = match source.kind() {
            io::ErrorKind::OutOfMemory => Kind::OutOfMemory,
            kind => Kind::Io(kind),
        };
        let mut error = Self::new(kind, Cow::Borrowed(doing));
        error.0.source = Some(source);
        error
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The location of the problem.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// The damaged generations of the file, ascending; empty if only the current one was looked at.
    pub fn generations(&self) -> &[u64] {
        &self.0.generations
    }

    /// The problem, without location and advice; for [`Kind::Io`] the operation.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The error number of the operating system, if it refused.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(io::Error::raw_os_error)
    }

    /// The error of the operating system, if it refused.
    pub fn io_source(&self) -> Option<&io::Error> {
        self.0.source.as_ref()
    }

    /// Whether the file is a text, such as CSV, instead of an Entasis file. A compressed text is
    /// recognised by its name.
    pub fn is_of_text(&self) -> bool {
        let has_name_of_text =
            || self.location().file.as_ref().is_some_and(|file| other::has_name_of_text(file));
        match self.kind() {
            Kind::NotEntasis => {
                let message = self.message();
                message.ends_with(" text") || message.contains("a table of text") || has_name_of_text()
            }
            Kind::Corrupt => self.message() == "the file is empty" && has_name_of_text(),
            _ => false,
        }
    }

    /// The name of the limit of [`Limits`](crate::Limits) that the file exceeds, if it does.
    pub fn exceeded_limit(&self) -> Option<&'static str> {
        self.0.limit
    }

    /// The message with another advice. Each language has its own way to raise a limit.
    pub fn to_string_with(&self, advice: &str) -> String {
        Shown { error: &self.0, advice: Some(advice) }.to_string()
    }

    /// The advice, if the message does not imply it.
    pub fn advice(&self) -> Option<&str> {
        self.0.advice()
    }

    /// Sets the advice, in place of the default for the kind.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<Cow<'static, str>>) -> Self {
        self.0.advice = Some(advice.into());
        self
    }

    /// Sets the message, and keeps the rest.
    #[must_use]
    pub fn reworded(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Sets the damaged generations.
    #[must_use]
    pub fn of_generations(mut self, generations: Vec<u64>) -> Self {
        self.0.generations = generations;
        self
    }

    /// Sets the file, if not yet set.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.0.location.file.get_or_insert_with(|| file.to_path_buf());
        self
    }

    /// Sets the section, if not yet set.
    #[must_use]
    pub fn in_section(mut self, section: &'static str) -> Self {
        self.0.location.section.get_or_insert(section);
        self
    }

    /// Sets the column, if not yet set.
    #[must_use]
    pub fn in_column(mut self, column: &str) -> Self {
        let known = &mut self.0.location.column;
        let mut name = String::new();
        // A name may be long, and memory may be what is missing.
        if known.is_none() && name.try_reserve_exact(column.len()).is_ok() {
            name.push_str(column);
            *known = Some(name);
        }
        self
    }

    /// Sets the block, if not yet set.
    #[must_use]
    pub fn in_block(mut self, block: u64) -> Self {
        self.0.location.block.get_or_insert(block);
        self
    }

    /// Sets the page, if not yet set.
    #[must_use]
    pub fn in_page(mut self, page: u64) -> Self {
        self.0.location.page.get_or_insert(page);
        self
    }

    /// Sets the offset, if not yet set.
    #[must_use]
    pub fn at(mut self, at: u64) -> Self {
        self.0.location.at.get_or_insert(at);
        self
    }
}

impl Inner {
    /// None where the message is enough: a wrong call, a path that leads nowhere.
    fn advice(&self) -> Option<&str> {
        if let Some(advice) = &self.advice {
            return Some(advice);
        }
        let column = self.location.column.is_some();
        Some(match self.kind {
            Kind::Io(
                io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidFilename,
            )
            | Kind::Argument
            | Kind::NoColumn
            | Kind::Text => return None,
            Kind::Io(io::ErrorKind::PermissionDenied) => "check the permissions of the file and its folder",
            Kind::Io(io::ErrorKind::AlreadyExists) => "name another file, or allow to replace it",
            Kind::Io(io::ErrorKind::IsADirectory) => "name a file, not a folder",
            Kind::Io(io::ErrorKind::WouldBlock) => "try again when the other writer is done, or wait longer",
            Kind::Io(_) if self.source.as_ref().is_some_and(is_descriptor_limit) => {
                "close some files, or raise the limit of open files (ulimit -n)"
            }
            Kind::Io(io::ErrorKind::StorageFull) => "free some space, then try again",
            Kind::Io(_) => "check the disk or the connection to it, then try again",
            Kind::NotEntasis => "check that the path names an Entasis file",
            Kind::Newer => "update Entasis",
            Kind::Corrupt if column => "restore the file from a copy, or read other columns",
            Kind::Corrupt => "restore the file from a copy",
            Kind::Tampered => "do not trust the file, and restore it from a copy",
            Kind::WrongKey => "pass the key or password that the file was written with",
            Kind::Unsupported if column => "update Entasis, or read other columns",
            Kind::Unsupported => "update Entasis",
            Kind::Limit => "raise the limit if you trust the file",
            Kind::OutOfMemory => "free some memory, or read or write fewer columns or rows at once",
            Kind::Interrupted => "start it again",
        })
    }
}

/// Whether the process or the system has too many open files.
fn is_descriptor_limit(error: &io::Error) -> bool {
    // ENFILE and EMFILE have these numbers on every Unix. The standard library does not name them.
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

impl Kind {
    /// The first words of messages of this kind.
    fn prefix(self) -> &'static str {
        match self {
            Kind::Io(_) => "I/O error",
            Kind::NotEntasis => "not an Entasis file",
            Kind::Newer => "newer version",
            Kind::Corrupt => "damaged",
            Kind::Tampered => "tampered with",
            Kind::WrongKey => "wrong key",
            Kind::Unsupported => "not supported",
            Kind::Argument | Kind::NoColumn => "wrong argument",
            Kind::Text => "problem in the text",
            Kind::Limit => "limit reached",
            Kind::OutOfMemory => "out of memory",
            Kind::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown { error: &self.0, advice: self.0.advice() }.fmt(f)
    }
}

/// An error as it is shown, with this advice.
struct Shown<'a> {
    error: &'a Inner,
    advice: Option<&'a str>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.error;
        write!(f, "{}: {}", inner.kind.prefix(), printable(&inner.message, LONGEST_MESSAGE))?;
        if let Some(source) = &inner.source {
            write!(f, ": {}", printable(&source.to_string(), LONGEST_MESSAGE))?;
        }
        if inner.location != Location::default() {
            write!(f, " ({})", inner.location)?;
        }
        match self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

/// The most characters of a path or a column name that a message shows.
const LONGEST_NAME: usize = 100;
/// The most characters of the message itself, which may quote names.
const LONGEST_MESSAGE: usize = 300;

/// A name as messages show it, in at most 100 characters.
pub fn printable_name(name: &str) -> Cow<'_, str> {
    printable(name, LONGEST_NAME)
}

/// A message as errors show it, in at most 300 characters.
pub fn printable_message(message: &str) -> Cow<'_, str> {
    printable(message, LONGEST_MESSAGE)
}

/// The text with control characters escaped. A text longer than `longest` loses characters in the
/// middle: column names often differ at the start, paths at the end.
fn printable(text: &str, longest: usize) -> Cow<'_, str> {
    let is_short = text.len() <= longest || text.chars().nth(longest).is_none();
    if is_short && !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = |letter: char| {
        let plain = (!letter.is_control()).then_some(letter);
        plain.into_iter().chain(letter.is_control().then(|| letter.escape_default()).into_iter().flatten())
    };
    // Escape no more than is shown, for texts of any length.
    let mut begin: Vec<char> = text.chars().flat_map(escaped).take(longest + 1).collect();
    if begin.len() <= longest {
        return begin.into_iter().collect::<String>().into();
    }
    let half = (longest - 3) / 2;
    begin.truncate(longest - 3 - half);
    let end = text.chars().rev().flat_map(|letter| escaped(letter).collect::<Vec<_>>().into_iter().rev());
    let end: Vec<char> = end.take(half).collect();
    begin.into_iter().chain("...".chars()).chain(end.into_iter().rev()).collect::<String>().into()
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        let mut next = |f: &mut fmt::Formatter<'_>, part: fmt::Arguments<'_>| {
            let result = write!(f, "{comma}{part}");
            comma = ", ";
            result
        };
        if let Some(file) = &self.file {
            // A name may have characters that a terminal obeys.
            next(f, format_args!("file \"{}\"", printable(&file.display().to_string(), LONGEST_NAME)))?;
        }
        if let Some(section) = self.section {
            next(f, format_args!("section {section}"))?;
        }
        if let Some(column) = &self.column {
            next(f, format_args!("column \"{}\"", printable(column, LONGEST_NAME)))?;
        }
        if let Some(block) = self.block {
            next(f, format_args!("block {}", Thousands(block)))?;
        }
        if let Some(page) = self.page {
            next(f, format_args!("page {}", Thousands(page)))?;
        }
        if let Some(at) = self.at {
            next(f, format_args!("offset {}", Thousands(at)))?;
        }
        Ok(())
    }
}

/// A number with commas between its thousands.
pub struct Thousands(pub u64);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rest, last) = (self.0 / 1000, self.0 % 1000);
        if rest == 0 { write!(f, "{last}") } else { write!(f, "{},{last:03}", Thousands(rest)) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A failed `unwrap` shows the same sentence, and the kind.
        write!(f, "{self} [{:?}]", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_says_what_where_and_what_next() {
        let error = Error::corrupt("checksum of a page does not match")
            .at(18_432)
            .in_page(2)
            .in_block(3)
            .in_column("price")
            .in_file(Path::new("x.entasis"))
            .in_column("another")
            .at(7);
        assert_eq!(
            error.to_string(),
            "damaged: checksum of a page does not match (file \"x.entasis\", column \"price\", block 3, page 2, \
             offset 18,432); restore the file from a copy, or read other columns"
        );
        assert_eq!(
            Error::argument("rows 5..3 are not a range").to_string(),
            "wrong argument: rows 5..3 are not a range"
        );
    }

    #[test]
    fn display_escapes_and_shortens_what_users_named() {
        let long = format!("begin{}end", "x\u{1b}".repeat(10_000));
        let error = Error::argument(format!("there is no column '{long}'")).in_column(&long);
        let error = error.in_file(Path::new(&format!("{long}\n")));
        let shown = error.to_string();
        assert!(shown.chars().count() < LONGEST_MESSAGE + 2 * LONGEST_NAME + 60, "{shown}");
        assert!(!shown.chars().any(char::is_control), "{shown}");
        assert!(shown.contains("column \"beginx\\u{1b}x") && shown.contains("end\\n\""), "{shown}");
        // Locations for programs are not shortened.
        assert_eq!(error.location().column.as_deref(), Some(&*long));
        assert_eq!(printable("caf\u{e9}\n", 6), "caf\u{e9}\\n");
        assert_eq!(printable("0123456789", 10), "0123456789");
        assert_eq!(printable("0123456789a", 10), "0123...89a");
    }

    #[test]
    fn every_kind_has_its_constructor() {
        assert_eq!(Error::corrupt("x").kind(), Kind::Corrupt);
        assert_eq!(Error::newer("x").kind(), Kind::Newer);
        assert_eq!(Error::unsupported("x").kind(), Kind::Unsupported);
        assert_eq!(Error::argument("x").kind(), Kind::Argument);
        assert_eq!(Error::no_column("x").kind(), Kind::NoColumn);
        assert_eq!(Error::limit("x").kind(), Kind::Limit);
        assert_eq!(Error::not_entasis("x").kind(), Kind::NotEntasis);
        assert_eq!(Error::interrupted().kind(), Kind::Interrupted);
    }

    #[test]
    fn a_limit_is_named_with_its_value() {
        let error = Error::over_limit("name_len", 65_536, "a column name has 70,000 bytes").at(9);
        assert_eq!((error.kind(), error.exceeded_limit()), (Kind::Limit, Some("name_len")));
        let problem = "limit reached: a column name has 70,000 bytes, and name_len allows 65,536 (offset 9)";
        assert_eq!(
            error.to_string(),
            format!("{problem}; if you trust the file, raise `name_len` of its `Limits`")
        );
        assert_eq!(error.to_string_with("read less"), format!("{problem}; read less"));
    }

    #[test]
    fn io_keeps_its_source() {
        let error = Error::io(io::Error::from_raw_os_error(2), "opening the file");
        assert_eq!(error.kind(), Kind::Io(io::ErrorKind::NotFound));
        assert_eq!(error.raw_os_error(), Some(2));
        assert!(std::error::Error::source(&error).is_some());
        assert!(error.to_string().starts_with("I/O error: opening the file: "));
        assert_eq!(error.advice(), None);
        // ENOTDIR, EINVAL and ENAMETOOLONG come from the path, so advice about disks would mislead.
        for code in [20, 22, 36] {
            let error = Error::io(io::Error::from_raw_os_error(code), "opening the file");
            assert!(!cfg!(target_os = "linux") || error.advice().is_none(), "{error}");
        }
    }

    #[test]
    fn a_lack_of_memory_or_descriptors_has_its_own_advice() {
        let error = Error::out_of_memory(1 << 20, "the columns").in_column("a");
        assert_eq!(error.kind(), Kind::OutOfMemory);
        assert_eq!(
            error.to_string(),
            "out of memory: cannot allocate 1,048,576 bytes for the columns (column \"a\"); free some \
             memory, or read or write fewer columns or rows at once"
        );
        let mapping = Error::io(io::Error::from(io::ErrorKind::OutOfMemory), "map the file");
        assert_eq!((mapping.kind(), mapping.io_source().is_some()), (Kind::OutOfMemory, true));
        for code in [23, 24] {
            let error = Error::io(io::Error::from_raw_os_error(code), "open");
            assert!(!cfg!(unix) || error.to_string().ends_with("(ulimit -n)"), "{error}");
        }
    }

    #[test]
    fn thousands_and_size() {
        assert_eq!(Thousands(0).to_string(), "0");
        assert_eq!(Thousands(1_000).to_string(), "1,000");
        assert_eq!(Thousands(u64::MAX).to_string(), "18,446,744,073,709,551,615");
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
        assert_eq!(Error::corrupt("x").at(1_000_007).location().at, Some(1_000_007));
    }
}
