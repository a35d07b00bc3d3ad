//! Finds the table that each column of a file belongs to, also if tables have column ranges
//! (`docs/format/columns.md`).

use std::ops::Range;

use entasis_format::{Error, Physical, Result, Value, fallible};

use crate::file::{ColumnInfo, File};

/// The use of memory, in messages.
const OWNERS: &str = "the owners of columns";

/// The owner of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The table with this number has it as a column.
    Table(usize),
    /// It is a dictionary or a label of the table with this number.
    Extra(usize),
    /// It is part of the cells of the file's value.
    Loose,
    /// It is the child of another column.
    Child,
    /// It is a storage column.
    Bundle,
    /// Nothing names it, and it has no values.
    Free,
}

/// The numbers of all columns of a file, by owner.
#[derive(Debug, Default)]
pub(crate) struct ColumnOwners {
    pub tables: Vec<OfTable>,
    /// The columns of the file's cells, ascending.
    pub loose: Vec<u64>,
    /// Children, ascending.
    pub children: Vec<u64>,
    /// Storage columns, ascending.
    pub bundles: Vec<u64>,
    /// Whether the file has free columns.
    pub has_free: bool,
}

/// The numbers of the columns of a table.
#[derive(Debug, Default)]
pub(crate) struct OfTable {
    /// In the order of the table.
    pub columns: Vec<u64>,
    /// Ascending.
    pub extra: Vec<u64>,
}

impl ColumnOwners {
    /// The owners of all columns. `whole` is the view of all columns, `infos` has them, `tables`
    /// are the views of all tables.
    ///
    /// # Errors
    /// *Unsupported* when a column belongs to two tables, or nothing shows where it belongs.
    pub(crate) fn of(whole: &File, infos: &[ColumnInfo], tables: &[File]) -> Result<Self> {
        let mut search = Search::new(infos)?;
        for (number, table) in tables.iter().enumerate() {
            search.add_table(number, &table.columns_in_file())?;
        }
        search.add_loose(whole)?;
        for (number, table) in tables.iter().enumerate() {
            search.add_named(number, &table.known_host()?, table)?;
        }
        search.add_unnamed(tables)?;
        search.finish(tables)
    }

    /// All columns in the order of a file that is written whole. Free columns are left out.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = u64> {
        let of_tables = self.tables.iter().flat_map(|table| table.columns.iter().chain(&table.extra));
        of_tables.chain(&self.loose).chain(&self.children).chain(&self.bundles).copied()
    }
}

/// A search for owners.
struct Search<'a> {
    infos: &'a [ColumnInfo],
    /// The owner of each column, as far as known.
    owners: Vec<Option<Owner>>,
}

impl<'a> Search<'a> {
    fn new(infos: &'a [ColumnInfo]) -> Result<Self> {
        let owner = |info: &ColumnInfo| match (info.record.parent, info.record.is_bundle) {
            (Some(_), _) => Some(Owner::Child),
            (None, true) => Some(Owner::Bundle),
            (None, false) => None,
        };
        Ok(Self { infos, owners: fallible::collect(infos.iter().map(owner), OWNERS)? })
    }

    fn add_table(&mut self, number: usize, columns: &[Range<u64>]) -> Result<()> {
        for column in columns.iter().cloned().flatten() {
            match self.owner(column)? {
                owner @ None => *owner = Some(Owner::Table(number)),
                Some(_) => return Err(unusual()),
            }
        }
        Ok(())
    }

    /// Adds the columns that the file's value names.
    fn add_loose(&mut self, whole: &File) -> Result<()> {
        let (pool, n_pools) = whole.cell_columns().map_or((0, 0), |cells| cells.pools);
        let pools = pool..pool.saturating_add(n_pools).min(self.infos.len() as u64);
        for column in whole.named_in_file(whole.value()).into_iter().chain(pools) {
            match self.owner(column)? {
                owner @ (None | Some(Owner::Loose)) => *owner = Some(Owner::Loose),
                Some(_) => return Err(unusual()),
            }
        }
        Ok(())
    }

