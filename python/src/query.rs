//! Filters from Python: conditions as trees of tuples.

use std::ops::Range;
use std::sync::Arc;

use entasis::{Announced, Error, File, Monitor, Physical, Share};
use entasis_query::{
    Comparison, Literal, Match, NanIsNull, NanRule, Predicate, RowBits, Rules, Scan, TimeKind, is_float,
    missing_rules,
};
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
    /// `nan_is_null` is only called for conditions of query engines.
    pub fn new(
        file: &'f File,
        condition: &Bound<'_, PyTuple>,
        rows: Range<u64>,
        nan_is_null: &dyn Fn() -> PyResult<NanIsNull>,
    ) -> PyResult<Self> {
        let conditions = Conditions { file, nan_is_null, is_of_engine: false };
        Ok(Self { file, predicate: conditions.predicate(condition)?, rows })
    }

    fn scan(&self) -> entasis::Result<Scan<'f>> {
        Scan::of_rows(self.file, &self.predicate, self.rows.clone())
    }

    /// The progress of a scan in rows.
    fn by_rows<'m>(&self, monitor: &'m dyn Monitor) -> Share<'m> {
        let n = self.rows.end.saturating_sub(self.rows.start);
        Share { monitor, before: 0, len: n, total: n }
    }

    /// Begins to fetch columns of those that may pass from a store.
    pub fn announce(&self, py: Python<'_>, columns: &[u64]) -> PyResult<Option<Announced>> {
        py.detach(|| self.scan()?.announce(columns)).map_err(|e| errors::raise(py, &e))
    }

    /// Their numbers.
    pub fn rows(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<RowNumbers> {
        let rows = monitor::run(py, |monitor| self.scan()?.row_numbers(threads, &self.by_rows(monitor)))?;
        Ok(RowNumbers(Arc::new(rows)))
    }

    /// A bit for each row.
    pub fn bits(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<RowBits> {
        monitor::run(py, |monitor| self.scan()?.bits(threads, &self.by_rows(monitor)))
    }

    /// How many there are.
    pub fn count(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<u64> {
        monitor::run(py, |monitor| self.scan()?.count(threads, &self.by_rows(monitor)))
    }

    /// The decision of statistics, as text.
    pub fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let plan = py.detach(|| self.scan().map(|scan| scan.plan()));
        Ok(plan.map_err(|e| errors::raise(py, &e))?.to_string())
    }
}

/// The predicate of a condition on the columns of a file.
pub fn predicate(file: &File, condition: &Bound<'_, PyTuple>) -> PyResult<Predicate> {
    let nan_is_null = || NanIsNull::of(file, None).map_err(|e| errors::raise(condition.py(), &e));
    Conditions { file, nan_is_null: &nan_is_null, is_of_engine: false }.predicate(condition)
}

/// The number of the column that is a field of a struct column.
pub fn field(py: Python<'_>, file: &File, column: u64, name: &str) -> PyResult<u64> {
    entasis_query::field(file, column, name).map_err(|e| errors::raise(py, &e))
}

/// The words of a condition as the command takes it, among them the names of its columns.
#[pyfunction]
pub fn where_words(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    entasis_query::where_words(text).map_err(|e| errors::raise(py, &e))
}

fn unknown(what: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {what} in a condition"))
}

/// Conditions on the columns of a file: trees of tuples, each with a name first.
#[derive(Clone, Copy)]
struct Conditions<'f> {
    file: &'f File,
    nan_is_null: &'f dyn Fn() -> PyResult<NanIsNull>,
    /// Whether the condition is from a query engine, for which NaN may be null.
    is_of_engine: bool,
}

