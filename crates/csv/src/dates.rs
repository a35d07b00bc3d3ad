//! Columns of dates and times in formats that a user gives.
//!
//! Such a column is read as strings first. One format must hold all its values, so that the result
//! depends neither on chunks nor on the order of rows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use entasis::{Error, Result, Unit};

use crate::categories::string;
use crate::convert::Meaning;
use crate::piece::{Facts, Piece, buffer};
use crate::types::Type;
use crate::values::formats::{Format, Own};
use crate::values::times::Datetime;

/// The forms of ISO 8601, which are tried before other formats.
const ISO: [Format; 3] =
    [Format::IsoDate, Format::IsoTime { is_utc: false }, Format::IsoTime { is_utc: true }];

/// The formats of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dates {
    formats: Vec<Format>,
    /// Those of the user as text.
    texts: Vec<String>,
    /// Whether the user named the column, so that its fields are not taken for numbers.
    pub is_named: bool,
}

/// How the formats of a column fit values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// A bit for each format that fits all values.
    fits: u64,
    /// For each format a bit for each other one that gives another time for some value.
    differs: Vec<u64>,
    /// A bit for each format with which some value has nanoseconds.
    has_nanoseconds: u64,
    has_values: bool,
}

/// The decision about a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It stays text.
    Text,
    /// The number of the format, and the type.
    Format(usize, Type),
}

impl Dates {
    /// The formats of a column, after those of ISO 8601.
    ///
    /// # Errors
    /// *Argument* for formats that do not give one date, and for too many formats.
    pub fn new(texts: &[String], is_named: bool) -> Result<Self> {
        let own = texts.iter().map(|text| Own::parse(text).map(Format::Own));
        let formats: Vec<Format> = ISO.into_iter().map(Ok).chain(own).collect::<Result<_>>()?;
        if formats.len() > 64 {
            return Err(Error::argument(format!("there are {} formats of dates", formats.len() - ISO.len()))
                .advise("pass at most 61"));
        }
        Ok(Self { formats, texts: texts.to_vec(), is_named })
    }

    /// The format of the user with this number; `None` for one of ISO 8601.
    pub fn text(&self, format: usize) -> Option<&str> {
        self.texts.get(format.checked_sub(ISO.len())?).map(String::as_str)
    }

    /// The warning for a column that stays text, if the user named it.
    pub fn warning(&self, column: &str) -> Option<String> {
        let message = format!(
            "the column '{column}' stays text: none of its formats in dates= fits all values, or several do and differ"
        );
        self.is_named.then_some(message)
    }

    /// How the formats fit no values.
    pub fn fit_of_none(&self) -> Fit {
        let n = self.formats.len();
        Fit { fits: u64::MAX >> (64 - n), differs: vec![0; n], has_nanoseconds: 0, has_values: false }
    }

    /// How the formats fit the strings of a piece.
    pub fn fit(&self, piece: &Piece, meaning: &Meaning) -> Fit {
        let mut fit = self.fit_of_none();
        let mut memory = Vec::new();
        let mut times: Vec<(usize, Datetime)> = Vec::new();
        for row in 0..piece.n {
            let Some(field) = field(piece, row, meaning, !meaning.quotes_mean_text) else { continue };
            fit.has_values = true;
            times.clear();
            let before = fit.fits;
            for (i, format) in self.formats.iter().enumerate().filter(|(i, _)| before >> i & 1 == 1) {
                let Some(time) = format.read(field, &mut memory) else {
                    fit.fits &= !(1 << i);
                    continue;
                };
                for (j, other) in &times {
                    if !are_same((&self.formats[*j], other), (format, &time)) {
                        fit.differs[i] |= 1 << j;
                    }
                }
                fit.has_nanoseconds |= u64::from(time.has_nanoseconds) << i;
                times.push((i, time));
            }
            if fit.fits == 0 {
                break;
            }
        }
        fit
    }

    /// The decision about a column.
    pub fn choice(&self, fit: &Fit) -> Choice {
        let fitting = || (0..self.formats.len()).filter(|i| fit.fits >> i & 1 == 1);
        let is_ambiguous = fitting().any(|i| fit.differs[i] & fit.fits != 0);
        match fitting().next() {
            Some(i) if fit.has_values && !is_ambiguous => {
                let unit =
                    if fit.has_nanoseconds >> i & 1 == 1 { Unit::Nanosecond } else { Unit::Microsecond };
                let format = &self.formats[i];
                let of = if format.has_time() {
                    Type::Datetime { unit, is_utc: format.is_utc() }
                } else {
                    Type::Date
                };
                Choice::Format(i, of)
            }
            _ => Choice::Text,
        }
    }

