//! Filters on files of any bytes. The last bytes of an input are a program for the predicate.

use entasis::{File, Kind, Result, Silent};
use entasis_query::{Comparison, Literal, Match, NanRule, Predicate, Rules, Scan, TimeKind};

use super::file;
use super::input::Input;
use crate::memory;
use crate::mutate::Dice;
use crate::probe::{is_fit, open, work};

/// Bytes of the program.
pub const PROGRAM: usize = 48;
/// The most bytes of values that one input may have decoded.
const WORK: u64 = 1 << 20;
/// The greatest depth of a predicate.
const DEPTH: u32 = 3;

const FLOATS: [f64; 8] =
    [0.0, -0.0, 0.1, 2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 9_007_199_254_740_993.0];
const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessEqual,
    Comparison::Greater,
    Comparison::GreaterEqual,
];

/// Filters the table of a file in several ways, and compares the rows.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    let (file, program) = bytes.split_at(bytes.len().saturating_sub(PROGRAM));
    let Ok(opened) = open(file) else { return };
    if !opened.is_table() || work(&opened) > WORK {
        return;
    }
    let predicate = predicate(&mut Input::new(program), &opened, DEPTH);
    let (found, used) = memory::peak(|| rows(&opened, &predicate, 0..opened.n_rows()));
    let most = (16 << 20) + 128 * file.len() + 64 * WORK as usize;
    assert!(used <= most, "a filter took {used} bytes, not {most}");
    let Some(found) = found else { return };
    let n_rows = opened.n_rows();
    assert!(found.is_sorted_by(|a, b| a < b), "the rows of a scan ascend");
    assert!(found.last().is_none_or(|&last| last < n_rows), "the rows of a scan are in the table");
    let count = Scan::new(&opened, &predicate).and_then(|scan| scan.count(Some(1), &Silent)).ok();
    // Scans order their tests by measured times, so one may meet damage that another skips.
    assert!(count.is_none_or(|count| count == found.len() as u64), "a scan counts its rows");
    // Whether a row passes does not depend on the requested rows.
    let middle = n_rows / 3;
    let parts = [0..middle, middle..n_rows].map(|part| rows(&opened, &predicate, part));
    if let [Some(first), Some(last)] = parts {
        assert_eq!([first, last].concat(), found, "{predicate:?}");
    }
    // No row passes a predicate and its negation.
    if let Some(others) = rows(&opened, &!predicate.clone(), 0..n_rows) {
        assert!(others.iter().all(|row| found.binary_search(row).is_err()), "{predicate:?}");
    }
}

/// The rows of a scan; none after an error.
fn rows(file: &File, predicate: &Predicate, rows: std::ops::Range<u64>) -> Option<Vec<u64>> {
    let found = Scan::of_rows(file, predicate, rows).map_err(|error| (error, true));
    let found = found.and_then(|scan| scan.row_numbers(Some(1), &Silent).map_err(|error| (error, false)));
    found
        .inspect_err(|(error, is_binding)| {
            let is_refused = *is_binding && error.kind() == Kind::Argument;
            assert!(is_refused || is_fit(error), "{:?}: {error}", error.kind());
        })
        .ok()
}

fn predicate(input: &mut Input<'_>, file: &File, depth: u32) -> Predicate {
    let kind = if depth == 0 { input.u8() % 6 } else { input.u8() % 9 };
    let part = |input: &mut Input<'_>| predicate(input, file, depth - 1);
    match kind {
        6 => part(input).and(part(input)),
        7 => part(input).or(part(input)),
        8 => !part(input),
        _ => {
            let column = u64::from(input.u8()) % (file.n_columns_total() + 1);
            let column = field(input, file, column).unwrap_or(column);
            let nan = [NanRule::Unordered, NanRule::Largest, NanRule::Missing][usize::from(input.u8() % 3)];
            let rules = Rules { nan, widens: input.u8() % 2 == 1 };
            let op = COMPARISONS[usize::from(input.u8() % 6)];
            match kind {
                0 => Predicate::IsMissing { column, rules },
                1 => Predicate::IsNan { column },
                2 => Predicate::Length { column, op, n: i128::from(input.u8()) - 2 },
                3 => {
                    let test = [Match::StartsWith, Match::EndsWith, Match::Contains, Match::Like];
                    let test = test[usize::from(input.u8() % 4)];
                    Predicate::Match { column, test, pattern: text(input).into_bytes() }
                }
                4 => {
                    let literals = vec![literal(input), literal(input)];
                    Predicate::In { column, literals, missing: input.u8() % 2 == 1, rules }
                }
                _ => Predicate::Compare { column, op, literal: literal(input), rules },
            }
        }
    }
}

/// A field of a column, if it is a struct.
fn field(input: &mut Input<'_>, file: &File, column: u64) -> Result<u64> {
    let info = file.column(column)?;
    let child = info.record.first_child.unwrap_or(0) + u64::from(input.u8() % 4);
    entasis_query::field(file, column, &file.column(child)?.name)
}

fn text(input: &mut Input<'_>) -> String {
    let n = usize::from(input.u8() % 20);
    String::from_utf8_lossy(input.take(n)).into_owned()
}

fn literal(input: &mut Input<'_>) -> Literal {
    match input.u8() % 8 {
        0 => Literal::Bool(input.u8() % 2 == 1),
        1 => Literal::Int(input.u64().cast_signed().into()),
        2 => Literal::Float(FLOATS[usize::from(input.u8()) % FLOATS.len()]),
        3 => Literal::Decimal { digits: input.u32().into(), scale: i32::from(input.u8()) - 20 },
        4 => Literal::String(text(input)),
        5 => Literal::Bytes(text(input).into_bytes()),
        6 => {
            let kind = [TimeKind::Naive, TimeKind::Aware, TimeKind::OfDay, TimeKind::Duration];
            let kind = kind[usize::from(input.u8() % 4)];
            Literal::Time { attoseconds: i128::from(input.u64().cast_signed()) * 1_000_000_000, kind }
        }
        _ => Literal::Int(i128::from(input.u8()) - 100),
    }
}

/// The files of other targets, each with some programs.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut dice = Dice(7);
    let mut with_program = |mut file: Vec<u8>| {
        file.extend((0..PROGRAM).map(|_| dice.next_number() as u8));
        file
    };
    let files: Vec<Vec<u8>> = file::seeds();
    (0..4).flat_map(|_| files.clone()).map(&mut with_program).collect()
}
