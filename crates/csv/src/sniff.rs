//! Finds the dialect of a text, its header and its decimal mark, from a sample.

mod decimal;
mod header;
mod kind;
mod preamble;
mod reasons;
mod sample;
mod score;
mod table;
#[cfg(test)]
mod tests;

use kind::{Kind, kind};
use reasons::Decisions;
use sample::Segment;
use score::Score;
use table::Table;

use crate::dialect::{Blanks, Dialect};
use crate::values::times::datetime;

/// The parts of a dialect that the caller gives. The sniffer finds those that are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The separator. Blanks are then kept, unless they are given too.
    pub separator: Option<u8>,
    /// The meaning of blanks before fields.
    pub blanks: Option<Blanks>,
    /// The quote; `Some(None)` for texts without quotes.
    pub quote: Option<Option<u8>>,
    /// The escape; `Some(None)` for texts without escapes.
    pub escape: Option<Option<u8>>,
    /// The byte that begins a comment; `Some(None)` for texts without comments.
    pub comment: Option<Option<u8>>,
    /// Lines before the header.
    pub skip: Option<usize>,
    /// Whether the first row holds names.
    pub header: Option<bool>,
    /// The decimal mark.
    pub decimal: Option<u8>,
}

/// The line ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// `\n`, or no line end at all.
    Lf,
    /// `\r\n`.
    CrLf,
    /// A lone `\r`.
    Cr,
    /// Several of them.
    Mixed,
}

/// Whether the first row holds names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// Whether it does.
    pub is_header: bool,
    /// From 0 to 1.
    pub confidence: f64,
    /// The reason.
    pub reason: &'static str,
}

impl Header {
    fn new(is_header: bool, confidence: f64, reason: &'static str) -> Self {
        Self { is_header, confidence, reason }
    }
}

/// The reason for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// One of `separator`, `quote`, `escape`, `comment`, `line_end`, `skip`, `header`, `decimal`.
    pub what: &'static str,
    /// The decision as text.
    pub value: String,
    /// The reason.
    pub reason: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The properties of a text, found in a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sniffed {
    /// Separator, quote, escape and comment.
    pub dialect: Dialect,
    /// The line ends after rows.
    pub line_end: LineEnd,
    /// Lines before the header, or before the first row if there is none. Comments alone are not
    /// counted, since the dialect leaves them out.
    pub skip: usize,
    /// Whether the first row holds names.
    pub header: Header,
    /// `b'.'` or `b','`.
    pub decimal: u8,
    /// The usual number of fields of a row, or the number of names if it is greater. 0: the text is
    /// empty.
    pub n_columns: usize,
    /// Whether all fields have quotes, names included. Fields without any byte do not count.
    pub all_quoted: bool,
    /// Columns whose values look like numbers with a decimal comma, while the decimal mark that was
    /// found is a point.
    pub comma_columns: Vec<usize>,
    /// One reason for each decision.
    pub reasons: Vec<Reason>,
}

/// The separators that are tried.
const SEPARATORS: [u8; 14] =
    [b',', b';', b'\t', b'|', 0x01, 0x1F, b'~', b'^', b' ', b'#', b':', b'&', b'=', b'*'];
/// The bytes that may begin a comment.
const COMMENTS: [u8; 2] = [b'#', b'%'];

/// A dialect with its score.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    dialect: Dialect,
    score: Score,
}

/// Finds the dialect of a text from parts of it.
///
/// `pieces`: bytes in UTF-8; others do no harm. The first piece begins at the start of the text.
/// The others begin anywhere, and lose their first partial line. `whole`: the first piece is the
/// whole text. About 1 MiB is enough.
///
/// The cost is a few passes over the pieces, and some passes over at most 68 KiB for each
/// separator that occurs.
///
/// ```
/// use entasis_csv::{Given, sniff};
///
/// let sniffed = sniff(&[b"id;price\n1;2,5\n2;3,75\n"], true, &Given::default());
/// assert_eq!(sniffed.dialect.separator, b';');
/// assert_eq!(sniffed.decimal, b',');
/// assert!(sniffed.header.is_header);
/// ```
pub fn sniff(pieces: &[&[u8]], whole: bool, given: &Given) -> Sniffed {
    let text = pieces.first().copied().unwrap_or_default();
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut given = *given;
    let mut skip = given.skip.unwrap_or(0);
    let declared = declared_separator(text).filter(|_| skip == 0 && given.separator.is_none());
    if declared.is_some() {
        (given.separator, skip) = (declared, 1);
    }
    let text = sample::after_lines(text, skip);
    let segments = sample::segments(text, pieces.get(1..).unwrap_or_default(), whole);
    let choice = choose(&sample::subset(&segments), &given);
    finish(text, &segments, &given, skip, declared.is_some(), &choice)
}

