//! A text that was read: the facts that C asks for, and the values that it takes.

use std::collections::HashSet;

use entasis::{Error, Result};
use entasis_csv::piece::{Piece, TextLayout, is_exact, is_exact_unsigned};
use entasis_csv::problems::{OnError, Problems};
use entasis_csv::source::Origin;
use entasis_csv::{Column, Job, Options, Outcome, Refused, Spec, Table, Type};

use super::fill::{Task, run};
use crate::guard::{Failure, Signals};

/// The rows whose types are sniffed.
const SNIFFED_ROWS: u64 = 10_000;

/// How the integers of a column fit the types of R.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// All are integers of R, or the column has no integers of 64 bits.
    Integer = 0,
    /// All are values of integer64 and doubles.
    Exact = 1,
    /// All are values of integer64. A double would round some of them.
    Integer64 = 2,
    /// Some are beyond integer64. A double would round some of them.
    Text = 3,
}

/// The reason for a part of a spec.
pub struct Reason {
    pub what: &'static str,
    pub value: String,
    pub reason: String,
    pub confidence: f64,
}

/// A text that was read.
pub struct CsvTable {
    /// The columns until their values are taken.
    pub columns: Vec<Column>,
    /// The column with the names of the texts.
    pub id: Option<String>,
    /// Names and types of the columns.
    pub names: Vec<String>,
    pub types: Vec<String>,
    pub fits: Vec<Fit>,
    /// The first integer of each column that a double would round.
    pub rounded: Vec<Option<String>>,
    pub n_rows: u64,
    /// The names of all columns of the text.
    pub all_names: Vec<String>,
    pub problems: Problems,
    pub warnings: Vec<String>,
    /// The parts of the spec, as [`parts`] lists them.
    pub spec: Vec<Vec<Option<String>>>,
    pub reasons: Vec<Reason>,
    /// The error of a text that is refused for its problems.
    pub refused: Option<Box<Failure>>,
    /// The text that batches are read from.
    pub scanned: Option<Box<Scanned>>,
}

/// A text with a type for each column.
pub struct Scanned {
    pub job: Job,
    /// The columns whose types the caller gave.
    pub given: HashSet<String>,
}

/// Opens texts, and guesses whether they have a header.
fn open(sources: Vec<(String, Origin)>, options: &Options) -> Result<Job> {
    let mut job = Job::open_all(sources, options)?;
    let is_guessed = options.given.header.is_none() && options.spec.is_none();
    if is_guessed && !job.sniffed.header.is_header && job.sniffed.n_columns > 0 {
        job.plan.has_header = false;
        job.warnings.retain(|warning| !warning.starts_with("the first row was taken as names"));
    }
    Ok(job)
}

/// Finds the types of texts whose rows are read later. Integers that R has as such get the type of
/// 32 bits.
pub fn scan(sources: Vec<(String, Origin)>, options: &Options, signals: &Signals) -> Result<CsvTable> {
    let mut job = open(sources, options)?;
    let given = job.plan.types.clone();
    let mut table = job.find_types(SNIFFED_ROWS, signals)?;
    if job.plan.misses_in_text {
        forget_texts(&mut table, &given)?;
    }
    let names = || given.iter().map(|(name, _)| name.clone());
    let has_type: HashSet<String> = names().collect();
    let threads = job.plan.threads;
    let mut fits = Vec::with_capacity(table.columns.len());
    for column in &mut table.columns {
        let (fit, _) = fit(column);
        if column.of == Type::INT && !has_type.contains(&column.name) && fit == Fit::Integer {
            column.of = NARROW;
        }
        column.pieces.clear();
        fits.push(fit);
    }
    job.plan.types = table.columns.iter().map(|column| (column.name.clone(), column.of)).collect();
    let spec = parts(&job.spec(&table));
    table.n_rows = 0;
    let id = options.id.clone();
    let scanned = Some(Box::new(Scanned { job, given: has_type }));
    Ok(CsvTable { id, spec, fits, scanned, ..CsvTable::of(table, &given, threads, signals)? })
}

