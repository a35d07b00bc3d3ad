//! The columns of a chunk: values, types, and rows and fields that do not fit.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use entasis::{Error, Result};

use super::Plan;
use super::header::Header;
use super::pass::Part;
use crate::categories;
use crate::convert::{Meaning, given, narrowest};
use crate::cut::{Chunk, count_lines};
use crate::dates::Dates;
use crate::fields::{Column as FieldsOf, Fields};
use crate::piece::{Facts, Piece};
use crate::problems::{MOST_KEPT, OnError, Problem, Problems, excerpt};
use crate::types::{Type, Unit};

/// The columns of a chunk.
pub struct Pieces {
    pub pieces: Vec<Option<Piece>>,
    pub n_rows: usize,
    /// The number of rows with those that were left out.
    pub n_all: u64,
    pub problems: Problems,
    /// Rows that were left out because of a value.
    pub left_out: Vec<usize>,
    /// The rows that a condition chose.
    pub chosen: Option<Chosen>,
}

/// The test of a chunk by a condition.
pub struct Chosen {
    /// A bit for each row.
    pub bits: Vec<u64>,
    /// The types of the tested columns, and facts about their values.
    pub tested: Vec<(Type, Facts)>,
    /// The failure of the test.
    pub error: Option<Error>,
}

/// The state that the threads of a pass share.
#[derive(Debug)]
pub struct Shared {
    /// The types of the columns so far.
    pub types: Mutex<Vec<Type>>,
    /// The number of problems so far.
    counts: Mutex<Counts>,
}

impl Shared {
    /// Begins with these types, with the problems of the texts before, and with the chunk that has
    /// the header.
    pub fn new(types: Vec<Type>, header: &Header, n_problems: u64) -> Self {
        let counts = Counts { next: header.chunk, n: n_problems, ..Counts::default() };
        Self { types: Mutex::new(types), counts: Mutex::new(counts) }
    }

    /// The types of the columns so far.
    pub fn types(&self) -> Vec<Type> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Joins the types of columns with those of a chunk.
    pub fn widen(&self, types: impl Iterator<Item = Type>) {
        let mut known = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter_mut().zip(types).for_each(|(known, of)| *known = known.join(of));
    }

    /// The types of the columns.
    pub fn into_types(self) -> Vec<Type> {
        self.types.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of problems of chunks that are done.
#[derive(Debug, Default)]
struct Counts {
    /// The number of the first chunk that is not done, and the problems of those before.
    next: usize,
    n: u64,
    /// Chunks that are done after it.
    later: BTreeMap<usize, u64>,
}

impl Counts {
    fn add(&mut self, chunk: usize, n: u64) {
        self.later.insert(chunk, n);
        while let Some(n) = self.later.remove(&self.next) {
            self.n += n;
            self.next += 1;
        }
    }
}

/// A row or a field of a chunk that does not fit.
pub struct Unfit {
    start: usize,
    end: usize,
    row: usize,
    kind: UnfitKind,
}

enum UnfitKind {
    /// A row with this number of fields.
    Row(usize),
    /// A field of this column, which has this type.
    Field(usize, Type),
}

/// Converts the columns of a chunk.
pub fn convert(
    part: Part<'_>,
    header: &Header,
    shared: &Shared,
    plan: &Plan,
    meaning: &Meaning,
) -> Result<(Pieces, bool)> {
    let Part { chunk, fields } = part;
    let n_columns = header.names.len();
    let mut unfit = uneven(fields, plan, n_columns);
    let at_least = shared.types();
    let mut pieces = Vec::with_capacity(header.wanted.len());
    let (mut misfits, mut bad_rows) = (Vec::new(), Vec::new());
    for (i, &column) in header.wanted.iter().enumerate() {
        misfits.clear();
        let fields_of = fields.column(chunk, column);
        let piece = of_column(&fields_of, header, i, at_least[i], meaning, &mut misfits)?;
        unfit.extend(misfits_of(fields, fields_of, column, piece.of, &misfits));
        bad_rows.extend_from_slice(&misfits);
        pieces.push(Some(piece));
    }
    for (column, of, dates) in &header.checked {
        misfits.clear();
        let fields_of = fields.column(chunk, *column);
        if fields_of.is_utf8 && matches!(of, Type::Text | Type::Categorical) {
            continue;
        }
        of_given(&fields_of, *of, dates.as_ref(), meaning, &mut misfits)?;
        unfit.extend(misfits_of(fields, fields_of, *column, *of, &misfits));
        bad_rows.extend_from_slice(&misfits);
    }
    let mut left_out = Vec::new();
    if plan.on_error == OnError::Skip && !bad_rows.is_empty() {
        bad_rows.sort_unstable();
        bad_rows.dedup();
        fields.leave_out(&bad_rows);
        left_out = bad_rows;
        for (i, piece) in pieces.iter_mut().enumerate() {
            let fields_of = fields.column(chunk, header.wanted[i]);
            *piece = Some(of_column(&fields_of, header, i, at_least[i], meaning, &mut misfits)?);
        }
    }
    for (i, piece) in pieces.iter_mut().enumerate() {
        let strings = header.strings_of_chunk(i);
        *piece = piece.take().map(|piece| with_type_of_strings(piece, strings, meaning)).transpose()?;
    }
    shared.widen(pieces.iter().flatten().map(|piece| piece.of));
    let goes_on = plan.on_error != OnError::Error || unfit.is_empty();
    let problems = problems(unfit, chunk, n_columns, shared);
    let (n_rows, n_all) = (fields.n_rows(), fields.n_all() as u64);
    Ok((Pieces { pieces, n_rows, n_all, problems, left_out, chosen: None }, goes_on))
}

/// The rows of a chunk with too few or too many fields.
pub fn uneven(fields: &Fields, plan: &Plan, n_columns: usize) -> Vec<Unfit> {
    let uneven = fields.uneven.iter().filter(|row| !(plan.fill && row.n_fields < n_columns));
    uneven
        .map(|row| Unfit { start: row.at, end: row.end, row: row.row, kind: UnfitKind::Row(row.n_fields) })
        .collect()
}

/// The fields that a type does not hold.
pub fn misfits_of<'a>(
    fields: &'a Fields,
    fields_of: FieldsOf<'a>,
    column: usize,
    of: Type,
    misfits: &'a [usize],
) -> impl Iterator<Item = Unfit> + 'a {
    misfits.iter().map(move |&row| {
        let (start, end) = fields_of.get(row);
        Unfit { start, end, row: fields.number(row), kind: UnfitKind::Field(column, of) }
    })
}

