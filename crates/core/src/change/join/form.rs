//! The form of a file's columns: what has to be equal so that blocks of another file can follow.

use std::cell::OnceCell;

use entasis_format::{Error, Logical, Physical, Result, Value, Version, fallible};

use crate::change::keep::decode;
use crate::change::kept::table_of;
use crate::change::kept_values::nulls;
use crate::column_owners::ColumnOwners;
use crate::file::{ColumnInfo, File};
use crate::frame::Array;
use crate::monitor::Silent;
use crate::write::have_equal_values;

/// The use of memory, in messages.
const COLUMNS: &str = "the columns of a file to join";

/// A file, with the columns of its table.
pub(super) struct Form {
    /// The view of all columns.
    pub file: File,
    /// The view of the table.
    pub table: File,
    /// The number of the table.
    pub number: u64,
    /// The host map, with numbers of columns in the file.
    pub host: Value,
    /// All columns.
    pub columns: Vec<ColumnInfo>,
    /// The numbers of the table's columns and their children.
    pub of_rows: Vec<u64>,
    /// The numbers of dictionaries and labels.
    extra: Vec<u64>,
    /// The values of `extra`, once they are needed.
    values: OnceCell<Vec<Array>>,
}

impl Form {
    /// The form of a file.
    ///
    /// # Errors
    /// *Argument* if the file holds no table; *unsupported* for columns of a later version;
    /// otherwise as for reading.
    pub(super) fn of(file: &File) -> Result<Self> {
        let whole = file.whole();
        let number = table_of(whole.value()).filter(|_| file.is_table());
        let number = number.ok_or_else(|| Error::argument("the file does not hold a table"))?;
        let columns = whole.columns(0..whole.n_columns_total())?;
        let mut tables = Vec::new();
        for number in 0..whole.n_tables() {
            fallible::push(&mut tables, whole.table(number)?, COLUMNS)?;
        }
        let mut owners = ColumnOwners::of(&whole, &columns, &tables)?;
        let at = usize::try_from(number).ok().filter(|&at| at < owners.tables.len() && at < tables.len());
        let at = at.ok_or_else(|| Error::corrupt("the file's value is a table that is not there"))?;
        let (table, of) = (tables.swap_remove(at), owners.tables.swap_remove(at));
        let host = table.value_in_file(table.known_host()?);
        let mut of_rows = of.columns;
        let mut next = 0;
        while let Some(&number) = of_rows.get(next) {
            let record =
                &usize::try_from(number).ok().and_then(|at| columns.get(at)).ok_or_else(outside)?.record;
            if let Some(first) = record.first_child {
                // Children come after their parents, so this ends.
                of_rows.extend(first..first.saturating_add(record.n_children.into()));
            }
            next += 1;
        }
        Ok(Self {
            file: whole,
            table,
            number,
            host,
            columns,
            of_rows,
            extra: of.extra,
            values: OnceCell::new(),
        })
    }

    /// A column by its number.
    pub(super) fn column(&self, number: u64) -> Result<&ColumnInfo> {
        usize::try_from(number).ok().and_then(|at| self.columns.get(at)).ok_or_else(outside)
    }

    /// The child in which the blocks of a column have a place.
    pub(super) fn child_with_offsets(&self, number: u64) -> Result<Option<u64>> {
        let record = &self.column(number)?.record;
        let has_offsets = matches!(record.column_type.physical, Physical::List | Physical::Map);
        Ok(record.first_child.filter(|_| has_offsets))
    }

    /// Whether blocks of other files can follow those of this one, and the other way round.
    pub(super) fn takes_blocks(&self) -> bool {
        let is_plain = |number: &u64| {
            let Ok(info) = self.column(*number) else { return false };
            let of = &info.record.column_type;
            !info.record.is_bundled
                && !of.has_child_offsets()
                && of.physical != Physical::RunEnd
                && of.logical != Logical::Object
        };
        self.file.root().version() > Version::OLDEST && self.of_rows.iter().all(is_plain)
    }

    /// Whether the columns of another file have the same form, and their dictionaries the same
    /// values.
    pub(super) fn takes(&self, other: &Self) -> Result<bool> {
        let is_same = self.of_rows == other.of_rows
            && self.extra == other.extra
            && self.table.n_columns() == other.table.n_columns()
            && self.number == other.number
            && other.takes_blocks();
        if !is_same {
            return Ok(false);
        }
        for &number in self.of_rows.iter().chain(&self.extra) {
            if !are_alike(self.column(number)?, other.column(number)?) {
                return Ok(false);
            }
        }
        let (own, others) = (self.values()?, other.values()?);
        for ((&number, own), other) in self.extra.iter().zip(own).zip(others) {
            let (n, of) = (own.n_values(), self.column(number)?.record.column_type.layout());
            let is_null = of.physical == Physical::Null;
            if n != other.n_values() || !(is_null || have_equal_values(own, other, of, n)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The values of dictionaries and labels.
    fn values(&self) -> Result<&Vec<Array>> {
        if let Some(values) = self.values.get() {
            return Ok(values);
        }
        let mut values = Vec::with_capacity(self.extra.len());
        for &number in &self.extra {
            let info = self.column(number)?;
            let of = info.record.column_type.physical;
            if of.is_nested() {
                return Err(Error::unsupported("nested categories are not joined").in_column(&info.name));
            }
            let chunk =
                if of == Physical::Null { nulls(info)? } else { decode(&self.file, info, 0, &Silent)?.0 };
            values.push(Array::new(chunk));
        }
        Ok(self.values.get_or_init(|| values))
    }
}

/// Whether two columns differ at most in their values.
fn are_alike(a: &ColumnInfo, b: &ColumnInfo) -> bool {
    let of = |info: &ColumnInfo| {
        let record = &info.record;
        let relations = (record.parent, record.first_child, record.n_children, record.dictionary);
        (record.column_type, relations, record.is_bundle)
    };
    a.name == b.name && of(a) == of(b) && a.detail == b.detail && a.host_detail == b.host_detail
}

fn outside() -> Error {
    Error::corrupt("a column number is out of range")
}
