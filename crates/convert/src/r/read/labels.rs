//! Row labels of other hosts: row names if R allows them, else leading columns.

use std::collections::HashSet;

use entasis::{Logical, Result, Value as Node};

use super::columns::Parts;
use super::kinds::Form;
use super::make::taken;
use super::missing::with_missing;
use super::table::{Table, column_number, name_in_r};
use super::{Reading, damage};
use crate::r::kind::Kind;
use crate::r::missing::NA_INTEGER;
use crate::r::{Data, Value};

/// Row names, or columns of labels.
#[derive(Default)]
pub(super) struct Labels {
    pub row_names: Option<Value>,
    pub names: Vec<String>,
    pub columns: Vec<Value>,
}

impl Reading<'_> {
    /// The labels of the rows of a table of another host.
    pub(super) fn labels(&self, table: &Table) -> Result<Labels> {
        let Some(index) = table.host.get("index").filter(|node| !node.is_null()) else {
            return Ok(Labels::default());
        };
        let Some(kind) = index.get("kind").filter(|node| !node.is_null()) else {
            return Ok(Labels::default());
        };
        let numbers = match kind.as_str() {
            Some("range") => return range(index, table.file.n_rows()),
            Some("column") => vec![index.get("column").ok_or_else(|| damage("an index without a column"))?],
            Some("multi") => {
                index.get("columns").and_then(Node::as_list).unwrap_or_default().iter().collect()
            }
            Some("names") => Vec::new(),
            _ => return Err(damage("an index of an unknown kind")),
        };
        let is_multi = kind.as_str() == Some("multi");
        let numbers = numbers.into_iter().map(column_number).collect::<Result<Vec<u64>>>()?;
        if let ([number], false) = (&numbers[..], is_multi)
            && let Some(row_names) = self.row_names(table, *number)?
        {
            return Ok(Labels { row_names: Some(row_names), ..Labels::default() });
        }
        let mut labels = Labels::default();
        for number in numbers {
            labels.names.push(name_in_r(&table.info(number)?.name).to_owned());
            labels.columns.push(if is_multi {
                self.level(table, number)?
            } else {
                self.extra(table, number, None)?
            });
        }
        Ok(labels)
    }

    /// Labels that are distinct strings or integers.
    fn row_names(&self, table: &Table, number: u64) -> Result<Option<Value>> {
        let info = table.info(number)?;
        let form = self.form(table, &info, false)?;
        if !matches!(form, Form::Vector(Kind::Integer | Kind::String)) {
            return Ok(None);
        }
        let labels = self.extra(table, number, None)?;
        let are_distinct = match &labels.data {
            _ if labels.attributes.is_some() => false,
            Data::Integer(values) => {
                let mut seen = HashSet::new();
                let ascend = values.windows(2).all(|pair| pair[0] < pair[1]);
                !values.contains(&NA_INTEGER) && (ascend || values.iter().all(|value| seen.insert(value)))
            }
            Data::Strings(strings) => {
                let mut seen = HashSet::new();
                strings.iter().all(|text| text.is_some_and(|text| seen.insert(text)))
            }
            _ => false,
        };
        Ok(are_distinct.then_some(labels))
    }

    /// The values of a level of an index, whose column has codes.
    fn level(&self, table: &Table, number: u64) -> Result<Value> {
        let info = table.info(number)?;
        let dictionary =
            info.record.dictionary.filter(|_| info.record.column_type.logical == Logical::Categorical);
        let dictionary = dictionary.ok_or_else(|| damage("a level of an index without codes"))?;
        let (columns, rows) = ([number], 0..info.record.n_values);
        let codes = self.vector(table, &Parts { columns: &columns, kind: Kind::Codes, seconds: 1, rows })?;
        let Data::Integer(codes) = codes else { return Err(damage("codes that are not integers")) };
        let values = self.extra(table, column_of_level(table, dictionary)?, None)?;
        let missing: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == NA_INTEGER).collect();
        let at: Vec<usize> =
            codes.iter().map(|&code| usize::try_from(code).unwrap_or(1).max(1) - 1).collect();
        if values.is_empty() && !at.is_empty() {
            // Each label is missing, and the level has no values to take.
            let n = at.len();
            let none = Value { data: Data::Logical(vec![NA_INTEGER; n]), ..values };
            return Ok(none);
        }
        let data = taken(&values.data, &at);
        let found = Value { data, ..values };
        Ok(if missing.is_empty() { found } else { with_missing(found, &missing) })
    }
}

/// The column with the values of a level. For a categorical level, the column with the codes of its
/// categories.
fn column_of_level(table: &Table, dictionary: u64) -> Result<u64> {
    for entry in table.host.get("categories").and_then(Node::as_list).unwrap_or_default() {
        let [of, index] = entry.as_list().unwrap_or_default() else { continue };
        if column_number(of)? == dictionary && index.get("kind").and_then(Node::as_str) == Some("column") {
            return column_number(index.get("column").unwrap_or(&Node::Null));
        }
    }
    Ok(dictionary)
}

/// The labels of a range.
fn range(index: &Node, n_rows: u64) -> Result<Labels> {
    let number = |key: &str| match index.get(key) {
        Some(Node::Float(number)) => Some(*number),
        Some(Node::UInt(number)) => Some(*number as f64),
        node => node.and_then(Node::as_int).map(|number| number as f64),
    };
    let (Some(start), Some(step)) = (number("start"), number("step")) else {
        return Err(damage("a range without its numbers"));
    };
    if (start, step) == (0.0, 1.0) {
        return Ok(Labels::default());
    }
    let last = start + step * (n_rows.max(1) - 1) as f64;
    let numbers = (0..n_rows).map(|i| start + step * i as f64);
    if start.abs() >= 2f64.powi(31) || last.abs() >= 2f64.powi(31) {
        let columns = vec![Data::Double(numbers.collect()).into()];
        return Ok(Labels { names: vec!["index".to_owned()], columns, row_names: None });
    }
    let row_names = Data::Integer(numbers.map(|number| number as i32).collect());
    Ok(Labels { row_names: Some(row_names.into()), ..Labels::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_row_names_if_they_are_integers() {
        let of = |start: i64, step: i64| Node::map([("start", Node::Int(start)), ("step", Node::Int(step))]);
        let labels = range(&of(10, -2), 3).unwrap();
        assert_eq!(labels.row_names.unwrap().data, Data::Integer(vec![10, 8, 6]));
        assert!(range(&of(0, 1), 3).unwrap().row_names.is_none());
        let far = range(&of(1 << 31, 1), 2).unwrap();
        assert_eq!((far.names, far.columns[0].len()), (vec!["index".to_owned()], 2));
    }
}