/// The separator of a first line `sep=;`, which spreadsheets read and write.
fn declared_separator(text: &[u8]) -> Option<u8> {
    match text {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator, b'\r' | b'\n', ..]
            if separator.is_ascii() && !separator.is_ascii_alphanumeric() =>
        {
            Some(*separator)
        }
        _ => None,
    }
}

/// The best dialect, and the best one with another separator.
struct Choice {
    best: Candidate,
    second: Option<Candidate>,
}

/// Scores all candidates.
fn choose(subset: &[Segment<'_>], given: &Given) -> Choice {
    let seen = Seen::new(subset);
    let mut candidates = Vec::new();
    let separators: Vec<u8> = match given.separator {
        Some(separator) => vec![separator],
        None => {
            let are_times = lines_are_times(subset);
            let splits_times = |byte| are_times && matches!(byte, b':' | b' ');
            let is_seen = |&byte: &u8| seen.bytes[usize::from(byte)] && !splits_times(byte);
            SEPARATORS.into_iter().filter(is_seen).collect()
        }
    };
    for &separator in &separators {
        for (quote, escape) in seen.quotes(separator, subset, given) {
            let comment = seen.comment(separator, given);
            for blanks in seen.blanks(separator, quote, subset, given) {
                let dialect = Dialect { separator, quote, escape, comment, blanks };
                let table = Table::read(subset, dialect);
                if blanks == Blanks::Skipped && given.blanks.is_none() && table.n_misquoted > 0 {
                    continue;
                }
                if let Some(score) = score::score(&table, &dialect) {
                    candidates.push(Candidate { dialect, score });
                }
            }
        }
    }
    // If one candidate explains all rows, others have no reason to take the first ones as a banner.
    if candidates.iter().any(|candidate| candidate.score.uniformity > 0.999 && candidate.score.n_before == 0)
    {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.score.n_before > 0) {
            candidate.score.value *= 0.6;
        }
    }
    if given.separator.is_none() || candidates.is_empty() {
        candidates.extend(one_column(subset, given, &seen));
    }
    let mut best = candidates[0];
    for &candidate in &candidates[1..] {
        // The first one wins unless another is clearly better: candidates have an order.
        if candidate.score.value > best.score.value * 1.000_001 {
            best = candidate;
        }
    }
    let others = candidates.into_iter().filter(|other| {
        other.dialect.separator != best.dialect.separator
            || (other.score.n_columns == 1) != (best.score.n_columns == 1)
    });
    let second = others.max_by(|a, b| a.score.value.total_cmp(&b.score.value));
    Choice { best, second }
}

