//! The reasons that are given for each decision.

use super::decimal::Decimal;
use super::{Choice, Given, Header, LineEnd, Reason};
use crate::dialect::{Blanks, Dialect};

/// All decisions about a text, and the facts that they rest on.
pub(super) struct Decisions<'a> {
    pub given: &'a Given,
    pub choice: &'a Choice,
    /// The first line declares the separator.
    pub is_declared: bool,
    pub dialect: Dialect,
    /// Fields whose quotes open and close them.
    pub n_quoted: usize,
    /// Fields with other quotes.
    pub n_misquoted: usize,
    pub line_end: LineEnd,
    pub skip: usize,
    /// Rows before the table do not fit it.
    pub has_banner: bool,
    pub header: Header,
    pub decimal: Decimal,
}

/// A reason, and from 0 to 1 how sure it is.
type Because = (&'static str, f64);

impl Decisions<'_> {
    /// One reason for each decision.
    pub(super) fn reasons(&self) -> Vec<Reason> {
        let of = |what, value: String, (reason, confidence): Because| Reason {
            what,
            value,
            reason: reason.to_owned(),
            confidence,
        };
        let is_header = if self.header.is_header { "yes" } else { "no" };
        vec![
            self.separator(),
            of("quote", shown(self.dialect.quote), self.quote()),
            of("escape", shown(self.dialect.escape), self.escape()),
            of("comment", shown(self.dialect.comment), self.comment()),
            of("line_end", self.line_end.name().to_owned(), ("counted at the ends of rows", 1.0)),
            of("skip", self.skip.to_string(), self.skip()),
            of("header", is_header.to_owned(), (self.header.reason, self.header.confidence)),
            of("decimal", shown(Some(self.decimal.mark)), (self.decimal.reason, self.decimal.confidence)),
        ]
    }

    fn separator(&self) -> Reason {
        let score = &self.choice.best.score;
        let reason = if self.is_declared {
            "the first line declares it".to_owned()
        } else if self.given.separator.is_some() {
            "given".to_owned()
        } else if score.n_columns == 1 {
            "no separator splits most lines into equal rows of values".to_owned()
        } else {
            let percent = (score.uniformity * 100.0).round();
            format!("{percent} % of the rows have {} fields", score.n_columns)
        };
        let confidence = match &self.choice.second {
            Some(second) if self.given.separator.is_none() => {
                let ratio = second.score.value / score.value.max(f64::MIN_POSITIVE);
                (1.0 - ratio * 0.9).clamp(0.0, 1.0).sqrt()
            }
            _ => 1.0,
        };
        let value = match self.dialect.blanks {
            Blanks::Kept => shown(Some(self.dialect.separator)),
            Blanks::Skipped => shown(Some(self.dialect.separator)) + " and blanks",
            Blanks::Separate => self.dialect.separator_text(),
        };
        Reason { what: "separator", value, reason, confidence }
    }

    fn quote(&self) -> Because {
        match (self.given.quote, self.n_quoted, self.n_misquoted) {
            (Some(_), _, _) => ("given", 1.0),
            (None, 0, 0) => ("no field has quotes; this is the usual one", 0.8),
            (None, _, 0) => ("all quotes open and close fields", 0.98),
            (None, _, _) => ("most quotes open and close fields", 0.6),
        }
    }

    fn escape(&self) -> Because {
        match (self.given.escape, self.dialect.escape) {
            (Some(_), _) => ("given", 1.0),
            (None, None) => ("quotes within quotes are doubled, or there are none", 0.9),
            (None, Some(_)) => ("rows are more equal when it takes the meaning from the next byte", 0.9),
        }
    }

    fn comment(&self) -> Because {
        match (self.given.comment, self.dialect.comment) {
            (Some(_), _) => ("given", 1.0),
            (None, None) => ("no line looks like a comment", 0.9),
            (None, Some(_)) => ("lines that begin with it do not fit the other rows", 0.8),
        }
    }

    fn skip(&self) -> Because {
        match (self.given.skip, self.skip) {
            (Some(_), _) => ("given", 1.0),
            (None, 0) => ("the table begins in the first line", 0.9),
            (None, _) if !self.has_banner => {
                ("lines before the table are blank, or declare the separator", 0.95)
            }
            (None, _) => ("the first lines do not fit the other rows", 0.7),
        }
    }
}

impl LineEnd {
    fn name(self) -> &'static str {
        match self {
            Self::Lf => "\\n",
            Self::CrLf => "\\r\\n",
            Self::Cr => "\\r",
            Self::Mixed => "mixed",
        }
    }
}

/// A byte for people.
fn shown(byte: Option<u8>) -> String {
    match byte {
        None => "none".to_owned(),
        Some(b'\t') => "\\t".to_owned(),
        Some(b' ') => "space".to_owned(),
        Some(byte) if byte.is_ascii_graphic() => char::from(byte).to_string(),
        Some(byte) => format!("\\x{byte:02x}"),
    }
}