impl Conditions<'_> {
    /// The predicate of a tree.
    fn predicate(self, tree: &Bound<'_, PyTuple>) -> PyResult<Predicate> {
        let name: String = tree.get_item(0)?.extract()?;
        let column = || tree.get_item(1)?.extract::<u64>();
        Ok(match name.as_str() {
            "and" | "or" => {
                let parts = tree.get_item(1)?;
                let parts = parts.try_iter()?.map(|part| self.predicate(part?.cast::<PyTuple>()?));
                let parts = parts.collect::<PyResult<Vec<_>>>()?;
                if name == "and" { Predicate::And(parts) } else { Predicate::Or(parts) }
            }
            "not" => !self.predicate(tree.get_item(1)?.cast::<PyTuple>()?)?,
            "engine" => {
                Self { is_of_engine: true, ..self }.predicate(tree.get_item(1)?.cast::<PyTuple>()?)?
            }
            "missing" => {
                let (py, column) = (tree.py(), column()?);
                let found = self.file.column(column).and_then(|info| missing_rules(self.file, &info));
                Predicate::IsMissing { column, rules: found.map_err(|e| errors::raise(py, &e))? }
            }
            "null" => Predicate::IsMissing { column: column()?, rules: self.rules(tree.py(), column()?)? },
            "nan" => self.is_nan(tree.py(), column()?)?,
            "compare" => {
                let op = comparison(&tree.get_item(2)?.extract::<String>()?)?;
                let literal = literal(tree.get_item(3)?.cast::<PyTuple>()?)?;
                let (column, rules) = (column()?, self.rules(tree.py(), column()?)?);
                Predicate::Compare { column, op, literal, rules }
            }
            "in" => {
                let literals = tree.get_item(2)?;
                let literals = literals.try_iter()?.map(|value| literal(value?.cast::<PyTuple>()?));
                let literals = literals.collect::<PyResult<Vec<_>>>()?;
                let (column, rules) = (column()?, self.rules(tree.py(), column()?)?);
                Predicate::In { column, literals, missing: false, rules }
            }
            "length" => {
                let op = comparison(&tree.get_item(2)?.extract::<String>()?)?;
                Predicate::Length { column: column()?, op, n: tree.get_item(3)?.extract()? }
            }
            "match" => {
                let test = string_test(&tree.get_item(2)?.extract::<String>()?)?;
                Predicate::Match { column: column()?, test, pattern: tree.get_item(3)?.extract()? }
            }
            "where" => {
                let text: String = tree.get_item(1)?.extract()?;
                entasis_cli::condition(self.file, &text).map_err(|e| errors::raise(tree.py(), &e))?
            }
            _ => return Err(unknown("part")),
        })
    }

    /// The rules for a column.
    fn rules(self, py: Python<'_>, column: u64) -> PyResult<Rules> {
        if !self.is_of_engine {
            return Ok(Rules::default());
        }
        let info = self.file.column(column).map_err(|e| errors::raise(py, &e))?;
        if !is_float(&info) || !(self.nan_is_null)()?.holds(&info) {
            return Ok(Rules::default());
        }
        if info.record.column_type.physical == Physical::F16 {
            let error = Error::unsupported("float16 with NaN as null cannot be compared");
            return Err(errors::raise(py, &error.in_column(&info.name)));
        }
        Ok(Rules { nan: NanRule::Missing, ..Rules::default() })
    }

    /// Whether a float is NaN. If NaN counts as null, the answer is unknown for null and NaN, and
    /// false for all other floats.
    fn is_nan(self, py: Python<'_>, column: u64) -> PyResult<Predicate> {
        let rules = self.rules(py, column)?;
        if rules.nan == NanRule::Missing {
            return Ok(Predicate::In { column, literals: Vec::new(), missing: false, rules });
        }
        Ok(Predicate::IsNan { column })
    }
}

fn string_test(name: &str) -> PyResult<Match> {
    Ok(match name {
        "starts_with" => Match::StartsWith,
        "ends_with" => Match::EndsWith,
        "contains" => Match::Contains,
        "like" => Match::Like,
        _ => return Err(unknown("test of strings")),
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
