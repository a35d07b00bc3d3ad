//! A small WHERE clause of SQL as a predicate.
//!
//! ```text
//! condition  = and_part { "or" and_part }
//! and_part   = not_part { "and" not_part }
//! not_part   = "not" not_part | "(" condition ")" | test
//! test       = operand ( sign value
//!                      | ["not"] "in" "(" value { "," value } ")"
//!                      | ["not"] "between" value "and" value )
//!            | value sign operand
//!            | column ( ["not"] "like" string
//!                     | "is" ["not"] ( "null" | "missing" | "nan" )
//!                     | )                                          a column of booleans
//! operand    = column | "len" "(" column ")"                         of lists and maps
//! sign       = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
//! column     = word | '"' text '"'                                   fields of structs: a.b
//! value      = number | [kind] "'" text "'" | "true" | "false"
//! kind       = "date" | "time" | "timestamp"
//! ```
//!
//! Keywords may have any case. A quote inside of a text is written twice. For a column of times, a
//! text is read as a date and a time in ISO 8601.

use std::sync::Arc;

use entasis::{ColumnInfo, ColumnType, Error, File, Kind, Logical, Physical, Result};

use crate::fields::field;
use crate::host_rules::missing_rules;
use crate::predicate::{Comparison, Literal, Match, Predicate, Rules};
use crate::tokens::{Token, token, wrong};

/// Parses a clause to a predicate for a file. The clause may also name `others`: columns that are
/// not in the table, such as the levels of an index. A name that occurs in both means the table's
/// column.
///
/// # Errors
/// *Argument* for text that is not a clause, with the position, and for unknown columns; *corrupt*,
/// *io*.
pub fn parse_where(file: &File, text: &str, others: &[(String, u64)]) -> Result<Predicate> {
    let mut parser = Parser { file, others, text, at: 0, depth: 0 };
    let predicate = parser.condition()?;
    match parser.peek()? {
        None => Ok(predicate),
        Some(_) => Err(parser.wrong("'and' or 'or'")),
    }
}

/// The greatest depth of parentheses and negations.
const MAX_DEPTH: usize = 200;

struct Parser<'a> {
    file: &'a File,
    others: &'a [(String, u64)],
    text: &'a str,
    at: usize,
    depth: usize,
}

/// A column with its number, or the length of its lists.
enum Operand {
    Column(u64, Arc<ColumnInfo>),
    Length(u64),
}

