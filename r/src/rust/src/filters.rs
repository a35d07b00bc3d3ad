//! Conditions of R on the rows of a table, as predicates of the core.
//!
//! C passes a condition as nodes of nested lists, each with its name first. R code makes a
//! condition only if the predicate means what the expression means in R.

use std::ptr::null_mut;

use entasis::{Error, File, Logical, Result, Value};
use entasis_query::{Comparison, Literal, Match, NanRule, Predicate, Rules, Scan, TimeKind};

use crate::column::Kind;
use crate::guard::{self, Failure, Interrupted, Signals, slice};
use crate::nodes::{self, Node};
use crate::times;
use entasis_convert::r::vectors::scale;

/// In R, comparisons with NaN are NA, and `is.na` is true for NaN.
const RULES: Rules = Rules { nan: NanRule::Missing, widens: true };

/// The error for nodes that C should not pass.
pub fn misshapen() -> Error {
    Error::argument("nodes do not form a condition")
}

/// The parts of a list, the first one a name.
fn parts(tree: &Value) -> Result<(&str, &[Value])> {
    match tree {
        Value::List(items) => match items.split_first() {
            Some((Value::Str(name), rest)) => Ok((name, rest)),
            _ => Err(misshapen()),
        },
        _ => Err(misshapen()),
    }
}

fn items(value: Option<&Value>) -> Result<&[Value]> {
    match value {
        Some(Value::List(items)) => Ok(items),
        _ => Err(misshapen()),
    }
}

fn number(value: Option<&Value>) -> Result<f64> {
    match value {
        Some(Value::Float(number)) => Ok(*number),
        Some(Value::Int(number)) => Ok(*number as f64),
        _ => Err(misshapen()),
    }
}

fn text(value: Option<&Value>) -> Result<&str> {
    value.and_then(Value::as_str).ok_or_else(misshapen)
}

/// The predicate of a tree.
pub fn predicate(file: &File, tree: &Value) -> Result<Predicate> {
    let (name, rest) = parts(tree)?;
    let column = || number(rest.first()).map(|column| column as u64);
    Ok(match name {
        "and" | "or" => {
            let parts = rest.iter().map(|part| predicate(file, part)).collect::<Result<_>>()?;
            if name == "and" { Predicate::And(parts) } else { Predicate::Or(parts) }
        }
        "not" => !predicate(file, rest.first().ok_or_else(misshapen)?)?,
        "constant" => match rest {
            [Value::Bool(value)] => Predicate::Constant(*value),
            _ => return Err(misshapen()),
        },
        // A comparison with values that are all missing.
        "unknown" => Predicate::In { column: column()?, literals: Vec::new(), missing: false, rules: RULES },
        "missing" => Predicate::IsMissing { column: column()?, rules: RULES },
        "compare" => {
            let op = comparison(text(rest.get(1))?)?;
            let literal = literal(rest.get(2).ok_or_else(misshapen)?)?;
            Predicate::Compare { column: column()?, op, literal, rules: RULES }
        }
        "time" => time(file, rest)?,
        "in" => {
            let column = column()?;
            let missing = matches!(rest.get(1), Some(Value::Bool(true)));
            let literals = items(rest.get(2))?.iter().map(literal).collect::<Result<_>>()?;
            let found = Predicate::In { column, literals, missing, rules: RULES };
            // `%in%` is never NA.
            if missing { found } else { found.and(!Predicate::IsMissing { column, rules: RULES }) }
        }
        "starts" | "ends" => {
            let test = if name == "starts" { Match::StartsWith } else { Match::EndsWith };
            let pattern = text(rest.get(1))?.as_bytes().to_vec();
            Predicate::Match { column: column()?, test, pattern }
        }
        _ => return Err(misshapen()),
    })
}

fn comparison(name: &str) -> Result<Comparison> {
    Ok(match name {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterEqual,
        _ => return Err(misshapen()),
    })
}

/// A literal. A list of one string has the digits of a 64-bit integer.
fn literal(value: &Value) -> Result<Literal> {
    Ok(match value {
        Value::Bool(value) => Literal::Bool(*value),
        Value::Int(value) => Literal::Int((*value).into()),
        Value::Float(value) => Literal::Float(*value),
        Value::Str(value) => Literal::String(value.clone()),
        Value::List(items) => match items.as_slice() {
            [Value::Str(digits)] => Literal::Int(digits.parse().map_err(|_| misshapen())?),
            _ => return Err(misshapen()),
        },
        _ => return Err(misshapen()),
    })
}