/// Reads a text. Only its first rows, or all of them with `is_whole`, if it is `sniffed`.
pub fn read(
    sources: Vec<(String, Origin)>,
    options: &Options,
    sniffed: bool,
    is_whole: bool,
    signals: &Signals,
) -> Result<CsvTable> {
    let mut options = options.clone();
    if sniffed {
        options.on_error = OnError::Missing;
    }
    let mut job = open(sources, &options)?;
    if job.plan.condition.is_some() && !job.plan.takes_condition() {
        return Err(Error::unsupported("a condition with these options"));
    }
    if sniffed && !is_whole {
        job.plan.rows = Some(0..SNIFFED_ROWS);
    }
    let reasons = job.sniffed.reasons.iter().map(|of| Reason {
        what: of.what,
        value: of.value.clone(),
        reason: of.reason.clone(),
        confidence: of.confidence,
    });
    let reasons = reasons.collect();
    let threads = job.plan.threads;
    match job.read(signals)? {
        Outcome::Table(mut table) => {
            if job.plan.misses_in_text {
                forget_texts(&mut table, &job.plan.types)?;
            }
            let spec = parts(&job.spec(&table));
            let id = options.id.clone();
            Ok(CsvTable { id, spec, reasons, ..CsvTable::of(table, &job.plan.types, threads, signals)? })
        }
        Outcome::Refused(refused) => {
            let error = job.error(&refused);
            CsvTable::of_refused(refused, &error, signals)
        }
    }
}

impl CsvTable {
    /// A refused text.
    pub fn of_refused(refused: Refused, error: &Error, signals: &Signals) -> Result<Self> {
        Ok(Self {
            all_names: refused.names,
            problems: refused.problems,
            refused: Some(Box::new(Failure::new(error))),
            ..Self::of(Table::default(), &[], 1, signals)?
        })
    }

    /// A table. Types of some columns are given.
    pub fn of(table: Table, given: &[(String, Type)], threads: usize, signals: &Signals) -> Result<Self> {
        let Table { columns, n_rows, names: all_names, problems, warnings } = table;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        if names.iter().chain(&all_names).any(|name| name.contains('\0')) {
            return Err(Error::text("a name has a zero character, which strings of R can't have"));
        }
        let types = columns.iter().map(|column| column.of.name().into_owned()).collect();
        let mut found: Vec<(Fit, Option<String>)> = vec![(Fit::Integer, None); columns.len()];
        let mut tasks: Vec<Task<'_>> = Vec::with_capacity(columns.len());
        for (column, found) in columns.iter().zip(&mut found) {
            tasks.push(Box::new(move || {
                *found = fit(column);
                Ok(())
            }));
        }
        run(tasks, threads, signals)?;
        for (column, (fit, _)) in columns.iter().zip(&found) {
            let is_given = given.iter().any(|(name, _)| *name == column.name);
            if is_given && *fit != Fit::Integer && column.of.width() == Some(4) {
                let message = format!("column '{}' has -2147483648, which is NA in R", column.name);
                return Err(Error::text(message).advise("read it as \"double\" or \"integer64\""));
            }
        }
        let (fits, rounded) = found.into_iter().unzip();
        let (spec, reasons, refused, scanned) = (Vec::new(), Vec::new(), None, None);
        Ok(Self {
            columns,
            id: None,
            names,
            types,
            fits,
            rounded,
            n_rows,
            all_names,
            problems,
            warnings,
            spec,
            reasons,
            refused,
            scanned,
        })
    }
}

/// Gives columns of text without a value the type of columns without values.
fn forget_texts(table: &mut Table, given: &[(String, Type)]) -> Result<()> {
    for column in &mut table.columns {
        let is_given = given.iter().any(|(name, _)| *name == column.name);
        let is_empty = |piece: &Piece| (0..piece.n).all(|i| !piece.is_present(i));
        // A condition may have left out all rows with values.
        let has_values = column.facts.has_values || !column.pieces.iter().all(is_empty);
        if column.of == Type::Text && !is_given && !has_values {
            column.of = Type::Null;
            for piece in &mut column.pieces {
                *piece = Piece::missing(Type::Null, piece.n, TextLayout::Views)?;
            }
        }
    }
    Ok(())
}

