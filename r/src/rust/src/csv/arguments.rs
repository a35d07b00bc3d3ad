//! The arguments of a reading, as texts by their names.

use std::collections::HashMap;

use entasis::{Error, Result};
use entasis_csv::piece::TextLayout;
use entasis_csv::problems::OnError;
use entasis_csv::types::Unit;
use entasis_csv::{Blanks, Dialect, Given, Options, Selection, Spec, Type};

use crate::guard::{Text, slice};

/// An argument as C passes it: its name, and its values as texts.
#[repr(C)]
pub struct Argument {
    name: Text,
    values: *const Text,
    n: usize,
}

/// A spec, whose types become those that R has.
fn spec(text: &str) -> Result<Spec> {
    let mut spec = Spec::from_json(text)?;
    for name in &mut spec.types {
        let of = match Type::of_name(name) {
            Some(Type::Int { bytes: 1 | 2, .. }) => Type::Int { bytes: 4, is_signed: true },
            Some(Type::Int { bytes: 4, is_signed: false }) => Type::INT,
            Some(Type::Float { .. } | Type::Decimal { .. }) => Type::FLOAT,
            Some(Type::Datetime { unit: Unit::Second | Unit::Millisecond, is_utc }) => {
                Type::Datetime { unit: Unit::Microsecond, is_utc }
            }
            _ => continue,
        };
        *name = of.name().into_owned();
    }
    Ok(spec)
}

/// The arguments that are given.
pub struct Arguments<'a>(HashMap<&'a str, Vec<&'a str>>);

impl<'a> Arguments<'a> {
    /// The arguments that C lends.
    ///
    /// # Safety
    /// All texts must be valid and unchanged while the arguments are used.
    pub unsafe fn of(arguments: &'a [Argument]) -> Result<Self> {
        let mut all = HashMap::new();
        for argument in arguments {
            // SAFETY: as the caller promises.
            let (name, values) = unsafe { (argument.name.text()?, slice(argument.values, argument.n)) };
            // SAFETY: as the caller promises.
            let texts = values.iter().map(|value| unsafe { value.text() });
            all.insert(name, texts.collect::<Result<Vec<&str>>>()?);
        }
        Ok(Self(all))
    }

    /// All values; `None` for an argument that is not given.
    pub fn all(&self, name: &str) -> Option<Vec<String>> {
        self.0.get(name).map(|values| values.iter().map(|&value| value.to_owned()).collect())
    }

    /// The only value.
    pub fn one(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(|values| values.first().copied())
    }

    /// Whether a flag is given and true.
    pub fn flag(&self, name: &str) -> bool {
        self.one(name) == Some("true")
    }

    /// A number.
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Result<Option<N>> {
        let number = |text: &str| {
            text.parse().map_err(|_| Error::argument(format!("{name} must be a number, not {text:?}")))
        };
        self.one(name).map(number).transpose()
    }

    /// One character of ASCII.
    pub fn byte(&self, name: &str) -> Result<Option<u8>> {
        let byte = |text: &str| match *text.as_bytes() {
            [byte] if byte.is_ascii() => Ok(byte),
            _ => Err(Error::argument(format!("'{name}' must be one character of ASCII, not {text:?}"))),
        };
        self.one(name).map(byte).transpose()
    }

    /// One character, or none for an empty text.
    fn optional(&self, name: &str) -> Result<Option<Option<u8>>> {
        match self.one(name) {
            Some("") => Ok(Some(None)),
            _ => Ok(self.byte(name)?.map(Some)),
        }
    }

    fn separator(&self) -> Result<Option<(u8, Blanks)>> {
        let parsed = |text: &str| {
            Dialect::parse_separator(text).ok_or_else(|| {
                let what = "one character of ASCII, one and a blank, or \"blanks\"";
                Error::argument(format!("'sep' must be {what}, not {text:?}"))
            })
        };
        self.one("sep").map(parsed).transpose()
    }

    /// Pairs of two arguments of the same length.
    fn pairs(&self, names: &str, values: &str) -> Vec<(String, String)> {
        let (names, values) = (self.all(names).unwrap_or_default(), self.all(values).unwrap_or_default());
        names.into_iter().zip(values).collect()
    }

    /// Formats of dates: those of all columns, then those of single columns.
    fn dates(&self) -> Vec<(Option<String>, Vec<String>)> {
        let mut dates: Vec<_> = self.all("dates").map(|formats| (None, formats)).into_iter().collect();
        for (column, format) in self.pairs("date_columns", "date_formats") {
            let column = Some(column);
            match dates.iter_mut().find(|(known, _)| *known == column) {
                Some((_, formats)) => formats.push(format),
                None => dates.push((column, vec![format])),
            }
        }
        dates
    }

    /// The options of the reader.
    pub fn options(&self) -> Result<Options> {
        let separator = self.separator()?;
        let mut options = Options {
            spec: self.one("spec").map(spec).transpose()?,
            given: Given {
                separator: separator.map(|(byte, _)| byte),
                blanks: separator.map(|(_, blanks)| blanks),
                quote: self.optional("quote")?,
                escape: self.optional("escape")?,
                comment: self.optional("comment.char")?,
                skip: self.number("skip")?,
                header: self.one("header").map(|header| header == "true"),
                decimal: self.byte("dec")?,
            },
            first_is_unnamed: true,
            unnamed: Some("V"),
            columns: match (self.all("select"), self.all("drop")) {
                (Some(columns), _) => Selection::Names(columns),
                (None, Some(columns)) => Selection::Without(columns),
                (None, None) => Selection::All,
            },
            dates: self.dates(),
            id: self.one("id").map(str::to_owned),
            missing: self.all("na.strings"),
            thousands: self.byte("thousands")?,
            strips: self.flag("strip.white"),
            fill: self.flag("fill"),
            on_error: match self.one("on_error") {
                Some("missing") => OnError::Missing,
                Some("skip") => OnError::Skip,
                _ => OnError::Error,
            },
            rows: self.number("nrows")?.map(|end| 0..end),
            as_categories: self.flag("stringsAsFactors"),
            layout: TextLayout::Views,
            threads: self.number("nThread")?,
            chunk_len: self.number("chunk_len")?,
            ..Options::default()
        };
        for (name, of) in self.pairs("type_columns", "types") {
            let found = Type::of_name(&of).ok_or_else(|| Error::argument(format!("no type '{of}'")))?;
            options.types.push((name, found));
        }
        if let Some(most) = self.number("max_field")? {
            options.max_field = most;
        }
        options.source.encoding = self.one("encoding").map(str::to_owned);
        Ok(options)
    }
}
