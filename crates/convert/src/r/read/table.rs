//! A table of a file: its host map, and the columns of R that it has.

use std::collections::HashMap;
use std::sync::Arc;

use entasis::{ColumnInfo, File, Result, Value as Node};

use super::damage;

/// A table.
pub(super) struct Table {
    pub file: File,
    pub host: Node,
    /// Whether R wrote it.
    pub is_own: bool,
    /// The vectors of R.
    pub columns: Vec<TableColumn>,
    /// The columns with the encodings of strings, by the columns of these.
    pub encodings: HashMap<u64, u64>,
}

/// A vector of R: the first column of the file that it takes, and its description.
pub(super) struct TableColumn {
    pub first: u64,
    /// `None` for a matrix without columns.
    pub info: Option<Arc<ColumnInfo>>,
    pub description: Option<Node>,
}

impl Table {
    /// Reads the host map.
    pub(super) fn new(file: File) -> Result<Self> {
        let host = file.host()?;
        let is_own = host.get("host").and_then(Node::as_str) == Some("r");
        let mut encodings = HashMap::new();
        if is_own {
            for pair in host.get("encodings").and_then(Node::as_list).unwrap_or_default() {
                let [of, by] = pair.as_list().unwrap_or_default() else {
                    return Err(damage("the encodings of strings are not pairs"));
                };
                encodings.insert(column_number(of)?, column_number(by)?);
            }
        }
        let mut table = Self { file, host, is_own, columns: Vec::new(), encodings };
        table.lay_out()?;
        Ok(table)
    }

    /// The names of the columns of the file with vectors.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.info.as_ref().map_or("", |info| name_in_r(&info.name)))
    }

    /// Whether its value is the vector of its column, and not a data frame.
    pub(super) fn is_vector(&self) -> bool {
        self.is_own && self.host.get("form").and_then(Node::as_str) == Some("vector")
    }

    /// A column of the file by its number.
    pub(super) fn info(&self, number: u64) -> Result<Arc<ColumnInfo>> {
        if number >= self.file.n_columns_total() {
            return Err(damage("the host map refers to a column that does not exist"));
        }
        self.file.column(number)
    }

    /// Finds the vectors. Columns without a description are vectors of their own.
    fn lay_out(&mut self) -> Result<()> {
        let n = self.file.n_columns();
        let mut next = 0;
        let described = if self.is_own { self.host.get("columns") } else { None };
        let mut starts = Vec::new();
        for pair in described.and_then(Node::as_list).unwrap_or_default() {
            let [first, description] = pair.as_list().unwrap_or_default() else {
                return Err(damage("the descriptions of columns are not pairs"));
            };
            let first = column_number(first)?;
            if first < next || first >= n && width_of(description)? > 0 {
                return Err(damage("columns overlap"));
            }
            starts.extend((next..first).map(|number| (number, None)));
            starts.push((first, Some(description.clone()).filter(|node| !node.is_null())));
            next = first + width_of(description)?;
            if next > n {
                return Err(damage("columns overlap"));
            }
        }
        starts.extend((next..n).map(|number| (number, None)));
        for (first, description) in starts {
            let info = if first < n { Some(self.info(first)?) } else { None };
            self.columns.push(TableColumn { first, info, description });
        }
        Ok(())
    }
}

/// A name up to its first zero character, where strings of R end.
pub(super) fn name_in_r(name: &str) -> &str {
    name.split('\0').next().unwrap_or_default()
}

/// The number in a node of a column.
pub(super) fn column_number(node: &Node) -> Result<u64> {
    let float = |node: &Node| match node {
        Node::Float(number) if *number >= 0.0 && number.fract() == 0.0 => Some(*number as u64),
        _ => None,
    };
    let found = node.as_column().or_else(|| node.as_uint()).or_else(|| float(node));
    found.ok_or_else(|| damage("a column number that is not a number"))
}

/// How many columns of the file a vector takes.
pub(super) fn width_of(description: &Node) -> Result<u64> {
    if let Some(matrix) = description.get("matrix").filter(|node| !node.is_null()) {
        return column_number(matrix);
    }
    match description.get("parts").and_then(Node::as_list) {
        Some(parts) => parts.iter().try_fold(0u64, |sum, part| Ok(sum.saturating_add(width_of(part)?))),
        None => Ok(1),
    }
}
