//! Values in a host map (`docs/format/hosts/r.md`).

use entasis::{Result, Value as Node};

use super::columns::checked_frame;
use super::make::{self, set};
use super::table::Table;
use super::{Reading, damage};
use crate::r::missing::{NA_INTEGER, NA_REAL};
use crate::r::{Data, Strings, Value};

impl Reading<'_> {
    /// The value of R that a node is.
    pub(super) fn decode(&self, table: &Table, node: &Node) -> Result<Value> {
        let Some((key, of)) = node.as_map().and_then(<[_]>::first) else {
            return Err(damage("a value that is not a map"));
        };
        let key = key.as_str().ok_or_else(|| damage("a value without a type"))?;
        let data = match key {
            "null" => return Ok(Value::default()),
            "column" => {
                let number = of.as_column().ok_or_else(|| damage("a reference that is not a column"))?;
                return self.extra(table, number, node.get("of"));
            }
            "cell" => {
                let cell = of.as_cell().ok_or_else(|| damage("a reference that is not a cell"))?;
                return self.cell(cell);
            }
            "list" => {
                let items = of.as_list().ok_or_else(|| damage("a list that is not a list"))?;
                Data::List(items.iter().map(|item| self.decode(table, item)).collect::<Result<_>>()?)
            }
            kind => inline(kind, of.as_list().ok_or_else(|| damage("a vector that is not a list"))?)?,
        };
        let is_s4 = node.get("s4") == Some(&Node::Bool(true));
        let mut value = Value { data, attributes: None, is_s4 };
        if let Some(pairs) = node.get("attributes").filter(|node| !node.is_null()) {
            for (name, attribute) in self.pairs(table, pairs)? {
                set(&mut value, &name, attribute);
            }
        }
        let n = make::n_rows(&value).unwrap_or(0);
        checked_frame(value, n)
    }
}

/// A short vector. Null is NA.
fn inline(kind: &str, items: &[Node]) -> Result<Data> {
    let wrong = || damage("a vector of several types");
    Ok(match kind {
        "logical" => {
            let of = |item: &Node| match item {
                Node::Null => Ok(NA_INTEGER),
                Node::Bool(value) => Ok(i32::from(*value)),
                _ => Err(wrong()),
            };
            Data::Logical(items.iter().map(of).collect::<Result<_>>()?)
        }
        "integer" => {
            let of = |item: &Node| match item {
                Node::Null => Ok(NA_INTEGER),
                item => item.as_int().and_then(|n| i32::try_from(n).ok()).ok_or_else(wrong),
            };
            Data::Integer(items.iter().map(of).collect::<Result<_>>()?)
        }
        "double" => {
            let of = |item: &Node| match item {
                Node::Null => Ok(f64::from_bits(NA_REAL)),
                Node::Float(value) => Ok(*value),
                _ => Err(wrong()),
            };
            Data::Double(items.iter().map(of).collect::<Result<_>>()?)
        }
        "character" => {
            let mut strings = Strings::default();
            for item in items {
                match item {
                    Node::Null => strings.push_missing(),
                    Node::Str(text) => strings.push_plain(text),
                    _ => return Err(wrong()),
                }
            }
            Data::Strings(Box::new(strings))
        }
        _ => return Err(damage("a vector of an unknown type")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_missing() {
        let items = [Node::Null, Node::Int(7)];
        assert_eq!(inline("integer", &items).unwrap(), Data::Integer(vec![NA_INTEGER, 7]));
        assert!(inline("double", &items).is_err());
        assert!(inline("other", &[]).is_err());
    }
}
