//! Labels of rows (an index of pandas or StaticFrame, row names of R), shown as columns before
//! those of the table.

use entasis::{Buffer, ColumnInfo, ColumnType, Error, File, Physical, Result, Value};

use crate::array::{self, Array, Values};
use crate::row_set::RowSet;
use crate::types::type_of;

/// A column of labels.
pub(crate) struct Label {
    /// The name of the index or level; without one, `index` or `level_0` ...
    pub(crate) name: String,
    /// The name of the type.
    pub(crate) type_name: String,
    /// The source of the values.
    pub(crate) source: Source,
}

/// The source of labels.
pub(crate) enum Source {
    /// A column of the file that is not part of the table.
    Column(Box<ColumnInfo>),
    /// A range of integers, described in the file and not stored.
    Range { start: i64, step: i64 },
}

/// The labels of a table's rows. A default range (0, 1, 2 ...) is left out unless the table has
/// nothing but its index.
///
/// # Errors
/// *Corrupt* when the description of the index is wrong, *io*.
pub(crate) fn of(file: &File) -> Result<Vec<Label>> {
    let host = file.host()?;
    let Some(index) = host.get("index") else { return Ok(Vec::new()) };
    let wrong = || Error::corrupt("the description of the index is wrong").in_file(file.path());
    let columns = match index.get("kind").and_then(Value::as_str) {
        Some("range") => {
            let number = |key: &str| index.get(key).and_then(Value::as_int);
            let (start, step) = (number("start").unwrap_or(0), number("step").unwrap_or(1));
            let is_all = host.get("class").and_then(Value::as_str) == Some("Index") || file.n_columns() == 0;
            let name = index.get("name").and_then(Value::as_str);
            if (start, step) == (0, 1) && name.is_none() && !(is_all && host_keeps_ranges(&host)) {
                return Ok(Vec::new());
            }
            let name = name.unwrap_or("index").to_owned();
            return Ok(vec![Label {
                name,
                type_name: "i64".to_owned(),
                source: Source::Range { start, step },
            }]);
        }
        Some("column") => vec![index.get("column").and_then(Value::as_column).ok_or_else(wrong)?],
        Some("multi") => {
            let columns = index.get("columns").and_then(Value::as_list).ok_or_else(wrong)?;
            columns.iter().map(|column| column.as_column().ok_or_else(wrong)).collect::<Result<_>>()?
        }
        _ => return Ok(Vec::new()),
    };
    let label = |number: u64| {
        let info = file.all_columns(number..number.saturating_add(1))?.pop().ok_or_else(wrong)?;
        if info.record.n_values != file.n_rows() {
            return Err(wrong());
        }
        let type_name = type_of(file, &info)?;
        let name = if info.name.is_empty() { "index".to_owned() } else { info.name.clone() };
        Ok(Label { name, type_name, source: Source::Column(Box::new(info)) })
    };
    columns.into_iter().map(label).collect()
}

/// Whether the host has range indexes; elsewhere a range means "no labels".
fn host_keeps_ranges(host: &Value) -> bool {
    host.get("host").and_then(Value::as_str) == Some("pandas")
}

/// The integers of a range in these rows, as a column in memory.
pub(crate) fn range(name: &str, start: i64, step: i64, rows: &RowSet) -> Result<Array> {
    let n = array::in_memory(rows.n())?;
    let mut words: Buffer = array::buffer(n.saturating_mul(8))?;
    for (word, row) in words.chunks_exact_mut(8).zip(rows.ranges().cloned().flatten()) {
        let value = start.wrapping_add(step.wrapping_mul(row.cast_signed()));
        word.copy_from_slice(&value.to_le_bytes());
    }
    Ok(Array {
        name: name.to_owned(),
        column_type: ColumnType::plain(Physical::I64),
        detail: None,
        n,
        values: Values::Words(words),
        missing: None,
        categories: None,
    })
}