    /// Adds the columns that a table, its columns and its host map name.
    fn add_named(&mut self, number: usize, host: &Value, table: &File) -> Result<()> {
        let mut rest = Vec::new();
        for column in table.columns_in_file().into_iter().flatten() {
            fallible::push(&mut rest, column, OWNERS)?;
        }
        for column in table.named_in_file(host) {
            self.claim(column, number, &mut rest)?;
        }
        while let Some(column) = rest.pop() {
            let info = self.info(column)?;
            if let Some(dictionary) = info.record.dictionary {
                self.claim(dictionary, number, &mut rest)?;
            }
            let first = info.record.first_child.unwrap_or(0);
            for child in first..first.saturating_add(info.record.n_children.into()) {
                // A child has one parent, with a smaller number. So no column is met twice.
                if child <= column || self.info(child)?.record.parent != Some(column) {
                    return Err(Error::corrupt("the record of a column names impossible children"));
                }
                fallible::push(&mut rest, child, OWNERS)?;
            }
        }
        Ok(())
    }

    /// Records that a table names a column.
    fn claim(&mut self, column: u64, number: usize, rest: &mut Vec<u64>) -> Result<()> {
        match self.owner(column)? {
            owner @ None => {
                *owner = Some(Owner::Extra(number));
                fallible::push(rest, column, OWNERS)
            }
            Some(Owner::Extra(other) | Owner::Table(other)) if *other == number => Ok(()),
            Some(_) => Err(unusual()),
        }
    }

    /// Gives columns that nothing names to what precedes them.
    fn add_unnamed(&mut self, tables: &[File]) -> Result<()> {
        if self.owners.iter().all(Option::is_some) {
            return Ok(());
        }
        let mut before: Vec<(Range<u64>, Owner)> = Vec::new();
        for (number, table) in tables.iter().enumerate() {
            for range in table.columns_in_file() {
                fallible::push(&mut before, (range, Owner::Extra(number)), OWNERS)?;
            }
        }
        for (column, _) in (0..).zip(&self.owners).filter(|(_, owner)| **owner == Some(Owner::Loose)) {
            fallible::push(&mut before, (column..column + 1, Owner::Loose), OWNERS)?;
        }
        before.sort_unstable_by_key(|(range, _)| (range.start, range.end));
        for ((column, info), owner) in (0..).zip(self.infos).zip(&mut self.owners) {
            if owner.is_none() {
                let after = before.partition_point(|(range, _)| range.start <= column);
                let preceding = after.checked_sub(1).and_then(|i| before.get(i));
                *owner = Some(match preceding {
                    _ if is_blank(info) => Owner::Free,
                    Some((_, owner)) => *owner,
                    None => return Err(unusual()),
                });
            }
        }
        Ok(())
    }

    fn finish(self, tables: &[File]) -> Result<ColumnOwners> {
        let mut found = ColumnOwners::default();
        for table in tables {
            let mut of = OfTable::default();
            for range in table.columns_in_file() {
                fallible::reserve(&mut of.columns, (range.end - range.start) as usize, OWNERS)?;
                of.columns.extend(range);
            }
            fallible::push(&mut found.tables, of, OWNERS)?;
        }
        for (column, owner) in (0..).zip(self.owners) {
            let of = match owner {
                Some(Owner::Extra(table)) => found.tables.get_mut(table).map(|table| &mut table.extra),
                Some(Owner::Loose) => Some(&mut found.loose),
                Some(Owner::Child) => Some(&mut found.children),
                Some(Owner::Bundle) => Some(&mut found.bundles),
                Some(Owner::Table(_)) | None => None,
                Some(Owner::Free) => {
                    found.has_free = true;
                    None
                }
            };
            if let Some(of) = of {
                fallible::push(of, column, OWNERS)?;
            }
        }
        Ok(found)
    }

    fn owner(&mut self, column: u64) -> Result<&mut Option<Owner>> {
        usize::try_from(column).ok().and_then(|column| self.owners.get_mut(column)).ok_or_else(outside)
    }

    fn info(&self, column: u64) -> Result<&'a ColumnInfo> {
        usize::try_from(column).ok().and_then(|column| self.infos.get(column)).ok_or_else(outside)
    }
}

/// Whether a column has neither values nor a name. If nothing names it, it is free.
pub(crate) fn is_blank(info: &ColumnInfo) -> bool {
    let record = &info.record;
    let has_no_type = record.column_type.physical == Physical::Null && info.unknown.is_none();
    has_no_type && record.n_values == 0 && record.name_len == 0 && record.parent.is_none()
}

/// The error for a file whose columns a change cannot keep.
pub(crate) fn unusual() -> Error {
    Error::unsupported("the columns of the file are in an unusual order").advise("write the file again")
}

fn outside() -> Error {
    Error::corrupt("a column number is out of range")
}
