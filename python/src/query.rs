//! Filters from Python: conditions as trees of tuples.

use std::ops::Range;
use std::sync::Arc;

use entasis::File;
use entasis_query::{Comparison, Literal, Match, Predicate, RowBits, Rules, Scan, TimeKind, missing_rules};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::row_sets::RowNumbers;
use crate::{errors, monitor};

/// The rows of a file from `start` up to `stop` that pass a condition.
pub struct Filter<'f> {
    file: &'f File,
    predicate: Predicate,
    rows: Range<u64>,
}

impl<'f> Filter<'f> {
    pub fn new(file: &'f File, condition: &Bound<'_, PyTuple>, rows: Range<u64>) -> PyResult<Self> {
        Ok(Self { file, predicate: predicate(file, condition)?, rows })
    }

    fn scan(&self) -> entasis::Result<Scan<'f>> {
        Scan::of_rows(self.file, &self.predicate, self.rows.clone())
    }

    /// Their numbers.
    pub fn rows(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<RowNumbers> {
        let rows = monitor::run(py, |monitor| self.scan()?.row_numbers(threads, monitor))?;
        Ok(RowNumbers(Arc::new(rows)))
    }

    /// A bit for each row.
    pub fn bits(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<RowBits> {
        monitor::run(py, |monitor| self.scan()?.bits(threads, monitor))
    }

    /// How many there are.
    pub fn count(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<u64> {
        monitor::run(py, |monitor| self.scan()?.count(threads, monitor))
    }

    /// The decision of statistics, as text.
    pub fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let plan = py.detach(|| self.scan().map(|scan| scan.plan()));
        Ok(plan.map_err(|e| errors::raise(py, &e))?.to_string())
    }
}

/// The number of the column that is a field of a struct column.
pub fn field(py: Python<'_>, file: &File, column: u64, name: &str) -> PyResult<u64> {
    entasis_query::field(file, column, name).map_err(|e| errors::raise(py, &e))
}

fn unknown(what: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {what} in a condition"))
}

/// The predicate of a tree of tuples, each with its name first.
fn predicate(file: &File, tree: &Bound<'_, PyTuple>) -> PyResult<Predicate> {
    let name: String = tree.get_item(0)?.extract()?;
    let column = || tree.get_item(1)?.extract::<u64>();
    let rules = Rules::default();
    Ok(match name.as_str() {
        "and" | "or" => {
            let parts = tree.get_item(1)?;
            let parts = parts.try_iter()?.map(|part| predicate(file, part?.cast::<PyTuple>()?));
            let parts = parts.collect::<PyResult<Vec<_>>>()?;
            if name == "and" { Predicate::And(parts) } else { Predicate::Or(parts) }
        }
        "not" => !predicate(file, tree.get_item(1)?.cast::<PyTuple>()?)?,
        "missing" => {
            let (py, column) = (tree.py(), column()?);
            let found = file.column(column).and_then(|info| missing_rules(file, &info));
            Predicate::IsMissing { column, rules: found.map_err(|e| errors::raise(py, &e))? }
        }
        "null" => Predicate::IsMissing { column: column()?, rules },
        "nan" => Predicate::IsNan { column: column()? },
        "compare" => {
            let op = comparison(&tree.get_item(2)?.extract::<String>()?)?;
            let literal = literal(tree.get_item(3)?.cast::<PyTuple>()?)?;
            Predicate::Compare { column: column()?, op, literal, rules }
        }
        "in" => {
            let literals = tree.get_item(2)?;
            let literals = literals.try_iter()?.map(|value| literal(value?.cast::<PyTuple>()?));
            let literals = literals.collect::<PyResult<Vec<_>>>()?;
            Predicate::In { column: column()?, literals, missing: false, rules }
        }
        "length" => {
            let op = comparison(&tree.get_item(2)?.extract::<String>()?)?;
            Predicate::Length { column: column()?, op, n: tree.get_item(3)?.extract()? }
        }
        "match" => {
            let test = match tree.get_item(2)?.extract::<String>()?.as_str() {
                "starts_with" => Match::StartsWith,
                "ends_with" => Match::EndsWith,
                "contains" => Match::Contains,
                "like" => Match::Like,
                _ => return Err(unknown("test of strings")),
            };
            Predicate::Match { column: column()?, test, pattern: tree.get_item(3)?.extract()? }
        }
        _ => return Err(unknown("part")),
    })
}

fn comparison(name: &str) -> PyResult<Comparison> {
    Ok(match name {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::LessEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterEqual,
        _ => return Err(unknown("comparison")),
    })
}

fn literal(value: &Bound<'_, PyTuple>) -> PyResult<Literal> {
    let at = |i: usize| value.get_item(i);
    let kind: String = at(0)?.extract()?;
    Ok(match kind.as_str() {
        "bool" => Literal::Bool(at(1)?.extract()?),
        "int" => Literal::Int(at(1)?.extract()?),
        "float" => Literal::Float(at(1)?.extract()?),
        "str" => Literal::String(at(1)?.extract()?),
        "bytes" => Literal::Bytes(at(1)?.extract()?),
        "decimal" => Literal::Decimal { digits: at(1)?.extract()?, scale: at(2)?.extract()? },
        "long_decimal" => Literal::LongDecimal { digits: at(1)?.extract()?, scale: at(2)?.extract()? },
        "period" => Literal::Period(at(1)?.extract()?),
        "time" => {
            let of = match at(1)?.extract::<String>()?.as_str() {
                "naive" => TimeKind::Naive,
                "aware" => TimeKind::Aware,
                "of_day" => TimeKind::OfDay,
                "duration" => TimeKind::Duration,
                _ => return Err(unknown("kind of time")),
            };
            Literal::Time { kind: of, attoseconds: at(2)?.extract()? }
        }
        _ => return Err(unknown("value")),
    })
}
