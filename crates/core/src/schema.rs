//! Names and types of a table's columns, in one pass over their records: tens of nanoseconds a column, however many there are.

use std::collections::HashMap;

use entasis_format::{ColumnRecord, ColumnType, Error, Result, SectionKind, Value};

use crate::file::File;

/// Records that are read together.
const PIECE: u64 = 1 << 14;

/// Where the names of columns are, in the order of the columns: place in the section, and length.
#[derive(Clone, Debug, Default)]
pub struct NamePlaces(Vec<(u64, u32)>);

impl NamePlaces {
    pub(crate) fn push(&mut self, record: &ColumnRecord) {
        self.0.push((record.name_at, record.name_len));
    }
}

/// The types of a table's columns, and where their names are.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The different types, as people write them, in the order of the first columns that have them.
    pub types: Vec<String>,
    /// The type of each column: its place among the types.
    pub type_of: Vec<u32>,
    /// The names, for [`File::visit_names`].
    pub names: NamePlaces,
}

impl Schema {
    fn place(&mut self, places: &mut HashMap<String, u32>, type_name: String) -> u32 {
        let next = self.types.len() as u32;
        *places.entry(type_name).or_insert_with_key(|type_name| {
            self.types.push(type_name.clone());
            next
        })
    }
}

impl File {
    /// The types of the table's columns and the places of their names.
    ///
    /// `name` tells the type of a column without children; [`type_name`](crate::type_name) is one. It is called once for each
    /// type, and for each column whose type has a detail (a time zone).
    ///
    /// # Errors
    /// *Unsupported* for a type that this release doesn't know; *corrupt*, *io*.
    pub fn schema(&self, name: &dyn Fn(&ColumnType, Option<&Value>) -> String) -> Result<Schema> {
        self.read_schema(name).map_err(|e| e.in_file(self.path()))
    }

    fn read_schema(&self, name: &dyn Fn(&ColumnType, Option<&Value>) -> String) -> Result<Schema> {
        let mut schema = Schema::default();
        let mut places = HashMap::new();
        // Types without a detail, few in any table; the last one that was met first.
        let mut plain: Vec<(ColumnType, u32)> = Vec::new();
        let mut last = 0;
        self.visit_columns(|index, record| {
            schema.names.push(record);
            let column_type = &record.column_type;
            let place = if column_type.physical.is_nested() {
                let info = self.column(index)?;
                let of = self.type_name(&info, &|c| name(&c.record.column_type, c.detail.as_ref()))?;
                schema.place(&mut places, of)
            } else if let Some(node) = record.detail {
                let detail = self.table_value(node).map_err(|e| e.in_column(&format!("#{index}")))?;
                schema.place(&mut places, name(column_type, Some(&detail)))
            } else {
                if plain.get(last).is_none_or(|(known, _)| known != column_type) {
                    last = plain.iter().position(|(known, _)| known == column_type).unwrap_or(plain.len());
                }
                if last == plain.len() {
                    plain.push((*column_type, schema.place(&mut places, name(column_type, None))));
                }
                plain[last].1
            };
            schema.type_of.push(place);
            Ok(())
        })?;
        Ok(schema)
    }

    /// The records of the table's columns, with their numbers.
    pub(crate) fn visit_columns(
        &self,
        mut visit: impl FnMut(u64, &ColumnRecord) -> Result<()>,
    ) -> Result<()> {
        let n_rows = self.n_rows();
        for start in (0..self.n_columns()).step_by(PIECE as usize) {
            let piece = start..self.n_columns().min(start + PIECE);
            let records = self.column_records(piece.clone())?;
            for (index, bytes) in piece.zip(records.chunks_exact(ColumnRecord::LEN)) {
                let record = self.parse_column(index, bytes)?;
                if record.n_values != n_rows {
                    let message = format!("a column has {} values, its table {n_rows} rows", record.n_values);
                    return Err(Error::corrupt(message).in_column(&format!("#{index}")));
                }
                visit(index, &record)?;
            }
        }
        Ok(())
    }

    /// The names at these places, in order.
    ///
    /// # Errors
    /// *Corrupt*, *io*, *limit*, and what `visit` returns.
    pub fn visit_names(&self, places: &NamePlaces, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
        for places in places.0.chunks(PIECE as usize) {
            let read = |at: u64, to: u64| self.records(SectionKind::Names, at..to);
            let from = places.iter().map(|&(at, _)| at).min().unwrap_or(0);
            let to = places.iter().map(|&(at, len)| at.saturating_add(u64::from(len))).max().unwrap_or(0);
            let total: u64 = places.iter().map(|&(_, len)| u64::from(len)).sum();
            // Names of neighbours are neighbours, and equal ones may be shared; where they lie far apart they are read one by one.
            let is_dense = to - from <= total.saturating_mul(2).saturating_add(1 << 16);
            let all = if is_dense { Some(read(from, to)?) } else { None };
            for &(at, len) in places {
                if len > self.limits().name_len {
                    let error = Error::limit("a column name is longer than name_len");
                    return Err(error.in_section("names").in_file(self.path()));
                }
                let one;
                let name = match &all {
                    Some(all) => all.get((at - from) as usize..(at - from) as usize + len as usize),
                    None => {
                        one = read(at, at.saturating_add(u64::from(len)))?;
                        Some(one.as_slice())
                    }
                };
                let name = name.and_then(|name| std::str::from_utf8(name).ok());
                visit(name.ok_or_else(|| {
                    Error::corrupt("a column name is not UTF-8").in_section("names").in_file(self.path())
                })?)?;
            }
        }
        Ok(())
    }
}