/// A comparison of times with a double, as R compares the doubles that it reads. The parts are the
/// column, the comparison, the double, the kind of vector, the seconds in a unit of its durations,
/// and a factor for its values.
fn time(file: &File, rest: &[Value]) -> Result<Predicate> {
    let column = number(rest.first())? as u64;
    let op = text(rest.get(1))?;
    let value = number(rest.get(2))?;
    let kind = Kind::of(number(rest.get(3))? as i32)?;
    let info = file.column(column)?;
    let of = info.record.column_type;
    let scale = match kind {
        Kind::Days | Kind::Instant | Kind::Span => Some(scale(kind, number(rest.get(4))? as i32)),
        _ => None,
    };
    let far = || Error::unsupported("a time beyond the range of the column").in_column(&info.name);
    let (first, after) = times::bounds(value, of.unit, scale, number(rest.get(5))?).ok_or_else(far)?;
    let kind = match of.logical {
        Logical::Duration => TimeKind::Duration,
        Logical::Timestamp if matches!(info.detail, Some(Value::Str(_))) => TimeKind::Aware,
        _ => TimeKind::Naive,
    };
    let compared = |op, n| {
        let attoseconds = times::attoseconds(n, of.unit).ok_or_else(far)?;
        let literal = Literal::Time { attoseconds, kind };
        Ok::<_, Error>(Predicate::Compare { column, op, literal, rules: RULES })
    };
    let (less, not_less) = (Comparison::Less, Comparison::GreaterEqual);
    match comparison(op)? {
        Comparison::Equal => Ok(compared(not_less, first)?.and(compared(less, after)?)),
        Comparison::NotEqual => Ok(compared(less, first)?.or(compared(not_less, after)?)),
        Comparison::Less => compared(less, first),
        Comparison::LessEqual => compared(less, after),
        Comparison::Greater => compared(not_less, after),
        Comparison::GreaterEqual => compared(not_less, first),
    }
}

/// # Safety
/// The nodes and their texts must be valid.
unsafe fn scan<'f>(file: &'f File, nodes: *const Node, n_nodes: usize) -> Result<Scan<'f>> {
    // SAFETY: as the caller promises.
    let tree = unsafe { nodes::parse(slice(nodes, n_nodes), 0) }?;
    Scan::new(file, &predicate(file, &tree)?)
}

/// The numbers of the rows for which a condition is true; null with an error.
///
/// # Safety
/// `ent_open` must have returned `file`. The nodes and their texts must be valid, `failure` null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_find_rows(
    file: *const File,
    nodes: *const Node,
    n_nodes: usize,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> *mut Vec<u64> {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, null_mut(), || {
            let rows = scan(&*file, nodes, n_nodes)?.row_numbers(None, &Signals::new(interrupted))?;
            Ok(Box::into_raw(Box::new(rows)))
        })
    }
}

/// How many rows there are.
///
/// # Safety
/// [`ent_find_rows`] must have returned `rows`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_row_numbers_n(rows: *const Vec<u64>) -> usize {
    // SAFETY: as the caller promises.
    unsafe { (*rows).len() }
}

/// Stores the numbers, from 1 on, and frees them.
///
/// # Safety
/// [`ent_find_rows`] must have returned `rows`, which is invalid afterwards. `out` must have memory
/// for all numbers, or be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_row_numbers_take(rows: *mut Vec<u64>, out: *mut f64) {
    // SAFETY: `ent_find_rows` made it with `Box::into_raw`, as the caller promises.
    let rows = unsafe { Box::from_raw(rows) };
    // SAFETY: as the caller promises.
    let out = unsafe { guard::slice_mut(out, rows.len()) };
    for (out, row) in out.iter_mut().zip(rows.iter()) {
        *out = (row + 1) as f64;
    }
}

/// The number of rows for which a condition is true; -1 with an error.
///
/// # Safety
/// As for [`ent_find_rows`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_count_rows(
    file: *const File,
    nodes: *const Node,
    n_nodes: usize,
    interrupted: Option<Interrupted>,
    failure: *mut *mut Failure,
) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, -1.0, || {
            let n = scan(&*file, nodes, n_nodes)?.count(None, &Signals::new(interrupted))?;
            Ok(n as f64)
        })
    }
}

/// Stores four counts: the rows of the table, the rows that cannot pass, the rows that all pass,
/// and the rows whose values are tested. Returns 0 with an error.
///
/// # Safety
/// As for [`ent_find_rows`]; `counts` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ent_plan_rows(
    file: *const File,
    nodes: *const Node,
    n_nodes: usize,
    counts: *mut f64,
    failure: *mut *mut Failure,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        guard::call(failure, 0, || {
            let plan = scan(&*file, nodes, n_nodes)?.plan();
            let of = [plan.n_rows, plan.n_pruned, plan.n_passed, plan.n_tested].map(|n| n as f64);
            guard::slice_mut(counts, of.len()).copy_from_slice(&of);
            Ok(1)
        })
    }
}