/// The problems of a chunk, in their order. Only those are kept that are among the
/// first ones of the text.
pub fn problems(mut unfit: Vec<Unfit>, chunk: &Chunk, n_columns: usize, shared: &Shared) -> Problems {
    let mut counts = shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
    let n_before = counts.n;
    counts.add(chunk.number, unfit.len() as u64);
    drop(counts);
    unfit.sort_by_key(|unfit| unfit.start);
    let room = (MOST_KEPT as u64).saturating_sub(n_before) as usize;
    let (mut line, mut at) = (1, 0);
    let mut kept = Vec::with_capacity(unfit.len().min(room));
    for Unfit { start, end, row, kind } in unfit.iter().take(room) {
        line += count_lines(&chunk.rows()[at..*start]);
        at = *start;
        let (column, expected) = match *kind {
            UnfitKind::Row(n) if n_columns == 1 => (None, format!("one field, not {n}")),
            UnfitKind::Row(n) => (None, format!("{n_columns} fields, not {n}")),
            UnfitKind::Field(column, of) => (Some(column), expected(of)),
        };
        kept.push(Problem {
            row: *row as u64,
            line,
            byte: chunk.offset + *start as u64,
            column,
            text: excerpt(&chunk.rows()[*start..*end]),
            expected,
            file: None,
        });
    }
    Problems { kept, n: unfit.len() as u64 }
}

pub fn of_column(
    fields: &FieldsOf<'_>,
    header: &Header,
    i: usize,
    at_least: Type,
    meaning: &Meaning,
    misfits: &mut Vec<usize>,
) -> Result<Piece> {
    match header.given[i] {
        Some(of) => of_given(fields, of, header.dates[i].as_ref(), meaning, misfits),
        None => narrowest(fields, at_least, meaning, misfits),
    }
}

pub fn of_given(
    fields: &FieldsOf<'_>,
    of: Type,
    dates: Option<&Dates>,
    meaning: &Meaning,
    misfits: &mut Vec<usize>,
) -> Result<Piece> {
    let Some(dates) = dates else { return given(fields, of, meaning, misfits) };
    let strings = given(fields, Type::Text, meaning, misfits)?;
    dates.given(&strings, of, meaning, misfits)
}

/// Strings as text or as codes of categories. Other values stay.
pub fn with_type_of_strings(piece: Piece, strings: Type, meaning: &Meaning) -> Result<Piece> {
    if piece.of == Type::Text && strings == Type::Categorical {
        categories::encode(piece, meaning.layout)
    } else {
        Ok(piece)
    }
}

/// The type of a column that has values of types with this join.
pub fn with_strings(of: Type, strings: Type) -> Type {
    if matches!(of, Type::Text | Type::Categorical) { strings } else { of }
}

fn expected(of: Type) -> String {
    match of {
        Type::Text => "UTF-8".to_owned(),
        Type::Null => "a missing value".to_owned(),
        of => of.name().into_owned(),
    }
}

/// The type of a column whose pieces have these types and facts, among them those for widening.
pub fn of_facts(pieces: impl Iterator<Item = (Type, Facts)>) -> Type {
    let (mut of, mut facts) = (Type::Null, Facts::default());
    for (next, more) in pieces {
        of = of.join(next);
        facts = facts.join(more);
    }
    let fails = match of {
        Type::Null => facts.has_words,
        Type::UINT => facts.has_negative_integers,
        Type::FLOAT => facts.has_inexact_integers || !holds(facts),
        Type::Datetime { unit: Unit::Nanosecond, .. } => facts.has_far_times,
        _ => false,
    };
    if fails { Type::Text } else { of }
}

/// Whether floats hold what was read: some number, and not both negative integers and integers from
/// 2^63 on.
pub fn holds(facts: Facts) -> bool {
    facts.has_numbers && !(facts.has_negative_integers && facts.has_large_integers)
}
