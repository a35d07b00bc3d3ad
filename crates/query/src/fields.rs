//! Fields of struct columns. Each is a column of its own, with a value for each row.

use std::sync::Arc;

use entasis::{ColumnInfo, Error, File, Physical, Result, type_name};

/// The number of the column that is a field of a struct column.
///
/// # Errors
/// *Argument* when the column is not a struct, or has no field of this name, or several; *corrupt*,
/// *io*.
pub fn field(file: &File, column: u64, name: &str) -> Result<u64> {
    let parent = file.column(column)?;
    let of = &parent.record.column_type;
    if of.physical != Physical::Struct {
        let found = type_name(of, parent.detail.as_ref());
        let message = format!("the column has type {found}, and only structs have fields such as {name:?}");
        return Err(Error::argument(message).in_column(&parent.name));
    }
    let first = parent.record.first_child.unwrap_or(0);
    let (mut found, mut names) = (None, Vec::new());
    for number in first..first.saturating_add(parent.record.n_children.into()) {
        let child = file.column(number)?;
        if child.name == name && found.replace(number).is_some() {
            let message = format!("several fields of the column have the name {name:?}");
            return Err(Error::argument(message).in_column(&parent.name));
        }
        names.push(format!("{:?}", child.name));
    }
    if let Some(number) = found {
        return Ok(number);
    }
    let message = format!("the column has no field {name:?}: its fields are {}", names.join(", "));
    Err(Error::argument(message).in_column(&parent.name))
}

/// The structs that contain a column, innermost first. Where a struct is missing, its fields are
/// missing too.
///
/// # Errors
/// *Argument* for a column inside of a list or another column that repeats or selects rows;
/// *corrupt*, *io*.
pub(crate) fn structs_around(file: &File, column: &ColumnInfo) -> Result<Vec<Arc<ColumnInfo>>> {
    let (mut found, mut next, mut last) = (Vec::new(), column.record.parent, column.index);
    while let Some(number) = next {
        let parent = file.column(number)?;
        if number >= last {
            return Err(Error::corrupt("a parent comes after its child").in_column(&column.name));
        }
        if parent.record.column_type.physical != Physical::Struct {
            let message = "the column is inside of another one that is not a struct";
            return Err(Error::argument(message).in_column(&column.name));
        }
        (next, last) = (parent.record.parent, number);
        found.push(parent);
    }
    Ok(found)
}