/// The parts of a spec: single ones, names, types, words for missing values, formats of all
/// columns, columns with formats of their own, and these formats.
fn parts(spec: &Spec) -> Vec<Vec<Option<String>>> {
    let byte = |byte: Option<u8>| byte.map(|byte| char::from(byte).to_string());
    let list = |texts: &[String]| texts.iter().cloned().map(Some).collect();
    let dialect = &spec.dialect;
    let single = vec![
        Some(dialect.separator_text()),
        byte(dialect.quote),
        byte(dialect.escape),
        byte(dialect.comment),
        Some(spec.encoding.clone()),
        Some(spec.skip.to_string()),
        Some(spec.header.to_string()),
        Some(spec.all_quoted.to_string()),
        Some(spec.missing_in_text.to_string()),
        byte(Some(spec.decimal)),
        byte(spec.thousands),
    ];
    let of_columns =
        || spec.column_dates.iter().flat_map(|(name, formats)| formats.iter().map(move |of| (name, of)));
    vec![
        single,
        list(&spec.names),
        list(&spec.types),
        list(&spec.missing),
        list(&spec.dates),
        of_columns().map(|(name, _)| Some(name.clone())).collect(),
        of_columns().map(|(_, format)| Some(format.clone())).collect(),
    ]
}

/// Integers that R has as such.
const NARROW: Type = Type::Int { bytes: 4, is_signed: true };

/// How the integers of a column fit, and the first one that a double would round. Integers in rows
/// that a condition left out count for the fit.
fn fit(column: &Column) -> (Fit, Option<String>) {
    let pieces = &column.pieces;
    match column.of {
        Type::INT => {
            let (mut least, mut most, mut rounded) = (i64::MAX, i64::MIN, None);
            for piece in pieces {
                let values: &[i64] = bytemuck::cast_slice(&piece.values);
                let present = || values.iter().enumerate().filter(|&(i, _)| piece.is_present(i));
                let mut widen = |value: i64| (least, most) = (least.min(value), most.max(value));
                match piece.validity {
                    None => values.iter().for_each(|&value| widen(value)),
                    Some(_) => present().for_each(|(_, &value)| widen(value)),
                }
                if rounded.is_none() && (least <= -LARGE || most >= LARGE) {
                    rounded = present().map(|(_, &value)| value).find(|&value| !is_exact(value));
                }
            }
            let rounded = rounded.map(|value| value.to_string());
            let facts = column.facts;
            let is_narrow = least > i64::from(i32::MIN) && most <= i64::from(i32::MAX) || least > most;
            let fit = if is_narrow && !facts.has_wide_integers {
                Fit::Integer
            } else if least == i64::MIN || facts.has_least_integer {
                Fit::Text
            } else if rounded.is_some() {
                Fit::Integer64
            } else {
                Fit::Exact
            };
            (fit, rounded)
        }
        Type::UINT => {
            let rounded = pieces.iter().find_map(|piece| {
                let values: &[u64] = bytemuck::cast_slice(&piece.values);
                let mut values = values.iter().enumerate().filter(|&(i, _)| piece.is_present(i));
                values.find(|&(_, &value)| !is_exact_unsigned(value)).map(|(_, value)| value.to_string())
            });
            (Fit::Text, rounded)
        }
        NARROW => {
            let has_least = pieces.iter().any(|piece| {
                let values: &[i32] = bytemuck::cast_slice(&piece.values);
                values.iter().enumerate().any(|(i, &value)| value == i32::MIN && piece.is_present(i))
            });
            (if has_least { Fit::Exact } else { Fit::Integer }, None)
        }
        _ => (Fit::Integer, None),
    }
}

/// Integers of a smaller absolute value are exact as doubles.
const LARGE: i64 = 1 << 53;
