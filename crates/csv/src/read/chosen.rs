//! Rows that a condition chooses, chunk by chunk.
//!
//! The types of columns depend on all rows, so values of other rows are parsed and dropped. A
//! condition is tested with the types that are known by then. If all values together give a column
//! of the condition another type, the text is read again with it, except where the test has the
//! same result for both types.

use entasis::Result;

use super::Plan;
use super::chunk::{Chosen, Pieces, Shared, misfits_of, of_column, of_facts, of_given, problems, uneven};
use super::header::Header;
use super::pass::Part;
use crate::check::{Digits, checked};
use crate::condition::Condition;
use crate::convert::{Meaning, has_missing, has_values, narrowest};
use crate::fields::Column as FieldsOf;
use crate::frame::{Lent, Values};
use crate::piece::{Facts, Piece};
use crate::problems::OnError;
use crate::types::Type;

/// Converts the rows of a chunk that pass.
pub fn convert(
    part: Part<'_>,
    header: &Header,
    shared: &Shared,
    plan: &Plan,
    meaning: &Meaning,
    condition: &dyn Condition,
) -> Result<(Pieces, bool)> {
    let Part { chunk, fields } = part;
    let n_columns = header.names.len();
    let mut places = uneven(fields, plan, n_columns);
    let at_least = shared.types();
    let mut misfits = Vec::new();
    let mut tested = Vec::with_capacity(header.tested.len());
    for (&(column, given), &at_least) in header.tested.iter().zip(&at_least[header.wanted.len()..]) {
        misfits.clear();
        let fields_of = fields.column(chunk, column);
        let piece = match given {
            Some(of) => of_given(&fields_of, of, None, meaning, &mut misfits)?,
            None => narrowest(&fields_of, at_least, meaning, &mut misfits)?,
        };
        places.extend(misfits_of(fields, fields_of, column, piece.of, &misfits));
        tested.push(piece);
    }
    let facts_of_tested: Vec<_> = tested.iter().map(|piece| (piece.of, piece.all_facts())).collect();
    let mut digits = Digits::default();
    digits.find(chunk.padded());
    let mut of_all = Vec::with_capacity(header.wanted.len());
    for (i, &column) in header.wanted.iter().enumerate() {
        if let Some(place) = header.tested.iter().position(|&(tested, _)| tested == column) {
            of_all.push(facts_of_tested[place]);
            continue;
        }
        misfits.clear();
        let fields_of = fields.column(chunk, column);
        let found = of_all_rows(&fields_of, header, i, at_least[i], meaning, &digits, &mut misfits)?;
        places.extend(misfits_of(fields, fields_of, column, found.0, &misfits));
        of_all.push(found);
    }
    let chosen = test(&tested, facts_of_tested, header, fields.n_rows(), plan, condition);
    fields.keep(&chosen.bits);
    let mut pieces = Vec::with_capacity(header.wanted.len());
    for (i, (&column, (of, facts))) in header.wanted.iter().zip(of_all).enumerate() {
        let fields_of = fields.column(chunk, column);
        let piece = of_column(&fields_of, header, i, of, meaning, &mut misfits)?;
        pieces.push(Some(Piece { facts, ..piece }));
    }
    shared.widen(pieces.iter().flatten().map(|piece| piece.of).chain(tested.iter().map(|piece| piece.of)));
    let goes_on = plan.on_error != OnError::Error || places.is_empty();
    let problems = problems(places, chunk, n_columns, shared);
    let (n_rows, n_all) = (fields.n_rows(), fields.n_all() as u64);
    let pieces = Pieces { pieces, n_rows, n_all, problems, left_out: Vec::new(), chosen: Some(chosen) };
    Ok((pieces, goes_on))
}

/// The type and the facts of all values of a column.
fn of_all_rows(
    fields: &FieldsOf<'_>,
    header: &Header,
    i: usize,
    at_least: Type,
    meaning: &Meaning,
    digits: &Digits,
    misfits: &mut Vec<usize>,
) -> Result<(Type, Facts)> {
    if header.given[i].is_none()
        && let Some(facts) = checked(fields, at_least, digits, meaning.decimal)
    {
        return Ok((at_least, facts));
    }
    if header.given[i].is_none() && at_least == Type::Text && fields.is_utf8 {
        let (has_missing, has_values) = (has_missing(fields, meaning), has_values(fields, meaning));
        return Ok((Type::Text, Facts { has_missing, has_values, ..Facts::default() }));
    }
    let piece = of_column(fields, header, i, at_least, meaning, misfits)?;
    Ok((piece.of, piece.all_facts()))
}

fn test(
    tested: &[Piece],
    facts: Vec<(Type, Facts)>,
    header: &Header,
    n: usize,
    plan: &Plan,
    condition: &dyn Condition,
) -> Chosen {
    let lent: Vec<_> = header
        .tested
        .iter()
        .zip(tested)
        .map(|(&(column, _), piece)| Lent {
            name: &header.names[column],
            of: piece.of,
            pieces: vec![Values::from(piece)],
            categories: Vec::new(),
        })
        .collect();
    let found = if n == 0 { Ok(Vec::new()) } else { condition.test(&lent, n, plan.layout) };
    // The types of all values may have a test.
    let (bits, error) = match found {
        Ok(bits) => (bits, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    Chosen { bits, tested: facts, error }
}

/// The types of the tested columns, if the text has to be read again with them.
///
/// # Errors
/// The first failure of a test with these types.
pub fn other_types(chunks: &mut [Pieces], header: &Header) -> Result<Option<Vec<Type>>> {
    let all = || chunks.iter().filter_map(|chunk| chunk.chosen.as_ref());
    let types: Vec<Type> = header
        .tested
        .iter()
        .enumerate()
        .map(|(i, &(_, given))| given.unwrap_or_else(|| of_facts(all().map(|of| of.tested[i]))))
        .collect();
    let is_same = |(&of, &(tested, _)): (&Type, &(Type, Facts))| of == tested;
    let holds = |(&of, &(tested, facts)): (&Type, &(Type, Facts))| {
        let is_number = |of| matches!(of, Type::Int { .. } | Type::Float { .. });
        // Words such as NA are missing values among numbers, and strings in text.
        let is_missing = tested == Type::Null && !(of == Type::Text && facts.has_texts);
        of == tested || is_missing || (is_number(of) && is_number(tested))
    };
    for chosen in all() {
        let pairs = || types.iter().zip(&chosen.tested);
        let is_known = if chosen.error.is_some() { pairs().all(is_same) } else { pairs().all(holds) };
        if !is_known {
            return Ok(Some(types));
        }
    }
    match chunks.iter_mut().find_map(|chunk| chunk.chosen.as_mut()?.error.take()) {
        Some(error) => Err(error),
        None => Ok(None),
    }
}