/// Whether all lines after the first one are times, which have colons and blanks of their own.
fn lines_are_times(subset: &[Segment<'_>]) -> bool {
    let lines = subset.iter().flat_map(|segment| segment.text.split(|&byte| byte == b'\n'));
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut lines = lines.skip(1).filter(|line| !line.is_empty()).take(100).peekable();
    let is_time = |line: &[u8]| {
        matches!(kind(line, false), Kind::Time | Kind::DateTime) || datetime(line, 0, line.len()).is_some()
    };
    lines.peek().is_some() && lines.all(is_time)
}

/// The candidates whose lines are fields.
fn one_column(subset: &[Segment<'_>], given: &Given, seen: &Seen) -> Vec<Candidate> {
    // No byte of the text may separate while lines are scored.
    let alone =
        (0..=0x7F_u8).find(|&byte| !seen.bytes[usize::from(byte)] && !matches!(byte, b'\n' | b'\r' | b'"'));
    let mut candidates = Vec::new();
    for (quote, escape) in seen.quotes(alone.unwrap_or(0), subset, given) {
        let comment = seen.comment(given.separator.unwrap_or(0), given);
        let blanks = given.blanks.unwrap_or_default();
        let with = |separator| Dialect { separator, quote, escape, comment, blanks };
        let table = Table::read(subset, with(alone.unwrap_or(given.separator.unwrap_or(0x1F))));
        let score = score::score_lines(&table);
        let splits = |separator: u8| {
            seen.bytes[usize::from(separator)]
                && Table::read(subset, with(separator)).rows().any(|row| row.len() > 1)
        };
        let free = || [b',', b';', b'\t', b'|', 0x1F].into_iter().find(|&separator| !splits(separator));
        let separator = given.separator.or_else(free).unwrap_or(0x01);
        candidates.push(Candidate { dialect: with(separator), score });
    }
    candidates
}

/// Which bytes occur in the sample.
struct Seen {
    bytes: [bool; 256],
    /// Whether a backslash is before a double quote, a single quote, or a separator.
    escapes: [bool; 256],
    /// For each byte, whether a line begins with it.
    starts: [bool; 256],
    /// Whether a blank follows a blank, or begins a line.
    has_runs: bool,
}

impl Seen {
    fn new(segments: &[Segment<'_>]) -> Self {
        let mut seen =
            Self { bytes: [false; 256], escapes: [false; 256], starts: [false; 256], has_runs: false };
        for segment in segments {
            let mut before = b'\n';
            for &byte in segment.text {
                seen.bytes[usize::from(byte)] = true;
                match before {
                    b'\\' => seen.escapes[usize::from(byte)] = true,
                    b'\n' | b'\r' => seen.starts[usize::from(byte)] = true,
                    _ => {}
                }
                seen.has_runs |= byte == b' ' && matches!(before, b' ' | b'\n' | b'\r');
                before = byte;
            }
        }
        seen
    }

    /// The byte of comments that is left out while separators are scored.
    fn comment(&self, separator: u8, given: &Given) -> Option<u8> {
        given.comment.unwrap_or_else(|| {
            COMMENTS.into_iter().find(|&byte| byte != separator && self.starts[usize::from(byte)])
        })
    }

    /// The meanings of blanks to try with a separator, the usual one first.
    fn blanks(&self, separator: u8, quote: Option<u8>, subset: &[Segment<'_>], given: &Given) -> Vec<Blanks> {
        match given.blanks {
            Some(blanks) => vec![blanks],
            None if given.separator.is_some() => vec![Blanks::Kept],
            None if separator == b' ' && self.has_runs => vec![Blanks::Kept, Blanks::Separate],
            None if quote.is_some_and(|quote| quotes_after_blanks(subset, separator, quote)) => {
                vec![Blanks::Kept, Blanks::Skipped]
            }
            None => vec![Blanks::Kept],
        }
    }

    /// The quotes and escapes to try with a separator, the usual ones first.
    fn quotes(&self, separator: u8, subset: &[Segment<'_>], given: &Given) -> Vec<(Option<u8>, Option<u8>)> {
        let mut quotes = match given.quote {
            Some(quote) => vec![quote],
            None => vec![Some(b'"')],
        };
        if given.quote.is_none() {
            if quotes_fields(subset, separator, b'\'') {
                quotes.push(Some(b'\''));
            }
            if self.bytes[usize::from(b'"')] {
                quotes.push(None);
            }
        }
        let mut pairs = Vec::new();
        for quote in quotes {
            match given.escape {
                Some(escape) => pairs.push((quote, escape)),
                None => {
                    pairs.push((quote, None));
                    let escaped = |byte: u8| self.escapes[usize::from(byte)];
                    if quote.is_some_and(escaped) || escaped(separator) {
                        pairs.push((quote, Some(b'\\')));
                    }
                }
            }
        }
        pairs
    }
}

/// Whether quotes follow separators and blanks, and none follows a separator alone.
fn quotes_after_blanks(subset: &[Segment<'_>], separator: u8, quote: u8) -> bool {
    let mut is_found = false;
    if separator == b' ' {
        return false;
    }
    for segment in subset {
        for at in memchr::memchr_iter(quote, segment.text) {
            let n_blanks = segment.text[..at].iter().rev().take_while(|&&byte| byte == b' ').count();
            let before = &segment.text[..at - n_blanks];
            if before.last() == Some(&separator) {
                if n_blanks == 0 {
                    return false;
                }
                is_found = true;
            }
        }
    }
    is_found
}

/// Whether `quote` opens and closes fields between separators.
fn quotes_fields(subset: &[Segment<'_>], separator: u8, quote: u8) -> bool {
    let is_end =
        |byte: Option<&u8>| byte.is_none_or(|&byte| byte == separator || matches!(byte, b'\n' | b'\r'));
    let (mut opens, mut closes) = (0, 0);
    for segment in subset {
        for at in memchr::memchr_iter(quote, segment.text) {
            let before = at.checked_sub(1).and_then(|before| segment.text.get(before));
            let after = segment.text.get(at + 1);
            // Two quotes without anything between them may be text for an empty field.
            opens += usize::from(is_end(before) && after != Some(&quote));
            closes += usize::from(is_end(after) && before != Some(&quote));
        }
    }
    opens > 0 && closes > 0
}

/// Decides everything else with the dialect, from all segments.
fn finish(
    text: &[u8],
    segments: &[Segment<'_>],
    given: &Given,
    skip: usize,
    is_declared: bool,
    choice: &Choice,
) -> Sniffed {
    let Settled { dialect, table, mut n_columns } = settle(segments, given, &choice.best);
    let start = if given.skip.is_some() { 0 } else { preamble::banner_rows(&table, n_columns) };
    let skip = if given.skip.is_some() { skip } else { skip + lines_before(text, &table, start, &dialect) };
    let mut header = header::header(&table, start, n_columns);
    if let Some(is_header) = given.header {
        header = Header { is_header, confidence: 1.0, reason: "given" };
    }
    if header.is_header && n_columns > 1 && start < table.n_rows() {
        n_columns = n_columns.max(table.row(start).len());
    }
    let decimal = decimal::decimal(&table, start, &dialect, given);
    let all_quoted = is_all_quoted(&table, start);
    let is_decided = given.decimal.is_some() || decimal.mark == b',' || dialect.separator == b',';
    let comma_columns = match is_decided {
        true => Vec::new(),
        false => decimal::comma_columns(&table, start + usize::from(header.is_header), all_quoted),
    };
    let line_end = table.line_end();
    let decisions = Decisions {
        given,
        choice,
        is_declared,
        dialect,
        n_quoted: table.n_quoted,
        n_misquoted: table.n_misquoted,
        line_end,
        skip,
        has_banner: start > 0,
        header,
        decimal,
    };
    Sniffed {
        dialect,
        line_end,
        skip,
        header,
        decimal: decimal.mark,
        n_columns,
        all_quoted,
        comma_columns,
        reasons: decisions.reasons(),
    }
}

/// A dialect that all segments agree with, and their rows in it.
struct Settled<'a> {
    dialect: Dialect,
    table: Table<'a>,
    n_columns: usize,
}

/// Reads all segments. The subset that was scored may have no escape, and its comments may be rows.
fn settle<'a>(segments: &[Segment<'a>], given: &Given, best: &Candidate) -> Settled<'a> {
    let mut dialect = best.dialect;
    let mut table = Table::read(segments, dialect);
    if given.escape.is_none() && dialect.escape.is_none() && table.n_misquoted > 0 {
        let escaped = Dialect { escape: Some(b'\\'), ..dialect };
        let other = Table::read(segments, escaped);
        if other.n_misquoted * 2 < table.n_misquoted {
            (dialect, table) = (escaped, other);
        }
    }
    let width = |table: &Table<'_>| match best.score.n_columns {
        1 => usize::from(table.n_rows() > 0),
        _ => table.usual_width(2),
    };
    let mut n_columns = width(&table);
    if let (Some(mark), None) = (dialect.comment, given.comment) {
        let plain = Dialect { comment: None, ..dialect };
        let all = Table::read(segments, plain);
        if !preamble::is_comment(mark, &table, &all, n_columns) {
            (dialect, table) = (plain, all);
            n_columns = width(&table);
        }
    }
    Settled { dialect, table, n_columns }
}

/// The lines before row `start`. Comments alone are not counted: the dialect leaves them out.
fn lines_before(text: &[u8], table: &Table<'_>, start: usize, dialect: &Dialect) -> usize {
    let before = &text[..table.offsets.get(start).copied().unwrap_or(0)];
    let mut lines = before.split(|&byte| matches!(byte, b'\n' | b'\r'));
    let is_left_out = |line: &[u8]| line.is_empty() || line.first() == dialect.comment.as_ref();
    if start == 0 && dialect.comment.is_some() && lines.all(is_left_out) {
        return 0;
    }
    sample::count_lines(before)
}

/// Whether quotes say nothing about types, since all fields have them.
fn is_all_quoted(table: &Table<'_>, start: usize) -> bool {
    let mut n = 0_usize;
    for field in (start..table.n_rows()).flat_map(|row| table.row(row)) {
        if field.quoted {
            n += 1;
        } else if !field.text.is_empty() {
            return false;
        }
    }
    n > 0
}
