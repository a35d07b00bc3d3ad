//! Records what values of R lack, and leaves out columns that have no counterpart.

use entasis::{ColumnInfo, Kind as ErrorKind, Logical, Result, Value as Node};

use super::Reading;
use super::kinds::Form;
use super::labels::Labels;
use super::table::Table;
use crate::r::kind::Kind;
use crate::r::{Data, Value};

/// A property of the file that its values of R lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The column; `None` for a part of a tree, or the whole table.
    pub column: Option<String>,
    /// The reason.
    pub reason: String,
}

impl Reading<'_> {
    /// Records a loss once. An empty name stands for the whole table.
    pub(super) fn lose(&self, column: &str, reason: impl Into<String>) {
        let column = Some(column).filter(|name| !name.is_empty()).map(str::to_owned);
        let loss = Loss { column, reason: reason.into() };
        let mut losses = self.losses.borrow_mut();
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }

    pub(super) fn note_metadata(&self) {
        if self.file.value().get("metadata").is_some() {
            self.lose("", "the metadata of the file are lost");
        }
    }

    /// Records the parts of labels that R lacks.
    pub(super) fn note_labels(&self, table: &Table, labels: &Labels) {
        let host = &table.host;
        let has = |node: Option<&Node>| node.is_some_and(|node| !node.is_null());
        if !labels.columns.is_empty() {
            self.lose("", "the labels of rows become columns");
        } else if has(host.get("index").and_then(|index| index.get("name"))) {
            self.lose("", "the name of the labels of rows is lost");
        }
        if host.get("host").and_then(Node::as_str) == Some("pandas")
            && let Some(columns) = host.get("columns").filter(|node| !node.is_null())
        {
            let is = |key: &str, text: &str| columns.get(key).and_then(Node::as_str) == Some(text);
            if !is("kind", "names") || !is("dtype", "str") {
                self.lose("", "the labels of columns become text");
            } else if has(columns.get("name")) {
                self.lose("", "the name of the labels of columns is lost");
            }
        }
        let attributes = host.get("attrs").and_then(Node::as_map);
        if attributes.is_some_and(|pairs| !pairs.is_empty()) {
            self.lose("", "the attributes of the frame are lost");
        }
    }

    /// Leaves out columns of another host that no vector of R holds.
    pub(super) fn leave_out(&self, table: &mut Table) -> Result<()> {
        let mut kept = Vec::with_capacity(table.columns.len());
        for column in std::mem::take(&mut table.columns) {
            let Some(info) = column.info.clone() else { continue };
            match self.probe(table, &info) {
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    self.lose(&info.name, format!("it is left out: {}", error.message()));
                }
                probed => {
                    probed?;
                    if info.name.contains('\0') {
                        self.lose(&info.name, "its name ends at the zero character");
                    }
                    kept.push(column);
                }
            }
        }
        table.columns = kept;
        Ok(())
    }

    /// Checks that a column has a counterpart. Objects are read, because their types are not known.
    fn probe(&self, table: &Table, info: &ColumnInfo) -> Result<()> {
        let of = &info.record.column_type;
        match self.form(table, info, false)? {
            Form::Vector(Kind::List) => {
                self.objects(info, 0..info.record.n_values, false)?;
            }
            Form::Vector(Kind::Codes) => {
                self.factor(table, info, Value::from(Data::Integer(Vec::new())))?;
            }
            Form::Vector(_) if of.logical == Logical::Decimal => {
                self.lose(&info.name, "decimals become doubles");
            }
            Form::Vector(_) => (),
            Form::Nested => {
                let first = info.record.first_child.unwrap_or(0);
                for number in first..first.saturating_add(info.record.n_children.into()) {
                    let child = table.info(number)?;
                    if number > info.index {
                        self.probe(table, &child)?;
                    }
                }
            }
        }
        Ok(())
    }
}
