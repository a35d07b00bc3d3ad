//! The rows of a sample under one dialect.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::{memchr_iter, memchr2};

use super::LineEnd;
use super::sample::Segment;
use crate::dialect::{Blanks, Dialect};
use crate::strict::Rows;

/// The most fields of a table. They bound the memory for texts of separators alone.
const MAX_FIELDS: usize = 200_000;

/// A field, and whether it has quotes around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    /// The bytes between the quotes, with quotes still doubled.
    pub(super) text: &'a [u8],
    pub(super) quoted: bool,
}

/// The rows of a sample. Blank and commented lines are left out.
#[derive(Debug)]
pub(super) struct Table<'a> {
    fields: Vec<Field<'a>>,
    /// For each row, the end of its fields.
    ends: Vec<usize>,
    /// For each row of the first segment, the offset of its first byte.
    pub(super) offsets: Vec<usize>,
    /// Fields with a quote at both ends.
    pub(super) n_quoted: usize,
    /// Fields whose closing quote is not their last byte, or is absent.
    pub(super) n_misquoted: usize,
    /// Row ends of each kind: `\n`, `\r\n`, `\r`.
    line_ends: [usize; 3],
}

impl<'a> Table<'a> {
    /// Splits the segments.
    pub(super) fn read(segments: &[Segment<'a>], dialect: Dialect) -> Self {
        let mut table = Self {
            fields: Vec::new(),
            ends: Vec::new(),
            offsets: Vec::new(),
            n_quoted: 0,
            n_misquoted: 0,
            line_ends: [0; 3],
        };
        for (n, &segment) in segments.iter().enumerate() {
            let segment = match dialect.quote {
                Some(quote) if !segment.at_row => table.align(segment, dialect, quote),
                _ => segment,
            };
            table.add(segment, dialect, n == 0);
        }
        table
    }

    pub(super) fn n_rows(&self) -> usize {
        self.ends.len()
    }

    /// The fields of a row.
    pub(super) fn row(&self, n: usize) -> &[Field<'a>] {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.fields[start..self.ends[n]]
    }

    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &[Field<'a>]> + ExactSizeIterator {
        (0..self.n_rows()).map(|n| self.row(n))
    }

    /// The most frequent width of at least `least` fields; of equal ones the greatest. 0: none.
    pub(super) fn usual_width(&self, least: usize) -> usize {
        let mut counts = BTreeMap::<usize, usize>::new();
        for row in self.rows().filter(|row| row.len() >= least) {
            *counts.entry(row.len()).or_default() += 1;
        }
        counts.into_iter().max_by_key(|&(width, count)| (count, width)).map_or(0, |(width, _)| width)
    }

    /// How rows end.
    pub(super) fn line_end(&self) -> LineEnd {
        match self.line_ends {
            [_, 0, 0] => LineEnd::Lf,
            [0, _, 0] => LineEnd::CrLf,
            [0, 0, _] => LineEnd::Cr,
            _ => LineEnd::Mixed,
        }
    }

    /// The segment from its first line that begins a row. A line may be inside of quotes, so the
    /// better of two starts is taken: the line, or the line after the next closing quote.
    fn align(&self, segment: Segment<'a>, dialect: Dialect, quote: u8) -> Segment<'a> {
        let text = segment.text;
        let is_close = |at: &usize| {
            let next = text.get(at + 1);
            next.is_some_and(|&byte| byte == dialect.separator || matches!(byte, b'\n' | b'\r'))
                && !(*at > 0 && text[at - 1] == quote)
        };
        let Some(close) = memchr_iter(quote, text).find(is_close) else {
            return segment;
        };
        let Some(end) = text[close..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            return segment;
        };
        let inside = Segment { text: &text[close + end + 1..], ..segment };
        let width = self.usual_width(1);
        let fits = |segment: Segment<'a>| {
            let mut rows = Scanner { text: segment.text, dialect, at: 0, is_open: false };
            let (mut fields, mut n, mut fits) = (Vec::new(), 0.0, 0.0);
            while rows.next(&mut fields) {
                n += 1.0;
                fits += f64::from(u8::from(fields.len() == width));
            }
            if n == 0.0 { 0.0 } else { fits / n }
        };
        if fits(inside) > fits(segment) { inside } else { segment }
    }

    /// Adds the rows of a segment.
    fn add(&mut self, segment: Segment<'a>, dialect: Dialect, is_first: bool) {
        let text = segment.text;
        let n_rows = self.n_rows();
        let mut rows = Scanner { text, dialect, at: 0, is_open: false };
        let mut ranges = Vec::new();
        let mut last = 0..0;
        while self.fields.len() < MAX_FIELDS && rows.next(&mut ranges) {
            let (start, end) = (ranges[0].start, ranges[ranges.len() - 1].end);
            let line_end = end + text[end..].iter().take_while(|&&byte| dialect.is_gap(byte)).count();
            match (text.get(line_end), text.get(line_end + 1)) {
                (Some(b'\n'), _) => self.line_ends[0] += 1,
                (Some(b'\r'), Some(b'\n')) => self.line_ends[1] += 1,
                (Some(b'\r'), Some(_)) => self.line_ends[2] += 1,
                (Some(b'\r'), None) if !segment.cut => self.line_ends[2] += 1,
                _ => {}
            }
            last = start..end;
            if ranges.len() == 1 && text[start..end].trim_ascii().is_empty() {
                continue;
            }
            for range in &ranges {
                let field = self.field(&text[range.clone()], dialect);
                self.fields.push(field);
            }
            self.ends.push(self.fields.len());
            if is_first {
                self.offsets.push(start);
            }
        }
        let is_partial = last.end == text.len() && !last.is_empty();
        if is_partial && segment.cut && self.n_rows() > n_rows + 1 {
            self.ends.pop();
            self.fields.truncate(self.ends.last().copied().unwrap_or(0));
            if is_first {
                self.offsets.pop();
            }
            // A stray quote swallows the rest of the text.
            if rows.is_open && last.len() > text.len() / 2 {
                self.n_misquoted += 1;
            }
        }
    }

    /// A field without its quotes. Counts whether they fit.
    fn field(&mut self, text: &'a [u8], dialect: Dialect) -> Field<'a> {
        let Some(quote) = dialect.quote.filter(|quote| text.first() == Some(quote)) else {
            return Field { text, quoted: false };
        };
        let mut at = 1;
        while at < text.len() {
            if Some(text[at]) == dialect.escape && dialect.escape != dialect.quote {
                at += 2;
            } else if text[at] != quote {
                at += 1;
            } else if text.get(at + 1) == Some(&quote) {
                at += 2;
            } else {
                break;
            }
        }
        if at + 1 == text.len() {
            self.n_quoted += 1;
            return Field { text: &text[1..at], quoted: true };
        }
        self.n_misquoted += 1;
        Field { text, quoted: false }
    }
}

/// The rows of a text, as [`Rows`] gives them. Lines without quotes and escapes take a faster way.
struct Scanner<'a> {
    text: &'a [u8],
    dialect: Dialect,
    at: usize,
    /// Whether the last row ended inside quotes.
    is_open: bool,
}

impl Scanner<'_> {
    /// Puts the ranges of the next row's fields into `fields`. Returns `false` at the end.
    fn next(&mut self, fields: &mut Vec<Range<usize>>) -> bool {
        let Dialect { separator, quote, escape, comment, blanks } = self.dialect;
        let rest = &self.text[self.at..];
        let len = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = &rest[..len];
        // An absent byte is searched for as a line end, which no line has.
        let special = memchr2(quote.unwrap_or(b'\n'), escape.unwrap_or(b'\n'), line);
        if special.is_none() && len > 0 && line.first() != comment.as_ref() && blanks == Blanks::Kept {
            fields.clear();
            let mut start = self.at;
            for at in memchr_iter(separator, line) {
                fields.push(start..self.at + at);
                start = self.at + at + 1;
            }
            fields.push(start..self.at + len);
        } else {
            let mut rows = Rows::new(rest, self.dialect);
            if !rows.next(fields) {
                return false;
            }
            fields.iter_mut().for_each(|range| *range = range.start + self.at..range.end + self.at);
            self.is_open = rows.is_open();
            self.at += rows.at();
            return true;
        }
        let end = fields[fields.len() - 1].end;
        let is_pair = self.text[end..].starts_with(b"\r\n");
        self.at = self.text.len().min(end + 1 + usize::from(is_pair));
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &[u8]) -> Segment<'_> {
        Segment { text, at_row: true, cut: false }
    }

    #[test]
    fn fields_lose_their_quotes_and_blank_lines_are_left_out() {
        let text = b"a,\"b\n\"\"c\"\r\n\r\n\"x\"y,z\r\n";
        let table = Table::read(&[whole(text)], Dialect::default());
        assert_eq!(table.n_rows(), 2);
        assert_eq!(table.row(0)[1].text, b"b\n\"\"c");
        assert!(table.row(0)[1].quoted && !table.row(1)[0].quoted);
        assert_eq!((table.n_quoted, table.n_misquoted), (1, 1));
        assert_eq!(table.offsets, [0, 13]);
        assert_eq!(table.line_end(), LineEnd::CrLf);
    }

    #[test]
    fn the_last_row_of_a_cut_segment_is_dropped() {
        let segment = Segment { cut: true, ..whole(b"1,2\n3,4\n5") };
        assert_eq!(Table::read(&[segment], Dialect::default()).n_rows(), 2);
        let segment = Segment { cut: true, ..whole(b"1,2") };
        assert_eq!(Table::read(&[segment], Dialect::default()).n_rows(), 1);
    }

    #[test]
    fn a_segment_inside_of_quotes_is_aligned() {
        let first = whole(b"1,\"a\nb\"\n2,\"c\"\n");
        let inside =
            Segment { text: b"text, more, text\nend\"\n3,\"d\"\n4,\"e\"\n", at_row: false, cut: true };
        let table = Table::read(&[first, inside], Dialect::default());
        assert!(table.rows().all(|row| row.len() == 2), "{table:?}");
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same_rows(
            text in prop::collection::vec(prop::sample::select(&b"ab,\"\\#\n\r"[..]), 0..60),
            escape in prop::option::of(Just(b'\\')),
            comment in prop::option::of(Just(b'#')),
        ) {
            let dialect = Dialect { escape, comment, ..Dialect::default() };
            let mut slow = Rows::new(&text, dialect);
            let mut fast = Scanner { text: &text, dialect, at: 0, is_open: false };
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            while slow.next(&mut expected) {
                prop_assert!(fast.next(&mut found));
                prop_assert_eq!(&found, &expected);
            }
            prop_assert!(!fast.next(&mut found));
        }
    }
}
