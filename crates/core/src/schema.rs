//! Reads names and types of a table's columns in one pass over their records.

use std::collections::HashMap;

use entasis_format::{ColumnType, Result, Value, fallible};

use crate::file::{File, NameRanges};
use crate::info::UNKNOWN;

/// The types of a table's columns, and where their names are.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The names of the different types, in order of first use.
    pub types: Vec<String>,
    /// The index in `types` of each column's type.
    pub type_of: Vec<u32>,
    /// The names, for [`File::visit_names`].
    pub names: NameRanges,
}

impl Schema {
    /// The index of a type in `types`. `indices` has the indices of known types.
    fn index_of(&mut self, indices: &mut HashMap<String, u32>, type_name: String) -> u32 {
        let next = self.types.len() as u32;
        *indices.entry(type_name).or_insert_with_key(|type_name| {
            self.types.push(type_name.clone());
            next
        })
    }
}

impl File {
    /// The types of the table's columns, and the ranges of their names. Costs tens of nanoseconds
    /// per record.
    ///
    /// `name` returns the name of a type without children, as [`type_name`](crate::type_name) does.
    /// It is called once per type, and once per column whose type has a detail (a time zone).
    ///
    /// The name of a type that this release does not know is "unknown".
    ///
    /// # Errors
    /// *Corrupt*, *io*.
    pub fn schema(&self, name: &dyn Fn(&ColumnType, Option<&Value>) -> String) -> Result<Schema> {
        self.read_schema(name).map_err(|e| e.in_file(self.path()))
    }

    fn read_schema(&self, name: &dyn Fn(&ColumnType, Option<&Value>) -> String) -> Result<Schema> {
        let mut schema = Schema::default();
        let mut indices = HashMap::new();
        // Types without a detail, which are few. `last` is the most recent index and is tried
        // first.
        let mut plain: Vec<(ColumnType, u32)> = Vec::new();
        let mut last = 0;
        self.visit_table(|run| {
            schema.names.push(run.names())?;
            let (record, index) = (&run.record, run.columns.start);
            let column_type = &record.column_type;
            let type_index = if run.unknown.is_some() {
                schema.index_of(&mut indices, UNKNOWN.to_owned())
            } else if column_type.physical.is_nested() {
                let info = self.column(index)?;
                let of = self.type_name(&info, &|c| name(&c.record.column_type, c.detail.as_ref()))?;
                schema.index_of(&mut indices, of)
            } else if let Some(node) = record.detail {
                let detail = self.table_value(node).map_err(|e| e.in_column(&format!("#{index}")))?;
                schema.index_of(&mut indices, name(column_type, Some(&detail)))
            } else {
                if plain.get(last).is_none_or(|(known, _)| known != column_type) {
                    last = plain.iter().position(|(known, _)| known == column_type).unwrap_or(plain.len());
                }
                if last == plain.len() {
                    plain.push((*column_type, schema.index_of(&mut indices, name(column_type, None))));
                }
                plain[last].1
            };
            let n = schema.type_of.len() + run.n as usize;
            fallible::resize(&mut schema.type_of, n, type_index, "the types of the columns")
        })?;
        Ok(schema)
    }
}
