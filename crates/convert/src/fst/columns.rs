//! Columns: their types in the file, and their classes in R.

use entasis::{Error, Result};

use super::blocks::{Numbers, factor};
use super::header::Header;
use super::text::Text;
use crate::bytes::Bytes;
use crate::r::{Data, Strings, Value};

/// A column.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) values: Values<'a>,
    class: u16,
    scale: i16,
}

/// Where and how values are stored.
#[derive(Debug)]
pub(super) enum Values<'a> {
    Text(Text<'a>),
    /// Codes from 1 and levels. `None`: without levels, all codes are missing.
    Factor(Option<Numbers<'a>>, Box<Strings>),
    Numbers(Numbers<'a>, Type),
}

/// Types of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Integer,
    Double,
    Logical,
    /// Integers of 64 bits in the memory of doubles.
    Wide,
    Raw,
}

/// Codes of classes.
mod class {
    pub const ORDERED: u16 = 4;
    pub const INTEGER_TIME: u16 = 6;
    pub const INTEGER_SPAN: u16 = 7;
    pub const INTEGER_DATE: u16 = 8;
    pub const INTEGER_CLOCK: u16 = 9;
    pub const DATE: u16 = 11;
    pub const TIME: u16 = 12;
    pub const SPAN: u16 = 13;
    pub const CLOCK: u16 = 14;
    pub const WIDE: u16 = 16;
    pub const NANOTIME: u16 = 17;
}

impl<'a> Column<'a> {
    /// Column `i` of a file.
    pub(super) fn open(bytes: Bytes<'a>, header: &Header, i: usize) -> Result<Self> {
        let facts = header.columns[i];
        let numbers = |of: Type, width: usize| {
            Ok(Values::Numbers(Numbers::open(bytes, facts.at, width, header.n_rows)?, of))
        };
        let values = match facts.of {
            6 => Text::open(bytes, facts.at, header.n_rows).map(Values::Text),
            7 => Self::factor(bytes, facts.at, header.n_rows),
            8 => numbers(Type::Integer, 4),
            9 => numbers(Type::Double, 8),
            10 => numbers(Type::Logical, 4),
            11 => numbers(Type::Wide, 8),
            12 => numbers(Type::Raw, 1),
            of => Err(Error::unsupported(format!("columns of type {of} of fst"))),
        };
        let values = values.map_err(|error| match header.names.get(i) {
            Some(name) => error.in_column(name),
            None => error,
        })?;
        Ok(Self { values, class: facts.class, scale: facts.scale })
    }

    fn factor(bytes: Bytes<'a>, at: u64, n_rows: u64) -> Result<Values<'a>> {
        let (codes_at, levels_at, n_levels) = factor(bytes, at)?;
        let text = Text::open(bytes, levels_at, n_levels)?;
        let levels = Box::new(text.decode_all()?.strings(text.mark())?);
        let codes = match n_levels {
            0 => None,
            _ => Some(Numbers::open(bytes, codes_at, 4, n_rows)?),
        };
        Ok(Values::Factor(codes, levels))
    }

    /// The bytes of a value in memory, without those of strings.
    pub(super) fn width(&self) -> u64 {
        match &self.values {
            Values::Text(_) => 8,
            Values::Factor(..) => 4,
            Values::Numbers(numbers, _) => numbers.width as u64,
        }
    }

    /// Bytes of the stored blocks of strings that have these rows; 0 for other columns.
    pub(super) fn stored_text_len(&self, rows: &std::ops::Range<u64>) -> Result<u64> {
        match &self.values {
            Values::Text(text) => text.stored_len(rows),
            _ => Ok(0),
        }
    }

    /// Whether values take no bytes in the file.
    pub(super) fn is_free(&self) -> bool {
        matches!(&self.values, Values::Factor(None, _))
    }

    /// The vector with its attributes.
    pub(super) fn value(&self, data: Data) -> Value {
        let value = Value::from(data);
        let annotation = match &self.values {
            Values::Numbers(numbers, _) => numbers.annotation.as_deref(),
            _ => None,
        };
        match (&self.values, self.class) {
            (Values::Text(_), _) => value,
            (Values::Factor(_, levels), of) => {
                let value = value.with("levels", Data::Strings(levels.clone()));
                if of == class::ORDERED {
                    classed(value, &["ordered", "factor"])
                } else {
                    classed(value, &["factor"])
                }
            }
            (_, class::INTEGER_DATE) => classed(value, &["IDate", "Date"]),
            (_, class::DATE) => classed(value, &["Date"]),
            (_, class::INTEGER_TIME | class::TIME) => {
                let value = classed(value, &["POSIXct", "POSIXt"]);
                match annotation {
                    Some(zone) => value.with("tzone", strings(&[zone])),
                    None => value,
                }
            }
            (_, class::INTEGER_SPAN | class::SPAN) => {
                let value = classed(value, &["difftime"]);
                match self.units() {
                    Some(units) => value.with("units", strings(&[units])),
                    None => value,
                }
            }
            (_, class::INTEGER_CLOCK | class::CLOCK) => classed(value, &["ITime"]),
            (_, class::WIDE) => classed(value, &["integer64"]),
            (_, class::NANOTIME) => {
                let of = Value::from(strings(&["nanotime"])).with("package", strings(&["nanotime"]));
                let mut value = value.with("class", of).with(".S3Class", strings(&["integer64"]));
                value.is_s4 = true;
                value
            }
            _ => value,
        }
    }

    /// The name of R for the unit of times.
    fn units(&self) -> Option<&'static str> {
        match self.scale {
            4 => Some("secs"),
            5 => Some("mins"),
            6 => Some("hours"),
            7 => Some("days"),
            _ => None,
        }
    }
}

fn strings(texts: &[&str]) -> Data {
    Data::Strings(Box::new(texts.iter().copied().collect()))
}

fn classed(value: Value, classes: &[&str]) -> Value {
    value.with("class", strings(classes))
}