impl Parser<'_> {
    fn wrong(&self, wanted: &str) -> Error {
        wrong(self.text, self.at, wanted)
    }

    fn peek(&self) -> Result<Option<Token>> {
        Ok(token(self.text, self.at)?.map(|(token, _)| token))
    }

    fn next(&mut self) -> Result<Option<Token>> {
        let found = token(self.text, self.at)?;
        if let Some((_, end)) = &found {
            self.at = *end;
        }
        Ok(found.map(|(token, _)| token))
    }

    /// Skips a keyword, if it is next.
    fn keyword(&mut self, keyword: &str) -> Result<bool> {
        let is_next = matches!(self.peek()?, Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    fn sign(&mut self, sign: &str) -> Result<bool> {
        let is_next = matches!(self.peek()?, Some(Token::Sign(found)) if found == sign);
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    fn require(&mut self, sign: &str) -> Result<()> {
        if self.sign(sign)? { Ok(()) } else { Err(self.wrong(&format!("'{sign}'"))) }
    }

    fn condition(&mut self) -> Result<Predicate> {
        let mut parts = vec![self.and_part()?];
        while self.keyword("or")? {
            parts.push(self.and_part()?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Predicate::Or(parts) })
    }

    fn and_part(&mut self) -> Result<Predicate> {
        let mut parts = vec![self.not_part()?];
        while self.keyword("and")? {
            parts.push(self.not_part()?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Predicate::And(parts) })
    }

    fn not_part(&mut self) -> Result<Predicate> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::argument(format!("the condition is nested deeper than {MAX_DEPTH}")));
        }
        let part = if self.keyword("not")? {
            !self.not_part()?
        } else if self.sign("(")? {
            let part = self.condition()?;
            self.require(")")?;
            part
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(part)
    }

    fn test(&mut self) -> Result<Predicate> {
        if let Some(value) = self.leading_value()? {
            let op = self.comparison()?.ok_or_else(|| self.wrong("a comparison"))?;
            let operand = self.operand()?;
            let end = std::mem::replace(&mut self.at, value);
            let predicate = self.compared(&operand, mirrored(op))?;
            self.at = end;
            return Ok(predicate);
        }
        let operand = self.operand()?;
        if let (Operand::Column(column, info), true) = (&operand, self.keyword("is")?) {
            return self.state(*column, info);
        }
        let negated = self.keyword("not")?;
        let test = if self.keyword("in")? {
            self.members(&operand)?
        } else if self.keyword("between")? {
            let low = self.compared(&operand, Comparison::GreaterEqual)?;
            if !self.keyword("and")? {
                return Err(self.wrong("'and'"));
            }
            low.and(self.compared(&operand, Comparison::LessEqual)?)
        } else if let (Operand::Column(column, _), true) = (&operand, self.keyword("like")?) {
            let before = self.at;
            let Some(Token::Text(pattern)) = self.next()? else {
                self.at = before;
                return Err(self.wrong("a text in single quotes"));
            };
            Predicate::Match { column: *column, test: Match::Like, pattern: pattern.into_bytes() }
        } else if negated {
            return Err(self.wrong("'in', 'between' or 'like'"));
        } else if let Some(op) = self.comparison()? {
            self.compared(&operand, op)?
        } else if let Operand::Column(column, info) = &operand
            && info.record.column_type.physical == Physical::Bool
        {
            let (op, rules) = (Comparison::Equal, Rules::default());
            Predicate::Compare { column: *column, op, literal: Literal::Bool(true), rules }
        } else {
            return Err(self.wrong("a comparison"));
        };
        Ok(if negated { !test } else { test })
    }

    /// Skips a value if one is next: one token, or two for a time. Returns its position, or `None`.
    fn leading_value(&mut self) -> Result<Option<usize>> {
        let before = self.at;
        let is_value = match self.next()? {
            Some(Token::Number(_) | Token::Text(_)) => true,
            Some(Token::Word(word)) if is_kind_of_time(&word) => {
                matches!(self.next()?, Some(Token::Text(_)))
            }
            _ => false,
        };
        if !is_value {
            self.at = before;
        }
        Ok(is_value.then_some(before))
    }

    /// A column, or the length of its lists.
    fn operand(&mut self) -> Result<Operand> {
        let before = self.at;
        let name = match self.next()? {
            Some(Token::Word(name) | Token::Quoted(name)) => name,
            _ => {
                self.at = before;
                return Err(self.wrong("a column"));
            }
        };
        if name.eq_ignore_ascii_case("len") && self.sign("(")? {
            let before = self.at;
            let Some(Token::Word(name) | Token::Quoted(name)) = self.next()? else {
                self.at = before;
                return Err(self.wrong("a column"));
            };
            let column = self.column(&name)?;
            self.require(")")?;
            return Ok(Operand::Length(column));
        }
        let column = self.column(&name)?;
        Ok(Operand::Column(column, self.file.column(column)?))
    }

    /// Parses the rest of a test after `is`.
    fn state(&mut self, column: u64, info: &ColumnInfo) -> Result<Predicate> {
        let negated = self.keyword("not")?;
        let test = if self.keyword("null")? || self.keyword("missing")? {
            Predicate::IsMissing { column, rules: missing_rules(self.file, info)? }
        } else if self.keyword("nan")? {
            Predicate::IsNan { column }
        } else {
            return Err(self.wrong("'null', 'missing' or 'nan'"));
        };
        Ok(if negated { !test } else { test })
    }

    /// The comparison of a column or a length with the value that is next.
    fn compared(&mut self, operand: &Operand, op: Comparison) -> Result<Predicate> {
        match operand {
            Operand::Column(column, info) => {
                let literal = self.value(info)?;
                Ok(Predicate::Compare { column: *column, op, literal, rules: Rules::default() })
            }
            Operand::Length(column) => Ok(Predicate::Length { column: *column, op, n: self.integer()? }),
        }
    }

    /// Parses the rest of a test after `in`.
    fn members(&mut self, operand: &Operand) -> Result<Predicate> {
        self.require("(")?;
        let (mut literals, mut lengths) = (Vec::new(), Vec::new());
        loop {
            match operand {
                Operand::Column(_, info) => literals.push(self.value(info)?),
                Operand::Length(_) => lengths.push(self.compared(operand, Comparison::Equal)?),
            }
            if !self.sign(",")? {
                break;
            }
        }
        self.require(")")?;
        Ok(match operand {
            Operand::Column(column, _) => {
                Predicate::In { column: *column, literals, missing: false, rules: Rules::default() }
            }
            Operand::Length(_) => Predicate::Or(lengths),
        })
    }

    /// The number of the column with this name, or of the field that a dotted name leads to.
    fn column(&self, name: &str) -> Result<u64> {
        let unknown = match self.file.find(name) {
            Err(error) if error.kind() == Kind::Argument => error,
            found => return found,
        };
        if let Some((_, column)) = self.others.iter().find(|(other, _)| other == name) {
            return Ok(*column);
        }
        for (i, _) in name.rmatch_indices('.') {
            if let Ok(column) = self.file.find(&name[..i]) {
                let mut fields = name[i + 1..].split('.');
                return fields.try_fold(column, |column, name| field(self.file, column, name));
            }
        }
        Err(unknown)
    }

    fn integer(&mut self) -> Result<i128> {
        let before = self.at;
        let n = match self.next()? {
            Some(Token::Number(number)) => number.parse().ok(),
            _ => None,
        };
        self.at = if n.is_some() { self.at } else { before };
        n.ok_or_else(|| self.wrong("an integer"))
    }

    fn comparison(&mut self) -> Result<Option<Comparison>> {
        let Some(Token::Sign(sign)) = self.peek()? else { return Ok(None) };
        let op = match sign {
            "=" | "==" => Comparison::Equal,
            "!=" | "<>" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => return Ok(None),
        };
        self.next()?;
        Ok(Some(op))
    }

    fn value(&mut self, column: &ColumnInfo) -> Result<Literal> {
        let before = self.at;
        match self.next()? {
            Some(Token::Number(number)) => number_of(&number).ok_or_else(|| {
                Error::argument(format!("the condition has {number:?}, which is not a number"))
            }),
            Some(Token::Text(text)) => self.text_value(column, text),
            Some(Token::Word(word)) if is_kind_of_time(&word) && self.is_text_next()? => {
                let Some(Token::Text(text)) = self.next()? else { return Err(self.wrong("a text")) };
                time_value(self.values_of(column)?.logical, &word, text)
                    .map_err(|e| e.in_column(&column.name))
            }
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("true") => Ok(Literal::Bool(true)),
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("false") => Ok(Literal::Bool(false)),
            found => {
                self.at = before;
                let is_null = matches!(&found, Some(Token::Word(word)) if word.eq_ignore_ascii_case("null"));
                Err(match (is_null, found) {
                    (true, _) => Error::argument("nothing equals a missing value: write `is null`"),
                    (_, Some(Token::Quoted(_) | Token::Word(_))) => {
                        self.wrong("a number or a text in single quotes")
                    }
                    _ => self.wrong("a value"),
                })
            }
        }
    }

    fn is_text_next(&self) -> Result<bool> {
        Ok(matches!(self.peek()?, Some(Token::Text(_))))
    }

    /// The value of a text: bytes for a bytes column.
    fn text_value(&self, column: &ColumnInfo, text: String) -> Result<Literal> {
        if self.values_of(column)?.physical == Physical::Binary {
            return Ok(Literal::Bytes(text.into_bytes()));
        }
        Ok(Literal::String(text))
    }

    /// The type of a column's values; for a categorical, the type of its categories.
    fn values_of(&self, column: &ColumnInfo) -> Result<ColumnType> {
        let dictionary = column.record.dictionary.map(|number| self.file.column(number)).transpose()?;
        Ok(dictionary.as_deref().unwrap_or(column).record.column_type)
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: Comparison) -> Comparison {
    match op {
        Comparison::Less => Comparison::Greater,
        Comparison::LessEqual => Comparison::GreaterEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterEqual => Comparison::LessEqual,
        equality => equality,
    }
}

/// Whether a word before a text makes the text a time.
fn is_kind_of_time(word: &str) -> bool {
    ["date", "time", "timestamp"].iter().any(|kind| word.eq_ignore_ascii_case(kind))
}

/// The value of a text after `date`, `time` or `timestamp`, for a column of times.
fn time_value(of: Logical, kind: &str, text: String) -> Result<Literal> {
    let is_of_day = match of {
        Logical::Date | Logical::Timestamp => false,
        Logical::Time => true,
        _ => {
            let message = format!("{kind} '{text}' is a time, and the column has none: leave {kind} out");
            return Err(Error::argument(message));
        }
    };
    let problem = if is_of_day != kind.eq_ignore_ascii_case("time") {
        "is another kind of time than the column has"
    } else if kind.eq_ignore_ascii_case("date") && text.contains(':') {
        "has a time of day: write timestamp before it"
    } else {
        return Ok(Literal::String(text));
    };
    Err(Error::argument(format!("{kind} '{text}' {problem}")))
}

/// The exact value of a number; the nearest float if the exponent is very large.
fn number_of(text: &str) -> Option<Literal> {
    if let Ok(value) = text.parse() {
        return Some(Literal::Int(value));
    }
    let float: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exact = || {
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent.parse().ok()?)?;
        let digits = format!("{whole}{fraction}");
        Some(match digits.parse() {
            Ok(digits) => Literal::Decimal { digits, scale },
            Err(_) => Literal::LongDecimal { digits, scale },
        })
    };
    Some(exact().unwrap_or(Literal::Float(float)))
}