    /// The times of strings by one format; `None` if one does not fit.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn convert(
        &self,
        piece: &Piece,
        format: usize,
        of: Type,
        meaning: &Meaning,
    ) -> Result<Option<Piece>> {
        let format = &self.formats[format];
        let mut misfits = Vec::new();
        let found =
            times(piece, of, (meaning, !meaning.quotes_mean_text), &mut misfits, &mut |field, memory| {
                format.read(field, memory)
            })?;
        Ok(misfits.is_empty().then_some(found))
    }

    /// The times of strings in a type that the user gave. Strings that fit no format, or several
    /// that give other times, become missing and are passed on.
    ///
    /// # Errors
    /// *Out of memory*.
    pub fn given(
        &self,
        piece: &Piece,
        of: Type,
        meaning: &Meaning,
        misfits: &mut Vec<usize>,
    ) -> Result<Piece> {
        let is_wanted = |format: &&Format| match of {
            Type::Datetime { is_utc, .. } => format.has_time() && format.is_utc() == is_utc,
            _ => !format.has_time(),
        };
        times(piece, of, (meaning, true), misfits, &mut |field, memory| {
            let mut found = None;
            for format in self.formats.iter().filter(is_wanted) {
                match (format.read(field, memory), &found) {
                    (Some(time), None) => found = Some((format, time)),
                    (Some(time), Some(other)) if !are_same((other.0, &other.1), (format, &time)) => {
                        return None;
                    }
                    _ => {}
                }
            }
            found.map(|(_, time)| time)
        })
    }
}

impl Fit {
    /// How the formats fit the values of both.
    pub fn join(&mut self, other: &Self) {
        self.fits &= other.fits;
        self.has_nanoseconds |= other.has_nanoseconds;
        self.has_values |= other.has_values;
        for (differs, other) in self.differs.iter_mut().zip(&other.differs) {
            *differs |= other;
        }
    }
}

fn are_same(a: (&Format, &Datetime), b: (&Format, &Datetime)) -> bool {
    (a.1.seconds, a.1.nanoseconds) == (b.1.seconds, b.1.nanoseconds)
        && (a.0.has_time(), a.0.is_utc()) == (b.0.has_time(), b.0.is_utc())
}

/// The string of a row without blanks; `None` where it stands for a missing value.
fn field<'a>(piece: &'a Piece, row: usize, meaning: &Meaning, misses_empty: bool) -> Option<&'a [u8]> {
    if !piece.is_present(row) {
        return None;
    }
    let field = string(piece, meaning.layout, row).trim_ascii();
    let is_missing = meaning.missing.iter().any(|word| word == field) || (field.is_empty() && misses_empty);
    (!is_missing).then_some(field)
}

/// The time of a string. The memory is for copies of it.
type Read<'a> = dyn FnMut(&[u8], &mut Vec<u8>) -> Option<Datetime> + 'a;

fn times(
    piece: &Piece,
    of: Type,
    (meaning, misses_empty): (&Meaning, bool),
    misfits: &mut Vec<usize>,
    read: &mut Read<'_>,
) -> Result<Piece> {
    let n = piece.n;
    let width = of.width().unwrap_or(8);
    let mut values = buffer(width * n)?;
    let mut validity = buffer(n.div_ceil(64) * 8)?;
    validity.fill(u8::MAX);
    let mut memory = Vec::new();
    let mut has_missing = false;
    for row in 0..n {
        let Some(field) = field(piece, row, meaning, misses_empty) else {
            validity[row / 8] &= !(1 << (row % 8));
            has_missing = true;
            continue;
        };
        match read(field, &mut memory).and_then(|time| scaled(&time, of)) {
            Some(value) => values[width * row..][..width].copy_from_slice(&value.to_le_bytes()[..width]),
            None => {
                validity[row / 8] &= !(1 << (row % 8));
                has_missing = true;
                misfits.push(row);
            }
        }
    }
    let validity = has_missing.then_some(validity);
    Ok(Piece { of, n, values, bytes: Default::default(), validity, facts: Facts::default() })
}

/// Calls `work` for the numbers up to `n`, by several threads. The results have their order.
///
/// # Errors
/// The first error.
pub fn each<T: Send>(n: usize, threads: usize, work: &(dyn Fn(usize) -> Result<T> + Sync)) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new((0..n).map(|_| None).collect::<Vec<Option<Result<T>>>>());
    let run = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                return;
            }
            let found = work(i);
            made.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(found);
        }
    };
    entasis_platform::thread_pool::run(threads.saturating_sub(1).min(n), &|_| run(), |_| run());
    made.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

/// The stored integer of a time; `None` if the type does not hold it.
fn scaled(time: &Datetime, of: Type) -> Option<i64> {
    let Type::Datetime { unit, .. } = of else {
        let days = time.seconds.div_euclid(86_400);
        return i32::try_from(days).is_ok().then_some(days);
    };
    let (per_second, length) = match unit {
        Unit::Nanosecond => (1_000_000_000, 1),
        Unit::Millisecond => (1000, 1_000_000),
        Unit::Second => (1, 1_000_000_000),
        _ => (1_000_000, 1000),
    };
    if !time.nanoseconds.is_multiple_of(length) || (time.has_nanoseconds && length == 1000) {
        return None;
    }
    time.seconds.checked_mul(per_second)?.checked_add(i64::from(time.nanoseconds / length))
}
